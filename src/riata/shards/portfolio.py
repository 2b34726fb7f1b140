"""`auto` by shards: its Bayesian settings as Bayesian models, those of AdaGrad by mixing, averaged by their losses.

Weights of AdaGrad are averaged by the squared gradients that each shard has seen of a feature; what a shard begins a
later round with of these is a shard's part. In later rounds the same holds for means and precisions of Bayesian
settings. Losses of a round add up, and decide how much each setting counts.

In later rounds the examples have been learned before, and predictions of them are better than they will be of others:
what would put log odds right by these (`corrections`, `single`) stays blank. Settings that learn all weights together
are none of a shard's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from riata.learners import Learner
from riata.learners.base import Floats, State
from riata.learners.feature_rows import aligned, named_rows, natural, posterior
from riata.learners.portfolio import INTERCEPT_VARIANCE
from riata.learners.portfolio_settings import SETTINGS, groups_of
from riata.shards.gaussian import part_of_one
from riata.shards.methods import Arrays, Method

_ADDED = ("losses", "totals", "corrections", "single", "corrected_loss", "lengths")
_CORRECTED = ("add.corrections", "add.single")
HOPELESS = 2.0
"""Settings that have lost so many times as much as the best one in a round are dropped, unless all are kept."""
HEAD = 2
"""Count and sum of squares stand first in a row."""


class PortfolioMethod(Method):
    """Rows of sums: as those of the model, with natural parameters in place of means, and a count of shards."""

    def check(self, learner: Learner) -> None:
        pass

    def start(self, parameters: dict[str, Any], state: Arrays, round: int, shards: int) -> Learner:
        return super().start(
            parameters | {"keep_all": True, "fit_joint": False}, state, round, shards
        )

    def begin(self, learner: Any, beside: Arrays, round: int) -> Arrays:
        if round == 1:
            return {}
        state: State = learner.state()
        counts = aligned(beside["keys"], beside["counts"][:, None], state["keys"])[:, 0]
        kept = counts > 1
        at_zero = _part_of_one(learner, state, state["intercept"][None], beside["shards"])[0]
        return (
            state
            | {name: np.zeros_like(state[name]) for name in _ADDED}
            | {
                "rows": _part_of_one(learner, state, state["rows"][kept], counts[kept]),
                "intercept": at_zero,
                "seen": np.array([0, state["seen"][1]], dtype=np.int64),
            }
            | named_rows(state, kept)
        )

    def sums(self, learner: Any, state: Arrays, rows: int) -> Arrays:
        now: State = learner.state()
        before = aligned(
            state.get("keys", np.zeros(0, dtype=np.int64)),
            state.get("rows", np.zeros((0, now["rows"].shape[1]))),
            now["keys"],
        )
        later = "rows" in state
        added = _added(learner, now, now["rows"], before, False, later)
        changed = np.any(added != 0, axis=1)
        start = state.get("intercept", np.zeros_like(now["intercept"]))[None]
        return {
            "rows": np.hstack([added[changed], np.ones((int(changed.sum()), 1))]),
            "add.intercept": _added(learner, now, now["intercept"][None], start, True, later)[0],
            "add.shards": np.array([float(rows > 0)]),
            "max.settings": now["settings"],
            "max.features": now["seen"][1:],
            **{f"add.{name}": now[name] for name in _ADDED},
            **named_rows(now, changed),
        }

    def finish(self, learner: Any, sums: Arrays, rows: int, round: int) -> tuple[Learner, Arrays]:
        settings, old = sums["max.settings"], learner.state()
        base = {"settings": settings}
        added, at_zero = sums["rows"][:, :-1], sums["add.intercept"][None]
        if round > 1:
            sums = sums | {name: np.zeros_like(sums[name]) for name in _CORRECTED}
        losses = sums["add.losses"]
        kept = np.arange(len(settings))
        if not learner.keep_all:
            total = losses.sum(axis=0)
            kept = np.flatnonzero(total <= HOPELESS * total.min())
        corrections = sums["add.corrections"].reshape(*losses.shape, -1)
        losses = losses[:, kept]
        product = np.exp(losses.min(axis=1, keepdims=True) - losses)
        share, members = 1 / (rows + 1), losses.shape[1]
        blank = np.zeros_like(losses)
        state: State = {
            "keys": sums["keys"],
            "rows": _of_members(learner, base, _joined(learner, base, added, False, round), kept),
            "intercept": _of_members(learner, base, _joined(learner, base, at_zero, True, round), kept)[0],
            "settings": settings[kept],
            "weights": (1 - share) * product / product.sum(axis=1, keepdims=True) + share / members,
            "recent_losses": blank, "claims": blank, "worth": blank, "gaps": blank,
            "seen": np.array([rows, sums["max.features"][0]], dtype=np.int64),
            **{name: sums[f"add.{name}"] for name in _ADDED},
            "losses": losses,
            "corrections": np.ascontiguousarray(corrections[:, kept]).reshape(-1, corrections.shape[2]),
            **{name: sums[name] for name in ("names", "name_offsets") if name in sums},
        }  # fmt: skip
        state["totals"] = state["totals"] * [1.0, 0.0]
        if "calibration" in old:
            state["calibration"] = np.zeros_like(old["calibration"])
        made = learner._remade(learner.parameters(), state)
        counts = np.ascontiguousarray(sums["rows"][:, -1])
        return made, {"keys": sums["keys"], "counts": counts, "shards": sums["add.shards"]}


def _groups(
    learner: Any, state: Any, intercept: bool
) -> Iterator[tuple[str, slice, slice, Floats]]:
    """Of each group its rule, where its first and second numbers stand, and its priors' precisions."""
    settings = tuple(int(k) for k in state["settings"])
    at = HEAD
    for rule, _, first, last in groups_of(settings):
        width = learner.outputs * (last - first)
        variances = [SETTINGS[k][2] for k in settings[first:last]]
        prior = np.tile(1 / np.array(variances), learner.outputs)
        if intercept:
            prior = np.full(width, 1 / INTERCEPT_VARIANCE)
        yield rule, slice(at, at + width), slice(at + width, at + 2 * width), prior
        at += 2 * width


def _added(
    learner: Any, state: Any, now: Floats, before: Floats, intercept: bool, later: bool
) -> Floats:
    """What a task has added to rows; `later`: in a round after the first."""
    out = np.empty_like(now)
    out[:, :HEAD] = now[:, :HEAD] - before[:, :HEAD]
    for rule, one, two, prior in _groups(learner, state, intercept):
        if rule == "bayesian" and not later:
            both = natural(np.hstack([now[:, one], now[:, two]]), prior)
            out[:, two], out[:, one] = np.hsplit(both, 2)
        else:
            out[:, two] = now[:, two] - before[:, two]
            out[:, one] = out[:, two] * now[:, one]
    return out


def _joined(learner: Any, state: Any, sums: Floats, intercept: bool, round: int) -> Floats:
    """Rows from the sums of all shards."""
    out = sums.copy()
    for rule, one, two, prior in _groups(learner, state, intercept):
        if rule == "bayesian" and round == 1:
            both = posterior(np.hstack([sums[:, two], sums[:, one]]), prior)
            out[:, one], out[:, two] = np.hsplit(both, 2)
        else:
            some = sums[:, two] > 0
            out[:, one] = np.where(some, sums[:, one] / np.where(some, sums[:, two], 1), 0)
    return out


def _of_members(learner: Any, state: Any, rows: Floats, kept: Any) -> Floats:
    """Rows with the numbers of these settings alone."""
    columns, at = [np.arange(HEAD)], HEAD
    for _, _, first, last in groups_of(tuple(int(k) for k in state["settings"])):
        chosen = kept[(kept >= first) & (kept < last)] - first
        each = last - first
        for _ in range(2):
            places = at + np.arange(learner.outputs)[:, None] * each + chosen[None, :]
            columns.append(places.ravel())
            at += learner.outputs * each
    return np.ascontiguousarray(rows[:, np.concatenate(columns)])


def _part_of_one(learner: Any, state: Any, rows: Floats, counts: Floats) -> Floats:
    """Rows as sure of their weights as one of so many shards is."""
    out = rows.copy()
    part = part_of_one(counts)[:, None]
    out[:, :HEAD] *= 1 - 1 / np.maximum(counts, 1)[:, None]
    for _, _, two, _ in _groups(learner, state, False):
        out[:, two] *= part
    return out
