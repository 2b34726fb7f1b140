"""The memory of a run over a stream that is far larger: gigabytes of text through a pipe.

The file of the benchmark of clicks (of `medline` for svmlight) goes again and again to the standard input
of `riata train -`, which learns into a hashed store of 2^20 rows. What counts is the peak of its process.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks import clicks
from benchmarks.paths import CACHE
from benchmarks.problems import load
from benchmarks.ratio import Ratio, Run
from benchmarks.steps import FLAGS

TITLE = "Memory of a stream through a pipe"

WANTED = 300.0
FIXED = (
    "--method", "elastic-net", *FLAGS, "--store", "hashed", "--bits", "20", "--quiet",
)  # fmt: skip


def vw() -> Path:
    return clicks.make(1_000_000)["vw"]


def tsv() -> Path:
    """Without its header, which would come again."""
    path = CACHE / "clicks-headless.tsv"
    if not path.exists():
        with open(clicks.make(1_000_000)["tsv"], "rb") as text, open(path, "wb") as out:
            text.readline()
            while data := text.read(1 << 20):
                out.write(data)
    return path


def svmlight() -> Path:
    return load("medline").svmlight


FORMS: dict[str, tuple[Callable[[], Path], tuple[str, ...]]] = {
    "vw": (vw, ()),
    "tsv": (tsv, ("--no-header-line", "--label", "1")),
    "svmlight": (svmlight, ()),
}


LAUNCH = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""Between this process and the one that is measured: a peak begins with the size of the parent."""


def through_a_pipe(form: str, gigabytes: float) -> tuple[float, float, float]:
    """Gigabytes, seconds, and the peak in megabytes."""
    make, options = FORMS[form]
    path = make()
    size = path.stat().st_size
    times = max(1, round(gigabytes * 1e9 / size))
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", "-", "--format", form, "-o", f"{folder}/m.riata", *FIXED, *options]
        argv = [sys.executable, "-c", LAUNCH, sys.executable, "-m", "riata", *words]
        start = time.perf_counter()
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdin is not None
        with suppress(BrokenPipeError), child.stdin as pipe:  # its exit status says more
            for _ in range(times):
                with open(path, "rb", buffering=0) as text:
                    shutil.copyfileobj(text, pipe, 1 << 20)
        assert child.stdout is not None
        peak = child.stdout.read().split()[-1]
        if child.wait() != 0:
            raise RuntimeError(f"riata {' '.join(words)}: exit {child.returncode}")
    return times * size / 1e9, time.perf_counter() - start, int(peak) * 1024 / 1e6


def ratios(run: Run) -> Iterator[Ratio]:
    for form in FORMS:
        size, seconds, peak = through_a_pipe(form, 1.0 if run.quick else 5.0)
        yield Ratio(
            f"peak of `riata train -`, {form} text",
            peak,
            unit=" MB",
            most=WANTED,
            detail=f"{size:.1f} GB in {seconds:.1f} s",
        )
