"""All columns of a sweep as one learner, so that the one training loop leads the examples past them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DataError, DivergenceError, SettingsError
from riata.learners import Learner
from riata.learners.base import State
from riata.metrics_running import Mean
from riata.sweeping.banks import make_sets as side_by_side
from riata.sweeping.folds import FoldOf
from riata.sweeping.grid import Setting
from riata.sweeping.predictions import Predictor
from riata.sweeping.pruning import LOSS_BOUND, Pruning
from riata.sweeping.tally import AT_ONCE, Tally
from riata.sweeping.unit_sets import SingleSet, Unit, UnitSet

Floats = NDArray[np.float64]

LOOK_FIRST = 1024
"""Examples before the first look at what can be pruned; the next comes after a quarter more, and so on."""
_REGRESSION_BOUND = 16.0
"""Losses of a regression are cut off at so many variances of the labels of the first examples."""


class Columns(Learner):
    """Every setting of a sweep, and with folds every setting without each fold.

    What `learn` gives back, and what it is as a model, is the setting that leads.
    """

    family: ClassVar[str] = "sweep"

    def __init__(
        self,
        settings: Sequence[Setting],
        outputs: int,
        *,
        folds: FoldOf | None = None,
        prune: bool = False,
        seed: int = 0,
        threads: int = 1,
        make_sets: Callable[..., list[UnitSet]] | None = None,
    ) -> None:
        self.settings, self.outputs, self.folds = list(settings), outputs, folds
        self.predictor = Predictor([setting.make(outputs, seed) for setting in settings])
        self._wanted = [None] if folds is None else [*range(folds.folds), None]
        units = [Unit(s, fold) for fold in self._wanted for s in range(len(self.settings))]
        make = side_by_side if make_sets is None else make_sets
        self.unit_sets: list[UnitSet] = make(units, self.settings, outputs, seed, threads)
        self._home = {unit: unit_set for unit_set in self.unit_sets for unit in unit_set.units}
        self._pool = (
            ThreadPoolExecutor(threads) if threads > 1 and len(self.unit_sets) > 1 else None
        )
        self.losses_of = [Mean() for _ in self.settings]
        """Progressive, by the settings' own losses: as a record has it."""
        self.alive = np.ones(len(self.settings), dtype=bool)
        self.ended: dict[int, str] = {}
        """Settings that were pruned or diverged, and how."""
        self.loss_then: dict[int, float] = {}
        """Of those that were pruned, the loss until then."""
        self.prune = prune
        self.pruning: Pruning | None = None
        self._look_at = LOOK_FIRST
        self._t = self._position = self._passes = 0
        self._features = 0
        self._labels: set[float] = set()
        self._last: Block | None = None
        self._last_folds: tuple[NDArray[np.int64], Block] | None = None
        self.tally = self._new_tally()
        self.whole: Tally | None = None
        """Of the last pass that was complete."""

    def _new_tally(self) -> Tally:
        folds = None if self.folds is None else self.folds.folds
        return Tally(len(self.settings), self.predictor.metric, folds)

    # What it is

    @property
    def task(self) -> str:
        return self.predictor.task

    @property
    def t(self) -> int:
        return self._t

    @property
    def n_features(self) -> int:
        return self._features

    @property
    def wants_names(self) -> bool:
        return self.predictor.wants_names or (self.folds is not None and self.folds.by_column)

    @property
    def takes_more_classes(self) -> bool:
        return self.predictor.takes_more_classes

    def with_outputs(self, outputs: int) -> Self:
        """Each setting goes on by itself: side by side they would have to be put together anew."""
        unit_sets = [alone for unit_set in self.unit_sets for alone in unit_set.alone()]
        for unit_set in unit_sets:
            assert isinstance(unit_set, SingleSet)
            unit_set.widen(outputs)
        self.unit_sets = unit_sets
        self._home = {unit: unit_set for unit_set in unit_sets for unit in unit_set.units}
        self.predictor = self.predictor.with_outputs(outputs)
        self.outputs = outputs
        return self

    # Learning

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Floats:
        if block.labels is None:
            raise ValueError("a Block without labels cannot be learned")
        folds, block = self._folds_of(block)
        rows = np.arange(len(block)) if order is None else np.asarray(order)
        parts = [
            self._learn(block, rows[start : start + AT_ONCE], folds)
            for start in range(0, len(rows), AT_ONCE)
        ]
        self._features = max(self._features, self._largest(block))
        return np.concatenate(parts) if parts else np.zeros((0, self.outputs))

    def _largest(self, block: Block) -> int:
        return int(block.indices.max()) + 1 if block.nnz and not block.named else 0

    def _folds_of(self, block: Block) -> tuple[NDArray[np.int64] | None, Block]:
        """Pieces of one Block come one behind another, with the rows to learn of each."""
        if block is not self._last:
            self._position += 0 if self._last is None else len(self._last)
            self._last = block
            self._last_folds = None if self.folds is None else self.folds.of(block, self._position)
        return (None, block) if self._last_folds is None else self._last_folds

    def _learn(
        self, block: Block, rows: NDArray[np.int64], folds: NDArray[np.int64] | None
    ) -> Floats:
        labels = block.labels[rows]  # type: ignore[index]
        self._labels.update(np.unique(labels).tolist())
        weights = None if block.weights is None else block.weights[rows]
        of_rows = None if folds is None else folds[rows]
        scores = self._scores(block, rows, of_rows)
        self._t += len(rows)
        self._note_diverged(scores)
        np.nan_to_num(scores, copy=False)
        everything: Floats = scores[-1]
        own = self.predictor.losses(everything, labels)
        for s in np.flatnonzero(self.alive).tolist():
            self.losses_of[s].add(own[s], weights)
        if of_rows is not None:
            honest = scores[of_rows, :, np.arange(len(rows))].transpose(1, 0, 2)
        elif self._passes == 0:
            honest = everything
        else:  # later passes see what they have learned: their losses are not honest
            return self._leading(everything)
        said = self.predictor.said(honest, labels)
        losses = self.tally.add(said, labels, weights, of_rows)
        self._prune(losses if weights is None else losses * weights, labels)
        return self._leading(everything)

    def _leading(self, scores: Floats) -> Floats:
        own: Floats = scores[self.leader()]
        return own

    def _scores(
        self, block: Block, rows: NDArray[np.int64], folds: NDArray[np.int64] | None
    ) -> Floats:
        """(folds and all, settings, n, outputs); 0 where nobody learns any more."""
        shape = (len(self._wanted), len(self.settings), len(rows), self.outputs)
        scores = np.zeros(shape)
        unit_sets = [unit_set for unit_set in self.unit_sets if unit_set.units]

        def one(unit_set: UnitSet) -> Floats:
            return unit_set.learn(block, rows, folds)

        done = map(one, unit_sets) if self._pool is None else self._pool.map(one, unit_sets)
        for unit_set, found in zip(unit_sets, done, strict=True):
            for unit, of_unit in zip(unit_set.units, found, strict=True):
                scores[-1 if unit.fold is None else unit.fold, unit.setting] = of_unit
        return scores

    def _note_diverged(self, scores: Floats) -> None:
        """A setting ends with the first of its units: that has no scores from then on."""
        for s in np.flatnonzero(self.alive).tolist():
            ends = []
            for fold in self._wanted:
                why = self._home[Unit(s, fold)].why(Unit(s, fold))
                if why is not None:
                    missing = np.isnan(scores[-1 if fold is None else fold, s, :, 0])
                    ends.append((int(np.argmax(missing)), why))
            if ends:
                self._end(s, f"diverged: {min(ends, key=lambda end: end[0])[1]}")
        if not self.alive.any():
            raise DivergenceError(
                f"all {len(self.settings):,} settings of the sweep have diverged; of the first: {self.ended[0]}"
            )

    def _end(self, s: int, how: str) -> None:
        self.alive[s] = False
        self.ended[s] = how
        for unit_set in self.unit_sets:
            if any(unit.setting == s for unit in unit_set.units):
                unit_set.keep([unit for unit in unit_set.units if unit.setting != s])

    def _prune(self, losses: Floats, labels: Floats) -> None:
        if not self.prune:
            return
        if self.pruning is None:
            bound = LOSS_BOUND
            if self.task == "regression":
                bound = _REGRESSION_BOUND * float(np.var(labels))
            elif self.predictor.metric == "error":
                bound = 1.0
            if not bound > 0:
                return
            self.pruning = Pruning(len(self.settings), bound)
            if (
                self.task == "regression"
            ):  # the bound comes from these labels: the test begins behind them
                return
        self.pruning.add(losses)
        if self.pruning.examples < self._look_at:
            return
        self._look_at = max(self._look_at + 1, int(self.pruning.examples * 1.25))
        loss = self.judged.loss
        for s in self.pruning.lost(self.alive).tolist():
            self.loss_then[s] = float(loss[s])
            self._end(s, f"pruned after {self.pruning.examples:,} examples")

    def end_pass(self) -> None:
        if self.task == "classification" and len(self._labels) == 1:
            raise DataError(
                f"all {self._t:,} examples have the same label: nothing tells good settings from bad ones"
            )
        for unit_set in self.unit_sets:
            unit_set.end_pass()
        self._last, self._last_folds, self._position = None, None, 0
        self._passes += 1
        if self.folds is not None or self._passes == 1:
            self.whole = self.tally
        if self.folds is not None:
            self.tally = self._new_tally()

    def finish(self) -> None:
        for unit_set in self.unit_sets:
            unit_set.finish()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    @property
    def judged(self) -> Tally:
        """What settings are compared by: of the last complete pass, or as far as the first one has got."""
        return self.tally if self.whole is None else self.whole

    def leader(self) -> int:
        loss = np.where(self.alive, np.nan_to_num(self.judged.loss, nan=math.inf), math.inf)
        return int(np.argmin(loss)) if np.isfinite(loss).any() else int(np.argmax(self.alive))

    def learner_of(self, s: int) -> Learner:
        """What a setting has learned from all examples."""
        if not self.alive[s]:
            raise SettingsError(f"{self.settings[s].text()} has no model: {self.ended[s]}")
        unit = Unit(s, None)
        return self._home[unit].learner(unit)

    def live_of(self, s: int) -> int | None:
        unit = Unit(s, None)
        return self._home[unit].n_live(unit) if self.alive[s] else None

    # As a learner: the one that leads

    def n_live(self) -> int:
        return self.live_of(self.leader()) or 0

    def losses(self, scores: Floats, labels: Floats) -> Floats:
        return self.predictor.prototypes[self.leader()].losses(scores, labels)

    def probability(self, scores: Floats) -> Floats | None:
        return self.predictor.prototypes[self.leader()].probability(scores)

    def score(self, block: Block) -> Floats:
        return self.learner_of(self.leader()).score(block)

    def coef(self) -> tuple[NDArray[np.int64], Floats]:
        return self.learner_of(self.leader()).coef()

    @property
    def intercept(self) -> Floats:
        return self.learner_of(self.leader()).intercept

    def use_hash_key(self, hash_key: bytes | None) -> None:
        super().use_hash_key(hash_key)
        for unit_set in self.unit_sets:
            unit_set.use_hash_key(hash_key)

    def parameters(self) -> dict[str, Any]:
        return {}

    @property
    def by_feature(self) -> list[tuple[str, Mapping[Any, Any]]]:
        return [one for prototype in self.predictor.prototypes for one in prototype.by_feature]

    def all_names(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        return self.learner_of(self.leader()).all_names()

    def learn_one(self, features: Mapping[str, Any], label: float, weight: float = 1.0) -> NoReturn:
        raise NotImplementedError("a sweep learns Blocks")

    def score_one(self, features: Mapping[str, Any]) -> NoReturn:
        raise NotImplementedError("a sweep scores Blocks")

    def state(self) -> State:
        raise NotImplementedError("save the models of a sweep, one by one")

    def _restore(self, state: State) -> None:
        raise NotImplementedError("save the models of a sweep, one by one")
