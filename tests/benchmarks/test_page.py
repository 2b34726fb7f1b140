"""The page of results: generated, short, and what the results file says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import __main__ as command
from benchmarks import page, suite
from benchmarks.ratio import Ratio, Run

HERE = Path(suite.__file__).parent


def task(name: str, *rows: Ratio, others: float = 0.0, commit: str = "abc") -> dict[str, Any]:
    return {
        "task": name, "title": name, "riata": "0.1.0", "commit": commit, "repeat": 3, "quick": True,
        "seconds": 60.0, "machine": {"processor": "some"}, "versions": {"numpy": "2"},
        "ratios": [row.as_json() for row in rows], "others": others,
    }  # fmt: skip


def test_the_page_is_what_the_results_file_says() -> None:
    found = json.loads((HERE / "results.json").read_text())
    old = HERE / "results.before.json"
    before = json.loads(old.read_text()) if old.exists() else None
    text = (HERE / "README.md").read_text()
    assert text == page.whole(found, before), (
        "generate it: python -m benchmarks --render benchmarks/results.json --page"
        + (" --before benchmarks/results.before.json" if before else "")
    )
    assert len(text.splitlines()) <= 150
    assert "<!--" not in text


def test_before_and_after_in_one_table() -> None:
    rows = [
        Ratio("up", 4.0, least=3.0),
        Ratio("down", 2.0, least=1.0),
        Ratio("cost", 1.0, most=2.0),
        Ratio("extra", 1.0),
        Ratio("gone", None, least=1.0, why="not installed"),
    ]
    old = [Ratio("up", 4.2, least=3.0), Ratio("down", 4.0, least=1.0), Ratio("cost", 1.5, most=2.0)]
    text = page.whole([task("memory", *rows)], [task("memory", *old, commit="old")])
    lines = {line.split(" | ")[1]: line for line in text.splitlines() if line.startswith("| `")}
    assert "| 4.20x | 4.00x |" in lines["up"]
    assert lines["up"].endswith("| reached, holds |")
    assert lines["down"].endswith("| reached, **fell** |")
    assert lines["cost"].endswith("| reached, holds |")
    assert "not installed" in lines["gone"]
    assert "extra" not in lines
    assert "2 ratios with a target hold" in text
    assert "1 fell" in text
    assert "*Before* is old" in text


def test_disturbed_tasks_are_named() -> None:
    row = Ratio("x", 1.0, least=0.5)
    calm, busy = task("memory", row), task("vw", row, others=1.3)
    assert "isturbed" not in page.table([calm])
    assert "| reached (disturbed) |" in page.table([busy])
    assert "**Disturbed**" not in page.whole([calm])
    assert "`vw` (1.3 cores)" in page.whole([calm, busy])


def test_every_task_is_known_and_unknown_ones_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, module in suite.MODULES.items():
        path = HERE / f"{module.removeprefix('benchmarks.')}.py"
        assert "def ratios(run: Run)" in path.read_text(), name
    with pytest.raises(SystemExit):
        command.options(["nothing"])
    assert "unknown: nothing" in capsys.readouterr().err


def test_a_task_that_dies_is_a_row_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    died = command.spawn("memory", command.options(["memory"]), "/bin/false")
    [row] = died["ratios"]
    assert row["why"] == "the process ended with status 1"
    assert row["reached"] is False

    monkeypatch.setattr(command, "spawn", lambda name, given, python: task(name, Ratio("x", 1.0)))
    out = tmp_path / "results.json"
    assert command.main(["memory", "--json", str(out)]) == 0
    capfd.readouterr()
    assert command.main(["startup", "vw", "--json", str(out), "--add"]) == 0
    assert [line.split("`")[1] for line in capfd.readouterr().out.splitlines() if "`" in line] == [
        "startup",
        "vw",
    ]
    assert [found["task"] for found in json.loads(out.read_text())] == [
        "memory",
        "vw",
        "startup",
    ]
    assert command.main(["--render", str(out), "--page", str(tmp_path / "page.md")]) == 0
    assert (tmp_path / "page.md").read_text().startswith("# Benchmarks")


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="install that checkout's riata there"):
        command.interpreter(tmp_path)


def test_perform_says_what_it_ran_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "contest_ratios", lambda contest, run: [Ratio("x", 2.0)])
    found = suite.perform("memory", Run(3))
    assert found["riata"]
    assert found["versions"]["numpy"]
    assert found["machine"]["cores"]
    assert found["ratios"][0]["value"] == 2.0
