"""First-order methods by shards: every shard learns alone from the same weights, and weights are averaged. Approximate.

Where a feature has a sum of squared gradients (FTRL, AdaGrad), each shard counts by what it has added to that;
elsewhere by its examples, among the shards that have a weight for it. Sums of squared gradients add up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riata.errors import SettingsError
from riata.learners import Learner
from riata.learners.base import Floats, State
from riata.learners.feature_rows import aligned, joined_keys, named_rows
from riata.shards.methods import Arrays, Method


class MixingMethod(Method):
    """Rows of sums: weights times what they count by, and that; for FTRL also z."""

    def check(self, learner: Learner) -> None:
        if getattr(learner, "decay", 1.0) != 1.0:
            raise SettingsError(
                f"method {learner.family} with decay={learner.decay!r} cannot be trained by shards: "  # type: ignore[attr-defined]
                "a round is no pass"
            )
        if _roots(learner) is None and getattr(learner, "feature_scale", "none") == "rms":
            raise SettingsError(
                f"method {learner.family} with feature_scale='rms' is trained by shards with learning_rate='adagrad' "
                "only: name that, or feature_scale='none'"
            )

    def begin(self, learner: Any, beside: Arrays, round: int) -> Arrays:
        return {} if round == 1 else dict(learner.state())

    def sums(self, learner: Any, state: Arrays, rows: int) -> Arrays:
        now: State = learner.state()
        m, examples = learner.outputs, float(rows)
        roots = _roots(learner)
        counted = {
            "add.intercept": now["intercept"] * examples,
            "add.clock": now["clock"] * examples,
            "add.examples": np.array([examples]),
            "max.features": now["seen"][1:],
            "max.rate_factor": now["rate_factor"],
        }
        if roots is None:
            # all that the task began with or has a weight for now: what has become zero counts as that
            keys, weights = learner.coef()
            before = state.get("keys", np.zeros(0, dtype=np.int64))
            gone = ~np.isin(before, keys)
            own = {"keys": keys}
            if "names" in now:
                own["names"], own["name_offsets"] = learner._core.names(keys)
            whole = np.vstack([weights, np.zeros((int(gone.sum()), m))])
            added = np.hstack([whole * examples, np.full((len(whole), 1), examples)])
            return (
                counted
                | {"rows": added}
                | joined_keys(own, named_rows(state, gone) if gone.any() else {})
            )
        keys, weights = learner.coef()
        current = aligned(keys, weights, now["keys"])
        before = aligned(
            state.get("keys", np.zeros(0, dtype=np.int64)),
            state.get("rows", np.zeros((0, now["rows"].shape[1]))),
            now["keys"],
        )
        gain = now["rows"][:, roots : roots + m] ** 2 - before[:, roots : roots + m] ** 2
        gain = np.maximum(gain, 0.0)
        parts = [gain, gain * current]
        if learner.family == "ftrl":
            parts.append(gain * now["rows"][:, m : 2 * m])
        changed = np.any(gain != 0, axis=1)
        parts.append(_scale_sums(now, now["keys"]) - _scale_sums(state, now["keys"]))
        first = state.get("clock", np.zeros_like(now["clock"]))
        s = _intercept_roots(learner, now["clock"]) ** 2 - _intercept_roots(learner, first) ** 2
        return (
            counted | {"rows": np.hstack(parts)[changed], "add.roots": s} | named_rows(now, changed)
        )

    def finish(self, learner: Any, sums: Arrays, rows: int, round: int) -> tuple[Learner, Arrays]:
        now: State = learner.state()
        m, total = learner.outputs, max(float(sums["add.examples"][0]), 1.0)
        clock = sums["add.clock"] / total
        intercept = sums["add.intercept"] / total
        roots = _roots(learner)
        if roots is None:
            weights = sums["rows"][:, :m] / sums["rows"][:, m:]
            keys: Arrays = {k: sums[k] for k in ("keys", "names", "name_offsets") if k in sums}
            clock, marks = _marks(learner, clock)
            made_rows = np.hstack([weights, np.tile(marks, (len(weights), 1))])
        else:
            seen = _scale_sums(now, sums["keys"]) + sums["rows"][:, -2:]
            made_rows, keys = _rooted(learner, now, sums, roots, clock, _sizes(seen))
            s = np.sqrt(_intercept_roots(learner, now["clock"]) ** 2 + sums["add.roots"])
            clock = _with_intercept(learner, clock, s, intercept)
        state: State = {
            "rows": np.ascontiguousarray(made_rows),
            "clock": clock,
            "intercept": intercept,
            "seen": np.array([now["seen"][0] + rows, sums["max.features"][0]], dtype=np.int64),
            "rate_factor": sums["max.rate_factor"],
            **keys,
        }
        if learner.feature_scale == "rms":
            found = _scale_sums(now, state["keys"])
            found += aligned(sums["keys"], sums["rows"][:, -2:], state["keys"])
            known = found[:, 0] > 0
            state["scale_keys"] = np.ascontiguousarray(state["keys"][known])
            state["scale_sums"] = np.ascontiguousarray(found[known])
        return learner._remade(learner.parameters(), state), {}


def _scale_sums(state: Any, keys: Any) -> Floats:
    """Of these features, how often they were not zero and the sums of their squares: what feature_scale="rms" keeps."""
    if "scale_keys" not in state:
        return np.zeros((len(keys), 2))
    return aligned(state["scale_keys"], state["scale_sums"], keys)


def _sizes(sums: Floats) -> Floats:
    """The root mean squares by these sums, as a column; 1 where there are none."""
    count, squares = sums[:, :1], sums[:, 1:]
    return np.asarray(np.where(count > 0, np.sqrt(squares / np.maximum(count, 1)), 1.0))


def _roots(learner: Any) -> int | None:
    """Where the roots of the sums of squared gradients stand in a row; None: there are none."""
    if learner.family == "ftrl":
        return int(2 * learner.outputs)
    adagrad = getattr(learner, "learning_rate", "").startswith("adagrad")
    return int(learner.outputs) if adagrad else None


def _intercept_roots(learner: Any, clock: Floats) -> Floats:
    return clock[1::2] if learner.family == "ftrl" else clock[1 : 1 + learner.outputs]


def _with_intercept(learner: Any, clock: Floats, roots: Floats, intercept: Floats) -> Floats:
    """The state of the rule for an intercept with these roots."""
    if learner.family != "ftrl":
        return np.concatenate([np.round(clock[:1]), roots, clock[1 + learner.outputs :]])
    z = -intercept * (learner.beta + roots) / learner.alpha
    return np.stack([z, roots], axis=1).ravel()


def _rooted(
    learner: Any, now: State, sums: Arrays, roots: int, clock: Floats, sizes: Floats
) -> tuple[Floats, Arrays]:
    """Rows with sums of squared gradients, from those of before and of all shards, which added up weights for
    values as they are: `sizes` is what values are divided by now."""
    m, keys = learner.outputs, sums["keys"]
    penalties = np.round(clock[0]) // getattr(learner, "period", 1)  # of AdaGrad
    width = now["rows"].shape[1]
    before = aligned(now["keys"], now["rows"], keys)
    gain = sums["rows"][:, :m]
    some = gain > 0
    by = np.where(some, gain, 1.0)
    rows = np.zeros((len(keys), width))
    rows[:, :m] = np.where(some, sizes * sums["rows"][:, m : 2 * m] / by, before[:, :m])
    s = rows[:, roots : roots + m] = np.sqrt(before[:, roots : roots + m] ** 2 + gain)
    if learner.family == "ftrl":
        w, l1 = rows[:, :m], learner.l1
        z = np.clip(sums["rows"][:, 2 * m : 3 * m] / by, -l1, l1)
        moved = -w * ((learner.beta + s) / learner.alpha + learner.l2) - np.sign(w) * l1
        rows[:, m : 2 * m] = np.where(w != 0, moved, z)
    else:
        rows[:, -1] = penalties
    names: Arrays = {k: sums[k] for k in ("keys", "names", "name_offsets") if k in sums}
    rest = ~np.isin(now["keys"], keys)  # without a gradient in this round: it stays as it was
    if rest.any():
        old = now["rows"][rest]
        if learner.family != "ftrl":
            own, weights = learner._core.coefficients()
            old[:, :m] = aligned(own, weights, now["keys"][rest])
            old[:, -1] = penalties
        rows, names = np.vstack([rows, old]), joined_keys(names, named_rows(now, rest))
    return rows, names


def _marks(learner: Any, clock: Floats) -> tuple[Floats, Floats]:
    """The state of the rule, and how a row is marked that has missed nothing."""
    if learner.family == "elastic-net":
        return np.array([1.0, 0.0]), np.array([0.0])
    if learner.update == "subgradient":
        clock = np.concatenate([np.round(clock[:1]), clock[1:2], [1.0, 0.0]])
        return clock, clock[:2].copy()
    return np.array([np.round(clock[0]), 0.0]), np.array([0.0])
