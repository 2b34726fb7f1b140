"""scikit-learn: SGDClassifier, and load_svmlight_file before it."""

from __future__ import annotations

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from benchmarks import dimension
from benchmarks.contest import Contender, Contenders, Outcome, logistic_loss, stopwatch
from benchmarks.problems import Problem
from benchmarks.single import single_rows

NAME = "scikit-learn"


def version() -> str:
    return str(sklearn.__version__)


def model(problem: Problem, penalty: str) -> SGDClassifier:
    """Same loss, penalties and steps as everyone: eta0 / sqrt(t), one pass, in the order given.

    scikit-learn's penalty is alpha * (l1_ratio * |w| + (1 - l1_ratio) / 2 * w^2).
    """
    both = problem.l1 + problem.l2
    return SGDClassifier(
        loss="log_loss",
        penalty=penalty,
        alpha=both if penalty == "elasticnet" else problem.l2,
        l1_ratio=problem.l1 / both,
        learning_rate="invscaling",
        eta0=problem.eta0,
        power_t=0.5,
        max_iter=1,
        tol=None,
        shuffle=False,
        average=False,
        random_state=0,
    )


def _outcome(problem: Problem, seconds: float, fitted: SGDClassifier) -> Outcome:
    return Outcome(
        seconds,
        examples=problem.n,
        updates=int(fitted.t_) - 1,
        loss=lambda: logistic_loss(problem, fitted.coef_[0], fitted.intercept_[0]),
    )


def memory(penalty: str) -> Contender:
    def run(problem: Problem) -> Outcome:
        fitted = model(problem, penalty)
        with stopwatch() as clock:
            fitted.fit(problem.X, problem.y)
        return _outcome(problem, clock.seconds, fitted)

    return Contender(f'SGDClassifier(penalty="{penalty}")', run)


def text(problem: Problem) -> Outcome:
    fitted = model(problem, "elasticnet")
    with stopwatch() as clock:
        X, y = load_svmlight_file(str(problem.svmlight), n_features=problem.d, dtype=np.float32)
        # The reader gives 64-bit indices and SGDClassifier takes 32-bit ones only.
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        fitted.fit(X, y)
    return _outcome(problem, clock.seconds, fitted)


def _same(X: sparse.csr_matrix, y: NDArray[np.float64], problem: Problem) -> bool:
    return bool(
        np.array_equal(y, problem.y)
        and np.array_equal(X.indptr, problem.X.indptr)
        and np.array_equal(X.indices, problem.X.indices)
        and np.array_equal(X.data, problem.X.data)
    )


def reader(problem: Problem) -> Outcome:
    with stopwatch() as clock:
        X, y = load_svmlight_file(str(problem.svmlight), n_features=problem.d, dtype=np.float32)
    same = _same(X, y, problem)
    return Outcome(
        clock.seconds,
        examples=len(y),
        megabytes=problem.svmlight.stat().st_size / 1e6,
        notes=["every bit as the matrix" if same else "some values differ from the matrix"],
    )


def single(problem: Problem) -> Outcome:
    rows = single_rows(300)
    fitted = model(problem, "elasticnet")
    fitted.partial_fit(*rows[0], classes=[-1.0, 1.0])
    # Each call sweeps all 2^20 weights with BLAS. One thread is its best here: two are no faster on
    # an idle machine, and wait for each other for milliseconds when anything else wants a core.
    with threadpool_limits(1), stopwatch() as clock:
        for X, y in rows[1:]:
            fitted.partial_fit(X, y)
    n = len(rows) - 1
    return Outcome(
        clock.seconds / n, examples=1, updates=1, notes=[f"mean of {n:,} calls, one BLAS thread"]
    )


def spread(d: int) -> Contender:
    def run(problem: Problem) -> Outcome:
        found = dimension.measure("sklearn", d)
        return Outcome(
            found.seconds,
            examples=found.examples,
            updates=found.examples,
            megabytes=found.megabytes,
            notes=[f"{found.megabytes:,.0f} MB became resident"],
        )

    return Contender(f"SGDClassifier, d = {d:,}", run, slow=True)


CONTENDERS: Contenders = {
    "memory": [memory("elasticnet"), memory("l2")],
    "text": [Contender("load_svmlight_file + SGDClassifier", text, slow=True)],
    "reader": [Contender("load_svmlight_file", reader, slow=True)],
    "dimension": [spread(10**6), spread(10**8)],
    "single": [Contender("SGDClassifier.partial_fit", single)],
}
