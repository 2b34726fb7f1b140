"""river: a dict of weights, one example at a time. Timed on a few rows and multiplied up."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import numpy as np
from river import linear_model, optim

from benchmarks.contest import Contender, Contenders, Outcome, stopwatch
from benchmarks.problems import Problem
from benchmarks.single import single_rows

NAME = "river"
ROWS = 2000


def version() -> str:
    return importlib.metadata.version("river")


def model(problem: Problem) -> Any:
    """river takes either l1 or l2: here l1, as in the others; the steps are the same as theirs."""
    return linear_model.LogisticRegression(
        optimizer=optim.SGD(optim.schedulers.InverseScaling(problem.eta0, power=0.5)),
        l1=problem.l1,
        intercept_lr=optim.schedulers.InverseScaling(problem.eta0, power=0.5),
    )


def memory(problem: Problem) -> Outcome:
    X, y = problem.head(ROWS)
    rows = [
        (dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)), bool(label > 0))
        for row, label in zip(X, y, strict=True)
    ]
    learner = model(problem)
    with stopwatch() as clock:
        for x, label in rows:
            learner.learn_one(x, label)
    chance = np.array([learner.predict_proba_one(x)[label] for x, label in rows])
    return Outcome(
        clock.seconds * problem.n / len(rows),
        examples=problem.n,
        updates=problem.n,
        notes=[
            f"from {len(rows):,} rows, multiplied up; l1 only; dicts made before; "
            f"loss on those rows {-np.log(np.maximum(chance, 1e-300)).mean():.4f}"
        ],
    )


def single(problem: Problem) -> Outcome:
    rows = [
        (dict(zip(X.indices.tolist(), X.data.tolist(), strict=True)), bool(y[0] > 0))
        for X, y in single_rows(1000)
    ]
    learner = model(problem)
    with stopwatch() as clock:
        for x, label in rows:
            learner.learn_one(x, label)
    return Outcome(
        clock.seconds / len(rows),
        examples=1,
        updates=1,
        notes=[f"mean of {len(rows):,} calls of learn_one with a dict"],
    )


CONTENDERS: Contenders = {
    "memory": [Contender("LogisticRegression.learn_one", memory, slow=True)],
    "single": [Contender("LogisticRegression.learn_one", single)],
}
