"""Bayesian models by shards: in the first round precisions add, less the prior, and so do evidences.

In the first round every task begins with the prior, so that sums of what shards have gained are the posterior of all,
as far as features are independent. They are not: where a row has many, each shard has made up for the same errors in
all of them. So later rounds begin with the mean of all, as sure of it as one shard is, and go on from there; means are
averaged by the precision that each shard has gained for them, as weights of AdaGrad are by squared gradients, and that
is the precision of the next round. No example counts twice in it.

A feature of one shard begins with the prior again. Evidences are those of the first round: later ones are of examples
that were learned before, and would favour the widest priors. Predictions within a shard are worse than those of the
whole, so that what a correction of them (`calibrate`) learns there would not fit: it stays blank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riata.learners import Bayesian, Learner
from riata.learners.base import Floats, State
from riata.learners.feature_rows import aligned, named_rows, natural, posterior
from riata.shards.methods import Arrays, Method, refuse


def part_of_one(counts: Floats) -> Floats:
    """How much of the precision that so many shards have gained one of them begins a later round with.

    >>> part_of_one(np.array([1.0, 2.0, 10.0]))
    array([0.  , 0.25, 0.09])
    """
    least = np.maximum(counts, 1)
    return np.asarray((1 - 1 / least) / least)


class BayesianMethod(Method):
    """Rows of sums: what was gained in precision, precision times mean, and in how many shards the feature is.

    In later rounds it is the precision gained times the mean.
    """

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
        state, k = learner.state(), len(_priors(learner))
        counts = aligned(beside["keys"], beside["counts"][:, None], state["keys"])[:, 0]
        kept = counts > 1
        empty = Bayesian(**_parameters(learner)).state()
        return (
            empty
            | {
                "rows": less_sure(state["rows"][kept], k, counts[kept]),
                "intercept": less_sure(state["intercept"][None], k, beside["shards"])[0],
                "seen": np.array([0, state["seen"][1]], dtype=np.int64),
            }
            | named_rows(state, kept)
        )

    def sums(self, learner: Any, state: Arrays, rows: int) -> Arrays:
        now: State = learner.state()
        prior, at_zero = _priors(learner), _priors(learner, True)
        k, later = len(prior), "rows" in state
        before = aligned(
            state.get("keys", np.zeros(0, dtype=np.int64)),
            state.get("rows", np.zeros((0, 2 * k))),
            now["keys"],
        )
        start = state.get("intercept", np.zeros(2 * k))[None]
        if later:
            added, intercept = (
                gained(now["rows"], before, k),
                gained(now["intercept"][None], start, k),
            )
        else:
            added, intercept = natural(now["rows"], prior), natural(now["intercept"][None], at_zero)
        changed = np.any(added != 0, axis=1)
        sums = {
            "rows": np.hstack([added[changed], np.ones((int(changed.sum()), 1))]),
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
        if round == 1:
            made, made_intercept = posterior(added, prior), posterior(intercept, at_zero)
            evidence = sums["add.log_evidence"].reshape(learner.outputs, -1)
            log_evidence = (evidence - evidence.max(axis=1, keepdims=True)).ravel()
        else:
            before = aligned(old["keys"], old["rows"], sums["keys"])
            made = averaged(added, k, before)
            made_intercept = averaged(intercept, k, old["intercept"][None])
            log_evidence = old["log_evidence"]
        state: State = {
            "keys": sums["keys"],
            "rows": made,
            "intercept": made_intercept[0],
            "log_evidence": log_evidence,
            "seen": np.array([rows, sums["max.features"][0]], dtype=np.int64),
        }
        if "calibration" in old:
            state["calibration"] = np.zeros_like(old["calibration"])
        state |= {name: sums[name] for name in ("names", "name_offsets") if name in sums}
        counts = np.ascontiguousarray(sums["rows"][:, 2 * k])
        beside = {"keys": sums["keys"], "counts": counts, "shards": sums["add.shards"]}
        return learner._remade(_parameters(learner), state), beside


def _parameters(learner: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = learner.parameters()
    return parameters


def _priors(learner: Any, intercept: bool = False) -> Floats:
    """The precision of the prior in each column."""
    columns = learner.shape.outputs * learner.shape.components
    if intercept:
        return np.full(columns, 1 / learner.intercept_variance)
    return 1 / np.tile(np.array(learner.prior_variances), columns // len(learner.prior_variances))


# Rows of a model are k means and the precision that was gained for each beyond its prior's.


def less_sure(rows: Floats, k: int, counts: Floats) -> Floats:
    """The same means, with the precision that one of so many shards has gained."""
    gain = rows[:, k : 2 * k] * part_of_one(counts)[:, None]
    return np.ascontiguousarray(np.hstack([rows[:, :k], gain]))


def gained(now: Floats, before: Floats, k: int) -> Floats:
    """The precision that a task has gained, and that times the mean."""
    gain = np.maximum(now[:, k : 2 * k] - before[:, k : 2 * k], 0.0)
    return np.hstack([gain, gain * now[:, :k]])


def averaged(sums: Floats, k: int, before: Floats) -> Floats:
    """Means, averaged by the precision that was gained for them; where nobody has gained any, those of before."""
    gain = sums[:, :k]
    some = gain > 0
    mean = np.where(some, sums[:, k : 2 * k] / np.where(some, gain, 1.0), before[:, :k])
    return np.ascontiguousarray(np.hstack([mean, gain]))
