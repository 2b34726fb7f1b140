"""A look at the footer of a Parquet file before pyarrow's: on numbers that stand for no codec, encoding or type
pyarrow ends the process.

The footer is a struct in Thrift's compact protocol. Only the numbers in question are looked at; everything else is
walked over, and must end where the footer does.
"""

from __future__ import annotations

from typing import Any

_CODECS, _ENCODINGS, _TYPES = range(8), range(10), range(8)
_DEEPEST = 40
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(
    13
)

_REPETITION, _DEFINITION = "repetition", "definition"
"""Histograms of levels: pyarrow ends the process where one is not as long as there are levels."""
_COLUMN = {1: _TYPES, 2: _ENCODINGS, 4: _CODECS, 16: {2: _REPETITION, 3: _DEFINITION}}
"""Fields of ColumnMetaData, and what their numbers may be."""
_FILE: dict[int, Any] = {4: {1: {3: _COLUMN}}}
"""The way there: row groups, their columns, the metadata of each."""


class BadFooter(ValueError):
    """The footer is damaged."""


class _Footer:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.chunks = 0
        self.histograms: list[tuple[int, str, int]] = []
        """Of which chunk, of what, and how long."""

    def varint(self) -> int:
        result = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            result |= (byte & 127) << shift
            if byte < 128:
                return result
            shift += 7
            if shift > 63:
                raise BadFooter("a number of the footer is too long")

    def number(self) -> int:
        n = self.varint()
        return (n >> 1) ^ -(n & 1)

    def skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self.data):
            raise BadFooter("the footer ends in the middle")

    def value(self, kind: int, allowed: Any, depth: int) -> None:
        """One value; `allowed` has the numbers that it may be, or, of a struct, those of its fields."""
        if kind in (_TRUE, _FALSE):
            return
        if kind == _BYTE:
            self.skip(1)
        elif kind in (_I16, _I32, _I64):
            n = self.number()
            if isinstance(allowed, range) and n not in allowed:
                raise BadFooter(
                    f"the footer names an encoding, codec or type {n}, which there is not"
                )
        elif kind == _DOUBLE:
            self.skip(8)
        elif kind == _BINARY:
            self.skip(self.varint())
        elif kind in (_LIST, _SET):
            self.items(allowed, depth)
        elif kind == _MAP:
            self.pairs(depth)
        elif kind == _STRUCT:
            self.struct(allowed if isinstance(allowed, dict) else {}, depth)
        else:
            raise BadFooter("the footer has a value of no kind")

    def items(self, allowed: Any, depth: int) -> None:
        head = self.data[self.at]
        self.at += 1
        count = head >> 4
        if count == 15:
            count = self.varint()
        kind = head & 15
        if isinstance(allowed, str):
            self.histograms.append((self.chunks - 1, allowed, count))
        if count > len(self.data):
            raise BadFooter("the footer has a list that is longer than the footer")
        for _ in range(count):
            if kind in (_TRUE, _FALSE):
                self.skip(1)
            else:
                self.value(kind, allowed, depth + 1)

    def pairs(self, depth: int) -> None:
        count = self.varint()
        if count > len(self.data):
            raise BadFooter("the footer has a map that is longer than the footer")
        if count:
            kinds = self.data[self.at]
            self.at += 1
            for _ in range(count):
                self.value(kinds >> 4, None, depth + 1)
                self.value(kinds & 15, None, depth + 1)

    def struct(self, allowed: dict[int, Any], depth: int) -> None:
        if depth > _DEEPEST:
            raise BadFooter("the footer is nested too deeply")
        self.chunks += allowed is _COLUMN
        field, data = 0, self.data
        while True:
            head = data[self.at]
            self.at += 1
            kind = head & 15
            if kind == _STOP:
                return
            field = field + (head >> 4) if head >> 4 else self.number()
            of_field = allowed.get(field)
            if (
                of_field is None and _I16 <= kind <= _I64
            ):  # most of them: numbers that may be anything
                while data[self.at] > 127:
                    self.at += 1
                self.at += 1
            else:
                self.value(kind, of_field, depth + 1)


def check_footer(data: bytes) -> list[tuple[int, str, int]]:
    """Raise BadFooter unless pyarrow can be asked about all columns of this footer, provided `check_levels` agrees.

    >>> check_footer(bytes([0]))
    []
    >>> check_footer(bytes([0x49, 0x1c, 0x19, 0x1c, 0x3c, 0x45, 0x40, 0, 0, 0, 0]))
    Traceback (most recent call last):
    riata.sources.table.parquet_footer.BadFooter: the footer names an encoding, codec or type 32, which there is not
    """
    footer = _Footer(data)
    try:
        footer.struct(_FILE, 0)
    except IndexError:
        raise BadFooter("the footer ends in the middle") from None
    return footer.histograms


def check_levels(histograms: list[tuple[int, str, int]], schema: Any, columns: int) -> None:
    """Raise BadFooter unless the histograms that `check_footer` found are as long as pyarrow's schema wants them."""
    for chunk, what, count in histograms:
        column = schema.column(chunk % max(1, columns))
        most = column.max_repetition_level if what == _REPETITION else column.max_definition_level
        if count not in (0, most + 1):
            raise BadFooter(
                f"the footer counts {count} levels of {what} where there are {most + 1}"
            )
