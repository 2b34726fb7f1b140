"""Learn the same examples with their features spread over a larger space, in a process of its own.

`python -m benchmarks.dimension riata 100000000` prints one line of JSON: seconds, and the megabytes
that became resident between having the data and having the model.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from benchmarks.contest import stopwatch
from benchmarks.problems import Problem, load

DISTINCT = 20_000
"""Features touched: the commonest of `medline`, at random places, in the same order."""


@dataclass(frozen=True)
class Spread:
    """What one process measured."""

    seconds: float
    megabytes: float
    examples: int
    distinct: int


def scatter(problem: Problem, d: int) -> sparse.csr_matrix:
    """The first features of the problem at places chosen at random out of d, still ascending."""
    X = problem.X[:, :DISTINCT].tocsr()
    rng = np.random.default_rng(5)
    # One place from each of DISTINCT equal stretches: distinct, ascending, and quick to draw.
    stretch = d // DISTINCT
    places = np.arange(DISTINCT) * stretch + rng.integers(0, stretch, DISTINCT)
    return sparse.csr_matrix(
        (X.data, places.astype(np.int32)[X.indices], X.indptr), shape=(X.shape[0], d)
    )


def resident() -> float:
    """Megabytes of this process that are in memory now."""
    with open("/proc/self/smaps_rollup") as lines:
        for line in lines:
            if line.startswith("Rss:"):
                return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError("no Rss in /proc/self/smaps_rollup")


def measure(library: str, d: int) -> Spread:
    """Run in a new process, so that nothing of another run is in memory."""
    argv = [sys.executable, "-m", "benchmarks.dimension", library, str(d)]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return Spread(**json.loads(done.stdout.splitlines()[-1]))


def main(library: str, d: int) -> None:
    problem = load("medline")
    X = scatter(problem, d)
    if library == "riata":
        from benchmarks.libraries.riata import model

        fitted = model(problem)
    else:
        from benchmarks.libraries.sklearn import model as sgd

        fitted = sgd(problem, "elasticnet")
    # Whatever is loaded or allocated on first use is not the model's.
    fitted.fit(X[:10, :100], np.resize([-1.0, 1.0], 10))
    before = resident()
    with stopwatch() as clock:
        fitted.fit(X, problem.y)
    after = resident()
    distinct = len(np.unique(X.indices))
    print(json.dumps(vars(Spread(clock.seconds, after - before, problem.n, distinct))))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
