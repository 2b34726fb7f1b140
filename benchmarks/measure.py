"""Runs contenders in turn, several times over, and puts their results together."""

from __future__ import annotations

import statistics
import warnings
from dataclasses import asdict, dataclass, field
from types import ModuleType

import numpy as np

from benchmarks import machine
from benchmarks.contest import Contender, Outcome
from benchmarks.problems import Problem
from benchmarks.tasks import RATES, TARGETS, Target, Task

SLOW_REPEATS = 2
QUIET = 0.15
"""More cores than this in use by others, and a verdict is marked as disturbed."""
EQUAL_AFTER = 100
"""Examples after which contenders that must be equal are compared."""


@dataclass
class Line:
    """One contender's results in one task."""

    library: str
    adapter: str
    label: str
    seconds: list[float] = field(default_factory=list)
    examples: int = 0
    updates: int = 0
    loss: float | None = None
    progressive: float | None = None
    megabytes: float | None = None
    notes: list[str] = field(default_factory=list)
    ok: bool = True
    error: str | None = None

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def take(self, outcome: Outcome) -> None:
        if not self.seconds:
            self.loss = outcome.loss() if callable(outcome.loss) else outcome.loss
        self.seconds.append(outcome.seconds)
        self.examples, self.updates = outcome.examples, outcome.updates
        self.progressive = outcome.progressive
        self.megabytes, self.notes = outcome.megabytes, outcome.notes
        self.ok = self.ok and outcome.ok


@dataclass
class Verdict:
    """A target and what was measured; `reached` is None where a contender is missing."""

    what: str
    wanted: float
    unit: str
    measured: float | None
    measured_median: float | None
    reached: bool | None


@dataclass
class Result:
    """A task on a problem."""

    task: Task
    problem: str
    lines: list[Line]
    equal_work: str = ""
    disturbed: float | None = None
    """Cores that other processes used meanwhile."""
    verdicts: list[Verdict] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def _equal_work(task: Task, lines: list[Line], finished: list[Outcome]) -> str:
    """Whether all did the same: same examples, same steps, and where it must be, same weights."""
    done = [line for line in lines if line.seconds]
    if not done:
        return "nothing ran"
    said = []
    examples = {line.examples for line in done}
    said.append("same examples" if len(examples) == 1 else f"DIFFERENT EXAMPLES {examples}")
    steps = {line.updates for line in done if line.updates}
    if steps:
        said.append("same number of updates" if len(steps) == 1 else f"DIFFERENT UPDATES {steps}")
    if task.equal_weights and len(finished) > 1:
        weights = [o.weights_after(EQUAL_AFTER) for o in finished if o.weights_after is not None]
        apart = max(float(np.abs(w - weights[0]).max()) for w in weights[1:])
        scale = float(np.abs(weights[0]).max())
        word = "same weights" if apart <= 1e-10 * scale else "DIFFERENT WEIGHTS"
        said.append(
            f"{word} after {EQUAL_AFTER} examples (apart by {apart / scale:.1e} of largest)"
        )
    return "; ".join(said)


def _find(lines: list[Line], adapter: str, start: str) -> Line | None:
    for line in lines:
        if line.adapter == adapter and line.label.startswith(start) and line.seconds:
            return line
    return None


def _ratio(target: Target, lines: list[Line]) -> Verdict:
    ours, theirs = _find(lines, "riata", target.ours), _find(lines, *target.theirs)
    what = f"{target.ours}{' ' if target.ours else ''}against {target.theirs[1]}"
    if ours is None or theirs is None:
        return Verdict(what, target.ratio, "x", None, None, None)
    best, median = theirs.best / ours.best, theirs.median / ours.median
    return Verdict(what, target.ratio, "x", best, median, best >= target.ratio)


def judge(result: Result) -> list[Verdict]:
    """The targets of this task on this problem."""
    verdicts = []
    for target in TARGETS:
        if (target.task, target.problem) == (result.task.name, result.problem):
            verdicts.append(_ratio(target, result.lines))
    for rate in RATES:
        ours = _find(result.lines, "riata", "")
        if (rate.task, rate.problem) == (result.task.name, result.problem):
            if ours is None or ours.megabytes is None:
                verdicts.append(Verdict("alone", rate.at_least, " MB/s", None, None, None))
                continue
            best, median = ours.megabytes / ours.best, ours.megabytes / ours.median
            reached = best >= rate.at_least
            verdicts.append(Verdict("alone", rate.at_least, " MB/s", best, median, reached))
    for line in result.lines:
        if line.adapter == "riata" and line.seconds and (result.task.checked or not line.ok):
            what = f"check of {line.label}: {'; '.join(line.notes)}"
            verdicts.append(Verdict(what, 0.0, "", None, None, line.ok))
    return verdicts


def run_task(task: Task, problem: Problem, adapters: dict[str, ModuleType], repeat: int) -> Result:
    """All contenders once, then all again, so that what slows the machine slows all of them."""
    entered: list[tuple[Line, Contender]] = []
    for adapter, module in adapters.items():
        for contender in module.CONTENDERS.get(task.name, []):
            entered.append((Line(module.NAME, adapter, contender.label), contender))
    finished: dict[str, Outcome] = {}
    neighbours = machine.Neighbours()
    for turn in range(repeat):
        for line, contender in entered:
            if line.error is not None or (contender.slow and turn >= SLOW_REPEATS):
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # "did not converge in one pass" is the point
                    outcome = contender.run(problem)
                    line.take(outcome)
                finished[line.adapter + line.label] = outcome
            except Exception as error:
                line.error = f"{type(error).__name__}: {error}"
    lines = [line for line, _ in entered]
    result = Result(task, problem.name, lines, disturbed=neighbours.cores())
    result.equal_work = _equal_work(task, lines, list(finished.values()))
    result.verdicts = judge(result)
    return result
