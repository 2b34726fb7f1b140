"""The least value that a convex objective can have inside bounds, from sums over all examples and a sample of them.

A convex loss is nowhere below a tangent. So no weights u have an objective below

    sum over the sample of its tangents at v + sum over the others of theirs at w + l1 |u|,

whatever v is. The first sum is as large as it can be where v minimises the losses of the sample themselves together
with the rest, a problem in memory. Where the sample is everything, that is the optimum; where it is a part, the bound
is about as many times further from the objective as the data is larger than the sample. (All tangents at w would be
too low in the first order of the distance from the optimum; this one is in the second.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from riata import _core
from riata.block import Block
from riata.learners.base import Floats
from riata.learners.sketch import Sketch
from riata.learners.sketch_bounds import Limits
from riata.learners.sketch_memory import InMemory
from riata.learners.sketch_points import weights_at

REACH = 10.0
"""The bound speaks of weights whose sizes add up to at most so many times ours."""
MOST_STEPS = 100
ENOUGH = 1e-3
"""A gap below this part of the objective is not worth more steps."""
EXACT = 0.1
"""Nor is a bound that another could lower the gap of by no more than this part."""


@dataclass
class Task:
    """What is minimised: the mean loss of (possibly) many examples + l1 * sum abs(w) inside bounds, at w."""

    loss: str
    parameter: float
    l1: float
    fit_intercept: bool
    low: Floats
    high: Floats
    w: Floats
    intercept: float
    value: float
    """The mean loss at w, of all examples."""
    gradient: Floats
    slope: float
    """The gradient of the intercept."""

    @property
    def objective(self) -> float:
        return self.value + self.l1 * float(np.abs(self.w).sum())

    def least(self, constant: float, q: Floats, slope: float) -> float:
        """The least of constant + q'u + slope b + l1 |u| within reach: the features that gain most by moving go first,
        each as far as its bounds let it."""
        gain = np.maximum(0.0, np.abs(q) - self.l1)
        room = np.maximum(0.0, np.where(q < 0, self.high, -self.low))
        pulled = np.flatnonzero((gain > 0) & (room > 0))
        order = pulled[np.argsort(-gain[pulled], kind="stable")]
        reach = REACH * max(float(np.abs(self.w).sum()), 1.0)
        steps = np.minimum(room[order], reach)
        taken = np.minimum(steps, np.maximum(0.0, reach - np.cumsum(steps) + steps))
        constant -= float(gain[order] @ taken)
        if self.fit_intercept:
            constant -= abs(slope) * REACH * max(abs(self.intercept), 1.0)
        return constant


@dataclass
class Examples:
    """Those of the sample, as one output sees them."""

    X: sparse.csr_matrix
    """Columns as the task has its features."""
    targets: Floats
    shares: Floats
    """The weight of each, as a part of that of all examples there are."""
    offsets: Floats


@dataclass
class Search:
    """For the v whose bound is best: with the halves of v and the intercept as variables, in units of their own."""

    task: Task
    examples: Examples
    best: float = field(init=False, default=-np.inf)
    most: float = field(init=False, default=np.inf)
    """No bound is above the least value that was met of what is minimised."""
    met: tuple[Floats, float] = field(init=False)
    """Weights and intercept with that value."""

    def __post_init__(self) -> None:
        task, X = self.task, self.examples.X
        squares = np.asarray(X.multiply(X).T @ self.examples.shares).ravel()
        self.used = np.flatnonzero(squares)
        self.met = task.w, task.intercept
        self.X = X[:, self.used].tocsr()
        self.XT = self.X.T.tocsr()
        self.unit = 1 / np.sqrt(squares[self.used])
        value, q, slope = self._sample(task.w[self.used], task.intercept)
        self.rest = task.gradient.copy()
        self.rest[self.used] -= q
        self.rest_slope = task.slope - slope
        at_w = value - float(q @ task.w[self.used]) - slope * task.intercept
        tangent = task.value - float(task.gradient @ task.w) - task.slope * task.intercept
        self.constant = tangent - at_w

    def _sample(self, v: Floats, b: float) -> tuple[float, Floats, float]:
        """Loss, gradient and the intercept's slope of the sample."""
        e, task = self.examples, self.task
        p = self.X @ v + b + e.offsets
        slopes = e.shares * _core.loss_slope(task.loss, p, e.targets, task.parameter)
        losses = _core.loss_value(task.loss, p, e.targets, task.parameter)
        return float(e.shares @ losses), self.XT @ slopes, float(slopes.sum())

    def at(self, v: Floats, b: float) -> tuple[float, Floats, float]:
        """Loss and gradient of the sample and the tangents of the others; the bound that they give is kept."""
        value, q, slope = self._sample(v, b)
        own = self.constant + value - float(q @ v) - slope * b
        all_q = self.rest.copy()
        all_q[self.used] += q
        slope += self.rest_slope
        self.best = max(self.best, self.task.least(own, all_q, slope))
        others = float(self.rest[self.used] @ v) + self.rest_slope * b
        return value + others, all_q[self.used], slope

    def run(self) -> Optimum:
        """The best bound that was met, and the weights that are best if the others are their tangents."""
        from scipy.optimize import Bounds, minimize  # slow to import

        task, n = self.task, len(self.used)
        low, high, w = task.low[self.used], task.high[self.used], task.w[self.used]
        reach = REACH * max(float(np.abs(task.w).sum()), 1.0)

        def objective(x: Floats) -> tuple[float, Floats]:
            v, b = self.unit * (x[:n] - x[n:-1]), float(x[-1])
            value, q, slope = self.at(v, b)
            value += task.l1 * float(self.unit @ (x[:n] + x[n:-1]))
            if self.constant + value < self.most:
                self.most, self.met = self.constant + value, (v, b)
            up, down = self.unit * (q + task.l1), self.unit * (task.l1 - q)
            return value, np.concatenate([up, down, [slope]])

        def enough(x: Floats) -> None:
            gap = task.objective - self.best
            if gap <= ENOUGH * task.objective or self.most - self.best <= EXACT * gap:
                raise StopIteration

        lowest = np.maximum(0.0, np.concatenate([low, -high]))
        highest = np.clip(np.concatenate([high, -low]), 0.0, reach)
        scale = np.concatenate([self.unit, self.unit])
        start = np.concatenate([np.maximum(w, 0.0), np.maximum(-w, 0.0)])
        b = task.intercept
        far = REACH * max(abs(b), 1.0) if task.fit_intercept else 0.0
        limits = Bounds(np.append(lowest / scale, -far), np.append(highest / scale, far))
        minimize(
            objective, np.append(np.clip(start, lowest, highest) / scale, b), jac=True,
            method="L-BFGS-B", bounds=limits, callback=enough,
            options={"maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS, "ftol": 0.0, "gtol": 0.0, "maxcor": 10},
        )  # fmt: skip
        weights = np.clip(0.0, task.low, task.high)
        weights[self.used] = self.met[0]
        return Optimum(weights, self.met[1], self.most, self.best)


def columns_of(block: Block, keys: Any) -> Any:
    """Which of the task's features each entry is of."""
    order = np.argsort(keys, kind="stable")
    return order[np.searchsorted(keys, block.indices, sorter=order)]


@dataclass(frozen=True)
class Optimum:
    """The best weights that were met, their objective, and what no objective is below."""

    weights: Floats
    intercept: float
    objective: float
    bound: float


def by_sketch(
    block: Block,
    keys: Any,
    low: Floats,
    high: Floats,
    l1: float,
    positives: list[float],
    settings: Sketch,
) -> list[Optimum]:
    """For every output: the sketch's optimum, for the logistic loss where the sample is all there is."""
    limits = None
    if np.isfinite(low).any() or np.isfinite(high).any():
        ends = dict(enumerate(zip(low.tolist(), high.tolist(), strict=True)))
        limits = Limits.of_bounds(ends[0] if len(set(ends.values())) == 1 else dict(ends))
    memory = InMemory(block.with_indices(columns_of(block, keys).astype(np.int32)))
    total = float(len(block) if block.weights is None else block.weights.sum())
    found = []
    for positive in positives:
        if settings.fit_intercept and not memory.has_both_classes(positive):
            continue  # no intercept is the best
        solution = memory.solve(settings, limits, positive, l1 * total, settings.tol)
        weights = weights_at(solution.point, np.arange(len(keys)))
        objective = solution.objective / total
        found.append(
            Optimum(weights, solution.point.intercept, objective, objective - solution.gap / total)
        )
    return found if len(found) == len(positives) else []


def examples_of(
    block: Block, keys: Any, normalize: str, positive: float | None, total: float
) -> Examples:
    """`keys`: the features of the task; `positive`: the class that is asked for, None for numbers."""
    assert block.labels is not None
    columns = columns_of(block, keys)
    X = sparse.csr_matrix(
        (block.values.astype(np.float64), columns, block.indptr), shape=(len(block), len(keys))
    )
    X.sum_duplicates()
    return Examples(
        sparse.diags_array(row_factors(block, normalize)) @ X,
        block.labels if positive is None else np.where(block.labels == positive, 1.0, -1.0),
        (np.ones(len(block)) if block.weights is None else block.weights) / total,
        np.zeros(len(block)) if block.offsets is None else block.offsets,
    )


def row_factors(block: Block, normalize: str) -> Floats:
    """What each row is multiplied by."""
    sizes = np.diff(block.indptr)
    if normalize == "none":
        return np.ones(len(block))
    rows = np.repeat(np.arange(len(block)), sizes)
    values = block.values.astype(np.float64)
    if normalize == "l1":
        sums = np.bincount(rows, np.abs(values), len(block))
    elif normalize == "l2":
        sums = np.sqrt(np.bincount(rows, values * values, len(block)))
    else:
        sums = np.sqrt(sizes)
    factors: Floats = np.where(sizes > 0, 1 / np.where(sizes > 0, sums, 1.0), 1.0)
    return factors
