"""What the Bayesian learner costs, beside other kernels, Vowpal Wabbit and river.

Progressive losses and calibration beside Vowpal Wabbit's are in papers/bayesian-2021/real.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import riata
from benchmarks.problems import Absent, load
from benchmarks.ratio import Ratio, Run, Times, ratio
from benchmarks.steps import SCHEDULE
from riata.block import Block
from riata.learners import Bayesian, ElasticNet
from riata.sources import open_source

TITLE = "Bayesian models"
RIVER_ROWS = 2000

Works = dict[str, Callable[[], Any]]


def medline() -> Block:
    problem = load("medline")
    return next(iter(open_source(problem.X, (problem.y > 0).astype(np.float64))))


def kernels(run: Run) -> Iterator[Ratio]:
    """The same Block through the elastic-net kernel and the Bayesian ones."""
    problem, block = load("medline"), medline()
    found = run.turns(
        {
            "net": lambda: ElasticNet(
                l1=problem.l1, l2=problem.l2, eta0=problem.eta0, **SCHEDULE
            ).learn(block),
            "one": lambda: Bayesian(prior_variance=1.0).learn(block),
            "auto": lambda: Bayesian().learn(block),
        },
        2 * run.repeat,
    )
    what = "one prior over the elastic-net kernel, `medline`"
    yield ratio(what, found["one"], found["net"], most=2.5)
    yield ratio("eight priors over one, `medline`", found["auto"], found["one"])


def text(run: Run) -> Iterator[Ratio]:
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
    found = run.turns(works)
    for prior, least in ((1.0, 2.0), ("auto", 1.0)):
        for store in ("hashed", "auto"):
            where = "table of names" if store == "auto" else "hashed store, 2^20 rows"
            what = "one prior" if prior == 1.0 else "eight priors"
            name = f"Vowpal Wabbit over {what}, `trec07p` text, {where}"
            yield ratio(name, found["vw"], found[f"{prior} {store}"], least=least)


def river(run: Run) -> Iterator[Ratio]:
    """Time an example: river's AdPredictor, an event at a time, against a Block of the same rows."""
    from river import linear_model

    problem, block = load("medline"), medline()
    X, y = problem.head(RIVER_ROWS)
    events = [
        (dict(zip(map(str, row.indices.tolist()), row.data.tolist(), strict=True)), bool(label > 0))
        for row, label in zip(X, y, strict=True)
    ]

    def theirs() -> None:
        model: Any = linear_model.AdPredictor()
        for x, label in events:
            model.learn_one(x, label)

    found = run.turns({"theirs": theirs}, 2) | run.turns(
        {
            "one": lambda: Bayesian(prior_variance=1.0).learn(block),
            "auto": lambda: Bayesian().learn(block),
        }
    )
    each = {
        name: Times(tuple(s / (RIVER_ROWS if name == "theirs" else problem.n) for s in t.seconds))
        for name, t in found.items()
    }
    for name, what in (("one", "one prior"), ("auto", "eight priors")):
        note = "an example"
        title = f"river AdPredictor over {what}, `medline`"
        yield ratio(title, each["theirs"], each[name], least=50, note=note)


def ratios(run: Run) -> Iterator[Ratio]:
    for part in (kernels, text, river):
        try:
            yield from part(run)
        except (Absent, ImportError, AttributeError) as missing:
            yield Ratio(part.__name__, None, why=str(missing))
