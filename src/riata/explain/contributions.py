"""What each feature of a row adds to its score, by Blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.explain.settings import settings_of
from riata.explain.weights import (
    Floats,
    WeightTable,
    keys_in_model,
    name_keys,
    read_weights,
    scaled_columns,
)
from riata.learners.base import offsets_for
from riata.record import Model
from riata.schema import Schema

ORIGINS = ("average", "zero")
LINEAR = ("elastic-net", "truncated", "ftrl", "sketch", "interior")
"""Families whose score is the sum of their features and the intercept."""
AVERAGING, CALIBRATION, CLIP, MISSING = "averaging", "calibration", "clip", "missing numbers"
OTHERS = "other classes"
STEPS = {
    OTHERS: "less what they have: the score is for this class against all others together",
    AVERAGING: "from the score of the weights shown to the average over all that may be",
    CALIBRATION: "the correction of log odds by how they did so far",
    CLIP: "what was cut off by clip",
    MISSING: "numbers that are missing, taken as average",
}
"""What is added to a score behind the features, and what it stands for."""


@dataclass
class Contributions:
    """Of each row of a Block: intercept + offset + the entries of the row + the steps = the score."""

    block: Block
    entries: Floats
    """(entries, outputs): what each feature of each row adds."""
    deviations: Floats | None
    """The standard deviation of each of them, of its own, where the family has one."""
    values: Floats
    """(entries,): the values, as they stand in the data."""
    weights: Floats
    """(entries, outputs): the weights, for values as they stand in the data."""
    intercept: Floats
    """(rows, outputs): the same in all rows, but for `auto`, whose settings count differently in each."""
    offsets: Floats | None
    steps: dict[str, Floats]
    """(rows, outputs) each."""
    scores: Floats
    score_deviations: Floats | None
    """The standard deviation of x'w: that of the features together."""

    def sums(self) -> Floats:
        """The right side of the equation above, added up: equal to `scores` but for rounding."""
        rows = np.repeat(np.arange(len(self.block)), np.diff(self.block.indptr))
        total = np.array(self.intercept)
        for output in range(total.shape[1]):
            weights = np.ascontiguousarray(self.entries[:, output])
            total[:, output] += np.bincount(rows, weights=weights, minlength=len(total))
        if self.offsets is not None:
            total += self.offsets[:, None]
        for step in self.steps.values():
            total += step
        return total


class Explainer:
    """Takes scores apart, by the weights that a model has when this is made.

    The score of a linear model is a sum. That of an average of models (`auto`; Bayesian models, which average over
    what the weights may be) is not: there the contributions are those of the mean of the weights, for `auto` those to
    the log odds of the settings that count in the row (see `Settings`), and the rest, up to the score, is the step
    `averaging`. What calibration does comes last. With `origin="zero"` `auto` is explained by the one linear model of
    `coef`.
    """

    def __init__(self, model: Model, origin: str = "average") -> None:
        if origin not in ORIGINS:
            raise ValueError(f"origin={origin!r} is not one of {', '.join(map(repr, ORIGINS))}")
        self.model, self.origin = model, origin
        self.learner: Any = model.learner
        self.normalize = getattr(self.learner, "normalize", "none")
        with self.learner.lock:
            self.table: WeightTable = read_weights(model)
            self._views = _views_of(self.learner)
            self._settings = None if origin == "zero" else settings_of(self.learner)
            self._intercept = self.table.intercept
            if self._settings is not None:
                self._places = _core.Places(np.ascontiguousarray(self._settings.keys))
            elif self._views is None:
                self._places = _core.Places(np.ascontiguousarray(self.table.keys))
                self._weights = np.vstack([self.table.weights, np.zeros((1, self.learner.outputs))])
            else:
                self._places = _core.Places(np.ascontiguousarray(self._views[0].keys))
        self._scaled = _Scaled(model)
        if origin == "zero" and self._scaled and self.normalize != "none":
            raise ValueError(
                "rows are divided by their length here: contributions count from the average of a "
                "column, origin='average'"
            )

    def of(self, block: Block) -> Contributions:
        """The contributions to the scores of these rows."""
        first, last = int(block.indptr[0]), int(block.indptr[-1])
        if first or last < len(block.indices):
            block = block[0 : len(block)]
        learner = self.learner
        with learner.lock:
            scores = learner.score(block)
            before = learner._score(block) if getattr(learner, "calibrates", False) else None
            spread = learner.moments(block)[1] if learner.family == "bayesian" else None
        seen, lengths_of = block.values.astype(np.float64), block.values
        if getattr(learner, "_scale", None) is not None:
            keys = keys_in_model(learner, block.indices)
            seen, lengths_of = learner.values_seen(block, keys), learner._values(block)
        factors = _row_factors(block, lengths_of, self.normalize)
        if factors is not None:
            seen *= np.repeat(factors, np.diff(block.indptr))
        entries, deviations, intercept, others = self._entries(block, seen)
        values, scales, columns = self._scaled.original(block)
        weights = _ratio(entries, seen)
        if scales is not None:
            weights = weights / scales[:, None]
        steps: dict[str, Floats] = {} if others is None else {OTHERS: others}
        if self.origin == "zero" and self._scaled:
            entries, intercept, steps[MISSING] = self._scaled.from_zero(
                block, entries, columns, self.table
            )
        made = Contributions(
            block, entries, deviations, values, weights,
            np.broadcast_to(intercept, (len(block), learner.outputs)),
            offsets_for(block, learner.outputs), steps, scores, spread,
        )  # fmt: skip
        self._add_steps(made, before)
        return made

    def _entries(
        self, block: Block, seen: Floats
    ) -> tuple[Floats, Floats | None, Floats, Floats | None]:
        """What each feature adds, its standard deviation, what the intercept adds, and what other classes do."""
        places = self._places.find(keys_in_model(self.learner, block.indices))
        if self._settings is not None:
            entries, start, others = self._settings.entries(block, places, seen)
            return entries, None, start, others
        if self._views is None:
            return self._weights[places] * seen[:, None], None, self._intercept, None
        mean = np.zeros((len(seen), self.learner.outputs))
        square = np.zeros_like(mean)
        for view in self._views:
            x = view.seen(seen)[:, None]
            mean += view.means[places] * x
            square += view.squares[places] * x * x
        deviation = np.sqrt(np.maximum(square - mean * mean, 0.0))
        return mean, deviation, self._intercept, None

    def _add_steps(self, made: Contributions, before: Floats | None) -> None:
        """What lies between the sum of the features and the score."""
        learner = self.learner
        clips = getattr(learner, "clip", None) is not None
        if learner.family not in LINEAR or clips:
            linear = made.sums()
            end = made.scores if before is None else before
            made.steps[CLIP if clips else AVERAGING] = _without_rounding(end - linear, linear)
        if before is not None:
            made.steps[CALIBRATION] = made.scores - before


def _original(values: Floats, centre: Floats, scale: Floats) -> Floats:
    """Numbers as they stand in the data, to as many digits as scaled ones of 32 bits have of them.

    >>> scaled = ((np.array([0, 1, 88.25]) - 0.4) / 0.49).astype(np.float32)
    >>> _original(scaled.astype(float), np.array([0.4]), np.array([0.49])).tolist()
    [0.0, 1.0, 88.25]
    """
    apart = values * scale
    error = np.maximum(np.abs(apart), np.abs(centre)) * 2.0**-23
    digits = np.floor(-np.log10(np.maximum(error, 1e-300)))
    steps = 10.0 ** np.minimum(digits, 300)
    return np.where(error > 0, np.rint((apart + centre) * steps) / steps + 0.0, 0.0)


def _without_rounding(step: Floats, linear: Floats) -> Floats:
    """The step, or nothing where it is no more than the rounding of a sum."""
    return np.where(np.abs(step) <= 1e-12 * (1 + np.abs(linear)), 0.0, step)


def _ratio(entries: Floats, seen: Floats) -> Floats:
    """What one unit of a value adds."""
    return np.divide(entries, seen[:, None], out=np.zeros_like(entries), where=seen[:, None] != 0)


def _row_factors(block: Block, values: NDArray[np.float32], normalize: str) -> Floats | None:
    """What the values of each row are multiplied with: by its length as the learner sees it."""
    if normalize == "none":
        return None
    counts = np.diff(block.indptr)
    if normalize == "sqrt_nnz":
        size = np.sqrt(counts)
    else:
        rows = np.repeat(np.arange(len(block)), counts)
        wide = np.abs(values.astype(np.float64))
        size = np.bincount(rows, wide if normalize == "l1" else wide**2, minlength=len(block))
        size = size if normalize == "l1" else np.sqrt(size)
    return np.divide(1.0, size, out=np.ones(len(block)), where=size > 0)


@dataclass
class _View:
    """The components of a Bayesian mixture that see values alike, averaged: of each feature the mean of its weight,
    and of its square; behind all others those of a feature never seen."""

    name: str
    keys: NDArray[np.int64] = field(repr=False)
    means: Floats = field(repr=False)
    squares: Floats = field(repr=False)

    def seen(self, x: Floats) -> Floats:
        if self.name == "binary":
            return np.asarray(x != 0, dtype=np.float64)
        if self.name == "log1p":
            return np.asarray(np.copysign(np.log1p(np.abs(x)), x), dtype=np.float64)
        return x


def _views_of(learner: Any) -> list[_View] | None:
    """What a Bayesian model makes of values; None of any other."""
    if learner.family != "bayesian":
        return None
    keys, means, variances = learner.posterior()
    shape, evidence = learner.shape, learner.evidence
    known = learner.unseen == "prior"
    found = []
    for v, name in enumerate(learner.views):
        part = slice(v * shape.priors, (v + 1) * shape.priors)
        shares = evidence[:, part]
        mean = (shares * means[:, :, part]).sum(axis=-1)
        square = (shares * (variances[:, :, part] + means[:, :, part] ** 2)).sum(axis=-1)
        prior = float(learner.prior_mean) * shares.sum(axis=-1) * known
        spread = (shares * (np.array(learner.prior_variances) + learner.prior_mean**2)).sum(axis=-1)
        found.append(
            _View(name, keys, np.vstack([mean, prior]), np.vstack([square, spread * known]))
        )
    return found


class _Scaled:
    """Columns whose numbers are scaled, and back."""

    def __init__(self, model: Model) -> None:
        schema = model.schema or Schema()
        known = schema.named
        columns = [c for c in schema.features if c.kind == "number" and c.is_changed and known]
        self.schema, self.columns = schema, columns
        self.logs = [c for c in schema.features if c.kind == "log1p" and known]
        every = [c.name for c in [*columns, *self.logs]]
        keys = name_keys(model.learner, every) if every else np.empty(0, dtype=np.int64)
        self._places = _core.Places(keys)
        self.centre = np.array([c.centre for c in columns])
        self.scale = np.array([c.scale for c in columns])

    def __bool__(self) -> bool:
        return bool(self.columns)

    def original(self, block: Block) -> tuple[Floats, Floats | None, NDArray[np.int32] | None]:
        """Values as they stand in the data; by what each is divided; the column of each, or -1."""
        values = block.values.astype(np.float64)
        if not self.columns and not self.logs:
            return values, None, None
        column = self._places.find(block.indices)
        many = len(self.columns)
        logs = column >= many
        values[logs] = np.copysign(np.expm1(np.abs(values[logs])), values[logs])
        scaled = (column >= 0) & ~logs
        at = column[scaled]
        scales = np.ones(len(values))
        if many:
            scales[scaled] = self.scale[at]
            values[scaled] = _original(values[scaled], self.centre[at], self.scale[at])
        return values, scales, np.where(scaled, column, -1).astype(np.int32)

    def from_zero(
        self, block: Block, entries: Floats, columns: NDArray[np.int32] | None, table: WeightTable
    ) -> tuple[Floats, Floats, Floats]:  # fmt: skip
        """Contributions that count from zero, the intercept of that, and what missing numbers add."""
        places = scaled_columns(table.learner, self.schema, table.keys, hashed=True)
        by_name = {c.name: table.weights[place] * (c.centre / c.scale) for place, c in places}
        none = np.zeros(entries.shape[1])
        shifts = np.array([by_name.get(c.name, none) for c in self.columns])
        assert columns is not None
        there = columns >= 0
        rows = np.repeat(np.arange(len(block)), np.diff(block.indptr))
        missing = np.tile(shifts.sum(axis=0), (len(block), 1))
        np.subtract.at(missing, rows[there], shifts[columns[there]])
        moved = entries.copy()
        moved[there] += shifts[columns[there]]
        return moved, table.intercept - shifts.sum(axis=0), missing
