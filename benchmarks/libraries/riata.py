"""Riata: the estimator in memory and from text, the reader alone, and the command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import riata
from benchmarks import delta, dimension
from benchmarks.contest import Contender, Contenders, Outcome, logistic_loss, stopwatch
from benchmarks.problems import Problem
from benchmarks.single import single_rows
from benchmarks.steps import FLAGS, SCHEDULE
from riata.sources import open_source
from riata.training import evaluate

NAME = "Riata"


def version() -> str:
    return str(riata.__version__)


def model(problem: Problem) -> riata.ElasticNetClassifier:
    return riata.ElasticNetClassifier(
        loss="logistic",
        l1=problem.l1,
        l2=problem.l2,
        eta0=problem.eta0,
        **SCHEDULE,
        passes=1,
        shuffle=False,
        random_state=0,
    )


def _weights(fitted: riata.ElasticNetClassifier, d: int) -> NDArray[np.float64]:
    """The intercept and d weights: a model from text knows only the features it has seen."""
    w = np.zeros(d + 1)
    found = np.ravel(fitted.coef_)
    w[0] = fitted.intercept_[0]
    w[1 : 1 + len(found)] = found
    return w


def _outcome(problem: Problem, seconds: float, fitted: riata.ElasticNetClassifier) -> Outcome:
    def loss() -> float:
        w = _weights(fitted, problem.d)
        return logistic_loss(problem, w[1:], w[0])

    return Outcome(
        seconds,
        examples=problem.n,
        updates=int(fitted.t_),
        loss=loss,
        progressive=fitted.model_.record.progressive_loss,
    )


def memory(problem: Problem) -> Outcome:
    fitted = model(problem)
    with stopwatch() as clock:
        fitted.fit(problem.X, problem.y)
    return _outcome(problem, clock.seconds, fitted)


def text(problem: Problem) -> Outcome:
    fitted = model(problem)
    with stopwatch() as clock:
        fitted.learn(str(problem.svmlight))
    return _outcome(problem, clock.seconds, fitted)


BITS = 20
"""The rows of the hashed store, as a power of two: words and numbers alike are hashed."""


def vowpal_wabbit(problem: Problem, **stored: Any) -> Outcome:
    fitted = model(problem).set_params(**stored)
    path = str(problem.vowpal_wabbit)
    with stopwatch() as clock:
        fitted.learn(path)

    def loss() -> float:
        return float(evaluate(fitted.model_, open_source(path, names=False))["loss"])

    progressive = fitted.model_.record.progressive_loss
    return Outcome(clock.seconds, problem.n, int(fitted.t_), loss, progressive)


def hashed(problem: Problem) -> Outcome:
    return vowpal_wabbit(problem, store="hashed", bits=BITS)


def command(problem: Problem) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "model.riata"
        argv = [sys.executable, "-m", "riata", "train", str(problem.svmlight), "-o", str(path)]
        argv += ["--method", "elastic-net", "--loss", "logistic", *FLAGS]
        argv += ["--l1", str(problem.l1), "--l2", str(problem.l2), "--eta0", str(problem.eta0)]
        # An installed package has its bytecode beside it; one in a checkout gets it in the first run.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        with stopwatch() as clock:
            done = subprocess.run(argv, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        outcome = _outcome(problem, clock.seconds, riata.load(path))
    outcome.notes.append("with starting Python, imports and saving the model")
    return outcome


def reader(problem: Problem) -> Outcome:
    source = open_source(str(problem.svmlight), threads=1)
    examples = 0
    with stopwatch() as clock:
        for block in source:
            examples += len(block)
    at = same = 0
    for block in source:
        mine = slice(problem.X.indptr[at], problem.X.indptr[at + len(block)])
        same += (
            np.array_equal(block.indices, problem.X.indices[mine])
            and np.array_equal(block.values, problem.X.data[mine])
            and np.array_equal(np.asarray(block.labels), problem.y[at : at + len(block)])
        ) * len(block)
        at += len(block)
    ok = same == at == problem.n
    return Outcome(
        clock.seconds,
        examples,
        megabytes=problem.svmlight.stat().st_size / 1e6,
        ok=ok,
        notes=["every bit as the matrix" if ok else "NOT the same numbers as the matrix"],
    )


def lazy(problem: Problem) -> Outcome:
    def weights_after(rows: int) -> NDArray[np.float64]:
        return _weights(model(problem).fit(*problem.head(rows)), problem.d)

    fitted = model(problem)
    with stopwatch() as clock:
        fitted.fit(problem.X, problem.y)
    return Outcome(
        clock.seconds / problem.n,
        examples=1,
        updates=1,
        weights_after=weights_after,
        notes=[f"mean of {problem.n:,} examples"],
    )


def single(problem: Problem) -> Outcome:
    rows = single_rows(3000)
    fitted = model(problem)
    fitted.partial_fit(*rows[0], classes=[-1.0, 1.0])
    with stopwatch() as clock:
        for X, y in rows[1:]:
            fitted.partial_fit(X, y)
    n = len(rows) - 1
    return Outcome(clock.seconds / n, examples=1, updates=1, notes=[f"mean of {n:,} calls"])


def spread(d: int) -> Contender:
    def run(problem: Problem) -> Outcome:
        found = dimension.measure("riata", d)
        # A page for each feature and two more arrays' worth: far below the whole, 1.6 GB and up.
        allowed = found.distinct * 4096 * 2 / 1e6 + 64
        return Outcome(
            found.seconds,
            examples=found.examples,
            updates=found.examples,
            megabytes=found.megabytes,
            ok=found.megabytes <= allowed,
            notes=[
                f"{found.distinct:,} distinct features; {found.megabytes:,.0f} MB became resident "
                f"({allowed:,.0f} allowed: two 4 KiB pages a feature, and 64 MB)"
            ],
        )

    return Contender(f"d = {d:,}", run)


HEAVY = ("sklearn", "pyarrow", "matplotlib", "scipy", "pandas", "polars")
FORBIDDEN = {"sklearn", "pyarrow", "matplotlib"}


def startup(problem: Problem) -> Outcome:
    argv = [sys.executable, "-m", "riata", "--version"]
    with stopwatch() as clock:
        subprocess.run(argv, check=True, capture_output=True)
    told = subprocess.run(
        [sys.executable, "-X", "importtime", *argv[1:]], check=True, capture_output=True, text=True
    )
    imported = set(re.findall(r"\|\s*(\w+)", told.stderr))
    heavy = [name for name in HEAVY if name in imported]
    return Outcome(
        clock.seconds,
        examples=0,
        ok=not FORBIDDEN & imported,
        notes=[f"imports {', '.join(heavy)}" if heavy else f"imports none of {', '.join(HEAVY)}"],
    )


CONTENDERS: Contenders = {
    "memory": [Contender("ElasticNetClassifier.fit", memory)],
    "text": [Contender("ElasticNetClassifier.learn(file)", text)],
    "vw": [
        Contender(f'learn(file), store="hashed", bits={BITS}', hashed),
        Contender("learn(file), names kept: the table store", vowpal_wabbit),
    ],
    "command": [Contender("riata train", command)],
    "reader": [Contender("open_source(file, threads=1)", reader)],
    "lazy": [Contender("ElasticNetClassifier.fit, lazy", lazy)],
    "dimension": [spread(10**6), spread(10**8)],
    "single": [Contender("ElasticNetClassifier.partial_fit", single)],
    "delta": [delta.contender("learners.InteriorPoint", 1000, delta.in_riata)],
    "startup": [Contender("riata --version", startup)],
}
