"""Two models of `auto` as one: each setting is merged as its rule allows, and their weights in the average multiply.

Bayesian settings: precisions add, less the prior, as models of `Bayesian` do. AdaGrad: weights are averaged by the
squared gradients that each model has seen, and these add. Settings that learn all weights together: joint_merge. A
setting that either has dropped is gone. Weights for scaled values become those for the root mean square of both.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.learners.base import Floats, State
from riata.learners.feature_rows import aligned
from riata.learners.joint_merge import merged_joint
from riata.learners.merge_tools import (
    ALIKE,
    both_keys,
    check_alike,
    check_names,
    merged_averages,
    merged_gaussians,
    merged_weights,
    size_ratios,
)
from riata.learners.portfolio import INTERCEPT_VARIANCE, Portfolio
from riata.learners.portfolio_settings import JOINT, SEPARATE, SETTINGS, groups_of

HEAD = 2
"""Count and sum of squares stand first in a row."""
_ADDED = ("losses", "totals", "corrections", "single", "corrected_loss", "lengths")


def merged(a: Portfolio, b: Portfolio) -> tuple[dict[str, Any], State]:
    """Parameters and state of the two together. A ValueError where they do not go together."""
    check_alike(a, b)
    one, two = a.state(), b.state()
    check_names(one, two)
    settings = np.intersect1d(one["settings"], two["settings"])
    joint = merged_joint(one, two, a.outputs, JOINT, INTERCEPT_VARIANCE)
    if not joint:
        settings = settings[settings < SEPARATE]
    if not (settings < SEPARATE).any():
        raise ValueError(
            "models of auto that have no setting in common cannot be merged: each has dropped those that the other "
            "has kept; train both with keep_all (--keep-all)"
        )
    one, two = (_of_settings(state, a.outputs, settings) for state in (one, two))
    keys = both_keys(one, two)
    rows = [aligned(state["keys"], state["rows"], keys["keys"]) for state in (one, two)]
    intercepts = [state["intercept"][None] for state in (one, two)]
    t = int(one["seen"][0] + two["seen"][0])
    state: State = {
        **keys,
        "rows": _sum_of_rows(settings, a.outputs, rows, intercept=False),
        "intercept": _sum_of_rows(settings, a.outputs, intercepts, intercept=True)[0],
        "settings": settings,
        "seen": np.array([t, max(one["seen"][1], two["seen"][1])], dtype=np.int64),
        **{name: one[name] + two[name] for name in _ADDED},
        **joint,
    }
    state["weights"] = merged_weights(one["weights"], two["weights"])
    for name in ("recent_losses", "claims", "worth", "gaps"):  # an epoch begins
        state[name] = np.zeros_like(state["losses"])
    state["totals"] = state["totals"] * [1.0, 0.0]
    if a.calibrates:
        state["calibration"] = one["calibration"] + two["calibration"]
    return a.parameters(), state


def _columns(settings: NDArray[np.int64], outputs: int, kept: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where the numbers of these settings stand in a row, by places among all settings."""
    columns, at = [np.arange(HEAD)], HEAD
    for _, _, first, last in groups_of(tuple(settings[settings < SEPARATE].tolist())):
        chosen = kept[(kept >= first) & (kept < last)] - first
        each = last - first
        for _ in range(2):
            columns.append((at + np.arange(outputs)[:, None] * each + chosen).ravel())
            at += outputs * each
    return np.concatenate(columns)


def _of_settings(state: State, outputs: int, wanted: NDArray[np.int64]) -> State:
    """The state with these settings alone; those that learn jointly are elsewhere."""
    kept = np.flatnonzero(np.isin(state["settings"], wanted))
    columns = _columns(state["settings"], outputs, kept)
    corrections = state["corrections"].reshape(outputs, len(state["settings"]), -1)[:, kept]
    return state | {
        "rows": state["rows"][:, columns],
        "intercept": state["intercept"][columns],
        "losses": state["losses"][:, kept],
        "weights": state["weights"][:, kept],
        "corrections": corrections.reshape(-1, corrections.shape[2]),
    }


def _sum_of_rows(
    settings: NDArray[np.int64], outputs: int, rows: list[Floats], intercept: bool
) -> Floats:
    out = np.zeros_like(rows[0])
    out[:, :HEAD] = rows[0][:, :HEAD] + rows[1][:, :HEAD]
    ratios, at = size_ratios(rows), HEAD
    for rule, view, first, last in groups_of(tuple(settings[settings < SEPARATE].tolist())):
        width = outputs * (last - first)
        one, two = slice(at, at + width), slice(at + width, at + 2 * width)
        at += 2 * width
        scaled = view.endswith("rms") and not intercept
        merge = merged_averages
        if rule == "bayesian":
            priors = [
                INTERCEPT_VARIANCE if intercept else SETTINGS[k][2] for k in settings[first:last]
            ]
            merge = partial(merged_gaussians, prior=1 / np.tile(priors, outputs))
        out[:, one], out[:, two] = merge(
            [of[:, one] for of in rows], [of[:, two] for of in rows], ratios if scaled else ALIKE
        )
    return out
