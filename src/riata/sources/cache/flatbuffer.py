"""Just enough FlatBuffers to say what is in an Arrow file, and to find one's own words in it again.

A table is a tuple of what is in its slots, in the order of the schema: None where there is nothing, a
`Scalar`, a `Structs`, `bytes` for a string, a list of tables for a vector of them, or another table.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Scalar:
    """A number, as `struct` writes it."""

    code: str
    value: int


@dataclass(frozen=True)
class Structs:
    """A vector of structs, or of numbers."""

    layout: struct.Struct
    items: Sequence[tuple[int, ...]]


Table: TypeAlias = tuple[Any, ...]


def flatbuffer(root: Table) -> bytearray:
    """The bytes of a table with all that is in it, a multiple of 8; references point forwards only.

    What a table holds lies behind it in the order of its slots, so the last string of the last table is
    the end of it all.
    """
    out = bytearray(8)
    struct.pack_into("<I", out, 0, _put(out, root))
    _pad(out, 8)
    return out


def _pad(out: bytearray, align: int, ahead: int = 0) -> None:
    out.extend(bytes(-(len(out) + ahead) % align))


def _put(out: bytearray, item: Any) -> int:
    """Where it was put."""
    if isinstance(item, tuple):
        return _put_table(out, item)
    if isinstance(item, bytes):
        _pad(out, 4)
        start = len(out)
        out += struct.pack("<I", len(item)) + item + b"\0"
        return start
    _pad(out, 8, ahead=4)  # so that what follows the count is at a multiple of 8
    start = len(out)
    if isinstance(item, Structs):
        out += struct.pack("<I", len(item.items))
        for values in item.items:
            out += item.layout.pack(*values)
        return start
    out += struct.pack("<I", len(item)) + bytes(4 * len(item))
    for i, table in enumerate(item):
        _refer(out, start + 4 + 4 * i, _put(out, table))
    return start


def _put_table(out: bytearray, slots: Table) -> int:
    """A vtable, then the table at a multiple of 8: its numbers, the widest first, then references."""
    sizes = [
        struct.calcsize(slot.code) if isinstance(slot, Scalar) else 4 if slot is not None else 0
        for slot in slots
    ]
    places, end = [0] * len(slots), 4
    for i in sorted(range(len(slots)), key=lambda i: -sizes[i]):
        if sizes[i]:
            places[i] = end + -end % sizes[i]
            end = places[i] + sizes[i]
    vtable = struct.pack(f"<{2 + len(slots)}H", 4 + 2 * len(slots), end, *places)
    _pad(out, 8, ahead=len(vtable))
    out += vtable
    start = len(out)
    out += struct.pack("<i", len(vtable)) + bytes(end - 4)
    for slot, place in zip(slots, places, strict=True):
        if isinstance(slot, Scalar):
            struct.pack_into(f"<{slot.code}", out, start + place, slot.value)
        elif slot is not None:
            _refer(out, start + place, _put(out, slot))
    return start


def _refer(out: bytearray, place: int, target: int) -> None:
    struct.pack_into("<I", out, place, target - place)


def metadata(data: bytes, slot: int) -> dict[bytes, bytes]:
    """The pairs of keys and values in that slot of the root table. ValueError where bytes make no sense."""
    try:
        pairs = _follow(data, _follow(data, 0, None), slot)
        found: dict[bytes, bytes] = {}
        for i in range(_number(data, pairs)):
            pair = _follow(data, pairs + 4 + 4 * i, None)
            key, value = (_string(data, _follow(data, pair, which)) for which in (0, 1))
            found[key] = value
        return found
    except struct.error:
        raise ValueError("a reference beyond the end") from None


def _number(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", data, place)[0])


def _follow(data: bytes, place: int, slot: int | None) -> int:
    """Where a reference leads: the one at this place, or in this slot of the table there."""
    if slot is not None:
        vtable = place - struct.unpack_from("<i", data, place)[0]
        if vtable < 0:
            raise ValueError("a table without slots")
        size = struct.unpack_from("<H", data, vtable)[0]
        within = struct.unpack_from("<H", data, vtable + 4 + 2 * slot)[0]
        if size < 6 + 2 * slot or within == 0:
            raise ValueError("an empty slot")
        place += within
    return place + _number(data, place)


def _string(data: bytes, place: int) -> bytes:
    return data[place + 4 : place + 4 + _number(data, place)]
