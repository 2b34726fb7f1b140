"""Examples in memory, and the exact solution for them: where the passes of a sketch start, and folds that fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.learners.sketch_bounds import Limits
from riata.learners.sketch_points import Floats, Keys, Point, Settings, weights_at

LOOK_UP = 16
"""Features are numbered anew by an array of all numbers, if these are at most so many times the entries."""


MOST_WORK = 4e9
"""Products that a solution may take: some seconds."""
MOST_BY_CHANCE = 0.25


@dataclass(frozen=True)
class Solution:
    """What was found for the examples in memory."""

    gamma: float
    point: Point
    objective: float
    gap: float
    keys: Keys
    """Features that are zero there, and their pulls: the negative gradient of the losses."""
    pulls: Floats

    def tells_of_others(self, tol: float) -> bool:
        """Whether it is near the optimum of these examples, and that not too low for others of the kind by chance.

        That is about 1 for each weight: what AIC adds.
        """
        by_chance = int(np.count_nonzero(self.point.weights))
        return self.gap <= tol * self.objective and by_chance <= MOST_BY_CHANCE * self.objective


@dataclass(frozen=True, eq=False)
class InMemory:
    """Some examples, by columns.

    >>> rows = Block(np.array([0, 2, 3, 4]), np.array([3, 900, 3, 900], dtype=np.int32),
    ...              np.array([2, 1, 1, 1], dtype=np.float32), labels=np.array([1.0, 1.0, 0.0]))
    >>> InMemory(rows).features
    array([  3, 900])
    """

    block: Block

    @cached_property
    def features(self) -> Keys:
        """Those that occur, ascending."""
        return self._numbered[0]

    @cached_property
    def _numbered(self) -> tuple[Keys, NDArray[np.int32]]:
        indices = self.block.indices
        if not len(indices) or int(indices.max()) >= LOOK_UP * len(indices):
            features, places = np.unique(indices, return_inverse=True)
            return features.astype(np.int64), places.astype(np.int32)
        occurs = np.zeros(int(indices.max()) + 1, dtype=bool)
        occurs[indices] = True
        numbers: NDArray[np.int32] = (np.cumsum(occurs) - 1).astype(np.int32)
        return np.flatnonzero(occurs), np.ascontiguousarray(numbers[indices], dtype=np.int32)

    @cached_property
    def _columns(self) -> _core.ExampleColumns:
        return _core.ExampleColumns(
            self.block.indptr, self._numbered[1], self.block.values, len(self.features)
        )

    def has_both_classes(self, positive: float) -> bool:
        """Whether examples with weight are of both classes: only then a free intercept has a best place."""
        block = self.block
        assert block.labels is not None
        own = block.labels == positive
        if block.weights is not None:
            return bool(block.weights[own].sum() > 0 and block.weights[~own].sum() > 0)
        return bool(own.any() and not own.all())

    def solve(
        self,
        settings: Settings,
        limits: Limits | None,
        positive: float,
        gamma: float,
        tol: float,
        start: Point | None = None,
        work: float = MOST_WORK,
    ) -> Solution:
        """The minimum, within `tol`, of the losses of these examples and the penalty, inside the limits.

        Or what has been found by so many products.
        """
        block, features = self.block, self.features
        assert block.labels is not None
        low = high = None
        start = start or Point(np.zeros(0, dtype=np.int64), np.zeros(0), 0.0)
        if limits is not None:
            low, high = limits.of(features)
        found = self._columns.solve(
            settings.link,
            settings.fit_intercept,
            np.where(block.labels == positive, 1.0, -1.0),
            block.weights,
            block.offsets,
            gamma,
            gamma if settings.penalize_intercept else 0.0,
            low,
            high,
            tolerance=tol,
            tau=settings.tau,
            capacity=settings.capacity or 0,
            start=weights_at(start, features),
            intercept=start.intercept,
            work=work,
        )
        live = np.flatnonzero(found.weights)
        keys, weights = features[live], found.weights[live]
        if limits is not None:  # weights that may not be zero and never occur stay where they are
            origin = limits.origin()
            absent = ~np.isin(origin.keys, features)
            keys = np.concatenate([keys, origin.keys[absent]])
            weights = np.concatenate([weights, origin.weights[absent]])
            order = np.argsort(keys)
            keys, weights = keys[order], weights[order]
        none = np.flatnonzero(found.weights == 0)
        others, pulls = features[none], found.pulls[none]
        if limits is not None:
            may = limits.allowed(others, pulls)
            others, pulls = others[may], pulls[may]
        objective = found.objective + gamma * float(
            np.abs(weights).sum() - np.abs(found.weights).sum()
        )
        return Solution(
            gamma, Point(keys, weights, found.intercept), objective, found.gap, others, pulls
        )
