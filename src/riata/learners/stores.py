"""What learners share that keep their rows in an array by index, a table of what is alive, or a fixed size."""

from __future__ import annotations

from riata.block import Block
from riata.learners.base import (
    ARRAY_LIMIT,
    STORES,
    CompiledLearner,
    Floats,
    State,
    check_choice,
    check_number,
    offsets_for,
    only_keys,
)


class StoredLearner(CompiledLearner):
    """A learner with the parameters `store` and `bits`."""

    store: str
    bits: int
    _kept_in: str
    """The store that it is in: with "auto" that depends on the features."""

    def _check_store(self) -> None:
        check_choice("store", self.store, STORES)
        check_number("bits", self.bits, least=1, below=33)

    @property
    def n_features(self) -> int:
        """In a hashed store, by name they are as many as it has rows."""
        if self._kept_in != "hashed":
            return super().n_features
        features = int(self._core.features)
        named = self.t > 0 and not 0 < features <= ARRAY_LIMIT
        return 1 << self.bits if named else features

    def _offsets(self, block: Block) -> Floats | None:
        return offsets_for(block, self.outputs)

    def _is_keyed(self, state: State, width: int = 1) -> bool:
        """Whether this state can be kept in a table alone, with rows this wide."""
        return "names" in state or only_keys(state["keys"], width)

    def _is_far(self, block: Block) -> bool:
        """Whether it has numbers that an array of such rows could not reach."""
        return block.names is None and only_keys(block.indices, self._core.row_width)

    def _move_to_table(self, state: State) -> None:
        moved = self._remade(self.parameters() | {"store": "table"}, state)
        object.__setattr__(self, "_kept_in", "table")
        object.__setattr__(self, "_core", moved._core)  # at once: others may be reading

    def _set_rows(self, state: State) -> None:
        """Put the rows of `state()` into the core, with their names if they have some."""
        self._core.set_rows(
            state["keys"], state["rows"], state.get("names"), state.get("name_offsets")
        )
