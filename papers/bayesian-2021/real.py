"""Progressive log loss and calibration on real data, beside Vowpal Wabbit's defaults: python real.py

Data comes from $RIATA_DATA; what is absent is skipped, and said. Needs vowpalwabbit; the figure needs matplotlib.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.learners import Bayesian
from riata.metrics import Calibration

DATA = Path(os.environ.get("RIATA_DATA", "../shared/data"))
HERE = Path(__file__).parent
RIVAL = "Vowpal Wabbit, defaults"
Row = tuple[float, dict[str, float]]


def svmlight(path: Path) -> Iterator[Row]:
    for line in path.read_text().splitlines():
        label, *entries = line.split()
        pairs = (entry.split(":") for entry in entries)
        yield float(float(label) > 0), {i: float(v) for i, v in pairs if float(v)}


def criteo(folder: Path) -> Iterator[Row]:
    """13 integers as buckets of their squared logarithm, 26 categories; train, dev and test one after another."""
    for part in ("train", "dev", "test"):
        for line in (folder / f"criteo_wideresdnn_{part}.csv").read_text().splitlines():
            label, *fields = line.split("\t")
            row = {}
            for c, value in enumerate(fields):
                if value and c < 13 and int(value) > 2:
                    value = f"L{int(math.log(int(value)) ** 2)}"
                if value:
                    row[f"{c}_{value}"] = 1.0
            yield float(label), row


def trec(path: Path) -> Iterator[Row]:
    text = subprocess.run(["zstdcat", str(path)], check=True, capture_output=True).stdout
    for line in text.decode("utf-8", "replace").splitlines():
        head, *spaces = line.split("|")
        row: dict[str, float] = {}
        for space in spaces:
            name, *entries = space.split()
            for entry in entries:
                word, colon, count = entry.rpartition(":")
                key = f"{name}^{word if colon else entry}"
                row[key] = row.get(key, 0.0) + (float(count) if colon else 1.0)
        yield float(head.split()[0] == "1"), row


SETS: dict[str, Callable[[], Iterator[Row]]] = {
    "trec07p": lambda: trec(DATA / "trec07p/trec07p.vw.zst"),
    "a9a": lambda: svmlight(DATA / "libsvm/a9a"),
    "iPinYou": lambda: svmlight(DATA / "ctr/ipinyou_deepctr_train.fm.txt"),
    "Criteo head": lambda: criteo(DATA / "ctr"),
}


def to_block(rows: list[Row]) -> Block:
    places: dict[str, int] = {}
    for _, row in rows:
        for name in row:
            places.setdefault(name, len(places))
    entries = [sorted((places[n], v) for n, v in row.items()) for _, row in rows]
    return Block(
        np.cumsum([0, *map(len, entries)]),
        np.array([i for row in entries for i, _ in row], dtype=np.int32),
        np.array([v for row in entries for _, v in row], dtype=np.float32),
        np.array([label for label, _ in rows]),
    )


def vowpal_wabbit(block: Block) -> NDArray[np.float64]:
    """Its progressive predictions: --loss_function logistic -b 22, nothing else."""
    import vowpalwabbit

    with tempfile.TemporaryDirectory() as scratch:
        data, out = Path(scratch) / "data.vw", Path(scratch) / "predictions"
        assert block.labels is not None
        with data.open("w") as file:
            for r, label in enumerate(block.labels):
                span = slice(int(block.indptr[r]), int(block.indptr[r + 1]))
                pairs = zip(block.indices[span].tolist(), block.values[span].tolist(), strict=True)
                words = " ".join(f"f{i}:{v:g}" for i, v in pairs)
                file.write(f"{1 if label else -1} | {words}\n")
        arguments = f"--data {data} --loss_function logistic -b 22 --link logistic --quiet -p {out}"
        vowpalwabbit.Workspace(arg_list=arguments.split()).finish()
        return np.array([float(line.split()[0]) for line in out.read_text().splitlines()])


def judged(p: NDArray[np.float64], labels: NDArray[np.float64]) -> tuple[float, Calibration]:
    p = np.clip(p, 1e-15, 1 - 1e-15)
    calibration = Calibration()
    calibration.add(p, labels > 0)
    return float(-np.log(np.where(labels > 0, p, 1 - p)).mean()), calibration


def error(p: NDArray[np.float64], positive: NDArray[np.float64]) -> float:
    """Expected calibration error in ten bins of equal width, as `riata.metrics` has it."""
    bins = np.minimum((p * 10).astype(np.intp), 9)
    return float(np.abs(np.bincount(bins, p - positive, minlength=10)).sum() / len(p))


def error_by_mass(p: NDArray[np.float64], positive: NDArray[np.float64]) -> float:
    """The same in ten bins of as many examples each."""
    parts = np.array_split(np.argsort(p, kind="stable"), 10)
    return float(sum(abs((p[i] - positive[i]).sum()) for i in parts) / len(p))


Error = Callable[[NDArray[np.float64], NDArray[np.float64]], float]


def compared(
    p: NDArray[np.float64], rival: NDArray[np.float64], y: NDArray[np.float64], of: Error
) -> tuple[float, float]:
    """How much larger the calibration error is than the rival's, and the bootstrap standard error of that."""
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(200):
        i = rng.integers(0, len(y), len(y))
        draws.append(of(p[i], y[i]) - of(rival[i], y[i]))
    return of(p, y) - of(rival, y), float(np.std(draws))


def noise(p: NDArray[np.float64], of: Error) -> float:
    """The calibration error that these probabilities would have if they were right."""
    rng = np.random.default_rng(0)
    return float(np.mean([of(p, (rng.random(len(p)) < p).astype(float)) for _ in range(20)]))


def main() -> None:
    curves = {}
    print("| data | model | progressive log loss "
          "| calibration error, equal width | less Vowpal Wabbit's | noise "
          "| equal mass | less Vowpal Wabbit's | noise |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for name, rows in SETS.items():
        try:
            block = to_block(list(rows()))
        except FileNotFoundError as missing:
            print(f"| {name} | skipped: {missing.filename} is not there | | | | | | | |")
            continue
        assert block.labels is not None
        models = {
            "Riata, no parameter": Bayesian(),
            "Riata, calibrate=False": Bayesian(calibrate=False),
            "Riata, one prior of 1": Bayesian(prior_variance=1.0),
        }
        if name == "trec07p":
            models["Riata, three views"] = Bayesian(value=("raw", "binary", "log1p"))
        found = {
            m: learner.probability(learner.learn(block))[:, 0] for m, learner in models.items()
        }
        found[RIVAL] = vowpal_wabbit(block)
        for model, p in found.items():
            loss, calibration = judged(p, block.labels)
            cells = []
            for of in (error, error_by_mass):
                y = (block.labels > 0).astype(np.float64)
                more, spread = compared(p, found[RIVAL], y, of)
                cells.append(f"{of(p, y):.4f} | {more:+.4f} +- {spread:.4f} | {noise(p, of):.4f}")
            print(f"| {name} | {model} | {loss:.4f} | {' | '.join(cells)} |", flush=True)
            curves[name, model] = calibration
    plot(curves)


def plot(curves: dict[tuple[str, str], Calibration]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names = [n for n in ("trec07p", "a9a") if any(key[0] == n for key in curves)]
    if not names:
        return
    figure, axes = plt.subplots(1, len(names), figsize=(4.6 * len(names), 4.4), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        for (data, model), calibration in curves.items():
            if data != name or "one prior" in model or "three" in model:
                continue
            bins = calibration.bins()
            axis.plot(
                [b["predicted"] for b in bins], [b["observed"] for b in bins], "o-",
                label=f"{model}: {calibration.error:.4f}",
            )  # fmt: skip
        axis.set_title(f"{name}, before learning each example", fontsize=10)
        axis.set_xlabel("predicted probability")
        axis.set_ylabel("observed share")
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(HERE / "calibration.png", dpi=110)


if __name__ == "__main__":
    main()
