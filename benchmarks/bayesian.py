"""`python -m benchmarks.bayesian`: what the Bayesian learner costs, as ratios in one run, with verdicts.

Progressive losses and calibration beside Vowpal Wabbit's are in papers/bayesian-2021/real.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import riata
from benchmarks.problems import Absent, load
from riata.learners import Bayesian, ElasticNet
from riata.sources import open_source

Works = dict[str, Callable[[], Any]]


def shortest(works: Works, turns: int) -> dict[str, float]:
    """The shortest of a few runs of each, in seconds; all run once, then all again."""
    times = dict.fromkeys(works, np.inf)
    for _ in range(turns):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def line(work: str, target: str, ratio: float, reached: bool | None, note: str) -> str:
    verdict = "" if reached is None else "reached" if reached else "**missed**"
    return f"| {work} | {target} | {ratio:.2f}x | {note} | {verdict} |"


def kernels(turns: int = 9) -> Iterator[str]:
    """The same Block through the elastic-net kernel and the Bayesian ones."""
    problem = load("medline")
    block = next(iter(open_source(problem.X, (problem.y > 0).astype(np.float64))))
    net = {"l1": problem.l1, "l2": problem.l2, "eta0": problem.eta0}
    found = shortest(
        {
            "net": lambda: ElasticNet(**net).learn(block),  # type: ignore[arg-type]
            "one": lambda: Bayesian(prior_variance=1.0).learn(block),
            "auto": lambda: Bayesian().learn(block),
        },
        turns,
    )
    net_ms, one_ms, auto_ms = (1e3 * found[name] for name in ("net", "one", "auto"))
    note = f"{one_ms:.0f} ms against {net_ms:.0f} ms"
    yield line("one prior against the elastic-net kernel, `medline`", "at most 2.5x", one_ms / net_ms,
               one_ms <= 2.5 * net_ms, note)  # fmt: skip
    yield line("eight priors against one, `medline`", "little more", auto_ms / one_ms, None,
               f"{auto_ms:.0f} ms against {one_ms:.0f} ms")  # fmt: skip


def text(turns: int = 3) -> Iterator[str]:
    """Vowpal Wabbit text to a model in memory, against Vowpal Wabbit's default run on the same file."""
    from vowpalwabbit import Workspace

    file = str(load("trec07p").vowpal_wabbit)
    flags = f"--data {file} --loss_function logistic -b 22 --quiet"
    works: Works = {"vw": lambda: Workspace(flags).finish()}
    for prior in (1.0, "auto"):
        for store in ("auto", "hashed"):
            works[f"{prior} {store}"] = lambda p=prior, s=store: riata.BayesianClassifier(  # type: ignore[misc]
                prior_variance=p, store=s, bits=20
            ).learn(file)
    found = shortest(works, turns)
    for prior, least in ((1.0, 2.0), ("auto", 1.0)):
        for store in ("auto", "hashed"):
            ours, ratio = found[f"{prior} {store}"], found["vw"] / found[f"{prior} {store}"]
            where = "table of names" if store == "auto" else "hashed store, 2^20 rows"
            what = "one prior" if prior == 1.0 else "eight priors"
            yield line(f"Vowpal Wabbit against {what}, `trec07p` text, {where}", f"{least:g}x", ratio,
                       ratio >= least, f"{ours:.2f} s against {found['vw']:.2f} s")  # fmt: skip


def river(rows: int = 2000, turns: int = 3) -> Iterator[str]:
    """Examples a second: river's AdPredictor, an event at a time, against a Block of the same rows."""
    from river import linear_model

    problem = load("medline")
    X, y = problem.head(rows)
    events = [
        (dict(zip(map(str, row.indices.tolist()), row.data.tolist(), strict=True)), bool(label > 0))
        for row, label in zip(X, y, strict=True)
    ]
    block = next(iter(open_source(problem.X, (problem.y > 0).astype(np.float64))))

    def theirs() -> None:
        model = linear_model.AdPredictor()
        for x, label in events:
            model.learn_one(x, label)

    found = shortest({"theirs": theirs}, 2) | shortest(
        {
            "one": lambda: Bayesian(prior_variance=1.0).learn(block),
            "auto": lambda: Bayesian().learn(block),
        },
        turns,
    )
    each = found["theirs"] / rows
    for name, what in (("one", "one prior"), ("auto", "eight priors")):
        ours = found[name] / problem.n
        yield line(f"river's AdPredictor against {what}, `medline`", "50x", each / ours,
                   each >= 50 * ours, f"{1e6 * ours:.2f} us an example against {1e6 * each:.0f} us")  # fmt: skip


def main() -> None:
    print("| work | target | measured | | |\n|---|---:|---:|---|---|")
    for task in (kernels, text, river):
        try:
            for row in task():
                print(row, flush=True)
        except (Absent, ImportError, AttributeError) as missing:
            print(f"| {task.__name__} | | | skipped: {missing} | |", flush=True)


if __name__ == "__main__":
    main()
