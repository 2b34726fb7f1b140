"""Values divided by their feature's running root mean square: what `feature_scale="rms"` adds to a learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

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


class ScalesFeatures(CompiledLearner):
    """A learner that may see scaled values. The root mean squares are in a store of their own, by the same keys."""

    feature_scale: str
    store: str
    bits: int
    _scale: RunningScale | None

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], state: State) -> Self:
        if "feature_scale" not in parameters and "scale_sums" not in state:
            parameters = {**parameters, "feature_scale": "none"}  # saved when there was no other
        return super().from_state(parameters, state)

    def _start_scale(self) -> None:
        check_choice("feature_scale", self.feature_scale, CHOICES)
        scale = None
        if self.feature_scale == "rms":
            kind = "hashed" if self.store == "hashed" else "table"
            scale = RunningScale(kind, int(self.bits))
        object.__setattr__(self, "_scale", scale)

    def _values_to_learn(
        self,
        block: Block,
        order: NDArray[np.int64] | None,
        held: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.float32]:
        """The values as the learner sees them: each by all that came before, its own square included. Of rows without
        weight, and of those that are held out, nothing is learned."""
        if self._scale is None:
            return block.values
        weights = block.weights
        if held is not None:
            weights = np.ones(len(block)) if weights is None else weights.copy()
            rows = np.arange(len(block)) if order is None else order
            weights[rows[held != 0]] = 0
        return self._scale.learn(block.indptr, block.indices, block.values, weights, order)

    def _values(self, block: Block) -> NDArray[np.float32]:
        """The same, by what was learned."""
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

    def state(self) -> State:
        with self.lock:
            state = super().state()
            if self._scale is not None:
                state["scale_keys"], state["scale_sums"] = self._scale.rows()
            return state

    def _restore_scale(self, state: State) -> None:
        if self._scale is None:
            return
        sums = state["scale_sums"]
        if not (sums > 0).all():
            raise ValueError("tensor 'scale_sums' has a feature that was never seen")
        self._scale.set_rows(state["scale_keys"], sums)
