"""`python -m benchmarks.run [PROBLEM...] [--against LIST] [--repeat N]`, from a checkout."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy

from benchmarks import libraries, machine, problems, report
from benchmarks.measure import Result, run_task
from benchmarks.tasks import PROBLEMS, TASKS, Task


def options(argv: list[str] | None) -> argparse.Namespace:
    names = [task.name for task in TASKS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "problem", nargs="*", help=f"of {', '.join(PROBLEMS)}; all of them if none is named"
    )
    parser.add_argument(
        "--against", metavar="LIST", default=",".join(libraries.KNOWN[1:]), help="rivals, by comma"
    )
    parser.add_argument("--tasks", metavar="LIST", default=",".join(names), help="by comma")
    parser.add_argument("--repeat", type=int, default=7, metavar="N", help="turns (default 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything measured")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="the report; replaces a marked part"
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 if a target was missed")
    chosen = parser.parse_args(argv)
    chosen.problem = chosen.problem or list(PROBLEMS)
    chosen.against = [x for x in chosen.against.split(",") if x]
    chosen.tasks = [x for x in chosen.tasks.split(",") if x]
    for given, known in (
        (chosen.problem, PROBLEMS),
        (chosen.against, libraries.KNOWN),
        (chosen.tasks, names),
    ):
        if unknown := set(given) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return chosen


def adapters(names: list[str], skipped: dict[str, str]) -> dict[str, ModuleType]:
    """Riata and the rivals that are installed."""
    found = {}
    for name in ["riata", *(name for name in names if name != "riata")]:
        try:
            found[name] = libraries.load(name)
        except ImportError as error:
            skipped[name] = f"not installed ({error})"
    return found


def work(chosen: argparse.Namespace) -> list[tuple[Task, str]]:
    """What to run: tasks with a problem of their own belong to the `medline` benchmark."""
    pairs = []
    for task in TASKS:
        if task.name not in chosen.tasks:
            continue
        if task.problem is None:
            pairs += [(task, name) for name in chosen.problem]
        elif "medline" in chosen.problem:
            pairs.append((task, task.problem))
    # A problem stays loaded while its tasks run.
    order = [name for _, name in pairs]
    return sorted(pairs, key=lambda pair: order.index(pair[1]))


def main(argv: list[str] | None = None) -> int:
    chosen = options(argv)
    skipped: dict[str, str] = {}
    found = adapters(chosen.against, skipped)
    versions = {module.NAME: module.version() for module in found.values()}
    versions |= {"NumPy": np.__version__, "SciPy": scipy.__version__}
    top = report.head(machine.describe(), versions, skipped)
    print(top, flush=True)
    results: list[Result] = []
    described: dict[str, str] = {}
    for task, name in work(chosen):
        if name in skipped:
            continue
        try:
            problem = problems.load(name)
        except problems.Absent as why:
            skipped[name] = str(why)
            print(f"Skipped: {name}: {why}.\n", flush=True)
            continue
        if not any(task.name in module.CONTENDERS for module in found.values()):
            continue
        described[name] = str(problem)
        results.append(run_task(task, problem, found, chosen.repeat))
        print(report.section(results[-1]), flush=True)
    print(report.targets(results))
    if chosen.json:
        everything = {
            "machine": machine.describe(),
            "versions": versions,
            "skipped": skipped,
            "problems": described,
            "repeat": chosen.repeat,
            "results": [result.as_json() for result in results],
        }
        chosen.json.write_text(json.dumps(everything, indent=1) + "\n")
    if chosen.markdown:
        top = report.head(machine.describe(), versions, skipped)
        report.write(chosen.markdown, report.whole(top, list(described.values()), results))
    missed = any(v.reached is False for result in results for v in result.verdicts)
    return 1 if chosen.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
