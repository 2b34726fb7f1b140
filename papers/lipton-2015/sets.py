"""Bags of words to learn: one made in Medline's shape, abstracts of Medline, mail."""

from __future__ import annotations

import re
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.paths import DATA  # noqa: E402
from benchmarks.problems import RECIPES, Absent  # noqa: E402

Data = tuple[sparse.csr_matrix, np.ndarray]
CARDIOVASCULAR = "C14"


def made(rows: int, d: int, p: float, seed: int = 0) -> Data:
    """Rows of about p features out of d, the k-th with probability about 1/k, of unit length; random labels."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(rows):
        words = np.unique((d ** rng.random(int(2 * p + 8))).astype(np.int64) - 1)
        parts.append(rng.permutation(words)[: round(p)])
    indptr = np.cumsum([0, *map(len, parts)])
    indices = np.concatenate([np.sort(part) for part in parts]).astype(np.int32)
    values = np.repeat(1 / np.sqrt(np.diff(indptr)), np.diff(indptr)).astype(np.float32)
    X = sparse.csr_matrix((values, indices, indptr), shape=(rows, d))
    return X, np.where(rng.random(rows) < 0.5, 1.0, -1.0)


def recipe(name: str, unit: bool = False) -> Data:
    """A problem of the benchmark, without its texts."""
    a = RECIPES[name].make()
    X = sparse.csr_matrix((a.values, a.indices, a.indptr), shape=(len(a.labels), a.d))
    return (tf_idf(X) if unit else X), a.labels


def tf_idf(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """(1 + log tf) log((1 + n) / (1 + df)), rows of unit length."""
    X = X.astype(np.float64)
    df = np.bincount(X.indices, minlength=X.shape[1])
    X.data = (1 + np.log(np.maximum(X.data, 1))) * np.log((1 + X.shape[0]) / (1 + df[X.indices]))
    lengths = np.sqrt(np.maximum(X.multiply(X).sum(axis=1), 1e-12)).A1
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    X.eliminate_zeros()
    return sparse.csr_matrix(X.astype(np.float32))


def ohsumed() -> Data:
    """Abstracts of Medline from 1991, each once; is it about cardiovascular diseases?"""
    path = DATA / "ohsumed" / "ohsumed-first-20000-docs.tar.gz"
    if not path.exists():
        raise Absent("ohsumed/ohsumed-first-20000-docs.tar.gz is not under $RIATA_DATA")
    numbers: dict[str, int] = {}
    bags: dict[tuple[str, str], Counter[int]] = {}
    heart: dict[tuple[str, str], bool] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            *_, part, disease, name = member.name.split("/")
            if (part, name) not in bags:
                words = re.findall(r"[a-z]+", file.read().decode("latin-1").lower())
                bags[part, name] = Counter(numbers.setdefault(w, len(numbers)) for w in words)
            heart[part, name] = heart.get((part, name), False) or disease == CARDIOVASCULAR
    keys = sorted(bags)
    rows = [sorted(bags[key].items()) for key in keys]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([i for row in rows for i, _ in row], dtype=np.int32)
    counts = np.array([c for row in rows for _, c in row], dtype=np.float32)
    X = tf_idf(sparse.csr_matrix((counts, indices, indptr), shape=(len(keys), len(numbers))))
    order = np.random.default_rng(2015).permutation(len(keys))
    return X[order], np.array([1.0 if heart[key] else -1.0 for key in keys])[order]


SETS: dict[str, Callable[[], Data]] = {
    "made in Medline's shape": lambda: recipe("medline-88"),
    "OHSUMED": ohsumed,
    "TREC 2007 mail": lambda: recipe("trec07p", unit=True),
}
