"""Beliefs about all weights together, dense, in NumPy, covariances as they are. The specification of joint settings.

The kernels keep a covariance as U D U' (cpp/riata/portfolio/joint_kernels.hpp); here it is a matrix. Which features are
seen, and in which units, is the same for all settings and outputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST, FEW, OFTEN = 128, 64, 4
"""So many features are seen; the first at their first value, those after at their fourth."""
SHARE = 2 / 3
"""They must be such a part of the values in rows."""
FIRST_CHECK = 16
OFF_CENTRE = 8
"""The intercept has the variance of so many weights on top: it takes away what they add to all rows far from zero."""
INTERCEPT = -1


def unit_of(square: float) -> float:
    """The power of two above it.

    >>> unit_of(1.0), unit_of(0.9), unit_of(5.0)
    (2.0, 1.0, 8.0)
    """
    return math.ldexp(1.0, min(max(math.frexp(square)[1], -1000), 1000))


@dataclass
class Belief:
    """Mean and covariance of the weights of one setting and output."""

    mean: Floats = field(default_factory=lambda: np.zeros(0))
    covariance: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def add(self, variance: float) -> None:
        """One more weight, independent of the others."""
        n = len(self.mean)
        wider = np.zeros((n + 1, n + 1))
        wider[:n, :n] = self.covariance
        wider[n, n] = variance
        self.mean, self.covariance = np.append(self.mean, 0.0), wider

    def spread(self, x: Floats) -> float:
        """The variance of x'w."""
        return float(x @ self.covariance @ x)

    def observe(self, x: Floats, noise: float, pull: float) -> None:
        """x'w was seen with noise of this variance; the mean moves along covariance x."""
        along = self.covariance @ x
        self.covariance = self.covariance - np.outer(along, along) / (noise + float(x @ along))
        self.mean = self.mean + pull * along


@dataclass
class Joint:
    """Settings with these prior variances over the unit of each feature."""

    priors: tuple[float, ...]
    intercept_variance: float
    fit_intercept: bool = True
    outputs: int = 1
    open: bool = True
    places: dict[int, int] = field(default_factory=dict)
    units: list[float] = field(default_factory=list)
    seen: int = 0
    covered: int = 0
    moved: list[tuple[int, float]] = field(default_factory=list)
    """Features of the example whose unit is another one when it is learned."""

    def __post_init__(self) -> None:
        self.most = max(8, int(MOST / math.sqrt(self.outputs)))
        self.beliefs = [[Belief() for _ in self.priors] for _ in range(self.outputs)]
        if self.fit_intercept:
            self._add(INTERCEPT, 1.0)

    def take(self, x: Floats, count: Floats, squares: Floats) -> None:
        """An example to learn: its features come in, given how often each was not zero, and the sums of squares."""
        self.moved = []
        for i in np.flatnonzero(x).tolist():
            self.seen += 1
            unit = unit_of(squares[i] / count[i])
            if i not in self.places:
                few = len(self.units) < FEW
                if len(self.units) >= self.most or count[i] < (1 if few else OFTEN):
                    continue
                self._add(i, unit)
            self.covered += 1
            old = self.units[self.places[i]]
            if unit > 2 * old or unit < old / 4:
                self.moved.append((self.places[i], unit))

    def follow_units(self) -> None:
        """When all is learned of the example."""
        for place, unit in self.moved:
            self._change_unit(place, unit)

    def row(self, x: Floats) -> Floats:
        """The values by places."""
        out = np.zeros(len(self.units))
        for i, place in self.places.items():
            out[place] = 1.0 if i == INTERCEPT else x[i]
        return out

    def check(self, t: int) -> bool:
        """After example t: whether what is seen is enough of the rows to go on."""
        if t < FIRST_CHECK or t & (t - 1):
            return True
        enough = self.covered >= SHARE * self.seen
        self.seen = self.covered = 0
        return enough

    def _add(self, key: int, unit: float) -> None:
        self.places[key] = len(self.units)
        self.units.append(unit)
        for of in self.beliefs:
            for belief, prior in zip(of, self.priors, strict=True):
                intercept = self.intercept_variance + OFF_CENTRE * prior
                belief.add(intercept if key == INTERCEPT else prior / unit)

    def _change_unit(self, place: int, unit: float) -> None:
        """The prior's precision of this weight moves, as if it had been so from the start."""
        moved, self.units[place] = unit - self.units[place], unit
        alone = np.zeros(len(self.units))
        alone[place] = 1.0
        for of in self.beliefs:
            for belief, prior in zip(of, self.priors, strict=True):
                noise = prior / moved
                belief.observe(alone, noise, -belief.mean[place] / (noise + belief.spread(alone)))
