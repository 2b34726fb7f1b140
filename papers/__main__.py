"""`python -m papers [NAME...] [--quick] [--check] [--page] [--into FOLDER] [--jobs N]`: every item, and the page.

NAME is a paper (lipton-2015) or an item of it (lipton-2015/equality). An item that is on disk from the same commit is
not made again, so an interrupted run goes on at the next one.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.machine import describe

from papers import one_page as page
from papers.data import HERE, DataError, check_folder, folder, missing
from papers.items import ITEMS, PAPERS, Item

ROOT = HERE.parent
RUNNING: set[subprocess.Popen[str]] = set()
"""The processes of the items that are being made."""
STOPPED = threading.Event()


class PapersError(Exception):
    """Something that the caller can mend."""


def commit() -> str:
    """The commit, and whether files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout

    try:
        head = git("rev-parse", "--short=10", "HEAD").strip()
        changes = git("diff", "HEAD", "--", "src", "cpp", "papers/**/*.py", "papers/*.py")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head if not changes else f"{head}+{hashlib.sha256(changes.encode()).hexdigest()[:8]}"


def wanted(names: list[str]) -> list[Item]:
    """The items that these names speak of; all where there are none."""
    known = {*PAPERS, *(item.key for item in ITEMS)}
    for name in names:
        if name not in known:
            raise PapersError(
                f"{name!r} is no paper and no item; there are {', '.join(sorted(known))}"
            )
    return [item for item in ITEMS if not names or item.paper in names or item.key in names]


def make(item: Item, quick: bool) -> dict[str, Any]:
    """Run the item's script in a process of its own: papers have modules of the same names."""
    process = subprocess.Popen(
        [sys.executable, "-m", "papers", "--one", item.key, *(["--quick"] if quick else [])],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"RIATA_DATA": str(folder()), "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
        | ({} if page.FOLDER == HERE else {"RIATA_PAPERS": str(page.FOLDER)}),
    )  # fmt: skip
    RUNNING.add(process)
    if STOPPED.is_set():  # Ctrl-C came while the process began
        stop()
    out, _ = process.communicate()
    RUNNING.discard(process)
    if process.returncode != 0:
        raise PapersError(f"{item.key}: its script failed, see above")
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def stop() -> None:
    """End what is being made: in sessions of their own, the items do not see Ctrl-C."""
    STOPPED.set()
    for process in list(RUNNING):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def one(key: str, quick: bool) -> None:
    """In that process: the result, as the last line."""
    [item] = [i for i in ITEMS if i.key == key]
    sys.path.insert(0, str(HERE / item.paper))
    module, _, function = item.script.partition(":")
    found = getattr(importlib.import_module(module), function or "item")(quick)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found["processor_seconds"] = sum(u.ru_utime + u.ru_stime for u in used)
    print(json.dumps(found))


def save(path: Path, text: str) -> None:
    """All of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(path.suffix + ".part")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise PapersError(f"{path} cannot be written: {error.strerror}") from error


def run(items: list[Item], quick: bool, again: bool, jobs: int) -> None:
    """Make what is not there yet, `jobs` items at a time; each is kept as soon as it is made."""
    now = commit()
    if any(item.data for item in items):
        check_folder()
    for place in ("", "results", *sorted({item.paper for item in items})):  # before hours of work
        trial = page.FOLDER / place / ".writable"
        save(trial, "")
        trial.unlink()
    ended = threading.Event()
    STOPPED.clear()

    def unless_ended(item: Item) -> None:
        if ended.is_set():
            return
        try:
            run_one(item, quick, again, now)
        except BaseException:
            ended.set()
            raise

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for done in [pool.submit(unless_ended, item) for item in items]:
                done.result()
        except KeyboardInterrupt:
            stop()
            raise
        finally:
            ended.set()
    save(page.page(), page.text())


def run_one(item: Item, quick: bool, again: bool, now: str) -> None:
    """One item: make it, note that its data is absent, or leave it as it is."""
    before = page.read(item)
    absent = missing(item.data)
    result: dict[str, Any]
    if absent:
        print(f"{item.key}: a gap, {', '.join(absent)} is not under {folder()}", flush=True)
        result = {"absent": absent, "quick": quick, "commit": now, "seconds": 0.0}
    elif (
        before
        and not again
        and (before["commit"], before["quick"], before.get("absent")) == (now, quick, None)
    ):
        print(f"{item.key}: already made from this commit", flush=True)
        return
    else:
        print(f"{item.key} ...", flush=True)
        began = time.perf_counter()
        result = make(item, quick)
        seconds = time.perf_counter() - began
        result |= {
            "commit": now,
            "quick": quick,
            "seconds": seconds,
            "processor": describe()["processor"],
        }
        print(f"{item.key}: {seconds:.0f} s", flush=True)
    save(page.stored(item), json.dumps(result, indent=1) + "\n")


def check() -> None:
    """The page must be what the results say, and the data that is there what the items are about."""
    for item in ITEMS:
        missing(item.data)
    path = page.page()
    shown = path.read_text(encoding="utf-8") if path.exists() else ""
    if shown != page.text():
        raise PapersError(f"{path} is not what papers/results say: run `python -m papers --page`")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a paper, or an item of it; all by default"
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer draws: all items in at most 10 minutes"
    )
    parser.add_argument(
        "--check", action="store_true", help="make nothing: is the page what the results say?"
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="make nothing: write the page from the results that are there",
    )
    parser.add_argument(
        "--again", action="store_true", help="also items that are there from this commit"
    )
    parser.add_argument(
        "--into", metavar="FOLDER", type=Path, help="results and page go there, not into papers/"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, help="items made at the same time; 2 with --quick, else 1"
    )
    parser.add_argument("--one", metavar="ITEM", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    page.FOLDER = given.into.resolve() if given.into else page.FOLDER
    try:
        if given.one:
            one(given.one, given.quick)
        elif given.page:
            save(page.page(), page.text())
        elif given.check:
            check()
        else:
            jobs = given.jobs or (2 if given.quick else 1)
            if jobs < 1:
                raise PapersError(f"--jobs {jobs} makes nothing: at least 1")
            run(wanted(given.names), given.quick, given.again, jobs)
    except (PapersError, DataError) as error:
        print(f"papers: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("papers: interrupted; the same command goes on at the next item", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
