"""How good the predictions are, measured as they stream by: bounded memory, every example weighted.

Nothing here knows a learner: scores, probabilities, labels and weights come in as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riata.metrics_running import Mean

if TYPE_CHECKING:
    from riata.metrics_regret import Regret as Regret
    from riata.metrics_regret import regret as regret

Floats = NDArray[np.float64]

CALIBRATION_BINS = 10
AUC_BINS = 1 << 17
SMALLEST_PROBABILITY = 1e-15
"""Probabilities are kept this far from 0 and 1: one sure mistake is a large loss, not infinite."""


def log_loss(
    probabilities: Floats, positive: NDArray[np.bool_], weights: Floats | None = None
) -> float:
    """Mean negative log likelihood, natural logarithm.

    >>> import numpy as np
    >>> round(log_loss(np.array([0.5, 0.25]), np.array([True, False])), 4)
    0.4904
    """
    return float(np.average(_log_losses(probabilities, positive), weights=weights))


def _log_losses(probabilities: Floats, positive: NDArray[np.bool_]) -> Floats:
    p = np.clip(probabilities, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
    return np.where(positive, -np.log(p), -np.log1p(-p))


def auc(scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None) -> float | None:
    """The chance that a positive example scores above a negative one, ties counted half. Exact.

    None where there are no positive or no negative examples.

    >>> import numpy as np
    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    """
    weights = np.ones(len(scores)) if weights is None else weights
    _, group = np.unique(scores, return_inverse=True)
    positives: Any = np.bincount(group, weights=np.where(positive, weights, 0.0))
    negatives: Any = np.bincount(group, weights=np.where(positive, 0.0, weights))
    return _auc_of_groups(positives, negatives)[0]


def _auc_of_groups(positives: Floats, negatives: Floats) -> tuple[float | None, float]:
    """AUC of ascending groups, each a tie; and the most by which untying could change it."""
    pairs = positives.sum() * negatives.sum()
    if pairs <= 0:
        return None, 0.0
    below = np.cumsum(negatives) - negatives
    # Not np.dot: its threads take longer to wake up than this takes.
    tied = 0.5 * float((positives * negatives).sum()) / float(pairs)
    return float((positives * below).sum()) / float(pairs) + tied, tied


@dataclass
class StreamingAUC:
    """AUC from a fine histogram of scores, in 2 MB whatever the length of the stream.

    A score s goes to one of 131,072 equal bins of s / (1 + |s|), so a bin is
    (1 + |s|)^2 / 65,536 wide: 1.5e-5 around zero, 0.002 around 10. Two scores in one bin count as a
    tie; `error` is the most by which that can have moved the value. Usually it is below 1e-4.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=10_000)
    >>> positive = rng.normal(size=10_000) < scores
    >>> streaming = StreamingAUC()
    >>> for part in (slice(0, 5000), slice(5000, None)):
    ...     streaming.add(scores[part], positive[part])
    >>> abs(streaming.value - auc(scores, positive)) <= streaming.error < 1e-4
    True
    """

    positives: Floats = field(default_factory=lambda: np.zeros(AUC_BINS))
    negatives: Floats = field(default_factory=lambda: np.zeros(AUC_BINS))

    def add(
        self, scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None
    ) -> None:
        squashed = scores / (1 + np.abs(scores))
        n = len(self.positives)
        bins = np.clip(((squashed + 1) * (n / 2)).astype(np.int64), 0, n - 1)
        weights = np.ones(len(scores)) if weights is None else weights
        np.add.at(self.positives, bins[positive], weights[positive])
        np.add.at(self.negatives, bins[~positive], weights[~positive])

    @property
    def value(self) -> float | None:
        return _auc_of_groups(self.positives, self.negatives)[0]

    @property
    def error(self) -> float:
        return _auc_of_groups(self.positives, self.negatives)[1]


@dataclass
class Calibration:
    """Predicted against observed, in ten bins of predicted probability.

    >>> import numpy as np
    >>> c = Calibration()
    >>> c.add(np.array([0.12, 0.18, 0.93]), np.array([False, True, True]))
    >>> [(round(b["predicted"], 2), b["observed"], b["weight"]) for b in c.bins()]
    [(0.15, 0.5, 2.0), (0.93, 1.0, 1.0)]
    >>> round(c.error, 4)
    0.2567
    """

    weight: Floats = field(default_factory=lambda: np.zeros(CALIBRATION_BINS))
    predicted: Floats = field(default_factory=lambda: np.zeros(CALIBRATION_BINS))
    observed: Floats = field(default_factory=lambda: np.zeros(CALIBRATION_BINS))

    def add(
        self, probabilities: Floats, positive: NDArray[np.bool_], weights: Floats | None = None
    ) -> None:
        bins = np.minimum((probabilities * CALIBRATION_BINS).astype(np.intp), CALIBRATION_BINS - 1)
        weights = np.ones(len(bins)) if weights is None else weights
        np.add.at(self.weight, bins, weights)
        np.add.at(self.predicted, bins, weights * probabilities)
        np.add.at(self.observed, bins, weights * positive)

    def bins(self) -> list[dict[str, float]]:
        """The bins that are not empty: from, to, mean predicted, share of positives, weight."""
        return [
            {
                "from": i / CALIBRATION_BINS,
                "to": (i + 1) / CALIBRATION_BINS,
                "predicted": float(self.predicted[i] / self.weight[i]),
                "observed": float(self.observed[i] / self.weight[i]),
                "weight": float(self.weight[i]),
            }
            for i in np.flatnonzero(self.weight > 0).tolist()
        ]

    @property
    def error(self) -> float | None:
        """Expected calibration error: the mean distance of predicted from observed."""
        total = self.weight.sum()
        if total <= 0:
            return None
        return float(np.abs(self.predicted - self.observed).sum() / total)


@dataclass
class Residuals:
    """Squared and absolute errors of a regression, and the share of variance explained, however the stream was cut.

    >>> import numpy as np
    >>> r = Residuals()
    >>> r.add(np.array([2.5, 0.0, 2.0, 8.0]), np.array([3, -0.5, 2, 7]))
    >>> round(r.rmse, 4), r.mae, round(r.r2, 4)
    (0.6124, 0.5, 0.9486)
    """

    squared: Mean = field(default_factory=Mean)
    absolute: Mean = field(default_factory=Mean)
    first: float = 0.0
    """A label: the others are measured from there, which keeps their digits."""
    distance: Mean = field(default_factory=Mean)
    square: Mean = field(default_factory=Mean)

    def add(self, predictions: Floats, labels: Floats, weights: Floats | None = None) -> None:
        if len(labels) == 0:
            return
        if self.square.weight == 0:
            self.first = float(labels[0])
        self.squared.add((predictions - labels) ** 2, weights)
        self.absolute.add(np.abs(predictions - labels), weights)
        self.distance.add(labels - self.first, weights)
        self.square.add((labels - self.first) ** 2, weights)

    @property
    def spread(self) -> float:
        """Weighted sum of squared distances of the labels from their mean."""
        if self.distance.value is None:
            return 0.0
        return max(0.0, self.square.total - self.distance.total * self.distance.value)

    @property
    def rmse(self) -> float | None:
        return None if self.squared.value is None else float(np.sqrt(self.squared.value))

    @property
    def mae(self) -> float | None:
        return self.absolute.value

    @property
    def r2(self) -> float | None:
        """1 - residual / total sum of squares; None where all labels are equal."""
        return 1 - self.squared.total / self.spread if self.spread > 0 else None


class Evaluation:
    """Everything that can be said about a stream of scores with known labels.

    `outputs` as the learner has them: one for two classes or a regression, else one a class.

    >>> import numpy as np
    >>> scores = np.array([[2.0], [-1.0], [0.5]])
    >>> evaluation = Evaluation("classification")
    >>> evaluation.add(scores, 1 / (1 + np.exp(-scores)), np.array([1.0, 0.0, 0.0]))
    >>> result = evaluation.result()
    >>> result["examples"], round(result["accuracy"], 4), result["auc"]
    (3, 0.6667, 1.0)
    """

    def __init__(self, task: str, outputs: int = 1) -> None:
        self.task, self.outputs = task, outputs
        self.examples = 0
        self.loss, self.log_loss, self.accuracy = Mean(), Mean(), Mean()
        self.class_weight = np.zeros(max(2, outputs))
        self.residuals = Residuals()
        self.calibration = Calibration()
        self.auc = StreamingAUC() if task == "classification" and outputs == 1 else None

    def add(
        self,
        scores: Floats,
        probabilities: Floats | None,
        labels: Floats,
        weights: Floats | None = None,
        losses: Floats | None = None,
    ) -> None:
        """Labels are class codes 0, 1, ... for a classification, real numbers for a regression."""
        self.examples += len(labels)
        if losses is not None:
            self.loss.add(losses, weights)
        if self.task == "regression":
            self.residuals.add(scores[:, 0], labels, weights)
            return
        codes = labels.astype(np.intp)
        w = np.ones(len(codes)) if weights is None else weights
        np.add.at(self.class_weight, codes, w)
        self.accuracy.add((predicted_codes(scores) == codes).astype(np.float64), weights)
        if self.auc is not None:
            self.auc.add(scores[:, 0], codes == 1, weights)
        if probabilities is not None:
            self._add_probabilities(class_probabilities(probabilities), codes, weights)

    def _add_probabilities(
        self, probabilities: Floats, codes: NDArray[np.intp], weights: Floats | None
    ) -> None:
        right = probabilities[np.arange(len(codes)), codes]
        self.log_loss.add(_log_losses(right, np.ones(len(codes), dtype=np.bool_)), weights)
        if self.outputs == 1:
            self.calibration.add(probabilities[:, 1], codes == 1, weights)

    def result(self) -> dict[str, Any]:
        """A JSON-able dictionary; what cannot be said of these examples is absent or None."""
        out: dict[str, Any] = {"examples": self.examples, "loss": self.loss.value}
        if self.task == "regression":
            return out | {
                "rmse": self.residuals.rmse,
                "mae": self.residuals.mae,
                "r2": self.residuals.r2,
            }
        out["accuracy"] = self.accuracy.value
        if self.auc is not None:
            out["auc"] = self.auc.value
            out["auc_error"] = self.auc.error
        if self.log_loss.value is not None:
            out["log_loss"] = self.log_loss.value
            out["base_log_loss"] = entropy(self.class_weight)
        if self.outputs == 1:
            out["positive_share"] = share(self.class_weight)
            if self.log_loss.value is not None:
                out["calibration_error"] = self.calibration.error
                out["calibration"] = self.calibration.bins()
        return out


def entropy(class_weight: Floats) -> float | None:
    """The log loss of always predicting the shares of the classes: what a model must beat.

    >>> import numpy as np
    >>> round(entropy(np.array([3.0, 1.0])), 4)
    0.5623
    """
    total = class_weight.sum()
    if total <= 0:
        return None
    p = class_weight[class_weight > 0] / total
    return float(-(p * np.log(p)).sum())


def share(class_weight: Floats) -> float | None:
    """The share of positive examples of two classes."""
    total = class_weight.sum()
    return float(class_weight[1] / total) if total > 0 else None


def predicted_codes(scores: Floats) -> NDArray[np.intp]:
    """The class code that each row of scores speaks for: 1 above zero, or the largest column.

    >>> import numpy as np
    >>> predicted_codes(np.array([[0.3], [-2.0]]))
    array([1, 0])
    >>> predicted_codes(np.array([[0.3, 0.9, -1.0]]))
    array([1])
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    best: NDArray[np.intp] = np.argmax(scores, axis=1)
    return best


def class_probabilities(probabilities: Floats) -> Floats:
    """One column a class, from what a learner says of the second of two classes, or of each of several.

    >>> import numpy as np
    >>> class_probabilities(np.array([[0.25]]))
    array([[0.75, 0.25]])
    """
    if probabilities.shape[1] == 1:
        return np.hstack([1 - probabilities, probabilities])
    return probabilities


def __getattr__(name: str) -> Any:
    if name in ("Regret", "regret"):  # for research: training does without
        from riata import metrics_regret

        return getattr(metrics_regret, name)
    raise AttributeError(f"module 'riata.metrics' has no attribute {name!r}")
