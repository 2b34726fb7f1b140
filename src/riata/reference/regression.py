"""Bayesian regressions again, dense, in NumPy: one setting, and several that are averaged. The specification."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from riata.reference.joint import Joint
from riata.reference.portfolio import RunningScale

Floats = NDArray[np.float64]
Setting = tuple[bool, float, float]
"""Whether it sees values divided by their root mean square, the prior variance, Student's degrees of freedom or 0."""


FAR = 5.0
"""No residual counts for more deviations than this."""
SMALLEST_SHARE = 0.01
"""Student's t has at least this share of the average's squared deviation."""
JUDGED, CLAIM = 4096, 0.01
"""From this example on, joint settings end where they have less than this part of the average."""


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
    """Several settings, averaged by their squared residuals so far; four more learn all weights together.

    `joint` has the prior variances of these.
    """

    settings: list[Setting]
    features: int
    intercept_variance: float = 1e10
    fit_intercept: bool = True
    joint: tuple[float, ...] = ()
    t: int = 0
    weight: float = 0.0
    labels: float = 0.0
    residuals: float = 0.0
    uncertain: float = 0.0
    fourth: float = 0.0
    """Of the average's squared residuals: the sum, and recent means in units of `uncertainty`, squared and not."""

    def __post_init__(self) -> None:
        self.scale = RunningScale(self.features)
        self.members = []
        for _, prior, freedom in self.settings:
            variance = np.full(self.features + self.fit_intercept, prior)
            if self.fit_intercept:
                variance[-1] = self.intercept_variance
            self.members.append(GaussianMember(variance, freedom))
        self.together = Joint(
            self.joint, self.intercept_variance, self.fit_intercept, open=bool(self.joint)
        )
        n = len(self.settings) + len(self.joint)
        self.weights = np.full(n, 1 / n)

    @property
    def alive(self) -> int:
        """How many count: those that learn all weights together until they end."""
        return len(self.weights) if self.together.open else len(self.settings)

    def learn(self, x: Floats, y: float, weight: float = 1.0, offset: float = 0.0) -> float:
        """Learn a row; the prediction just before."""
        seen = {False: x, True: self.scale.learn(x)}
        if self.fit_intercept:
            seen = {scaled: np.append(row, 1.0) for scaled, row in seen.items()}
        rows = [seen[scaled] for scaled, _, _ in self.settings]
        beliefs = [m.predict(row, offset) for m, row in zip(self.members, rows, strict=True)]
        if self.together.open:
            self.together.take(x, self.scale.count, self.scale.squares)
            row = self.together.row(x)
            for belief in self.together.beliefs[0]:
                beliefs.append((float(row @ belief.mean) + offset, belief.spread(row)))
        score = float(self.weights[: self.alive] @ [M for M, _ in beliefs])
        unsure = self.uncertainty(beliefs)
        known, recent = self.t >= 2 and self.weight > 0, 2 * weight / (self.weight + 2 * weight)
        least = 1e-12 * self.labels / self.weight if self.weight else 0.0
        typical = max(self.residuals / self.weight, least) if self.weight else 0.0
        for member, row in zip(self.members, rows, strict=True):
            of_student = SMALLEST_SHARE * typical if member.freedom else 0.0
            s2 = max(member.squares, of_student, least) if known else 0.0
            member.learn(row, y, weight, s2, offset, recent)
        if self.together.open:
            row = self.together.row(x)
            learned = zip(self.together.beliefs[0], beliefs[len(self.settings) :], strict=True)
            for belief, (M, S) in learned:
                belief.observe(row, 1 / weight, (y - M) / (1 / weight + S))
            self.together.follow_units()
        square = (y - score) ** 2 / unsure
        self.weight += weight
        self.labels += weight * y * y
        self.residuals += weight * (y - score) ** 2
        self.uncertain += recent * (square - self.uncertain)
        self.fourth += recent * (square**2 - self.fourth)
        if known:
            self._weigh(np.array([y - M for M, _ in beliefs]), weight, unsure)
        self.t += 1
        self._judge()
        return score

    def _weigh(self, residuals: Floats, weight: float, unsure: float) -> None:
        """By Bayes' rule, with the variance of the noise, or more where few residuals are most of it."""
        tails = self.fourth / (3 * self.uncertain) if self.uncertain else 0.0
        variance = max(self.uncertain, tails, 1e-12 * self.labels / self.weight) * unsure
        lost = np.minimum(np.abs(residuals), FAR * np.sqrt(variance)) ** 2 / (2 * variance)
        product = self.weights[: self.alive] * np.exp(weight * (lost.min() - lost))
        share = 1 / (self.t + 1)
        self.weights[: self.alive] = (1 - share) * product / product.sum() + share / self.alive

    def _judge(self) -> None:
        """Joint settings end where they see too little of the rows, or have too little of the average."""
        if not self.together.open:
            return
        k = len(self.settings)
        ends = self.t >= JUDGED and self.t & (self.t - 1) == 0
        if self.together.check(self.t) and not (ends and self.weights[k:].sum() < CLAIM):
            return
        self.together.open = False
        self.weights[k:] = 0
        self.weights /= self.weights.sum()

    def uncertainty(self, beliefs: list[tuple[float, float]]) -> float:
        """Of a label, in units of the noise's variance: of the noise, and of what is not known of the weights."""
        return float(self.weights[: self.alive] @ [1 + S for _, S in beliefs])
