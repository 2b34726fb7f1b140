"""A portfolio again, dense, in NumPy: many settings side by side, averaged by evidence. The specification.

Nothing here is fast. The kernels must agree with it to 1e-10, relative, on random sparse problems.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from riata.reference.bayesian import Gaussian
from riata.reference.classes import against_others
from riata.reference.joint import Belief, Joint

Floats = NDArray[np.float64]
Setting = tuple[str, str, float]
"""Rule (`"bayesian"`, `"adagrad"`, `"joint"`), what it sees of the values, and its prior variance or rate."""

FIRST_EPOCH = 1024
GAP = np.log(1e12)
CLAIM = 1e-2


@dataclass
class RunningScale:
    """Every feature's running root mean square over the values that were not zero.

    >>> scale = RunningScale(2)
    >>> scale.learn(np.array([2.0, 0.0])).tolist(), scale.learn(np.array([4.0, 5.0])).round(4).tolist()
    ([1.0, 0.0], [1.2649, 1.0])
    """

    features: int
    count: Floats = field(init=False)
    squares: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.count, self.squares = np.zeros(self.features), np.zeros(self.features)

    def learn(self, x: Floats) -> Floats:
        """The row divided by the root mean squares, its own values included."""
        self.count += x != 0
        self.squares += x * x
        size = np.sqrt(self.squares / np.maximum(self.count, 1))
        return np.where(self.squares > 0, x / np.where(size > 0, size, 1), 0.0)


def implicit_slope(margin: float, strength: float) -> float:
    """s = 1 / (1 + exp(m)) where m = margin + strength s: the slope after the step that it leads to.

    >>> s = implicit_slope(0.5, 20.0)
    >>> float(abs(s - 1 / (1 + np.exp(0.5 + 20 * s)))) < 1e-15
    True
    """
    low, high = 0.0, float(expit(-margin))
    for _ in range(200):
        middle = (low + high) / 2
        if middle < expit(-(margin + strength * middle)):
            low = middle
        else:
            high = middle
    return (low + high) / 2


@dataclass
class AdaGrad:
    """One output, one rate: steps of rate g x / sqrt(sum of squared gradients), with the slope g after the step."""

    features: int
    rate: float
    weights: Floats = field(init=False)
    squares: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.weights, self.squares = np.zeros(self.features), np.zeros(self.features)

    def score(self, x: Floats, offset: float = 0.0) -> float:
        return float(self.weights @ x) + offset

    def learn(self, x: Floats, y: float, weight: float = 1.0, offset: float = 0.0) -> None:
        z = self.score(x, offset)
        self.squares += (weight * expit(-y * z) * x) ** 2
        ratio = np.where(
            self.squares > 0, x / np.sqrt(np.where(self.squares > 0, self.squares, 1)), 0
        )
        rate = weight * self.rate
        self.weights += y * rate * implicit_slope(y * z, rate * float(x @ ratio)) * ratio


@dataclass
class Correction:
    """Log odds put right: a z + c, the weights of a Bayesian logistic regression on z alone, learned as it goes.

    Before anything is learned a = 1 and c = 0, with a variance of 0.1 each.
    """

    precision: Floats = field(default_factory=lambda: 10.0 * np.eye(2))
    pull: Floats = field(default_factory=lambda: np.array([10.0, 0.0]))

    def apply(self, z: float) -> float:
        a, c = np.linalg.solve(self.precision, self.pull)
        return float(max(a, 0.0) * z + c)

    def learn(self, z: float, offset: float, y: float, weight: float) -> None:
        x = np.array([np.clip(z, -100, 100), 1.0])
        score = float(np.linalg.solve(self.precision, self.pull) @ x)
        p = expit(-y * (score + offset))
        self.precision = self.precision + weight * p * (1 - p) * np.outer(x, x)
        self.pull = self.pull + weight * (p * (1 - p) * score + y * p) * x


def views(raw: Floats, rms: Floats, fit_intercept: bool) -> dict[str, Floats]:
    """What members may see of a row; the intercept's 1 is no part of the row's length."""

    def unit(x: Floats) -> Floats:
        length = np.sqrt((x * x).sum())
        return x / length if length > 0 else x

    seen = {"raw": raw, "rms": rms, "unit": unit(raw), "unit-rms": unit(rms)}
    return {name: np.append(x, 1.0) if fit_intercept else x for name, x in seen.items()}


@dataclass
class JointMember:
    """One that learns all weights together: its place among those that do."""

    together: Joint
    lane: int
    reach: float = 1.0
    """How much farther scores move than by its own step."""

    @property
    def belief(self) -> Belief:
        return self.together.beliefs[0][self.lane]

    def score(self, x: Floats, offset: float) -> float:
        return float(self.together.row(x) @ self.belief.mean) + offset

    def learn(self, x: Floats, y: float, weight: float, offset: float) -> None:
        """To where the loss and the beliefs so far are least together, with the curvature there."""
        row = self.together.row(x)
        spread = self.reach * self.belief.spread(row)
        slope = implicit_slope(y * self.score(x, offset), weight * spread)
        curvature = weight * slope * (1 - slope)
        self.belief.observe(row, 1 / max(curvature, 1e-300), y * weight * slope)


@dataclass
class Portfolio:
    """One output: every setting learns alone, its log odds are corrected, and the prediction averages them.

    Weights are multiplied by the chance that each gave to the label, and 1 / (t + 1) of them is then spread evenly.
    `alive` has the numbers of the settings that were not dropped; see `end_epoch`.
    """

    settings: list[Setting]
    features: int
    intercept_variance: float = 2 * np.pi
    fit_intercept: bool = True
    drop: bool = True
    correct: bool = True
    reach: float = 1.0
    t: int = 0

    def __post_init__(self) -> None:
        self.scale = RunningScale(self.features)
        priors = tuple(parameter for rule, _, parameter in self.settings if rule == "joint")
        self.together = Joint(
            priors, self.intercept_variance, self.fit_intercept, open=bool(priors)
        )
        self.members = [self._member(rule, parameter) for rule, _, parameter in self.settings]
        self.alive = list(range(len(self.settings)))
        self.corrections = [Correction() for _ in self.settings]
        n = len(self.settings)
        self.weights = np.full(n, 1 / n)
        self.losses, self.recent, self.gaps = (np.zeros(n) for _ in range(3))
        self.worth, self.claims = np.zeros(n), np.zeros(n)
        self.total = self.recent_total = 0.0

    def _member(self, rule: str, parameter: float) -> Gaussian | AdaGrad | JointMember:
        width = self.features + self.fit_intercept
        if rule == "joint":
            lane = self.together.priors.index(parameter)
            return JointMember(self.together, lane, self.reach)
        if rule == "adagrad":
            return AdaGrad(width, parameter)
        variance = np.full(width, parameter)
        if self.fit_intercept:
            variance[-1] = self.intercept_variance
        return Gaussian(np.zeros(width), variance, fit_intercept=False)

    def learn(self, x: Floats, y: float, weight: float = 1.0, offset: float = 0.0) -> float:
        """Learn a row whose label is -1 or +1; the log odds just before."""
        rows = self.look(x)
        _, said = self.scores(rows, offset)
        return self.step(rows, y, weight, offset, said - offset, np.full(len(rows), offset))

    def look(self, x: Floats) -> list[Floats]:
        """A row that is to be learned as each setting sees it."""
        seen = views(x, self.scale.learn(x), self.fit_intercept)
        if self.together.open:
            self.together.take(x, self.scale.count, self.scale.squares)
        return [x if rule == "joint" else seen[view] for rule, view, _ in self.settings]

    def scores(self, rows: list[Floats], offset: float = 0.0) -> tuple[Floats, Floats]:
        """Of each setting what is linear, and the log odds that it predicts: nearer to zero where it is unsure."""
        linear, said = [], []
        for member, row in zip(self.members, rows, strict=True):
            if isinstance(member, Gaussian):
                linear.append(member.moments(row, offset)[0])
                said.append(member.margin(row, offset))
            else:
                linear.append(member.score(row, offset))
                said.append(linear[-1])
        return np.array(linear), np.array(said)

    def step(
        self,
        rows: list[Floats],
        y: float,
        weight: float,
        offset: float,
        own: Floats,
        given: Floats,
    ) -> float:
        """Learn such a row. `own`: what settings predict without the offset; `given`: what their scores begin from."""
        z = own + offset
        if self.correct:
            said = zip(self.corrections, own, strict=True)
            z = offset + np.array([c.apply(float(s)) for c, s in said])
        chance = self.weights @ expit(z), self.weights @ expit(-z)
        score = float(np.log(chance[0]) - np.log(chance[1]))
        self.t += 1
        self._weigh(z, score, y, weight)
        for member, row, start in zip(self.members, rows, given, strict=True):
            member.learn(row, y, weight, offset=float(start))
        if self.together.open:
            self.together.follow_units()
        for correction, said in zip(self.corrections, own, strict=True):
            correction.learn(float(said), offset, y, weight)
        if self.together.open and not self.together.check(self.t):
            self._keep(np.array([k for k in range(len(z)) if not self._is_joint(k)]))
        if self.t >= FIRST_EPOCH and self.t & (self.t - 1) == 0:
            self.end_epoch()
        return score

    def _is_joint(self, k: int) -> bool:
        return self.settings[k][0] == "joint"

    def _weigh(self, z: Floats, score: float, y: float, weight: float) -> None:
        lost = weight * np.logaddexp(0, -y * z)
        average = float(np.logaddexp(0, -y * score))
        rest = 1 - self.weights * np.exp(average - np.logaddexp(0, -y * z))
        others = np.maximum(1 - self.weights, 1e-16)
        if len(z) > 1:
            self.worth += weight * (np.log(others) - np.log(np.maximum(rest, 1e-16)))
        self.claims += self.weights
        self.losses += lost
        self.recent += lost
        share = 1 / (self.t + 1)
        product = self.weights * np.exp(lost.min() - lost)
        self.weights = (1 - share) * product / product.sum() + share / len(product)
        self.total += weight * average
        self.recent_total += weight * average

    def end_epoch(self) -> None:
        """Drop those that cannot catch up: far behind in two epochs, no nearer in the second, and of no use.

        One of those that learn weights one by one stays in any case.
        """
        gaps = self.recent - self.recent_total
        hopeless = (self.gaps >= GAP) & (gaps >= self.gaps) & (self.worth <= 0)
        hopeless &= self.claims <= CLAIM * (self.t // 2)
        hopeless[np.argmin(self.recent)] = False
        separate = sum(not self._is_joint(k) for k in range(len(gaps)))
        if hopeless[:separate].all():
            hopeless[np.argmin(self.recent[:separate])] = False
        self.gaps = gaps
        self._keep(np.flatnonzero(~hopeless) if self.drop else np.arange(len(gaps)))
        self.recent, self.worth, self.claims = (np.zeros(len(self.gaps)) for _ in range(3))
        self.recent_total = 0.0

    def _keep(self, keep: NDArray[np.intp]) -> None:
        self.members = [self.members[k] for k in keep]
        self.settings = [self.settings[k] for k in keep]
        self.corrections = [self.corrections[k] for k in keep]
        self.alive = [self.alive[k] for k in keep]
        self.weights = self.weights[keep] / self.weights[keep].sum()
        self.losses, self.recent, self.gaps, self.worth, self.claims = (
            each[keep] for each in (self.losses, self.recent, self.gaps, self.worth, self.claims)
        )
        self.together.open = any(self._is_joint(k) for k in range(len(keep)))


@dataclass
class Multinomial:
    """Several classes that share one probability: of each, one output, for which the others are an offset.

    A step of one class is a step of logistic regression from the log odds against all others as they are; those of
    settings that learn all weights together know that the others move the other way.
    """

    settings: list[Setting]
    features: int
    classes: int
    correct: bool = True
    outputs: list[Portfolio] = field(init=False)

    def __post_init__(self) -> None:
        self.outputs = [
            Portfolio(self.settings, self.features, drop=False, correct=self.correct, reach=2.0)
            for _ in range(self.classes)
        ]

    def learn(self, x: Floats, code: int, weight: float = 1.0, offset: float = 0.0) -> Floats:
        """Learn a row of class 0, 1, ...; the log odds of each class just before."""
        rows = [output.look(x) for output in self.outputs]
        found = [output.scores(row) for output, row in zip(self.outputs, rows, strict=True)]
        linear, said = (np.array(each) for each in zip(*found, strict=True))
        own, given = against_others(said), against_others(linear) - linear + offset
        return np.array(
            [
                output.step(rows[o], 1.0 if o == code else -1.0, weight, offset, own[o], given[o])
                for o, output in enumerate(self.outputs)
            ]
        )
