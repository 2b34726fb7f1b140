"""What the table store and single events cost."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import riata
from benchmarks.problems import load
from benchmarks.ratio import Ratio, Run, Times, ratio
from benchmarks.steps import AS_THEY_ARE, SCHEDULE
from riata.block import Block
from riata.learners import ElasticNet, TruncatedGradient
from riata.sources import open_source

TITLE = "Stores and single events"


def table_against_dense(run: Run) -> Iterator[Ratio]:
    problem = load("medline")
    block = next(iter(open_source(problem.X, (problem.y > 0).astype(np.float64))))
    far = replace(block, indices=block.indices.astype(np.int64) + 2**40)  # no small numbers
    rate = problem.eta0
    rules: dict[str, Callable[[str], Any]] = {
        "elastic net": lambda store: ElasticNet(
            l1=problem.l1, l2=problem.l2, store=store, eta0=rate, **SCHEDULE
        ),
        "truncated gradient": lambda store: TruncatedGradient(
            gravity=problem.l1, store=store, eta0=rate, **SCHEDULE
        ),
    }
    for rule, make in rules.items():
        found = run.turns(
            {
                "dense": lambda make=make: make("dense").learn(block),  # type: ignore[misc]
                "table": lambda make=make: make("table").learn(block),  # type: ignore[misc]
                "far": lambda make=make: make("table").learn(far),  # type: ignore[misc]
            },
            2 * run.repeat,
        )
        what = f"table over dense store, `medline`, {rule}"
        yield ratio(what, found["table"], found["dense"], most=2)
        yield ratio(f"{what}, 2^40 added to keys", found["far"], found["dense"], most=2)


def zipf_blocks(rows: int, nnz: int, seed: int) -> list[Block]:
    """Rows of features from a Zipf law over 3e9 numbers, spread over them so that neighbours mean nothing."""
    rng = np.random.default_rng(seed)
    blocks = []
    for start in range(0, rows, 50_000):
        n = min(50_000, rows - start)
        rank = rng.zipf(1.3, size=(n, nnz)).astype(np.uint64) % np.uint64(3_000_000_000)
        keys = (rank * np.uint64(2_654_435_761) % np.uint64(3_000_000_019)).astype(np.int64)
        keys.sort(axis=1)
        keep = np.ones_like(keys, dtype=bool)
        keep[:, 1:] = keys[:, 1:] != keys[:, :-1]
        indptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.int64)
        labels = (rng.random(n) < 0.3).astype(np.float64)
        values = np.ones(int(indptr[-1]), dtype=np.float32)
        blocks.append(Block(indptr, keys[keep], values, labels))
    return blocks


def three_billion(run: Run) -> Iterator[Ratio]:
    """A table over 3e9 nominal features beside a dense store of those that occur, renumbered."""
    rows, nnz = (500_000 if run.quick else 2_000_000), 50
    blocks = zipf_blocks(rows, nnz, 0)
    distinct = np.unique(np.concatenate([np.unique(b.indices) for b in blocks]))
    numbered = [
        Block(b.indptr, np.searchsorted(distinct, b.indices).astype(np.int32), b.values, b.labels)
        for b in blocks
    ]
    last: dict[str, TruncatedGradient] = {}

    def learn(store: str, data: list[Block]) -> None:
        last[store] = TruncatedGradient(gravity=1e-4, eta0=0.1, store=store, **SCHEDULE)
        for block in data:
            last[store].learn(block)

    found = run.turns(
        {"dense": lambda: learn("dense", numbered), "table": lambda: learn("table", blocks)}, 3
    )
    what = f"table over dense renumbered, 3e9 nominal features, {rows:,} x {nnz}"
    live, size = last["table"].n_live(), last["table"]._core.bytes
    note = f"{len(distinct):,} features seen, {live:,} alive"
    yield ratio(what, found["table"], found["dense"], most=2, note=note)
    yield Ratio(
        "bytes a live weight, the same",
        size / live,
        unit=" B",
        most=40,
        detail=f"{size / 1e6:.2f} MB",
    )


def some_events(rng: np.random.Generator, n: int) -> list[tuple[dict[str, float], bool]]:
    return [
        ({f"f{j}": float(v) for j, v in zip(rng.choice(5000, 60, replace=False), rng.random(60), strict=True)},
         bool(rng.random() < 0.5))
        for _ in range(n)
    ]  # fmt: skip


def time_of_events(make: Callable[[], Any], made_at_once: int, n: int = 6000) -> float:
    """Seconds an event, the making of events apart."""
    rng, model, spent = np.random.default_rng(0), make(), 0.0
    for _ in range(n // made_at_once):
        events = some_events(rng, made_at_once)
        start = time.perf_counter()
        for x, y in events:
            model.learn_one(x, y)
        spent += time.perf_counter() - start
    return spent / n


def single_events(run: Run) -> Iterator[Ratio]:
    """Events that were made just before, as a service or a stream has them, and 6,000 that lie in memory."""
    try:
        from river import linear_model, optim
    except ImportError as error:
        yield Ratio("river", None, why=f"not installed ({error})")
        return
    pairs: dict[str, tuple[float | None, Callable[[], Any], Callable[[], Any]]] = {
        "LogisticRegression(SGD)": (
            6.0,
            lambda: linear_model.LogisticRegression(optim.SGD(0.1)),
            lambda: riata.ElasticNetClassifier(eta0=0.1, l1=1e-6, l2=1e-6, **SCHEDULE),
        ),
        "LogisticRegression(FTRLProximal)": (
            15.0,
            lambda: linear_model.LogisticRegression(optim.FTRLProximal()),
            lambda: riata.FTRLClassifier(**AS_THEY_ARE),
        ),
        "LogisticRegression(SGD), elastic net's defaults here,": (
            None,
            lambda: linear_model.LogisticRegression(optim.SGD(0.1)),
            riata.ElasticNetClassifier,
        ),
    }
    for name, (least, theirs, ours) in pairs.items():
        for made_at_once, where in ((100, "just made"), (6000, "from far away in memory")):
            both = [
                (time_of_events(theirs, made_at_once), time_of_events(ours, made_at_once))
                for _ in range(3)
            ]
            them, us = (Times(tuple(times)) for times in zip(*both, strict=True))
            what = f"river {name} over `learn_one`, 60 keys, {where}"
            aim = least if made_at_once == 100 else None
            yield ratio(what, them, us, least=aim, note="an event")


def ftrl_from_text(run: Run) -> Iterator[Ratio]:
    try:
        from vowpalwabbit import Workspace
    except ImportError as error:
        yield Ratio("Vowpal Wabbit", None, why=f"not installed ({error})")
        return
    problem = load("medline")

    def theirs() -> None:
        with tempfile.TemporaryDirectory() as scratch:
            Workspace(
                f"--data {problem.vowpal_wabbit} --ftrl --l1 1 --loss_function logistic -b 18 --quiet "
                f"-f {Path(scratch) / 'model'}"
            ).finish()

    works = {
        "ours": lambda: riata.FTRLClassifier(l1=1.0, **AS_THEY_ARE).learn(str(problem.svmlight)),
        "theirs": theirs,
    }
    found = run.turns(works)
    what = "Vowpal Wabbit --ftrl over FTRL from svmlight text, `medline`"
    yield ratio(what, found["theirs"], found["ours"], least=4)


def ratios(run: Run) -> Iterator[Ratio]:
    for part in (table_against_dense, single_events, ftrl_from_text, three_billion):
        yield from part(run)
