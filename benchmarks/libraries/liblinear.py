"""LIBLINEAR: a batch solver. It works until it has converged: many passes, not one."""

from __future__ import annotations

import importlib.metadata

import numpy as np
from liblinear.liblinearutil import problem as liblinear_problem
from liblinear.liblinearutil import train

from benchmarks.contest import Contender, Contenders, Outcome, logistic_loss, stopwatch
from benchmarks.problems import Problem

NAME = "LIBLINEAR"


def version() -> str:
    return importlib.metadata.version("liblinear-official")


def memory(solver: int, what: str) -> Contender:
    def run(problem: Problem) -> Outcome:
        # LIBLINEAR minimises penalty + C * sum of losses: C = 1 / (n * penalty per example).
        weight = problem.l2 if solver == 0 else problem.l1
        options = f"-s {solver} -c {1 / (problem.n * weight):.6g} -B 1 -e 0.01 -q"
        data = liblinear_problem(problem.y, problem.X.astype(np.float64), bias=1)
        with stopwatch() as clock:
            fitted = train(data, options)
        flip = 1.0 if fitted.get_labels()[0] > 0 else -1.0
        w = flip * np.ctypeslib.as_array(fitted.w, (problem.d + 1,))
        w = w.copy()
        return Outcome(
            clock.seconds,
            examples=problem.n,
            loss=lambda: logistic_loss(problem, w[:-1], w[-1]),
            notes=["solved to -e 0.01, many passes; data converted before"],
        )

    return Contender(f"train -s {solver} ({what})", run, slow=True)


CONTENDERS: Contenders = {
    "memory": [memory(0, "l2"), memory(6, "l1")],
}
