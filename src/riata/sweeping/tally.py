"""How good each setting's predictions are, as they stream by: losses in parts that an error can be told from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.metrics import (
    CALIBRATION_BINS,
    SMALLEST_PROBABILITY,
    Residuals,
    _auc_of_groups,
    class_probabilities,
    predicted_codes,
)

Floats = NDArray[np.float64]

AUC_BINS = 1 << 13
"""Equal parts of score / (1 + |score|); scores in one part count as a tie."""
PARTS = 64
"""Without folds, errors are told from at least half as many consecutive parts of the stream."""
FIRST_PART = 32
"""Examples in a part at first; when there are 2 * PARTS, two become one."""
AT_ONCE = 4096


@dataclass
class Predictions:
    """What each setting said of some examples: (settings, n, outputs), and of these the probabilities."""

    scores: Floats
    probabilities: Floats | None
    losses: Floats
    """The settings' own losses, (settings, n)."""
    log_odds: bool = False
    """Scores are the log odds of the second of two classes, and probabilities need not be told."""


class Tally:
    """Of every setting: its loss in parts (folds, or stretches of the stream), and what else describes it.

    `metric` is what settings are compared by: "log_loss", "error" (the share of wrong classes), "squared_error" or
    "loss" (the one loss that all of them minimise).
    """

    def __init__(self, settings: int, metric: str, folds: int | None) -> None:
        self.metric, self.folds = metric, folds
        self.examples = 0
        parts = 2 * PARTS if folds is None else folds
        self.totals = np.zeros((settings, parts))
        self.weights = np.zeros(parts)
        self._part_size = FIRST_PART
        self.correct = np.zeros(settings)
        self.positives = np.zeros((settings, AUC_BINS))
        self.negatives = np.zeros((settings, AUC_BINS))
        self.calibration = np.zeros((3, settings, CALIBRATION_BINS))
        self.labels = Residuals()
        self.binary = True
        self.has_probabilities = True

    # Adding

    @np.errstate(over="ignore", invalid="ignore")  # a setting may be about to diverge
    def add(
        self,
        said: Predictions,
        labels: Floats,
        weights: Floats | None,
        folds: NDArray[np.int64] | None,
    ) -> Floats:
        """The losses by which settings are compared, (settings, n)."""
        if said.log_odds:
            return self._add_log_odds(said.scores[:, :, 0], labels, weights, folds)
        n = len(labels)
        w = np.ones(n) if weights is None else weights
        losses = self._compared(said, labels)
        self._add_parts(losses * w, w, folds)
        self.examples += n
        if self.metric in ("squared_error", "loss"):
            self.labels.add(labels, labels, weights)
            return losses
        codes = labels.astype(np.intp)
        outputs = said.scores.shape[2]
        self.binary = self.binary and outputs == 1
        self.has_probabilities = said.probabilities is not None
        for s, scores in enumerate(said.scores):
            self.correct[s] += float(w[predicted_codes(scores) == codes].sum())
        if self.binary:
            self._add_binary(said, codes == 1, w)
        return losses

    def _add_log_odds(
        self,
        scores: Floats,
        labels: Floats,
        weights: Floats | None,
        folds: NDArray[np.int64] | None,
    ) -> Floats:
        """The same, all of it in the core."""
        losses = _core.tally_log_odds(
            np.ascontiguousarray(scores), labels, weights, SMALLEST_PROBABILITY,
            self.positives, self.negatives, self.calibration, self.correct,
        )  # fmt: skip
        w = np.ones(len(labels)) if weights is None else weights
        self._add_parts(losses if weights is None else losses * w, w, folds)
        self.examples += len(labels)
        return losses

    def _compared(self, said: Predictions, labels: Floats) -> Floats:
        if self.metric == "loss":
            return said.losses
        if self.metric == "squared_error":
            squared: Floats = (said.scores[:, :, 0] - labels) ** 2
            return squared
        codes = labels.astype(np.intp)
        if self.metric == "error" or said.probabilities is None:
            wrong = [predicted_codes(scores) != codes for scores in said.scores]
            return np.array(wrong, dtype=np.float64)
        if said.scores.shape[2] == 1:
            p = said.probabilities[:, :, 0]
            right = np.where(codes == 1, p, 1 - p)
        else:
            rows = np.arange(len(codes))
            right = np.array([class_probabilities(p)[rows, codes] for p in said.probabilities])
        logs: Floats = -np.log(np.clip(right, SMALLEST_PROBABILITY, 1.0))
        return logs

    def _add_parts(self, losses: Floats, w: Floats, folds: NDArray[np.int64] | None) -> None:
        if folds is not None:
            parts = folds
        else:
            while (self.examples + len(w) - 1) // self._part_size >= 2 * PARTS:
                self._halve()
            parts = (self.examples + np.arange(len(w))) // self._part_size
        present = np.flatnonzero(np.bincount(parts, minlength=1))
        for part in present.tolist():
            mine = parts == part
            self.totals[:, part] += losses[:, mine].sum(axis=1)
            self.weights[part] += w[mine].sum()

    def _halve(self) -> None:
        """Two parts become one."""
        self._part_size *= 2
        for array in (self.totals, self.weights):
            array[..., :PARTS] = array[..., ::2] + array[..., 1::2]
            array[..., PARTS:] = 0

    def _add_binary(self, said: Predictions, positive: NDArray[np.bool_], w: Floats) -> None:
        pw, nw = w[positive], w[~positive]
        for s, column in enumerate(said.scores[:, :, 0]):
            squashed = column / (1 + np.abs(column))
            bins = np.minimum(((squashed + 1) * (AUC_BINS / 2)).astype(np.intp), AUC_BINS - 1)
            self.positives[s] += np.bincount(bins[positive], pw, AUC_BINS)
            self.negatives[s] += np.bincount(bins[~positive], nw, AUC_BINS)
        if said.probabilities is None:
            return
        for s, p in enumerate(said.probabilities[:, :, 0]):
            bins = np.minimum((p * CALIBRATION_BINS).astype(np.intp), CALIBRATION_BINS - 1)
            for row, of in enumerate((w, w * p, w * positive)):
                self.calibration[row, s] += np.bincount(bins, of, CALIBRATION_BINS)

    # Reading

    def _used(self) -> NDArray[np.intp]:
        """Parts to tell errors from: folds with examples; of stretches, those that are whole."""
        if self.folds is not None:
            return np.flatnonzero(self.weights > 0)
        whole = self.examples // self._part_size
        return np.arange(max(whole, min(1, self.examples)), dtype=np.intp)

    @property
    def loss(self) -> Floats:
        """The mean loss of each setting."""
        total = self.weights.sum()
        if total <= 0:
            return np.full(len(self.totals), np.nan)
        mean: Floats = self.totals.sum(axis=1) / total
        return mean

    @np.errstate(over="ignore", invalid="ignore")
    def spread(self, against: int | None = None) -> Floats:
        """The standard error of each setting's loss, or of its difference to another's, from the parts."""
        used = self._used()
        totals = self.totals[:, used]
        if against is not None:
            totals = totals - totals[against]
        return _standard_error(totals, self.weights[used])

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the spread."""
        return max(0, int(np.count_nonzero(self.weights[self._used()] > 0)) - 1)

    def accuracy(self, s: int) -> float | None:
        total = self.weights.sum()
        return float(self.correct[s] / total) if total > 0 else None

    def auc(self, s: int) -> float | None:
        return _auc_of_groups(self.positives[s], self.negatives[s])[0] if self.binary else None

    def calibration_error(self, s: int) -> float | None:
        weight, predicted, observed = self.calibration[:, s]
        if not self.binary or not self.has_probabilities or weight.sum() <= 0:
            return None
        return float(np.abs(predicted - observed).sum() / weight.sum())

    def r2(self, s: int) -> float | None:
        """Of squared errors."""
        if self.metric != "squared_error" or self.labels.spread <= 0:
            return None
        return float(1 - self.totals[s].sum() / self.labels.spread)


def _standard_error(totals: Floats, weights: Floats) -> Floats:
    """Of a weighted mean whose parts are independent: each part's mean has the share of its weight.

    >>> float(_standard_error(np.array([[1.0, 3.0]]), np.ones(2))[0])
    1.0
    """
    there = weights > 0
    k = int(there.sum())
    if k < 2:
        return np.full(len(totals), np.nan)
    share = weights[there] / weights[there].sum()
    means = totals[:, there] / weights[there]
    centre = (means * share).sum(axis=1, keepdims=True)
    variance: Floats = (share**2 * (means - centre) ** 2).sum(axis=1) * (k / (k - 1))
    return np.sqrt(variance)


def describe(tally: Tally, s: int) -> dict[str, Any]:
    """What the tally has of one setting beside its loss."""
    if tally.metric in ("squared_error", "loss"):
        return {"r2": tally.r2(s)}
    return {
        "auc": tally.auc(s),
        "accuracy": tally.accuracy(s),
        "calibration_error": tally.calibration_error(s),
    }
