"""What a pass proves of the weights it was made with."""

from __future__ import annotations

import numpy as np

from riata import _core
from riata.learners.sketch_bounds import Limits, violation_inside
from riata.learners.sketch_points import Certificate, Floats, Point, Settings, violation_of


def penalties_of(settings: Settings, gamma: float, n: int) -> Floats:
    """By slot: none on a free intercept."""
    penalties = np.full(n, gamma)
    if settings.fit_intercept and not settings.penalize_intercept:
        penalties[:1] = 0.0
    return penalties


def slot_limits(core: _core.Sketch, settings: Settings, limits: Limits) -> tuple[Floats, Floats]:
    """The bounds by slot; an intercept has none."""
    low, high = limits.of(core.keys)
    if settings.fit_intercept:
        low, high = np.append(-np.inf, low), np.append(np.inf, high)
    return low, high


def worst_violation(
    core: _core.Sketch, settings: Settings, limits: Limits | None, gamma: float
) -> float:
    """The largest violation among the active features."""
    r, w = core.active_gradient(), core.weights
    penalties = penalties_of(settings, gamma, len(w))
    if limits is None:
        return float(violation_of(r, w, penalties).max(initial=0.0))
    low, high = slot_limits(core, settings, limits)
    return float(violation_inside(r, w, penalties, low, high).max(initial=0.0))


def certify(
    core: _core.Sketch, settings: Settings, limits: Limits | None, point: Point, gamma: float
) -> Certificate:
    """The objective, a bound on its distance from the minimum, and the largest violation.

    For a dual point take the slopes of the losses and shrink them: where the intercept is free, those of the class
    that pulls harder by r, until both pull alike, and then all by s. A dual term is concave and 0 at 0, so
    shrinking it by s leaves at least s times it. What is left of the Lagrangian is a sum over features, the least
    of gamma |b| - s r b for b inside the bounds: b = 0 where no feature pulls harder than gamma, an end of the
    interval where one does, and without bound where it has no end; so s is at most what those without an end
    allow, and what all features allow is tried as well.
    """
    s = settings
    r, w = core.active_gradient(), core.weights
    threshold = min(s.tau, 0.999) * gamma
    keys, outside = core.outside(threshold)
    if limits is not None:
        may = limits.allowed(keys, outside)
        keys, outside = keys[may], outside[may]
    pulls = np.abs(outside)
    objective = point.loss + gamma * point.l1(s.penalize_intercept)
    violation = max(
        worst_violation(core, s, limits, gamma),
        pulls.max(initial=gamma) - gamma,
    )
    free = s.fit_intercept and not s.penalize_intercept
    dual = point.loss + float(w @ r)  # sum of loss - margin * slope
    change = 0.0  # of a feature's pull, at the most, by shrinking one class
    if free:
        positive = (core.absolute_slope - core.slope) / 2
        negative = (core.absolute_slope + core.slope) / 2
        ratio = (
            min(positive, negative) / max(positive, negative) if core.absolute_slope > 0 else 1.0
        )
        heavier = core.dual if positive > negative else dual - core.dual
        dual -= (1 - ratio) * heavier
        change = abs(core.slope) * core.largest
    all_pulls = np.concatenate([r[int(free) :], outside])
    least = threshold + change  # of those that are not looked at one by one
    hardest = max(np.abs(all_pulls).max(initial=0.0) + change, least if least > gamma else 0.0)
    scale = gamma / hardest if hardest > gamma else 1.0
    bound = scale * dual
    if limits is not None:
        low, high = limits.of(np.concatenate([core.keys, keys]))
        if s.fit_intercept and not free:
            low, high = np.append(-np.inf, low), np.append(np.inf, high)
        bound = _bound_inside(dual, all_pulls, change, low, high, gamma, scale, least)
    gap = max(0.0, objective - bound)
    return Certificate(
        objective, float(gap), float(violation), int(np.count_nonzero(pulls > gamma))
    )


def _bound_inside(
    dual: float,
    r: Floats,
    change: float,
    low: Floats,
    high: Floats,
    gamma: float,
    scale: float,
    least: float,
) -> float:
    """The better of two lower bounds of the objective inside these bounds."""
    endless = max(
        r[np.isinf(high)].max(initial=0.0), -r[np.isinf(low)].min(initial=0.0)
    ) + change  # fmt: skip
    endless = max(endless, least if least > gamma else 0.0)
    most = gamma / endless if endless > gamma else 1.0
    ends = np.stack(
        [
            np.clip(0.0, low, high),
            np.where(np.isinf(low), np.clip(0.0, low, high), low),
            np.where(np.isinf(high), np.clip(0.0, low, high), high),
        ]
    )
    bounds = []
    for s in {scale, most}:
        sizes = np.abs(ends)
        bounds.append(s * dual + float(((gamma - s * change) * sizes - s * r * ends).min(0).sum()))
    return max(bounds)
