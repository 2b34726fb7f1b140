"""Whatever a cache holds, signed or not, reading it is a DataError or Blocks that can be learned from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_changed_and_signed_again() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.sources.cache.fuzz_caches", "900"],
        capture_output=True, text=True, cwd=ROOT, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    refused, read = (int(word) for word in done.stdout.split() if word.isdigit())
    assert refused > 300
    assert read > 50
