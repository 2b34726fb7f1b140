"""Which correction of log odds to have by default: progressive log odds, corrected in three ways."""

from __future__ import annotations

import bz2
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.learners import Bayesian
from riata.sources import open_source

DATA = Path(os.environ.get("RIATA_DATA", Path(__file__).parents[3] / "shared" / "data"))
Floats = NDArray[np.float64]


def ijcnn1() -> Block:
    parts = [(DATA / f"libsvm/ijcnn1.{part}.bz2").read_bytes() for part in ("trn", "tst")]
    rows, indices, values, labels = [0], [], [], []
    for line in b"".join(map(bz2.decompress, parts)).decode().splitlines():
        label, *entries = line.split()
        labels.append(float(float(label) > 0))
        for entry in entries:
            i, v = entry.split(":")
            indices.append(int(i))
            values.append(float(v))
        rows.append(len(indices))
    return Block(np.array(rows), np.array(indices, dtype=np.int32), np.array(values, dtype=np.float32),
                 np.array(labels))  # fmt: skip


def matrix(X: Floats, y: NDArray[np.bool_]) -> Block:
    """In a random order, with columns of standard deviation 1."""
    order = np.random.default_rng(0).permutation(len(y))
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    return next(iter(open_source(X[order], y[order].astype(np.float64))))


def magic() -> Block:
    lines = (DATA / "uci/magic.arff").read_text().lower().partition("@data")[2].split()
    rows = [line.split(",") for line in lines if line.count(",") == 10]
    return matrix(
        np.array([[float(v) for v in row[:-1]] for row in rows]),
        np.array([row[-1].strip("'") == "g" for row in rows]),
    )


def spambase() -> Block:
    table = np.loadtxt(DATA / "uci/spambase.data", delimiter=",")
    return matrix(table[:, :-1], table[:, -1] > 0)


def sms() -> Block:
    places: dict[str, int] = {}
    rows, indices, labels = [0], [], []
    for line in (DATA / "sms/SMSSpamCollection").read_text("utf-8", "replace").splitlines():
        label, _, text = line.partition("\t")
        labels.append(float(label == "spam"))
        indices += sorted({places.setdefault(w, len(places)) for w in text.lower().split()})
        rows.append(len(indices))
    return Block(np.array(rows), np.array(indices, dtype=np.int32),
                 np.ones(len(indices), dtype=np.float32), np.array(labels))  # fmt: skip


SETS: dict[str, Callable[[], Block]] = {
    "ijcnn1": ijcnn1, "magic": magic, "spambase": spambase, "SMS": sms,
}  # fmt: skip


def corrected(x: Floats, mean: Floats, y: Floats) -> Floats:
    '""Log odds mean @ x, with the means of a Bayesian regression on the examples before (prior variance 0.1).""'
    covariance, out = 0.1 * np.eye(len(mean)), np.empty(len(y))
    for i, seen in enumerate(x):
        z, along = mean @ seen, covariance @ seen
        spread = seen @ along
        out[i] = z
        sign = 1 if y[i] else -1
        q = 1 / (1 + np.exp(np.clip(sign * z, -500, 500)))
        bend = q * (1 - q)
        mean = mean + sign * q / (1 + bend * spread) * along
        covariance -= np.outer(along, along) * (bend / (1 + bend * spread))
    return out


def errors(s: Floats, y: Floats) -> tuple[float, float, float]:
    """Log loss; calibration error in ten bins of equal width, and of equal mass."""
    p = 1 / (1 + np.exp(-np.clip(s, -500, 500)))
    bins = np.minimum((p * 10).astype(np.intp), 9)
    wide = np.abs(np.bincount(bins, p - y, minlength=10)).sum() / len(p)
    parts = np.array_split(np.argsort(p, kind="stable"), 10)
    even = sum(abs((p[i] - y[i]).sum()) for i in parts) / len(p)
    return float(np.logaddexp(0, np.where(y > 0, -s, s)).mean()), float(wide), float(even)


def item(quick: bool) -> dict[str, Any]:
    rows = []
    for name, load in SETS.items():
        block = load()
        block = block[:10_000] if quick else block
        assert block.labels is not None
        s, y = Bayesian(calibrate=False).learn(block)[:, 0], block.labels
        kept = np.clip(s, -100, 100)
        one = np.ones_like(s)
        beta = np.stack([-np.logaddexp(0, -kept), np.logaddexp(0, kept), one], axis=1)
        found = {
            "none": errors(s, y),
            "scale and offset": errors(
                corrected(np.stack([kept, one], axis=1), np.array([1.0, 0.0]), y), y
            ),
            "beta": errors(corrected(beta, np.array([1.0, 1.0, 0.0]), y), y),
        }
        shown = "; ".join(f"{how} {' / '.join(f'{v:.4f}' for v in e)}" for how, e in found.items())
        better = found["beta"][0] <= min(e[0] for e in found.values()) + 1e-3
        rows.append([name, "not in the paper", shown, "beta is best" if better else "beta is not best"])  # fmt: skip
    note = "Log loss / calibration error in ten bins of equal width / of equal mass. Riata's `calibrate` is beta."
    return {"rows": rows, "note": note, "picture": None}
