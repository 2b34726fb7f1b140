"""The parameters of a sketch: their choices, what is checked of them, and which to change where it fell short."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from riata.learners.base import check_choice, check_number

if TYPE_CHECKING:
    from riata.learners.sketch import Sketch
    from riata.learners.sketch_passes import Passes

ALGORITHMS = ("reduced", "multipass", "online")
LINKS = ("logit", "probit")
SCHEDULES = ("constant", "linear")


def check(p: Sketch) -> None:
    """Refuse what cannot work, and say why."""
    check_choice("algorithm", p.algorithm, ALGORITHMS)
    check_choice("link", p.link, LINKS)
    check_choice("gamma_schedule", p.gamma_schedule, SCHEDULES)
    if isinstance(p.gamma, str) and p.gamma != "path":
        raise ValueError(f"gamma={p.gamma!r} is not a number, a list of numbers or 'path'")
    if isinstance(p.gamma, tuple) and not p.gamma:
        raise ValueError("gamma is an empty list: name at least one penalty")
    for gamma in gammas_of(p.gamma):
        check_number("gamma", gamma, above=0)
    for name in ("max_passes", "block_size", "outputs", "n_jobs"):
        check_number(name, getattr(p, name), least=1)
    check_number("sample", p.sample, least=0)
    check_number("tau", p.tau, above=0)
    if p.tau > 1:
        raise ValueError(
            f"tau={p.tau!r} must be at most 1: a feature that violates optimality is active"
        )
    check_number("tol", p.tol, above=0)
    check_number("shooting_tol", p.shooting_tol, above=0)
    check_number("path_length", p.path_length, least=2)
    check_number("path_ratio", p.path_ratio, above=0, below=1)
    if p.capacity is not None:
        check_number("capacity", p.capacity, least=1)
    if p.algorithm == "online" and not isinstance(p.gamma, int | float):
        raise ValueError("algorithm='online' takes one gamma: a path needs passes")
    if p.gamma_schedule == "linear" and p.horizon is None:
        raise ValueError(
            "gamma_schedule='linear' needs horizon: after how many examples gamma is reached"
        )
    if p.horizon is not None:
        check_number("horizon", p.horizon, least=1)


def gammas_of(gamma: float | str | tuple[float, ...]) -> list[float]:
    """The penalties, falling; none where a path is still to be laid."""
    if isinstance(gamma, str):
        return []
    given = gamma if isinstance(gamma, tuple) else (gamma,)
    try:
        return sorted((float(g) for g in given), reverse=True)
    except (TypeError, ValueError):
        raise ValueError(f"gamma={gamma!r} is not a number, a list of numbers or 'path'") from None


def warn_of_an_inexact_end(sketch: Sketch, passes: list[Passes]) -> None:
    """Say what keeps the last pass from the solution, and what would help."""
    from sklearn.exceptions import ConvergenceWarning

    needed = max(p.needed for p in passes)
    last = [p.history[-1] for p in passes if p.history]
    worst = max((entry["gap"] / entry["objective"] for entry in last), default=math.inf)
    if needed:
        message = (
            f"capacity={sketch.capacity} is smaller than the solution: it has the optimum among the features "
            f"it could hold; capacity={needed} would do"
        )
    else:
        message = (
            f"no solution within tol={sketch.tol:g} after {sketch.max_passes} passes (the relative duality gap is "
            f"{worst:.2g}): raise max_passes, tol or gamma"
        )
    warnings.warn(message, ConvergenceWarning, stacklevel=4)
