"""Other models from a portfolio: one with more classes, one linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Single:
    """One linear model in the place of all settings: which, and what all predictions of it would have lost so far."""

    loss: float
    member: int | None = None
    """The setting that stands for all, by its place among those that are left; None: the average of all."""
    view: str = "raw"
    """What it sees of the values."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Of a linear learner that sees the same."""
        scale = "rms" if self.view == "unit-rms" else "none"
        return {"normalize": "l2" if self.member is not None else "none", "feature_scale": scale}


def best_single(now: State) -> Single:
    """The one that lost least, by the progressive record.

    The average of all settings is linear in the values but for the lengths of rows. The settings that see rows of
    length one are linear models of such rows as they are, so their losses are known, too.
    """
    found = [Single(float(now["single"][:, 5].sum()))]
    losses = now["losses"].sum(axis=0)
    for _, view, first, last in groups_of(tuple(now["settings"].tolist())):
        if view.startswith("unit"):
            best = first + int(np.argmin(losses[first:last]))
            found.append(Single(float(losses[best]), best, view))
    return min(found, key=lambda single: single.loss)


def cost_of(single: Single, now: State) -> float:
    """How much more it lost than the average of all, in parts of that."""
    average = float(now["totals"][:, 0].sum())
    return single.loss / average - 1 if average > 0 else 0.0


def _weights_of(single: Single, now: State, learner: Portfolio) -> tuple[Floats, Floats]:
    """Weights (n, outputs) and intercepts of a setting."""
    outputs = learner.outputs
    at = 2
    for _, _, first, last in groups_of(tuple(now["settings"].tolist())):
        width = outputs * (last - first)
        if single.member is not None and first <= single.member < last:
            columns = at + np.arange(outputs) * (last - first) + (single.member - first)
            return now["rows"][:, columns], now["intercept"][columns]
        at += 2 * width
    raise AssertionError("a setting that is not there")


def collapsed(learner: Portfolio, sparse: float = 0.0) -> ElasticNet:
    """The one linear model that lost least, as a learner without penalties; see `Portfolio.collapse`."""
    now = learner._snapshot()
    single = best_single(now)
    rows = now["rows"]
    count, square = rows[:, 0], rows[:, 1]
    sizes = np.sqrt(square / np.maximum(count, 1))
    if single.member is None:
        weights, intercept = learner._blended(now, rows, sizes), learner.intercept
        power = square
    else:
        weights, intercept = _weights_of(single, now, learner)
        of = 2 if single.view == "unit-rms" else 0
        typical = now["lengths"][of] / max(learner.t, 1)
        power = (count if of else square) / max(float(typical) ** 2, 1e-300)
    kept = weights.any(axis=1) & ~expendable(weights, power / max(learner.t, 1), sparse)
    empty = ElasticNet(
        l1=0.0,
        l2=0.0,
        outputs=learner.outputs,
        store=learner.store,
        bits=learner.bits,
        **single.parameters,
    )
    state = empty.state() | {
        "keys": now["keys"][kept],
        "rows": np.hstack([weights[kept], np.zeros((int(kept.sum()), 1))]),
        "intercept": intercept,
        "seen": now["seen"],
    }
    if empty.feature_scale == "rms":
        state["scale_keys"], state["scale_sums"] = state["keys"], rows[kept][:, :2].copy()
    if learner._core.named:
        state["names"], state["name_offsets"] = learner._core.names(state["keys"])
    return ElasticNet.from_state(empty.parameters(), state)


def expendable(weights: Floats, power: Floats, loss: float) -> NDArray[np.bool_]:
    """Which features can go, so that the log loss grows by about this part of it at most.

    `power` is the mean square of each feature's values over all examples. To drop weights adds an error to the log
    odds whose mean square is the sum of w^2 power, as far as features come independently; the log loss then
    grows by half of that times the mean of p (1 - p), and for probabilities that are right this is at most the log
    loss itself. So those go whose w^2 power is smallest, while half their sum is at most `loss`.

    >>> expendable(np.array([[3.0], [0.001], [1.0]]), np.array([0.5, 0.5, 1e-4]), 0.005).tolist()
    [False, True, True]
    """
    worth = (weights**2).sum(axis=1) * power / 2
    order = np.argsort(worth, kind="stable")
    gone = np.zeros(len(weights), dtype=np.bool_)
    gone[order] = np.cumsum(worth[order]) <= loss
    return gone if loss > 0 else np.zeros(len(weights), dtype=np.bool_)
