"""Which fold an example is in: by a hash of its position, or of its group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DataError, SettingsError

Folds = NDArray[np.int64]


def mixed(values: NDArray[Any]) -> NDArray[np.uint64]:
    """64 bits each, in which every bit depends on all of the value's (the finaliser of SplitMix64)."""
    z = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class FoldOf:
    """The fold of every example of a Block, the same in every pass and however the stream is cut.

    `group` is None (the position decides), the name of a column or namespace, the number of a feature, an array
    with a group for each example, or given folds themselves (`given`: one array for all examples).
    """

    def __init__(
        self,
        folds: int,
        group: Any = None,
        *,
        random_state: int = 0,
        given: NDArray[Any] | None = None,
    ) -> None:
        if folds < 2:
            raise SettingsError(f"folds must be at least 2, not {folds}")
        self.folds = folds
        self._salt = mixed(np.array([random_state], dtype=np.uint64))
        self._given = None if given is None else np.asarray(given, dtype=np.int64)
        self._column: str | int | None = None
        self._known: dict[int, bool] = {}
        self._found = False
        if isinstance(group, str):
            self._column = int(group) if group.isdigit() else group
        elif isinstance(group, int | np.integer):
            self._column = int(group)
        elif group is not None:
            self._given = self._of_labels(np.asarray(group))

    @property
    def by_column(self) -> bool:
        return self._column is not None

    def _of_labels(self, groups: NDArray[Any]) -> Folds:
        if groups.ndim != 1:
            raise SettingsError("group is the name of a column, or one value for each example")
        _, codes = np.unique(groups, return_inverse=True)
        return self._folds(codes)

    def _folds(self, values: NDArray[Any]) -> Folds:
        hashed = mixed(values.astype(np.uint64) ^ self._salt)
        return (hashed % np.uint64(self.folds)).astype(np.int64)

    def of(self, block: Block, first: int) -> tuple[Folds, Block]:
        """The folds of a Block whose first row is example `first` of the pass; and the Block to learn: without
        the group's own features, which say nothing about examples of other groups."""
        positions = np.arange(first, first + len(block), dtype=np.uint64)
        if self._given is not None:
            if first + len(block) > len(self._given):
                raise SettingsError(
                    f"group has {len(self._given):,} values, and there are more examples than that"
                )
            return self._given[first : first + len(block)], block
        if self._column is None:
            return self._folds(positions), block
        return self._by_column(block, positions)

    def _by_column(self, block: Block, positions: NDArray[np.uint64]) -> tuple[Folds, Block]:
        mine = self._entries(block)
        if mine.any():
            self._found = True
        start = int(block.indptr[0])
        rows = np.repeat(np.arange(len(block)), np.diff(block.indptr))
        # an example without a value is a group of its own; one with several has the group of all together
        groups = positions + (np.uint64(1) << np.uint64(62))
        has = np.zeros(len(block), dtype=bool)
        has[rows[mine]] = True
        groups[has] = 0
        keys = block.indices[start : int(block.indptr[-1])][mine].astype(np.uint64)
        values = block.values[start : int(block.indptr[-1])][mine].view(np.uint32)
        np.bitwise_xor.at(groups, rows[mine], mixed(keys ^ mixed(values)))
        return self._folds(groups), without(block, mine)

    def _entries(self, block: Block) -> NDArray[np.bool_]:
        """Which entries are of the group's column."""
        start, stop = int(block.indptr[0]), int(block.indptr[-1])
        indices = block.indices[start:stop]
        if not block.named:
            if isinstance(self._column, str):
                raise SettingsError(
                    f"group={self._column!r} is the name of a column, and these features have numbers: give the "
                    f"number of a feature, or an array with the group of each example"
                )
            found: NDArray[np.bool_] = indices == self._column
            return found
        keys, places = np.unique(indices, return_index=True)
        wanted = str(self._column)
        starts = (f"{wanted}=", f"{wanted}^")
        for key, place in zip(keys.tolist(), places.tolist(), strict=True):
            if key not in self._known:
                name = block.name_of(start + place) or ""
                self._known[key] = name == wanted or name.startswith(starts)
        own = np.array([key for key in keys.tolist() if self._known[key]], dtype=indices.dtype)
        return np.isin(indices, own)

    def check_found(self, name: str, columns: Sequence[str]) -> None:
        """After the first rows: there must be such a column."""
        if self._column is None or self._found:
            return
        listed = f"; it has {', '.join(list(columns)[:20])}" if columns else ""
        raise DataError(
            f"{name}: no example has a value in the group column {self._column!r}{listed}"
        )


def without(block: Block, entries: NDArray[np.bool_]) -> Block:
    """The Block without these entries."""
    if not entries.any():
        return block
    kept = np.flatnonzero(~entries)
    rows = np.repeat(np.arange(len(block)), np.diff(block.indptr))
    counts = np.bincount(rows[kept], minlength=len(block))
    start = int(block.indptr[0])
    single = block[:]  # from entry 0 on
    whole = Block(
        indptr=np.arange(len(entries) + 1, dtype=np.int64),
        indices=block.indices[start : start + len(entries)],
        values=block.values[start : start + len(entries)],
        names=single.names,
        name_offsets=single.name_offsets,
    ).take(kept)
    indptr = np.zeros(len(block) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    return Block(
        indptr=indptr,
        indices=whole.indices,
        values=whole.values,
        labels=block.labels,
        weights=block.weights,
        names=whole.names,
        name_offsets=whole.name_offsets,
        path=block.path,
        lines=block.lines,
        offsets=block.offsets,
    )
