"""In which order a run learns the examples of a source, and which it keeps aside.

Fingerprints of what is read tell a run when the data is not what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block, concatenate
from riata.errors import ChangedData, DataError
from riata.sources.source import iterate as iterate

if TYPE_CHECKING:
    from riata.sources import Source

MOST_HELD_OUT = 65_536
"""Rows that a held-out fraction keeps in memory; what it would take beyond them is learned."""

FIRST_MARK = 1024
"""The first mark is after so many examples, the next after twice as many, and so on."""
_KIND = "2:"
"""How fingerprints of this kind begin: those of other kinds cannot be compared."""

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


@dataclass
class Seen:
    """Fingerprints of the examples in the order of the data, those held out included. JSON holds them.

    A fingerprint covers labels, weights, offsets, features and values of all examples from the first on.
    """

    marks: list[list[int | str]] = field(default_factory=list)
    """Number of examples and fingerprint, at doubling numbers of them, from the first pass."""
    rows: int | None = None
    """Examples of a whole pass; the last mark is there. None before the first pass is complete."""
    place: list[int | str] | None = None
    """The same of what the pass that is not complete had read when the model was as it is."""


class Watch:
    """Compares what a run reads with what it read before.

    >>> import numpy as np
    >>> from riata.sources import open_source
    >>> block = next(iter(open_source(np.eye(4), y=[1, -1, 1, -1])))
    >>> watch = Watch("eye")
    >>> watch.begin(1)
    >>> watch.see(block)
    >>> watch.end()
    >>> watch.begin(2)
    >>> try:
    ...     watch.see(block.with_labels(-block.labels, None))
    ... except ChangedData as error:
    ...     print(str(error)[:71])
    eye: changed between passes: examples 1 to 4 of pass 2 are not those of
    """

    def __init__(
        self, name: str, seen: Seen | None = None, learned_from: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.seen = Seen() if seen is None else replace(seen, marks=list(seen.marks))
        self._learned_from = " ".join(learned_from)
        known = [*self.seen.marks, *([self.seen.place] if self.seen.place else [])]
        if not all(str(mark).startswith(_KIND) for _, mark in known):
            raise DataError(
                f"{name}: the run to resume was saved by another version of Riata, whose fingerprints of the "
                "data cannot be compared: begin anew, or use --initial to learn on from its weights"
            )
        self._resume_at = self.seen.place
        self._resumed = seen is not None
        """Whether what the fingerprints are of was read by another run."""
        self.begin(1)

    def begin(self, pass_number: int) -> None:
        """A new pass, from the first example on."""
        self._print = _core.Fingerprint()
        self._pass = pass_number
        self._good = 0
        self._paths: dict[str, None] = {}
        self._expected = {int(rows): str(mark) for rows, mark in self.seen.marks}
        if self._resume_at is not None:
            self._expected[int(self._resume_at[0])] = str(self._resume_at[1])
        self._ahead = sorted(self._expected)

    @property
    def verified(self) -> bool:
        """Whether this pass has come past the place where the run to resume had stopped."""
        return self._resume_at is None or self._print.rows >= int(self._resume_at[0])

    def see(self, block: Block) -> None:
        """Rows that were read, in their order. ChangedData where they are not those of before."""
        if block.path is not None:
            self._paths[block.path] = None
        start, end = 0, len(block)
        total = self.seen.rows
        if total is not None and self._print.rows + end > total:
            raise DataError(
                f"{self._where()}: changed between passes: {total:,} examples in pass 1, more in pass "
                f"{self._pass}: train on a file that stays as it is, or use --cache"
            )
        while start < end:
            stop = min(end, start + self._next_mark() - self._print.rows)
            self._print.add(
                block.indptr, block.indices, block.values, block.labels, block.weights, block.offsets,
                start, stop,
            )  # fmt: skip
            start = stop
            self._mark()

    def end(self) -> None:
        """The pass is complete."""
        rows = self._print.rows
        if self.seen.rows is None:
            if not self.seen.marks or self.seen.marks[-1][0] != rows:
                self.seen.marks.append([rows, self._digest()])
            self.seen.rows = rows
        elif rows < self.seen.rows:
            raise DataError(
                f"{self.name}: changed between passes: {self.seen.rows:,} examples in pass 1, only "
                f"{rows:,} in pass {self._pass}: train on a file that stays as it is, or use --cache"
            )
        self.seen.place = self._resume_at = None
        self._resumed = False

    def here(self) -> list[int | str]:
        """How many examples of this pass were read, and their fingerprint."""
        return [self._print.rows, self._digest()]

    def remember_place(self) -> None:
        """All that was read so far in this pass is good: it was learned, held out, or waits to be learned."""
        self.seen.place = self.here()

    def forget_the_rest(self) -> None:
        """Something was wrong with what was read after the place remembered last: it may be mended."""
        if self.seen.rows is None:
            last = 0 if self.seen.place is None else int(self.seen.place[0])
            self.seen.marks = [mark for mark in self.seen.marks if int(mark[0]) <= last]

    def _digest(self) -> str:
        return f"{_KIND}{self._print.digest():016x}"

    def _next_mark(self) -> int:
        rows = self._print.rows
        while self._ahead and self._ahead[0] <= rows:
            self._ahead.pop(0)
        following = max(FIRST_MARK, 1 << rows.bit_length())
        return min(following, self._ahead[0]) if self._ahead else following

    def _mark(self) -> None:
        rows = self._print.rows
        before = self._expected.get(rows)
        doubled = rows >= FIRST_MARK and rows & (rows - 1) == 0
        if before is None and not (doubled and self.seen.rows is None):
            return
        now = self._digest()
        if before is not None and now != before:
            raise ChangedData(self._message(rows, before, now))
        last = int(self.seen.marks[-1][0]) if self.seen.marks else 0
        if doubled and self.seen.rows is None and rows > last:
            self.seen.marks.append([rows, now])
        self._good = rows
        self._paths = dict.fromkeys(list(self._paths)[-1:])

    def _message(self, rows: int, before: str, now: str) -> str:
        which = f"examples {self._good + 1:,} to {rows:,}"
        if self._resumed:
            return (
                f"{self._where()}: not the data that the run to resume has learned from: {which} have the "
                f"fingerprint {now} here, {before} in {self._learned_from or 'the data of that run'}: give "
                f"--resume the same data in the same order, or use --initial to learn other data"
            )
        return (
            f"{self._where()}: changed between passes: {which} of pass {self._pass} are not those of pass 1 "
            f"(fingerprint {before} then, {now} now): train on a file that stays as it is, or use --cache"
        )

    def _where(self) -> str:
        """The files in which the difference is, or the name of the source."""
        return " or ".join(self._paths) or self.name
