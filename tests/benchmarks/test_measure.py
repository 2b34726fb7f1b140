"""The benchmark's arithmetic: turns, ratios, verdicts, and the report."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from benchmarks import libraries, machine, measure, report, tasks
from benchmarks.contest import Contender, Outcome

MEMORY = next(task for task in tasks.TASKS if task.name == "memory")
PROBLEM = cast(Any, SimpleNamespace(name="medline"))


def adapter(label: str, seconds: list[float], calls: list[str], **more: Any) -> Any:
    times = iter(seconds)

    def run(problem: Any) -> Outcome:
        calls.append(label)
        return Outcome(next(times), **{"examples": 10, "updates": 10, **more})

    return SimpleNamespace(NAME=label, CONTENDERS={"memory": [Contender(label, run)]})


def test_contenders_take_turns_and_the_best_counts() -> None:
    calls: list[str] = []
    rival = 'SGDClassifier(penalty="elasticnet")'
    found = {
        "riata": adapter("ours", [1.0, 0.5, 0.8], calls),
        "sklearn": adapter(rival, [2.5, 2.0, 4.0], calls),
    }
    result = measure.run_task(MEMORY, PROBLEM, found, repeat=3)
    assert calls == ["ours", rival] * 3
    assert result.equal_work == "same examples; same number of updates"
    reached = next(v for v in result.verdicts if "elasticnet" in v.what)
    assert reached.measured == pytest.approx(4.0)
    assert reached.measured_median == pytest.approx(2.5 / 0.8)
    assert reached.reached is True
    missing = next(v for v in result.verdicts if '"l2"' in v.what)
    assert missing.reached is None


def test_unequal_work_is_shouted() -> None:
    found = {
        "riata": adapter("ours", [1.0], []),
        "sklearn": adapter("theirs", [1.0], [], updates=9),
    }
    result = measure.run_task(MEMORY, PROBLEM, found, repeat=1)
    assert "DIFFERENT UPDATES" in result.equal_work


def test_a_contender_that_fails_is_shown_and_stops_nobody() -> None:
    found = {"riata": adapter("ours", [], []), "sklearn": adapter("theirs", [1.0, 1.0], [])}
    result = measure.run_task(MEMORY, PROBLEM, found, repeat=2)
    assert len(result.lines[1].seconds) == 2
    assert "failed: StopIteration" in report.section(result)


def test_a_failed_check_of_its_own_is_a_missed_target() -> None:
    found = {"riata": adapter("ours", [1.0], [], ok=False, notes=["wrong bits"])}
    result = measure.run_task(MEMORY, PROBLEM, found, repeat=1)
    assert [v for v in result.verdicts if v.reached is False and "wrong bits" in v.what]
    assert "**missed**" in report.targets([result])


def test_every_target_names_one_contender() -> None:
    names = {task.name for task in tasks.TASKS}
    for target in tasks.TARGETS:
        assert target.task in names
        name, start = target.theirs
        try:
            module = libraries.load(name)
        except ImportError:
            continue
        labels = [c.label for c in module.CONTENDERS[target.task]]
        assert sum(label.startswith(start) for label in labels) == 1, target


def test_the_report_replaces_only_what_is_between_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.write(path, "new\n")
    report.write(path, "newer\n")
    text = path.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "newer" in text
    assert "old" not in text
    assert text.count(report.BEGIN) == text.count(report.END) == 1


def test_a_disturbed_verdict_is_marked() -> None:
    rival = 'SGDClassifier(penalty="elasticnet")'
    found = {"riata": adapter("ours", [1.0], []), "sklearn": adapter(rival, [9.0], [])}
    result = measure.run_task(MEMORY, PROBLEM, found, repeat=1)
    result.disturbed = 0.0
    assert "disturbed" not in report.targets([result])
    result.disturbed = 1.3
    assert "reached, but disturbed" in report.targets([result])
    assert "**Disturbed**: other processes used 1.30 cores" in report.section(result)


def test_neighbours_do_not_count_this_process() -> None:
    neighbours = machine.Neighbours()
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        pass
    cores = neighbours.cores()
    assert cores is None or 0 <= cores <= (os.cpu_count() or 1)
