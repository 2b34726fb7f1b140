"""How near shards come to one machine: log loss on other messages of trec07p, at 1, 4, 16 and 64 shards.

`python -m benchmarks.scale_page near`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.problems import load
from benchmarks.scale import held_out
from benchmarks.steps import SCHEDULE
from riata.learners import FTRL, Bayesian, ElasticNet, Learner, Portfolio, TruncatedGradient
from riata.shards import train_shards
from riata.sources import open_source
from riata.training import evaluate, train

COUNTS = (1, 4, 16, 64)
NEAR = ("auto",)
"""Methods of which 16 shards have to do."""
ROUNDS = 3


def methods() -> dict[str, Callable[[int], Learner]]:
    eta0 = load("trec07p").eta0
    return {
        "elastic net": lambda m: ElasticNet(outputs=m),
        "elastic net, the paper's steps": lambda m: ElasticNet(outputs=m, eta0=eta0, **SCHEDULE),
        "truncated": lambda m: TruncatedGradient(outputs=m, gravity=1e-5),
        "ftrl": lambda m: FTRL(outputs=m),
        "bayesian": lambda m: Bayesian(outputs=m),
        "auto": lambda m: Portfolio(outputs=m),
    }


def everything() -> dict[str, Any]:
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        learn, test = held_out(Path(folder))

        def loss(model: Any) -> float:
            return float(evaluate(model, open_source(test))["log_loss"])

        for name, make in methods().items():
            one = loss(train(open_source(learn), make))
            by_count = {}
            for count in (16,) if name in NEAR else COUNTS:
                losses: list[float] = []
                train_shards(
                    str(learn), make, shards=count, rounds=ROUNDS,
                    on_progress=lambda m, losses=losses: losses.append(loss(m)),  # type: ignore[misc]
                )  # fmt: skip
                by_count[str(count)] = losses
            found[name] = {"one": one, "shards": by_count}
            print(name, found[name], flush=True)
    return found
