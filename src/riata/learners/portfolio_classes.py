"""A model of `auto` with its classes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from riata.learners import bayesian_calibration as calibration
from riata.learners.base import Floats, State
from riata.learners.portfolio_settings import SEPARATE, VIEWS, groups_of

MIRRORED = np.array([1, -1, 1, 1, -1, 1])
"""What becomes of the numbers of a correction when scores and labels have the other sign."""


def in_order(state: State, outputs: int, order: Sequence[int]) -> State:
    """Class i becomes what was class order[i]; two classes have one output, whose scores take the other sign."""
    other_sign = outputs == 1 and list(order) == [1, 0]
    places = [0] if outputs == 1 else list(order)

    def row(rows: Floats) -> Floats:
        out, at = rows.copy(), 2  # behind count and sum of squares
        for _, _, first, last in groups_of(
            tuple(state["settings"][state["settings"] < SEPARATE].tolist())
        ):
            width = outputs * (last - first)
            for sign in (-1.0 if other_sign else 1.0, 1.0):  # what a weight is sure of has no sign
                old = rows[:, at : at + width].reshape(len(rows), outputs, last - first)
                out[:, at : at + width] = sign * old[:, places].reshape(len(rows), width)
                at += width
        return out

    def by_output(table: Any, parts: int = 1) -> Any:
        each = table.reshape(parts, outputs, -1, *table.shape[1:])
        return np.ascontiguousarray(each[:, places].reshape(table.shape))

    names = [
        "weights",
        "losses",
        "recent_losses",
        "claims",
        "worth",
        "gaps",
        "totals",
        "corrections",
    ]
    names += [name for name in ("joint_means", "joint_variances", "joint_factors") if name in state]
    found = state | {name: by_output(state[name]) for name in names}
    found["single"] = by_output(state["single"], 1 + len(VIEWS))
    found |= {"rows": row(state["rows"]), "intercept": row(state["intercept"][None])[0]}
    if "calibration" in state:
        found["calibration"] = by_output(state["calibration"])
    if other_sign:
        found |= {name: found[name] * MIRRORED for name in ("corrections", "single")}
        found |= {name: -found[name] for name in ("joint_means",) if name in found}
        if "calibration" in found:
            found["calibration"] = calibration.mirrored(state["calibration"], 2)[:1]
    return found
