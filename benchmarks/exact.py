"""L1 logistic regression to an accuracy: who is at a relative objective gap of 1e-6 first, and in how much memory.

Every run is a process of its own. A solver's tolerance is the loosest power of ten that reaches the gap on
`medline` with gamma 20, found beforehand and not timed; one that misses the gap has no ratio. All penalise the
intercept, so that all solve the same problem: sum of losses + gamma * (sum abs(b) + abs(intercept)). The reference is
the objective that Riata finds at a tolerance of 1e-9.
"""

from __future__ import annotations

import importlib.util
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.paths import CACHE
from benchmarks.problems import Problem, load
from benchmarks.ratio import Ratio, Run, Times, ratio
from riata.sources import open_source

TITLE = "Exact L1 logistic regression"
PROBLEM, GAMMA, GAP = "medline", 20.0, 1e-6

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
    tol: float
    make: Callable[[Problem, float, float], Callable[[], Weights]]
    least: float | None = None
    """A rival's time over Riata's in memory."""


SOLVERS = {
    "riata": Solver("SketchClassifier, CSR in memory", "riata", 1e-2, riata_memory),
    "riata-text": Solver("SketchClassifier, svmlight text", "riata", 1e-2, riata_text),
    "riata-cache": Solver("SketchClassifier, cache on disk", "riata", 1e-2, riata_cache),
    "liblinear": Solver(
        'LogisticRegression(solver="liblinear")', "sklearn", 1e-2, sklearn_liblinear, 1.0
    ),
    "celer": Solver("celer.LogisticRegression", "celer", 1e-2, celer, 3.0),
    "skglm": Solver("skglm.SparseLogisticRegression", "skglm", 1e-5, skglm, 3.0),
}


def peak() -> float:
    """Megabytes, resident at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def worker(solver: str, tol: float) -> dict[str, Any]:
    """One run, in this process."""
    problem = load(PROBLEM)
    warnings.simplefilter("ignore")
    run = SOLVERS[solver].make(problem, GAMMA, tol)
    before, clock = peak(), time.perf_counter()
    weights = run()
    seconds = time.perf_counter() - clock
    return {
        "seconds": seconds,
        "megabytes": peak() - before,
        "objective": objective(problem, weights, GAMMA),
        "live": int(np.count_nonzero(weights[0])),
    }


def spawn(solver: str, tol: float) -> dict[str, Any]:
    argv = [sys.executable, "-m", "benchmarks.exact", solver, str(tol)]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{solver}: {done.stderr.strip().splitlines()[-1]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def ratios(run: Run) -> Iterator[Ratio]:
    best = spawn("riata", 1e-9)["objective"]
    there = [name for name, s in SOLVERS.items() if importlib.util.find_spec(s.package)]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in there}
    for _ in range(min(run.repeat, 3)):
        for name in there:
            runs[name].append(spawn(name, SOLVERS[name].tol))
    times = {name: Times(tuple(r["seconds"] for r in found)) for name, found in runs.items()}
    for name, solver in SOLVERS.items():
        what = f"{solver.label} over ours in memory, `{PROBLEM}`, gamma {GAMMA:g}"
        if name not in there:
            yield Ratio(what, None, least=solver.least, why=f"{solver.package} is not installed")
            continue
        gap = (runs[name][0]["objective"] - best) / best
        megabytes = max(r["megabytes"] for r in runs[name])
        note = f"gap {gap:.0e}, {megabytes:.0f} MB, {runs[name][0]['live']} weights"
        if gap > GAP:
            yield Ratio(what, None, least=solver.least, why=f"not solved: {note}")
        elif name != "riata":
            most = 1.5 if name == "riata-cache" else None
            yield ratio(what, times[name], times["riata"], least=solver.least, most=most, note=note)
    used = max(r["megabytes"] for r in runs["riata-text"])
    if "liblinear" in there and used > 0:
        share = max(r["megabytes"] for r in runs["liblinear"]) / used
        what = f"memory of liblinear over ours from text, `{PROBLEM}`"
        yield Ratio(what, share, detail=f"{used:.0f} MB above the start")


if __name__ == "__main__":
    print(json.dumps(worker(sys.argv[1], float(sys.argv[2]))))
