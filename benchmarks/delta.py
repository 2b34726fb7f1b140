"""The interior-point delta rule on 100,000 features, all of them seen: Riata's kernel and NumPy.

Every step touches every feature (Carbonetto, Schmidt & de Freitas 2008, Fig. 1 with eq. 13), so both do the
same work. The first example shows all features; it is not timed.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Contender, Outcome, stopwatch
from benchmarks.problems import Problem
from benchmarks.steps import known

D = 100_000
NON_ZEROS = 77
L1, SIGMA, K0, START, DUAL = 1e-4, 0.5, 1.0, 0.1, 0.1

Floats = NDArray[np.float64]
Row = tuple[NDArray[np.int32], NDArray[np.float32], float]


@functools.cache
def rows(n: int) -> list[Row]:
    """Features, values and label, -1 or +1, of each example."""
    rng = np.random.default_rng(7)
    made: list[Row] = [(np.arange(D, dtype=np.int32), np.full(D, 0.001, dtype=np.float32), 1.0)]
    while len(made) < n:
        at = np.sort(rng.choice(D, NON_ZEROS, replace=False)).astype(np.int32)
        made.append((at, rng.normal(size=NON_ZEROS).astype(np.float32), rng.choice([-1.0, 1.0])))
    return made


def in_numpy(n: int) -> tuple[Floats, float]:
    """The intercept and all weights after n examples, and the seconds that all but the first took."""
    x, z, slopes = np.full((2, D), START), np.full((2, D), DUAL), np.full((2, D), L1)
    intercept = 0.0

    def step(k: int, row: Row) -> float:
        nonlocal x, z
        at, values, label = row[0], row[1].astype(np.float64), row[2]
        p = values @ (x[0, at] - x[1, at]) + intercept
        slope = -label / (1 + np.exp(label * p))
        slopes[0, at] = L1 + slope * values
        slopes[1, at] = L1 - slope * values
        mu = SIGMA * np.vdot(x, z) / x.size
        inverse = 1 / x
        dx = (mu * inverse - slopes) / (1 + z * inverse)
        dz = mu * inverse - z - z * dx * inverse
        fastest = max(np.max(-dx * inverse), np.max(-dz / z))
        a = min(1 / (K0 + k), 0.995 / fastest if fastest > 0 else np.inf)
        x += a * dx
        z += a * dz
        slopes[:, at] = L1
        return float(intercept - a * slope)

    first, *rest = rows(n)
    intercept = step(1, first)
    with stopwatch() as clock:
        for k, row in enumerate(rest, start=2):
            intercept = step(k, row)
    return np.concatenate([[intercept], x[0] - x[1]]), clock.seconds


def in_reference(n: int) -> tuple[Floats, float]:
    """The same by the dense reference that specifies the kernel; it knows bounds, so it does more."""
    try:
        reference = importlib.import_module("riata.reference.interior")
    except ImportError:  # one module in older checkouts
        reference = importlib.import_module("riata.reference")

    model = reference.InteriorPoint(
        d=D, l1=L1, sigma=SIGMA, k0=K0, start=START, dual=DUAL, dimension=D, loss="logistic"
    )

    def learn(row: Row) -> None:
        x = np.zeros((1, D))
        x[0, row[0]] = row[1]
        model.learn(x, np.array([row[2]]))

    first, *rest = rows(n)
    learn(first)
    with stopwatch() as clock:
        for row in rest:
            learn(row)
    return np.concatenate([[model.intercept], model.w]), clock.seconds


def in_riata(n: int) -> tuple[Floats, float]:
    """The same by Riata's kernel."""
    from riata.block import Block
    from riata.learners import InteriorPoint

    def block(of: list[Row]) -> Block:
        return Block(
            np.cumsum([0] + [len(at) for at, _, _ in of], dtype=np.int64),
            np.concatenate([at for at, _, _ in of]),
            np.concatenate([values for _, values, _ in of]),
            labels=np.array([(label + 1) / 2 for _, _, label in of]),
        )

    learner = InteriorPoint(
        l1=L1, sigma=SIGMA, k0=K0, start=START, dual=DUAL, dimension=D,
        **known(InteriorPoint, update="paper"),
    )  # fmt: skip
    first, *rest = rows(n)
    learner.learn(block([first]))
    seconds = 0.0
    if rest:
        together = block(rest)
        with stopwatch() as clock:
            learner.learn(together)
        seconds = clock.seconds
    w = np.zeros(D + 1)
    w[0] = learner.intercept[0]
    keys, found = learner.coef()
    w[1 + keys] = found[:, 0]
    return w, seconds


def contender(label: str, n: int, learn: Callable[[int], tuple[Floats, float]]) -> Contender:
    def run(problem: Problem) -> Outcome:
        seconds = learn(n + 1)[1]
        return Outcome(
            seconds / n,
            examples=1,
            updates=1,
            weights_after=lambda k: learn(k)[0],
            notes=[f"mean of {n:,} examples, {D:,} features seen"],
        )

    return Contender(label, run)
