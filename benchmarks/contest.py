"""What an adapter offers: contenders, each of which can do one piece of work and time itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import Problem
from benchmarks.ratio import check_seconds


@dataclass
class Outcome:
    """One run. `seconds` covers the work alone, never the setting up nor the checking after it."""

    seconds: float
    examples: int
    """Distinct examples of the problem that were learned or read."""
    updates: int = 0
    """Steps taken: one an example and pass for online learners, 0 where the word has no meaning."""
    loss: Callable[[], float] | float | None = None
    """Mean logistic loss of the finished model on the training examples, without penalties; worked
    out only when asked for, because it costs a pass."""
    progressive: float | None = None
    """Mean loss of every example just before it was learned, where the library reports it."""
    megabytes: float | None = None
    """Text read, or memory resident, as the task says."""
    weights_after: Callable[[int], NDArray[np.float64]] | None = None
    """The intercept and then all weights after so many examples: where contenders must be equal."""
    notes: list[str] = field(default_factory=list)
    overhead: float | None = None
    """Seconds measured beside it that are to be taken off `seconds`: what a compiled program would not pay."""
    ok: bool = True
    """False where the contender's own check of its work failed; `notes` says how."""

    def __post_init__(self) -> None:
        check_seconds(self.seconds)


@dataclass(frozen=True)
class Contender:
    """A way of doing a task, with a name for the table."""

    label: str
    run: Callable[[Problem], Outcome]
    slow: bool = False
    """Worth two repetitions, not more."""


Contenders = dict[str, list[Contender]]
"""By task: an adapter declares here what its library can do."""


class Clock:
    seconds = 0.0


@contextmanager
def stopwatch() -> Iterator[Clock]:
    """
    >>> with stopwatch() as clock:
    ...     total = sum(range(10))
    >>> clock.seconds > 0
    True
    """
    clock = Clock()
    start = time.perf_counter()
    yield clock
    clock.seconds = time.perf_counter() - start


def logistic_loss(problem: Problem, w: NDArray[np.float64], intercept: float) -> float:
    """Mean of log(1 + exp(-y p)) over the training examples; w may be shorter than d."""
    X = problem.X if len(w) == problem.d else problem.X[:, : len(w)]
    margin = problem.y * (X @ np.asarray(w, dtype=np.float64) + intercept)
    return float(np.mean(np.logaddexp(0.0, -margin)))
