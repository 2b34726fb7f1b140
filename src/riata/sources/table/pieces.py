"""Batches of a table of columns, in pieces that become Blocks in any thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riata.schema import Schema
from riata.sources.io.prefetch import ordered_map
from riata.sources.labels import BOOLS, LabelWords
from riata.sources.table.bad_rows import Part

if TYPE_CHECKING:
    from riata.sources.table.parquet_pages import Decoding

_CELLS = 1 << 18  # of a piece, which becomes a Block: rows times columns


class Batch:
    """Rows that were decoded at once, and become columns when some of them are needed first."""

    def __init__(self, batch: Any, reader: Any, path: str | None, first_row: int) -> None:
        self._made: Callable[[int, int], Part] | None = None
        self._given = (batch, path, first_row)
        self._reader = reader
        self._making = threading.Lock()

    def part(self, start: int, stop: int) -> Part:
        with self._making:
            if self._made is None:
                self._made = self._reader.columns_of(*self._given)
                del self._given
        return self._made(start, stop)


@dataclass(slots=True)
class Piece:
    batch: Batch
    start: int
    stop: int
    position: int
    path: str
    """As messages name it."""


Pieces = Generator["Piece | Decoding", None, None]


class Found:
    """What the first rows told; the same for all files and passes."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.schema: Schema | None = None
        self.words: LabelWords | None = None
        """The words that labels are, of all files."""
        self._bools = self._ready_made = False

    @property
    def label_names(self) -> list[Any] | None:
        """Where labels are words or bools: label i stands for the i-th."""
        if self.words is not None:
            return self.words.names
        if self._ready_made:
            return list((self.schema or Schema()).label_names or ()) or None
        return list(BOOLS) if self._bools else None

    def whole_schema(self) -> Schema | None:
        """The schema, with words that came later among its labels."""
        return None if self.schema is None else self.schema.with_words(self.label_names)

    def reader(self, types: Any, name: str) -> Any:
        from riata.sources.table.arrow import BatchReader

        return BatchReader(types, name, self.options, self.schema)

    def with_schema(
        self, reader: Any, batches: Iterator[Any], ahead: bool = True
    ) -> Generator[Any, None, None]:
        """The batches again, once the first of them said what the columns are.

        With `ahead` a thread of its own decodes the next one, while others make rows of the one before.
        """
        import pyarrow as pa

        held: list[Any] = []
        while sum(map(len, held)) < reader.rows_needed:
            batch = next(batches, None)
            if batch is None:
                break
            held.append(batch)
        heads = [_as_arrow(batch) for batch in held]
        head = pa.Table.from_batches(heads) if heads else reader.arrow_schema.empty_table()
        reader.find_schema(head.slice(0, reader.rows_needed))
        self.schema = reader.schema
        self._bools, self._ready_made = reader.bools, reader.ready_made
        if self.words is None:
            self.words = reader.words
        reader.words = self.words
        yield from held
        if not ahead:
            yield from batches
            return
        with closing(ordered_map(_itself, batches, threads=1, ahead=1)) as decoded:
            yield from decoded


def _itself(batch: Any) -> Any:
    return batch


def _as_arrow(batch: Any) -> Any:
    from riata.sources.table.arrow_arrays import flat

    return batch.decode().to_arrow() if hasattr(batch, "decode") else flat(batch)


def part_of(work: Piece | Decoding) -> tuple[Part, Piece] | None:
    """The rows of a piece; None for columns, which are only prepared for the pieces behind them."""
    if isinstance(work, Piece):
        return work.batch.part(work.start, work.stop), work
    with contextlib.suppress(Exception):  # raised again where rows are made of them
        work.columns()
    return None


def mixed(pieces: Sequence[Piece], decodings: Sequence[Decoding]) -> Iterator[Piece | Decoding]:
    """What can be done next to the pieces of a batch, evenly between them."""
    done = 0
    for i, piece in enumerate(pieces, 1):
        yield piece
        until = i * len(decodings) // len(pieces)
        yield from decodings[done:until]
        done = until
    yield from decodings[done:]


def cut(
    batch: Any, reader: Any, path: str | None, position: int, first_row: int = 0
) -> Iterator[Piece]:
    """A batch in pieces that take little memory as rows."""
    rows = rows_of(reader)
    shared = Batch(batch, reader, path, first_row)
    for start in range(0, len(batch), rows):
        yield Piece(shared, start, min(start + rows, len(batch)), position, path or reader.name)


def cut_all(batches: Iterator[Any], reader: Any, path: str | None, position: int) -> Pieces:
    first_row = 0
    for batch in batches:
        yield from cut(batch, reader, path, position, first_row)
        first_row += len(batch)


def rows_of(reader: Any) -> int:
    return max(256, _CELLS // max(1, len(reader.columns)))
