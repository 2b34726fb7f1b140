"""Unit sets of settings that differ by numbers alone: one store for all, one traversal of each example."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from riata import _core
from riata.block import Block
from riata.learners import Learner
from riata.learners.base import offsets_for
from riata.learners.linear import LinearLearner
from riata.sweeping.grid import Setting
from riata.sweeping.unit_sets import Floats, Order, SingleSet, Unit, UnitSet

_RULES = tuple(
    update + rate for update in ("fobos", "sgd", "truncate", "round") for rate in ("", "-adagrad")
)
_LOSSES = ("logistic", "squared", "huber")
"""Of others, many examples have no slope for some settings and one for others: each then has marks of its own."""
_AT_ONCE = 8
"""Columns of a group that kernels take together."""
_FEWEST = 4
"""Columns of AdaGrad that are worth it: alone, eight features are taken at a time."""
_SHARED = (
    "loss", "epsilon", "quantile", "normalize", "feature_scale", "clip", "fit_intercept", "outputs",
)  # fmt: skip
_OWN = (
    "update", "eta0", "learning_rate", "power_t", "l1", "l2", "gravity", "theta", "period", "decay",
    "round_at_end", "store", "bits",
)  # fmt: skip


def is_adagrad(learner: LinearLearner) -> bool:
    return learner._making[0].endswith("-adagrad")


def panels_of(first: LinearLearner, members: int, threads: int) -> int:
    """So many sets are made of settings that lie side by side; 0: there are too few for it."""
    least = _FEWEST if is_adagrad(first) else 1
    panels = max(1, min(threads, members, members * first.outputs // least))
    if members * first.outputs < least:
        return 0
    return math.ceil(members / math.ceil(members / panels))


def shares_of(members: int, outputs: int, groups: int, threads: int) -> int:
    """In so many parts the groups are spread over threads, and the settings of each over the threads that are left.

    A thread takes the columns of a group eight at a time, and a look at an example costs it about as much again. What
    the slowest thread has to do decides.

    >>> shares_of(8, 1, 11, 2), shares_of(64, 1, 3, 2), shares_of(64, 1, 1, 2)
    (2, 1, 1)
    """

    def slowest(parts: int) -> int:
        columns = math.ceil(members / (threads // parts)) * outputs
        return math.ceil(groups / parts) * (math.ceil(columns / _AT_ONCE) + 1)

    return min(1, min(threads, groups), key=slowest)


def key_of(learner: Learner) -> tuple[Any, ...] | None:
    """What settings must have in common to be learned side by side; None: this one goes alone."""
    if not isinstance(learner, LinearLearner) or learner.family not in ("elastic-net", "truncated"):
        return None
    update, _ = learner._making
    others = [f.name for f in fields(learner) if f.init and f.name not in _SHARED + _OWN]
    if any(getattr(learner, name) not in (None, False, "none") for name in others):
        return None
    usual = update in _RULES and learner.loss in _LOSSES and learner.store in ("auto", "table")
    if not usual or getattr(learner, "round_at_end", 0) > 0:
        return None
    shared = (learner.family, update, *(getattr(learner, name) for name in _SHARED))
    if not is_adagrad(learner):
        return shared
    # one mark for all: penalties come at the same steps, and all weights are brought current after a pass or none are
    own = learner.parameters()
    return (*shared, own["learning_rate"], own.get("period", 1), own.get("decay", 1.0) != 1)


class BankSet:
    """Settings side by side, each in as many groups as there are folds, and one more."""

    def __init__(
        self,
        members: Sequence[int],
        groups: Sequence[int | None],
        settings: Sequence[Setting],
        outputs: int,
        seed: int,
    ) -> None:
        self._members, self._groups = list(members), list(groups)
        self._prototypes: dict[int, LinearLearner] = {}
        for s in members:
            learner = settings[s].make(outputs, seed)
            assert isinstance(learner, LinearLearner)
            self._prototypes[s] = learner
        first = self._prototypes[self._members[0]]
        self._outputs = outputs
        self._bank = _core.Bank(
            family=first.family,
            update=first._making[0],
            loss=first.loss,
            normalize=first.normalize,
            outputs=outputs,
            fit_intercept=bool(first.fit_intercept),
            settings=[self._prototypes[s]._making[1] for s in self._members],
            groups=len(self._groups),
        )
        self._factors = dict.fromkeys(self._members, 1.0)
        self._left: dict[Unit, SingleSet] = {}
        """Units that had to go on by themselves."""
        self._why: dict[int, str] = {}
        self._hash_key: bytes | None = None
        self._live: list[int] | None = None
        """Counted since the last example."""
        self.units = [Unit(s, group) for group in self._groups for s in self._members]

    def learn(self, block: Block, order: Order, folds: Order | None) -> Floats:
        scores = np.full((len(self.units), len(order), self._outputs), np.nan)
        place = {unit: i for i, unit in enumerate(self.units)}
        for unit, unit_set in list(self._left.items()):
            if unit in place:
                scores[place[unit]] = unit_set.learn(block, order, folds)[0]
        start, labels, self._live = 0, block.labels, None
        assert labels is not None
        order, offsets = (
            np.ascontiguousarray(order, dtype=np.int64),
            offsets_for(block, self._outputs),
        )
        # groups are those of the folds from some first one on; one that learns everything comes behind them
        first = self._groups[0]
        own = None if folds is None or first is None else folds - first
        while start < len(order) and self._members:
            found, done, why, which = self._bank.learn(
                block.indptr, block.indices, block.values, labels, block.weights, order[start:],
                None if own is None else own[start:], block.names, block.name_offsets, offsets,
            )  # fmt: skip
            shaped = found[:done].reshape(
                done, len(self._groups), len(self._members), self._outputs
            )
            for g, group in enumerate(self._groups):
                for i, s in enumerate(self._members):
                    scores[place[Unit(s, group)], start : start + done] = shaped[:, g, i]
            start += done
            if not why:
                break
            rest = None if folds is None else folds[start:]
            self._leave(which, why, block, order[start:], rest, scores[:, start:], place)
        return scores

    def _leave(
        self,
        which: int,
        why: str,
        block: Block,
        order: Order,
        folds: Order | None,
        scores: Floats,
        place: dict[Unit, int],
    ) -> None:
        """A setting that has diverged ends; one that stands still where others move goes on by itself."""
        s = self._members[which]
        if why == "diverged":
            where = block.where(int(order[0]))
            slower = self._prototypes[s]._slower()
            self._why[s] = f"{where}: the scores have left the range of floats; {slower}"
        else:
            for group in self._groups:
                unit_set = SingleSet(Unit(s, group), self.learner(Unit(s, group)))
                self._left[Unit(s, group)] = unit_set
                scores[place[Unit(s, group)]] = unit_set.learn(block, order, folds)[0]
        self._remove({s})

    def _remove(self, gone: Iterable[int]) -> None:
        """Without these settings; their units stay listed until `keep` says otherwise."""
        self._live = None
        kept = [i for i, s in enumerate(self._members) if s not in gone]
        if kept and len(kept) < len(self._members):
            self._bank.keep(kept)
        self._members = [self._members[i] for i in kept]

    def learner(self, unit: Unit) -> Learner:
        if unit in self._left:
            return self._left[unit].learner(unit)
        prototype = self._prototypes[unit.setting]
        state = self._bank.unit(self._members.index(unit.setting), self._groups.index(unit.fold))
        made = type(prototype).from_state(prototype.parameters(), state)
        made.use_hash_key(self._hash_key)
        return made

    def n_live(self, unit: Unit) -> int:
        if unit in self._left:
            return self._left[unit].n_live(unit)
        if self._live is None:
            self._live = self._bank.live_weights()
        setting, group = self._members.index(unit.setting), self._groups.index(unit.fold)
        return self._live[group * len(self._members) + setting]

    def end_pass(self) -> None:
        for unit_set in self._left.values():
            unit_set.end_pass()
        decays = {s: float(getattr(self._prototypes[s], "decay", 1.0)) for s in self._members}
        if any(decay != 1 for decay in decays.values()):
            for s, decay in decays.items():
                self._factors[s] *= decay
            self._bank.set_rate_factors([self._factors[s] for s in self._members])

    def finish(self) -> None:
        for unit_set in self._left.values():
            unit_set.finish()

    def keep(self, units: Sequence[Unit]) -> None:
        wanted = {unit.setting for unit in units}
        self._remove({s for s in self._members if s not in wanted})
        self._left = {
            unit: unit_set for unit, unit_set in self._left.items() if unit.setting in wanted
        }
        self.units = [unit for unit in self.units if unit.setting in wanted]

    def why(self, unit: Unit) -> str | None:
        left = self._left.get(unit)
        return self._why.get(unit.setting) if left is None else left.why(unit)

    def use_hash_key(self, hash_key: bytes | None) -> None:
        self._hash_key = hash_key
        for unit_set in self._left.values():
            unit_set.use_hash_key(hash_key)

    def alone(self) -> list[UnitSet]:
        return [self._left.get(unit) or SingleSet(unit, self.learner(unit)) for unit in self.units]


def make_sets(
    units: Sequence[Unit], settings: Sequence[Setting], outputs: int, seed: int, threads: int
) -> list[UnitSet]:
    """Settings that can share are put side by side, and groups or settings spread over the threads; others go alone."""
    groups = list(dict.fromkeys(unit.fold for unit in units))
    together: dict[Any, list[int]] = {}
    unit_sets: list[UnitSet] = []
    for s in dict.fromkeys(unit.setting for unit in units):
        key = key_of(settings[s].make(outputs, seed))
        together.setdefault(("alone", s) if key is None else key, []).append(s)
    for key, members in together.items():
        first = settings[members[0]].make(outputs, seed)
        alone = key[0] == "alone" or (len(members) == 1 and len(groups) == 1)
        panels, parts = 0, 1
        if not alone:
            assert isinstance(first, LinearLearner)
            parts = shares_of(len(members), outputs, len(groups), threads)
            panels = panels_of(first, len(members), threads // parts)
        if panels == 0:
            for s in members:
                unit_sets += [
                    SingleSet(Unit(s, g), settings[s].make(outputs, seed)) for g in groups
                ]
            continue
        each = math.ceil(len(members) / panels)
        for start in range(0, len(members), each):
            panel = members[start : start + each]
            ends = [round(i * len(groups) / parts) for i in range(parts + 1)]
            for begin, end in pairwise(ends):
                unit_sets.append(BankSet(panel, groups[begin:end], settings, outputs, seed))
    return unit_sets
