"""Rows of shards that a process has read, in memory for the rounds that follow.

They are what would be read again: that a file has changed since is noticed as before, by its size and time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import TypeAlias

from riata.block import Block
from riata.shards.plan import Watched
from riata.shards.split import Shard

Place: TypeAlias = tuple[str, Shard]
"""The digest of a plan, and one of its shards, with the marks of its files."""
NAMES, KEYS = "names", "keys"
"""Rows as they are read: with the names of their features, or with keys alone."""


@dataclass(frozen=True)
class Form:
    """How a task reads rows (`NAMES` or `KEYS`), and in which form they are kept for those that come after it."""

    read: str
    kept: str
    make: Callable[[Block], Block] | None = None
    """From keys to the form that is learned and kept, where that is another one."""


@dataclass(frozen=True)
class Rows:
    """All rows of a shard."""

    form: str
    blocks: tuple[Block, ...]
    count: int
    fingerprint: str

    @property
    def bytes(self) -> int:
        return sum(map(_bytes, self.blocks))


class Kept:
    """Rows of many shards, up to a limit of bytes.

    Rounds go over all shards in turn: so those that came first stay, and what has no room beside them is read again.
    Rows of another training make room.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[Place, Rows] = {}

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(rows.bytes for rows in self._rows.values())

    def find(self, place: Place) -> Rows | None:
        with self._lock:
            return self._rows.get(place)

    def keep(self, place: Place, rows: Rows, most: int) -> None:
        """Keep them, where they and those of the same plan do not take more than so many bytes."""
        with self._lock:
            self._rows.pop(place, None)
            left = most - rows.bytes - sum(known.bytes for known in self._rows.values())
            for other in [other for other in self._rows if other[0] != place[0]]:
                if left >= 0:
                    break
                left += self._rows.pop(other).bytes
            if left >= 0:
                self._rows[place] = rows

    def forget(self) -> None:
        with self._lock:
            self._rows.clear()


KEPT = Kept()
"""Of this process."""


def forget() -> None:
    """This process keeps no rows any more."""
    KEPT.forget()


class Reading:
    """The rows of a shard in the form that a task learns them in, from memory or read; then how many, and of what."""

    def __init__(self, watched: Watched, place: Place, form: Form, most: int) -> None:
        self._watched, self._place, self._form, self._most = watched, place, form, most
        self.rows, self.fingerprint = 0, ""

    def __iter__(self) -> Iterator[Block]:
        form, known = self._form, KEPT.find(self._place)
        if known is not None and known.form != form.read:
            known = known if form.make is not None and known.form == form.kept else None
        ready = known is not None and known.form == form.kept
        held: list[Block] = []
        room = self._most
        for block in self._watched if known is None else self._again(known):
            if form.make is not None and not ready:
                block = form.make(block)
            yield block
            if not ready and room > 0:
                kept = _nameless(block) if form.kept == KEYS else block
                held.append(kept)
                room -= _bytes(kept)
        if known is None:
            self.rows, self.fingerprint = self._watched.rows, self._watched.fingerprint
        else:
            self.rows, self.fingerprint = known.count, known.fingerprint
        if not ready and room > 0:
            rows = Rows(form.kept, tuple(held), self.rows, self.fingerprint)
            KEPT.keep(self._place, rows, self._most)

    def _again(self, known: Rows) -> Iterator[Block]:
        self._watched.shard.check()
        yield from known.blocks
        self._watched.shard.check()


def _nameless(block: Block) -> Block:
    first, last = int(block.indptr[0]), int(block.indptr[-1])
    return block.with_indices(block.indices[first:last])


def _bytes(block: Block) -> int:
    arrays = (getattr(block, field.name) for field in fields(Block))
    return sum(array.nbytes for array in arrays if hasattr(array, "nbytes"))
