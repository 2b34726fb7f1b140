"""The solution for the examples in memory: where the passes of a sketch start, or all that they have to certify."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riata.learners.sketch_memory import Solution
from riata.learners.sketch_points import Point, Settings
from riata.learners.sketch_sample import Examples

if TYPE_CHECKING:
    from riata.learners.sketch_passes import Passes

SAMPLE_TOL = 1e-4
"""How well a sample is solved that is not all of the data: its error is that of sampling."""


def first_in_memory(passes: Passes, sample: Examples) -> tuple[Solution | None, bool]:
    """The solution to start from, if there is one; and whether it is that of all examples.

    Where there are many, but all in memory, passes from the solution of a sample are less work as long as that tells
    enough of the others.
    """
    part = sample.part()
    if part is not None:
        solved = solve_in_memory(passes, part, None)
        if solved is not None and solved.tells_of_others(_tol_of_sample(passes.settings)):
            return solved, False
    return solve_in_memory(passes, sample, None), sample.whole


def _tol_of_sample(settings: Settings) -> float:
    return max(settings.tol, SAMPLE_TOL)


def solve_in_memory(passes: Passes, sample: Examples, start: Point | None) -> Solution | None:
    """The solution for the sample, where it has one. For all examples: four times as exact after every pass for this
    penalty that did not prove it."""
    s, weight = passes.settings, passes.core.weight
    if not weight > 0 or (
        s.fit_intercept
        and not s.penalize_intercept
        and not sample.memory.has_both_classes(sample.positive)
    ):
        return None
    judged = max(0, sum(h["gamma"] == passes.gamma for h in passes.history) - 1)
    tol = s.tol / 4 ** (1 + judged) if sample.whole else _tol_of_sample(s)
    gamma = passes.gamma * sample.weight / weight
    work = sample.work / (1 + judged) ** 2
    return sample.memory.solve(s, passes.limits, sample.positive, gamma, tol, start, work)
