"""Batches of a table of columns, in pieces that become Blocks in any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from riata.sources.bad_rows import Part
from riata.sources.layout import Layout
from riata.sources.prefetch import ordered_map

_CELLS = 1 << 18  # of a piece, which becomes a Block: rows times columns


class Batch:
    """Rows that were decoded at once; whoever needs some of them first makes columns of them."""

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


Pieces = Generator[Piece, None, None]


class Found:
    """What the first rows told; the same for all files and passes."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.layout = Layout.from_json(options.given)
        self.fitted: dict[str, Any] | None = None

    def reader(self, schema: Any, name: str) -> Any:
        from riata.sources.arrow import BatchReader

        return BatchReader(schema, name, self.options, self.layout)

    def settle(self, reader: Any, batches: Iterator[Any]) -> Generator[Any, None, None]:
        """The batches again, once the first of them said what the columns are.

        A thread of its own decodes the next one, while others make rows of the one before.
        """
        import pyarrow as pa

        from riata.sources.arrow_arrays import flat

        held: list[Any] = []
        while sum(map(len, held)) < reader.rows_needed:
            batch = next(batches, None)
            if batch is None:
                break
            held.append(batch)
        heads = [flat(batch) for batch in held]
        head = pa.Table.from_batches(heads) if heads else reader.schema.empty_table()
        reader.settle(head.slice(0, reader.rows_needed))
        self.layout, self.fitted = reader.layout, reader.fitted
        yield from held
        with closing(ordered_map(_itself, batches, threads=1, ahead=1)) as decoded:
            yield from decoded


def _itself(batch: Any) -> Any:
    return batch


def part_of(piece: Piece) -> tuple[Part, Piece]:
    return piece.batch.part(piece.start, piece.stop), piece


def cut(
    batches: Iterable[Any], reader: Any, path: str | None, position: int, first_row: int = 0
) -> Pieces:
    """Batches in pieces that take little memory as rows."""
    rows = rows_of(reader)
    for batch in batches:
        shared = Batch(batch, reader, path, first_row)
        for start in range(0, len(batch), rows):
            yield Piece(shared, start, min(start + rows, len(batch)), position, path or reader.name)
        first_row += len(batch)


def rows_of(reader: Any) -> int:
    return max(256, _CELLS // max(1, len(reader.columns)))
