"""Beyond one machine: a sketch on Dask workers, `auto` in shards, and the sums of many shards put together.

Workers have one thread each for their tasks. They are compared with a process that may use one processor only: by
itself it would read ahead in a second thread.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.paths import CACHE, ROOT
from benchmarks.problems import Absent, load
from benchmarks.ratio import Ratio, Run, Times, ratio
from riata.learners import Learner, Portfolio, Sketch
from riata.learners.ftrl import FTRL
from riata.record import Model
from riata.shards import Summary, plan_for, train_shards
from riata.shards.summary import header_of
from riata.sources import ReadOptions, open_source
from riata.training import evaluate, train

TITLE = "Shards, merge, Dask"
SHARDS = 16
GAMMA = 100.0
PARTS, FEATURES = 64, 500_000
KEEP = 1 << 30
ROUNDS = 3
NEAR = 1.02


def digest(model: Model) -> str:
    """Of all that was learned."""
    found = hashlib.sha256()
    for name, array in sorted(model.learner.state().items()):
        found.update(name.encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


# A sketch on workers


def parquet(rows: int | None = None) -> Path:
    """`medline` as Parquet: labels, and lists of the words of each row, in a row group a shard."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    problem = load("medline")
    n = rows or problem.n
    path = CACHE / f"medline-{n}.parquet"
    if not path.exists():
        X = problem.X[:n]
        words = pa.array([f"w{k}" for k in range(problem.d)]).take(pa.array(X.indices))
        lists = pa.ListArray.from_arrays(pa.array(X.indptr.astype(np.int32)), words)
        table = pa.table({"label": problem.y[:n], "words": lists})
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".partial")
        pq.write_table(table, scratch, row_group_size=-(-n // SHARDS))
        scratch.replace(path)
    return path


def sketch(outputs: int) -> Learner:
    return Sketch(gamma=GAMMA, outputs=outputs, n_jobs=1)


OPTIONS = ReadOptions(label="label", threads=1, scale="none")


def rows_of(run: Run) -> int | None:
    return 50_000 if run.quick else None


def on(client: Any, run: Run) -> Model:
    from riata.dask import train as train_on

    path = str(parquet(rows_of(run)))
    return train_on(client, path, sketch, shards=SHARDS, options=OPTIONS)


def here(run: Run, keep: int = 0) -> Model:
    plan = plan_for(str(parquet(rows_of(run))), sketch(1), OPTIONS, count=SHARDS)
    return train_shards(plan, sketch, keep=keep)


def digest_here(run: Run, keep: int = 0) -> str:
    return digest(here(run, keep))


def on_one_processor() -> None:
    """This process, from now on."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def speed(run: Run) -> Iterator[Ratio]:
    """A fit on two workers beside one process on one processor, and beside one that reads ahead on another.

    Of all rows, also quickly: of a quarter of them sums and scheduler take as long as learning.
    """
    from riata.dask import cluster_of

    run = replace(run, quick=False)
    parquet(rows_of(run))
    alone = ProcessPoolExecutor(1, get_context("spawn"), on_one_processor)
    with cluster_of("local:2") as two, alone:
        on(two, Run(quick=True))  # workers have imported what they need
        alone.submit(digest_here, Run(quick=True)).result()
        works: dict[str, Callable[[], object]] = {
            "two": partial(on, two, run),
            "alone": lambda: alone.submit(digest_here, run).result(),
            "keeping": lambda: alone.submit(digest_here, run, KEEP).result(),
            "here": partial(here, run),
        }
        found = run.turns(works, 1)
    what = f"a sketch, `medline` in {SHARDS} shards of Parquet: one process on one processor over two workers"
    yield ratio(what, found["alone"], found["two"], least=1.6)
    what = "the same process with its rows kept in memory, as workers keep theirs, over two workers"
    yield ratio(what, found["keeping"], found["two"])
    what = "the same process with a second processor to read ahead, over two workers"
    yield ratio(what, found["here"], found["two"])


def bits(run: Run) -> Iterator[Ratio]:
    """Of one process, and of one, two and three workers."""
    from riata.dask import cluster_of

    found = {digest(here(run))}
    for count in (1, 2, 3):
        with cluster_of(f"local:{count}") as client:
            found.add(digest(on(client, run)))
    rows = load("medline").n if rows_of(run) is None else rows_of(run)
    what = f"the same bits in one process and on 1, 2 and 3 workers, {rows:,} rows"
    if len(found) == 1:
        yield Ratio(what, 1.0, unit="", least=1.0)
    else:
        yield Ratio(what, None, least=1.0, unit="", why=f"WRONG: {len(found)} different models")


# `auto` in shards


def held_out(folder: Path) -> tuple[Path, Path]:
    """The messages of trec07p without each tenth, and those."""
    text = load("trec07p").vowpal_wabbit.read_bytes().splitlines(keepends=True)
    for name, lines in (
        ("train", [line for i, line in enumerate(text) if i % 10 != 9]),
        ("test", text[9::10]),
    ):
        (folder / f"{name}.vw").write_bytes(b"".join(lines))
    return folder / "train.vw", folder / "test.vw"


def rounds(run: Run) -> Iterator[Ratio]:
    """How many rounds it takes until the log loss on other messages is within 2 % of one machine's."""

    def make(outputs: int) -> Learner:
        return Portfolio(outputs=outputs)

    with tempfile.TemporaryDirectory() as folder:
        learn, test = held_out(Path(folder))
        one = evaluate(train(open_source(learn), make), open_source(test))["log_loss"]
        losses: list[float] = []
        train_shards(
            str(learn), make, shards=SHARDS, rounds=ROUNDS,
            on_progress=lambda m: losses.append(evaluate(m, open_source(test))["log_loss"]),
        )  # fmt: skip
    yield rounds_row(one, losses)


def rounds_row(one: float, losses: list[float]) -> Ratio:
    """The first round whose loss is near enough."""
    shown = ", ".join(f"{loss:.4f}" for loss in losses)
    detail = f"log loss {shown} after rounds 1 to {ROUNDS}, one machine {one:.4f}"
    what = f"rounds of `auto` on trec07p in {SHARDS} shards to within 2 % of one machine's log loss"
    enough = next((r for r, loss in enumerate(losses, 1) if loss <= NEAR * one), None)
    if enough is None:
        return Ratio(what, None, most=ROUNDS, unit=" rounds", why=f"missed: {detail}")
    return Ratio(what, float(enough), unit=" rounds", most=ROUNDS, detail=detail)


# Sums of many shards


def write_parts(folder: Path, count: int = PARTS, features: int = FEATURES) -> list[Path]:
    """Summaries of an FTRL model: nine of ten of some named features each."""
    rng = np.random.default_rng(0)
    known = features * 10 // 9
    lengths = rng.integers(6, 25, known)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    text = rng.integers(97, 123, starts[-1]).astype(np.uint8)
    keys = np.sort(rng.integers(0, 2**62, known))
    paths = []
    for number in range(1, count + 1):
        order = np.sort(rng.permutation(known)[:features])
        own = lengths[order]
        offsets = np.concatenate([[0], np.cumsum(own)]).astype(np.int64)
        at = np.repeat(starts[:-1][order] - offsets[:-1], own) + np.arange(offsets[-1])
        header = header_of("ftrl", FTRL().parameters(), "plan", count, 1, "") | {
            "training": {"data": "x", "classes": [0, 1], "class_weight": None, "schema": None},
            "numbers": [number], "fingerprints": {str(number): "0"}, "rows": 1, "loss": [0.0, 1.0],
        }  # fmt: skip
        arrays = {
            "keys": keys[order],
            "rows": np.abs(rng.normal(size=(features, 5))),
            "names": text[at],
            "name_offsets": offsets,
            "add.intercept": np.zeros(1),
            "add.clock": np.zeros(2),
            "add.examples": np.ones(1),
            "add.roots": np.ones(1),
            "max.features": np.zeros(1, dtype=np.int64),
            "max.rate_factor": np.ones(1),
        }
        paths.append(folder / f"part{number}")
        Summary(header, arrays).save(paths[-1])
    return paths


MERGE = """
import sys, time
from riata import tensor_file
from riata.shards.summary import Summary
from riata.shards.sums import merge_tree
def peak():
    return next(int(l.split()[1]) << 10 for l in open("/proc/self/status") if l.startswith("VmHWM"))
paths = sys.argv[2:]
before, start = peak(), time.perf_counter()
if sys.argv[1] == "read":
    for path in paths:
        Summary.load(path)
else:
    merge_tree(paths)
print(time.perf_counter() - start, peak() - before)
"""


def merging(run: Run) -> Iterator[Ratio]:
    """The time to add up summaries over that to read them; memory in parts. Each turn is a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_parts(Path(folder), 16 if run.quick else PARTS)
        size = paths[0].stat().st_size
        seconds: dict[str, list[float]] = {"read": [], "merge": []}
        memory: list[float] = []
        for _ in range(3):
            for name, taken in seconds.items():
                words = [sys.executable, "-c", MERGE, name, *map(str, paths)]
                done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
                took, held = map(float, done.stdout.split())
                taken.append(took)
                memory += [held / size] if name == "merge" else []
    times = {name: Times(tuple(s)) for name, s in seconds.items()}
    what = f"{len(paths)} summaries of {FEATURES:,} named features: merging over reading"
    note = f"{size / 1e6:.0f} MB each"
    yield ratio(what, times["merge"], times["read"], most=2.0, note=note)
    what = "peak of memory while they are merged, in summaries"
    yield Ratio(what, min(memory), float(np.median(memory)), unit=" parts", most=2.0)


def ratios(run: Run) -> Iterator[Ratio]:
    for part in (merging, speed, bits, rounds):
        try:
            yield from part(run)
        except (Absent, ImportError) as why:
            yield Ratio(part.__name__, None, why=str(why))
