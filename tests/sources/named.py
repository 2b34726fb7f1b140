"""Helpers for Blocks of named features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from riata import _core
from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import open_source

Row = list[tuple[str, float]]


def write(folder: Path, text: str | bytes, name: str) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def read(path: str, **options: Any) -> Block:
    return concatenate(list(open_source(path, **options)))


def rows(block: Block) -> list[Row]:
    """Names and values, row by row; every key is checked against its name."""
    assert block.names is not None
    assert block.name_offsets is not None
    names = []
    for entry in range(block.nnz):
        start, stop = block.name_offsets[entry : entry + 2]
        name = block.names[start:stop].tobytes()
        assert _core.key_of_name(name) == block.indices[entry]
        names.append(name.decode())
    values = block.values.tolist()
    pairs = list(zip(names, values, strict=True))
    return [pairs[a:b] for a, b in zip(block.indptr[:-1], block.indptr[1:], strict=True)]


def assert_same(a: Block, b: Block, names: bool = True) -> None:
    for field in ("indptr", "indices", "values", "labels", "weights", "offsets", "lines"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)
    if names:
        assert rows(a) == rows(b)


def drain(source: Any) -> tuple[list[Block], DataError | None]:
    """All Blocks that come, and the error that ends them."""
    taken = []
    try:
        for block in source:
            taken.append(block)
    except DataError as error:
        return taken, error
    return taken, None
