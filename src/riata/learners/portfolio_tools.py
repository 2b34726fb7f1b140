"""Other models from a portfolio: one with more classes, one linear model."""

from __future__ import annotations

from typing import Any

import numpy as np

from riata.learners import bayesian_calibration as calibration
from riata.learners.base import Floats, State
from riata.learners.elastic_net import ElasticNet
from riata.learners.portfolio import Portfolio
from riata.learners.portfolio_settings import groups_of, plan


def widened(learner: Portfolio, outputs: int) -> tuple[dict[str, Any], State]:
    """Parameters and state with more outputs; a single one becomes those of classes 0 and 1, mirrored.

    More classes have room for fewer settings: of those that are left, the ones that a model of so many classes
    begins with, or else the one with the most weight.
    """
    state, before = learner.state(), learner.outputs
    settings = tuple(state["settings"].tolist())
    kept = [k for k, setting in enumerate(settings) if setting in plan(outputs)]
    if not kept:
        kept = [int(state["weights"].mean(axis=0).argmax())]

    def wide(rows: Floats) -> Floats:
        parts, at = [rows[:, :2]], 2
        for _, _, first, last in groups_of(settings):
            chosen = [k - first for k in kept if first <= k < last]
            width = before * (last - first)
            for sign in (-1.0, 1.0):  # means or weights are mirrored, what they are sure of is not
                old = rows[:, at : at + width].reshape(len(rows), before, -1)[:, :, chosen]
                old = np.concatenate([sign * old, old], axis=1) if before == 1 else old
                more = np.zeros((len(rows), outputs - old.shape[1], len(chosen)))
                parts.append(np.concatenate([old, more], axis=1).reshape(len(rows), -1))
                at += width
        return np.ascontiguousarray(np.hstack(parts))

    def grown(table: Floats, new: float) -> Floats:
        old = np.vstack([table, table]) if before == 1 else table
        return np.vstack([old, np.full((outputs - len(old), old.shape[1]), new)])

    state["rows"] = wide(state["rows"])
    state["intercept"] = wide(state["intercept"][None])[0]
    state["settings"] = state["settings"][kept]
    for name in ("losses", "recent_losses", "claims", "worth", "gaps"):
        state[name] = grown(state[name][:, kept], 0.0)
    weights = state["weights"][:, kept]
    state["weights"] = grown(weights / weights.sum(axis=1, keepdims=True), 1 / len(kept))
    state["totals"] = grown(state["totals"], 0.0)
    state["single"] = grown(state["single"], 0.0)
    if before == 1:  # with scores and labels of the other sign, what is added has the other sign
        state["single"][0] *= [1, -1, 1, 1, -1, 1]
    if learner.calibrates:
        state["calibration"] = calibration.mirrored(state["calibration"], outputs)
    return learner.parameters() | {"outputs": outputs}, state


def collapsed(learner: Portfolio) -> ElasticNet:
    """The one linear model of `coef`, as a learner without penalties."""
    keys, weights = learner.coef()
    single = ElasticNet(
        l1=0.0, l2=0.0, outputs=learner.outputs, store=learner.store, bits=learner.bits
    )
    state = single.state() | {
        "keys": keys,
        "rows": np.hstack([weights, np.zeros((len(keys), 1))]),
        "intercept": learner.intercept,
        "seen": np.array([learner.t, learner._core.features], dtype=np.int64),
    }
    if learner._core.named:
        state["names"], state["name_offsets"] = learner._core.names(keys)
    return ElasticNet.from_state(single.parameters(), state)
