"""Table 1 and figures 1 and 2 (left) of the paper, regenerated: python run.py [--examples N] [--draws K].

Every algorithm sees the same draws. SGD, DimGauss and ADF are given the best of a grid of learning rates or priors,
as in the paper; Algorithm 1 has the prior that the weights were drawn from.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from synthetic import long_tail, random_features

from riata.block import Block
from riata.learners import Bayesian, ElasticNet, Learner
from riata.metrics import Regret

Runs = dict[tuple[str, str], tuple[Regret, float]]
Stream = Iterator[tuple[Block, NDArray[np.float64]]]
VB = "VB-100"
HERE = Path(__file__).parent


def bayes(**parameters: object) -> Callable[[], Learner]:
    return lambda: Bayesian(fit_intercept=False, **parameters)  # type: ignore[arg-type]


def sgd(eta0: float) -> Callable[[], Learner]:
    return lambda: ElasticNet(
        learning_rate="adagrad", eta0=eta0, l1=0.0, l2=0.0, fit_intercept=False
    )


def algorithms(variance: float) -> dict[str, dict[str, Callable[[], Learner]]]:
    """Name of the algorithm, then what its grid varies."""
    grid = [variance * f for f in (0.25, 1.0, 4.0, 16.0)]
    return {
        "SGD (AdaGrad)": {f"eta0 {e}": sgd(e) for e in (0.05, 0.1, 0.2, 0.4, 0.8)},
        "ADF": {f"prior {v:g}": bayes(update="adf", prior_variance=v) for v in grid},
        "DimGauss": {f"prior {v:g}": bayes(update="joint", prior_variance=v) for v in grid},
        "Gauss, curvature": {"": bayes(mean="newton", prior_variance=variance)},
        "ApproxG, curvature": {"": bayes(prior_variance=variance)},
        "ApproxG, height": {"": bayes(variance="height", prior_variance=variance)},
        "prior_variance='auto'": {"": bayes(calibrate=False)},
        "auto, calibrated": {"": bayes()},
        VB: {"": bayes(update="vb", samples=100, prior_variance=variance)},
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


def run(
    streams: Sequence[Callable[[], Stream]], variance: float, vb_draws: int
) -> dict[str, object]:
    """The best setting of every algorithm, by the mean over the streams."""
    grids = algorithms(variance)
    if vb_draws == 0:
        del grids[VB]
    makers = {(name, s): make for name, grid in grids.items() for s, make in grid.items()}
    runs = []
    for i, stream in enumerate(streams):
        slow = {name for name in makers if name[0] == VB and i >= vb_draws}
        runs.append(measure(stream(), {n: m for n, m in makers.items() if n not in slow}))
        print(f"  draw {i + 1} of {len(streams)}", flush=True)
    out: dict[str, object] = {}
    for name, grid in grids.items():
        results = [
            summary(setting, [r[name, setting] for r in runs if (name, setting) in r])
            for setting in grid
        ]
        best = min(results, key=lambda r: r["r_T"])
        out[name] = best | {"grid": {r["setting"]: r["r_T"] for r in results}}
        print(
            f"  {name:24} {best['setting']:10} r_T {best['r_T']:8.2f}  {best['seconds']:6.2f} s",
            flush=True,
        )
    return out


def summary(setting: str, runs: list[tuple[Regret, float]]) -> dict[str, Any]:
    ends = [regret.now.normalised or 0.0 for regret, _ in runs]
    return {
        "setting": setting,
        "r_T": float(np.mean(ends)),
        "all": ends,
        "seconds": float(np.mean([seconds for _, seconds in runs])),
        "curve": [(m.t, m.normalised) for m in runs[0][0].curve if m.t >= 100],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1_000_000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument(
        "--vb-draws", type=int, default=1, help="draws for the sampled update, which is slow"
    )
    given = parser.parse_args()
    results = {}
    for present in (20, 40):
        print(f"d = 200, {present} present, std 1, {given.examples:,} examples")
        streams = [
            partial(random_features, seed, given.examples, 200, present, 1.0)
            for seed in range(given.draws)
        ]
        results[f"random {present}"] = run(streams, 1.0, given.vb_draws)
    print("long tail")
    tail = [lambda: long_tail(0, given.examples // 2, 18, 2.0)]
    results["long tail"] = run(tail, 4.0, 0)
    (HERE / "results.json").write_text(
        json.dumps({"examples": given.examples, "draws": given.draws, "results": results}) + "\n"
    )


if __name__ == "__main__":
    main()
