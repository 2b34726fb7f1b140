"""The benchmark's arithmetic: turns, ratios, targets, and times that cannot be."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from benchmarks import libraries, machine, measure, tasks
from benchmarks.contest import Contender, Outcome
from benchmarks.ratio import Ratio, Run, Times, ratio

MEMORY = next(task for task in tasks.TASKS if task.name == "memory")
PROBLEM = cast(Any, SimpleNamespace(name="medline"))
RIVAL = 'SGDClassifier(penalty="elasticnet")'


def adapter(label: str, seconds: list[float], calls: list[str], **more: Any) -> Any:
    times = iter(seconds)

    def run(problem: Any) -> Outcome:
        calls.append(label)
        return Outcome(next(times), **{"examples": 10, "updates": 10, **more})

    return SimpleNamespace(NAME=label, CONTENDERS={"memory": [Contender(label, run)]})


def judged(found: dict[str, Any], repeat: int) -> list[Ratio]:
    lines = measure.compete(MEMORY, PROBLEM, found, Run(repeat))
    return list(measure.judge(MEMORY, "medline", lines))


def test_contenders_take_turns_and_the_best_counts() -> None:
    calls: list[str] = []
    found = {
        "riata": adapter("ours", [1.0, 0.5, 0.8], calls),
        "sklearn": adapter(RIVAL, [2.5, 2.0, 4.0], calls),
    }
    [row] = judged(found, 3)
    assert calls == ["ours", RIVAL] * 3
    assert row.value == pytest.approx(4.0)
    assert row.median == pytest.approx(2.5 / 0.8)
    assert row.least == 3.5
    assert row.reached is True


def test_a_rival_without_a_target_has_a_row_too_and_quick_leaves_it_out() -> None:
    found = {"riata": adapter("ours", [1.0] * 2, []), "sklearn": adapter("other", [2.0] * 2, [])}
    [row] = judged(found, 1)
    assert (row.value, row.least, row.reached) == (2.0, None, None)
    lines = measure.compete(MEMORY, PROBLEM, found, Run(1, quick=True))
    assert [line.adapter for line in lines] == ["riata"]


def test_unequal_work_is_a_missed_check() -> None:
    found = {
        "riata": adapter("ours", [1.0], []),
        "sklearn": adapter("theirs", [1.0], [], updates=9),
    }
    assert "DIFFERENT UPDATES [9, 10]" in judged(found, 1)[-1].why


def test_a_contender_that_fails_is_shown_and_stops_nobody() -> None:
    found = {"riata": adapter("ours", [], []), "sklearn": adapter("theirs", [1.0, 1.0], [])}
    lines = measure.compete(MEMORY, PROBLEM, found, Run(2))
    assert len(lines[1].seconds) == 2
    rows = list(measure.judge(MEMORY, "medline", lines))
    assert all(row.value is None and "failed: StopIteration" in row.why for row in rows)


def test_a_failed_check_of_its_own_is_said() -> None:
    found = {"riata": adapter("ours", [1.0], [], ok=False, notes=["wrong bits"])}
    [row] = judged(found, 1)
    assert row.why == "WRONG: wrong bits"


@pytest.mark.parametrize("seconds", [0.0, -7.4e-5, float("nan"), float("inf")])
def test_no_time_is_zero_or_negative(seconds: float) -> None:
    with pytest.raises(ValueError, match="is no time"):
        Outcome(seconds, examples=1)
    with pytest.raises(ValueError, match="is no time"):
        Times((1.0, seconds))
    with pytest.raises(ValueError, match="is no ratio"):
        Ratio("it", seconds)


def test_what_is_taken_off_leaves_a_time_or_nothing() -> None:
    """A start of Python of 66 ms taken off 66 ms once made -73.749 us."""
    calls: list[str] = []
    found = {
        "riata": adapter("ours", [0.2] * 3, calls),
        "sklearn": adapter(RIVAL, [0.066, 0.105, 0.110], calls, overhead=0.066),
    }
    [row] = judged(found, 3)
    assert row.value is None
    assert "not measurable" in row.why
    assert row.reached is None
    found = {
        "riata": adapter("ours", [0.2] * 3, calls),
        "sklearn": adapter(RIVAL, [0.70, 0.71, 0.72], calls, overhead=0.1),
    }
    [row] = judged(found, 3)
    assert row.value == pytest.approx(3.0)


def test_turns_are_taken_in_turn() -> None:
    calls: list[str] = []
    found = Run(3).turns({name: lambda name=name: calls.append(name) for name in "ab"})
    assert calls == list("ababab")
    assert all(len(times.seconds) == 3 for times in found.values())
    assert ratio("a", found["a"], found["b"], most=1e9).reached is True
    assert ratio("a", found["a"], found["b"], least=1e9).reached is False


def test_a_row_without_a_value_says_why() -> None:
    with pytest.raises(ValueError, match="nothing that says why"):
        Ratio("it", None)


def test_every_target_names_one_contender() -> None:
    problems = {task.name: task.problems for task in tasks.TASKS}
    for target in tasks.TARGETS:
        assert target.problem in problems[target.task]
        name, start = target.theirs
        try:
            module = libraries.load(name)
        except ImportError:
            continue
        labels = [c.label for c in module.CONTENDERS[target.task]]
        assert sum(label.startswith(start) for label in labels) == 1, target


def test_neighbours_do_not_count_this_process() -> None:
    neighbours = machine.Neighbours()
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        pass
    cores = neighbours.cores()
    assert cores is None or 0 <= cores <= (os.cpu_count() or 1)
