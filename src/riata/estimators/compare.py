"""Two models side by side."""

from __future__ import annotations

import os
from typing import Any

from riata import model_file
from riata.estimators.base import LinearEstimator
from riata.explain.difference import Difference, check_same_task, difference
from riata.record import Model
from riata.sources import Source, open_source


def diff(a: Any, b: Any, data: Any = None, *, top: int = 10) -> Difference:
    """What has changed from one model to another: features gained, lost and moved, parameters, schema.

    `a` and `b` are estimators, or paths of models. With `data` (a path, a frame, dicts, a matrix) also where their
    predictions differ. It prints, shows itself in a notebook, and is a mapping of values by name.

    >>> import riata
    >>> old = riata.FTRLClassifier().learn_one({"word": "lunch"}, "ham").learn_one({"word": "free"}, "spam")
    >>> new = riata.FTRLClassifier().learn_one({"word": "lunch"}, "ham").learn_one({"word": "money"}, "spam")
    >>> found = riata.diff(old, new)
    >>> [entry["feature"] for entry in found["gained"]], [entry["feature"] for entry in found["lost"]]
    (['word=money'], ['word=free'])
    """
    one, two = _model(a), _model(b)
    check_same_task(one, two)
    sources = None if data is None else (_rows(a, one, data), _rows(b, two, data))
    return difference(one, two, top, sources)


def _model(what: Any) -> Model:
    if isinstance(what, Model):
        return what
    if isinstance(what, LinearEstimator):
        what._fitted()
        return what.model_
    if isinstance(what, str | os.PathLike):
        return model_file.load(what)
    raise TypeError(f"a model is an estimator or the path of a file, not {type(what).__name__}")


def _rows(what: Any, model: Model, data: Any) -> Source:
    """The rows as this model reads them."""
    if isinstance(what, LinearEstimator):
        rows: Source = what._blocks(data)  # type: ignore[assignment]
        return rows
    names = model.learner.scores_by_name
    return open_source(data, schema=model.schema, labelled=False, names=names)
