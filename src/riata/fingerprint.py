"""Fingerprints of what a run reads, so that it notices when the data is not what it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from riata import _core
from riata.block import Block
from riata.errors import ChangedData, DataError

FIRST_MARK = 1024
"""The first mark is after so many examples, the next after twice as many, and so on."""
_KIND = "2:"
"""How fingerprints of this kind begin: those of other kinds cannot be compared."""


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
            raise ChangedData(self._complaint(rows, before, now))
        last = int(self.seen.marks[-1][0]) if self.seen.marks else 0
        if doubled and self.seen.rows is None and rows > last:
            self.seen.marks.append([rows, now])
        self._good = rows
        self._paths = dict.fromkeys(list(self._paths)[-1:])

    def _complaint(self, rows: int, before: str, now: str) -> str:
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
