"""What every source of Blocks offers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Protocol, runtime_checkable

from riata.block import Block


@runtime_checkable
class Source(Protocol):
    """A stream of Blocks. Iterating over it is one pass over the data."""

    @property
    def name(self) -> str:
        """For messages and records: `train.svm`, `<stdin>`, `csr_matrix 200000 x 260941`."""

    @property
    def repeatable(self) -> bool:
        """Whether more than one pass is possible."""

    @property
    def n_bytes(self) -> int | None:
        """The size of the input (of a compressed file: as it lies on disk), if known."""

    @property
    def bytes_read(self) -> int:
        """How much of `n_bytes` the Blocks handed over in the current pass came from."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if known."""

    def __iter__(self) -> Iterator[Block]:
        """A new pass. Closing the iterator stops whatever runs beside it."""


def iterate(source: Source) -> Generator[Block, None, None]:
    """A generator over a source, so that closing it always reaches the source's own iterator."""
    iterator = iter(source)
    try:
        yield from iterator
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()


def split(block: Block, rows: int | None) -> Iterator[Block]:
    """The block in pieces of at most `rows` rows, without copying."""
    if rows is None or len(block) <= rows:
        yield block
        return
    for start in range(0, len(block), rows):
        yield block[start : start + rows]
