"""What every source of Blocks offers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Protocol, runtime_checkable

from riata.block import Block
from riata.errors import DataError


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


class Begun:
    """Whether a source has been read: what cannot be read again says so.

    >>> begun = Begun("make a list of them first")
    >>> begun.again("<stdin>", repeatable=False)
    >>> begun.again("<stdin>", repeatable=False)
    Traceback (most recent call last):
    riata.errors.DataError: <stdin> can be read only once; make a list of them first
    """

    def __init__(self, instead: str) -> None:
        self._instead, self._begun = instead, False

    def again(self, name: str, repeatable: bool) -> None:
        if self._begun and not repeatable:
            raise DataError(f"{name} can be read only once; {self._instead}")
        self._begun = True


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


def unweighed(source: Source) -> Source:
    """The source with its n-grams as they stand in the texts: what a learner weighs on the way."""
    inner: Source = source.__dict__.get("unweighed", source)
    return inner
