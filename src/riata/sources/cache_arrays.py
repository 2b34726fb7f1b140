"""The arrays of a Block as a cache holds them: in as few bytes as are quick to read."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block, GlossaryBlock

ALIGN = 64
"""Every array starts at a multiple of it."""

Entry: TypeAlias = list[Any]
"""An array: its field, how it is held, its length, its first element or how many parts it has."""
Pieces: TypeAlias = list[NDArray[Any]]
"""One array, as several that lie one behind another."""

_PLAIN: dict[str, Any] = {"i4": np.int32, "i8": np.int64, "f4": np.float32, "f8": np.float64}
_LENGTHS: dict[str, Any] = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32}
_HELD: dict[str, Any] = {
    **_PLAIN, **_LENGTHS,
    "numbers": np.uint32, "small": np.int8, "text": np.uint8,
}  # fmt: skip


def padded(size: int) -> int:
    return size + -size % ALIGN


class Encoder:
    """Entries, and the arrays that go to the file for them."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.arrays: list[Pieces] = []

    def add(self, field: str, kind: str, count: int, first: int, *arrays: Pieces) -> None:
        self.entries.append([field, kind, count, first])
        self.arrays += [[np.ascontiguousarray(a).view(np.uint8) for a in some] for some in arrays]

    def plain(self, field: str, pieces: Pieces) -> None:
        kind = next(kind for kind, dtype in _PLAIN.items() if pieces[0].dtype == dtype)
        self.add(field, kind, sum(map(len, pieces)), 0, pieces)

    def lengths(self, field: str, lengths: NDArray[Any]) -> None:
        largest = int(lengths.max()) if len(lengths) else 0
        kind = next(kind for kind, dtype in _LENGTHS.items() if largest <= np.iinfo(dtype).max)
        self.add(field, kind, len(lengths), 0, [lengths.astype(_LENGTHS[kind])])

    def rows(self, field: str, array: NDArray[np.float64]) -> None:
        """Labels or weights: mostly small whole numbers."""
        if len(array) and (array == 1).all():
            self.add(field, "ones", len(array), 0)
            return
        with np.errstate(invalid="ignore"):
            small = array.astype(np.int8)
        if small.astype(np.float64).tobytes() == array.tobytes():
            self.add(field, "small", len(array), 0, [small])
        else:
            self.plain(field, [array])

    def values(self, pieces: list[NDArray[np.float32]]) -> None:
        pieces = [np.ascontiguousarray(piece) for piece in pieces]
        count = sum(map(len, pieces))
        kind, held, others = _core.pack_values(pieces)
        if kind == "plain":
            self.plain("values", list(pieces))
        elif kind == "ones":
            self.add("values", kind, count, 0)
        else:
            self.add("values", kind, count, len(others), [held], [others])


def encode(blocks: list[Block], numbers: list[NDArray[np.uint32]]) -> Encoder:
    """Blocks of one kind as one, with the numbers of their names, if they have any."""
    out = Encoder()
    ends = [(int(block.indptr[0]), int(block.indptr[-1])) for block in blocks]
    out.lengths("indptr", np.concatenate([np.diff(block.indptr) for block in blocks]))
    both = list(zip(blocks, ends, strict=True))
    out.plain("indices", [block.indices[first:last] for block, (first, last) in both])
    out.values([block.values[first:last] for block, (first, last) in both])
    if numbers:
        out.add("numbers", "numbers", sum(map(len, numbers)), 0, list(numbers))
    for field in ("labels", "weights", "offsets"):
        if getattr(blocks[0], field) is not None:
            out.rows(field, np.concatenate([getattr(block, field) for block in blocks]))
    if blocks[0].lines is not None:
        lines = np.concatenate([block.lines for block in blocks if block.lines is not None])
        if len(lines) and (np.diff(lines) == 1).all():
            out.add("lines", "range", len(lines), int(lines[0]))
        else:
            out.plain("lines", [lines])
    return out


def encode_glossary(numbering: _core.Numbering) -> Encoder:
    out = Encoder()
    names, lengths = numbering.arrays()
    out.lengths("name_offsets", lengths)
    out.add("names", "text", len(names), 0, [names])
    return out


def decode(
    data: NDArray[np.uint8],
    path: str | None,
    entries: list[Entry],
    glossary: _core.Glossary | None = None,
) -> Block:
    """ValueError where the arrays do not fit together."""
    fields = arrays_of(data, entries)
    if glossary is None:
        return Block(path=path, **fields)
    made: Block = GlossaryBlock(path=path, glossary=glossary, **fields)
    return made


def decode_glossary(data: NDArray[np.uint8], entries: list[Entry]) -> _core.Glossary:
    fields = arrays_of(data, entries)
    return _core.Glossary(fields["names"], fields["name_offsets"])


def arrays_of(data: NDArray[np.uint8], entries: list[Entry]) -> dict[str, Any]:
    """What entries say of the bytes; views of them where they lie there as they are needed."""
    position = 0

    def take(kind: str, count: int) -> NDArray[Any]:
        nonlocal position
        dtype = np.dtype(_HELD[kind])
        size = count * dtype.itemsize
        array: NDArray[Any] = data[position : position + size].view(dtype)
        if len(array) != count:
            raise ValueError("an array lies outside")
        position += padded(array.nbytes)
        return array

    fields: dict[str, Any] = {}
    for field, kind, count, first in entries:
        array: NDArray[Any]
        if kind == "ones":
            array = ones(count, np.float32 if field == "values" else np.float64)
        elif kind == "range":
            array = np.arange(first, first + count, dtype=np.int64)
        elif kind == "mixed":
            bits = take("u1", (count + 7) // 8)
            array = _core.unpack_mixed(bits, take("f4", first), count)
        elif kind == "counts":
            array = _core.unpack_counts(take("u1", count), take("f4", first))
        elif kind == "small":
            array = take(kind, count).astype(np.float64)
        elif kind in _LENGTHS:
            array = _core.offsets(take(kind, count))
        else:
            array = take(kind, count)
        fields[field] = array
    return fields


_ones: dict[Any, NDArray[Any]] = {}


def ones(count: int, dtype: Any) -> NDArray[Any]:
    """So many ones, always the same: nobody writes to a Block."""
    held: NDArray[Any] | None = _ones.get(dtype)
    if held is None or len(held) < count:
        held = np.ones(max(count, 1 << 16), dtype)
        held.flags.writeable = False
        _ones[dtype] = held
    some: NDArray[Any] = held[:count]
    return some
