"""Fuzzing readers of files in a program of its own: a finding may take the process with it."""

from __future__ import annotations

import faulthandler
import random
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from riata.errors import RiataError

ROOT = Path(__file__).parents[2]


def run(module: str, count: int) -> tuple[int, int]:
    """So many files through the module, which calls `main`: how many were refused, and how many read."""
    done = subprocess.run(
        [sys.executable, "-m", module, str(count)],
        capture_output=True, text=True, cwd=ROOT, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    refused, read = (int(word) for word in done.stdout.split() if word.isdigit())
    return refused, read


def main(
    seeds: Callable[[Path], dict[str, bytes]],
    changed: Callable[[bytes, random.Random], bytes],
    suffix: Callable[[str], str],
    use: Callable[[Path], None],
) -> int:
    """The program: COUNT files, each a seed that was changed, from the seed with the number FIRST on.

    `use` reads one. It may say RiataError, and nothing else. The last line printed names the seed.
    """
    faulthandler.enable()
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    findings, refused, read = 0, 0, 0
    with tempfile.TemporaryDirectory() as place:
        kinds = list(seeds(Path(place)).items())
        for seed in range(first, first + count):
            rng = random.Random(seed)
            name, content = kinds[seed % len(kinds)]
            path = Path(place, "changed" + suffix(name))
            path.write_bytes(changed(content, rng))
            print(f"\r{seed} {name}", end="", file=sys.stderr, flush=True)
            try:
                use(path)
                read += 1
            except RiataError:
                refused += 1
            except Exception:
                findings += 1
                print(f"\nseed {seed}, {name}:\n{traceback.format_exc(limit=-4)}", file=sys.stderr)
    print(f"{refused} refused, {read} read")
    return min(findings, 100)
