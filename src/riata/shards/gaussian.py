"""Bayesian models by shards: precisions add, less the prior, and so do evidences.

In the first round every task begins with the prior. In later ones it begins with what the others know: of the
knowledge about a feature that came from n shards it takes n - 1 parts in n, learns its shard, and hands on what that
has added. For a feature of one shard this is the prior again, so that no shard counts its own examples twice.

Features are taken for independent. Where a row has many, all shards make up for the same error at once, in all of its
features, and would overshoot together: later rounds go a part of the way, as long as rows are (`FEW`). Predictions
within a shard are worse than those of the whole, so that what a correction of them (`calibrate`) learns there would
not fit: it stays blank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riata.learners import Bayesian, Learner
from riata.learners.base import Floats, State
from riata.shards.methods import Arrays, Method, aligned, named_rows, refuse


def others(gain: Floats, pull: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """What is known without the part of one shard."""
    share = share_of(counts)
    return gain * share[:, None], pull * share[:, None]


def share_of(counts: Floats) -> Floats:
    """How much a task begins with of what so many shards know.

    >>> share_of(np.array([1.0, 2.0, 10.0]))
    array([0. , 0.5, 0.9])
    """
    return np.asarray(1 - 1 / np.maximum(counts, 1))


FEW = 8.0
"""With so many features a row, or fewer, a round goes all the way."""


def damped(before: Floats, now: Floats, length: float) -> Floats:
    """How far a round goes from the sums of the one before to its own, where rows have so many features."""
    part = min(1.0, FEW / max(length, 1.0))
    return now if part == 1 else (1 - part) * before + part * now


def mean_length(sums: Arrays, rows: int) -> float:
    """Features a row."""
    return float(sums["add.nnz"][0]) / max(rows, 1)


class BayesianMethod(Method):
    """Rows of sums: what was gained in precision, precision times mean, and in how many shards the feature is."""

    def check(self, learner: Learner) -> None:
        assert isinstance(learner, Bayesian)
        if learner.covariance == "full":
            raise refuse(learner, "covariance", learner.covariance)
        if learner.half_life is not None:
            raise refuse(learner, "half_life", learner.half_life)
        if learner.feature_scale != "none":
            raise refuse(learner, "feature_scale", learner.feature_scale)
        if isinstance(learner.prior_variance, dict) or ":" in str(learner.prior_variance):
            raise refuse(learner, "prior_variance", learner.prior_variance)

    def begin(self, learner: Any, beside: Arrays, round: int) -> Arrays:
        if round == 1:
            return {}
        state, prior = learner.state(), _priors(learner)
        counts = aligned(beside["keys"], beside["counts"][:, None], state["keys"])[:, 0]
        k = len(prior)
        gain, pull = natural(state["rows"], prior)
        rows = _rows(*others(gain, pull, counts), prior)
        kept = counts > 1
        empty = Bayesian(**_parameters(learner)).state()
        at = state["intercept"][None], _priors(learner, True)
        shards = np.array([float(beside["shards"][0])])
        intercept = _rows(*others(*natural(*at), shards), at[1])[0]
        assert len(intercept) == 2 * k
        return (
            empty
            | {"rows": np.ascontiguousarray(rows[kept]), "intercept": intercept}
            | {"seen": np.array([0, state["seen"][1]], dtype=np.int64)}
            | named_rows(state, kept)
        )

    def sums(self, learner: Any, state: Arrays, rows: int) -> Arrays:
        now: State = learner.state()
        prior, at_zero = _priors(learner), _priors(learner, True)
        before = aligned(
            state.get("keys", np.zeros(0, dtype=np.int64)),
            state.get("rows", np.zeros((0, 2 * len(prior)))),
            now["keys"],
        )
        added = np.hstack(natural(now["rows"], prior)) - np.hstack(natural(before, prior))
        changed = np.any(added != 0, axis=1)
        start = state.get("intercept", np.zeros(2 * len(prior)))[None]
        intercept = np.hstack(natural(now["intercept"][None], at_zero)) - np.hstack(
            natural(start, at_zero)
        )
        added = np.hstack([added[changed], np.ones((int(changed.sum()), 1))])
        sums = {
            "rows": added,
            "add.intercept": intercept[0],
            "add.log_evidence": now["log_evidence"],
            "add.shards": np.array([float(rows > 0)]),
            "max.features": now["seen"][1:],
        }
        return sums | named_rows(now, changed)

    def finish(self, learner: Any, sums: Arrays, rows: int, round: int) -> tuple[Learner, Arrays]:
        prior, at_zero = _priors(learner), _priors(learner, True)
        k = len(prior)
        added, intercept = sums["rows"][:, : 2 * k], sums["add.intercept"][None]
        old: State = learner.state()
        if round > 1:
            length = mean_length(sums, rows)
            before = aligned(old["keys"], old["rows"], sums["keys"])
            added = damped(np.hstack(natural(before, prior)), added, length)
            at = np.hstack(natural(old["intercept"][None], at_zero))
            intercept = damped(at, intercept, length)
        evidence = sums["add.log_evidence"].reshape(learner.outputs, -1)
        state: State = {
            "keys": sums["keys"],
            "rows": _rows(added[:, :k], added[:, k:], prior),
            "intercept": _rows(intercept[:, :k], intercept[:, k:], at_zero)[0],
            "log_evidence": (evidence - evidence.max(axis=1, keepdims=True)).ravel(),
            "seen": np.array([rows, sums["max.features"][0]], dtype=np.int64),
        }
        if "calibration" in old:
            state["calibration"] = np.zeros_like(old["calibration"])
        state |= {name: sums[name] for name in ("names", "name_offsets") if name in sums}
        made = learner._remade(_parameters(learner), state)
        counts = np.ascontiguousarray(sums["rows"][:, 2 * k])
        return made, {"keys": sums["keys"], "counts": counts, "shards": sums["add.shards"]}


def _parameters(learner: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = learner.parameters()
    return parameters


def _priors(learner: Any, intercept: bool = False) -> Floats:
    """The precision of the prior in each column."""
    columns = learner.shape.outputs * learner.shape.components
    if intercept:
        return np.full(columns, 1 / learner.intercept_variance)
    return 1 / np.tile(np.array(learner.prior_variances), columns // len(learner.prior_variances))


def natural(rows: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """What was gained in precision, and precision times mean, from rows of mean and gain."""
    k = len(prior)
    gain = rows[:, k : 2 * k]
    return gain, (prior + gain) * rows[:, :k]


def _rows(gain: Floats, pull: Floats, prior: Floats) -> Floats:
    """The reverse."""
    return np.ascontiguousarray(np.hstack([pull / (prior + gain), gain]))
