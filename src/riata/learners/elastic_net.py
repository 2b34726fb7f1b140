"""Elastic net with delayed updates: Lipton & Elkan 2015."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from riata.learners.base import check_number, option
from riata.learners.linear import GradientLearner


@dataclass(frozen=True, kw_only=True)
class ElasticNet(GradientLearner):
    """Minimise the mean loss + l1 * sum abs(w) + l2 / 2 * sum w^2, one example at a time.

    Every step shrinks every weight, but only those of the example are touched: a weight remembers when it was
    last current, and what it missed since is made up in closed form (Lipton & Elkan 2015, Theorems 1 and 2).

    >>> import numpy as np
    >>> from riata.block import Block
    >>> row = Block(np.array([0, 2]), np.array([1, 7], dtype=np.int32), np.ones(2, dtype=np.float32),
    ...             labels=np.array([1.0]))
    >>> learner = ElasticNet(
    ...     l1=0.01, l2=0.0, eta0=0.5, learning_rate="inv_sqrt", normalize="none", feature_scale="none"
    ... )
    >>> learner.learn(row)          # the score before learning
    array([[0.]])
    >>> keys, weights = learner.coef()
    >>> dict(zip(keys.tolist(), weights[:, 0].tolist()))   # 0.5 * 0.5 less the penalty 0.5 * 0.01
    {1: 0.245, 7: 0.245}
    """

    family: ClassVar[str] = "elastic-net"
    updates: ClassVar[tuple[str, ...]] = ("fobos", "sgd")

    update: str = option(
        "fobos", "forward-backward splitting, or stochastic gradient steps", updates
    )
    l1: float = option(1e-6, "penalty on the sum of absolute weights: drives weights to zero")
    l2: float = option(1e-6, "penalty on half the sum of squared weights")

    def _numbers(self) -> dict[str, float]:
        check_number("l1", self.l1, least=0)
        check_number("l2", self.l2, least=0)
        # the rates of adagrad follow from the data: there, a step past zero stops at zero
        if not self._adaptive and self.update == "sgd" and self.eta0 * self.l2 >= 1:
            raise ValueError(
                f"eta0 * l2 = {self.eta0 * self.l2:g} must be below 1 with update='sgd': "
                "the step would flip the sign of every weight; lower one of them or use update='fobos'"
            )
        return {"l1": float(self.l1), "l2": float(self.l2)}
