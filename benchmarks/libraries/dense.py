"""Not a library: rules that update every weight at every example, written plainly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks import delta, native
from benchmarks.contest import Contender, Contenders, Outcome, stopwatch
from benchmarks.problems import Problem

NAME = "by hand"


def version() -> str:
    return f"C++ with {native.FLAGS[0]} {native.FLAGS[1]}"


def learn_numpy(problem: Problem, rows: int) -> NDArray[np.float64]:
    """FoBoS in NumPy: whole-array expressions, as the update is written down."""
    X, y = problem.head(rows)
    w, intercept = np.zeros(problem.d), 0.0
    for i in range(rows):
        part = slice(X.indptr[i], X.indptr[i + 1])
        at, x = X.indices[part], X.data[part].astype(np.float64)
        eta = problem.eta0 / np.sqrt(i + 1)
        slope = -y[i] / (1 + np.exp(y[i] * (w[at] @ x + intercept)))
        w[at] -= eta * slope * x
        intercept -= eta * slope
        w = np.sign(w) * np.maximum(0, np.abs(w) - eta * problem.l1) / (1 + eta * problem.l2)
    return np.concatenate([[intercept], w])


def learn_native(problem: Problem, rows: int) -> NDArray[np.float64]:
    """The same in C++, vectorised for this machine."""
    X, y = problem.head(rows)
    w, intercept = np.zeros(problem.d), np.zeros(1)
    native.dense_fobos(
        w,
        intercept,
        X.indptr.astype(np.int64),
        X.indices,
        X.data,
        y,
        eta0=problem.eta0,
        l1=problem.l1,
        l2=problem.l2,
    )
    return np.concatenate([intercept, w])


def lazy(label: str, rows: int, learn: Callable[[Problem, int], NDArray[np.float64]]) -> Contender:
    def run(problem: Problem) -> Outcome:
        learn(problem, 1)  # compiles, where there is something to compile
        with stopwatch() as clock:
            learn(problem, rows)
        return Outcome(
            clock.seconds / rows,
            examples=1,
            updates=1,
            weights_after=lambda k: learn(problem, k),
            notes=[f"mean of {rows:,} examples"],
        )

    return Contender(label, run)


CONTENDERS: Contenders = {
    "lazy": [
        lazy("NumPy, every weight", 200, learn_numpy),
        lazy("C++, every weight, vectorised", 4000, learn_native),
    ],
    "delta": [
        delta.contender("NumPy, riata.reference", 10, delta.in_reference),
        delta.contender("NumPy, by hand for this rule", 50, delta.in_numpy),
    ],
}
