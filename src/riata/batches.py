"""In which order a run learns the examples of a source, and which it keeps aside."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata.block import Block, concatenate
from riata.fingerprint import Watch
from riata.sources.source import iterate as iterate

if TYPE_CHECKING:
    from riata.sources import Source

MOST_HELD_OUT = 65_536
"""Rows that a held-out fraction keeps in memory; what it would take beyond them is learned."""

Blocks: TypeAlias = Generator[Block, None, None]
Order: TypeAlias = NDArray[np.int64]
Batch: TypeAlias = tuple[Block, Order | None]
"""Rows, and the order in which to learn them; None is all of them as they stand."""


class Batches:
    """The examples of a source, pass by pass, as a learner wants them.

    Which example comes when follows from the data, the settings and the number of the pass
    alone: not from where Blocks begin, nor from what was learned. So a run that was stopped can
    find its place.
    """

    def __init__(
        self,
        source: Source,
        prepare: Callable[[Block], Block],
        *,
        shuffle: int = 0,
        random_state: int = 0,
        fraction: float = 0.0,
        watch: Watch | None = None,
        look_ahead: Callable[[Blocks], Blocks] | None = None,
    ) -> None:
        self.look_ahead = look_ahead
        """What stands before the first Block is prepared: it may hold some back."""
        self.source, self.prepare, self.watch = source, prepare, watch
        self.shuffle, self.random_state, self.fraction = shuffle, random_state, fraction
        self.held_out: list[Block] = []
        self._held_out_complete = False

    def of_pass(self, pass_number: int) -> Generator[Batch, None, None]:
        """A pass over the data."""
        if self.watch is not None:
            self.watch.begin(pass_number + 1)
        batches = self._batches()
        if self.shuffle > 1:
            batches = self._shuffled(batches, pass_number)
        with closing(batches):
            yield from batches
        self._held_out_complete = True

    def _batches(self) -> Generator[Batch, None, None]:
        position = 0
        with closing(iterate(self.source)) as read:
            for block in read if self.look_ahead is None else self.look_ahead(read):
                if len(block) == 0:
                    continue
                as_read, block = block, self.prepare(block)
                if self.watch is not None:
                    self.watch.see(as_read)
                yield block, self._keep_aside(block, position) if self.fraction > 0 else None
                position += len(block)

    def _keep_aside(self, block: Block, position: int) -> Order | None:
        """Hold out row i of the data where floor(i * fraction) rises; the order of the others."""
        edges = np.floor(np.arange(position, position + len(block) + 1) * self.fraction)
        held = (np.diff(edges) > 0) & (edges[:-1] < MOST_HELD_OUT)
        if not held.any():
            return None
        if not self._held_out_complete:
            self.held_out.append(block.take(np.flatnonzero(held)))
        return np.flatnonzero(~held)

    def _shuffled(
        self, batches: Generator[Batch, None, None], pass_number: int
    ) -> Generator[Batch, None, None]:
        """Gather `shuffle` rows, learn them in random order, gather the next."""
        gathered: list[Batch] = []
        rows = chunk = 0
        for batch in batches:
            while rows + n_rows(batch) >= self.shuffle:
                cut = self.shuffle - rows
                now, batch = cut_batch(batch, cut)
                yield self._permuted([*gathered, now], pass_number, chunk)
                gathered, rows, chunk = [], 0, chunk + 1
            if n_rows(batch):
                gathered.append(batch)
                rows += n_rows(batch)
        if gathered:
            yield self._permuted(gathered, pass_number, chunk)

    def _permuted(self, batches: list[Batch], pass_number: int, chunk: int) -> Batch:
        starts = np.cumsum([0] + [len(block) for block, _ in batches])
        rows = np.concatenate(
            [
                start + (np.arange(len(block)) if order is None else order)
                for start, (block, order) in zip(starts[:-1], batches, strict=True)
            ]
        )
        random = np.random.Generator(np.random.PCG64([self.random_state, pass_number, chunk]))
        return concatenate([block for block, _ in batches]), random.permutation(rows)


def n_rows(batch: Batch) -> int:
    """How many rows of it are to be learned."""
    block, order = batch
    return len(block) if order is None else len(order)


def cut_batch(batch: Batch, cut: int) -> tuple[Batch, Batch]:
    """The first `cut` rows to learn, and the others."""
    block, order = batch
    if order is None:
        return (block[:cut], None), (block[cut:], None)
    return (block, order[:cut]), (block, order[cut:])


def labels_in_order(batch: Batch) -> NDArray[np.float64] | None:
    """The labels of a batch, as they are learned."""
    block, order = batch
    return block.labels if block.labels is None or order is None else block.labels[order]


def skip(batch: Batch, rows: int) -> Batch:
    """The batch without its first rows."""
    return cut_batch(batch, rows)[1] if rows else batch


def pieces(batch: Batch, cuts: Callable[[], int]) -> Generator[Batch, None, None]:
    """The batch cut up: each piece has as many rows as `cuts` says then, or what is left."""
    while n_rows(batch):
        piece, batch = cut_batch(batch, cuts())
        yield piece
