"""Log odds put right by how they did so far: beta calibration, learned beside the model.

Corrected log odds are a ln(p) - b ln(1 - p) + c (Kull, Silva Filho & Flach 2017).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.learners.base import CompiledLearner, Floats, State, check_choice, only_keys

CHOICES = ("auto", "on", "off")


def wanted(calibrate: str | bool, prior_variance: Any) -> bool:
    """Whether to correct: "auto" does where the prior is not chosen either.

    >>> wanted("auto", "auto"), wanted("auto", 1.0), wanted("on", 1.0), wanted(False, "auto")
    (True, False, True, False)
    """
    if isinstance(calibrate, bool | np.bool_):
        return bool(calibrate)
    check_choice("calibrate", calibrate, CHOICES)
    return prior_variance == "auto" if calibrate == "auto" else calibrate == "on"


def blank(outputs: int) -> Floats:
    """Nothing learned: a = b = 1, c = 0.

    >>> _core.recalibration(blank(2))
    [(1.0, 1.0, 0.0), (1.0, 1.0, 0.0)]
    """
    return np.zeros((outputs, _core.RECALIBRATION_WIDTH))


def learn(
    scores: Floats,
    state: Floats,
    labels: Floats,
    weights: Floats | None,
    order: NDArray[np.int64] | None,
    half_life: float | None,
) -> None:
    """Correct each score by the examples before it, and learn from its label."""
    if order is not None:
        labels, weights = labels[order], None if weights is None else weights[order]
    keep = 1.0 if half_life is None else 2.0 ** (-1 / half_life)
    _core.recalibrate(scores, state, labels, weights, keep)


def correct(scores: Floats, state: Floats) -> None:
    _core.recalibrate(scores, state, None, None, 1.0)


def restore(state: Floats, saved: Floats) -> None:
    if saved.shape != state.shape:
        raise ValueError(
            f"the calibration of this model has the shape {saved.shape}, not {state.shape}: "
            "another version of Riata has saved it"
        )
    state[:] = saved


def between(low: Floats, high: Floats, correction: Floats) -> tuple[Floats, Floats]:
    """Ends of an interval of probabilities, corrected."""
    ends = []
    for p in (low, high):
        p = np.clip(p, 1e-300, 1 - 1e-16)
        odds = correction[:, 0] * np.log(p) - correction[:, 1] * np.log1p(-p) + correction[:, 2]
        ends.append(_core.loss_probability("logistic", odds.ravel()).reshape(p.shape))
    return np.minimum(*ends), np.maximum(*ends)


def mirrored(state: Floats, outputs: int) -> Floats:
    """The state with more outputs; a single one becomes those of classes 0 and 1."""
    if len(state) == 1:  # with p and 1 - p, a and b change places
        state = np.vstack(
            [state[:, [3, 1, 4, 0, 2, 5, 7, 6, 8]] * [1, 1, -1, 1, -1, 1, 1, 1, -1], state]
        )
    return np.vstack([state, blank(outputs - len(state))])


class CalibratedLearner(CompiledLearner):
    """Classification whose log odds may be corrected so, in a store that it chooses of its own accord."""

    store: str
    _kept_in: str
    _holder: ClassVar[str] = "_core"
    """The attribute that has the core."""
    _calibration: tuple[int, Floats]
    """The t it was learned at, and its state, which never changes: a new one takes its place."""

    @property
    @abstractmethod
    def calibrates(self) -> bool:
        """Whether predictions are corrected by how they did so far."""

    @property
    def _calibration_half_life(self) -> float | None:
        """In so many examples, what was learned of the correction fades by half."""
        return None

    @abstractmethod
    def _learn(self, block: Block, labels: Floats, order: NDArray[np.int64] | None) -> Floats:
        """As `learn`, not corrected."""

    @abstractmethod
    def _score(self, block: Block) -> Floats:
        """As `score`, not corrected."""

    @abstractmethod
    def _start_keyed(self) -> None:
        """An empty model in a table."""

    @property
    def _empty(self) -> bool:
        """Nothing was learned."""
        return self.t == 0

    @property
    def task(self) -> str:
        return "classification"

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Floats:
        if block.labels is None:
            raise ValueError("a Block without labels cannot be learned")
        with self.lock:
            self._choose_store(block)
            scores = self._learn(block, block.labels, order)
            if self.calibrates:
                learned = self._calibration[1].copy()  # others may be reading the old one
                half_life = self._calibration_half_life
                learn(scores, learned, block.labels, block.weights, order, half_life)
                self._calibrate_by(learned, self.t)
            self._note(scores, block, order)
        return scores

    def _note(self, scores: Floats, block: Block, order: NDArray[np.int64] | None) -> None:
        """Of examples that were just learned: what was predicted of each before."""

    def _choose_store(self, block: Block) -> None:
        """A table for names, and for numbers that an array of such rows could not reach."""
        if self.store != "auto" or self._kept_in != "dense":
            return
        far = block.names is None and only_keys(block.indices, self._core.row_width)
        if (far or block.names is not None) and self._empty:
            self._start_keyed()
        elif far:
            moved = self._remade(self.parameters() | {"store": "table"}, self.state())
            object.__setattr__(self, "_kept_in", "table")
            core = getattr(moved, self._holder)
            object.__setattr__(self, self._holder, core)  # at once: others may be reading

    def score(self, block: Block) -> Floats:
        """The log odds of the predicted probability."""
        if not self.calibrates:
            return self._score(block)
        t, state = self._calibration
        scores = self._score(block)
        if self.t != t:  # somebody is learning: weights and correction may be of two moments
            with self.lock:
                t, state = self._calibration
                scores = self._score(block)
        correct(scores, state)
        return scores

    def losses(self, scores: Floats, labels: Floats) -> Floats:
        return _core.row_losses("logistic", scores, labels, 0.0)

    def probability(self, scores: Floats) -> Floats:
        from riata.learners.classes import of_log_odds  # training does without

        return of_log_odds(scores)

    def _snapshot(self) -> State:
        """All that the core knows at one moment."""
        state: State = self._core.snapshot()
        return state

    def state(self) -> State:
        with self.lock:
            state = self._snapshot()
            if self.calibrates:
                state["calibration"] = self._calibration[1].copy()
            return state

    def _calibrate_by(self, state: Floats, t: int) -> None:
        object.__setattr__(self, "_calibration", (t, state))

    def _restore_calibration(self, state: State) -> None:
        if self.calibrates:
            learned = blank(self.outputs)
            restore(learned, state["calibration"])
            self._calibrate_by(learned, self.t)
