"""Decisions of a classifier: what is right and wrong of them, at one threshold and at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.metrics import StreamingAUC

Floats = NDArray[np.float64]


def rates(tp: float, fp: float, fn: float, tn: float) -> dict[str, float | None]:
    """Precision, recall and F1 of decisions; None where there is nothing to divide by.

    >>> found = rates(6, 2, 4, 8)
    >>> found["precision"], found["recall"], round(found["f1"], 4), found["accuracy"]
    (0.75, 0.6, 0.6667, 0.7)
    """
    total = tp + fp + fn + tn
    return {
        "precision": tp / (tp + fp) if tp + fp > 0 else None,
        "recall": tp / (tp + fn) if tp + fn > 0 else None,
        "f1": 2 * tp / (2 * tp + fp + fn) if 2 * tp + fp + fn > 0 else None,
        "accuracy": (tp + tn) / total if total > 0 else None,
    }


class Confusion:
    """How much weight of each class was given to each class: rows are what is true, columns what was said."""

    def __init__(self, classes: int) -> None:
        self.weights = np.zeros((classes, classes))

    def add(self, truth: NDArray[np.intp], said: NDArray[np.intp], weights: Floats | None) -> None:
        k = len(self.weights)
        cells = np.bincount(truth * k + said, weights, minlength=k * k)
        self.weights += cells.reshape(k, k)

    def by_class(self) -> list[dict[str, Any]]:
        """Precision, recall, F1 and the weight of the examples of each class."""
        found = []
        for c in range(len(self.weights)):
            tp = float(self.weights[c, c])
            fp, fn = float(self.weights[:, c].sum()) - tp, float(self.weights[c].sum()) - tp
            one = rates(tp, fp, fn, 0.0)
            found.append(
                {name: one[name] for name in ("precision", "recall", "f1")} | {"weight": tp + fn}
            )
        return found


def macro(by_class: list[dict[str, Any]]) -> dict[str, float | None]:
    """The unweighted mean over classes that have examples; what cannot be said of one counts as 0."""
    there = [one for one in by_class if one["weight"] > 0]
    if not there:
        return dict.fromkeys(("precision", "recall", "f1"))
    return {
        name: float(np.mean([one[name] or 0.0 for one in there]))
        for name in ("precision", "recall", "f1")
    }


@dataclass(frozen=True)
class Curve:
    """All thresholds on a score at once, from a histogram: place i says "yes" from its score upwards."""

    scores: Floats
    """Ascending."""
    tp: Floats
    fp: Floats
    positives: float
    negatives: float

    @classmethod
    def of(cls, histogram: StreamingAUC) -> Curve:
        used = np.flatnonzero(histogram.positives + histogram.negatives)
        positives, negatives = histogram.positives[used], histogram.negatives[used]
        return cls(
            _edges(used, len(histogram.positives)),
            np.cumsum(positives[::-1])[::-1],
            np.cumsum(negatives[::-1])[::-1],
            float(positives.sum()),
            float(negatives.sum()),
        )

    @property
    def precision(self) -> Floats:
        return self.tp / (self.tp + self.fp)

    @property
    def recall(self) -> Floats:
        return self.tp / self.positives if self.positives > 0 else np.zeros_like(self.tp)

    def at(self, what: str, wanted: float) -> dict[str, Any] | None:
        """The threshold that reaches this precision (with the most recall) or recall (with the most precision)."""
        if not len(self.scores) or self.positives <= 0:
            return None
        reached = np.flatnonzero((self.precision if what == "precision" else self.recall) >= wanted)
        if not len(reached):
            return None
        if what == "precision":
            best = int(reached[0])  # the lowest: recall only falls from there
        else:
            best = int(reached[np.argmax(self.precision[reached])])
        found = rates(
            float(self.tp[best]), float(self.fp[best]), self.positives - float(self.tp[best]),
            self.negatives - float(self.fp[best]),
        )  # fmt: skip
        return {"wanted": {what: wanted}, "score": float(self.scores[best]), **found}

    def lift(self, top: float) -> dict[str, float] | None:
        """Of the part with the highest scores: its share of positives, against that of all, and how many it has."""
        total = self.positives + self.negatives
        if not len(self.scores) or self.positives <= 0:
            return None
        above = self.tp + self.fp
        reached = np.append(above[::-1], [])  # ascending in weight
        found = float(
            np.interp(top * total, np.insert(reached, 0, 0.0), np.insert(self.tp[::-1], 0, 0.0))
        )
        share = found / (top * total)
        return {
            "top": top,
            "share": share,
            "lift": share / (self.positives / total),
            "captured": found / self.positives,
        }

    def points(self, most: int = 500) -> dict[str, list[float]]:
        """False and true positive rates, precision and scores, thinned out: for plots."""
        places = np.unique(np.linspace(0, max(0, len(self.scores) - 1), most).astype(int))
        places = places[places < len(self.scores)]
        return {
            "score": self.scores[places].tolist(),
            "precision": self.precision[places].tolist(),
            "recall": self.recall[places].tolist(),
            "false_positive_rate": (self.fp[places] / (self.negatives or 1.0)).tolist(),
        }


def _edges(bins: NDArray[np.intp], n: int) -> Floats:
    """The lowest score of each bin of `StreamingAUC`."""
    squashed = bins / (n / 2) - 1
    with np.errstate(divide="ignore"):
        return np.asarray(squashed / (1 - np.abs(squashed)))


Probability = Callable[[Floats], Floats | None]


def chance_of(score: float, probability: Probability) -> float | None:
    """The probability that a score stands for."""
    if not np.isfinite(score):
        return 0.0
    found = probability(np.array([[score]]))
    return None if found is None else float(found[0, 0])
