"""Later passes from the cache beside the first from text.

    python -m benchmarks.cache --repeat 5 [medline-svmlight trec07p clicks ...]

Each file twice: without names for the hashed store, and with whatever a table of names takes. A pass
is timed as a user has it, with learning (`riata train --cache --passes N` makes the cache in its first
pass and reads it in the others), and without: text alone, text while the cache is made, the cache that
this process has just made, and a cache found on disk, whose every byte is checked. Learning alone has
its Blocks in memory: no way of reading can be faster. All in turns in one run; each time is the best.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.paths import CACHE
from riata.atomic import atomic_write
from riata.block import Block
from riata.learners import ElasticNet
from riata.sources import Source, open_source
from riata.training import train

WANTED = 4.0
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
        return ElasticNet(**self.learner, **store)


def cases(chosen: list[str], rows: int) -> list[Case]:
    from benchmarks import clicks
    from benchmarks.problems import load

    found = []
    for problem, form in (
        ("medline", "svmlight"), ("medline", "vw"), ("trec07p", "vw"),
        ("medline", "svmlight.gz"), ("trec07p", "vw.gz"),
    ):  # fmt: skip
        name = f"{problem}-{form}"
        if chosen and name not in chosen and problem not in chosen:
            continue
        p = load(problem)
        path = p.svmlight if form.startswith("svmlight") else p.vowpal_wabbit
        path = compressed(path) if form.endswith(".gz") else path
        found.append(Case(name, path, {"l1": p.l1, "l2": p.l2, "eta0": p.eta0}, p.bits))
    if not chosen or "clicks" in chosen:
        numbers = {"l1": 1e-6, "l2": 1e-6, "eta0": 0.1}
        found.append(Case("clicks-tsv", clicks.make(rows)["tsv"], numbers, 22))
    return found


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
        self.cache = CACHE / f"{case.path.name}-{case.name}-{hashed}.riata-cache"
        self.best: dict[tuple[str, bool], float] = {}
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
        took = time.perf_counter() - start
        self.best[kind, learning] = min(took, self.best.get((kind, learning), took))

    def _learn(self, source: Source) -> None:
        model = train(source, self.case.make(self.hashed))
        self.losses.add(model.record.progressive_loss or 0.0)

    @staticmethod
    def _read(source: Source) -> None:
        """With a look at every page: a cache is mapped, and its bytes are met when they are used."""
        for block in source:
            for array in (block.indices, block.values, getattr(block, "numbers", None)):
                if array is not None:
                    array[:: PAGE // array.itemsize].max(initial=0)

    def line(self) -> str:
        assert len(self.losses) == 1, f"{self.case.name}: other bits from the cache: {self.losses}"
        sizes = f"{self.case.path.stat().st_size / 1e6:.0f}, {self.cache.stat().st_size / 1e6:.0f}"
        cells = [self.case.name, "hashed" if self.hashed else "table, names", sizes]
        for learning in (False, True):
            times = {
                kind: self.best[kind, learning] for kind in KINDS if (kind, learning) in self.best
            }
            cells += [f"{1e3 * times[kind]:.0f}" for kind in times]
            cells.append(f"{times['making'] / times['text']:.2f}")
            cells.append(f"{times['text'] / times['cache']:.1f}")
        return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="files to take; all unless named")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of clicks")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--store", choices=["hashed", "table"], help="one of them alone")
    given = parser.parse_args()
    stores = [s == "hashed" for s in ("hashed", "table") if given.store in (None, s)]
    contests = [Contest(c, s, True) for c in cases(given.names, given.rows) for s in stores]
    for _ in range(given.repeat):
        for contest in contests:
            for learning in (False, True):
                contest.turn(learning)
    print(
        "Milliseconds of a pass; MB of the text, of the cache. Wanted: text / cache at least 4.\n"
    )
    print("| | | | reading | | | | | | learning too | | | | | | |")
    head = ["text", "making the cache", "the cache", "checked"]
    ratios = ["making / text", "text / cache"]
    print(
        "| file | store | MB | "
        + " | ".join([*head, *ratios, *head, "from memory", *ratios])
        + " |"
    )
    print("|---|---|---:|" + "---:|" * 13)
    for contest in contests:
        print(contest.line())


if __name__ == "__main__":
    main()
