"""How good a model is on data, in one pass: metrics, curves, and the examples that went most wrong."""

from __future__ import annotations

import heapq
import math
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.explain.contributions import Explainer
from riata.metrics import Evaluation, class_probabilities, predicted_codes
from riata.record import Model, check_hash_key
from riata.sources import Source
from riata.sources.source import iterate
from riata.sources.weighed import checked_and_weighed
from riata.training.encoder import encode_for

Floats = NDArray[np.float64]

MOST_POINTS = 400
"""Points of a curve in a page."""
_MOST_CLASSES = 20
"""Of a table of predicted against true classes."""


@dataclass(order=True)
class Wrong:
    """An example that went wrong."""

    loss: float
    row: int
    label: float = field(compare=False)
    scores: Floats = field(compare=False)
    probabilities: Floats | None = field(compare=False)
    terms: list[tuple[str, float, float]] = field(compare=False)
    """Feature, value (NaN for a step of the model), and what it adds to the score of the class that was predicted."""
    where: str = field(compare=False, default="")


@dataclass
class Measured:
    """What was found."""

    name: str
    result: dict[str, Any]
    confusion: Floats | None = None
    """Weights of examples by true and predicted class."""
    roc: tuple[Floats, Floats] | None = None
    """False and true positive rates."""
    precision_recall: tuple[Floats, Floats] | None = None
    """Recall and precision."""
    wrong: list[Wrong] = field(default_factory=list)


def measure(model: Model, source: Source, wrong: int = 0) -> Measured:
    """Score labelled data once."""
    learner = model.learner
    encode = encode_for(model, source)
    check_hash_key(learner, source)
    evaluation = Evaluation(learner.task, learner.outputs)
    classes = max(2, learner.outputs)
    counts = np.zeros((classes, classes)) if learner.task == "classification" else None
    curve = Curve() if counts is not None and learner.outputs == 1 else None
    worst: list[Wrong] = []
    explain = Terms(model) if wrong else None
    row = 0
    with closing(iterate(checked_and_weighed(source, model.schema))) as blocks:  # type: ignore[arg-type]
        for block in map(encode, blocks):
            labels = cast(Floats, block.labels)
            scores = learner.score(block)
            losses, probability = learner.losses(scores, labels), learner.probability(scores)
            evaluation.add(scores, probability, labels, block.weights, losses)
            weights = np.ones(len(labels)) if block.weights is None else block.weights
            if counts is not None:
                np.add.at(counts, (labels.astype(np.intp), predicted_codes(scores)), weights)
            if curve is not None:
                curve.add(scores[:, 0], labels == 1, weights)
            if explain is not None:
                _keep_worst(worst, wrong, block, row, losses, scores, probability, explain)
            row += len(labels)
    measured = Measured(source.name, evaluation.result())
    if counts is not None and len(counts) <= _MOST_CLASSES:
        measured.confusion = counts
    if curve is not None:
        measured.roc, measured.precision_recall = curve.rates()
    measured.wrong = sorted(worst, reverse=True)
    return measured


class Curve:
    """Scores of positive and negative examples, in bins so narrow that a curve cannot show them."""

    _BINS = 20_000

    def __init__(self) -> None:
        self._weights = np.zeros((2, 2 * self._BINS + 1))

    def add(self, scores: Floats, positive: NDArray[np.bool_], weights: Floats) -> None:
        squeezed = scores / (1 + np.abs(scores))
        bins = np.rint(squeezed * self._BINS).astype(np.intp) + self._BINS
        np.add.at(self._weights, (positive.astype(np.intp), bins), weights)

    def rates(self) -> tuple[tuple[Floats, Floats] | None, tuple[Floats, Floats] | None]:
        """(false positive rate, true positive rate) and (recall, precision), or None without both classes."""
        used = np.flatnonzero(self._weights.any(axis=0))[::-1]
        negatives, positives = np.cumsum(self._weights[:, used], axis=1)
        if not len(used) or not (negatives[-1] > 0 and positives[-1] > 0):
            return None, None
        recall = positives / positives[-1]
        roc = np.append(0.0, negatives / negatives[-1]), np.append(0.0, recall)
        return thinned(*roc), thinned(recall, positives / (positives + negatives))


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """So many of the points as a picture can show, the first and the last among them."""
    if len(x) <= MOST_POINTS:
        return x, y
    way = np.cumsum(np.abs(np.diff(x, prepend=x[0])) + np.abs(np.diff(y, prepend=y[0])))
    kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], MOST_POINTS)).clip(0, len(x) - 1))
    return x[kept], y[kept]


class Terms:
    """What the features of a row add to a score; the intercept, averaging and calibration stand beside them."""

    def __init__(self, model: Model) -> None:
        self._explainer = Explainer(model)
        self._base = 0 if model.schema is None else model.schema.base or 0

    def of(self, row: Block, output: int) -> list[tuple[str, float, float]]:
        """Of the only row of this Block, the largest first."""
        parts = self._explainer.of(row)
        keys, values = parts.block.indices.tolist(), parts.values.tolist()
        adds = parts.entries[:, output].tolist()
        found = [
            (parts.block.name_of(k) or str(key + self._base), value, add)
            for k, (key, value, add) in enumerate(zip(keys, values, adds, strict=True))
        ]
        others = {"intercept": parts.intercept, **parts.steps}
        found += [(f"({name})", math.nan, float(each[0, output])) for name, each in others.items()]
        return sorted(found, key=lambda term: -abs(term[2]))


def _keep_worst(
    worst: list[Wrong],
    most: int,
    block: Block,
    first: int,
    losses: Floats,
    scores: Floats,
    probability: Floats | None,
    explain: Terms,
) -> None:
    for k in np.argsort(-losses, kind="stable")[:most].tolist():
        loss = float(losses[k])
        if len(worst) == most and loss <= worst[0].loss:
            break
        output = 0 if scores.shape[1] == 1 else int(np.argmax(scores[k]))
        chances = None if probability is None else class_probabilities(probability[k : k + 1])[0]
        terms = explain.of(block[k : k + 1], output)[:40]
        entry = Wrong(
            loss,
            -(first + k),
            float(cast(Floats, block.labels)[k]),
            scores[k],
            chances,
            terms,
            block.where(k),
        )
        if len(worst) == most:
            heapq.heapreplace(worst, entry)
        else:
            heapq.heappush(worst, entry)
