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
