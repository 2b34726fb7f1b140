"""FTRL-Proximal: McMahan et al. 2013."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riata.learners.base import Floats, check_number, option
from riata.learners.linear import LinearLearner


@dataclass(frozen=True, kw_only=True)
class FTRL(LinearLearner):
    """Follow the regularised leader, with a learning rate of its own for every feature.

    `l1` and `l2` penalise the whole of the stream, as in McMahan et al. 2013, not each example: a weight is
    zero while the sum of its gradients stays within l1.

    >>> import numpy as np
    >>> from riata.block import Block
    >>> row = Block(np.array([0, 1]), np.array([5], dtype=np.int32), np.ones(1, dtype=np.float32),
    ...             labels=np.array([1.0]))
    >>> learner = FTRL(alpha=0.1, beta=1.0, l1=0.1)
    >>> _ = learner.learn(row)
    >>> learner.coef()[1].round(6).tolist()        # 0.4 / ((1 + 0.5) / 0.1)
    [[0.026667]]
    """

    family: ClassVar[str] = "ftrl"
    updates: ClassVar[tuple[str, ...]] = ("ftrl",)
    _mirrored: ClassVar[tuple[float, ...]] = (-1.0, -1.0, 1.0)  # the weight, z, sqrt(n)

    alpha: float = option(0.1, "the learning rate of a feature, before its gradients add up")
    beta: float = option(1.0, "how long that rate lasts")
    l1: float = option(0.0, "a weight is zero while its gradients sum to no more than this")
    l2: float = option(0.0, "penalty on half the sum of squared weights, over the whole stream")

    def _rule(self) -> tuple[str, dict[str, float]]:
        check_number("alpha", self.alpha, above=0)
        check_number("beta", self.beta, least=0)
        check_number("l1", self.l1, least=0)
        check_number("l2", self.l2, least=0)
        names = ("alpha", "beta", "l1", "l2")
        steps = {"eta0": 1.0, "power_t": 0.0, "schedule": 0.0}
        return "ftrl", steps | {name: float(getattr(self, name)) for name in names}

    def _widened_rule_state(self, rule_state: Floats, outputs: int) -> Floats:
        pairs = rule_state.reshape(-1, 2)  # z and sqrt(n) of each intercept
        if len(pairs) == 1:
            pairs = np.vstack([pairs * self._mirrored[1:], pairs])
        return np.pad(pairs, ((0, outputs - len(pairs)), (0, 0))).ravel()

    def _slower(self) -> str:
        return f"lower alpha (now {self.alpha:g})"
