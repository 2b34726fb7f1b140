"""Truncated gradient, coefficient rounding and the subgradient baseline: Langford, Li & Zhang 2009."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from riata.learners.base import check_number, option
from riata.learners.linear import GradientLearner


@dataclass(frozen=True, kw_only=True)
class TruncatedGradient(GradientLearner):
    """Shrink small weights towards zero every `period` steps (Langford, Li & Zhang 2009, eq. 6).

    With `update="round"` weights up to `theta` are set to zero every `period` steps (eq. 4). With
    `update="subgradient"` every step pulls every weight towards zero and past it (eq. 5): weights oscillate around
    zero for long, so `round_at_end` belongs to it. It is a baseline: bringing a weight current costs a few
    operations while it is far from zero or the learning rate is constant, and otherwise about a microsecond
    at most, however many steps were missed.

    >>> import numpy as np
    >>> from riata.block import Block
    >>> row = Block(np.array([0, 1]), np.array([5], dtype=np.int32), np.ones(1, dtype=np.float32),
    ...             labels=np.array([1.0]))
    >>> learner = TruncatedGradient(gravity=0.1, eta0=1.0, learning_rate="constant", store="table")
    >>> _ = learner.learn(row)
    >>> learner.coef()[1].tolist()        # a step of 0.5, less the gravity
    [[0.4]]
    """

    family: ClassVar[str] = "truncated"
    updates: ClassVar[tuple[str, ...]] = ("truncate", "round", "subgradient")
    _scheduled: ClassVar[tuple[str, ...]] = ("subgradient",)

    update: str = option(
        "truncate", "shrink small weights, round them to zero, or pull all of them", updates
    )
    gravity: float = option(
        0.0, "how strongly weights are pulled to zero; 0 is stochastic gradient descent alone"
    )
    theta: float = option(math.inf, "only weights up to this size are shrunk or rounded")
    period: int = option(1, "truncate or round every so many steps")
    decay: float = option(1.0, "the learning rate is multiplied by this after each pass")
    round_at_end: float = option(
        0.0, "weights up to this size become zero once, when training ends"
    )

    def _numbers(self) -> dict[str, float]:
        check_number("gravity", self.gravity, least=0)
        check_number("theta", self.theta, least=0, infinite=True)
        check_number("period", self.period, least=1)
        check_number("decay", self.decay, above=0)
        check_number("round_at_end", self.round_at_end, least=0)
        if int(self.period) != self.period:
            raise ValueError(f"period={self.period!r} must be a whole number")
        if self.decay > 1:
            raise ValueError(f"decay={self.decay!r} must be at most 1")
        if self.update == "round" and math.isinf(self.theta):
            raise ValueError(
                "theta=inf with update='round' would round every weight to zero: give a theta"
            )
        return {
            "gravity": float(self.gravity),
            "theta": float(self.theta),
            "period": float(self.period),
        }

    def end_pass(self) -> None:
        if self.decay != 1:
            with self.lock:
                self._core.rate_factor = self._core.rate_factor * self.decay

    def finish(self) -> None:
        if self.round_at_end > 0:
            self._core.prune(float(self.round_at_end))
