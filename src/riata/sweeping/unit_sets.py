"""Where the columns of a sweep are learned: each in a learner of its own, or many side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DivergenceError
from riata.learners import Learner
from riata.learners.linear import LinearLearner

Floats = NDArray[np.float64]
Order = NDArray[np.int64]


@dataclass(frozen=True)
class Unit:
    """A column, or several for several classes: one setting that learns all examples but those of one fold."""

    setting: int
    fold: int | None
    """The fold that it never learns; None: it learns all."""


class UnitSet(Protocol):
    """Units that are learned in one go. Unit sets know nothing of each other: threads may learn them side by side."""

    units: list[Unit]

    def learn(self, block: Block, order: Order, folds: Order | None) -> Floats:
        """Scores (units, n, outputs) of each row just before it was learned, by those who learn it. NaN: diverged."""

    def learner(self, unit: Unit) -> Learner:
        """What a unit has learned, as the learner that its setting is."""

    def n_live(self, unit: Unit) -> int: ...
    def end_pass(self) -> None: ...
    def finish(self) -> None: ...
    def keep(self, units: Sequence[Unit]) -> None:
        """Leave out all others, for good."""

    def why(self, unit: Unit) -> str | None:
        """What ended it, if something did."""

    def use_hash_key(self, hash_key: bytes | None) -> None: ...
    def alone(self) -> list[UnitSet]:
        """The same units, each in a learner of its own."""


class SingleSet:
    """One unit in a learner of its own: any family, any parameters."""

    def __init__(self, unit: Unit, learner: Learner) -> None:
        self.units = [unit]
        self._learner = learner
        self._why: str | None = None

    def learn(self, block: Block, order: Order, folds: Order | None) -> Floats:
        unit = self.units[0]
        scores = np.full((len(order), self._learner.outputs), np.nan)
        if self._why is None:
            held = None if folds is None or unit.fold is None else folds == unit.fold
            try:
                self._learn(block, order, held, scores)
            except DivergenceError as error:
                self._why = str(error)
        return scores[None]

    def _learn(
        self, block: Block, order: Order, held: NDArray[np.bool_] | None, scores: Floats
    ) -> None:
        learner = self._learner
        if held is None or not held.any():
            scores[:] = learner.learn(block, order)
            return
        if isinstance(learner, LinearLearner):
            scores[:] = learner.learn(block, order, held.astype(np.uint8))
            return
        # runs of examples that are learned, and of such that are only predicted, as they come
        edges = np.flatnonzero(np.diff(held)) + 1
        starts = [0, *edges.tolist(), len(order)]
        for start, stop in pairwise(starts):
            rows = order[start:stop]
            if held[start]:
                scores[start:stop] = learner.score(block.take(rows))
            else:
                scores[start:stop] = learner.learn(block, rows)

    def learner(self, unit: Unit) -> Learner:
        return self._learner

    def n_live(self, unit: Unit) -> int:
        return self._learner.n_live()

    def end_pass(self) -> None:
        self._learner.end_pass()

    def finish(self) -> None:
        self._learner.finish()

    def keep(self, units: Sequence[Unit]) -> None:
        self.units = [unit for unit in self.units if unit in units]

    def why(self, unit: Unit) -> str | None:
        return self._why

    def use_hash_key(self, hash_key: bytes | None) -> None:
        self._learner.use_hash_key(hash_key)

    def alone(self) -> list[UnitSet]:
        return [self]

    def widen(self, outputs: int) -> None:
        """More classes."""
        self._learner = self._learner.with_outputs(outputs)
