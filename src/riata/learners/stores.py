"""Where learners keep the rows of their features: an array by index, a table of what is alive, or a fixed size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.learners.base import CompiledLearner, State, check_choice, check_number, option

STORES = ("auto", "dense", "table", "hashed")
_ARRAY_LIMIT = 1 << 37
"""No array has so many rows or, where a row is many numbers, so many numbers: an address space has an end."""


def only_keys(indices: NDArray[Any], width: int = 1) -> bool:
    """Whether these features can be kept in a table alone: an array of rows this wide would be too large.

    >>> only_keys(np.array([1 << 60])), only_keys(np.array([1 << 33])), only_keys(np.array([1 << 33]), width=48)
    (True, False, True)
    """
    limit = _ARRAY_LIMIT // max(1, width)
    if len(indices) == 0 or np.iinfo(indices.dtype).max < limit:
        return False
    return bool(indices.max() >= limit)


def store_option() -> Any:
    """The parameter `store`, which the families that have it share."""
    return option(
        "auto",
        "an array by index (dense), a table of what is alive, or a fixed size (hashed); "
        "auto: dense for numbered features, table for named ones",
        STORES,
    )


def bits_option() -> Any:
    """The parameter `bits`, which goes with it."""
    return option(22, "the hashed store has 2^bits rows")


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
        named = self.t > 0 and not 0 < features <= _ARRAY_LIMIT
        return 1 << self.bits if named else features

    def _set_rows(self, state: State) -> None:
        """Put the rows of `state()` into the core, with their names if they have some."""
        self._core.set_rows(
            state["keys"], state["rows"], state.get("names"), state.get("name_offsets")
        )
