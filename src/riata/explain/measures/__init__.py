"""A model on labelled data, in detail: decisions, thresholds, lift, classes, groups, intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.explain.measures.bootstrap import PoissonBootstrap, rates_of
from riata.explain.measures.decisions import Confusion, Curve, chance_of, macro, rates
from riata.labels import as_text
from riata.metrics import (
    Evaluation,
    StreamingAUC,
    _log_losses,
    class_probabilities,
    predicted_codes,
)
from riata.metrics_running import LabelSums
from riata.record import Model, check_hash_key
from riata.sources import Source
from riata.sources.source import iterate
from riata.sources.weighed import checked_and_weighed
from riata.training.encoder import encode_for

__all__ = ["Curve", "Measures", "measure"]

Floats = NDArray[np.float64]
MOST_GROUPS = 1000
"""Groups that are told apart: the examples of further ones are measured together."""
MOST_CLASSES = 1000
"""With more classes there is no table of them."""
GROUP_BINS = 1 << 12
OTHERS = "(other groups)"


@dataclass(frozen=True)
class Measures:
    """What to measure beside the loss.

    threshold: of two classes, the probability (of a model without probabilities the score) from which on the
        decision is for the last one; None as `predict` decides.
    at: thresholds to look for: ("precision", 0.95), ("recall", 0.9).
    lift: parts with the highest scores, such as 0.1.
    bootstrap: replicates for intervals; 0 for none.
    """

    threshold: float | None = None
    at: Sequence[tuple[str, float]] = ()
    lift: Sequence[float] = (0.01, 0.05, 0.1, 0.2)
    bootstrap: int = 0
    level: float = 0.95
    seed: int = 0


def measure(
    model: Model,
    source: Source,
    measures: Measures | None = None,
    groups_of: Callable[[Block], Sequence[Any]] | None = None,
    curve: bool = False,
) -> dict[str, Any]:
    """All that can be said of a model on labelled data, as JSON holds it.

    One pass; kept are sums, histograms of scores (2 MB; 64 kB a group), the confusion of classes, and with a bootstrap
    sums for each replicate: memory does not grow with the examples.
    """
    encode = encode_for(model, source)
    found = _Detailed(model, measures or Measures())
    groups = _Groups(model) if groups_of is not None else None
    check_hash_key(model.learner, source)
    read = cast(Source, checked_and_weighed(source, model.schema))
    with closing(iterate(read)) as blocks:
        for block in blocks:
            values = None if groups_of is None else groups_of(block)
            encoded = encode(block)
            said = _Said(model, encoded)
            found.add(said)
            if groups is not None and values is not None:
                groups.add(said, values)
    result = found.result(curve)
    return result if groups is None else result | {"groups": groups.result()}


class _Said:
    """Scores, probabilities and losses of a Block with its labels."""

    def __init__(self, model: Model, block: Block) -> None:
        learner = model.learner
        assert block.labels is not None
        self.labels, self.weights = block.labels, block.weights
        self.scores = learner.score(block)
        self.probabilities = learner.probability(self.scores) if model.classes is not None else None
        self.losses = learner.losses(self.scores, self.labels)

    def part(self, rows: NDArray[np.intp]) -> _Said:
        other = object.__new__(_Said)
        other.labels, other.scores, other.losses = (
            self.labels[rows],
            self.scores[rows],
            self.losses[rows],
        )
        other.weights = None if self.weights is None else self.weights[rows]
        other.probabilities = None if self.probabilities is None else self.probabilities[rows]
        return other

    def add_to(self, evaluation: Evaluation) -> None:
        evaluation.add(self.scores, self.probabilities, self.labels, self.weights, self.losses)


class _Detailed:
    def __init__(self, model: Model, measures: Measures) -> None:
        self.model, self.measures, learner = model, measures, model.learner
        self.evaluation = Evaluation(learner.task, learner.outputs)
        self.labels = LabelSums()
        self.classifies = model.classes is not None
        classes = max(2, learner.outputs)
        self.confusion = Confusion(classes) if self.classifies and classes <= MOST_CLASSES else None
        boot = measures.bootstrap
        self.bootstrap = PoissonBootstrap(boot, measures.seed) if boot else None

    def add(self, said: _Said) -> None:
        said.add_to(self.evaluation)
        self.labels.add(said.labels, said.weights, classes=self.classifies)
        codes = None
        if self.classifies:
            codes = self._decide(said)
            if self.confusion is not None:
                self.confusion.add(said.labels.astype(np.intp), codes, said.weights)
        if self.bootstrap is not None and len(said.labels):
            self._draw(said, codes)

    def _decide(self, said: _Said) -> NDArray[np.intp]:
        threshold = self.measures.threshold
        if threshold is None or said.scores.shape[1] > 1:
            return predicted_codes(said.scores)
        by = said.scores if said.probabilities is None else said.probabilities
        return (by[:, 0] >= threshold).astype(np.intp)

    def _draw(self, said: _Said, codes: NDArray[np.intp] | None) -> None:
        assert self.bootstrap is not None
        if codes is None:
            error = said.scores[:, 0] - said.labels
            away = said.labels - self.labels.first
            columns = {
                "squared": error**2,
                "absolute": np.abs(error),
                "away": away,
                "square": away**2,
            }
            self.bootstrap.add(columns | {"loss": said.losses}, said.weights)
            return
        truth = said.labels.astype(np.intp)
        columns = {"loss": said.losses, "accuracy": (codes == truth).astype(np.float64)}
        if said.probabilities is not None:
            chances = class_probabilities(said.probabilities)
            right = chances[np.arange(len(truth)), truth]
            columns["log_loss"] = _log_losses(right, np.ones(len(truth), dtype=np.bool_))
        if said.scores.shape[1] > 1:
            self.bootstrap.add(columns, said.weights)
            return
        yes, right = codes == 1, truth == 1
        cells = {"tp": yes & right, "fp": yes & ~right, "fn": ~yes & right}
        columns |= {name: cell.astype(np.float64) for name, cell in cells.items()}
        self.bootstrap.add(columns, said.weights, said.scores[:, 0], right)

    def result(self, curve: bool) -> dict[str, Any]:
        model, learner = self.model, self.model.learner
        out = self.evaluation.result()
        out["constant_loss"] = self.labels.constant_loss(learner.losses, learner.outputs)
        if not self.classifies:
            squared = self.evaluation.residuals.squared.value
            out["mse"] = squared
            out["constant_mse"] = _variance(self.labels)
        if self.confusion is not None:
            out |= self._decisions(curve)
        if self.bootstrap is not None:
            out["intervals"] = self._intervals()
            out["bootstrap"] = {
                "replicates": self.measures.bootstrap,
                "level": self.measures.level,
                "seed": self.measures.seed,
            }
        out["task"] = learner.task
        if model.classes is not None:
            out["classes"] = model.labels
        return out

    def _decisions(self, curve: bool) -> dict[str, Any]:
        assert self.confusion is not None
        learner, weights = self.model.learner, self.confusion.weights
        by_class = self.confusion.by_class()
        labels = [*self.model.labels, *range(len(self.model.labels), len(weights))]
        found: dict[str, Any] = {
            "confusion": weights.tolist(),
            "by_class": [
                {"class": label} | one for label, one in zip(labels, by_class, strict=True)
            ],
            "macro": macro(by_class),
        }
        if learner.outputs > 1 or self.evaluation.auc is None:
            return found
        (tn, fp), (fn, tp) = weights.tolist()
        by = "score" if self.evaluation.log_loss.value is None else "probability"
        given = self.measures.threshold
        used = given if given is not None else (0.5 if by == "probability" else 0.0)
        found["threshold"] = {by: used, "tp": tp, "fp": fp, "fn": fn, "tn": tn} | rates(
            tp, fp, fn, tn
        )
        every = Curve.of(self.evaluation.auc)
        found["at"] = [self._at(every, what, wanted) for what, wanted in self.measures.at]
        lifts = [every.lift(top) for top in self.measures.lift]
        found["lift"] = [lift for lift in lifts if lift is not None]
        return found | ({"curve": every.points()} if curve else {})

    def _at(self, curve: Curve, what: str, wanted: float) -> dict[str, Any]:
        at = curve.at(what, wanted)
        if at is None:
            return {"wanted": {what: wanted}, "reached": False}
        chance = chance_of(at["score"], self.model.learner.probability)
        score = at["score"] if np.isfinite(at["score"]) else None
        return at | {"reached": True, "probability": chance, "score": score}

    def _intervals(self) -> dict[str, Any]:
        boot = self.bootstrap
        assert boot is not None
        if not boot.sums:
            return {}
        means = boot.means()
        values: dict[str, Floats]
        if self.classifies:
            values = {n: means[n] for n in ("loss", "log_loss", "accuracy") if n in means}
            if "tp" in means:
                values |= rates_of(boot) | {"auc": boot.aucs()}
        else:
            spread = means["square"] - means["away"] ** 2
            with np.errstate(divide="ignore", invalid="ignore"):
                r2 = 1 - means["squared"] / spread
            values = {
                "loss": means["loss"],
                "mse": means["squared"],
                "rmse": np.sqrt(means["squared"]),
            }
            values |= {"mae": means["absolute"], "r2": r2}
        level = self.measures.level
        found = {name: boot.interval(value, level) for name, value in values.items()}
        return {name: None if ends is None else list(ends) for name, ends in found.items()}


def _variance(labels: LabelSums) -> float | None:
    distance, square = labels.distance.value, labels.square.value
    if distance is None or square is None:
        return None
    return max(0.0, square - distance * distance)


class _Groups:
    """An evaluation for each value of a column."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._found: dict[str, Evaluation] = {}

    def _of(self, name: str) -> Evaluation:
        if name not in self._found:
            if len(self._found) >= MOST_GROUPS:
                name = OTHERS
            learner = self._model.learner
            new = Evaluation(learner.task, learner.outputs)
            if new.auc is not None:
                new.auc = StreamingAUC(np.zeros(GROUP_BINS), np.zeros(GROUP_BINS))
            self._found.setdefault(name, new)
        return self._found[name]

    def add(self, said: _Said, values: Sequence[Any]) -> None:
        places: dict[str, list[int]] = {}
        for i, value in enumerate(values):
            places.setdefault("" if value is None else as_text(value), []).append(i)
        for name, rows in places.items():
            said.part(np.array(rows, dtype=np.intp)).add_to(self._of(name))

    def result(self) -> list[dict[str, Any]]:
        kept = (
            "examples",
            "loss",
            "log_loss",
            "accuracy",
            "auc",
            "positive_share",
            "rmse",
            "mae",
            "r2",
            "base_log_loss",
            "calibration_error",
        )
        found = []
        for name, evaluation in self._found.items():
            result = evaluation.result()
            found.append({"group": name} | {k: result[k] for k in kept if k in result})
        return sorted(found, key=lambda one: -one["examples"])
