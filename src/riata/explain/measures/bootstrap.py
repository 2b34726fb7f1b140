"""How far numbers might be off because the examples are these and not others: the Poisson bootstrap.

Every example counts in each of many replicates as often as a Poisson variable of mean one says: as if drawn with
replacement, without knowing how many there are. What is kept is a few sums and a histogram for each replicate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.metrics import _auc_of_groups

Floats = NDArray[np.float64]

BINS = 2048
ROWS = 2048
"""Examples that are drawn for at once."""


def _poisson_table() -> NDArray[np.uint8]:
    """The Poisson variable of each of 65,536 equally likely numbers."""
    chances = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(12)])
    return np.searchsorted(chances, (np.arange(1 << 16) + 0.5) / (1 << 16)).astype(np.uint8)


class PoissonBootstrap:
    """Sums of columns, and with scores an AUC, in each replicate. The same seed draws the same, however the stream is
    cut.

    >>> boot = PoissonBootstrap(400, seed=0)
    >>> boot.add({"hit": np.tile([1.0, 0.0], 500)}, None)
    >>> low, high = boot.interval(boot.means()["hit"], 0.9)
    >>> low < 0.5 < high and 0.04 < high - low < 0.07
    True
    """

    def __init__(self, replicates: int, seed: int) -> None:
        if replicates < 2 or replicates % 2:
            raise ValueError(f"replicates are an even number, at least 2, not {replicates}")
        self.replicates = replicates
        self._rng = np.random.default_rng(seed)
        self._table = _poisson_table()
        self.weight = np.zeros(replicates)
        self.sums: dict[str, Floats] = {}
        self._groups: Floats | None = None

    def add(
        self,
        columns: dict[str, Floats],
        weights: Floats | None,
        scores: Floats | None = None,
        positive: NDArray[np.bool_] | None = None,
    ) -> None:
        n = len(next(iter(columns.values())))
        for start in range(0, n, ROWS):
            rows = slice(start, min(n, start + ROWS))
            part = {name: column[rows] for name, column in columns.items()}
            own = None if weights is None else weights[rows]
            cut = None if scores is None else scores[rows]
            self._add(part, own, cut, None if positive is None else positive[rows])

    def _add(self, columns: dict[str, Floats], weights: Any, scores: Any, positive: Any) -> None:
        n = len(next(iter(columns.values())))
        drawn = self._rng.integers(0, 1 << 16, (n, self.replicates), dtype=np.uint16)
        counts = self._table[drawn].astype(np.float64)
        if weights is not None:
            counts *= weights[:, None]
        self.weight += counts.sum(axis=0)
        for name, column in columns.items():
            before = self.sums.get(name)
            more = column @ counts
            self.sums[name] = more if before is None else before + more
        if scores is not None and positive is not None:
            self._add_scores(counts, scores, positive)

    def _add_scores(self, counts: Floats, scores: Floats, positive: NDArray[np.bool_]) -> None:
        if self._groups is None:
            self._groups = np.zeros((self.replicates, 2 * BINS))
        squashed = scores / (1 + np.abs(scores))
        bins = np.clip(((squashed + 1) * (BINS / 2)).astype(np.intp), 0, BINS - 1) + BINS * positive
        order = np.argsort(bins, kind="stable")
        found, starts = np.unique(bins[order], return_index=True)
        sums = np.add.reduceat(counts[order], starts, axis=0)
        self._groups[:, found] += sums.T

    def means(self) -> dict[str, Floats]:
        """The mean of each column in each replicate."""
        return {name: _over(total, self.weight) for name, total in self.sums.items()}

    def aucs(self) -> Floats:
        """The AUC of each replicate, of scores in 2048 bins."""
        if self._groups is None:
            return np.full(self.replicates, np.nan)
        found = [_auc_of_groups(row[BINS:], row[:BINS])[0] for row in self._groups]
        return np.array([np.nan if value is None else value for value in found])

    @staticmethod
    def interval(values: Floats, level: float) -> tuple[float, float] | None:
        """Between which the middle part of the replicates lies; None where too few have a value."""
        known = values[np.isfinite(values)]
        if len(known) < max(2, len(values) / 2):
            return None
        low, high = np.quantile(known, [0.5 - level / 2, 0.5 + level / 2])
        return float(low), float(high)


def _over(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.divide(a, b, out=np.full(len(a), np.nan), where=b > 0))


def rates_of(boot: PoissonBootstrap) -> dict[str, Floats]:
    """Precision, recall and F1 of each replicate, from the sums tp, fp and fn."""
    tp, fp, fn = (boot.sums[name] for name in ("tp", "fp", "fn"))
    return {
        "precision": _over(tp, tp + fp),
        "recall": _over(tp, tp + fn),
        "f1": _over(2 * tp, 2 * tp + fp + fn),
    }
