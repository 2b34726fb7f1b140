"""Progressive regret: how much more a learner has lost than a comparator that was known from the start."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Moment:
    """The regret after t examples."""

    t: int
    regret: float

    @property
    def normalised(self) -> float | None:
        """R_t / ln t: a constant in the end where regret grows with the logarithm; None at t = 1."""
        return self.regret / math.log(self.t) if self.t > 1 else None


@dataclass
class Regret:
    """R_t, the sum of losses less that of the comparator's, written down at geometric times.

    Memory is one number a time: with `per_decade` times between t and 10 t, a billion examples leave 72.

    >>> regret = Regret(per_decade=1)
    >>> regret.add(np.full(1000, 0.7), np.full(1000, 0.5))
    >>> [(m.t, round(m.regret, 6)) for m in regret.curve]
    [(1, 0.2), (10, 2.0), (100, 20.0), (1000, 200.0)]
    >>> round(regret.now.normalised, 4)
    28.953
    """

    per_decade: int = 8
    t: int = 0
    total: float = 0.0
    curve: list[Moment] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.per_decade < 1:
            raise ValueError(f"per_decade={self.per_decade!r} must be at least 1")

    @property
    def now(self) -> Moment:
        """After all examples so far."""
        return Moment(self.t, self.total)

    def _next(self) -> int:
        last = self.curve[-1].t if self.curve else 0
        if last == 0:
            return 1
        step = round(math.log10(last) * self.per_decade)
        while True:
            step += 1
            t = round(10 ** (step / self.per_decade))
            if t > last:
                return t

    def add(self, losses: Floats, comparator_losses: Floats) -> None:
        """The next examples: what the learner lost before learning each, and what the comparator lost."""
        if np.shape(losses) != np.shape(comparator_losses):
            raise ValueError(
                f"as many losses as of the comparator: {np.shape(losses)} and {np.shape(comparator_losses)}"
            )
        excess = np.asarray(losses, dtype=np.float64) - comparator_losses
        running = np.add.accumulate(np.concatenate([[self.total], excess]))
        while self._next() <= self.t + len(excess):
            t = self._next()
            self.curve.append(Moment(t, float(running[t - self.t])))
        self.t += len(excess)
        self.total = float(running[-1])


def regret(losses: Floats, comparator_losses: Floats, per_decade: int = 8) -> Regret:
    """The regret of a whole run at once.

    >>> regret(np.array([0.5, 0.5]), np.array([0.25, 0.5])).now.regret
    0.25
    """
    out = Regret(per_decade)
    out.add(losses, comparator_losses)
    return out
