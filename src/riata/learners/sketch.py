"""Sketch: L1 logistic and probit regression from quadratic models that add up: Balakrishnan & Madigan 2008."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import SettingsError
from riata.learners.base import Floats, Learner, State, both_locks, offsets_for, option
from riata.learners.bounds import Bounds, bounds_for_json, check_bounds_fit, parse_bounds
from riata.learners.classes import of_link
from riata.learners.sketch_bounds import Limits
from riata.learners.sketch_folds import Curve, Folds
from riata.learners.sketch_merge import merge_sketches
from riata.learners.sketch_named import numbered
from riata.learners.sketch_online import learn_online, limit_online, new_online, refusal
from riata.learners.sketch_parameters import (
    ALGORITHMS,
    LINKS,
    SCHEDULES,
    SELECT,
    check,
    gammas_of,
    verdict,
    warn_of_an_inexact_end,
)
from riata.learners.sketch_passes import Passes
from riata.learners.sketch_points import PathPoint
from riata.learners.sketch_sample import Examples, Sample
from riata.learners.sketch_state import restore_sketch, sketch_state


@dataclass(frozen=True, kw_only=True)
class Sketch(Learner):
    """Minimise the sum of the losses + gamma * sum abs(b), inside bounds, exactly, in a handful of passes.

    Each pass replaces the losses by their quadratic model at the weights so far; its minimum, by coordinate
    descent, gives the next weights. `algorithm="reduced"` keeps the curvature of the active features alone, so
    memory does not grow with the examples, nor with the square of the features; `"multipass"` keeps all of it;
    `"online"` makes a single pass and takes the model of each example at the weights of its time.

    `bounds` keeps weights inside: `(0, None)` makes all of them non-negative, `{7: (-1, 1), "*": (0, None)}` gives
    feature 7 an interval of its own; for named features a key is a name, a namespace or a column.

    After every pass call `end_pass`, as `training.train` does, until it is `complete`.

    >>> import numpy as np
    >>> from riata.block import Block
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 3)).astype(np.float32)
    >>> y = (x[:, 0] + 0.5 * rng.normal(size=1000) > 0).astype(float)
    >>> block = Block(np.arange(0, 3001, 3), np.tile(np.arange(3, dtype=np.int32), 1000), x.ravel(), labels=y)
    >>> learner = Sketch(gamma=20.0)
    >>> while not learner.complete:
    ...     _ = learner.learn(block)
    ...     learner.end_pass()
    >>> learner.converged, learner.coef()[0].tolist()      # of three features, the one that matters
    (True, [0])
    >>> learner.history[-1]["gap"] <= 1e-6 * learner.history[-1]["objective"]
    True
    """

    family: ClassVar[str] = "sketch"

    algorithm: str = option(
        "reduced",
        "active features alone, all features, or one pass that follows the examples",
        ALGORITHMS,
    )
    link: str = option("logit", "logistic or probit regression", LINKS)
    gamma: float | str | tuple[float, ...] = option(
        1.0, "penalty on the sum of absolute weights, against the sum of the losses"
    )
    bounds: Bounds | None = option(None, "interval of all weights, or of weights by feature")  # noqa: RUF009
    fit_intercept: bool = option(True, "learn an intercept, without penalty")
    penalize_intercept: bool = option(False, "let the penalty count the intercept as well")
    capacity: int | None = option(
        None, "most features that are active at once, in algorithm reduced"
    )
    tau: float = option(
        0.8, "features this close to violating optimality, relative to gamma, are active"
    )
    tol: float = option(1e-6, "stop when the duality gap is this small, relative to the objective")
    max_passes: int = option(50, "passes for a penalty after which to stop anyway")
    sample: int | None = option(
        None,
        "non-zeros of examples kept in memory, 0: none, as in the paper; default: all up to 2^24, 2^20 of more",
    )
    n_jobs: int = option(2, "threads that make a pass; the result has the same bits for any number")
    gamma_schedule: str = option(
        "constant", "in algorithm online: gamma at once, or growing with the examples", SCHEDULES
    )
    horizon: int | None = option(
        None, "examples after which gamma schedule linear has reached gamma"
    )
    block_size: int = option(1, "examples that algorithm online takes together, and twice")
    shooting_tol: float = option(1e-6, "relative change at which algorithm online ends its sweeps")
    path_length: int = option(20, "how many values of gamma='path'")
    path_ratio: float = option(0.01, "the last value of gamma='path', relative to the first")
    folds: int = option(0, "cross-validate the penalties in the same passes; 0: do not")
    select: str = option(
        "min", "with folds: the penalty of the least loss, or the largest near it", SELECT
    )
    outputs: int = option(1, "columns of weights: one for two classes, one a class for more")
    _passes: list[Passes] = field(init=False, repr=False, compare=False)
    _online: list[_core.OnlineSketch] = field(init=False, repr=False, compare=False)
    _scorer: list[_core.Scorer | None] = field(init=False, repr=False, compare=False)
    _recent: list[Floats] = field(init=False, repr=False, compare=False)
    """Scores and labels of the last Block that was learned, and its losses: a pass works them out anyway."""
    _seen: list[int] = field(init=False, repr=False, compare=False)
    _feature_index: _core.FeatureIndex = field(init=False, repr=False, compare=False)
    _sample: Sample = field(init=False, repr=False, compare=False)
    _limits: Limits | None = field(init=False, repr=False, compare=False)
    _folds: Folds | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        if isinstance(self.gamma, list):
            set_(self, "gamma", tuple(self.gamma))
        check(self)
        gammas = gammas_of(self.gamma)
        set_(self, "_limits", Limits.of_bounds(self.bounds, lambda k: self._feature_index.name(k)))
        set_(self, "bounds", bounds_for_json(*parse_bounds(self.bounds)))
        set_(self, "_passes", [])
        set_(self, "_online", [])
        set_(self, "_scorer", [None])
        set_(self, "_recent", [])
        pinned = None if self._limits is None else self._limits.origin().keys
        set_(self, "_seen", [0, 0 if pinned is None else int(pinned.max(initial=-1)) + 1])
        set_(self, "_feature_index", _core.FeatureIndex())
        set_(self, "_sample", Sample.of_size(self.sample))
        set_(self, "_folds", Folds(self) if self.folds else None)
        if self.algorithm == "online":
            self._online.extend(new_online(self, gammas[0]))
            return
        for _ in range(self.outputs):
            run = Passes(self, list(gammas), self.path_length, self.path_ratio, limits=self._limits)
            self._passes.append(run)

    # What it is

    @property
    def task(self) -> str:
        return "classification"

    @property
    def planned_passes(self) -> int | None:
        more = (
            1 if self._folds is None else 2
        )  # folds come to their ends later, and are then scored
        return None if self.algorithm == "online" else self.max_passes * self._penalties * more

    @property
    def _penalties(self) -> int:
        if self.gamma == "path":
            return self.path_length
        return len(self.gamma) if isinstance(self.gamma, tuple) else 1

    @property
    def t(self) -> int:
        return self._seen[0]

    @property
    def n_features(self) -> int:
        return self._seen[1]

    @property
    def converged(self) -> bool:
        """The certificate says so, for every output and every gamma; never of the online algorithm."""
        return bool(self._passes) and all(p.done and p.converged for p in self._passes)

    @property
    def history(self) -> list[dict[str, float]]:
        """After every pass: pass, gamma, objective, gap, violation, active, support, step (and output)."""
        if self.outputs == 1:
            return [dict(h) for p in self._passes for h in list(p.history)]
        return [{"output": c} | h for c, p in enumerate(self._passes) for h in p.history]

    @property
    def verdict(self) -> str | None:
        return None if self._online else verdict(self, self._passes)

    @property
    def path(self) -> list[list[PathPoint]]:
        """For every output, the solutions found, gamma falling."""
        return [list(p.path) for p in self._passes]

    @property
    def curve(self) -> Curve | None:
        """What the folds say of each penalty, once they have come to their ends."""
        return None if self._folds is None else self._folds.curve()

    # Learning

    def _positive(self, column: int) -> float:
        return 1.0 if self.outputs == 1 else float(column)

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Floats:
        if block.labels is None:
            raise ValueError("a Block without labels cannot be learned")
        if order is not None:
            rows = np.asarray(order, dtype=np.intp)
            if len(rows) and (rows.min() < 0 or rows.max() >= len(block)):
                raise ValueError(
                    "the block is not well formed: the order names a row that it lacks"
                )
            block = block.take(rows)
        offsets_for(block, self.outputs)
        with self.lock:
            return self._learn(self._numbered(block, join=True))

    def _learn(self, block: Block) -> Floats:
        if self.complete:
            raise SettingsError(
                "this sketch is complete, the solution for its data, and takes no more: train one on all data, or with "
                "algorithm='online'"
            )
        if self._online:
            return self._learn_online(block)
        scores = np.empty((len(block), self.outputs))
        labels = block.labels
        assert labels is not None
        known: Floats | None = None
        losses = np.zeros(len(block))
        for c, p in enumerate(self._passes):
            if not p.done:
                scores[:, c], more = p.accumulate(block, labels, self._positive(c), self.n_jobs)
                losses += more
            else:  # this output is complete, others are not
                known = self.score(block) if known is None else known
                scores[:, c] = known[:, c]
        if self._passes[0].passes == 0 or self._sample.hard:
            self._sample.add(block, losses)
        if self._folds is not None:
            self._folds.learn(block)
        self._count(len(block))
        self._recent[:] = [] if known is not None else [scores, labels, losses]
        return scores

    def _learn_online(self, block: Block) -> Floats:
        scores = learn_online(self._online, block, [self._positive(c) for c in range(self.outputs)])
        self._scorer[0] = None
        self._count(len(scores))
        if len(scores) < len(block):
            raise refusal(self._online[0], block, scores)
        return scores

    def _count(self, examples: int) -> None:
        features = [core.features for core in self._cores()]
        self._seen[:] = [self._seen[0] + examples, max(self._seen[1], *features)]

    @property
    def to_save(self) -> float:
        return 3.1 if self._online else super().to_save  # row, column and value of every pair

    def limit_memory(self, most: int) -> None:
        if self._online:
            limit_online(self._online, most)

    def end_pass(self) -> None:
        """The source was read to its end: move the weights."""
        with self.lock:
            self._recent.clear()
            for core in self._online:
                core.flush()
            if self._passes and not self.complete:
                self._end_passes()
            self._scorer[0] = None

    def _end_passes(self) -> None:
        losses = sum(p.core.loss for p in self._passes if not p.done)
        for c, p in enumerate(self._passes):
            seen = Examples.of(self._sample, self._positive(c), losses)
            p.end(seen)
            if self._folds is not None:
                self._folds.end(seen)
        if self.complete:
            self._sample.clear()
        elif not self._sample.whole and self.algorithm == "reduced":
            self._sample.restart()
        if self.complete and not self.converged:
            warn_of_an_inexact_end(self, self._passes)

    @property
    def complete(self) -> bool:
        done = self._folds is None or self._folds.done
        return bool(self._passes) and all(p.done for p in self._passes) and done

    def merge(self, other: Sketch) -> None:
        """Add what another learner with the same parameters has seen of other examples.

        Multi-pass: both must be in the same pass, at the same weights: each worker learns its shard, one of them
        merges the others and ends the pass. Online: the models of both add up, and the weights are their minimum.
        """
        with both_locks(self, other):
            merge_sketches(self, other)

    # Reading

    def _cores(self) -> list[_core.OnlineSketch] | list[_core.Sketch]:
        return self._online or [p.core for p in self._passes]

    def _column(self, c: int) -> tuple[NDArray[np.int64], Floats, float]:
        if self._online:
            keys, weights = self._online[c].keys, self._online[c].weights
            first = int(self.fit_intercept)
            live = np.flatnonzero(weights[first:]) + first
            return keys[live], weights[live], float(weights[0]) if first else 0.0
        accepted = (self._folds and self._folds.chosen()) or self._passes[c].accepted
        if accepted is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0), 0.0
        return accepted.keys, accepted.weights, accepted.intercept

    def _columns(self) -> list[tuple[NDArray[np.int64], Floats, float]]:
        with self.lock:
            return [self._column(c) for c in range(self.outputs)]

    def coef(self) -> tuple[NDArray[np.int64], Floats]:
        columns = self._columns()
        keys = np.unique(np.concatenate([k for k, _, _ in columns]))
        weights = np.zeros((len(keys), self.outputs))
        for c, (own, values, _) in enumerate(columns):
            weights[np.searchsorted(keys, own), c] = values
        return keys, weights

    @property
    def intercept(self) -> Floats:
        return np.array([intercept for _, _, intercept in self._columns()])

    def n_live(self) -> int:
        return sum(len(keys) for keys, _, _ in self._columns())

    def score(self, block: Block) -> Floats:
        block = self._numbered(block, join=False)
        scorer = self._scorer[0] or self._make_scorer()
        offsets = offsets_for(block, self.outputs)
        return scorer.score(block.indptr, block.indices, block.values, offsets)

    def _make_scorer(self) -> _core.Scorer:
        with self.lock:
            scorer = self._scorer[0]
            if scorer is None:
                scorer = _core.Scorer()
                scorer.set(*self.coef(), self.intercept)
                self._scorer[0] = scorer  # nobody changes it from here on
            return scorer

    def _numbered(self, block: Block, join: bool) -> Block:
        if join and self._limits is not None and block.nnz:
            check_bounds_fit(self._limits.own, self._limits.groups, block.named)
        if not block.named and not len(self._feature_index):
            return block
        if join and self.n_features and not len(self._feature_index):
            raise ValueError(
                "this model has learned numbered features: it cannot go on with named ones"
            )
        return numbered(self._feature_index, block, join)

    def names(self, keys: NDArray[np.int64]) -> list[str] | None:
        if not len(self._feature_index):
            return None
        return [self._feature_index.name(int(k)).decode("utf-8", "replace") for k in keys]

    def learn_one(
        self, features: Mapping[str, Any], label: float, weight: float = 1.0
    ) -> list[float]:
        if self.algorithm != "online":
            raise ValueError(
                f"algorithm={self.algorithm!r} goes over all examples several times: single events need "
                "algorithm='online'"
            )
        return super().learn_one(features, label, weight)

    def losses(self, scores: Floats, labels: Floats) -> Floats:
        recent = tuple(self._recent)
        if len(recent) == 3 and scores is recent[0] and labels is recent[1]:
            return recent[2]
        total = np.zeros(len(scores))
        for c in range(self.outputs):
            signs = np.where(labels == self._positive(c), 1.0, -1.0)
            total += _core.link_apply(self.link, np.ascontiguousarray(scores[:, c]), signs)
        return total

    def probability(self, scores: Floats) -> Floats:
        return of_link(self.link, scores)

    # State

    def state(self) -> State:
        with self.lock:
            return sketch_state(self)

    def _restore(self, state: State) -> None:
        restore_sketch(self, state)
