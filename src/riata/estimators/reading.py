"""Estimators for people: summaries, explanations, and what a notebook shows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from riata.block import Block
from riata.explain import Explanation, Explanations, Summary, Wanted, explain, summary
from riata.learners import Learner
from riata.record import Model
from riata.schema import Schema
from riata.sources.table.frame import is_frame


class Reading:
    """What estimators tell people."""

    model_: Model

    @abstractmethod
    def _fitted(self) -> Learner: ...

    @abstractmethod
    def _blocks(self, X: Any, names: bool | None = None) -> Iterable[Block]: ...

    def summary(
        self, top: int = 10, *, grep: str | None = None, namespace: str | None = None
    ) -> Summary:
        """How the model was made, how much of it is alive, and its strongest features.

        It prints, shows itself in a notebook, and is a mapping of values by name. `grep` (a regular expression) and
        `namespace` (or a column) narrow the features.

        >>> from riata import ElasticNetClassifier
        >>> model = ElasticNetClassifier().learn_one({"word": "lunch"}, "ham").learn_one({"word": "free"}, "spam")
        >>> found = model.summary(top=1)
        >>> found["for"][0]["feature"], found["live_weights"]
        ('word=free', 2)
        """
        self._fitted()
        return summary(self.model_, Wanted(top, grep, namespace))

    def explain(
        self, X: Any, *, top: int | None = None, class_: Any = None, origin: str = "average"
    ) -> Any:
        """The score of each row as a sum of what its features add, the intercept and offset.

        X is one row (a dict, or a vector): an `Explanation`; or rows, in anything that `predict` takes: a sequence of
        them. `top` keeps the strongest features of each row, and adds up the others. Of several classes the one
        that is predicted is explained, or `class_`.

        A number of a scaled column counts from the column's average; with `origin="zero"` from zero, value times
        weight, and the intercept is `intercept_`.

        The score of `BayesianClassifier` and `AutoClassifier` is that of an average: what is left between the
        features and the score is in `steps`. Of `AutoClassifier` a feature adds what it adds to the settings that
        count in the row, so weights and intercept are the row's own; `origin="zero"` explains by `coef_`.

        >>> from riata import FTRLClassifier
        >>> model = FTRLClassifier(alpha=0.5)
        >>> for _ in range(9):
        ...     _ = model.learn_one({"words": ["free", "money"]}, "spam").learn_one({"words": ["lunch"]}, "ham")
        >>> found = model.explain({"words": ["free", "lunch"]})
        >>> [term.feature for term in found.terms], round(found.total - found.score, 12)
        (['words=lunch', 'words=free'], 0.0)
        """
        self._fitted()
        one = isinstance(X, Mapping) or (isinstance(X, np.ndarray) and X.ndim == 1)
        if isinstance(X, Mapping):
            X = [X]
        elif one:
            X = X.reshape(1, -1)
        found: Explanations = explain(
            self.model_, self._blocks(X, names=True), target=class_, top=top, origin=origin,
            texts=_texts(X, self.model_.schema),
        )  # fmt: skip
        explanation: Explanation | Explanations = found[0] if one else found
        return explanation

    def _html_repr(self) -> str:
        """What a notebook shows: the parameters, and if it is fitted, a summary."""
        shown: str = super()._html_repr()  # type: ignore[misc]
        return shown + self.summary()._repr_html_() if hasattr(self, "model_") else shown


def _texts(X: Any, schema: Schema | None) -> list[dict[str, str]] | None:
    """The texts of rows that are at hand."""
    columns = [c.name for c in (schema or Schema()).features if c.kind == "text"]
    if not columns:
        return None
    if is_frame(X):
        values = {c: X[c].tolist() if hasattr(X[c], "tolist") else X[c].to_list() for c in columns}
        rows: Iterable[Any] = ({c: values[c][i] for c in columns} for i in range(len(X)))
    elif isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], Mapping):
        from riata.sources.text.first_objects import lookup

        rows = ({c: lookup(row, c) for c in columns} for row in X)
    else:
        return None
    return [{c: t for c, t in row.items() if isinstance(t, str)} for row in rows]
