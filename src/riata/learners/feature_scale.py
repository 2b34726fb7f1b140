"""Values divided by their feature's running root mean square: what `feature_scale="rms"` adds to a learner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riata._core import RunningScale
from riata.block import Block
from riata.learners.base import CompiledLearner, Floats, State, check_choice, option
from riata.learners.state_check import Tensor

CHOICES = ("none", "rms")
TENSORS = {
    "scale_keys": Tensor("int64", ("scaled",), least=0),
    "scale_sums": Tensor("float64", ("scaled", 2), least=0),
}


def scale_option() -> str:
    help_text = "rms: divide values by the running root mean square of their feature's non-zeros"
    chosen: str = option("none", help_text, CHOICES)
    return chosen


class ScalesFeatures(CompiledLearner):
    """A learner that may see scaled values. The root mean squares are in a store of their own, by the same keys."""

    feature_scale: str
    store: str
    bits: int
    _scale: RunningScale | None

    def _start_scale(self) -> None:
        check_choice("feature_scale", self.feature_scale, CHOICES)
        scale = None
        if self.feature_scale == "rms":
            kind = "hashed" if self.store == "hashed" else "table"
            scale = RunningScale(kind, int(self.bits))
        object.__setattr__(self, "_scale", scale)

    def _values_to_learn(
        self, block: Block, order: NDArray[np.int64] | None
    ) -> NDArray[np.float32]:
        """The values as the learner sees them: each by all that came before, its own square included."""
        if self._scale is None:
            return block.values
        return self._scale.learn(block.indptr, block.indices, block.values, block.weights, order)

    def _values(self, block: Block) -> NDArray[np.float32]:
        """The same, by what was learned."""
        if self._scale is None:
            return block.values
        return self._scale.apply(block.indices, block.values)

    def _on_values(
        self, keys: NDArray[np.int64], weights: Floats
    ) -> tuple[NDArray[np.int64], Floats]:
        """Weights for values as they are."""
        if self._scale is None:
            return keys, weights
        return keys, weights / self._scale.roots(keys)[:, None]

    def state(self) -> State:
        with self.lock:
            state: State = self._core.snapshot()
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
