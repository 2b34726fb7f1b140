"""How far the weights of an interior-point model can be from the optimum, from a pass over the data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riata.block import Block
from riata.learners.base import Floats, offsets_for

if TYPE_CHECKING:
    from riata.learners.interior import InteriorPoint

FAR = 0.1
"""A bound beyond this part of the objective is worth a warning."""
REACH = 2.0
"""The bound speaks of weights whose sizes add up to at most so many times ours."""


@dataclass(frozen=True)
class Proof:
    """What a pass proves of the weights that the model is read with, for one output."""

    objective: float
    """Mean loss + l1 * sum abs(w)."""
    gap: float
    """No weights inside the bounds, whose sizes add up to at most twice as much, have an objective that is lower
    by more than this."""

    @property
    def far(self) -> bool:
        return self.gap > FAR * abs(self.objective)


def prove(learner: InteriorPoint, blocks: Iterable[Block]) -> list[Proof]:
    """For every output, what these examples (class codes for labels) prove of the weights.

    The objective is convex: for any u it is at least F(w) + g'(u - w) + l1 (|u| - |w|), where g is the gradient of
    the mean loss. The least of that over the u that count is found feature by feature: those that gain most by
    moving go first, each as far as its bounds let it, until the sizes add up to the reach. And no loss is below 0.
    """
    core = learner._core
    _, weights = core.weights()
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
    total = sums[:, 2]
    if not (total > 0).all():
        raise ValueError("there are no examples to prove anything with")
    return [
        _bound(
            sums[c, 0] / total[c], sums[c, 1] / total[c], gradient[:, c] / total[c],
            weights[:, c], float(learner.intercept[c]), low, high, learner,
        )
        for c in range(learner.outputs)
    ]  # fmt: skip


def _bound(
    loss: float,
    slope: float,
    g: Floats,
    w: Floats,
    intercept: float,
    low: Floats,
    high: Floats,
    learner: InteriorPoint,
) -> Proof:
    l1 = float(learner.l1)
    size = float(np.abs(w).sum())
    objective = loss + l1 * size
    gap = float(g @ w) + l1 * size
    gain = np.maximum(0.0, np.abs(g) - l1)  # of one more of the weight, or one less
    room = np.maximum(0.0, np.where(g < 0, high, -low))
    order = np.argsort(-gain * (room > 0), kind="stable")
    reach = REACH * max(size, 1.0)
    before = np.concatenate([[0.0], np.cumsum(np.minimum(room[order], reach))[:-1]])
    taken = np.minimum(room[order], np.maximum(0.0, reach - before))
    gap += float(gain[order] @ taken)
    if learner.fit_intercept:
        gap += slope * intercept + abs(slope) * REACH * max(abs(intercept), 1.0)
    return Proof(float(objective), float(min(max(gap, 0.0), objective)))


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
    exact = (
        "; SketchClassifier (--method sketch) has the exact optimum"
        if learner.loss == "logistic"
        else ""
    )
    worst = max(p.gap / p.objective for p in proofs if p.objective > 0)
    warnings.warn(
        f"the optimum may be up to {100 * worst:.2g} % lower than the objective that was reached: "
        f"raise passes{exact}",
        ConvergenceWarning,
        stacklevel=2,
    )
