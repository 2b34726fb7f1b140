"""Cross-validation of a path of penalties, in the passes of the sketch itself.

Each fold has a sketch of its own, which is shown all examples but the fold's: all of them read the data together. Once
their paths are complete, one more pass scores the examples of each fold at every penalty. Where the sample of the first
pass holds all examples, the folds need no pass at all.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.learners.base import Floats, State
from riata.learners.sketch_memory import InMemory
from riata.learners.sketch_parameters import one_class
from riata.learners.sketch_points import PathPoint
from riata.learners.sketch_sample import Examples
from riata.learners.state_check import Tensor, check_state

if TYPE_CHECKING:
    from riata.learners.sketch import Sketch

_KEY, _VALUE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


def content_hashes(block: Block) -> NDArray[np.uint64]:
    """A hash of each example: of all its features and their values."""
    first, last = int(block.indptr[0]), int(block.indptr[-1])
    words = block.indices[first:last].astype(np.uint64) * _KEY
    words ^= (
        np.ascontiguousarray(block.values[first:last]).view(np.uint32).astype(np.uint64) * _VALUE
    )
    words ^= words >> np.uint64(29)
    words *= _VALUE
    words ^= words >> np.uint64(32)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words, dtype=np.uint64)])
    rows: NDArray[np.uint64] = sums[block.indptr[1:] - first] - sums[block.indptr[:-1] - first]
    rows = (rows ^ (rows >> np.uint64(31))) * _KEY
    return rows ^ (rows >> np.uint64(29))


@dataclass(frozen=True)
class Curve:
    """The loss of every penalty, gamma falling: its mean over examples, and the standard error over folds."""

    gammas: Floats
    losses: Floats
    """(folds, gammas): mean log loss of the examples of the fold, which its sketch was not shown."""
    weights: Floats
    """Of the folds."""

    @property
    def mean(self) -> Floats:
        found: Floats = self.weights @ self.losses / self.weights.sum()
        return found

    @property
    def se(self) -> Floats:
        spread: Floats = self.losses.std(axis=0, ddof=1) / np.sqrt(len(self.losses))
        return spread

    @property
    def at_min(self) -> int:
        return int(np.argmin(self.mean))

    @property
    def at_1se(self) -> int:
        """The largest penalty whose loss is within one standard error of the least."""
        best = self.at_min
        return int(np.flatnonzero(self.mean <= self.mean[best] + self.se[best])[0])


class Folds:
    """The sketches of the folds, from when the penalties are known, and what they cost on their own folds."""

    def __init__(self, sketch: Sketch) -> None:
        self.sketch, self.k = sketch, sketch.folds
        self.given: NDArray[np.int64] | None = None
        """The fold of each example by its position, where somebody else has chosen."""
        self.runs: list[Sketch] = []
        self.losses = np.zeros((self.k, 0))
        self.weights = np.zeros(self.k)
        self.done = False
        self._position = 0

    # Which fold

    def of(self, block: Block) -> NDArray[np.int64]:
        """Equal examples share a fold, in whatever order they come."""
        if self.given is not None:
            start, self._position = self._position, self._position + len(block)
            if self._position > len(self.given):
                raise DataError(
                    f"folds are given for {len(self.given):,} examples, and there are more"
                )
            return self.given[start : self._position]
        return ((content_hashes(block) >> np.uint64(20)) % np.uint64(self.k)).astype(np.int64)

    # A pass

    @property
    def scoring(self) -> bool:
        """Whether all paths are there, and this pass is for their losses."""
        return bool(self.runs) and not self.done and all(run.complete for run in self.runs)

    def learn(self, block: Block) -> None:
        if self.done:
            return
        folds = self.of(block)
        if self.scoring:
            for f in range(self.k):
                self._score(f, block.take(np.flatnonzero(folds == f)), self.runs[f].path[0])
            return
        for f, run in enumerate(self.runs):
            if not run.complete:
                run.learn(block.take(np.flatnonzero(folds != f)))

    def end(self, sample: Examples | None) -> None:
        """The pass has come to its end; `sample`: what is in memory."""
        if self.done:
            return
        scored = self.scoring and self.weights.sum() > 0
        self._position = 0
        if self.runs and not scored:
            for run in self.runs:
                if not run.complete:
                    run.end_pass()
        if not self.runs and self.sketch._passes[0].gammas:
            self._begin()
            if sample is not None and sample.whole:
                self._solve_in_memory(sample.block)
                scored = True
        if scored:
            if not (self.weights > 0).all():
                raise DataError(f"a fold of {self.k} has no examples: take fewer folds")
            self.done, self.runs = True, []

    def _begin(self) -> None:
        sketch = self.sketch
        gammas = tuple(sketch._passes[0].gammas)
        given = sketch.parameters() | {"gamma": gammas, "folds": 0}
        self.runs = [type(sketch)(**given) for _ in range(self.k)]
        self.losses = np.zeros((self.k, len(gammas)))

    def _solve_in_memory(self, block: Block) -> None:
        """Every path and its losses, from the examples in memory alone."""
        sketch, folds = self.sketch, self.of(block)
        free = sketch.fit_intercept and not sketch.penalize_intercept

        def one(f: int) -> None:
            own = InMemory(block.take(np.flatnonzero(folds != f)))
            if free and not own.has_both_classes(1.0):
                raise one_class()
            point, path = None, []
            for gamma in sketch._passes[0].gammas:
                found = own.solve(sketch, sketch._limits, 1.0, gamma, sketch.tol, point)
                point = found.point
                path.append(
                    PathPoint(gamma, point.keys, point.weights, point.intercept, found.objective, found.gap, 0)
                )  # fmt: skip
            self._score(f, block.take(np.flatnonzero(folds == f)), path)

        threads = min(self.sketch.n_jobs, os.cpu_count() or 1)
        if threads == 1:
            for f in range(self.k):
                one(f)
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, range(self.k)))

    def _score(self, f: int, block: Block, points: list[PathPoint]) -> None:
        """The losses of the fold's own examples, at every penalty."""
        if not len(block):
            return
        keys = np.unique(np.concatenate([p.keys for p in points]))
        weights = np.zeros((len(keys), self.losses.shape[1]))
        intercepts = np.zeros(self.losses.shape[1])
        for g in range(self.losses.shape[1]):  # a path that ended early goes on as it ended
            point = points[min(g, len(points) - 1)]
            weights[np.searchsorted(keys, point.keys), g] = point.weights
            intercepts[g] = point.intercept
        scorer = _core.Scorer()
        scorer.set(keys, weights, intercepts)
        scores = scorer.score(block.indptr, block.indices, block.values, None)
        labels, w = block.labels, block.weights
        assert labels is not None
        signs = np.where(labels == 1.0, 1.0, -1.0)
        if block.offsets is not None:
            scores = scores + block.offsets[:, None]
        own = np.ones(len(block)) if w is None else w
        for g in range(scores.shape[1]):
            column = np.ascontiguousarray(scores[:, g])
            losses = _core.link_apply(self.sketch.link, column, signs)
            self.losses[f, g] += float((losses * own).sum())
        self.weights[f] += float(own.sum())

    # What was found

    def curve(self) -> Curve | None:
        if not self.done:
            return None
        gammas = np.array(self.sketch._passes[0].gammas)
        return Curve(gammas, self.losses / self.weights[:, None], self.weights)

    def chosen(self) -> PathPoint | None:
        """The solution from all examples at the penalty that was selected."""
        curve, path = self.curve(), self.sketch._passes[0].path
        if curve is None or not path:
            return None
        at = curve.at_min if self.sketch.select == "min" else curve.at_1se
        return path[min(at, len(path) - 1)]

    # As arrays

    def state(self) -> State:
        flags = np.array([self.done, len(self.runs), self._position], dtype=np.int64)
        state: State = {"flags": flags, "losses": self.losses, "weights": self.weights}
        if self.given is not None:
            state["given"] = self.given
        for f, run in enumerate(self.runs):
            state |= {f"{f}.{name}": array for name, array in run.state().items()}
        return state

    def restore(self, state: State) -> None:
        own = {name: array for name, array in state.items() if "." not in name}
        check_state(
            own,
            {
                "flags": Tensor("int64", (3,), least=0),
                "losses": Tensor("float64", (self.k, "gammas"), least=0),
                "weights": Tensor("float64", (self.k,), least=0),
                "given": Tensor("int64", ("n",), least=0, optional=True),
            },
        )
        self.given = own.get("given")
        done, runs, self._position = (int(v) for v in own["flags"])
        if runs not in (0, self.k):
            raise ValueError("the folds do not fit together")
        gammas = len(self.sketch._passes[0].gammas)
        if (runs or done) and own["losses"].shape[1] != gammas:
            raise ValueError("tensor 'losses' and the penalties do not fit together")
        if done and not (own["weights"] > 0).all():
            raise ValueError("a fold has no weight")
        if runs:
            self._begin()
            for f, run in enumerate(self.runs):
                head = f"{f}."
                part = {k.removeprefix(head): v for k, v in state.items() if k.startswith(head)}
                run._restore(part)
        self.done = bool(done)
        self.losses, self.weights = own["losses"].copy(), own["weights"].copy()
