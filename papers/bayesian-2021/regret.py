"""Algorithms past a stream of known weights: regret and seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.learners import Bayesian, ElasticNet, Learner
from riata.metrics import Regret

Runs = dict[tuple[str, str], tuple[Regret, float]]
Stream = Iterator[tuple[Block, NDArray[np.float64]]]
Makers = dict[str, dict[str, Callable[[], Learner]]]
"""Name of the algorithm, then what its grid varies."""


def bayes(**parameters: object) -> Callable[[], Learner]:
    return lambda: Bayesian(fit_intercept=False, **parameters)  # type: ignore[arg-type]


def sgd(eta0: float) -> Callable[[], Learner]:
    return lambda: ElasticNet(
        learning_rate="adagrad_explicit",
        feature_scale="none",
        eta0=eta0,
        l1=0.0,
        l2=0.0,
        fit_intercept=False,
    )


def algorithms(variance: float, priors: tuple[float, ...]) -> Makers:
    '""Those of the paper\'s figures; SGD, ADF and DimGauss with a grid, as in the paper, Algorithm 1 with the'
    'true prior.""'
    return {
        "Algorithm 1": {f"prior {variance:g}": bayes(prior_variance=variance)},
        "DimGauss": {
            f"prior {v:g}": bayes(update="joint", mean="newton", prior_variance=v) for v in priors
        },
        "ADF, logistic": {
            f"prior {f * variance:g}": bayes(update="adf", prior_variance=f * variance)
            for f in (0.5, 1.0, 2.0)
        },
        "ADF, normal": {
            f"prior {f * variance:g}": bayes(
                update="adf", link="probit", prior_variance=f * variance
            )
            for f in (0.2, 0.4, 1.0)
        },
        "SGD, AdaGrad": {f"eta0 {e}": sgd(e) for e in (0.1, 0.2, 0.4, 0.8)},
    }


def measure(stream: Stream, makers: dict[tuple[str, str], Callable[[], Learner]]) -> Runs:
    """All algorithms past one stream, block by block: regret and seconds of learning."""
    learners = {name: make() for name, make in makers.items()}
    regrets = {name: Regret(per_decade=12) for name in makers}
    seconds = dict.fromkeys(makers, 0.0)
    for block, best in stream:
        assert block.labels is not None
        for name, learner in learners.items():
            start = time.thread_time()
            scores = learner.learn(block)
            seconds[name] += time.thread_time() - start
            regrets[name].add(learner.losses(scores, block.labels), best)
    return {name: (regrets[name], seconds[name]) for name in makers}


def best(runs: list[Runs], makers: Makers) -> dict[str, dict[str, Any]]:
    """By algorithm, the setting with the least mean regret: its ends, seconds and first curve."""
    found = {}
    for name, grid in makers.items():
        ends = {s: [r[name, s][0].now.normalised or 0.0 for r in runs] for s in grid}
        chosen = min(grid, key=lambda s: float(np.mean(ends[s])))
        regret, _ = runs[0][name, chosen]
        found[name] = {
            "setting": chosen,
            "ends": ends[chosen],
            "seconds": float(np.mean([r[name, chosen][1] for r in runs])),
            "curve": [(m.t, m.normalised) for m in regret.curve if m.t >= 100],
        }
    return found


def past(streams: list[Callable[[], Stream]], makers: Makers) -> dict[str, dict[str, Any]]:
    """The best of each algorithm over these streams."""
    flat = {(name, s): make for name, grid in makers.items() for s, make in grid.items()}
    return best([measure(stream(), flat) for stream in streams], makers)


def shown(found: dict[str, Any]) -> str:
    ends = found["ends"]
    spread = f"{min(ends):.1f} to {max(ends):.1f}; " if len(ends) > 1 else ""
    return f"{np.mean(ends):.1f} ({spread}{found['setting']})"
