"""The parameters of a sketch: their choices, what is checked of them, and which to change where it fell short."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from riata import _core
from riata.errors import DataError
from riata.learners.base import check_choice, check_number
from riata.learners.sketch_points import Settings

if TYPE_CHECKING:
    from riata.learners.sketch import Sketch
    from riata.learners.sketch_passes import Passes

ALGORITHMS = ("reduced", "multipass", "online")
LINKS = ("logit", "probit")
SCHEDULES = ("constant", "linear")
SELECT = ("min", "1se")


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
        if gamma == 0:
            raise ValueError(
                f"gamma={gamma!r} must be above 0: without a penalty the optimum may be infinitely far, and "
                "no certificate is known of it; take a small gamma, such as 0.001, or the elastic-net family with l1=0"
            )
        check_number("gamma", gamma, above=0)
    for name in ("max_passes", "block_size", "outputs", "n_jobs"):
        check_number(name, getattr(p, name), least=1)
    if p.sample is not None:
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
    if p.algorithm == "online" and p.bounds is not None:
        raise ValueError(
            "algorithm='online' takes no bounds: use algorithm='reduced', or the interior-point family"
        )
    check_choice("select", p.select, SELECT)
    if p.folds and (p.folds < 2 or p.algorithm == "online"):
        raise ValueError(f"folds={p.folds!r} must be 0, or at least 2 where there are passes")
    if p.folds and p.outputs > 1:
        raise ValueError(
            "folds are for two classes: cross-validate one class against the others at a time"
        )
    if p.gamma_schedule == "linear" and p.horizon is None:
        raise ValueError(
            "gamma_schedule='linear' needs horizon: after how many examples gamma is reached"
        )
    if p.horizon is not None:
        check_number("horizon", p.horizon, least=1)


def check_data(core: _core.Sketch, settings: Settings, before: tuple[int, int, int] | None) -> None:
    """After a pass: the examples must be those of the passes before, and of two classes."""
    seen = core.fingerprint
    if before is not None and before != seen:
        rows, nnz, _ = before
        raise DataError(
            f"the data changed between passes: {rows:,} examples with {nnz:,} values at first, now "
            f"{seen[0]:,} with {seen[1]:,}, or others in their place; train on a file that stays as it is"
        )
    positive, weight = core.positive, core.weight
    if weight == 0:
        raise DataError("all examples have weight 0: there is nothing to learn from")
    free = settings.fit_intercept and not settings.penalize_intercept
    if free and positive in (0.0, weight):
        raise one_class()


def one_class() -> DataError:
    """What is wrong with labels that are all equal."""
    return DataError(
        "all labels are equal, and one class is not enough: without a penalty the intercept grows "
        "without bound; check the labels, or use penalize_intercept=True"
    )


def gammas_of(gamma: float | str | tuple[float, ...]) -> list[float]:
    """The penalties, falling; none where a path is still to be laid."""
    if isinstance(gamma, str):
        return []
    given = gamma if isinstance(gamma, tuple) else (gamma,)
    try:
        return sorted((float(g) for g in given), reverse=True)
    except (TypeError, ValueError):
        raise ValueError(f"gamma={gamma!r} is not a number, a list of numbers or 'path'") from None


def verdict(sketch: Sketch, passes: list[Passes]) -> str | None:
    """What the last passes prove, for people."""
    last = [p.history[-1] for p in passes if p.history]
    if not last:
        return None
    worst = max(last, key=lambda entry: entry["gap"] / max(entry["objective"], 1e-300))
    gap = worst["gap"] / max(worst["objective"], 1e-300)
    made = max(p.passes for p in passes)
    curve = sketch.curve
    if curve is not None:
        at = curve.at_min if sketch.select == "min" else curve.at_1se
        chosen = f"gamma {curve.gammas[at]:.6g} of {len(curve.gammas)} values, chosen by {sketch.folds} folds"
        loss = f"log loss {curve.mean[at]:.5f} +/- {curve.se[at]:.5f} on examples left out"
        worst_gap = max(p.gap / max(p.objective, 1e-300) for p in passes[0].path)
        return f"{chosen}: {loss}; every solution within {worst_gap:.1e} of its optimum"
    found = f"objective {worst['objective']:.6g}, duality gap {gap:.1e} of it after {made} passes"
    if sketch.converged:
        return f"{found}: the optimum, within tol {sketch.tol:g}"
    return f"{found}: the optimum may be as far as that (tol {sketch.tol:g} is not reached)"


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
