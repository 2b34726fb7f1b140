"""The UCI sets of Langford, Li & Zhang 2009 as sparse matrices, with and without 1,000 features of noise.

A column is a number if all of it can be read as one, and a set of indicators otherwise. What is missing makes no
feature. A constant comes last: it is a feature like the others, as it is for the program that the paper used.
"""

from __future__ import annotations

import csv
import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

DATA = Path(os.environ.get("RIATA_DATA", Path(__file__).parents[3] / "shared" / "data")) / "uci"
NOISE, SHARE = 1000, 0.05
MISSING = {"?", ""}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """Where a set is, how to read it, and what the paper's Table 1 says of it."""

    file: str
    target: int
    drop: tuple[int, ...]
    positive: str | None
    """The label that is 1; None where a number is to be predicted."""
    features: int
    train: int
    test: int


SOURCES = {
    "ad": Source("ad.first999rows.data", -1, (), "ad", 1411, 2455, 824),
    "crx": Source("credit.a.arff", -1, (), "+", 47, 526, 164),
    "housing": Source("housing.arff", -1, (), None, 14, 381, 125),
    "krvskp": Source("kr.vs.kp.arff", -1, (), "won", 74, 2413, 783),
    "magic04": Source("magic.arff", -1, (), "g", 11, 14226, 4794),
    "mushroom": Source("mushroom.arff", -1, (), "e", 117, 6079, 2045),
    "spambase": Source("spambase.data", -1, (), "1", 58, 3445, 1156),
    "wbc": Source("breast.w.arff", -1, (), "malignant", 10, 520, 179),
    "wdbc": Source("wdbc.data", 1, (0,), "M", 31, 421, 148),
    "wpbc": Source("wpbc.data", 1, (0,), "R", 33, 153, 45),
    "zoo": Source("zoo.data", -1, (0,), None, 17, 77, 24),
}


@dataclass(frozen=True)
class Task:
    """Training and test part, each row divided by the root of its non-zeros."""

    name: str
    X: sparse.csr_matrix
    y: Floats
    X_test: sparse.csr_matrix
    y_test: Floats
    regression: bool

    @property
    def features(self) -> int:
        return int(self.X.shape[1])


def rows_of(path: Path) -> list[list[str]]:
    """The fields of every row, without header and comments."""
    arff = path.suffix == ".arff"
    with path.open(encoding="utf-8", errors="replace") as file:
        lines: Iterable[str] = (line for line in file if line.strip() and line[0] not in "%@")
        rows = [[f.strip() for f in r] for r in csv.reader(lines, quotechar="'" if arff else '"')]
    headed = not arff and not any(f.replace(".", "", 1).isdigit() for f in rows[0])
    return rows[headed:]


def columns_of(values: list[str]) -> list[Floats]:
    """One column of numbers, or an indicator for every value that occurs."""
    present = [v for v in values if v not in MISSING]
    try:
        for v in present:
            float(v)
    except ValueError:
        seen = sorted(set(present))
        return [np.array([float(v == s) for v in values]) for s in seen]
    return [np.array([float(v) if v not in MISSING else 0.0 for v in values])]


def read(name: str) -> tuple[Floats, Floats]:
    """All rows: features (no constant yet) and what is to be predicted, in [0, 1]."""
    source = SOURCES[name]
    rows = rows_of(DATA / source.file)
    width = len(rows[0])
    target = source.target % width
    kept = [c for c in range(width) if c != target and c not in source.drop]
    X = np.column_stack([a for c in kept for a in columns_of([row[c] for row in rows])])
    labels = [row[target].rstrip(".") for row in rows]
    if source.positive is not None:
        return X, np.array([float(label == source.positive) for label in labels])
    y = np.array([float(label) for label in labels])
    return X, (y - y.min()) / (y.max() - y.min())


def by_spread(X: Floats) -> Floats:
    """What each column is divided by: its standard deviation, where it has one."""
    spread: Floats = X.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def by_largest(X: Floats) -> Floats:
    largest: Floats = np.abs(X).max(axis=0)
    return np.where(largest > 0, largest, 1.0)


def untouched(X: Floats) -> Floats:
    return np.ones(X.shape[1])


SCALES = {"deviation": by_spread, "largest": by_largest, "as they are": untouched}


@functools.lru_cache(maxsize=4)
def load(name: str, noise: bool, scale: str = "deviation", seed: int = 2009) -> Task:
    """A set by name, split at random into as many rows as in the paper (of a part: in the same proportion)."""
    source = SOURCES[name]
    X, y = read(name)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    cut = round(len(y) * source.train / (source.train + source.test))
    X = X / SCALES[scale](X[order[:cut]])
    parts = [X]
    if noise:
        parts.append((rng.random((len(y), NOISE)) < SHARE).astype(np.float64))
    whole = np.column_stack([*parts, np.ones(len(y))])
    whole /= np.sqrt(np.count_nonzero(whole, axis=1))[:, None]
    rows = sparse.csr_matrix(whole.astype(np.float32))
    train, test = order[:cut], order[cut:]
    return Task(name, rows[train], y[train], rows[test], y[test], source.positive is None)
