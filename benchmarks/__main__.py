"""`python -m benchmarks [TASK...]`: Riata beside its rivals, as ratios within one run.

    python -m benchmarks                                       all tasks
    python -m benchmarks --quick                               all that have a target, few turns
    python -m benchmarks memory vw --repeat 9                  two of them
    python -m benchmarks --quick --json results.json --page    keep the results; write benchmarks/README.md
    python -m benchmarks --quick --compare ../old --page       the same for another checkout, in turns
    python -m benchmarks --render results.json --before old.json --page      measure nothing

Every task is a process of its own. Another checkout is measured by these scripts with its own interpreter,
PATH/.venv/bin/python, in which its riata is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import libraries, machine, page, suite
from benchmarks.paths import ROOT
from benchmarks.ratio import Run

Results = list[dict[str, Any]]
PAGE = ROOT / "benchmarks" / "README.md"


def options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "task", nargs="*", help=f"of {', '.join(suite.NAMES)}; all if none is named"
    )
    parser.add_argument("--quick", action="store_true", help="only what targets need; 3 turns")
    parser.add_argument("--repeat", type=int, metavar="N", help="turns (default 7, or 3 if quick)")
    parser.add_argument("--against", default="", metavar="LIST", help="rivals, by comma")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the results file to write")
    parser.add_argument("--add", action="store_true", help="keep the other tasks of that file")
    parser.add_argument("--render", type=Path, metavar="FILE", help="measure nothing, show these")
    parser.add_argument("--before", type=Path, metavar="FILE", help="results to show beside")
    parser.add_argument("--compare", type=Path, metavar="PATH", help="measure that checkout too")
    parser.add_argument(
        "--page", type=Path, nargs="?", const=PAGE, metavar="FILE", help="write the page"
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 if a target was missed")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    given.repeat = given.repeat or (3 if given.quick else 7)
    given.against = tuple(filter(None, given.against.split(",")))
    for named, known in ((given.task, suite.NAMES), (given.against, libraries.KNOWN)):
        if unknown := set(named) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return given


def spawn(name: str, given: argparse.Namespace, python: str) -> dict[str, Any]:
    """A task in a process of its own; how busy others were meanwhile comes with it."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "task.json"
        argv = [python, "-m", "benchmarks", name, "--repeat", str(given.repeat)]
        argv += ["--against", ",".join(given.against), "--worker", str(out)]
        argv += ["--quick"] if given.quick else []
        neighbours = machine.Neighbours()
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(argv, cwd=ROOT, env=environment, stdout=sys.stderr)
        if done.returncode == 0:
            return dict(json.loads(out.read_text())) | {"others": neighbours.cores()}
    why = f"the process ended with status {done.returncode}"
    failed = {"what": name, "value": None, "why": why, "reached": False}
    return {"task": name, "title": name, "ratios": [failed], "others": None}


def interpreter(checkout: Path) -> str:
    python = checkout.absolute() / ".venv" / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"{checkout}: there is no {python}: install that checkout's riata there")
    return str(python)


def measure(given: argparse.Namespace) -> tuple[Results, Results | None]:
    """The results, and those of the other checkout, each task of one after that of the other."""
    found: Results = []
    others: Results | None = [] if given.compare else None
    if given.add and given.json and given.json.exists():
        chosen = given.task or suite.NAMES
        kept = json.loads(given.json.read_text())
        found = [task for task in kept if task["task"] not in chosen]
    for name in given.task or suite.NAMES:
        if others is not None:
            others.append(spawn(name, given, interpreter(given.compare)))
            keep(others, given.json and given.json.with_suffix(".before.json"))
        here = spawn(name, given, sys.executable)
        found = sorted([*found, here], key=lambda task: suite.NAMES.index(task["task"]))
        keep(found, given.json)
        print(page.table([here], others and others[-1:]), flush=True)
    return found, others


def keep(results: Results, path: Path | None) -> None:
    """After every task, so that a run that is stopped loses nothing."""
    if path:
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def main(argv: list[str] | None = None) -> int:
    given = options(argv)
    if given.worker:
        run = Run(given.repeat, given.quick, given.against)
        given.worker.write_text(json.dumps(suite.perform(given.task[0], run)))
        return 0
    before = json.loads(given.before.read_text()) if given.before else None
    if given.render:
        found = json.loads(given.render.read_text())
    else:
        found, others = measure(given)
        before = others or before
    if given.page:
        given.page.write_text(page.whole(found, before))
        print(f"wrote {given.page}")
    elif given.render:
        print(page.whole(found, before))
    print(page.summary(found, before) + page.disturbed(found))
    missed = any(row["reached"] is False for task in found for row in task["ratios"])
    return 1 if given.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
