"""Explanations of scores, row by row, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import take_names
from riata.explain.contributions import STEPS, Contributions
from riata.explain.texts import as_html, pieces
from riata.labels import as_text
from riata.learners.base import decoded
from riata.metrics import class_probabilities, predicted_codes
from riata.record import Model
from riata.schema import Column, Schema
from riata.show import html_text, plural, printable, signed

SHOWN = ("text", "number", "log1p")
"""Kinds of columns that an explanation must know: texts to colour, numbers to show whatever they are."""


@dataclass(frozen=True)
class Term:
    """What one feature adds."""

    feature: str | int
    value: float
    """As it stands in the data."""
    weight: float
    """What one unit of the value adds."""
    contribution: float
    std: float | None = None
    """The standard deviation of the contribution, of its own."""


@dataclass(frozen=True)
class Explanation:
    """A score as a sum: intercept + offset + terms + others + steps."""

    where: str
    target: Any
    """The class whose score this is; None of a regression."""
    prediction: Any
    score: float
    score_std: float | None
    probability: float | None
    """Of the target."""
    intercept: float
    offset: float
    terms: list[Term]
    """The strongest first."""
    others: float
    """What features that are not among the terms add together."""
    n_others: int
    n_unknown: int
    """Features without a weight: they add nothing."""
    steps: dict[str, float]
    texts: dict[str, str] = field(default_factory=dict, repr=False)
    """Texts of the row by column, where they are known."""
    columns: Mapping[str, Column] = field(default_factory=dict, repr=False)
    ngrams: Mapping[str, float] = field(default_factory=dict, repr=False)
    """What all n-grams of the texts add, also those that are not among the terms."""

    @property
    def total(self) -> float:
        """All of it, added up: the score but for rounding."""
        parts = [self.intercept, self.offset, self.others, *self.steps.values()]
        return float(sum(parts) + sum(term.contribution for term in self.terms))

    def contributions(self) -> dict[str | int, float]:
        """What each feature adds, by its name."""
        return {term.feature: term.contribution for term in self.terms}

    def to_dict(self) -> dict[str, Any]:
        """Values as JSON holds them."""
        found = {
            "where": self.where,
            "prediction": self.prediction,
            "class": self.target,
            "score": self.score,
            "score_std": self.score_std,
            "probability": self.probability,
            "intercept": self.intercept,
            "offset": self.offset,
            "steps": self.steps,
            "contributions": [_term_dict(term) for term in self.terms],
            "others": {"features": self.n_others, "contribution": self.others},
            "unknown_features": self.n_unknown,
        }
        return {k: v for k, v in found.items() if v is not None}

    def rows(self) -> list[tuple[float, float | None, str]]:
        """What is added, its standard deviation, and what it is, one after another."""
        found: list[tuple[float, float | None, str]] = [
            (t.contribution, t.std, f"{printable(str(t.feature))}{self._value_of(t)}")
            for t in self.terms
        ]
        if self.n_others:
            found.append((self.others, None, plural(self.n_others, "other feature")))
        found.append((self.intercept, None, "intercept"))
        if self.offset:
            found.append((self.offset, None, "offset"))
        return found + [
            (value, None, f"{name}: {STEPS[name]}") for name, value in self.steps.items()
        ]

    def _value_of(self, term: Term) -> str:
        """The value, unless it is the one that names have."""
        named = term.feature not in self.columns
        return "" if named and term.value == 1 else f" = {term.value:.6g}"

    def headline(self) -> str:
        """Where, what is predicted, and how sure."""
        std = "" if self.score_std is None else f" (standard deviation {self.score_std:.4f})"
        score = f"score {signed(self.score)}{std}"
        if self.target is None:
            return f"{printable(self.where)}: {score}"
        target = printable(as_text(self.target))
        sure = "" if self.probability is None else f"probability {self.probability:.4f}, "
        if self.prediction == self.target:
            return f"{printable(self.where)}: {target}, {sure}{score}"
        predicted = printable(as_text(self.prediction))
        return f"{printable(self.where)}: {predicted} is predicted; {target} has {sure}{score}"

    def __str__(self) -> str:
        lines = [self.headline()]
        for value, std, what in self.rows():
            around = "" if std is None else f" +- {std:<8.4f}"
            lines.append(f"{signed(value):>12}{around}  {what}")
        lines.append(f"{signed(self.score):>12}  = score")
        if self.n_unknown:
            lines.append(f"{'':>12}  {plural(self.n_unknown, 'feature')} without a weight")
        return "\n".join(lines)

    def pieces(self) -> dict[str, list[Any]]:
        """Each text of the row, word by word, with what words add."""
        return {c: pieces(text, self.columns[c], self.ngrams) for c, text in self.texts.items()}

    def _repr_html_(self) -> str:
        texts = "".join(
            f"<p><b>{html_text(column)}</b> {as_html(found)}</p>"
            for column, found in self.pieces().items()
        )
        cells = "".join(
            f"<tr><td style='text-align:right'>{signed(value)}</td>"
            f"<td>{'' if std is None else f'&plusmn; {std:.4f}'}</td>"
            f"<td style='text-align:left'>{html_text(what, 400)}</td></tr>"
            for value, std, what in self.rows()
        )
        total = f"<tr><th style='text-align:right'>{signed(self.score)}</th><td></td>"
        total += "<th style='text-align:left'>score</th></tr>"
        return f"<p>{html_text(self.headline(), 400)}</p>{texts}<table>{cells}{total}</table>"


def _term_dict(term: Term) -> dict[str, Any]:
    found = {
        "feature": term.feature,
        "value": term.value,
        "weight": term.weight,
        "contribution": term.contribution,
    }
    return found if term.std is None else found | {"std": term.std}


class Explanations(Sequence[Explanation]):
    """Of several rows, one after another, each made when it is asked for."""

    def __init__(
        self,
        model: Model,
        parts: list[Contributions],
        target: Any = None,
        top: int | None = None,
        texts: Sequence[dict[str, str]] | None = None,
    ) -> None:
        self._model, self._parts, self._target, self._top = model, parts, target, top
        self._starts = np.cumsum([0, *(len(part.block) for part in parts)])
        self._texts = texts

    def __len__(self) -> int:
        return int(self._starts[-1])

    @overload
    def __getitem__(self, row: int) -> Explanation: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Explanation]: ...
    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        row = row + len(self) if row < 0 else row
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        at = int(np.searchsorted(self._starts, row, side="right")) - 1
        start = int(self._starts[at])
        one = slice(row - start, row - start + 1)
        texts = None if self._texts is None else [self._texts[row]]
        return next(
            explained(self._model, cut(self._parts[at], one), self._target, self._top, row, texts)
        )

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score of each row: (rows, outputs)."""
        empty = np.zeros((0, self._model.learner.outputs))
        return np.concatenate([empty, *(part.scores for part in self._parts)])

    def to_dicts(self) -> list[dict[str, Any]]:
        """Values as JSON holds them."""
        return [one.to_dict() for one in self]

    def to_frame(self) -> Any:
        """A pandas frame with a row for each contribution, intercepts and steps among them."""
        import pandas as pd

        found: list[tuple[Any, ...]] = []
        for row, one in enumerate(self):
            parts = [("intercept", one.intercept), ("offset", one.offset), ("others", one.others)]
            parts += list(one.steps.items())
            found += [
                (row, "feature", t.feature, t.value, t.contribution, t.std) for t in one.terms
            ]
            found += [(row, kind, "", None, value, None) for kind, value in parts if value]
        names = ["row", "kind", "feature", "value", "contribution", "std"]
        return pd.DataFrame(found, columns=names)

    def __str__(self) -> str:
        shown = [str(self[i]) for i in range(min(5, len(self)))]
        left = len(self) - len(shown)
        return "\n\n".join([*shown, f"and {plural(left, 'row')} more"] if left else shown)

    def __repr__(self) -> str:
        return f"<explanations of {plural(len(self), 'row')}>"

    def _repr_html_(self) -> str:
        shown = "".join(self[i]._repr_html_() for i in range(min(5, len(self))))
        left = len(self) - 5
        return shown + (f"<p>and {plural(left, 'row')} more</p>" if left > 0 else "")


def cut(part: Contributions, rows: slice) -> Contributions:
    """Some of the rows."""
    start, stop, _ = rows.indices(len(part.block))
    first, last = int(part.block.indptr[start]), int(part.block.indptr[stop])
    return Contributions(
        part.block[rows],
        part.entries[first:last],
        None if part.deviations is None else part.deviations[first:last],
        part.values[first:last],
        part.weights[first:last],
        part.intercept[rows],
        None if part.offsets is None else part.offsets[rows],
        {name: step[rows] for name, step in part.steps.items()},
        part.scores[rows],
        None if part.score_deviations is None else part.score_deviations[rows],
    )


def targets_of(model: Model, scores: NDArray[np.float64], target: Any) -> NDArray[np.intp]:
    """The output that is explained for each row: that of the class asked for, or of the one that is predicted."""
    n, outputs = scores.shape
    if target is None:
        return np.zeros(n, dtype=np.intp) if outputs == 1 else predicted_codes(scores)
    labels = model.labels
    found = [
        code
        for code, label in enumerate(labels)
        if label == target or as_text(label) == as_text(target)
    ]
    if not found:
        known = ", ".join(as_text(label) for label in labels) or "none: it is a regression"
        raise ValueError(f"there is no class {as_text(target)!r}; the model knows {known}")
    if outputs == 1 and found[0] != 1:
        raise ValueError(
            f"a model of two classes has one score, for {as_text(labels[-1])!r}: what speaks for "
            f"{as_text(labels[0])!r} is what speaks against that"
        )
    return np.full(n, 0 if outputs == 1 else found[0], dtype=np.intp)


def explained(
    model: Model,
    part: Contributions,
    target: Any = None,
    top: int | None = None,
    first_row: int = 0,
    texts: Sequence[dict[str, str]] | None = None,
) -> Iterator[Explanation]:
    """The rows of a Block, for people: a Python object for each feature that is shown."""
    block, scores = part.block, part.scores
    outputs = targets_of(model, scores, target)
    rows = np.repeat(np.arange(len(block)), np.diff(block.indptr))
    sizes = part.entries[np.arange(len(rows)), outputs[rows]]
    most = len(rows) if top is None else top
    starts, chosen, *_ = _core.strongest_entries(block.indptr, np.ascontiguousarray(sizes), most)
    live = np.bincount(rows, sizes != 0, minlength=len(block)).astype(np.int64)
    totals = np.bincount(rows, sizes, minlength=len(block))
    names = _names(model, part, chosen)
    probabilities = model.learner.probability(scores)
    shares = (
        None
        if probabilities is None or model.classes is None
        else class_probabilities(probabilities)
    )
    codes = predicted_codes(scores)
    columns = {c.name: c for c in (model.schema or Schema()).features if c.kind in SHOWN}
    labels = model.labels
    for row in range(len(block)):
        output, entries = int(outputs[row]), slice(int(starts[row]), int(starts[row + 1]))
        terms = [
            Term(
                names[at], float(part.values[e]), float(part.weights[e, output]), float(sizes[e]),
                None if part.deviations is None else float(part.deviations[e, output]),
            )
            for at, e in enumerate(chosen[entries].tolist(), start=entries.start)
        ]  # fmt: skip
        shown = sum(term.contribution for term in terms)
        left = int(live[row]) - len(terms)
        code = min(int(codes[row]), max(0, len(labels) - 1))
        # Of two classes the score is that of the last.
        goal = len(labels) - 1 if scores.shape[1] == 1 else output
        yield Explanation(
            where=block.where(row)
            if block.path is not None and block.lines is not None
            else f"row {first_row + row}",
            target=labels[goal] if labels else None,
            prediction=labels[code] if labels else float(scores[row, 0]),
            score=float(scores[row, output]),
            score_std=None
            if part.score_deviations is None
            else float(part.score_deviations[row, output]),
            probability=None if shares is None or not labels else float(shares[row, goal]),
            intercept=float(part.intercept[row, output]),
            offset=0.0 if part.offsets is None else float(part.offsets[row]),
            terms=terms,
            others=float(totals[row] - shown) if left else 0.0,
            n_others=left,
            n_unknown=int(block.indptr[row + 1] - block.indptr[row]) - int(live[row]),
            steps={name: float(step[row, output]) for name, step in part.steps.items()},
            texts={}
            if texts is None
            else {
                c: t for c, t in texts[row].items() if c in columns and columns[c].kind == "text"
            },
            columns=columns,
            ngrams={} if not texts else _ngrams(part, row, sizes),
        )


def _names(model: Model, part: Contributions, chosen: NDArray[np.int64]) -> list[Any]:
    """What these entries are called."""
    block = part.block
    if block.named:
        assert block.names is not None
        assert block.name_offsets is not None
        return decoded(*take_names(block.names, block.name_offsets, chosen))
    first = (model.schema or Schema()).base or 0
    return [int(key) + first for key in block.indices[chosen].tolist()]


def _ngrams(part: Contributions, row: int, sizes: NDArray[np.float64]) -> dict[str, float]:
    """All named features of a row."""
    block = part.block
    first, last = int(block.indptr[row]), int(block.indptr[row + 1])
    if block.names is None or block.name_offsets is None:
        return {}
    names = decoded(block.names, block.name_offsets[first : last + 1])
    return dict(zip(names, sizes[first:last].tolist(), strict=True))
