"""What `auto` costs: time beside Vowpal Wabbit and one model, peak memory, and the files it leaves."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import riata
from benchmarks.problems import Absent, load
from benchmarks.ratio import Ratio, Run, ratio
from benchmarks.steps import AS_THEY_ARE
from benchmarks.stream import LAUNCH

TITLE = "What `auto` costs"
MEGABYTE = 1e6


def time(run: Run) -> Iterator[Ratio]:
    """Vowpal Wabbit text to a model in memory, hashed store."""
    from vowpalwabbit import Workspace

    file = str(load("trec07p").vowpal_wabbit)
    flags = f"--data {file} --loss_function logistic -b 22 --quiet"
    works: dict[str, Callable[[], Any]] = {
        "vw": lambda: Workspace(flags).finish(),
        "auto": lambda: riata.AutoClassifier(store="hashed", bits=22).learn(file),
        "one": lambda: riata.ElasticNetClassifier(
            learning_rate="adagrad_explicit", store="hashed", bits=22, **AS_THEY_ARE
        ).learn(file),
    }
    found = run.turns(works)
    where = "`trec07p` text, hashed store"
    yield ratio(f"`auto` over Vowpal Wabbit's default, {where}", found["auto"], found["vw"], most=2)
    yield ratio(f"`auto` over one AdaGrad model, {where}", found["auto"], found["one"], most=4)


def memory(run: Run) -> Iterator[Ratio]:
    """The command on the same file, with names, and what `riata compact` makes of its model."""
    file = str(load("trec07p").vowpal_wabbit)
    with tempfile.TemporaryDirectory() as folder:
        model, small = Path(folder) / "m.riata", Path(folder) / "small.riata"
        riata_command = [sys.executable, "-m", "riata"]
        train = [*riata_command, "train", file, "-o", str(model), "--quiet"]
        done = subprocess.run(
            [sys.executable, "-c", LAUNCH, *train], check=True, capture_output=True, text=True
        )
        compact = [*riata_command, "compact", str(model), "-o", str(small)]
        subprocess.run(compact, check=True, capture_output=True)
        found = {
            "peak memory": (int(done.stdout.split()[-1]) * 1024, 400),
            "its saved model": (model.stat().st_size, 100),
            "what `riata compact` makes of it": (small.stat().st_size, 8),
        }
    for what, (size, most) in found.items():
        name = f"`auto`, `trec07p` with names: {what}"
        yield Ratio(name, size / MEGABYTE, unit=" MB", most=most)


def ratios(run: Run) -> Iterator[Ratio]:
    for part in (time, memory):
        try:
            yield from part(run)
        except (Absent, ImportError) as missing:
            yield Ratio(part.__name__, None, why=str(missing))
