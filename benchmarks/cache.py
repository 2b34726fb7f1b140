"""Passes over the cache beside passes over text, and beside Blocks in memory.

Each file without names for the hashed store, or with whatever a table of names takes. A pass is timed as a user
has it, with learning (`riata train --cache --passes N` makes the cache in its first pass and reads it in the
others), and without: text alone, text while the cache is made, the cache that this process has just made, and a
cache found on disk, whose every byte is checked. Learning alone has its Blocks in memory: no way of reading can
be faster.
"""

from __future__ import annotations

import gzip
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.paths import CACHE
from benchmarks.problems import Absent
from benchmarks.ratio import Ratio, Run, Times, ratio
from benchmarks.steps import SCHEDULE
from riata.atomic import atomic_write
from riata.block import Block
from riata.learners import ElasticNet
from riata.sources import Source, open_source
from riata.training import train

TITLE = "The cache"
WANTED = 4.0
"""Reading text over reading the cache."""
PAGE = 4096
KINDS = ("text", "making", "cache", "checked", "memory")


@dataclass(frozen=True)
class Case:
    """A file, and how it is learned."""

    name: str
    path: Path
    learner: dict[str, Any]
    bits: int

    def make(self, hashed: bool) -> ElasticNet:
        store: dict[str, Any] = {"store": "hashed", "bits": self.bits} if hashed else {}
        return ElasticNet(**SCHEDULE, **self.learner, **store)


FILES = (
    ("medline", "svmlight", (True,)),
    ("medline", "vw", (True, False)),
    ("trec07p", "vw", (True, False)),
    ("trec07p", "vw.gz", (True,)),
)
"""Problem, form, and whether for the hashed store."""
CLICKS = 1_000_000


def cases() -> Iterator[tuple[Case, bool]]:
    """Each with whether it is for the hashed store."""
    from benchmarks import clicks
    from benchmarks.problems import load

    for problem, form, hashed in FILES:
        try:
            p = load(problem)
        except Absent:
            continue
        path = p.svmlight if form.startswith("svmlight") else p.vowpal_wabbit
        path = compressed(path) if form.endswith(".gz") else path
        case = Case(f"`{problem}` {form}", path, {"l1": p.l1, "l2": p.l2, "eta0": p.eta0}, p.bits)
        yield from ((case, h) for h in hashed)
    numbers = {"l1": 1e-6, "l2": 1e-6, "eta0": 0.1}
    case = Case("clicks TSV", clicks.make(CLICKS)["tsv"], numbers, 22)
    yield from ((case, h) for h in (True, False))


def compressed(path: Path) -> Path:
    """The same file as .gz, which a run with several passes makes a cache of without being told to."""
    packed = path.with_name(f"{path.name}.gz")
    if not packed.exists():
        with (
            open(path, "rb") as text,
            atomic_write(str(packed)) as file,
            gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as out,
        ):
            shutil.copyfileobj(text, out, 1 << 20)
    return packed


class Kept:
    """Blocks in memory, as a source: what learning takes when reading takes nothing."""

    repeatable = True
    n_bytes: int | None = None
    n_rows: int | None = None
    bytes_read = 0

    def __init__(self, name: str, blocks: list[Block]) -> None:
        self.name, self._blocks = name, blocks

    def __iter__(self) -> Any:
        return iter(self._blocks)


class Contest:
    """One file with one store."""

    def __init__(self, case: Case, hashed: bool, memory: bool) -> None:
        self.case, self.hashed, self.memory = case, hashed, memory
        self.cache = CACHE / f"{case.path.name}-{os.getpid()}-{hashed}.riata-cache"
        self.taken: dict[tuple[str, bool], list[float]] = {}
        self.losses: set[float] = set()

    def open(self, cached: bool) -> Source:
        cache = self.cache if cached else None
        return open_source(self.case.path, names=not self.hashed, cache=cache)

    def turn(self, learning: bool) -> None:
        """Every way to read, once."""
        work = self._learn if learning else self._read
        self._time("text", learning, work, self.open(False))
        self.cache.unlink(missing_ok=True)
        both = self.open(True)
        self._time("making", learning, work, both)
        self._time("cache", learning, work, both)
        self._time("checked", learning, work, self.open(True))
        if learning and self.memory:
            kept = Kept("memory", list(self.open(True)))
            self._time("memory", learning, work, kept)

    def _time(
        self, kind: str, learning: bool, work: Callable[[Source], None], source: Source
    ) -> None:
        start = time.perf_counter()
        work(source)
        self.taken.setdefault((kind, learning), []).append(time.perf_counter() - start)

    def _learn(self, source: Source) -> None:
        model = train(source, self.case.make(self.hashed))
        self.losses.add(model.record.progressive_loss or 0.0)

    @staticmethod
    def _read(source: Source) -> None:
        """With a look at every page: a cache is mapped, and its bytes are read when they are used."""
        for block in source:
            for array in (block.indices, block.values, getattr(block, "numbers", None)):
                if array is not None:
                    array[:: PAGE // array.itemsize].max(initial=0)

    def times(self, kind: str, learning: bool) -> Times:
        return Times(tuple(self.taken[kind, learning]))

    def ratios(self) -> Iterator[Ratio]:
        if len(self.losses) != 1:
            raise ValueError(f"{self.case.name}: other bits from the cache: {self.losses}")
        store = "hashed" if self.hashed else "names"
        sizes = f"{self.case.path.stat().st_size / 1e6:.0f} MB, cache {self.cache.stat().st_size / 1e6:.0f} MB"
        for learning in (False, True):
            work = "reading and learning" if learning else "reading"
            text, cache = (self.times(kind, learning) for kind in ("text", "cache"))
            what = f"{work} text over the cache, {self.case.name}, {store}"
            yield ratio(what, text, cache, least=None if learning else WANTED, note=sizes)
            if learning and self.memory:
                memory = self.times("memory", learning)
                yield ratio(
                    f"the same over Blocks in memory, {self.case.name}, {store}", text, memory
                )


def ratios(run: Run) -> Iterator[Ratio]:
    for case, hashed in cases():
        contest = Contest(case, hashed, memory=not run.quick)
        try:
            for _ in range(run.repeat):
                for learning in (False, True):
                    contest.turn(learning)
            yield from contest.ratios()
        finally:
            contest.cache.unlink(missing_ok=True)
