"""Sketches by shards: a round is a pass, and the sums of its shards are those of the pass. Exact.

In the first pass names of features become numbers, in the order in which they appear, shard after shard. From then on
tasks know the keys of all names, and need no names. Folds of a cross-validation are runs beside the one of all
examples, with sums of their own; once all have come to their ends, a round adds up the losses of their examples.
"""

from __future__ import annotations

import hashlib
import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import ChangedData
from riata.learners import Learner, Sketch
from riata.learners.base import Floats, offsets_for
from riata.learners.sketch_named import numbered
from riata.learners.sketch_passes import Passes
from riata.learners.sketch_points import PathPoint, Point
from riata.learners.sketch_sample import SAMPLE
from riata.learners.sketch_state import SUMS_WITHOUT_STEP
from riata.shards.kept import KEYS, NAMES, Form
from riata.shards.methods import Arrays, Method, from_json, refuse

ROOM = 2
"""A shard keeps so many times its part of the sample: what it has beyond that would not stay among all."""


class SketchMethod(Method):
    """Rows of sums: the gradient of each output. What a pass keeps in two parts, for two threads, is one sum here."""

    exact = True

    def check(self, learner: Learner) -> None:
        assert isinstance(learner, Sketch)
        if learner.algorithm != "reduced":
            raise refuse(learner, "algorithm", learner.algorithm)
        if (
            learner._limits is not None and learner._limits.groups
        ):  # shards know names by hash alone
            raise refuse(learner, "bounds", learner.bounds)

    def begin(self, learner: Any, beside: Arrays, round: int) -> Arrays:
        """Where the pass stands: the weights of each run, and whence they came."""
        state: Arrays = {
            "round": np.array([round], dtype=np.int64),
            "sample": np.array([_kept(learner.sample)], dtype=np.int64),
        }
        if len(learner._feature_index):
            state["name_keys"] = learner._feature_index.arrays()[0]
        if learner._folds is not None and learner._folds.runs:
            state["gammas"] = np.array(learner._passes[0].gammas)
        for c, (owner, run) in enumerate(_runs(learner)):
            accepted = run.accepted
            stepped = accepted is not None and len(run.core.sums().scalars) > SUMS_WITHOUT_STEP
            flags = [run.done, run.passes, stepped, owner._sample.hard, run.core.curved]
            state |= {
                f"{c}.flags": np.array(flags, dtype=np.int64),
                f"{c}.active": run.core.keys,
                f"{c}.weights": run.core.weights,
            }
            if accepted is not None and (stepped or run.done):
                state |= {
                    f"{c}.from_keys": accepted.keys,
                    f"{c}.from": np.array([accepted.intercept, *accepted.weights]),
                }
        if learner._folds is not None and learner._folds.scoring:
            for f, run in enumerate(learner._folds.runs):
                for g, point in enumerate(run.path[0]):
                    state[f"path.{f}.{g}.keys"] = point.keys
                    state[f"path.{f}.{g}"] = np.array([point.intercept, *point.weights])
        return state

    def start(self, parameters: dict[str, Any], state: Arrays, round: int, shards: int) -> Learner:
        kept = _kept(parameters["sample"])
        sample = min(kept, -(-ROOM * kept // shards))
        learner = Sketch(**from_json(parameters) | {"n_jobs": 1, "sample": sample})
        if "name_keys" in state:
            known, _ = _KNOWN.index_of(state["name_keys"])
            object.__setattr__(learner, "_feature_index", known)
        if "gammas" in state and learner._folds is not None:
            learner._passes[0].gammas = [float(gamma) for gamma in state["gammas"]]
            learner._folds._begin()
        for c, (owner, run) in enumerate(_runs(learner)):
            done, run.passes, stepped, hard, curved = (int(flag) for flag in state[f"{c}.flags"])
            run.done = bool(done)
            if hard:
                owner._sample.restart()
            weights = state[f"{c}.weights"]
            first = int(learner.fit_intercept)
            intercept = float(weights[0]) if first else 0.0
            run.core.begin(state[f"{c}.active"], weights[first:], intercept, bool(curved))
            if f"{c}.from" in state:
                keys, start = state[f"{c}.from_keys"], state[f"{c}.from"]
                if stepped:
                    run.core.came_from(keys, start[1:], float(start[0]))
                if done:
                    run.accepted = Point(keys, start[1:], float(start[0]))
        _set_paths(learner, state)
        return learner

    def learn(self, learner: Any, block: Block) -> Floats:
        if learner.complete:  # nobody asks for such a round
            raise ValueError("this sketch is complete")
        if not len(learner._feature_index) or not learner._passes[0].passes:
            return learner.learn(block)  # type: ignore[no-any-return]
        offsets_for(block, learner.outputs)
        with learner.lock:
            return learner._learn(block)  # type: ignore[no-any-return]

    def form(self, parameters: dict[str, Any], state: Arrays, round: int) -> Form:
        if round == 1:  # names become numbers then
            return Form(NAMES, KEYS)
        if "name_keys" not in state:
            return Form(KEYS, KEYS)
        known, digest = _KNOWN.index_of(state["name_keys"])
        return Form(KEYS, f"numbers {digest}", lambda block: _known_ones(known, block))

    def sums(self, learner: Any, state: Arrays, rows: int) -> Arrays:
        runs = _runs(learner)
        parts = [run.core.sums() for _, run in runs]
        if len(learner._feature_index) and state["round"][0] == 1:
            keys, names, offsets = learner._feature_index.arrays()
            gradient = _in_rows(parts, np.arange(len(keys)))
            sums: Arrays = {"keys": keys, "rows": gradient, "names": names, "name_offsets": offsets}
        else:  # keys are numbers, which all tasks share
            live = _union([part.keys for part in parts])
            sums = {"keys": live, "rows": _in_rows(parts, live)}
        for c, part in enumerate(parts):
            scalars = part.scalars
            core = runs[c][1].core
            sums |= {
                f"add.{c}.sums": np.array(scalars[:-1]),
                f"max.{c}.largest": np.array(scalars[-1:]),
                f"add.{c}.curvature": core.curvature(),
                f"add.{c}.seen": np.array(core.fingerprint, dtype=np.uint64),
                f"max.{c}.features": np.array([core.features], dtype=np.int64),
            }
        for c, (owner, run) in enumerate(runs):
            if not run.done and (run.passes == 0 or owner._sample.hard):
                sums |= {f"sample.{c}.{k}": array for k, array in owner._sample.state().items()}
                sums[f"sample.{c}.capacity"] = state["sample"]
        if learner._folds is not None and learner._folds.scoring:
            sums["add.fold_losses"] = learner._folds.losses
            sums["add.fold_weights"] = learner._folds.weights
        return sums

    def finish(self, learner: Any, sums: Arrays, rows: int, round: int) -> tuple[Learner, Arrays]:
        numbers = sums["keys"]
        if "names" in sums:
            numbers = learner._feature_index.translate(
                sums["keys"], sums["names"], sums["name_offsets"]
            )
        named = len(learner._feature_index)
        features = 0
        for c, (owner, run) in enumerate(_runs(learner)):
            if run.done:
                continue
            head = f"sample.{c}."
            sample = {k.removeprefix(head): v for k, v in sums.items() if k.startswith(head)}
            if sample.pop("capacity", None) is not None:
                owner._sample.restore(sample)
            scalars = [*sums[f"add.{c}.sums"].tolist(), float(sums[f"max.{c}.largest"][0])]
            known = named or int(sums[f"max.{c}.features"][0])
            gradient = np.zeros((len(numbers), 2))
            gradient[:, 0] = sums["rows"][:, c]
            run.core.set_curvature(sums[f"add.{c}.curvature"])
            run.core.set_sums(scalars, np.ascontiguousarray(numbers), gradient, known)
            one, two, three = (int(v) for v in sums[f"add.{c}.seen"])
            run.core.fingerprint = one, two, three
            features = max(features, known)
        if "add.fold_losses" in sums:
            learner._folds.losses = sums["add.fold_losses"].copy()
            learner._folds.weights = sums["add.fold_weights"].copy()
        for own in {id(owner): owner for owner, _ in _runs(learner)}.values():
            own._seen[:] = [own._seen[0] + rows, max(own._seen[1], features)]
        learner.end_pass()
        if "names" in sums:  # shards had numbers of their own; from now on these are compared
            for run in learner._passes:
                run.fingerprint = None
        return learner, {}

    def complete(self, learner: Learner) -> bool:
        return learner.complete


def _kept(sample: int | None) -> int:
    """Non-zeros that all shards keep together: they are sent, so by default no more than of a large stream."""
    return SAMPLE if sample is None else sample


def _runs(learner: Sketch) -> list[tuple[Sketch, Passes]]:
    """The runs of passes that add up sums: one an output, and one a fold, each with the sketch that it is of."""
    folds = [] if learner._folds is None else learner._folds.runs
    return [(own, run) for own in (learner, *folds) for run in own._passes]


def _set_paths(learner: Sketch, state: Arrays) -> None:
    """The solutions of each fold, where this round scores them."""
    for f, run in enumerate([] if learner._folds is None else learner._folds.runs):
        for g in range(len(state["gammas"])):
            if (weights := state.get(f"path.{f}.{g}")) is None:
                break
            keys, gamma = state[f"path.{f}.{g}.keys"], float(state["gammas"][g])
            point = PathPoint(gamma, keys, weights[1:], float(weights[0]), math.nan, math.nan, 0)
            run._passes[0].path.append(point)


def _known_ones(known: _core.FeatureIndex, block: Block) -> Block:
    """The Block with numbers for its features."""
    rows = numbered(known, block, join=False)
    if rows.nnz and rows.indices.min() < 0:
        raise ChangedData(
            f"{block.where(0)}: changed between rounds: there are features that were not there in "
            "the first one: train on files that stay as they are"
        )
    return rows


class _Known:
    """The numbers of all names, for tasks of one process: they look up numbers, and add none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys, self._index, self._digest = (
            np.zeros(0, dtype=np.int64),
            _core.FeatureIndex(),
            "",
        )

    def index_of(self, keys: NDArray[np.int64]) -> tuple[_core.FeatureIndex, str]:
        """And a checksum of the keys."""
        with self._lock:
            if not np.array_equal(keys, self._keys):
                nameless = np.zeros(0, dtype=np.uint8), np.zeros(len(keys) + 1, dtype=np.int64)
                self._keys, self._index = keys, _core.FeatureIndex()
                self._index.translate(keys, *nameless)
                self._digest = hashlib.sha256(keys.tobytes()).hexdigest()[:16]
            return self._index, self._digest


_KNOWN = _Known()


def _in_rows(parts: list[Any], keys: Any) -> Floats:
    """The gradients of all runs, side by side, of these features, which are ascending."""
    rows = np.zeros((len(keys), len(parts)))
    for c, part in enumerate(parts):
        rows[np.searchsorted(keys, part.keys), c] = part.gradients.sum(axis=1)
    return rows


def _union(several: list[Any]) -> Any:
    keys = several[0]
    for more in several[1:]:
        keys = np.union1d(keys, more)
    return keys
