"""How far the weights of an interior-point model can be from the optimum, from a pass over the data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riata.block import Block
from riata.learners.base import offsets_for
from riata.learners.interior_bound import Search, Task, by_sketch, examples_of
from riata.learners.linear import LOSSES
from riata.learners.sketch_sample import Sample

if TYPE_CHECKING:
    from riata.learners.interior import InteriorPoint

FAR = 0.02
"""A bound beyond this part of the objective is worth a warning."""
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


def prove(learner: InteriorPoint, blocks: Iterable[Block]) -> list[Proof]:
    """For every output, what these examples (class codes for labels) prove of the weights: sums over all of them at
    the weights, and a bound by a sample of them that is kept in memory."""
    core, sample = learner._core, Sample(SAMPLE)
    keys, weights = core.weights()
    low, high = core.intervals().T
    sums, gradient = np.zeros((learner.outputs, 3)), np.zeros_like(weights)
    for block in blocks:
        if block.labels is None:
            raise ValueError("a proof takes blocks with labels")
        more, pulls, unknown = core.judge(
            block.indptr, block.indices, block.values, block.labels, block.weights,
            offsets_for(block, learner.outputs),
        )  # fmt: skip
        if unknown:
            raise ValueError(
                "these examples have features that the model has not learned: a proof takes those it has"
            )
        sums += more
        gradient += pulls
        sample.add(
            Block(block.indptr, block.indices, block.values, block.labels, block.weights,
                  offsets=offsets_for(block, learner.outputs))
        )  # fmt: skip
    total = sums[:, 2]
    if not (total > 0).all():
        raise ValueError("there are no examples to prove anything with")
    kept = sample.block()
    assert kept is not None
    simple = learner.loss == "logistic" and learner.normalize == "none" and learner.l1 > 0
    exact = None
    if sample.whole and simple:
        exact = by_sketch(
            kept, keys, low, high, float(learner.l1), learner.outputs, bool(learner.fit_intercept), float(total[0])
        )  # fmt: skip
    parameter = LOSSES[learner.loss][2]
    proofs = []
    for c in range(learner.outputs):
        task = Task(
            learner.loss, float(getattr(learner, parameter)) if parameter else 0.0, float(learner.l1),
            bool(learner.fit_intercept), low, high, weights[:, c], float(learner.intercept[c]),
            sums[c, 0] / total[c], gradient[:, c] / total[c], sums[c, 1] / total[c],
        )  # fmt: skip
        if exact is not None:
            bound = exact[c]
        else:
            positive = None if learner.task == "regression" else float(max(c, learner.outputs == 1))
            examples = examples_of(kept, keys, learner.normalize, positive, float(total[c]))
            bound = Search(task, examples).run()
        gap = task.objective - max(0.0, bound)  # no loss is below 0
        proofs.append(Proof(task.objective, float(max(0.0, gap))))
    return proofs


def in_words(proofs: list[Proof]) -> str:
    """For people."""
    worst = max(proofs, key=lambda p: p.gap / p.objective if p.objective > 0 else 0.0)
    part = worst.gap / worst.objective if worst.objective > 0 else 0.0
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
