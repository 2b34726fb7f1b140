"""How far the weights of an interior-point model can be from the optimum, from a pass over the data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.learners.base import Floats, offsets_for
from riata.learners.interior_bound import Optimum, Search, Task, by_sketch, examples_of
from riata.learners.linear import LOSSES
from riata.learners.sketch import Sketch
from riata.learners.sketch_sample import Sample

if TYPE_CHECKING:
    from riata.learners.interior import InteriorPoint

FAR = 0.02
"""A bound beyond this part of the objective is worth a warning."""
LEAST_TOLD = 1e-6
"""Nobody wants to read of less."""
SAMPLE = 1 << 20
"""Most non-zeros of the examples that are kept in memory."""


@dataclass(frozen=True)
class Proof:
    """What a pass proves of the weights that the model is read with, for one output."""

    objective: float
    """Mean loss + l1 * sum abs(w)."""
    gap: float
    """No weights inside the bounds, whose sizes add up to at most ten times as much, have an objective that is lower
    by more than this."""

    @property
    def far(self) -> bool:
        return self.gap > FAR * abs(self.objective)


@dataclass
class Judged:
    """What a pass at the weights that are read adds up, and the examples it keeps."""

    learner: InteriorPoint
    keys: NDArray[np.int64] = field(init=False)
    weights: Floats = field(init=False)
    sums: Floats = field(init=False)
    gradient: Floats = field(init=False)
    sample: Sample = field(init=False)

    def __post_init__(self) -> None:
        self.keys, self.weights = self.learner._core.weights()
        self.sums, self.gradient = np.zeros((self.learner.outputs, 3)), np.zeros_like(self.weights)
        self.sample = Sample(SAMPLE)

    def add(self, block: Block) -> None:
        learner = self.learner
        if block.labels is None:
            raise ValueError("a proof takes blocks with labels")
        offsets = offsets_for(block, learner.outputs)
        sums, gradient, unknown = learner._core.judge(
            block.indptr, block.indices, block.values, block.labels, block.weights, offsets
        )
        if unknown:
            raise ValueError(
                "these examples have features that the model has not learned: a proof takes those it has"
            )
        self.sums += sums
        self.gradient += gradient
        self.sample.add(
            Block(block.indptr, block.indices, block.values, block.labels, block.weights, offsets=offsets)
        )  # fmt: skip

    def tasks(self) -> list[Task]:
        """For every output, what is minimised."""
        learner, total = self.learner, self.sums[:, 2]
        low, high = learner._core.intervals().T
        parameter = LOSSES[learner.loss][2]
        intercept = learner.intercept
        return [
            Task(
                learner.loss, float(getattr(learner, parameter)) if parameter else 0.0, float(learner.l1),
                bool(learner.fit_intercept), low, high, self.weights[:, c], float(intercept[c]),
                self.sums[c, 0] / total[c], self.gradient[:, c] / total[c], self.sums[c, 1] / total[c],
            )
            for c in range(learner.outputs)
        ]  # fmt: skip

    def optima(self, tasks: list[Task]) -> list[Optimum]:
        """For every output, a bound, and what may be better weights."""
        learner, kept = self.learner, self.sample.block()
        assert kept is not None
        regression = learner.task == "regression"
        positives = [float(max(c, learner.outputs == 1)) for c in range(learner.outputs)]
        simple = learner.loss == "logistic" and learner.normalize == "none" and learner.l1 > 0
        if self.sample.whole and simple:
            task = tasks[0]
            settings = Sketch(fit_intercept=bool(learner.fit_intercept))
            found = by_sketch(kept, self.keys, task.low, task.high, task.l1, positives, settings)
            if found:
                return found
        searched = []
        for task, positive, total in zip(tasks, positives, self.sums[:, 2], strict=True):
            examples = examples_of(
                kept, self.keys, learner.normalize, None if regression else positive, float(total)
            )
            searched.append(Search(task, examples).run())
        return searched


def prove(
    learner: InteriorPoint, blocks: Iterable[Block], polish: bool
) -> tuple[list[Proof], list[Optimum]]:
    """For every output, what these examples (class codes for labels) prove of the weights: sums over all of them at
    the weights, and a bound by a sample of them that is kept in memory. To polish: where that is all of them, and what
    was found there is better, what is proved of that, and the weights."""
    judged = Judged(learner)
    for block in blocks:
        judged.add(block)
    if not (judged.sums[:, 2] > 0).all():
        raise ValueError("there are no examples to prove anything with")
    tasks = judged.tasks()
    optima = judged.optima(tasks)
    bounds = [max(0.0, optimum.bound) for optimum in optima]  # no loss is below 0
    pairs = list(zip(optima, tasks, strict=True))
    if polish and judged.sample.whole and all(o.objective <= t.objective for o, t in pairs):
        better = [max(0.0, o.objective - bound) for o, bound in zip(optima, bounds, strict=True)]
        return [Proof(o.objective, gap) for o, gap in zip(optima, better, strict=True)], optima
    proofs = [
        Proof(t.objective, max(0.0, t.objective - bound))
        for t, bound in zip(tasks, bounds, strict=True)
    ]
    return proofs, []


def in_words(proofs: list[Proof]) -> str:
    """For people."""
    worst = max(proofs, key=lambda p: p.gap / p.objective if p.objective > 0 else 0.0)
    part = worst.gap / worst.objective if worst.objective > 0 else 0.0
    part = max(part, LEAST_TOLD)
    digits = 2 if part >= 1e-3 else 1
    text = f"objective {worst.objective:.6g}, the optimum at most {100 * part:.{digits}g} % lower"
    if worst.far:
        text += ": more passes bring it closer"
    return text


def warn_if_far(learner: InteriorPoint, proofs: list[Proof]) -> None:
    """Say so where the optimum may be far, and what would help."""
    from sklearn.exceptions import ConvergenceWarning

    if not any(p.far for p in proofs):
        return
    exact = ", or use SketchClassifier (--method sketch)" if learner.loss == "logistic" else ""
    worst = max(p.gap / p.objective for p in proofs if p.objective > 0)
    warnings.warn(
        f"the optimum may be up to {100 * worst:.2g} % lower than the objective that was reached: raise passes or l1, "
        f"shuffle rows that come in some order{exact}",
        ConvergenceWarning,
        stacklevel=2,
    )
