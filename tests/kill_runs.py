"""Kill runs of `riata train` at random moments, go on from their checkpoints, and compare the bits.

    python -m tests.kill_runs --runs 200

Every run is a process of its own that SIGKILL ends, once or twice; what goes on from its checkpoint must end with the
same model file, byte for byte, as a run that nobody killed, and leave nothing else behind.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import pkgutil
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import riata
from riata import model_file
from riata.cli import run
from riata.learners import FAMILIES

ROWS = 6000
FORMATS = (
    "svm",
    "svm.gz",
    "vw",
    "csv",
    "tsv",
    "jsonl",
    "arff",
    "parquet",
    "arrow",
    "riata-cache",
    "cached",
)
LINEAR = ("elastic-net", "ftrl", "truncated")


def write_data(folder: Path, classes: int) -> dict[str, Path]:
    """The same examples in every format: two columns of words, two of numbers."""
    rng = random.Random(classes)
    rows = []
    for _ in range(ROWS):
        a, b = rng.randrange(300), rng.randrange(40)
        x, y = round(rng.gauss(0, 1), 4), round(rng.random(), 4)
        score = (a % 7 - 3) / 2 + x - y + rng.gauss(0, 1)
        label = int(score > 0) if classes == 2 else 1 + int(score > -1) + int(score > 1)
        rows.append((label, f"u{a}", f"v{b}", x, y))
    names = ["label", "a", "b", "x", "y"]
    base = folder / f"data{classes}"
    texts = {
        "svm": [
            f"{n} {1 + int(a[1:])}:1 {301 + int(b[1:])}:1 400:{x} 401:{y}" for n, a, b, x, y in rows
        ],
        "vw": [f"{n} | {a} {b} x:{x} y:{y}" for n, a, b, x, y in rows],
        "csv": [",".join(names), *(",".join(map(str, row)) for row in rows)],
        "tsv": ["\t".join(names), *("\t".join(map(str, row)) for row in rows)],
        "jsonl": [json.dumps(dict(zip(names, row, strict=True))) for row in rows],
        "arff": [
            "@relation data",
            *(f"@attribute {n} {'string' if n in 'ab' else 'numeric'}" for n in names),
            "@data",
            *(",".join(map(str, row)) for row in rows),
        ],
    }
    files = {}
    for suffix, lines in texts.items():
        files[suffix] = Path(f"{base}.{suffix}")
        files[suffix].write_text("\n".join(lines) + "\n")
    files["svm.gz"] = Path(f"{base}.svm.gz")
    files["svm.gz"].write_bytes(gzip.compress(files["svm"].read_bytes()))
    files["cached"] = Path(f"{base}-cached.svm")
    shutil.copy(files["svm"], files["cached"])
    files["riata-cache"] = Path(f"{base}-cache.arrow")
    assert quietly(["convert", str(files["svm"]), str(files["riata-cache"]), "--to", "cache"]) == 0
    try:
        import pyarrow as pa
        from pyarrow import feather, parquet
    except ImportError:
        return files
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    files["parquet"], files["arrow"] = Path(f"{base}.parquet"), Path(f"{base}.arrow")
    parquet.write_table(table, files["parquet"], row_group_size=1000)
    feather.write_feather(table, str(files["arrow"]), chunksize=1000)
    return files


def quietly(words: list[str]) -> int:
    """The command line, in a process of its own; the exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(start(words), 0)[1])


def start(words: list[str]) -> int:
    """The command line in a process of its own; its id."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            errors = os.environ.get("KILL_RUNS_ERRORS")
            os.dup2(nowhere, 1)
            os.dup2(
                nowhere
                if errors is None
                else os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
                2,
            )
            code = run(words)
        finally:
            os._exit(code)
    return child


@dataclass(frozen=True)
class Case:
    method: str
    format: str
    classes: int
    options: tuple[str, ...]

    @classmethod
    def pick(cls, rng: random.Random, number: int, formats: tuple[str, ...]) -> Case:
        """All methods and formats in turn, with random options."""
        method = tuple(FAMILIES)[number % len(FAMILIES)]
        format = formats[(number // len(FAMILIES) + number) % len(formats)]
        classes = rng.choice((2, 3)) if method in LINEAR else 2
        options = ["--shuffle", rng.choice(("0", "700")), "--holdout", rng.choice(("0", "0.1"))]
        if method != "sketch":
            options += ["--passes", rng.choice(("20", "40", "60"))]
        if rng.random() < 0.4 and not method.endswith("-regression"):
            options += ["--class-weight", "1=2.5"]
        if format == "cached":
            options.append("--cache")
        if format == "arff":
            options += ["--label", "label"]
        return cls(method, format, classes, tuple(options))


class Killer:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.rng = folder, random.Random(seed)
        self.files = {classes: write_data(folder, classes) for classes in (2, 3)}
        self.formats = tuple(f for f in FORMATS if f in self.files[2])
        self.whole: dict[Case, tuple[bytes, float]] = {}
        self.counts: Counter[str] = Counter()

    def run(self, number: int) -> str | None:
        """One run; what was wrong with it, or None."""
        case = Case.pick(self.rng, number, self.formats)
        data = str(self.files[case.classes][case.format])
        output = self.folder / "m"
        method = case.method.removesuffix("-regression")
        loss = [] if method == case.method else ["--loss", "squared"]
        first = ["train", data, "-o", str(output), "--method", method, *loss, *case.options]
        expected, seconds = self.undisturbed(case, first, output)
        every = ["--every", str(self.rng.choice((1500, 5000, 20000)))]
        words, place = [*first, *every], Path(f"{output}.checkpoint")
        for _ in range(self.rng.choice((1, 1, 2))):
            wait_for = place if self.rng.random() < 0.7 and not place.exists() else None
            if self.kill(words, self.rng.uniform(0, 1) * seconds, wait_for):
                self.counts["ended first"] += 1
                break
            self.counts["killed"] += 1
            if output.exists():  # killed between its last save and its exit
                if output.read_bytes() != expected:
                    return f"{case}: a model before the end"
                output.unlink()
                self.counts["killed after the end"] += 1
                words = [*first, *every]
                break
            if place.exists():
                record = model_file.load(place).record
                if record.complete:
                    return f"{case}: a checkpoint of a complete run"
                words = ["train", data, "-o", str(output), "--resume", str(place), *every]
                words += [w for w in ("--cache",) if w in case.options]
                if case.format == "arff":
                    words += ["--label", "label"]
        if not output.exists():
            self.counts["resumed" if "--resume" in words else "begun again"] += 1
            code = quietly(words)
            if code != 0:
                return f"{case}: exit {code} of {words}"
        same = output.read_bytes() == expected
        output.unlink()
        known = {p.name for files in self.files.values() for p in files.values()}
        debris = [
            p.name
            for p in self.folder.iterdir()
            if p.name not in known and "riata-cache" not in p.name
        ]
        if debris:
            return f"{case}: left behind {debris}"
        return None if same else f"{case}: other bits"

    def undisturbed(self, case: Case, words: list[str], output: Path) -> tuple[bytes, float]:
        if case not in self.whole:
            started = time.perf_counter()
            code = quietly(words)
            assert code == 0, (code, words)
            self.whole[case] = output.read_bytes(), time.perf_counter() - started
            output.unlink()
        return self.whole[case]

    def kill(self, words: list[str], after: float, wait_for: Path | None) -> bool:
        """After so many seconds, counted from when that file is there. Whether it had ended by itself."""
        child = start(words)
        end = time.perf_counter() + after
        while wait_for is not None or end > time.perf_counter():
            if wait_for is not None and wait_for.exists():
                wait_for, end = None, time.perf_counter() + after * self.rng.random()
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                assert os.waitstatus_to_exitcode(status) == 0, words
                return True
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) == 0


def main(runs: int, seed: int = 0) -> tuple[Counter[str], list[str]]:
    for module in pkgutil.walk_packages(riata.__path__, "riata."):  # once, not in every process
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    with tempfile.TemporaryDirectory() as folder:
        killer = Killer(Path(folder), seed)
        wrong = [message for number in range(runs) if (message := killer.run(number)) is not None]
    return killer.counts, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts, wrong = main(given.runs, given.seed)
    print(f"{given.runs} runs, {dict(counts)}, {len(wrong)} wrong", *wrong, sep="\n")
    sys.exit(bool(wrong))
