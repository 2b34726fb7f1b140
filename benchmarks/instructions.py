"""Every kernel with every instruction set that the processor has: whether a wider one ever loses.

Each turn starts a process for each set (RIATA_INSTRUCTIONS), which times all kernels. The set that Riata chooses must
not be slower than `plain`, but for noise; and all must give the same bits.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ratio import Ratio, Run, Times, ratio, seconds
from benchmarks.steps import AS_THEY_ARE, SCHEDULE
from riata import _core
from riata.block import Block
from riata.learners import (
    FTRL,
    AutoRegression,
    Bayesian,
    ElasticNet,
    InteriorPoint,
    Portfolio,
    TruncatedGradient,
)
from riata.sources import open_source
from riata.sweeping.banks import BankSet
from riata.sweeping.grid import Setting
from riata.sweeping.tally import Predictions, Tally

TITLE = "Every kernel with every instruction set"
LEAST = 0.95
"""What plain takes over what the chosen set takes: below, the choice is wrong."""
LONG_ENOUGH = 0.1
"""Seconds that each kernel is run for, again and again, in each process."""
ROWS, NON_ZEROS, FEATURES = 6000, 60, 20_000

KERNELS = {
    "linear": ("elastic net, dense", "elastic net, 6 classes", "truncated gradient", "rounding", "FTRL"),
    "adagrad": ("AdaGrad, values scaled", "AdaGrad, values scaled, hashed"),
    "scale": ("AdaGrad, values scaled", "FTRL, scaled"),
    "lookup": ("elastic net, table",),
    "taylor": ("Bayesian, one prior", "Bayesian, eight priors"),
    "samples": ("Bayesian, variational",),
    "sweep": ("interior point",),
    "portfolio": ("auto",),
    "correction": ("auto",),
    "regression": ("auto, regression",),
    "joint": ("auto, few features",),
    "bank": ("settings side by side",),
    "adagrad_columns": ("settings of AdaGrad side by side",),
    "log_loss": ("losses of settings",),
    "tally": ("tallies of settings",),
    "checksum": ("checksums",),
    "delimiter": ("reader of svm", "reader of vw", "reader of csv"),
    "index_value": ("reader of svm",),
    "word": ("reader of vw",),
    "unpack": ("reader of parquet",),
    "drop_zeros": ("reader of parquet",),
    "scaled_numbers": ("reader of csv, scaled",),
    "ascii": ("words of texts",),
}  # fmt: skip
"""What uses each kernel, by the name of its source."""

Floats = NDArray[np.float64]
Work = Callable[[], Floats | None]


def block(offset: int = 0, classes: int = 2) -> Block:
    rng = np.random.default_rng(3)
    keys = np.sort(rng.integers(0, FEATURES, (ROWS, NON_ZEROS)), axis=1) + np.arange(NON_ZEROS)
    values = rng.normal(size=keys.size).astype(np.float32)
    labels = rng.integers(0, classes, ROWS).astype(np.float64)
    indptr = np.arange(0, keys.size + 1, NON_ZEROS, dtype=np.int64)
    wide = (keys + offset).ravel()
    return Block(indptr, wide if offset else wide.astype(np.int32), values, labels)


def learn(make: Callable[[], Any], data: Block) -> Work:
    return lambda: np.asarray(make().learn(data))


def read(path: Path, scale: str = "none") -> Work:
    def work() -> Floats:
        blocks = open_source(str(path), threads=1, scale=scale)
        return np.concatenate([block.values.astype(np.float64) for block in blocks])

    return work


def side_by_side(data: Block, fixed: dict[str, Any]) -> Work:
    settings = [
        Setting("elastic-net", (("l1", l1), *fixed.items()))
        for l1 in np.geomspace(1e-6, 1e-3, 16).tolist()
    ]

    def work() -> Floats:
        unit_set = BankSet(range(16), [None], settings, 1, 0)
        return unit_set.learn(data, np.arange(len(data)), None).ravel()

    return work


def losses_of_settings(tallied: bool) -> Work:
    rng = np.random.default_rng(7)
    scores, labels = rng.normal(size=(16, ROWS)), rng.integers(0, 2, ROWS).astype(np.float64)
    if not tallied:
        return lambda: np.asarray(_core.log_losses(scores, labels)).ravel()
    said = Predictions(scores[:, :, None], None, scores, log_odds=True)
    return lambda: Tally(16, "log_loss", None).add(said, labels, None, None).ravel()


def texts(folder: Path) -> dict[str, Path]:
    rng = np.random.default_rng(4)
    found = {name: folder / f"x.{name}" for name in ("svm", "vw", "csv")}
    lines: dict[str, list[str]] = {
        "svm": [],
        "vw": [],
        "csv": ["label," + ",".join(f"c{j}" for j in range(40))],
    }
    for _ in range(ROWS // 2):
        keys = np.sort(rng.choice(FEATURES, 40, replace=False)) + 1
        values = rng.random(40)
        label = int(rng.integers(0, 2))
        lines["svm"].append(
            f"{label} " + " ".join(f"{k}:{v:.5g}" for k, v in zip(keys, values, strict=True))
        )
        lines["vw"].append(
            f"{2 * label - 1} | "
            + " ".join(f"w{k}:{v:.5g}" for k, v in zip(keys, values, strict=True))
        )
        lines["csv"].append(f"{label}," + ",".join(f"{v:.5g}" for v in values))
    for name, path in found.items():
        path.write_text("\n".join(lines[name]) + "\n")
    return found


def parquet(folder: Path) -> Path:
    """Numbers of which many are zero or missing, and words that a dictionary holds."""
    import pandas as pd

    rng = np.random.default_rng(5)
    n = 10 * ROWS
    columns: dict[str, Any] = {"label": rng.integers(0, 2, n)}
    for j in range(8):
        numbers = np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n))
        columns[f"n{j}"] = np.where(rng.random(n) < 0.1, np.nan, numbers)
        columns[f"w{j}"] = rng.choice([f"word {k}" for k in range(200)], n)
    path = folder / "x.parquet"
    pd.DataFrame(columns).to_parquet(path)
    return path


def words() -> Work:
    rng = np.random.default_rng(6)
    known = [f"word{k}" for k in range(5000)]
    texts = [" ".join(rng.choice(known, 30)) for _ in range(ROWS)]

    def work() -> Floats:
        from riata.estimators.text_features import TextFeatures

        return np.asarray(TextFeatures().fit_transform(texts).data, dtype=np.float64)

    return work


def works(folder: Path) -> dict[str, Work]:
    near, far, many = block(), block(1 << 40), block(classes=6)
    dense = block()
    dense.indices[:] = np.tile(np.arange(NON_ZEROS), ROWS)
    few = Block(
        near.indptr[:101],
        near.indices,
        near.values,
        None if near.labels is None else near.labels[:100],
    )
    out: dict[str, Work] = {
        "elastic net, dense": learn(lambda: ElasticNet(l1=1e-5, store="dense", **SCHEDULE), near),
        "elastic net by SGD, dense": learn(
            lambda: ElasticNet(l1=1e-5, update="sgd", store="dense", **SCHEDULE), near
        ),
        "elastic net, table": learn(lambda: ElasticNet(l1=1e-5, store="table", **SCHEDULE), far),
        "elastic net, hashed": learn(
            lambda: ElasticNet(l1=1e-5, store="hashed", bits=18, **SCHEDULE), near
        ),
        "FTRL, scaled": learn(lambda: FTRL(store="dense"), near),
        "elastic net, 6 classes": learn(lambda: ElasticNet(l1=1e-5, outputs=6, **SCHEDULE), many),
        "truncated gradient": learn(
            lambda: TruncatedGradient(gravity=1e-5, store="dense", **SCHEDULE), near
        ),
        "rounding": learn(
            lambda: TruncatedGradient(
                update="round", theta=1e-3, period=100, store="dense", **SCHEDULE
            ),
            near,
        ),
        "AdaGrad, values scaled": learn(lambda: ElasticNet(l1=1e-5, store="dense"), near),
        "AdaGrad, values scaled, hashed": learn(
            lambda: ElasticNet(l1=1e-5, store="hashed", bits=18), near
        ),
        "FTRL": learn(lambda: FTRL(l1=0.1, store="dense", **AS_THEY_ARE), near),
        "Bayesian, one prior": learn(lambda: Bayesian(prior_variance=1.0), near),
        "Bayesian, eight priors": learn(lambda: Bayesian(), near),
        "Bayesian, variational": learn(lambda: Bayesian(prior_variance=1.0, update="vb"), few),
        "interior point": learn(lambda: InteriorPoint(update="paper"), few),
        "auto": learn(lambda: Portfolio(), near),
        "auto, regression": learn(lambda: AutoRegression(), near),
        "auto, few features": learn(lambda: AutoRegression(), dense),
        "settings side by side": side_by_side(near, SCHEDULE),
        "settings of AdaGrad side by side": side_by_side(near, {}),
        "losses of settings": losses_of_settings(False),
        "tallies of settings": losses_of_settings(True),
        "checksums": lambda: np.array([float(_core.checksum(near.values.view(np.uint8)) >> 12)]),
    }
    written = texts(folder)
    out |= {f"reader of {name}": read(path) for name, path in written.items()}
    out["reader of csv, scaled"] = read(written["csv"], "standard")
    return out | {"reader of parquet": read(parquet(folder)), "words of texts": words()}


def worker() -> None:
    """Processor times, which other processes disturb little, and a digest of the results, as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, work in works(Path(folder)).items():
            times: list[float] = []
            while len(times) < 3 or sum(times) < LONG_ENOUGH:
                start = time.process_time()
                result = work()
                times.append(time.process_time() - start)
            digest = hashlib.sha256(b"" if result is None else result.tobytes()).hexdigest()
            found[name] = (min(times), digest)
        print(json.dumps(found))


def run_once(chosen: str) -> dict[str, tuple[float, str]]:
    environment = {k: v for k, v in os.environ.items() if k != "RIATA_PLAIN"}
    environment["RIATA_INSTRUCTIONS"] = chosen
    done = subprocess.run(
        [sys.executable, "-c", "from benchmarks.instructions import worker; worker()"],
        env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return {
        name: (float(took), str(digest)) for name, (took, digest) in json.loads(done.stdout).items()
    }


def ratios(run: Run) -> Iterator[Ratio]:
    available = _core.instructions()[0]
    turns = [{chosen: run_once(chosen) for chosen in available} for _ in range(run.repeat)]
    for name in turns[0]["plain"]:
        if len({turn[chosen][name][1] for turn in turns for chosen in available}) != 1:
            raise ValueError(f"{name}: the instruction sets give different bits")
        times = {c: Times(tuple(turn[c][name][0] for turn in turns)) for c in available}
        note = ", ".join(f"{c} {seconds(times[c].best)}" for c in available)
        yield ratio(
            f"plain over {available[-1]}, {name}",
            times["plain"],
            times[available[-1]],
            least=LEAST,
            note=note,
        )
