"""`python -m benchmarks.stores`: what the table store and single events cost, as ratios in one run."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import riata
from benchmarks.problems import load
from riata.block import Block
from riata.learners import ElasticNet, TruncatedGradient
from riata.sources import open_source


def best(work: Callable[[], Any], turns: int = 5) -> float:
    """The shortest of a few runs, in seconds."""
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def line(name: str, ratio: float, note: str) -> None:
    print(f"| {name} | {ratio:.2f}x | {note} |", flush=True)


def table_against_dense() -> None:
    problem = load("medline")
    block = next(iter(open_source(problem.X, (problem.y > 0).astype(np.float64))))
    far = replace(
        block, indices=block.indices.astype(np.int64) + 2**40
    )  # no small numbers any more
    rates = {"eta0": problem.eta0}
    rules = {
        "elastic net": lambda store: ElasticNet(l1=problem.l1, l2=problem.l2, store=store, **rates),
        "truncated gradient": lambda store: TruncatedGradient(
            gravity=problem.l1, store=store, **rates
        ),
    }
    for rule, make in rules.items():
        dense = best(lambda make=make: make("dense").learn(block))
        for keys, data in (("", block), (", 2^40 added to each key", far)):
            table = best(lambda make=make, data=data: make("table").learn(data))
            line(
                f"table against dense store, medline, {rule}{keys}",
                table / dense,
                f"{1e3 * table:.0f} ms, {1e3 * dense:.0f} ms",
            )


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


def three_billion(rows: int = 2_000_000, nnz: int = 50) -> None:
    blocks = zipf_blocks(rows, nnz, 0)
    distinct = np.unique(np.concatenate([np.unique(b.indices) for b in blocks]))
    numbered = [
        Block(b.indptr, np.searchsorted(distinct, b.indices).astype(np.int32), b.values, b.labels)
        for b in blocks
    ]
    times: dict[str, float] = {}
    for store, data in (("dense", numbered), ("table", blocks)) * 3:
        learner, peaks = TruncatedGradient(gravity=1e-4, eta0=0.1, store=store), []
        start = time.perf_counter()
        for i, block in enumerate(data):
            learner.learn(block)
            if store == "table" and i % 8 == 7:
                peaks.append(learner._core.bytes / 1e6)
        times[store] = min(time.perf_counter() - start, times.get(store, np.inf))
    live = learner.n_live()
    line(
        f"3e9 nominal features, {rows:,} x {nnz}, against dense renumbered",
        times["table"] / times["dense"],
        f"{times['table']:.2f} s, {times['dense']:.2f} s; {len(distinct):,} features met, {live:,} alive, "
        f"{learner._core.bytes / live:.1f} bytes each; store {', '.join(f'{p:.0f}' for p in peaks)} MB on the way; "
        f"peak of the process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB, data included",
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


def single_events() -> None:
    """Events that were made just before, as a service or a stream has them, and 6,000 that lie in memory."""
    from river import linear_model, optim

    pairs = {
        "LogisticRegression(SGD)": (
            lambda: linear_model.LogisticRegression(optim.SGD(0.1)),
            lambda: riata.ElasticNetClassifier(eta0=0.1),
        ),
        "LogisticRegression(FTRLProximal)": (
            lambda: linear_model.LogisticRegression(optim.FTRLProximal()),
            riata.FTRLClassifier,
        ),
    }
    for name, (theirs, ours) in pairs.items():
        for made_at_once, where in ((100, "just made"), (6000, "from far away in memory")):
            both = [
                (time_of_events(theirs, made_at_once), time_of_events(ours, made_at_once))
                for _ in range(3)
            ]
            them, us = (min(times) for times in zip(*both, strict=True))
            line(
                f"river's {name} against `learn_one`, 60 keys, {where}",
                them / us,
                f"{1e6 * us:.2f} us an event, {1e6 * them:.1f} us",
            )


def ftrl_from_text() -> None:
    from vowpalwabbit import Workspace

    problem = load("medline")

    def ours() -> None:
        riata.FTRLClassifier(l1=1.0).learn(str(problem.svmlight))

    def theirs() -> None:
        with tempfile.TemporaryDirectory() as scratch:
            Workspace(
                f"--data {problem.vowpal_wabbit} --ftrl --l1 1 --loss_function logistic -b 18 --quiet "
                f"-f {Path(scratch) / 'model'}"
            ).finish()

    both = [(best(ours, 1), best(theirs, 1)) for _ in range(9)]  # in turns: the machine has moods
    a, b = (min(times) for times in zip(*both, strict=True))
    line(
        "Vowpal Wabbit --ftrl against FTRL from svmlight text, medline",
        b / a,
        f"{a:.2f} s, {b:.2f} s",
    )


if __name__ == "__main__":
    print("| work | ratio | |\n|---|---:|---|")
    table_against_dense()
    single_events()
    ftrl_from_text()
    three_billion()
