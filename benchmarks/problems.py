"""The data sets: one made up, two real. Each is made once and kept as arrays and as text."""

from __future__ import annotations

import functools
import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks import native
from benchmarks.paths import CACHE, DATA


class Absent(Exception):
    """The data is not on this machine."""


@dataclass(frozen=True)
class Problem:
    """A binary classification problem, in memory and as text."""

    name: str
    X: sparse.csr_matrix
    """float32 values, int32 indices."""
    y: NDArray[np.float64]
    """-1 or +1."""
    svmlight: Path
    vowpal_wabbit: Path
    bits: int
    """`vw -b`: room for the features without more collisions than need be."""
    eta0: float
    """The first step; it falls with the square root of the number of steps."""
    l1: float = 1e-6
    l2: float = 1e-6

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    def head(self, rows: int) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
        return self.X[:rows], self.y[:rows]

    def __str__(self) -> str:
        megabytes = self.svmlight.stat().st_size / 1e6
        return (
            f"{self.name}: {self.n:,} x {self.d:,}, {self.X.nnz / self.n:.1f} non-zeros a row, "
            f"{np.mean(self.y > 0):.1%} positive, {megabytes:.1f} MB as svmlight text"
        )


@dataclass(frozen=True)
class Arrays:
    """What is kept on disk of a problem, besides its texts."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]
    labels: NDArray[np.float64]
    d: int


# Bump when what a maker makes changes: folders of other versions are not read.
VERSION = 1


def _log_uniform(rows: int, d: int, draws: float, seed: int) -> Arrays:
    """Documents of `draws` words, the k-th word with probability about 1/k; tf-idf, unit length.

    Labels come from a logistic model with 3,000 weights that are not zero.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(draws, rows)
    words = (d ** rng.random(lengths.sum())).astype(np.int64) - 1
    row = np.repeat(np.arange(rows), lengths)
    key, tf = np.unique(row * d + words, return_counts=True)
    row, column = key // d, key % d
    indptr = np.searchsorted(row, np.arange(rows + 1)).astype(np.int64)
    df = np.bincount(column, minlength=d)
    values = (1 + np.log(tf)) * np.log((1 + rows) / (1 + df[column]))
    values /= np.sqrt(np.bincount(row, values**2, minlength=rows))[row]
    # Six significant digits, so that text and matrix hold the same numbers.
    scale = 10.0 ** (5 - np.floor(np.log10(values)))
    values = (np.round(values * scale) / scale).astype(np.float32)
    truth = np.zeros(d)
    chosen = np.unique(d ** rng.random(3000)).astype(np.int64) - 1
    truth[chosen] = rng.normal(0, 12, len(chosen))
    indices = column.astype(np.int32)
    X = sparse.csr_matrix((values, indices, indptr), shape=(rows, d))
    scores = X @ truth
    scores -= np.median(scores)
    labels = np.where(rng.random(rows) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)
    return Arrays(indptr, indices, values, labels, d)


def _a9a() -> Arrays:
    from sklearn.datasets import load_svmlight_file

    path = DATA / "libsvm" / "a9a"
    if not path.exists():
        raise Absent("libsvm/a9a is not under $RIATA_DATA")
    X, y = load_svmlight_file(str(path), dtype=np.float32)
    return Arrays(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data,
        y.astype(np.float64),
        X.shape[1],
    )


def _trec07p() -> Arrays:
    """Mail as word counts; a word is numbered when it first appears, header and body apart."""
    source = DATA / "trec07p" / "trec07p.vw.zst"
    if not source.exists():
        raise Absent("trec07p/trec07p.vw.zst is not under $RIATA_DATA")
    try:
        import zstandard
    except ImportError:
        raise Absent("trec07p needs the zstandard package") from None
    numbers: dict[tuple[str, str], int] = {}
    indptr, labels = [0], []
    indices: list[int] = []
    values: list[float] = []
    with source.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n"):
            head, *namespaces = line.rstrip("\n").split(" |")
            labels.append(float(head.split(" ", 1)[0]))
            counts: dict[int, float] = {}
            for text in namespaces:
                space, *words = filter(None, text.split(" "))
                for word in words:
                    name, _, count = word.partition(":")
                    number = numbers.setdefault((space, name), len(numbers))
                    counts[number] = counts.get(number, 0.0) + (float(count) if count else 1.0)
            for number in sorted(counts):
                indices.append(number)
                values.append(counts[number])
            indptr.append(len(indices))
    return Arrays(
        np.array(indptr, dtype=np.int64),
        np.array(indices, dtype=np.int32),
        np.array(values, dtype=np.float32),
        np.array(labels),
        len(numbers),
    )


def _trec07p_text(target: Path) -> None:
    """The corpus as it came: words, which Vowpal Wabbit hashes itself."""
    import zstandard

    with (DATA / "trec07p" / "trec07p.vw.zst").open("rb") as raw, target.open("wb") as out:
        zstandard.ZstdDecompressor().copy_stream(raw, out)


@dataclass(frozen=True)
class Recipe:
    make: Callable[[], Arrays]
    bits: int
    eta0: float
    vw_text: Callable[[Path], None] | None = None
    """Where the problem has a Vowpal Wabbit text of its own."""


RECIPES = {
    # 260,941 features fit 2^18 rows without a collision: Vowpal Wabbit takes numbers as they are.
    "medline": Recipe(lambda: _log_uniform(200_000, 260_941, 88.9, seed=2015), bits=18, eta0=20.0),
    "medline-88": Recipe(
        lambda: _log_uniform(200_000, 260_941, 103.2, seed=2015), bits=18, eta0=20.0
    ),
    "trec07p": Recipe(_trec07p, bits=20, eta0=0.02, vw_text=_trec07p_text),
    "a9a": Recipe(_a9a, bits=18, eta0=0.5),
}


def _made(name: str) -> Path:
    """The folder with the problem, made now if it is not there; whole or not at all."""
    folder = CACHE / f"{name}-{VERSION}"
    if folder.exists():
        return folder
    recipe = RECIPES[name]
    arrays = recipe.make()
    scratch = CACHE / f"{name}-{VERSION}.partial"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    csr = (arrays.indptr, arrays.indices, arrays.values, arrays.labels)
    for part in ("indptr", "indices", "values", "labels"):
        np.save(scratch / f"{part}.npy", getattr(arrays, part))
    np.save(scratch / "d.npy", arrays.d)
    native.write_text(scratch / "train.svm", *csr, vowpal_wabbit=False)
    if recipe.vw_text is None:
        native.write_text(scratch / "train.vw", *csr, vowpal_wabbit=True)
    else:
        recipe.vw_text(scratch / "train.vw")
    scratch.replace(folder)
    return folder


@functools.lru_cache(maxsize=2)
def load(name: str) -> Problem:
    """A problem by name; Absent, with the reason, where its data is not on this machine."""
    folder = _made(name)
    recipe = RECIPES[name]
    part = {p: np.load(folder / f"{p}.npy") for p in ("indptr", "indices", "values", "labels", "d")}
    X = sparse.csr_matrix(
        (part["values"], part["indices"], part["indptr"].astype(np.int32)),
        shape=(len(part["labels"]), int(part["d"])),
    )
    # Text read in one run must not be colder than text read in the next.
    for text in ("train.svm", "train.vw"):
        with (folder / text).open("rb", buffering=0) as file:
            while file.read(1 << 24):
                pass
    return Problem(
        name, X, part["labels"], folder / "train.svm", folder / "train.vw", recipe.bits, recipe.eta0
    )
