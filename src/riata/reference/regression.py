"""Bayesian regressions again, dense, in NumPy: one setting, and several that are averaged. The specification."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from riata.reference.portfolio import RunningScale

Floats = NDArray[np.float64]
Setting = tuple[bool, float, float]
"""Whether it sees values divided by their root mean square, the prior variance, Student's degrees of freedom or 0."""


FAR = 5.0
"""No residual counts for more deviations than this."""
SMALLEST_SHARE = 0.01
"""Student's t has at least this share of the average's squared deviation."""


@dataclass
class GaussianMember:
    """Independent Gaussian beliefs of weights, their variances in units of the noise's."""

    variance: Floats
    freedom: float = 0.0
    squares: float = 0.0
    mean: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.mean = np.zeros_like(self.variance)

    def predict(self, x: Floats, offset: float = 0.0) -> tuple[float, float]:
        """Of the label: the mean, and the variance of it that comes from the weights."""
        return float(x @ self.mean) + offset, float(x * x @ self.variance)

    def learn(
        self, x: Floats, y: float, weight: float, s2: float, offset: float, recent: float
    ) -> None:
        """Each weight's exact posterior, the others being as uncertain as they are. `squares` is a recent mean."""
        M, S = self.predict(x, offset)
        r, share = y - M, 1.0
        if self.freedom and s2 > 0:
            share = (self.freedom + 1) / (self.freedom + r * r / (s2 * (1 + S)))
        noise = 1 / (weight * share)
        rest = noise + S - x * x * self.variance
        self.mean = self.mean + x * self.variance * r / (noise + S)
        self.variance = 1 / (1 / self.variance + x * x / rest)
        self.squares += recent * (share * r * r / (1 + S) - self.squares)


@dataclass
class Regressions:
    """Several settings, averaged by their squared residuals so far."""

    settings: list[Setting]
    features: int
    intercept_variance: float = 1e10
    fit_intercept: bool = True
    t: int = 0
    weight: float = 0.0
    labels: float = 0.0
    residuals: float = 0.0
    uncertain: float = 0.0
    """Of the average's squared residuals, the sum; and the recent mean in units of `uncertainty`."""

    def __post_init__(self) -> None:
        self.scale = RunningScale(self.features)
        self.members = []
        for _, prior, freedom in self.settings:
            variance = np.full(self.features + self.fit_intercept, prior)
            if self.fit_intercept:
                variance[-1] = self.intercept_variance
            self.members.append(GaussianMember(variance, freedom))
        self.weights = np.full(len(self.settings), 1 / len(self.settings))

    def learn(self, x: Floats, y: float, weight: float = 1.0, offset: float = 0.0) -> float:
        """Learn a row; the prediction just before."""
        seen = {False: x, True: self.scale.learn(x)}
        if self.fit_intercept:
            seen = {scaled: np.append(row, 1.0) for scaled, row in seen.items()}
        rows = [seen[scaled] for scaled, _, _ in self.settings]
        beliefs = [m.predict(row, offset) for m, row in zip(self.members, rows, strict=True)]
        score = float(self.weights @ [M for M, _ in beliefs])
        unsure = self.uncertainty(beliefs)
        known, recent = self.t >= 2, 2 * weight / (self.weight + 2 * weight)
        least = 1e-12 * self.labels / self.weight if self.weight else 0.0
        typical = max(self.residuals / self.weight, least) if self.weight else 0.0
        for member, row in zip(self.members, rows, strict=True):
            of_student = SMALLEST_SHARE * typical if member.freedom else 0.0
            s2 = max(member.squares, of_student, least) if known else 0.0
            member.learn(row, y, weight, s2, offset, recent)
        if known:
            away = np.minimum(np.abs([y - M for M, _ in beliefs]), FAR * np.sqrt(typical))
            lost = away**2 / (2 * typical)
            product = self.weights * np.exp(weight * (lost.min() - lost))
            share = 1 / (self.t + 1)
            self.weights = (1 - share) * product / product.sum() + share / len(product)
        self.residuals += weight * (y - score) ** 2
        self.uncertain += recent * ((y - score) ** 2 / unsure - self.uncertain)
        self.weight += weight
        self.labels += weight * y * y
        self.t += 1
        return score

    def uncertainty(self, beliefs: list[tuple[float, float]]) -> float:
        """Of a label, in units of the noise's variance: of the noise, and of what is not known of the weights."""
        return float(self.weights @ [1 + S for _, S in beliefs])
