"""The frame of a cache: an Arrow IPC file, which pyarrow, polars and others open, written without them.

    "ARROW1", schema                     always the same bytes
    record batches and dictionaries      each at a multiple of 64, and all of its arrays
    end of the stream
    footer                               the schema again, where the batches are, and our index
    size of the footer, "ARROW1"

A batch of rows is a Block. Columns that the Block does not have are null: the schema is the same for
all files, so that a writer need not know what will come. Names of features are a dictionary that
grows: each of its parts stands behind the batches that have its numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from riata.sources.cache.flatbuffer import Scalar, Structs, Table, flatbuffer

ALIGN = 64
"""Every array, and every message, starts at a multiple of it."""

MAGIC = b"ARROW1\0\0"
END_OF_STREAM = struct.pack("<iI", -1, 0)
END = struct.Struct("<i6s")
"""Size of the footer, and the magic again."""
_VERSION = Scalar("h", 4)  # V5 of the metadata
_MARK = b"riata-cache"
_FORM = b"4"

_INT, _FLOAT, _LIST, _LARGE_BINARY, _LARGE_UTF8 = 2, 3, 12, 19, 20
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3

_NODE = struct.Struct("<qq")
_BUFFER = struct.Struct("<qq")
_PLACE = struct.Struct("<qi4xq")

ROWS = {"label": "f8", "weight": "f8", "offset": "f8", "line": "i8"}
"""Columns with a number for each row."""
LISTS = {"indices": "i4", "keys": "i8", "values": "f4", "names": "u4", "raw_names": "u4"}
"""Columns with a number for each feature of a row. Those of names are of a dictionary: of text, or of
bytes where some are no text."""
DICTIONARIES = {"names": 0, "raw_names": 1}


def padded(size: int, align: int = ALIGN) -> int:
    return size + -size % align


def _of_type(kind: str) -> tuple[int, Table]:
    """Which member of the union of types, and that."""
    bits = 8 * int(kind[1])
    if kind[0] == "f":
        return _FLOAT, (Scalar("h", 2 if bits == 64 else 1),)
    return _INT, _int(bits)


def _int(bits: int) -> Table:
    return Scalar("i", bits), Scalar("b", 1)


def _field(
    name: str, which: int, form: Table, children: list[Table], encoding: Table | None = None
) -> Table:
    return name.encode(), Scalar("b", 1), Scalar("B", which), form, encoding, children


def _list_of(name: str, kind: str) -> Table:
    encoding = None
    if name in DICTIONARIES:
        encoding = Scalar("q", DICTIONARIES[name]), _int(32)
        which: int = _LARGE_UTF8 if name == "names" else _LARGE_BINARY
        form: Table = ()
    else:
        which, form = _of_type(kind)
    return _field(name, _LIST, (), [_field("item", which, form, [], encoding)])


def _schema() -> Table:
    fields = [_field(name, *_of_type(kind), []) for name, kind in ROWS.items()]
    fields += [_list_of(name, kind) for name, kind in LISTS.items()]
    return Scalar("h", 0), fields, [(_MARK, _FORM)]


def _message(which: int, header: Table, body: int, ahead: int = 0) -> bytes:
    """The head of a message, such that what follows is at a multiple of 64."""
    made = flatbuffer((_VERSION, Scalar("B", which), header, Scalar("q", body)))
    made += bytes(-(ahead + 8 + len(made)) % ALIGN)
    return struct.pack("<ii", -1, len(made)) + made


HEAD = MAGIC + _message(_SCHEMA, _schema(), 0, ahead=len(MAGIC))
"""How every such file begins."""
_MARK_AT = HEAD.index(_MARK)


def is_cache(head: bytes) -> bool:
    """Whether a file that begins like this is one of ours, of whatever version."""
    old = head.startswith(b"riata-cache-")  # before they were Arrow files
    here = head[_MARK_AT : _MARK_AT + len(_MARK)] == _MARK
    return old or (head.startswith(MAGIC) and here)


@dataclass(frozen=True)
class Layout:
    """Where the arrays of a batch are in its body."""

    rows: int
    entries: int
    columns: tuple[str, ...]
    """Those that are not null."""

    @property
    def zeros(self) -> int:
        """Bytes that are zero, at the start: all columns that are null share them."""
        return padded(8 * self.rows + 4)

    def arrays(self) -> dict[str, tuple[str, int, int]]:
        """What is where: type, start, bytes. `rows` are the starts of all lists."""
        sizes = {"rows": ("i4", self.rows + 1)}
        sizes |= {c: (LISTS[c], self.entries) for c in LISTS if c in self.columns}
        sizes |= {c: (ROWS[c], self.rows) for c in ROWS if c in self.columns}
        found, at = {}, self.zeros
        for name, (kind, count) in sizes.items():
            size = count * int(kind[1])
            found[name] = kind, at, size
            at += padded(size)
        return found

    @property
    def body(self) -> int:
        _, start, size = list(self.arrays().values())[-1]
        return start + padded(size)

    def message(self) -> bytes:
        arrays = {name: where[1:] for name, where in self.arrays().items()}
        null = 0, (self.rows + 7) // 8
        nodes: list[tuple[int, ...]] = []
        buffers: list[tuple[int, ...]] = []
        for name in ROWS:
            there = name in arrays
            nodes.append((self.rows, 0 if there else self.rows))
            buffers += [(0, 0), arrays[name]] if there else [null, (0, 8 * self.rows)]
        for name in LISTS:
            there = name in arrays
            nodes += [(self.rows, 0 if there else self.rows), (self.entries if there else 0, 0)]
            buffers += [(0, 0), arrays["rows"]] if there else [null, (0, 4 * self.rows + 4)]
            buffers += [(0, 0), arrays[name] if there else (0, 0)]
        return _message(_BATCH, _batch(self.rows, nodes, buffers), self.body)


def _batch(
    rows: int, nodes: list[tuple[int, ...]], buffers: list[tuple[int, ...]]
) -> tuple[Scalar, Structs, Structs]:
    return Scalar("q", rows), Structs(_NODE, nodes), Structs(_BUFFER, buffers)


@dataclass(frozen=True)
class NamesLayout:
    """The same of a part of a dictionary."""

    column: str
    names: int
    size: int
    """Bytes of all of them."""
    base: int
    """How many names the parts before it have."""

    @property
    def text(self) -> int:
        return padded(8 * self.names + 8)

    @property
    def body(self) -> int:
        return self.text + padded(self.size)

    def message(self) -> bytes:
        buffers: list[tuple[int, ...]] = [
            (0, 0), (0, 8 * self.names + 8), (self.text, self.size)
        ]  # fmt: skip
        data = _batch(self.names, [(self.names, 0)], buffers)
        delta = Scalar("b", int(self.base > 0))
        which = Scalar("q", DICTIONARIES[self.column])
        return _message(_DICTIONARY, (which, data, delta), self.body)


def footer(
    dictionaries: list[tuple[int, int, int]],
    batches: list[tuple[int, int, int]],
    pairs: Mapping[bytes, bytes],
) -> bytearray:
    """Batches by start, size of their message, size of their body. The last value is the end of it, but
    for zeros to a multiple of 8."""
    places = [Structs(_PLACE, some) for some in (dictionaries, batches)]
    return flatbuffer((_VERSION, _schema(), *places, list(pairs.items())))


FOOTER_PAIRS = 4
"""The slot of the footer with keys and values."""


def check_index(index: Any) -> None:
    """ValueError unless an index is of the kind that a writer writes: who signs can write anything."""
    shape = {"about": dict, "rows": int, "paths": list, "glossaries": list, "blocks": list}
    if not isinstance(index, dict) or any(type(index.get(k)) is not t for k, t in shape.items()):
        raise ValueError("its index lacks a part")
    paths, glossaries, blocks = index["paths"], index["glossaries"], index["blocks"]
    if not all(path is None or isinstance(path, str) for path in paths):
        raise ValueError("a path is no text")
    for where in glossaries:
        if not (
            _are_sizes(where, (0, 1, 2, 3, 5, 6, 7), 8)
            and where[4] in DICTIONARIES
            and _is_size(where[7], 1 << 32)
        ):
            raise ValueError("a dictionary has no place")
    for where in blocks:
        if not (_are_sizes(where, (0, 1, 2, 3, 4, 5, 7), 9) and isinstance(where[6], str)):
            raise ValueError("a batch has no place")
        if where[7] >= len(paths):
            raise ValueError("a batch of no file")
        number = where[8]
        if number is not None and not (_is_size(number) and number < len(glossaries)):
            raise ValueError("a batch without its dictionary")
    if sum(where[4] for where in blocks) != index["rows"]:
        raise ValueError("another number of rows")
    if not _is_size(index["about"].setdefault("skipped", 0)):
        raise ValueError("how many lines were skipped is no number")


def _are_sizes(where: Any, which: tuple[int, ...], length: int) -> bool:
    return (
        isinstance(where, list) and len(where) == length and all(_is_size(where[i]) for i in which)
    )


def _is_size(number: Any, limit: int = 1 << 64) -> bool:
    return type(number) is int and 0 <= number < limit
