"""Values divided by their feature's running root mean square: what `feature_scale="rms"` adds to a learner."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from riata._core import RunningScale
from riata.block import Block
from riata.learners.base import CompiledLearner, Floats, State, check_choice, option

CHOICES = ("rms", "none")


def scale_option(default: str = "rms") -> str:
    help_text = "rms: divide values by the running root mean square of their feature's non-zeros"
    chosen: str = option(default, help_text, CHOICES)
    return chosen


class Scale(Protocol):
    """What is known of the values of features."""

    def apply(self, indices: Any, values: Any, /) -> NDArray[np.float32]:
        """Values divided by their root mean squares; those of features never seen become 1 or -1."""

    def roots(self, keys: Any, /) -> Floats:
        """The root mean squares of features; 1 of those never seen."""

    def set_sums(self, keys: Any, sums: Any, /) -> None:
        """How often each feature was not zero, and the sum of its squares, as they were saved."""


class ScalesFeatures(CompiledLearner):
    """A learner that may see scaled values."""

    feature_scale: str

    @property
    @abstractmethod
    def _scale(self) -> Scale | None:
        """Where the root mean squares are; None: values stay as they are."""

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], state: State) -> Self:
        if "feature_scale" not in parameters and "scale_sums" not in state:
            parameters = {**parameters, "feature_scale": "none"}  # saved when there was no other
        return super().from_state(parameters, state)

    def _check_scale(self) -> None:
        check_choice("feature_scale", self.feature_scale, CHOICES)

    def _values(self, block: Block) -> NDArray[np.float32]:
        """The values as scores see them, by what was learned."""
        if self._scale is None:
            return block.values
        return self._scale.apply(block.indices, block.values)

    def values_seen(self, block: Block, keys: NDArray[np.int64]) -> Floats:
        """Values as weights for values as they are meet them: scaled, rounded to 32 bits, and back. `keys` are those of
        the entries in the model."""
        scaled = self._values(block).astype(np.float64)
        return scaled if self._scale is None else scaled * self._scale.roots(keys)

    def _on_values(
        self, keys: NDArray[np.int64], weights: Floats
    ) -> tuple[NDArray[np.int64], Floats]:
        """Weights for values as they are."""
        if self._scale is None:
            return keys, weights
        return keys, weights / self._scale.roots(keys)[:, None]

    def _restore_scale(self, state: State) -> None:
        if self._scale is None:
            return
        sums = state["scale_sums"]
        if not (sums > 0).all():
            raise ValueError("tensor 'scale_sums' has a feature that was never seen")
        self._scale.set_sums(state["scale_keys"], sums)


class OwnScale(ScalesFeatures):
    """One whose root mean squares are in a store of their own, by the same keys, and which is given scaled values."""

    store: str
    bits: int
    _running: RunningScale | None

    @property
    def _scale(self) -> RunningScale | None:
        return self._running

    def _start_scale(self) -> None:
        self._check_scale()
        scale = None
        if self.feature_scale == "rms":
            kind = "hashed" if self.store == "hashed" else "table"
            scale = RunningScale(kind, int(self.bits))
        object.__setattr__(self, "_running", scale)

    def _values_to_learn(
        self, block: Block, order: NDArray[np.int64] | None
    ) -> NDArray[np.float32]:
        """The values as the learner sees them: each by all that came before, its own square included. Of rows without
        weight nothing is learned."""
        if self._running is None:
            return block.values
        return self._running.learn(block.indptr, block.indices, block.values, block.weights, order)

    def state(self) -> State:
        with self.lock:
            state = super().state()
            if self._running is not None:
                state["scale_keys"], state["scale_sums"] = self._running.sums()
            return state
