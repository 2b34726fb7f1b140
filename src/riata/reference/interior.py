"""The interior-point delta rule, dense, in NumPy, as the paper states it: one step and barrier for all weights."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from riata.reference.linear import Floats, RowByRow, loss_slope, loss_value

TINY = 1e-60
"""No slack and no multiplier falls below this: what is divided by them stays far from overflow."""


def interior_halves(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds (2, d) of the positive and the negative half of each weight; infinite: it is absent.

    >>> interior_halves(np.array([-np.inf, 0.0, 0.5]), np.array([2.0, np.inf, 3.0]))
    (array([[ 0. ,  0. ,  0.5],
           [ 0. , -inf, -inf]]), array([[ 2.,  inf,  3.],
           [inf,  inf,  inf]]))
    """
    lo = np.maximum(0.0, np.stack([low, -high]))
    hi = np.stack([high, -low])
    absent = hi <= 0
    return np.where(absent, -np.inf, lo), np.where(absent, np.inf, hi)


@dataclass
class InteriorPoint(RowByRow):
    """The L1-regularised delta rule (Carbonetto, Schmidt & de Freitas 2008, Fig. 1 with eq. 13).

    A weight is the difference of two halves, both inside their bounds. Of d features those never seen
    all have the state of column d, which stands for them: the barrier is the mean over the features
    seen and that one, or over all where the number of features is given as `dimension`. Groups of
    features with bounds of their own have further stand-ins behind it.

    >>> model = InteriorPoint(1, "squared", l1=0.5, dual=1.0, dimension=1, fit_intercept=False)
    >>> model.learn(np.array([[1.0]]), np.array([3.0]))
    array([0.])
    >>> model.step, model.w    # halves move by 1.5 and -1.5, one multiplier by -2: step 0.995 / 2
    (0.4975, array([1.4925]))
    """

    d: int
    loss: str = "logistic"
    parameter: float = 0.0
    l1: float = 1e-6
    sigma: float = 0.5
    k0: float = 1.0
    start: float = 1.0
    dual: float = 0.1
    fit_intercept: bool = True
    dimension: int = 0
    low: Floats | None = None
    high: Floats | None = None
    known: tuple[int, ...] = ()
    """Features that count as seen from the beginning: those with bounds of their own."""
    stand_ins: int = 1
    rate_factor: float = 1.0
    t: int = 0
    intercept: float = 0.0
    step: float = field(init=False, default=0.0)
    x: Floats = field(init=False)
    """Both halves of each weight, (2, d + stand-ins)."""
    z: Floats = field(init=False)
    """Multipliers of the lower bounds."""
    y: Floats = field(init=False)
    """Multipliers of the upper bounds."""

    def __post_init__(self) -> None:
        none = np.full(self.d + self.stand_ins, np.inf)
        low = -none if self.low is None else self.low
        high = none if self.high is None else self.high
        self.lo, self.hi = interior_halves(low, high)
        self.below, self.above = np.isfinite(self.lo), np.isfinite(self.hi)
        with np.errstate(invalid="ignore"):  # the middle of nothing
            start = np.where(self.below[::-1], self.start, self.start / 10)  # both halves, or one
            inside = np.minimum(self.lo + start, (self.lo + self.hi) / 2)
        self.x = np.where(self.below, inside, 0.0)
        self.z = np.where(self.below, self.dual, 0.0)
        self.y = np.where(self.above, self.dual, 0.0)
        self.seen = np.zeros(self.d, dtype=bool)
        self.seen[list(self.known)] = True

    @property
    def w(self) -> Floats:
        """The weights of the d features, seen or not."""
        weights: Floats = self.x[0, : self.d] - self.x[1, : self.d]
        return weights

    def counted(self) -> NDArray[np.bool_]:
        """The features that the barrier and the step size look at."""
        others = np.ones(self.stand_ins, dtype=bool)
        others[0] = not self.dimension
        return np.append(np.ones(self.d, dtype=bool) if self.dimension else self.seen, others)

    def barrier(self) -> float:
        """mu = -sigma z'c / m, over the constraints of the features counted."""
        below, above = self.below & self.counted(), self.above & self.counted()
        slack_below, slack_above = (self.x - self.lo)[below], (self.hi - self.x)[above]
        product = self.z[below] @ slack_below + self.y[above] @ slack_above
        return float(self.sigma * product / (below.sum() + above.sum()))

    def move(self, g: Floats, longest: float) -> None:
        """One step of Fig. 1 for the gradient g (d,) of the loss, no longer than `longest`."""
        mu, x, z, y = self.barrier(), self.x, self.z, self.y
        s, r = x - self.lo, self.hi - x
        slope = np.append(g, np.zeros(self.stand_ins)) * np.array([[1.0], [-1.0]]) + self.l1
        dx = (mu / s - mu / r - slope) / (1 + z / s + y / r)  # eq. 6, H = I
        dx = np.where(self.below, dx, 0.0)
        dz = np.where(self.below, mu / s - z - z * dx / s, 0.0)  # eq. 7
        dy = np.where(self.above, mu / r - y + y * dx / r, 0.0)
        speeds = [
            np.where(falls & self.counted(), change / np.where(falls, value, 1.0), 0.0)
            for value, change, falls in (
                (s, -dx, self.below),
                (r, dx, self.above),
                (z, -dz, self.below),
                (y, -dy, self.above),
            )
        ]
        fastest = max(float(speed.max()) for speed in speeds)
        a = self.step = min(longest, 0.995 / fastest) if fastest > 0 else longest
        innermost = np.where(self.lo == 0, TINY, self.lo * (1 + 2**-50))
        self.x = np.where(self.below, np.clip(x + a * dx, innermost, self.hi * (1 - 2**-50)), 0.0)
        self.z = np.where(self.below, np.maximum(z + a * dz, TINY), 0.0)
        self.y = np.where(self.above, np.maximum(y + a * dy, TINY), 0.0)

    def learn_row(self, x: Floats, label: float, weight: float, offset: float) -> float:
        """Classes are labelled -1 and +1."""
        self.seen |= x != 0
        before = float(x @ self.w + self.intercept + offset)
        slope = weight * loss_slope(self.loss, before, label, self.parameter)
        self.move(slope * x, self.rate_factor / (self.k0 + self.t + 1))
        if self.fit_intercept:
            self.intercept -= self.step * slope
        self.t += 1
        return before


@dataclass
class AveragedInterior(RowByRow):
    """The averaged update: what it minimises after each example, feature by feature, and the means of the minima.

    A feature is learned in units of the root mean square of its non-zeros so far, s: values x / s, weights s w. The
    gradients so far are a linear function of the weights; a curvature of (1 + sqrt(sum of their squares)) / eta0
    keeps each weight from following one example too far, and grows around the weight of its time. With the penalty
    of all examples so far, the minimum inside the bounds is the weight; a mean over the feature's examples, the n-th
    counting like n^3, is what is read, or zero where the weight is.

    >>> model = AveragedInterior(1, "squared", l1=0.5, eta0=1.0, fit_intercept=False)
    >>> model.learn(np.array([[1.0]]), np.array([3.0]))
    array([0.])
    >>> model.w     # (3 - 0.5) / (1 + 3)
    array([0.625])
    >>> model = AveragedInterior(1, "squared", l1=5.0, eta0=1.0, fit_intercept=False)
    >>> model.learn(np.array([[10.0]]), np.array([3.0]))
    array([0.])
    >>> model.w     # the same, in other units
    array([0.0625])
    """

    d: int
    loss: str = "logistic"
    parameter: float = 0.0
    l1: float = 1e-6
    eta0: float = 1.0
    fit_intercept: bool = True
    low: Floats | None = None
    high: Floats | None = None
    t: int = 0

    def __post_init__(self) -> None:
        n = self.d + 1  # the last is the intercept
        self.linear, self.squares = np.zeros(n), np.zeros(n)
        self.mean, self.count, self.powers = np.zeros(n), np.zeros(n), np.zeros(n)
        self.lo, self.hi = np.full(n, -np.inf), np.full(n, np.inf)
        self.lo[:-1] = -np.inf if self.low is None else self.low
        self.hi[:-1] = np.inf if self.high is None else self.high

    @property
    def scale(self) -> Floats:
        """The root mean square of each feature's values; 1 before there is any, and for the intercept."""
        return np.sqrt(np.where(self.count > 0, self.powers, 1.0) / np.maximum(self.count, 1.0))

    def minimum(self) -> Floats:
        """The weights that minimise the model of all examples so far, inside the bounds; the intercept last."""
        s = self.scale
        penalty = np.append(np.full(self.d, self.l1 * self.t), 0.0) / s
        size = np.maximum(0.0, np.abs(self.linear) - penalty)
        free = -np.sign(self.linear) * size * self.eta0 / (1 + np.sqrt(self.squares)) / s
        inside: Floats = np.clip(free, self.lo, self.hi)
        return inside

    def read(self) -> Floats:
        now = self.minimum()
        mean = np.where(now == 0, 0.0, np.where(self.count > 0, self.mean, now))
        mean[-1] = self.mean[-1]
        return mean

    @property
    def w(self) -> Floats:
        return self.read()[:-1]

    @property
    def intercept(self) -> float:
        return float(self.read()[-1])

    def learn_row(self, x: Floats, label: float, weight: float, offset: float) -> float:
        """Classes are labelled -1 and +1."""
        x = np.append(x, float(self.fit_intercept))
        before = float(x @ self.read() + offset)
        seen = x != 0
        self.powers += x * x
        self.count += seen
        now, s = self.minimum(), self.scale
        g = weight * loss_slope(self.loss, float(x @ now + offset), label, self.parameter) * x / s
        more = np.sqrt(self.squares + g * g) - np.sqrt(self.squares)
        self.linear += np.where(seen, g - more / self.eta0 * now * s, 0.0)
        self.squares += g * g
        self.t += 1
        share = 4 / (self.count + 3)
        self.mean += np.where(seen, share * (self.minimum() - self.mean), 0.0)
        return before


def lower_bound(
    X: Floats,
    y: Floats,
    at: Floats,
    l1: float,
    low: Floats,
    high: Floats,
    reach: float,
    loss: str = "logistic",
    parameter: float = 0.0,
) -> float:
    """No u inside the bounds, whose sizes add up to at most `reach`, has a lower mean loss + l1 |u|.

    Each example has its tangent at a place of its own, a row of `at`: a convex loss is nowhere below it. The least
    of their mean + l1 |u| is found feature by feature: those that gain most by moving go first.

    >>> X, y, ends = np.array([[1.0], [2.0]]), np.array([1.0, 2.0]), np.array([np.inf])
    >>> lower_bound(X, y, np.array([[0.5], [0.5]]), 0.0, -ends, ends, 2.0, "squared")   # slope 1.25 at 0.5
    -1.5625
    """
    constant, q = 0.0, np.zeros(X.shape[1])
    for x, label, v in zip(X, y, at, strict=True):
        p = float(x @ v)
        slope = loss_slope(loss, p, label, parameter)
        constant += (loss_value(loss, p, label, parameter) - slope * p) / len(y)
        q += slope * x / len(y)
    gain = np.maximum(0.0, np.abs(q) - l1)
    room = np.maximum(0.0, np.where(q < 0, high, -low))
    for j in np.argsort(-gain, kind="stable"):
        taken = min(float(room[j]), reach)
        constant -= float(gain[j]) * taken
        reach -= taken
    return float(constant)
