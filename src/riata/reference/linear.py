"""Every update rule again, dense, in NumPy, as the papers state it: the specification.

Nothing here is fast. Kernels must agree with it to 1e-10, relative, on random sparse problems.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Losses: the derivative in the prediction p, for a label y (-1 or +1 where the loss classifies).


def loss_value(loss: str, p: float, y: float, parameter: float = 0.0) -> float:
    """The loss of one prediction.

    >>> loss_value("squared", 3.0, 1.0)
    2.0
    """
    z = y * p
    match loss:
        case "logistic":
            return float(np.logaddexp(0, -z))
        case "hinge":
            return max(0.0, 1 - z)
        case "squared_hinge":
            return max(0.0, 1 - z) ** 2
        case "modified_huber":
            return max(0.0, 1 - z) ** 2 if z >= -1 else -4 * z
        case "squared":
            return (p - y) ** 2 / 2
        case "huber":
            r = abs(p - y)
            return r * r / 2 if r <= parameter else parameter * (r - parameter / 2)
        case "quantile":
            return max(parameter * (y - p), (parameter - 1) * (y - p))
    raise ValueError(f"unknown loss {loss!r}")


def loss_slope(loss: str, p: float, y: float, parameter: float = 0.0) -> float:
    """The derivative of the loss in p; where there is a kink, the one the kernels choose.

    >>> loss_slope("logistic", 0.0, 1.0)
    -0.5
    """
    z = y * p
    match loss:
        case "logistic":
            return float(-y * np.exp(-np.logaddexp(0, z)))
        case "hinge":
            return -y if z < 1 else 0.0
        case "squared_hinge":
            return -2 * y * max(0.0, 1 - z)
        case "modified_huber":
            return -2 * y * max(0.0, 1 - z) if z >= -1 else -4 * y
        case "squared":
            return p - y
        case "huber":
            return float(np.clip(p - y, -parameter, parameter))
        case "quantile":
            return -parameter if y > p else (1 - parameter if y < p else 0.0)
    raise ValueError(f"unknown loss {loss!r}")


def rate(learning_rate: str, t: int, eta0: float, power_t: float = 0.5) -> float:
    """The learning rate of step t = 0, 1, 2, ...

    >>> rate("inv_sqrt", 3, eta0=0.5)
    0.25
    """
    if learning_rate.startswith("adagrad"):
        return eta0  # the rule divides it, feature by feature
    power = {"constant": 0.0, "inv_sqrt": 0.5, "inv_t": 1.0, "invscaling": power_t}[learning_rate]
    return float(eta0 / (t + 1) ** power)


# Update rules: new weights from weights w, gradient g, rate n and step i = 1, 2, ...

Rule = Callable[[Floats, Floats, float, int], Floats]
Penalty = Callable[[Floats, Floats, int], Floats]


def fobos(l1: float, l2: float) -> Rule:
    """Forward-backward splitting with an elastic net (Lipton & Elkan 2015, eq. 2)."""

    def step(w: Floats, g: Floats, n: float, i: int) -> Floats:
        u = w - n * g
        return np.sign(u) * np.maximum(0, np.abs(u) - n * l1) / (1 + n * l2)

    return step


def sgd(l1: float, l2: float) -> Rule:
    """Stochastic gradient with an elastic net (Lipton & Elkan 2015, eq. 3)."""

    def step(w: Floats, g: Floats, n: float, i: int) -> Floats:
        return np.sign(w) * np.maximum(0, (1 - n * l2) * np.abs(w) - n * l1) - n * g

    return step


def truncate(gravity: float, theta: float = np.inf, period: int = 1) -> Rule:
    """Truncated gradient (Langford, Li & Zhang 2009, eq. 6)."""

    def step(w: Floats, g: Floats, n: float, i: int) -> Floats:
        u = w - n * g
        if i % period:
            return u
        shrunk = np.sign(u) * np.maximum(0, np.abs(u) - n * period * gravity)
        return np.where(np.abs(u) <= theta, shrunk, u)

    return step


def rounding(theta: float, period: int = 1) -> Rule:
    """Coefficient rounding (Langford, Li & Zhang 2009, eq. 4)."""

    def step(w: Floats, g: Floats, n: float, i: int) -> Floats:
        u = w - n * g
        return u if i % period else np.where(np.abs(u) <= theta, 0, u)

    return step


def subgradient(gravity: float) -> Rule:
    """The subgradient baseline (Langford, Li & Zhang 2009, eq. 5)."""

    def step(w: Floats, g: Floats, n: float, i: int) -> Floats:
        return w - n * g - n * gravity * np.sign(w)

    return step


def implicit_slope(loss: str, p: float, y: float, strength: float, parameter: float = 0.0) -> float:
    """s = loss_slope(p - strength s): the slope after the step that it leads to.

    >>> implicit_slope("squared", 3.0, 1.0, 3.0)
    0.5
    """
    low, high = sorted((0.0, loss_slope(loss, p, y, parameter)))
    for _ in range(200):
        middle = (low + high) / 2
        if middle < loss_slope(loss, p - strength * middle, y, parameter):
            low = middle
        else:
            high = middle
    return (low + high) / 2


class AdaGrad:
    """Rates for every feature, eta0 / sqrt(D^2 + sum of squared gradients) (Duchi et al. 2011), and implicit steps.

    Gradients that are squared are those before the step, divided by Q: 1, or in a regression the root mean square of
    the residuals so far. The step takes the slope after it. `penalty(w, rates, i)` is what step i does besides, before
    it (`first`) or after it. D, at the first gradient of a weight, is 1, about a large slope; of the quantile loss,
    whose slopes do not grow with residuals, 1 / Q. `explicit`: the slope before the step, and neither Q nor D.
    """

    def __init__(
        self,
        eta0: float,
        penalty: Penalty | None = None,
        first: bool = False,
        explicit: bool = False,
    ) -> None:
        self.eta0, self.penalty, self.first, self.explicit = eta0, penalty, first, explicit
        self.sum: Floats | float = 0.0

    def rates(self, g: Floats, factor: float, d: float = 1.0) -> Floats:
        """Of each weight, this gradient included."""
        new = (np.asarray(self.sum) == 0) & (g != 0)
        self.sum = self.sum + g * g + np.where(new & (not self.explicit), d * d, 0.0)
        touched = self.sum > 0
        safe = np.sqrt(np.where(touched, self.sum, 1.0))
        found: Floats = np.where(touched, factor * self.eta0 / safe, 0.0)
        return found

    def move(self, w: Floats, rates: Floats, g: Floats, i: int) -> Floats:
        if self.penalty is None:
            return w - rates * g
        if self.first:
            return self.penalty(w, rates, i) - rates * g
        return self.penalty(w - rates * g, rates, i)


def elastic_net_penalty(update: str, l1: float, l2: float) -> Penalty:
    """Of `fobos` or `sgd`, as above, with a rate for each weight."""

    def shrunk(w: Floats, rates: Floats, i: int) -> Floats:
        if update == "fobos":
            return np.sign(w) * np.maximum(0, np.abs(w) - rates * l1) / (1 + rates * l2)
        kept = np.maximum(0, 1 - rates * l2) * np.abs(w) - rates * l1
        return np.sign(w) * np.maximum(0, kept)

    return shrunk


def truncate_penalty(gravity: float, theta: float, period: int) -> Penalty:
    """Of `truncate`, as above, with a rate for each weight."""

    def shrunk(w: Floats, rates: Floats, i: int) -> Floats:
        small = np.sign(w) * np.maximum(0, np.abs(w) - rates * period * gravity)
        return w if i % period else np.where(np.abs(w) <= theta, small, w)

    return shrunk


def round_penalty(theta: float, period: int) -> Penalty:
    """Of `rounding`, as above."""

    def rounded(w: Floats, rates: Floats, i: int) -> Floats:
        return w if i % period else np.where(np.abs(w) <= theta, 0, w)

    return rounded


class FTRLProximal:
    """FTRL-Proximal (McMahan et al. 2013, Algorithm 1): a rule with state, so an object."""

    def __init__(self, alpha: float, beta: float, l1: float, l2: float) -> None:
        self.alpha, self.beta, self.l1, self.l2 = alpha, beta, l1, l2
        self.z: Floats | float = 0.0
        self.n: Floats | float = 0.0

    def __call__(self, w: Floats, g: Floats, n: float, i: int) -> Floats:
        sigma = (np.sqrt(self.n + g * g) - np.sqrt(self.n)) / self.alpha
        self.z = self.z + g - sigma * w
        self.n = self.n + g * g
        divisor = (self.beta + np.sqrt(self.n)) / self.alpha + self.l2
        safe = np.where(divisor == 0, 1, divisor)
        w = -(self.z - np.sign(self.z) * self.l1) / safe
        kept: Floats = np.where(np.abs(self.z) <= self.l1, 0.0, w)
        return kept


class RowByRow(ABC):
    """A model that learns one row after another."""

    @abstractmethod
    def learn_row(self, x: Floats, label: float, weight: float, offset: float) -> Any:
        """Learn a row; the prediction just before."""

    def learn(
        self,
        X: Floats,
        labels: Floats,
        weights: Floats | None = None,
        offsets: Floats | None = None,
    ) -> Floats:
        """Learn row after row; the predictions just before each."""
        weights = np.ones(len(X)) if weights is None else weights
        offsets = np.zeros(len(X)) if offsets is None else offsets
        rows = zip(X, labels, weights, offsets, strict=True)
        return np.array([self.learn_row(x, y, w, o) for x, y, w, o in rows])


@dataclass
class Dense(RowByRow):
    """A dense linear model of m columns under one of the rules above.

    >>> model = Dense(fobos(l1=0.01, l2=0.0), d=2)
    >>> model.learn(np.array([[1.0, 0.0]]), np.array([1.0]))
    array([[0.]])
    >>> model.w
    array([[0.245],
           [0.   ]])
    """

    rule: Rule | AdaGrad
    d: int
    m: int = 1
    loss: str = "logistic"
    parameter: float = 0.0
    learning_rate: str = "inv_sqrt"
    eta0: float = 0.5
    power_t: float = 0.5
    fit_intercept: bool = True
    normalize: str = "none"
    clip: tuple[float, float] = (-np.inf, np.inf)
    intercept_rule: Rule | AdaGrad | None = None
    """How the intercept moves; None: a gradient step."""
    t: int = 0
    rate_factor: float = 1.0
    weight: float = 0.0
    residuals: Floats | float = 0.0
    """Of a regression with implicit steps: weights of examples, and sums of squared residuals but the first."""
    w: Floats = field(init=False)
    intercept: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.w = np.zeros((self.d, self.m))
        self.intercept = np.zeros(self.m)

    @property
    def classification(self) -> bool:
        return self.loss in ("logistic", "hinge", "squared_hinge", "modified_huber")

    def scaled(self, x: Floats) -> Floats:
        """The row as the model sees it: divided by its length or the root of its non-zeros."""
        divisor = {
            "none": 1.0,
            "l2": float(np.sqrt(np.sum(x * x))),
            "sqrt_nnz": float(np.sqrt(np.count_nonzero(x))),
        }[self.normalize]
        return x / divisor if divisor else x

    def score(self, X: Floats, offsets: Floats | None = None) -> Floats:
        """Predictions (n, m) by the weights as they are."""
        raw = np.array([self.scaled(x) @ self.w + self.intercept for x in X]).reshape(-1, self.m)
        if offsets is not None:
            raw = raw + offsets[:, None]
        clipped: Floats = np.clip(raw, *self.clip)
        return clipped

    def targets(self, label: float) -> Floats:
        """What each column is asked to say: -1 or +1 for a class code, the label itself otherwise."""
        if not self.classification:
            return np.full(self.m, label)
        wanted = np.array([1]) if self.m == 1 else np.arange(self.m)
        return np.where(label == wanted, 1.0, -1.0)

    def learn_row(self, x: Floats, label: float, weight: float, offset: float) -> Floats:
        before: Floats = self.score(x[None], np.array([offset]))[0]
        slopes = weight * np.array(
            [
                loss_slope(self.loss, p, y, self.parameter)
                for p, y in zip(before, self.targets(label), strict=True)
            ]
        )
        if isinstance(self.rule, AdaGrad):
            self._implicit_step(self.rule, x, label, weight, offset, before, slopes)
            self.t += 1
            return before
        assert not isinstance(self.intercept_rule, AdaGrad)
        n = self.rate_factor * rate(self.learning_rate, self.t, self.eta0, self.power_t)
        self.w = self.rule(self.w, np.outer(self.scaled(x), slopes), n, self.t + 1)
        if self.fit_intercept and self.intercept_rule is not None:
            self.intercept = self.intercept_rule(self.intercept, slopes, n, self.t + 1)
        elif self.fit_intercept:
            self.intercept = self.intercept - n * slopes
        self.t += 1
        return before

    def _implicit_step(
        self,
        rule: AdaGrad,
        x: Floats,
        label: float,
        weight: float,
        offset: float,
        before: Floats,
        slopes: Floats,
    ) -> None:
        """Slopes are those before the step. The first example of a regression moves the intercept alone."""
        x, unit = self.scaled(x), np.ones(self.m)
        moved = bool(np.any(slopes != 0))
        if moved and not self.classification and not rule.explicit:
            first, self.weight = self.weight == 0, self.weight + weight
            if not (first and self.fit_intercept):
                self.residuals = self.residuals + weight * (label - before) ** 2
            else:
                self.intercept, moved = np.full(self.m, label - offset), False
            sums = np.broadcast_to(self.residuals, self.m)
            unit = np.where(sums > 0, np.sqrt(sums / self.weight), 1.0)
        taken = slopes / unit if moved else np.zeros(self.m)
        d = float(1 / unit[0]) if self.loss == "quantile" else 1.0
        rates = rule.rates(np.outer(x, taken), self.rate_factor, d)
        strength = (x * x) @ rates
        at_intercept = np.zeros(self.m)
        if self.fit_intercept:
            assert isinstance(self.intercept_rule, AdaGrad)
            at_intercept = self.intercept_rule.rates(taken, self.rate_factor, d)
        after = np.zeros(self.m)
        for c, y in enumerate(self.targets(label)):
            if rule.explicit:
                after[c] = slopes[c]
            elif moved:
                by = weight * (strength[c] + at_intercept[c])
                after[c] = weight * implicit_slope(self.loss, before[c], y, by, self.parameter)
        self.w = rule.move(self.w, rates, np.outer(x, after), self.t + 1)
        self.intercept = self.intercept - at_intercept * after
