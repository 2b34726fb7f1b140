"""Vowpal Wabbit, as PyPI ships it.

The wheel has no command-line program, but the library under it is the same: a Workspace that is
given `--data` reads, parses (in a thread of its own) and learns in C++ before its constructor
returns, and `python -m vowpalwabbit` does exactly that. So Python costs one call, and its start
where processes are compared. No cache, constant on, one pass, `-b` as the problem says.
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import vowpalwabbit

from benchmarks.contest import Contender, Contenders, Outcome, stopwatch
from benchmarks.problems import Problem

NAME = "Vowpal Wabbit"

SGD = "--sgd: plain steps, as the others take"
USUAL = "its usual steps: adaptive, normalised, invariant"


def version() -> str:
    return importlib.metadata.version("vowpalwabbit")


def arguments(problem: Problem, *, sgd: bool) -> list[str]:
    shared = ["--data", str(problem.vowpal_wabbit), "--loss_function", "logistic"]
    shared += ["--l1", str(problem.l1), "--l2", str(problem.l2), "-b", str(problem.bits)]
    return [*shared, "--sgd", "-l", str(problem.eta0), "--power_t", "0.5"] if sgd else shared


def _loss(problem: Problem, model: Path) -> float:
    """The finished model's loss on the training examples: a testing run of Vowpal Wabbit's own."""
    test = ["--data", str(problem.vowpal_wabbit), "-t", "-i", str(model), "--quiet"]
    test += ["--loss_function", "logistic"]
    space = vowpalwabbit.Workspace(arg_list=test)
    loss = space.get_sum_loss() / space.get_weighted_examples()
    space.finish()
    return float(loss)


def text(sgd: bool) -> Contender:
    def run(problem: Problem) -> Outcome:
        with tempfile.TemporaryDirectory() as scratch:
            with stopwatch() as clock:
                space = vowpalwabbit.Workspace(arg_list=[*arguments(problem, sgd=sgd), "--quiet"])
            examples = round(space.get_weighted_examples())
            progressive = space.get_sum_loss() / examples
            model = Path(scratch) / "model.vw"
            space.save(str(model))
            space.finish()
            loss = _loss(problem, model)
        return Outcome(clock.seconds, examples, examples, loss, progressive)

    return Contender(f"Workspace(--data ...), {SGD if sgd else USUAL}", run)


def _python_start() -> float:
    """What a process pays for Python and the import, which a compiled program would not."""
    with stopwatch() as clock:
        subprocess.run([sys.executable, "-c", "import vowpalwabbit"], check=True)
    return clock.seconds


def command(sgd: bool) -> Contender:
    def run(problem: Problem) -> Outcome:
        with tempfile.TemporaryDirectory() as scratch:
            model = Path(scratch) / "model.vw"
            argv = [sys.executable, "-m", "vowpalwabbit", *arguments(problem, sgd=sgd)]
            with stopwatch() as clock:
                done = subprocess.run([*argv, "-f", str(model)], capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
            start = _python_start()
            said = dict(re.findall(r"^(.+?) = (\S+)$", done.stdout + done.stderr, re.MULTILINE))
            examples = int(said["number of examples"])
            return Outcome(
                clock.seconds,
                examples,
                examples,
                _loss(problem, model),
                float(said["average loss"]),
                overhead=start,
                notes=["the start of Python and the import taken off"],
            )

    return Contender(f"python -m vowpalwabbit, {SGD if sgd else USUAL}", run)


CONTENDERS: Contenders = {
    "text": [text(sgd=True), text(sgd=False)],
    "vw": [text(sgd=True), text(sgd=False)],
    "command": [command(sgd=True), command(sgd=False)],
}
