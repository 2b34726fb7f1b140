"""The Bayesian updates again, dense, in NumPy, as the paper states them: the specification.

"Low complexity approximate Bayesian logistic regression for sparse online learning" (2021); equation numbers are
its own. Nothing here is fast. The kernels must agree with it to 1e-10, relative, on random sparse problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_ndtr

Floats = NDArray[np.float64]


def shrinkage(link: str) -> float:
    """The factor of the variance in eq. 8 or eq. 24."""
    return np.pi / 8 if link == "logit" else 1.0


def log_link(link: str, z: Floats) -> Floats:
    """ln Sigma(z), eq. 2, or ln Phi(z), eq. 23."""
    return np.asarray(log_expit(z) if link == "logit" else log_ndtr(z))


def slope(link: str, z: Floats) -> Floats:
    """The derivative of `log_link`: 1 - p in eq. 15, phi / Phi in eq. 28."""
    if link == "logit":
        return np.asarray(expit(-z))
    log_density = -0.5 * z * z - 0.5 * np.log(2 * np.pi)
    return np.asarray(np.exp(log_density - log_ndtr(z)))


def curvature(link: str, z: Floats) -> Floats:
    """Minus the second derivative of `log_link`: p (1 - p) in eq. 19, the product in eq. 31.

    >>> curvature("logit", np.zeros(1)).tolist()
    [0.25]
    """
    s = slope(link, z)
    return np.asarray(s * expit(z) if link == "logit" else s * (z + s))


Z = Callable[..., Floats]


def newton(
    objective: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
    start: Floats,
) -> Floats:
    """The minimum of a convex function by Newton's method; steps are halved until they lead downhill.

    >>> newton(lambda w: float(w[0] ** 4), lambda w: (4 * w**3, 12 * w[:, None] ** 2), np.ones(1)) < 1e-10
    array([ True])
    """
    w = start.astype(float)
    for _ in range(300):
        gradient, hessian = derivatives(w)
        step = np.linalg.solve(hessian, gradient)
        here = objective(w)
        while not objective(w - step) <= here + 1e-13 * abs(here):
            step = step / 2
        w = w - step
        rounding = 4 * np.spacing(np.abs(w))  # steps of this size lead to and fro for ever
        if (np.abs(step) <= np.maximum(1e-15 * np.abs(w - start).max(), rounding)).all():
            break
    return w


@dataclass
class Gaussian:
    """One output, one prior: the posterior of every weight, dense. The last weight is the intercept's.

    >>> model = Gaussian(np.zeros(2), np.ones(2), fit_intercept=False)
    >>> model.learn(np.array([1.0, 0.0]), 1.0)
    0.0
    >>> model.mean.round(4).tolist(), model.variance.round(4).tolist()
    ([0.4, 0.0], [0.8063, 1.0])
    """

    prior_mean: Floats
    prior_variance: Floats
    update: str = "marginal"
    link: str = "logit"
    mean_by: str = "taylor"
    variance_by: str = "curvature"
    fit_intercept: bool = True
    half_life: float | None = None
    t: int = 0
    mean: Floats = field(init=False)
    variance: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.mean = self.prior_mean.copy()
        self.variance = self.prior_variance.copy()

    def with_intercept(self, x: Floats) -> Floats:
        """The row as the model sees it."""
        return np.append(x, 1.0) if self.fit_intercept else x

    def moments(self, x: Floats, offset: float = 0.0) -> tuple[float, float]:
        """Mean and variance of x'w, eq. 6; an offset is known, and adds to the mean alone."""
        x = self.with_intercept(x)
        return float(x @ self.mean) + offset, float(x**2 @ self.variance)

    def margin(self, x: Floats, offset: float = 0.0) -> float:
        """The argument of the link in eq. 8 or 24."""
        mean, variance = self.moments(x, offset)
        return mean / float(np.sqrt(1 + shrinkage(self.link) * variance))

    def forget(self) -> None:
        """One example later, evidence counts 2^(-1 / half_life) of what it did: precision, and precision x mean."""
        if self.half_life is None:
            return
        keep = 2 ** (-1 / self.half_life)
        prior, now = 1 / self.prior_variance, 1 / self.variance
        precision = prior + keep * (now - prior)
        pull = prior * self.prior_mean + keep * (now * self.mean - prior * self.prior_mean)
        self.variance, self.mean = 1 / precision, pull / precision

    def learn(
        self,
        x: Floats,
        y: float,
        weight: float = 1.0,
        normals: Floats | None = None,
        offset: float = 0.0,
    ) -> float:
        """Learn a label -1 or +1; the margin just before."""
        margin = self.margin(x, offset)
        x = self.with_intercept(x)
        if weight > 0:
            match self.update:
                case "marginal":
                    self._marginal(x, y, weight, offset)
                case "joint":
                    self._joint(x, y, weight, offset)
                case "adf":
                    self._adf(x, y, weight, offset)
                case "vb":
                    assert normals is not None
                    self._vb(x, y, weight, normals, offset)
        self.t += 1
        self.forget()
        return margin

    def _marginal(self, x: Floats, y: float, weight: float, offset: float) -> None:
        """Algorithm 1."""
        k, before, variance = shrinkage(self.link), self.mean.copy(), self.variance.copy()
        mu, total = float(x @ before) + offset, float(x**2 @ variance)
        for i in np.flatnonzero(x).tolist():
            r = 1 / np.sqrt(1 + k * max(total - x[i] ** 2 * variance[i], 0.0))  # eq. 7
            others = mu - x[i] * before[i]

            def z(w: float, i: int = i, r: float = r, others: float = others) -> Floats:
                return np.asarray(y * (others + x[i] * w) * r)  # eq. 16, 14; eq. 29, 27

            at = z(before[i])
            if self.mean_by == "taylor":  # eq. 17, eq. 30
                down = 1 + weight * r**2 * x[i] ** 2 * variance[i] * curvature(self.link, at)
                w = before[i] + weight * y * x[i] * variance[i] * slope(self.link, at) * r / down
            else:
                w = self._peak(z, before[i], variance[i], y * x[i] * r, weight)
            if self.variance_by == "curvature":  # eq. 19, eq. 31
                precision = 1 / variance[i] + weight * x[i] ** 2 * r**2 * curvature(self.link, z(w))
                self.variance[i] = 1 / precision
            else:  # eq. 18; an observation never makes a feature less certain
                p = log_link(self.link, np.asarray(y * mu / np.sqrt(1 + k * total)))
                log_ratio = weight * (p - log_link(self.link, z(w)))
                log_ratio = log_ratio + (w - before[i]) ** 2 / (2 * variance[i])
                self.variance[i] = variance[i] * np.exp(2 * min(0.0, float(log_ratio)))
            self.mean[i] = w

    def _peak(self, z: Z, start: float, variance: float, lever: float, weight: float) -> float:
        """Eqs. 32-34."""

        def objective(w: Floats) -> float:
            return float(
                (w[0] - start) ** 2 / (2 * variance) - weight * log_link(self.link, z(w[0]))
            )

        def derivatives(w: Floats) -> tuple[Floats, Floats]:
            g = (w[0] - start) / variance - weight * lever * slope(self.link, z(w[0]))
            h = 1 / variance + weight * lever**2 * curvature(self.link, z(w[0]))
            return np.array([g]), np.array([[h]])

        return float(newton(objective, derivatives, np.array([start]))[0])

    def _joint(self, x: Floats, y: float, weight: float, offset: float) -> None:
        """Appendix D.1, with matrices; the diagonal is kept."""
        mean, covariance = joint_step(
            self.mean, np.diag(self.variance), x, y, weight, self.link, self.mean_by, offset
        )
        self.mean, self.variance = mean, np.diag(covariance).copy()

    def _adf(self, x: Floats, y: float, weight: float, offset: float) -> None:
        """Appendix D.2: mean and variance from the derivatives of the log of the normaliser."""
        k = shrinkage(self.link)
        r = 1 / np.sqrt(1 + k * float(x**2 @ self.variance))
        z = np.asarray(y * (float(x @ self.mean) + offset) * r)
        v = self.variance * x
        self.mean = self.mean + weight * y * r * slope(self.link, z) * v
        self.variance = self.variance - weight * r**2 * curvature(self.link, z) * v**2

    def _vb(self, x: Floats, y: float, weight: float, normals: Floats, offset: float) -> None:
        """Appendix D.3, eqs. 50-54; no weight becomes less sure than its prior."""
        k, before, variance = shrinkage(self.link), self.mean.copy(), self.variance.copy()
        mu, total = float(x @ before) + offset, float(x**2 @ variance)
        for i in np.flatnonzero(x).tolist():
            r = 1 / np.sqrt(1 + k * max(total - x[i] ** 2 * variance[i], 0.0))
            alpha, v, start = y * x[i] * r, variance[i], before[i]

            def z(at: Floats, alpha: float = alpha, r: float = r, start: float = start) -> Floats:
                return np.asarray(y * r * mu + alpha * (at[0] - start + normals * at[1]))  # eq. 50

            def objective(
                at: Floats, z: Z = z, v: float = v, start: float = start
            ) -> float:  # eq. 49
                if at[1] <= 0:
                    return float("inf")
                prior = ((at[0] - start) ** 2 + at[1] ** 2) / (2 * v) - np.log(at[1])
                return float(prior - weight * log_link(self.link, z(at)).mean())

            def derivatives(
                at: Floats, z: Z = z, alpha: float = alpha, v: float = v, start: float = start
            ) -> tuple[Floats, Floats]:  # eqs. 52, 53
                q = weight * alpha * slope(self.link, z(at))
                c = weight * alpha**2 * curvature(self.link, z(at))
                g = [(at[0] - start) / v - q.mean(), -1 / at[1] + at[1] / v - (normals * q).mean()]
                cross = (normals * c).mean()
                last = 1 / at[1] ** 2 + 1 / v + (normals**2 * c).mean()
                return np.array(g), np.array([[1 / v + c.mean(), cross], [cross, last]])

            at = newton(objective, derivatives, np.array([start, np.sqrt(v)]))
            self.mean[i] = at[0]
            self.variance[i] = min(at[1] ** 2, self.prior_variance[i])


def joint_step(
    mean: Floats,
    covariance: Floats,
    x: Floats,
    y: float,
    weight: float,
    link: str,
    mean_by: str,
    offset: float = 0.0,
) -> tuple[Floats, Floats]:
    """Eqs. 43-46, or with "newton" eqs. 38-40 to the end, for any covariance."""
    v = covariance @ x  # eq. 43
    s = float(x @ v)

    def shrunk(c: float) -> Floats:  # eq. 44, eq. 46
        return covariance - weight * c * np.outer(v, v) / (1 + weight * c * s)

    z = np.asarray(y * (float(x @ mean) + offset))
    new = mean + weight * y * slope(link, z) * (shrunk(float(curvature(link, z))) @ x)  # eq. 45
    if mean_by == "newton":
        inverse = np.linalg.inv(covariance)

        def objective(w: Floats) -> float:  # minus the logarithm of eq. 35
            off = w - mean
            margin = np.asarray(y * (float(x @ w) + offset))
            return float(off @ inverse @ off / 2 - weight * log_link(link, margin))

        def derivatives(w: Floats) -> tuple[Floats, Floats]:  # eqs. 38, 39
            at = np.asarray(y * (float(x @ w) + offset))
            g = inverse @ (w - mean) - weight * y * x * slope(link, at)
            return g, inverse + weight * np.outer(x, x) * curvature(link, at)

        new = newton(objective, derivatives, mean)
    after = np.asarray(y * (float(x @ new) + offset))  # eq. 36
    return new, shrunk(float(curvature(link, after)))


@dataclass
class Averaged:
    """Components side by side, averaged by evidence. One output.

    Each component is a model and the view it has of a row.
    """

    components: list[tuple[str, Gaussian]]
    share: float = 0.0
    log_evidence: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.log_evidence = np.zeros(len(self.components))

    @staticmethod
    def seen(view: str, x: Floats) -> Floats:
        """What a view sees of a row."""
        if view == "binary":
            return np.asarray(x != 0, dtype=np.float64)
        return np.sign(x) * np.log1p(np.abs(x)) if view == "log1p" else x

    def weights(self) -> Floats:
        """The share of each component."""
        w = np.exp(self.log_evidence - self.log_evidence.max())
        return np.asarray(w / w.sum())

    def log_odds(self, margins: Floats) -> float:
        """Of the average of the components' probabilities."""
        link = self.components[0][1].link
        for_it = np.log(self.weights() @ np.exp(log_link(link, margins)))
        against = np.log(self.weights() @ np.exp(log_link(link, -margins)))
        return float(for_it - against)

    def score(self, x: Floats, offset: float = 0.0) -> float:
        """The log odds of the predicted probability of a row."""
        margins = [m.margin(self.seen(v, x), offset) for v, m in self.components]
        return self.log_odds(np.array(margins))

    def learn(self, x: Floats, y: float, weight: float = 1.0, *more: Any) -> float:
        """Learn a label -1 or +1, as each of the components does; the log odds just before."""
        margins = np.array([m.learn(self.seen(v, x), y, weight, *more) for v, m in self.components])
        before = self.log_odds(margins)
        first = self.components[0][1]
        keep = 1.0 if first.half_life is None else 2 ** (-1 / first.half_life)
        if weight > 0:
            seen = weight * log_link(first.link, y * margins)
            self.log_evidence = keep * self.log_evidence + seen
            if self.share > 0:
                n = len(self.components)
                self.log_evidence = np.log((1 - self.share) * self.weights() + self.share / n)
            self.log_evidence = self.log_evidence - self.log_evidence.max()
        return before


class Recalibrated:
    """Log odds corrected by a logistic regression on ln(p) and -ln(1 - p) (beta calibration), with its covariance."""

    def __init__(self, half_life: float | None = None) -> None:
        self.keep = 1.0 if half_life is None else 2.0 ** (-1 / half_life)
        self.prior_mean, self.prior = np.array([1.0, 1.0, 0.0]), np.linalg.inv(0.1 * np.eye(3))
        self.mean, self.precision = self.prior_mean, self.prior

    @staticmethod
    def seen(s: float) -> Floats:
        return np.array([-np.logaddexp(0.0, -s), np.logaddexp(0.0, s), 1.0])

    def score(self, s: float) -> float:
        """The corrected log odds; a higher score stays higher."""
        used = np.array([max(self.mean[0], 0.0), max(self.mean[1], 0.0), self.mean[2]])
        return float(used @ self.seen(s))

    def learn(self, s: float, y: float, weight: float = 1.0) -> float:
        """Learn a label -1 or +1 (eqs. 45 and 46, with the curvature at the old mean); the log odds just before."""
        before = self.score(s)
        x = self.seen(s)
        z = np.array([y * (self.mean @ x)])
        gain = weight * curvature("logit", z)[0]
        precision = self.precision + gain * np.outer(x, x)
        mean = self.mean + y * weight * slope("logit", z)[0] * np.linalg.solve(precision, x)
        evidence = self.keep * (precision @ mean - self.prior @ self.prior_mean)
        self.precision = self.prior + self.keep * (precision - self.prior)
        self.mean = np.linalg.solve(self.precision, self.prior @ self.prior_mean + evidence)
        return before
