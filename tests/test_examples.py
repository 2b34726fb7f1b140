"""The examples run as they stand, from any folder, and leave nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
SAYS = {
    "click_stream": "of them have a weight",
    "exact_path": "no weight differs from liblinear's by more than 1e-0",
    "resume": "the same bits",
    "scorecard": "The card, in points: arrears",
    "spam": "zloty qubit",
}
"""What the reader is there for: each script prints it."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_it_runs(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert SAYS[script.stem] in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_all_are_listed() -> None:
    assert {script.stem for script in SCRIPTS} == set(SAYS)
    listed = (EXAMPLES / "README.md").read_text()
    for script in SCRIPTS:
        assert f"({script.name})" in listed


def test_the_click_stream_nears_the_best_possible(tmp_path: Path) -> None:
    script = EXAMPLES / "click_stream.py"
    out = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in out.splitlines()[1:4]]
    apart = [float(ours) - float(best) for _, ours, best in rows]
    assert apart == sorted(apart, reverse=True)
    assert 0 < apart[-1] < 0.005
