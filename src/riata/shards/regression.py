"""Bayesian regressions by shards, alone or as `auto`: precisions add, less the prior; later rounds go on from the mean.

Weights of settings multiply: each shard begins with equal ones. How large the noise is, is a mean over shards. Settings
that learn all weights together are none of a shard's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riata.learners import Learner
from riata.learners.base import Floats, State
from riata.learners.feature_rows import aligned, named_rows, natural, posterior
from riata.learners.regression import INTERCEPT_VARIANCE
from riata.shards.gaussian import averaged, gained, less_sure
from riata.shards.methods import Arrays, Method

HEAD = 2
"""Count and sum of squares stand first in a row."""


class RegressionMethod(Method):
    """Rows of sums: as those of the model, with what was gained in place of means, and a count of shards."""

    def check(self, learner: Learner) -> None:
        pass

    def start(self, parameters: dict[str, Any], state: Arrays, round: int, shards: int) -> Learner:
        if "fit_joint" in parameters:
            parameters = parameters | {"fit_joint": False}
        return super().start(parameters, state, round, shards)

    def begin(self, learner: Any, beside: Arrays, round: int) -> Arrays:
        if round == 1:
            return {}
        state: State = learner.state()
        k = len(learner.settings)
        counts = aligned(beside["keys"], beside["counts"][:, None], state["keys"])[:, 0]
        kept, shards = counts > 1, beside["shards"]
        recent = state["sums"] / np.maximum(shards, 1)
        return (
            state
            | {
                "rows": _of_others(state["rows"][kept], counts[kept]),
                "intercept": _of_others(state["intercept"][None], shards)[0],
                "seen": np.array([0, state["seen"][1]], dtype=np.int64),
                "weights": np.full(k, 1 / k),
                "losses": np.zeros(k),
                "squares": state["squares"][:k],
                "sums": np.append(recent[:3], state["sums"][3:]),
            }
            | named_rows(state, kept)
        )

    def sums(self, learner: Any, state: Arrays, rows: int) -> Arrays:
        now: State = learner.state()
        width, later = now["rows"].shape[1], "rows" in state
        before = aligned(
            state.get("keys", np.zeros(0, dtype=np.int64)),
            state.get("rows", np.zeros((0, width))),
            now["keys"],
        )
        start = state.get("intercept", np.zeros(width))[None]
        prior = None if later else _priors(learner)
        at_zero = None if later else np.full(len(learner.settings), 1 / INTERCEPT_VARIANCE)
        added = _added(now["rows"], before, prior)
        changed = np.any(added != 0, axis=1)
        seen = now["sums"][:3] - state.get("sums", np.zeros(5))[:3]
        return {
            "rows": np.hstack([added[changed], np.ones((int(changed.sum()), 1))]),
            "add.intercept": _added(now["intercept"][None], start, at_zero)[0],
            "add.shards": np.array([float(rows > 0)]),
            "add.seen": seen,
            "add.noise": seen[0] * np.append(now["squares"], now["sums"][3:]),
            "add.log_weights": np.log(now["weights"]),
            "add.losses": now["losses"],
            "max.features": now["seen"][1:],
        } | named_rows(now, changed)

    def finish(self, learner: Any, sums: Arrays, rows: int, round: int) -> tuple[Learner, Arrays]:
        old: State = learner.state()
        prior, k = _priors(learner), len(learner.settings)
        added, at_zero = sums["rows"][:, :-1], sums["add.intercept"][None]
        if round == 1:
            made = posterior(added[:, HEAD:], prior)
            intercept = posterior(at_zero[:, HEAD:], np.full(k, 1 / INTERCEPT_VARIANCE))
        else:
            before = aligned(old["keys"], old["rows"], sums["keys"])[:, HEAD:]
            made = averaged(added[:, HEAD:], k, before)
            intercept = averaged(at_zero[:, HEAD:], k, old["intercept"][None, HEAD:])
        logs = sums["add.log_weights"]
        product, share = np.exp(logs - logs.max()), 1 / (rows + 1)
        noise = sums["add.noise"] / max(float(sums["add.seen"][0]), np.finfo(float).tiny)
        state: State = {
            "keys": sums["keys"],
            "rows": np.hstack([added[:, :HEAD], made]),
            "intercept": np.append(at_zero[0, :HEAD], intercept),
            "seen": np.array([rows, sums["max.features"][0]], dtype=np.int64),
            "weights": (1 - share) * product / product.sum() + share / k,
            "losses": sums["add.losses"],
            "squares": noise[:k],
            "sums": np.append(sums["add.seen"], noise[k:]),
        }
        state |= {name: sums[name] for name in ("names", "name_offsets") if name in sums}
        counts = np.ascontiguousarray(sums["rows"][:, -1])
        beside = {"keys": sums["keys"], "counts": counts, "shards": sums["add.shards"]}
        return learner._remade(learner.parameters(), state), beside


def _priors(learner: Any) -> Floats:
    """The precision of the prior of each setting."""
    return 1 / np.array([prior for _, prior, _ in learner.settings])


def _added(now: Floats, before: Floats, prior: Floats | None) -> Floats:
    """What a task has added to rows; no prior: in a round after the first."""
    k = (now.shape[1] - HEAD) // 2
    ours, theirs = now[:, HEAD:], before[:, HEAD:]
    beliefs = gained(ours, theirs, k) if prior is None else natural(ours, prior)
    return np.hstack([now[:, :HEAD] - before[:, :HEAD], beliefs])


def _of_others(rows: Floats, counts: Floats) -> Floats:
    """What other shards have seen of each feature, and the means, as sure of them as one of so many shards is."""
    k = (rows.shape[1] - HEAD) // 2
    seen = rows[:, :HEAD] * (1 - 1 / np.maximum(counts, 1))[:, None]
    return np.hstack([seen, less_sure(rows[:, HEAD:], k, counts)])
