"""Blocks as batches of an Arrow file, and back: what is in the file is what is in the Block."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block, NameListBlock
from riata.sources.cache.arrow_file import ALIGN, ROWS, Layout, NamesLayout

Pieces: TypeAlias = list[NDArray[Any]]
"""One array, as several that lie one behind another."""

FIELDS = {"label": "labels", "weight": "weights", "offset": "offsets", "line": "lines"}
"""Columns by what a Block calls them."""


def encode(
    blocks: list[Block], numbers: list[NDArray[np.uint32]], names: str
) -> tuple[Layout, dict[str, Pieces]]:
    """Blocks of one kind as one batch; `numbers` of their names, if they have any, go to that column."""
    ends = [(int(block.indptr[0]), int(block.indptr[-1])) for block in blocks]
    both = list(zip(blocks, ends, strict=True))
    entries = sum(last - first for first, last in ends)
    pieces: dict[str, Pieces] = {"rows": [_starts(blocks)]}
    which = "indices" if blocks[0].indices.dtype == np.int32 else "keys"
    pieces[which] = [block.indices[first:last] for block, (first, last) in both]
    values = [block.values[first:last] for block, (first, last) in both]
    if not all(map(_are_ones, values)):
        pieces["values"] = list(values)
    if numbers:
        pieces[names] = list(numbers)
    for column, field in FIELDS.items():
        if getattr(blocks[0], field) is not None:
            pieces[column] = [getattr(block, field) for block in blocks]
    return Layout(sum(map(len, blocks)), entries, tuple(pieces)[1:]), pieces


def _starts(blocks: list[Block]) -> NDArray[np.int32]:
    starts = np.zeros(1 + sum(map(len, blocks)), np.int32)
    at = entries = 0
    for block in blocks:
        rows = len(block)
        shift = entries - int(block.indptr[0])
        np.add(block.indptr[1:], shift, out=starts[at + 1 : at + 1 + rows], casting="unsafe")
        at += rows
        entries += block.nnz
    return starts


def _are_ones(values: NDArray[np.float32]) -> bool:
    return bool((values[:256] == 1).all() and (values == 1).all())


def decode(
    data: NDArray[np.uint8],
    layout: Layout,
    path: str | None,
    name_list: _core.NameList | None,
    first: int = 0,
) -> Block:
    """The Block of a batch with this body: views of it. ValueError where the arrays do not fit together.

    `first` is the number of the first name of the list.
    """
    if len(data) != layout.body:
        raise ValueError("a batch of another size")
    found = {name: _view(data, *where) for name, where in layout.arrays().items()}
    if ("indices" in found) == ("keys" in found):
        raise ValueError("features without numbers, or with two")
    given: dict[str, Any] = {
        "indptr": _core.rows_of(found["rows"], layout.entries),
        "indices": found["indices" if "indices" in found else "keys"],
        "values": found["values"] if "values" in found else ones(layout.entries),
        "path": path,
    }
    given |= {FIELDS[column]: found[column] for column in ROWS if column in found}
    numbers = found.get("names", found.get("raw_names"))
    if given["indices"].min(initial=0) < 0:
        raise ValueError("a feature has a negative number")
    if name_list is None and numbers is None:
        return Block(**given)
    if name_list is None or numbers is None:
        raise ValueError("names without a name_list, or the other way round")
    if len(numbers) and not first <= numbers.min() <= numbers.max() < first + len(name_list):
        raise ValueError("a name that is not there")
    made: Block = NameListBlock(name_list=name_list, numbers=numbers, **given)
    return made


def encode_names(
    name_numbers: _core.NameNumbers | None, column: str, base: int
) -> tuple[NamesLayout, dict[str, Pieces]]:
    """Without a name_numbers: no names, but a dictionary."""
    names, ends = np.zeros(0, np.uint8), np.zeros(1, np.int64)
    if name_numbers is not None and len(name_numbers):
        names, ends = name_numbers.arrays()
    return NamesLayout(column, len(ends) - 1, len(names), base), {"ends": [ends], "text": [names]}


def decode_names(data: NDArray[np.uint8], layout: NamesLayout) -> _core.NameList:
    if len(data) != layout.body:
        raise ValueError("a dictionary of another size")
    ends = _view(data, "i8", 0, 8 * layout.names + 8)
    return _core.NameList(_view(data, "u1", layout.text, layout.size), ends, layout.base)


def _view(data: NDArray[np.uint8], kind: str, start: int, size: int) -> NDArray[Any]:
    if start % ALIGN or not 0 <= start <= start + size <= len(data):
        raise ValueError("an array lies outside")
    return data[start : start + size].view(kind)


_ones = np.ones(0, np.float32)


def ones(count: int) -> NDArray[np.float32]:
    """So many ones, always the same: nobody writes to a Block."""
    global _ones
    held = _ones
    if len(held) < count:
        held = np.ones(max(count, 1 << 16), np.float32)
        held.flags.writeable = False
        _ones = held
    return held[:count]
