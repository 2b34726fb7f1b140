"""From the scores of all settings to probabilities and losses; at once where all mean the same by a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.errors import SettingsError
from riata.learners import Learner
from riata.learners.linear import LOSSES, LossLearner
from riata.sweeping.tally import Predictions

Floats = NDArray[np.float64]


class Predictor:
    """What the settings of a sweep have in common: the task, and how they are compared."""

    def __init__(self, prototypes: Sequence[Learner]) -> None:
        self.prototypes = list(prototypes)
        tasks = {learner.task for learner in prototypes}
        if len(tasks) > 1:
            raise SettingsError(
                "some settings classify and others predict a number: their losses cannot be compared"
            )
        self.task = tasks.pop()
        self._loss = self._common_loss()
        self.metric = self._metric()

    @property
    def outputs(self) -> int:
        return self.prototypes[0].outputs

    @property
    def wants_names(self) -> bool:
        return any(learner.wants_names for learner in self.prototypes)

    @property
    def takes_more_classes(self) -> bool:
        return all(learner.takes_more_classes for learner in self.prototypes)

    def with_outputs(self, outputs: int) -> Predictor:
        made = [replace(learner, outputs=outputs) for learner in self.prototypes]  # type: ignore[type-var]
        return Predictor(made)

    def _common_loss(self) -> tuple[str, float] | None:
        """The loss and its parameter, where all minimise the same."""
        found = set()
        for learner in self.prototypes:
            if isinstance(learner, LossLearner):
                parameter = LOSSES[learner.loss][2]
                found.add((learner.loss, float(getattr(learner, parameter)) if parameter else 0.0))
            else:
                found.add(("logistic" if learner.task == "classification" else "", 0.0))
        one = found.pop()
        return one if not found and one[0] in LOSSES else None

    def _metric(self) -> str:
        if self.task == "regression":
            same = self._loss is not None and self._loss[0] != "squared"
            return "loss" if same else "squared_error"
        zero = np.zeros((1, self.outputs))
        if all(learner.probability(zero) is not None for learner in self.prototypes):
            return "log_loss"
        return "error"

    def losses(self, scores: Floats, labels: Floats) -> Floats:
        """The settings' own losses, (settings, n), of scores (settings, n, outputs)."""
        settings, n, outputs = scores.shape
        if self._log_odds:
            return _core.log_losses(np.ascontiguousarray(scores[:, :, 0]), labels)
        if self._loss is not None:
            flat = np.ascontiguousarray(scores).reshape(settings * n, outputs)
            name, parameter = self._loss
            found = _core.row_losses(name, flat, np.tile(labels, settings), parameter)
            return found.reshape(settings, n)
        each = zip(self.prototypes, scores, strict=True)
        return np.array(
            [learner.losses(np.ascontiguousarray(own), labels) for learner, own in each]
        )

    @property
    def _log_odds(self) -> bool:
        """Whether scores are the log odds of the second of two classes."""
        return self.outputs == 1 and self._loss is not None and self._loss[0] == "logistic"

    def said(self, scores: Floats, labels: Floats) -> Predictions:
        """What a tally wants to know."""
        if self._log_odds and self.metric == "log_loss":
            return Predictions(scores, None, np.zeros((0, 0)), log_odds=True)
        own = self.losses(scores, labels) if self.metric == "loss" else np.zeros((0, 0))
        return Predictions(scores, self._probabilities(scores), own)

    def _probabilities(self, scores: Floats) -> Floats | None:
        if self.metric != "log_loss":
            return None
        if self._loss is not None:
            flat = np.ascontiguousarray(scores).reshape(-1, self.outputs)
            found = self.prototypes[0].probability(flat)
            assert found is not None
            return found.reshape(scores.shape)
        each = zip(self.prototypes, scores, strict=True)
        return np.array([learner.probability(np.ascontiguousarray(own)) for learner, own in each])
