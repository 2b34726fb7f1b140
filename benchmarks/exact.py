"""L1 logistic regression to an accuracy: who is at a relative objective gap of 1e-6 first, and in how much memory.

    python -m benchmarks.exact medline --gamma 20
    python -m benchmarks.exact medline --gamma 20 --solvers riata,celer --tols riata=0.01,celer=0.01

Every run is a process of its own. A solver's tolerance is the loosest power of ten that reaches the gap, found
beforehand and not timed (`--tols` names those that are known). All penalise the intercept, so that all solve the same
problem: sum of losses + gamma * (sum abs(b) + abs(intercept)). The reference is the objective that Riata finds at a
tolerance of 1e-9.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.machine import Neighbours
from benchmarks.paths import CACHE
from benchmarks.problems import Problem, load
from riata.sources import open_source

GAP = 1e-6
LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)

Weights = tuple[NDArray[np.float64], float]


def objective(problem: Problem, weights: Weights, gamma: float) -> float:
    w, intercept = weights
    margins = problem.y * (problem.X @ w + intercept)
    return float(np.logaddexp(0, -margins).sum() + gamma * (np.abs(w).sum() + abs(intercept)))


def riata_memory(problem: Problem, gamma: float, tol: float) -> Callable[[], Weights]:
    from riata import SketchClassifier

    model = SketchClassifier(gamma, tol=tol, penalize_intercept=True)
    model.fit(problem.X[:10], np.arange(10) % 2)  # imports done

    def run() -> Weights:
        model.fit(problem.X, problem.y)
        return model.coef_[0], float(model.intercept_[0])

    return run


def riata_text(problem: Problem, gamma: float, tol: float) -> Callable[[], Weights]:
    """From the svmlight text, parsed anew in every pass: memory is what it is about."""
    return _from_file(problem, gamma, tol, cache=None)


def riata_cache(problem: Problem, gamma: float, tol: float) -> Callable[[], Weights]:
    """From a block cache that is there already, on disk."""
    cache = str(CACHE / f"{problem.name}.riata-cache")
    for _ in open_source(str(problem.svmlight), cache=cache):
        pass  # made, if it was not there; in the page cache of the system, as the matrix is in memory
    return _from_file(problem, gamma, tol, cache)


def _from_file(
    problem: Problem, gamma: float, tol: float, cache: str | None
) -> Callable[[], Weights]:
    from riata import SketchClassifier

    model = SketchClassifier(gamma, tol=tol, penalize_intercept=True)
    model.fit(problem.X[:10], np.arange(10) % 2)  # imports done

    def run() -> Weights:
        model.learn(open_source(str(problem.svmlight), cache=cache))
        w = np.zeros(problem.d)
        coef = model.sparse_coef_
        w[coef.indices] = coef.data
        return w, float(model.intercept_[0])

    return run


def sklearn_liblinear(problem: Problem, gamma: float, tol: float) -> Callable[[], Weights]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        solver="liblinear", l1_ratio=1, C=1 / gamma, tol=tol, max_iter=1000, random_state=0
    )

    def run() -> Weights:
        model.fit(problem.X, problem.y)
        return model.coef_[0], float(model.intercept_[0])

    return run


def _with_ones(problem: Problem) -> sparse.csc_matrix:
    ones = np.ones((problem.n, 1), dtype=np.float32)
    return sparse.hstack([problem.X, ones]).tocsc().astype(np.float64)


def celer(problem: Problem, gamma: float, tol: float) -> Callable[[], Weights]:
    from celer import LogisticRegression

    X = _with_ones(problem)  # given in the format it works on
    model = LogisticRegression(C=1 / gamma, tol=tol, fit_intercept=False, max_iter=100)
    model.fit(X[:200], problem.y[:200])  # compiled

    def run() -> Weights:
        model.fit(X, problem.y)
        return model.coef_[0][:-1], float(model.coef_[0][-1])

    return run


def skglm(problem: Problem, gamma: float, tol: float) -> Callable[[], Weights]:
    from skglm import SparseLogisticRegression

    X = _with_ones(problem)
    make = SparseLogisticRegression
    make(alpha=0.1, fit_intercept=False).fit(X[:200], problem.y[:200])  # compiled
    model = make(alpha=gamma / problem.n, tol=tol, fit_intercept=False, max_iter=100)

    def run() -> Weights:
        model.fit(X, problem.y)
        return model.coef_[0][:-1], float(model.coef_[0][-1])

    return run


@dataclass(frozen=True)
class Solver:
    label: str
    package: str
    make: Callable[[Problem, float, float], Callable[[], Weights]]


SOLVERS = {
    "riata": Solver("SketchClassifier, CSR in memory", "riata", riata_memory),
    "riata-text": Solver("SketchClassifier, svmlight text", "riata", riata_text),
    "riata-cache": Solver("SketchClassifier, block cache on disk", "riata", riata_cache),
    "liblinear": Solver(
        'LogisticRegression(solver="liblinear")', "scikit-learn", sklearn_liblinear
    ),
    "celer": Solver("celer.LogisticRegression", "celer", celer),
    "skglm": Solver("skglm.SparseLogisticRegression", "skglm", skglm),
}


def peak() -> float:
    """Megabytes, resident at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def worker(name: str, solver: str, gamma: float, tol: float, rows: int) -> dict[str, Any]:
    problem = load(name)
    if rows and rows < problem.n:
        import dataclasses

        X, y = problem.head(rows)
        problem = dataclasses.replace(problem, X=X, y=y)
    warnings.simplefilter("ignore")
    run = SOLVERS[solver].make(problem, gamma, tol)
    neighbours, before = Neighbours(), peak()
    cpu, clock = time.process_time(), time.perf_counter()
    weights = run()
    seconds, busy = time.perf_counter() - clock, time.process_time() - cpu
    others, used = neighbours.cores(), peak() - before
    return {
        "seconds": seconds, "cpu": busy, "megabytes": used, "others": others,
        "objective": objective(problem, weights, gamma), "live": int(np.count_nonzero(weights[0])),
    }  # fmt: skip


def spawn(name: str, solver: str, gamma: float, tol: float, rows: int) -> dict[str, Any]:
    words = [
        name,
        "--gamma",
        str(gamma),
        "--rows",
        str(rows),
        "--worker",
        solver,
        "--tol",
        str(tol),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.exact", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def loosest(
    given: argparse.Namespace, solver: str, chosen: dict[str, float], best: float
) -> float | None:
    """The loosest tolerance of the ladder that reaches the gap."""
    if solver.startswith("riata-"):  # the same solver from another place
        return chosen["riata"]
    for tol in LADDER:
        result = spawn(given.problem, solver, given.gamma, tol, given.rows)
        if result["objective"] <= best * (1 + GAP):
            return tol
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", nargs="?", default="medline")
    parser.add_argument("--gamma", type=float, default=20.0)
    parser.add_argument("--rows", type=int, default=0, help="the first rows only")
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--tols", default="", metavar="SOLVER=TOL,...", help="not to be sought")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--tol", type=float, default=0.0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        print(json.dumps(worker(given.problem, given.worker, given.gamma, given.tol, given.rows)))
        return
    best = spawn(given.problem, "riata", given.gamma, 1e-9, given.rows)["objective"]
    known = dict(word.split("=") for word in given.tols.split(",") if word)
    chosen: dict[str, float] = {}
    for solver in given.solvers.split(","):
        tol = float(known[solver]) if solver in known else loosest(given, solver, chosen, best)
        if tol is None:
            print(f"{solver}: not within {GAP:g} at any tolerance")
        else:
            chosen[solver] = tol
    results: dict[str, list[dict[str, Any]]] = {solver: [] for solver in chosen}
    for _ in range(given.repeat):
        for solver, tol in chosen.items():
            results[solver].append(spawn(given.problem, solver, given.gamma, tol, given.rows))
    first = min(r["seconds"] for r in results["riata"])
    print(
        "| solver | tol | best s | times riata | CPU s | peak MB above before | gap | non-zero | others' cores |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for solver, runs in results.items():
        what, fastest = SOLVERS[solver], min(runs, key=lambda r: r["seconds"])
        print(
            f"| {what.label}, {what.package} {importlib.metadata.version(what.package)} | {chosen[solver]:g} "
            f"| {fastest['seconds']:.2f} | {fastest['seconds'] / first:.2f} | {fastest['cpu']:.2f} "
            f"| {max(r['megabytes'] for r in runs):.0f} | {(runs[0]['objective'] - best) / best:.1e} "
            f"| {runs[0]['live']} | {fastest['others']:.2f} |"
        )


if __name__ == "__main__":
    main()
