"""Contests: the contenders of a task in turn, several times over, and what comes of it as ratios."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np

from benchmarks import libraries, problems
from benchmarks.contest import Contender, Outcome
from benchmarks.problems import Problem
from benchmarks.ratio import Ratio, Run, Times, ratio, seconds
from benchmarks.tasks import RATES, TARGETS, Task

SLOW_REPEATS = 2
EQUAL_AFTER = 100
"""Examples after which contenders that must be equal are compared."""


@dataclass
class Line:
    """One contender's results in one task."""

    library: str
    adapter: str
    label: str
    seconds: list[float] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)
    examples: int = 0
    updates: int = 0
    loss: float | None = None
    megabytes: float | None = None
    notes: list[str] = field(default_factory=list)
    ok: bool = True
    error: str | None = None

    @property
    def times(self) -> Times | None:
        """None where it did not run, or where what is taken off leaves nothing that can be told from noise."""
        if not self.seconds:
            return None
        whole = Times(tuple(self.seconds))
        return whole.less(Times(tuple(self.overhead))) if self.overhead else whole

    def take(self, outcome: Outcome) -> None:
        if not self.seconds:
            self.loss = outcome.loss() if callable(outcome.loss) else outcome.loss
        self.seconds.append(outcome.seconds)
        if outcome.overhead is not None:
            self.overhead.append(outcome.overhead)
        self.examples, self.updates = outcome.examples, outcome.updates
        self.megabytes, self.notes = outcome.megabytes, outcome.notes
        self.ok = self.ok and outcome.ok


def adapters(run: Run, task: Task) -> tuple[dict[str, ModuleType], list[Ratio]]:
    """Riata and its rivals in this task; a row for each that is not installed."""
    found, missing = {}, []
    for name in libraries.KNOWN:
        if run.against and name != "riata" and name not in run.against:
            continue
        try:
            module = libraries.load(name)
        except ImportError as error:
            missing.append(Ratio(name, None, why=f"not installed ({error})"))
            continue
        if task.name in module.CONTENDERS:
            found[name] = module
    return found, missing


def wanted(task: Task, problem: str, adapter: str, label: str) -> bool:
    """Whether a target speaks of this contender."""
    return adapter == "riata" or any(
        (t.task, t.problem, t.theirs[0]) == (task.name, problem, adapter)
        and label.startswith(t.theirs[1])
        for t in TARGETS
    )


def compete(task: Task, problem: Problem, found: dict[str, ModuleType], run: Run) -> list[Line]:
    """All contenders once, then all again, so that what slows the machine slows all of them."""
    entered: list[tuple[Line, Contender]] = []
    for adapter, module in found.items():
        for contender in module.CONTENDERS[task.name]:
            if not run.quick or wanted(task, problem.name, adapter, contender.label):
                entered.append((Line(module.NAME, adapter, contender.label), contender))
    finished: dict[str, Outcome] = {}
    for turn in range(run.repeat):
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
                line.error = f"{type(error).__name__}: {error}".splitlines()[0][:120]
    lines = [line for line, _ in entered]
    for difference in different_work(task, lines, list(finished.values())):
        next(line for line in lines if line.adapter == "riata").notes.append(difference)
        next(line for line in lines if line.adapter == "riata").ok = False
    return lines


def different_work(task: Task, lines: list[Line], finished: list[Outcome]) -> list[str]:
    """What was not the same for all: examples, steps, and where they must be, weights."""
    done = [line for line in lines if line.seconds]
    said = []
    examples = {line.examples for line in done}
    if len(examples) > 1:
        said.append(f"DIFFERENT EXAMPLES {sorted(examples)}")
    steps = {line.updates for line in done if line.updates}
    if len(steps) > 1:
        said.append(f"DIFFERENT UPDATES {sorted(steps)}")
    if task.equal_weights and len(finished) > 1:
        weights = [o.weights_after(EQUAL_AFTER) for o in finished if o.weights_after is not None]
        apart = max(float(np.abs(w - weights[0]).max()) for w in weights[1:])
        scale = float(np.abs(weights[0]).max())
        if apart > 1e-10 * scale:
            said.append(f"DIFFERENT WEIGHTS, apart by {apart / scale:.1e} of the largest")
    return said


def _find(lines: list[Line], adapter: str, start: str) -> Line | None:
    for line in lines:
        if line.adapter == adapter and line.label.startswith(start):
            return line
    return None


def judge(task: Task, problem: str, lines: list[Line]) -> Iterator[Ratio]:
    """A row for each target, for each rival without one, for each speed and each check that failed."""
    targets = [t for t in TARGETS if (t.task, t.problem) == (task.name, problem)]
    judged = set()
    for target in targets:
        ours, theirs = _find(lines, "riata", target.ours), _find(lines, *target.theirs)
        if theirs is None:
            continue  # not asked for, or not installed, which has a row of its own
        judged.add((theirs.adapter, theirs.label))
        yield compare(problem, ours, theirs, target.ratio, target.ours)
    ours = _find(lines, "riata", "")
    for line in lines:
        if line.adapter != "riata" and (line.adapter, line.label) not in judged:
            yield compare(problem, ours, line, None, "")
    for rate in RATES:
        if (rate.task, rate.problem) == (task.name, problem) and ours and ours.megabytes:
            yield speed(problem, ours, rate.at_least)
    for line in lines:
        if line.adapter == "riata" and line.error is not None:
            yield Ratio(f"{line.label}, `{problem}`", None, why=f"failed: {line.error}")
        elif line.adapter == "riata" and line.seconds and (task.checked or not line.ok):
            yield check(problem, line)


def compare(
    problem: str, ours: Line | None, theirs: Line, least: float | None, which: str
) -> Ratio:
    """A rival's time over ours."""
    what = f"{theirs.library} {theirs.label} over {which or 'ours'}, `{problem}`"
    for line in (ours, theirs):
        if line is None or line.error is not None:
            why = "did not run" if line is None else f"failed: {line.error}"
            return Ratio(what, None, least=least, why=why)
    assert ours is not None
    loss = [f"{line.loss:.4f}" for line in (theirs, ours) if line.loss is not None]
    note = f"loss {' / '.join(loss)}" if len(loss) == 2 else ""
    return ratio(what, theirs.times, ours.times, least=least, note=note)


def speed(problem: str, ours: Line, least: float) -> Ratio:
    times = ours.times
    assert times is not None
    assert ours.megabytes is not None
    return Ratio(
        f"{ours.label}, `{problem}`",
        ours.megabytes / times.best,
        ours.megabytes / times.median,
        unit=" MB/s",
        least=least,
        detail=f"{ours.megabytes:.0f} MB in {seconds(times.best)}",
    )


def check(problem: str, line: Line) -> Ratio:
    """Something that is right or wrong: 1 or none."""
    what = f"{line.label}, `{problem}`: check"
    said = "; ".join(line.notes)
    if line.ok:
        return Ratio(what, 1.0, unit="", least=1.0, detail=said)
    return Ratio(what, None, least=1.0, unit="", why=f"WRONG: {said}")


def ratios(task: Task, run: Run) -> Iterator[Ratio]:
    """All of a task, on each of its problems."""
    found, missing = adapters(run, task)
    yield from missing
    for name in task.problems:
        aimed = any((t.task, t.problem) == (task.name, name) for t in TARGETS)
        if run.quick and not aimed and not task.checked:
            continue
        try:
            problem = problems.load(name)
        except problems.Absent as why:
            yield Ratio(f"`{name}`", None, why=str(why))
            continue
        yield from judge(task, name, compete(task, problem, found, run))
