from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_killed_runs_go_on_to_the_same_bits() -> None:
    """In a program of its own, which forks and has no other threads. `--runs 200` by hand."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.kill_runs", "--runs", "18"],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong" in done.stdout
    assert "'killed'" in done.stdout
