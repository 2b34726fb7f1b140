"""What the settings of `auto` add together, each seeing values in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.learners.portfolio import corrections
from riata.learners.portfolio_settings import groups_of

Floats = NDArray[np.float64]


@dataclass
class Settings:
    """Weights averaged over the settings that see values alike; behind all features one that was never seen."""

    keys: NDArray[np.int64]
    sizes: Floats
    """The root mean square of each feature."""
    views: list[tuple[str, Floats]]
    intercept: Floats

    def entries(self, block: Block, places: NDArray[np.int32], seen: Floats) -> Floats:
        """What each entry adds to the average of the log odds of all settings."""
        rows = np.repeat(np.arange(len(block)), np.diff(block.indptr))
        ways = {"raw": seen, "rms": seen / self.sizes[places]}
        for name in ("raw", "rms"):
            squares = np.bincount(rows, ways[name] ** 2, minlength=len(block))
            length = np.sqrt(np.where(squares > 0, squares, 1.0))
            ways["unit" if name == "raw" else "unit-rms"] = ways[name] / length[rows]
        total = np.zeros((len(seen), len(self.intercept)))
        for view, weights in self.views:
            total += weights[places] * ways[view][:, None]
        return total


def settings_of(learner: Any) -> Settings | None:
    """Of a model of `auto`; None of any other."""
    if learner.family != "auto" or not hasattr(learner, "_snapshot"):
        return None
    now = learner._snapshot()
    rows = now["rows"]
    squares = np.divide(rows[:, 1], rows[:, 0], out=np.ones(len(rows)), where=rows[:, 0] > 0)
    sizes = np.sqrt(np.where(squares > 0, squares, 1.0))
    views = _averaged(now, rows, learner.outputs)
    at_zero = _averaged(now, now["intercept"][None], learner.outputs)
    intercept = np.sum([part[0] for _, part in at_zero], axis=0)
    intercept = intercept + (now["weights"] * corrections(now)[1]).sum(axis=1)
    nothing = np.zeros((1, learner.outputs))
    padded = [(view, np.vstack([part, nothing])) for view, part in views]
    return Settings(now["keys"], np.append(sizes, 1.0), padded, intercept)


def _averaged(now: Any, rows: Floats, outputs: int) -> list[tuple[str, Floats]]:
    """Of each view the weights of its settings, times those of the settings in the average."""
    found, at = [], 2
    shares = now["weights"] * corrections(now)[0]
    for _, view, first, last in groups_of(tuple(now["settings"].tolist())):
        parts = rows[:, at : at + outputs * (last - first)].reshape(
            len(rows), outputs, last - first
        )
        at += 2 * outputs * (last - first)
        found.append((view, np.einsum("nok,ok->no", parts, shares[:, first:last])))
    return found
