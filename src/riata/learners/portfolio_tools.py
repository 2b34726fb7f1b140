"""Other models from a portfolio: one with more classes, one linear model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.learners import bayesian_calibration as calibration
from riata.learners.base import Floats, State
from riata.learners.elastic_net import ElasticNet
from riata.learners.joint import more_outputs
from riata.learners.portfolio import (
    INTERCEPT_VARIANCE,
    Portfolio,
    corrections,
    whole_intercept,
    whole_rows,
)
from riata.learners.portfolio_settings import JOINT, VIEWS, groups_of, plan, separate


def widened(learner: Portfolio, outputs: int) -> tuple[dict[str, Any], State]:
    """Parameters and state with more outputs; a single one becomes those of classes 0 and 1, mirrored.

    More classes have room for fewer settings: of those that are left, the ones that a model of so many classes
    begins with, or else the one with the most weight. A new class that shares the probability of the others begins as
    one that none of the examples so far was of: with the odds 1 / (t + 1).
    """
    state, before = learner.state(), learner.outputs
    shared = learner.multi_class == "multinomial"
    of_one = 0.5 if shared else 1.0  # of a score that becomes the difference of two
    settings = tuple(state["settings"].tolist())
    in_rows = len(separate(settings))
    kept = [k for k, setting in enumerate(settings[:in_rows]) if setting in plan(outputs)]
    if not kept:
        kept = [int(state["weights"][:, :in_rows].mean(axis=0).argmax())]
    kept += range(in_rows, len(settings))

    seldom = float(np.log(learner.t + 1)) if shared else 0.0
    sure = {"bayesian": seldom, "adagrad": min(seldom, 1.0)}

    def wide(rows: Floats, intercept: bool = False) -> Floats:
        parts, at = [rows[:, :2]], 2
        for rule, _, first, last in groups_of(settings[:in_rows]):
            chosen = [k - first for k in kept if first <= k < last]
            width = before * (last - first)
            of_new = (-seldom, sure[rule]) if intercept else (0.0, 0.0)
            # Means or weights, and how sure they are.
            for own, mirrored, new in ((of_one, -of_one, of_new[0]), (1.0, 1.0, of_new[1])):
                old = rows[:, at : at + width].reshape(len(rows), before, last - first)[
                    :, :, chosen
                ]
                old = np.concatenate([mirrored * old, own * old], axis=1) if before == 1 else old
                more = np.full((len(rows), outputs - old.shape[1], len(chosen)), new)
                parts.append(
                    np.concatenate([old, more], axis=1).reshape(len(rows), outputs * len(chosen))
                )
                at += width
        return np.ascontiguousarray(np.hstack(parts))

    def grown(table: Floats, new: float) -> Floats:
        old = np.vstack([table, table]) if before == 1 else table
        return np.vstack([old, np.full((outputs - len(old), old.shape[1]), new)])

    state["rows"] = wide(state["rows"])
    state["intercept"] = wide(state["intercept"][None], intercept=learner.fit_intercept)[0]
    state["settings"] = state["settings"][kept]
    if in_rows < len(settings):
        state |= more_outputs(state, before, outputs, JOINT, INTERCEPT_VARIANCE, of_one, seldom)
    for name in ("losses", "recent_losses", "claims", "worth", "gaps"):
        state[name] = grown(state[name][:, kept], 0.0)
    weights = state["weights"][:, kept]
    state["weights"] = grown(weights / weights.sum(axis=1, keepdims=True), 1 / len(kept))
    state["totals"] = grown(state["totals"], 0.0)
    singles = [grown(part, 0.0) for part in np.split(state["single"], 1 + len(VIEWS))]
    if before == 1:  # with scores and labels of the other sign, what is added has the other sign
        for part in singles:
            part[0] *= [1, -1, 1, 1, -1, 1]
    state["single"] = np.vstack(singles)
    of_each = state["corrections"].reshape(before, len(settings), -1)[:, kept]
    if before == 1:
        of_each = np.concatenate([of_each * [1, -1, 1, 1, -1, 1], of_each])
    more = np.zeros((outputs - len(of_each), *of_each.shape[1:]))
    state["corrections"] = np.concatenate([of_each, more]).reshape(-1, of_each.shape[2])
    if learner.calibrates:
        state["calibration"] = calibration.mirrored(state["calibration"], outputs)
    return learner.parameters() | {"outputs": outputs}, state


@dataclass(frozen=True)
class Single:
    """One linear model in the place of all settings: which, and what all predictions of it would have lost so far."""

    loss: float
    view: str | None = None
    """It averages the settings that see this of the values; None: all of them, as far as they are linear."""

    @property
    def normalize(self) -> str:
        return "l2" if self.view is not None and self.view.startswith("unit") else "none"

    @property
    def feature_scale(self) -> str:
        return "rms" if self.view is not None and self.view.endswith("rms") else "none"

    @property
    def place(self) -> int:
        """Where its correction and loss stand in the state."""
        return 0 if self.view is None else 1 + VIEWS.index(self.view)


def best_single(now: State) -> Single:
    """The one that lost least, by the progressive record.

    The average of all settings is linear in the values but for the lengths of rows and what features are divided by.
    The settings of one view are linear models of what they see as it is, and so is their average.
    """
    losses = now["single"][:, 5].reshape(1 + len(VIEWS), -1).sum(axis=1)
    left = {view for _, view, _, _ in groups_of(tuple(now["settings"].tolist()))}
    found = [Single(0.0, view) for view in (None, *VIEWS) if view is None or view in left]
    return min(
        (replace(single, loss=float(losses[single.place])) for single in found),
        key=lambda single: single.loss,
    )


def _weights_of(learner: Portfolio, view: str, now: State) -> tuple[Floats, Floats]:
    """Weights (n, outputs) and intercepts of the average of the settings of a view, each put right."""
    outputs = learner.outputs
    rows, intercept = whole_rows(now, now["rows"], now["keys"]), whole_intercept(now)
    weights, constant = np.zeros((len(rows), outputs)), np.zeros((1, outputs))
    factors, constants = corrections(now)
    share, at = np.zeros(outputs), 2
    for _, of, first, last in groups_of(tuple(now["settings"].tolist())):
        width = outputs * (last - first)
        if of == view:
            own = now["weights"][:, first:last]
            share += own.sum(axis=1)
            constant += (own * constants[:, first:last]).sum(axis=1)
            for table, out in ((rows, weights), (intercept, constant)):
                parts = table[:, at : at + width].reshape(len(table), outputs, last - first)
                parts = learner.comparable(parts)
                out += np.einsum("nok,ok->no", parts, own * factors[:, first:last])
        at += 2 * width
    return weights / share, constant[0] / share


def collapsed(learner: Portfolio, sparse: float = 0.0) -> ElasticNet:
    """The one linear model that lost least, as a learner without penalties; see `Portfolio.collapse`."""
    now = learner._snapshot()
    single = best_single(now)
    rows = now["rows"]
    count, square = rows[:, 0], rows[:, 1]
    power = count if single.feature_scale == "rms" else square
    if single.view is None:
        sizes = np.sqrt(square / np.maximum(count, 1))
        whole = whole_rows(now, rows, now["keys"])
        weights, intercept = learner._blended(now, whole, sizes), learner.intercept
    else:
        weights, intercept = _weights_of(learner, single.view, now)
        first = single.place * learner.outputs
        scales = _core.single_scale(now["single"][first : first + learner.outputs])
        weights = weights * [a for a, _ in scales]
        intercept = intercept * [a for a, _ in scales] + [c for _, c in scales]
    if single.normalize == "l2":
        typical = now["lengths"][2 if single.feature_scale == "rms" else 0] / max(learner.t, 1)
        power = power / max(float(typical) ** 2, 1e-300)
    weights = weights.astype(np.float32).astype(np.float64)
    kept = weights.any(axis=1) & ~expendable(weights, power / max(learner.t, 1), sparse)
    empty = ElasticNet(
        l1=0.0,
        l2=0.0,
        outputs=learner.outputs,
        store=learner.store,
        bits=learner.bits,
        normalize=single.normalize,
        feature_scale=single.feature_scale,
        learning_rate="inv_sqrt",
    )
    state = empty.state() | {
        "keys": now["keys"][kept],
        "rows": np.hstack([weights[kept], np.zeros((int(kept.sum()), 1))]),
        "intercept": intercept,
        "seen": now["seen"],
    }
    if empty.feature_scale == "rms":
        state["scale_keys"] = state["keys"]
        state["scale_sums"] = rows[kept][:, :2].astype(np.float32).astype(np.float64)
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
