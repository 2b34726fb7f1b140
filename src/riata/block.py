"""Block: some rows of a sparse data set. The one unit that flows through Riata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from riata import _core

Index = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows in compressed form, as a CSR matrix holds them, with their labels, weights and offsets.

    Row i has the features `indices[indptr[i]:indptr[i + 1]]` with the `values` beside them: each
    at most once, none of them zero, infinite or NaN. Sources see to that. Where features are
    numbered, the indices are those numbers, ascending. Where they are named, the indices are the
    63-bit keys of the names (`riata._core.key_of_name`), in the order of the data, and the names
    may be there too: that of entry k is `names[name_offsets[k]:name_offsets[k + 1]]`, in UTF-8.

    >>> import numpy as np
    >>> block = Block(
    ...     indptr=np.array([0, 2, 3]),
    ...     indices=np.array([0, 4, 2], dtype=np.int32),
    ...     values=np.array([1, 0.5, 2], dtype=np.float32),
    ...     labels=np.array([1.0, 0.0]),
    ... )
    >>> len(block), block.nnz
    (2, 3)
    >>> block[1:].values
    array([2.], dtype=float32)
    """

    indptr: NDArray[np.int64]
    indices: Index
    values: NDArray[np.float32]
    labels: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None
    names: NDArray[np.uint8] | None = None
    name_offsets: NDArray[np.int64] | None = None
    path: str | None = None
    """Where the rows came from, for messages."""
    lines: NDArray[np.int64] | None = None
    """The line of `path` that each row stood on, counted from 1."""
    offsets: NDArray[np.float64] | None = None
    """What is added to the score of each row, and not learned: an initial prediction. None: nothing."""

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def named(self) -> bool:
        """Whether the names of features are there."""
        return self.names is not None

    @property
    def nnz(self) -> int:
        """How many values there are in all rows."""
        return int(self.indptr[-1] - self.indptr[0])

    def with_indices(
        self,
        indices: NDArray[Any],
        names: NDArray[np.uint8] | None = None,
        name_offsets: NDArray[np.int64] | None = None,
    ) -> Block:
        """The same rows with other numbers for their features, an index an entry."""
        first, last = int(self.indptr[0]), int(self.indptr[-1])
        return Block(
            indptr=self.indptr - first,
            indices=indices,
            values=self.values[first:last],
            labels=self.labels,
            weights=self.weights,
            offsets=self.offsets,
            path=self.path,
            lines=self.lines,
            names=names,
            name_offsets=name_offsets,
        )

    def __getitem__(self, rows: slice) -> Block:
        """Consecutive rows, without copying."""
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError("a Block can be cut only into consecutive rows")
        stop = max(start, stop)
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        return Block(
            indptr=self.indptr[start : stop + 1] - first,
            indices=self.indices[first:last],
            values=self.values[first:last],
            labels=None if self.labels is None else self.labels[start:stop],
            weights=None if self.weights is None else self.weights[start:stop],
            names=self.names,
            name_offsets=None if self.name_offsets is None else self.name_offsets[first : last + 1],
            path=self.path,
            lines=None if self.lines is None else self.lines[start:stop],
            offsets=None if self.offsets is None else self.offsets[start:stop],
        )

    def take(self, rows: NDArray[np.intp]) -> Block:
        """The given rows, in the given order, copied."""
        indptr, where = self._entries(rows)
        names, name_offsets = _take_names(self, where)
        return Block(
            indptr=indptr,
            indices=self.indices[where],
            values=self.values[where],
            labels=None if self.labels is None else self.labels[rows],
            weights=None if self.weights is None else self.weights[rows],
            names=names,
            name_offsets=name_offsets,
            path=self.path,
            lines=None if self.lines is None else self.lines[rows],
            offsets=None if self.offsets is None else self.offsets[rows],
        )

    def _entries(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where these rows begin when they lie one behind another, and where their entries are now."""
        counts = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(counts, out=indptr[1:])
        return indptr, np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], counts)

    def with_labels(
        self, labels: NDArray[np.float64] | None, weights: NDArray[np.float64] | None
    ) -> Block:
        """The same rows with other labels and weights."""
        return replace(self, labels=labels, weights=weights)

    def where(self, row: int) -> str:
        """How to name a row in a message: `file:line`, or `row 17` where there is no file."""
        if self.path is None or self.lines is None:
            return f"row {row}"
        return f"{self.path}:{int(self.lines[row])}"

    def name_of(self, entry: int) -> str | None:
        """The name of the feature at this place of `indices`, where names are known."""
        if self.names is None or self.name_offsets is None:
            return None
        start, stop = self.name_offsets[entry : entry + 2]
        return self.names[start:stop].tobytes().decode("utf-8", "replace")


class NameListBlock(Block):
    """A Block whose names are in a name_list: entry k has the name of the feature `numbers[k]`.

    As such a cache has them. `names` and `name_offsets` are made when somebody asks; learners that want
    few of the names ask the name_list instead.
    """

    __slots__ = ("_flat", "name_list", "numbers")

    _flat: tuple[NDArray[np.uint8], NDArray[np.int64]] | None
    name_list: _core.NameList
    numbers: NDArray[np.uint32]

    def __new__(cls, *given: Any, name_list: Any = None, **more: Any) -> Any:
        """With names instead of a name_list, as `dataclasses.replace` has it: a Block."""
        return Block(*given, **more) if name_list is None else object.__new__(cls)

    def __init__(self, *, name_list: Any, numbers: NDArray[np.uint32], **given: Any) -> None:
        for field in fields(Block):
            if field.name not in ("names", "name_offsets"):
                object.__setattr__(self, field.name, given.get(field.name))
        for name, value in (("name_list", name_list), ("numbers", numbers), ("_flat", None)):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> Any:
        return Block, tuple(getattr(self, field.name) for field in fields(Block))

    @property
    def named(self) -> bool:
        return True

    @property
    def names(self) -> NDArray[np.uint8]:
        return self._names()[0]

    @property
    def name_offsets(self) -> NDArray[np.int64]:
        return self._names()[1]

    def _names(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        if self._flat is None:
            object.__setattr__(self, "_flat", self.name_list.names(self.numbers))
        assert self._flat is not None
        return self._flat

    def _with_numbers(self, block: Block, numbers: NDArray[np.uint32]) -> Block:
        given = {f.name: getattr(block, f.name) for f in fields(Block) if "name" not in f.name}
        made: Block = NameListBlock(name_list=self.name_list, numbers=numbers, **given)
        return made

    def _nameless(self) -> Block:
        return Block(
            **{f.name: getattr(self, f.name) for f in fields(Block) if "name" not in f.name}
        )

    def __getitem__(self, rows: slice) -> Block:
        start, stop, _ = rows.indices(len(self))
        first, last = int(self.indptr[start]), int(self.indptr[max(start, stop)])
        return self._with_numbers(self._nameless()[rows], self.numbers[first:last])

    def take(self, rows: NDArray[np.intp]) -> Block:
        numbers = self.numbers[self._entries(rows)[1]]
        return self._with_numbers(self._nameless().take(rows), numbers)

    def with_labels(
        self, labels: NDArray[np.float64] | None, weights: NDArray[np.float64] | None
    ) -> Block:
        return self._with_numbers(self._nameless().with_labels(labels, weights), self.numbers)

    def name_of(self, entry: int) -> str | None:
        text, _ = self.name_list.names(self.numbers[entry : entry + 1])
        return text.tobytes().decode("utf-8", "replace")


def _take_names(
    block: Block, where: NDArray[np.int64]
) -> tuple[NDArray[np.uint8] | None, NDArray[np.int64] | None]:
    if block.names is None or block.name_offsets is None:
        return None, None
    return take_names(block.names, block.name_offsets, where)


def take_names(
    names: NDArray[np.uint8], name_offsets: NDArray[np.int64], where: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The names at these places, one behind another, and where each begins."""
    lengths = np.diff(name_offsets)[where]
    offsets = np.zeros(len(where) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    bytes_at = np.arange(offsets[-1]) + np.repeat(name_offsets[where] - offsets[:-1], lengths)
    return names[bytes_at], offsets


def concatenate(blocks: list[Block]) -> Block:
    """One Block with the rows of all."""
    if len(blocks) == 1:
        return blocks[0]
    indices: Index = np.concatenate([b.indices for b in blocks])
    starts = np.cumsum([0] + [b.nnz for b in blocks])
    pointers = [b.indptr[1:] - b.indptr[0] + s for b, s in zip(blocks, starts[:-1], strict=True)]
    labels = [b.labels for b in blocks if b.labels is not None]
    weights = [b.weights for b in blocks if b.weights is not None]
    lines = [b.lines for b in blocks if b.lines is not None]
    named = all(b.named for b in blocks)
    path = blocks[0].path if len({b.path for b in blocks}) == 1 else None
    numbered = _common_name_list(blocks)
    if numbered is not None:
        named = False
    joined = Block(
        indptr=np.concatenate([np.zeros(1, dtype=np.int64), *pointers]),
        indices=indices,
        values=np.concatenate([b.values for b in blocks]),
        labels=np.concatenate(labels) if len(labels) == len(blocks) else None,
        weights=np.concatenate(weights) if len(weights) == len(blocks) else None,
        names=_join_names(blocks) if named else None,
        name_offsets=_join_offsets(blocks) if named else None,
        path=path,
        lines=np.concatenate(lines) if path and len(lines) == len(blocks) else None,
        offsets=_join_row_offsets(blocks),
    )
    if numbered is None:
        return joined
    return numbered[0]._with_numbers(joined, np.concatenate([b.numbers for b in numbered]))


def _common_name_list(blocks: list[Block]) -> list[NameListBlock] | None:
    """The same Blocks, if all have their names in one name_list."""
    numbered = [b for b in blocks if isinstance(b, NameListBlock)]
    same = len(numbered) == len(blocks) and len({id(b.name_list) for b in numbered}) == 1
    return numbered if same else None


def _join_row_offsets(blocks: list[Block]) -> NDArray[np.float64] | None:
    """None only where no Block has any: those of a Block without are 0."""
    if all(b.offsets is None for b in blocks):
        return None
    return np.concatenate([np.zeros(len(b)) if b.offsets is None else b.offsets for b in blocks])


def _join_names(blocks: list[Block]) -> NDArray[np.uint8]:
    parts = []
    for b in blocks:
        assert b.names is not None
        assert b.name_offsets is not None
        parts.append(b.names[b.name_offsets[0] : b.name_offsets[-1]])
    return np.concatenate(parts)


def _join_offsets(blocks: list[Block]) -> NDArray[np.int64]:
    lengths = [np.diff(b.name_offsets) for b in blocks if b.name_offsets is not None]
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(lengths))])


def event_block(
    features: Mapping[str, Any], label: float = 0.0, weight: float = 1.0, key: bytes | None = None
) -> Block:
    """One event of named features as a Block."""
    from riata import _core

    _core.check_event(label, weight)
    keys, values, names, offsets = _core.event(features, key)
    return Block(
        indptr=np.array([0, len(keys)], dtype=np.int64),
        indices=keys,
        values=values,
        labels=np.array([float(label)]),
        weights=np.array([float(weight)]),
        names=names,
        name_offsets=offsets,
    )
