"""What the passes of a sketch speak of: weights, certificates, solutions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Keys: TypeAlias = NDArray[np.int64]


class Settings(Protocol):
    """The parameters of `learners.Sketch` that matter here."""

    @property
    def algorithm(self) -> str: ...
    @property
    def link(self) -> str: ...
    @property
    def fit_intercept(self) -> bool: ...
    @property
    def penalize_intercept(self) -> bool: ...
    @property
    def capacity(self) -> int | None: ...
    @property
    def tau(self) -> float: ...
    @property
    def tol(self) -> float: ...
    @property
    def max_passes(self) -> int: ...


@dataclass(frozen=True)
class Point:
    """Weights, and the loss that a pass found at them."""

    keys: Keys
    weights: Floats
    intercept: float
    loss: float = math.nan

    def l1(self, penalize_intercept: bool) -> float:
        return float(np.abs(self.weights).sum()) + penalize_intercept * abs(self.intercept)

    def pruned(self) -> Point:
        live = self.weights != 0
        return Point(self.keys[live], self.weights[live], self.intercept, self.loss)


ORIGIN = Point(np.zeros(0, dtype=np.int64), np.zeros(0), 0.0)


@dataclass(frozen=True)
class Certificate:
    """What a pass proves of the weights it was made with."""

    objective: float
    gap: float
    """The objective is at most this much above its minimum."""
    violation: float
    """The largest distance of zero from the subdifferential: how far |Omega_j| <= gamma is missed."""
    violators: int
    """Features that are not active and should be."""


def history_entry(
    passes: int, gamma: float, certificate: Certificate, point: Point, step: float
) -> dict[str, float]:
    """What `history` says of a pass."""
    return {
        "pass": passes,
        "gamma": gamma,
        "objective": certificate.objective,
        "gap": certificate.gap,
        "violation": certificate.violation,
        "active": len(point.keys),
        "support": int(np.count_nonzero(point.weights)),
        "step": step,
    }


@dataclass(frozen=True)
class PathPoint:
    """The solution for one gamma."""

    gamma: float
    keys: Keys
    weights: Floats
    intercept: float
    objective: float
    gap: float
    passes: int


def violation_of(r: Floats, w: Floats, penalties: Floats) -> Floats:
    """By how much each weight violates optimality."""
    live: Floats = np.abs(r - np.sign(w) * penalties)
    return np.where(w != 0, live, np.maximum(0.0, np.abs(r) - penalties))


def weights_at(point: Point, keys: Keys) -> Floats:
    """The point's weights of these features; of those it lacks, 0. Its own keys may come in any order."""
    order = np.argsort(point.keys, kind="stable")
    known = point.keys[order]
    where = np.searchsorted(known, keys)
    weights = np.zeros(len(keys))
    inside = where < len(known)
    inside[inside] = known[where[inside]] == keys[inside]
    weights[inside] = point.weights[order][where[inside]]
    return weights


def hardest_first(keys: Keys, pulls: Floats, least: float) -> Keys:
    """Those that pull at least so hard, in falling order of it.

    >>> hardest_first(np.array([3, 5, 8]), np.array([0.1, -2.0, 1.0]), 0.5)
    array([5, 8])
    """
    sizes = np.abs(pulls)
    hard = sizes >= least
    keys, sizes = keys[hard], sizes[hard]
    return keys[np.lexsort((keys, -sizes))]


def between(start: Point, intercept: float, weights: Floats, t: float) -> Point:
    """A part t of the way from `start` to the weights (of the same features) and the intercept."""
    return Point(
        start.keys,
        start.weights + t * (weights - start.weights),
        start.intercept + t * (intercept - start.intercept),
    )


def least_between(steps: Floats, values: Floats) -> float:
    """Where a convex function of the step is least, from some of its values; above 0 and below 1.

    The parabola through the least value and its neighbours says where, no farther than half way to either.

    >>> t = np.array([0.0, 0.5, 0.25, 1.0])
    >>> least_between(t, (t - 0.3) ** 2)
    0.3
    """
    order = np.argsort(steps)
    x, y = steps[order], values[order]
    at = int(np.clip(np.argmin(y), 1, len(x) - 2))
    (a, b, c), (fa, fb, fc) = x[at - 1 : at + 2], y[at - 1 : at + 2]
    denominator = (b - a) * (fb - fc) - (b - c) * (fb - fa)
    if not (np.isfinite(denominator) and denominator != 0):
        return float(b)
    t = b - ((b - a) ** 2 * (fb - fc) - (b - c) ** 2 * (fb - fa)) / (2 * denominator)
    return float(round(min(max(t, (a + b) / 2), (b + c) / 2), 12))


def best_step(
    lengths: Floats, losses: Floats, start: Point, end: Point, gamma: float, penalized: bool
) -> float:
    """How far to go from `start` to `end` (of the same features), from the losses at some lengths between them."""
    if not len(lengths):
        return 0.5
    points = [start, *(between(start, end.intercept, end.weights, t) for t in lengths), end]
    known = [start.loss, *losses, end.loss]
    values = [loss + gamma * p.l1(penalized) for p, loss in zip(points, known, strict=True)]
    return least_between(np.array([0.0, *lengths, 1.0]), np.array(values))


def shorter_step(
    along: tuple[Floats, Floats], start: Point, end: Point, gamma: float, penalized: bool
) -> tuple[float, Point]:
    """How far to go towards `end`, as the losses `along` the way say, and the point there."""
    keys = np.union1d(start.keys, end.keys)
    start = Point(keys, weights_at(start, keys), start.intercept, start.loss)
    end = Point(keys, weights_at(end, keys), end.intercept, end.loss)
    step = best_step(*along, start, end, gamma, penalized)
    return step, between(start, end.intercept, end.weights, step)
