"""Two Bayesian regressions, or two models of `auto` for numbers, as one.

Precisions add, less the prior, and so do those of settings that learn all weights together (joint_merge): of these,
ridge regressions, the result is that of one model that has seen all rows. Weights of settings multiply.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riata.learners.base import Floats, State
from riata.learners.feature_rows import aligned
from riata.learners.joint_merge import merged_joint
from riata.learners.merge_tools import (
    ALIKE,
    both_keys,
    check_alike,
    check_names,
    merged_gaussians,
    merged_weights,
    size_ratios,
)
from riata.learners.regression import INTERCEPT_VARIANCE, GaussianRegression

HEAD = 2
"""Count and sum of squares stand first in a row."""


def merged(a: GaussianRegression, b: GaussianRegression) -> tuple[dict[str, Any], State]:
    """Parameters and state of the two together. A ValueError where they do not go together."""
    check_alike(a, b)
    one, two = a.state(), b.state()
    check_names(one, two)
    keys = both_keys(one, two)
    rows = [aligned(state["keys"], state["rows"], keys["keys"]) for state in (one, two)]
    intercepts = [state["intercept"][None] for state in (one, two)]
    joint = merged_joint(one, two, 1, a.joint_priors, INTERCEPT_VARIANCE) if a.joint_priors else {}
    t = int(one["seen"][0] + two["seen"][0])
    k, left = len(one["weights"]), len(a.settings) + (len(a.joint_priors) if joint else 0)
    weights = np.zeros(k)
    weights[:left] = merged_weights(one["weights"][None, :left], two["weights"][None, :left])[0]
    seen = np.array([one["sums"][0], two["sums"][0]])
    parts = seen / seen.sum() if seen.sum() > 0 else np.full(2, 0.5)
    recent = [parts[0] * one[name] + parts[1] * two[name] for name in ("squares", "sums")]
    state: State = {
        **keys,
        "rows": _sum_of_rows(a, rows, intercept=False),
        "intercept": _sum_of_rows(a, intercepts, intercept=True)[0],
        "seen": np.array([t, max(one["seen"][1], two["seen"][1])], dtype=np.int64),
        "weights": weights,
        "losses": one["losses"] + two["losses"],
        "squares": recent[0],
        "sums": np.append(one["sums"][:3] + two["sums"][:3], recent[1][3:]),
        **joint,
    }
    return a.parameters(), state


def _sum_of_rows(learner: GaussianRegression, rows: list[Floats], intercept: bool) -> Floats:
    scaled = np.array([scaled for scaled, _, _ in learner.settings])
    prior = 1 / np.array([variance for _, variance, _ in learner.settings])
    if intercept:
        prior = np.full(len(prior), 1 / INTERCEPT_VARIANCE)
    ratios = ALIKE
    if not intercept:
        ratios = [np.where(scaled, ratio, 1.0) for ratio in size_ratios(rows)]
    means, gains = ([of[:, part] for of in rows] for part in _parts(len(prior)))
    made = merged_gaussians(means, gains, ratios, prior)
    return np.ascontiguousarray(np.hstack([rows[0][:, :HEAD] + rows[1][:, :HEAD], *made]))


def _parts(k: int) -> tuple[slice, slice]:
    """Where means and gains stand in a row."""
    return slice(HEAD, HEAD + k), slice(HEAD + k, HEAD + 2 * k)
