"""Bayesian models from state: checked, merged, taken for a prior, collapsed, sparse, wider; and samples.

Functions of a learner's state. A row holds planes of columns: mean and precision, both less the prior's; with
priors of its own, these too, less the common one; then, where evidence fades, the time of its last touch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.learners import bayesian_calibration as calibration
from riata.learners import bayesian_mixture as mixture
from riata.learners.base import State
from riata.learners.state_check import NAMES, SCALE_STATE, Arrays, Tensor, check_known, check_state

if TYPE_CHECKING:
    from riata.learners.bayesian import Bayesian

Floats = NDArray[np.float64]

PRIOR = ("prior_variance", "prior_mean", "intercept_variance", "value", "link", "half_life", "outputs",
         "fit_intercept", "covariance")  # fmt: skip
"""What two models must have in common to be merged."""
STATE = {
    "keys": Tensor("int64", ("n",), least=0),
    "rows": Tensor("float64", ("n", "width")),
    "intercept": Tensor("float64", ("intercept",)),
    "seen": Tensor("int64", (2,), least=0),
} | NAMES
INTERCEPT_KEY = (1 << 63) - 1
"""With a full covariance the intercept is one of the rows."""


def check_tensors(learner: Bayesian, state: Arrays) -> None:
    """Raise a ValueError for the first tensor that cannot be of this learner."""
    own = {"log_evidence": Tensor("float64", (learner.outputs * learner.shape.components,))}
    if learner.calibrates:
        own["calibration"] = Tensor("float64", calibration.blank(learner.outputs).shape)
    check_state(state, STATE | own | ({} if learner.feature_scale == "none" else SCALE_STATE))
    if "names" not in state and learner.store != "hashed":
        keys = state["keys"]
        check_known(keys[keys != INTERCEPT_KEY], int(state["seen"][1]))


@dataclass
class Planes:
    """Rows taken apart, current: (n, columns) each."""

    mean: Floats
    precision: Floats
    own_mean: Floats | None
    own_precision: Floats | None

    def joined(self, mark: float | None) -> Floats:
        """Back to rows."""
        parts = [self.mean, self.precision]
        if self.own_mean is not None and self.own_precision is not None:
            parts += [self.own_mean, self.own_precision]
        if mark is not None:
            parts.append(np.full((len(self.mean), 1), mark))
        return np.ascontiguousarray(np.hstack(parts))


def _columns(learner: Bayesian) -> int:
    return learner.shape.outputs * learner.shape.components


def _common(learner: Bayesian, intercept: bool) -> Floats:
    """The common prior's precision in each column."""
    if intercept:
        return np.full(_columns(learner), 1 / learner.intercept_variance)
    repeats = _columns(learner) // len(learner.prior_variances)
    return 1 / np.tile(learner.prior_variances, repeats)


def _planes(learner: Bayesian, rows: Floats, intercept: bool = False) -> Planes:
    k = _columns(learner)
    own = rows.shape[1] >= 4 * k
    parts = Planes(
        rows[:, :k].copy(),
        rows[:, k : 2 * k].copy(),
        rows[:, 2 * k : 3 * k].copy() if own else None,
        rows[:, 3 * k : 4 * k].copy() if own else None,
    )
    if learner.half_life is not None:
        keep = np.exp2((rows[:, -1:] - learner.t) / learner.half_life)
        prior = _prior(learner, parts, intercept)
        before = prior + parts.precision
        parts.precision *= keep
        parts.mean *= keep * before / (prior + parts.precision)
    return parts


def _prior(learner: Bayesian, parts: Planes, intercept: bool) -> Floats:
    common = np.broadcast_to(_common(learner, intercept), parts.mean.shape)
    return common if parts.own_precision is None else common + parts.own_precision


def _no_full(learner: Bayesian, what: str) -> None:
    if learner.covariance == "full":
        raise ValueError(f"a model with covariance='full' cannot be {what}")


# Merging


def merged(a: Bayesian, b: Bayesian) -> State:
    """The state of the two together."""
    _no_full(a, "merged")
    if "rms" in (a.feature_scale, b.feature_scale):
        raise ValueError(
            "models with feature_scale='rms' cannot be merged: they have seen the same value in different units; "
            "learn with feature_scale='none'"
        )
    for name in PRIOR:
        if a.parameters()[name] != b.parameters()[name]:
            raise ValueError(
                f"models with different priors cannot be merged: {name}={a.parameters()[name]!r} "
                f"and {b.parameters()[name]!r}"
            )
    if a.calibrates != b.calibrates:
        raise ValueError("a model with calibrate and one without cannot be merged")
    if a._core.row_width != b._core.row_width or (a.store, a.bits) != (b.store, b.bits):
        raise ValueError("models with different priors or stores cannot be merged")
    one, two = a.state(), b.state()
    if ("names" in one) != ("names" in two) and len(one["keys"]) and len(two["keys"]):
        raise ValueError("a model of named and one of numbered features cannot be merged")
    t = float(a.t + b.t)
    mark = None if a.half_life is None else t
    keys = np.union1d(one["keys"], two["keys"])
    spread = [_spread(m, s, keys) for m, s in ((a, one), (b, two))]
    at_zero = [_planes(m, s["intercept"][None], True) for m, s in ((a, one), (b, two))]
    state: State = {
        "keys": keys,
        "rows": _sum(a, False, *spread).joined(mark),
        "intercept": _sum(a, True, *at_zero).joined(mark)[0],
        "seen": np.array([t, max(a._core.features, b._core.features)], dtype=np.int64),
    }
    evidence = (one["log_evidence"] + two["log_evidence"]).reshape(a.outputs, -1)
    state["log_evidence"] = (evidence - evidence.max(axis=1, keepdims=True)).ravel()
    if a.calibrates:
        state["calibration"] = one["calibration"] + two["calibration"]
    if "names" in one or "names" in two:
        state |= _names_of(keys, one, two)
    return state


def _spread(learner: Bayesian, state: State, keys: NDArray[np.int64]) -> Planes:
    """The model's rows at the places of all keys; where it has none, NaN for its own prior, else zero."""
    parts = _planes(learner, state["rows"])
    at = np.searchsorted(keys, state["keys"])

    def placed(plane: Floats | None, empty: float) -> Floats | None:
        if plane is None:
            return None
        out = np.full((len(keys), plane.shape[1]), empty)
        out[at] = plane
        return out

    mean, precision = placed(parts.mean, 0.0), placed(parts.precision, 0.0)
    assert mean is not None
    assert precision is not None
    return Planes(
        mean, precision, placed(parts.own_mean, np.nan), placed(parts.own_precision, np.nan)
    )


def _sum(learner: Bayesian, intercept: bool, one: Planes, two: Planes) -> Planes:
    own_mean = _same(one.own_mean, two.own_mean)
    own_precision = _same(one.own_precision, two.own_precision)
    total = Planes(one.mean, one.precision + two.precision, own_mean, own_precision)
    prior = _prior(learner, total, intercept)
    pull = (prior + one.precision) * one.mean + (prior + two.precision) * two.mean
    total.mean = pull / (prior + total.precision)
    return total


def _same(one: Floats | None, two: Floats | None) -> Floats | None:
    if one is None or two is None:
        return None
    if not np.all((one == two) | np.isnan(one) | np.isnan(two)):
        raise ValueError("models with different priors cannot be merged: a feature has two of them")
    return np.where(np.isnan(one), two, one)


def _names_of(keys: NDArray[np.int64], one: State, two: State) -> State:
    known: dict[int, bytes] = {}
    for state in (one, two):
        if "names" in state:
            text, offsets = state["names"].tobytes(), state["name_offsets"].tolist()
            for i, key in enumerate(state["keys"].tolist()):
                known[key] = text[offsets[i] : offsets[i + 1]]
    return _name_arrays([known[key] for key in keys.tolist()])


def _name_arrays(names: list[bytes]) -> State:
    offsets = np.cumsum([0, *map(len, names)]).astype(np.int64)
    return {"names": np.frombuffer(b"".join(names), dtype=np.uint8), "name_offsets": offsets}


# One model from one


def as_prior(learner: Bayesian) -> State:
    """What was learned becomes each row's own prior."""
    _no_full(learner, "taken for a prior")
    state = learner.state()

    def turned(rows: Floats, intercept: bool) -> Floats:
        parts = _planes(learner, rows, intercept)
        own_mean = parts.mean if parts.own_mean is None else parts.own_mean + parts.mean
        own = (
            parts.precision
            if parts.own_precision is None
            else parts.own_precision + parts.precision
        )
        zero = np.zeros_like(parts.mean)
        return Planes(zero, zero, own_mean, own).joined(None if learner.half_life is None else 0.0)

    state["rows"] = turned(state["rows"], False)
    state["intercept"] = turned(state["intercept"][None], True)[0]
    state["seen"] = np.array([0, learner._core.features], dtype=np.int64)
    return state


def _cut(learner: Bayesian, rows: Floats, columns: NDArray[np.intp]) -> Floats:
    k = _columns(learner)
    planes = rows.shape[1] // k
    wanted = np.concatenate([plane * k + columns for plane in range(planes)])
    rest = np.arange(planes * k, rows.shape[1])
    return np.ascontiguousarray(rows[:, np.concatenate([wanted, rest])])


def collapsed(learner: Bayesian) -> tuple[dict[str, Any], State]:
    """Parameters and state of the best component alone."""
    _no_full(learner, "collapsed")
    evidence = np.array(learner._core.log_evidence).reshape(learner.outputs, -1)
    best = int(evidence.sum(axis=0).argmax())
    view, variance = learner.components[best]
    parameters = learner.parameters() | {"value": view, "calibrate": learner.calibrates}
    if len(learner.prior_variances) > 1:
        parameters["prior_variance"] = variance
    columns, state = learner.shape.columns_of(best), learner.state()
    state["rows"] = _cut(learner, state["rows"], columns)
    state["intercept"] = _cut(learner, state["intercept"][None], columns)[0]
    state["log_evidence"] = np.zeros(learner.outputs)
    return parameters, state


def sparse(learner: Bayesian, z: float) -> tuple[dict[str, Any], State]:
    """Parameters and state of the features that are sure to matter."""
    _no_full(learner, "made sparse")
    _, means, variances = learner.posterior()
    mean, std = mixture.mean_and_std(means, variances, learner.evidence)
    kept = (np.abs(mean) > z * std).any(axis=1)
    state = learner.state()
    state["keys"], state["rows"] = state["keys"][kept], np.ascontiguousarray(state["rows"][kept])
    if "names" in state:
        text, offsets = state["names"].tobytes(), state["name_offsets"].tolist()
        state |= _name_arrays([text[offsets[i] : offsets[i + 1]] for i in np.flatnonzero(kept)])
    if learner.feature_scale == "rms":
        seen = np.isin(state["scale_keys"], state["keys"])
        state |= {name: np.ascontiguousarray(state[name][seen]) for name in SCALE_STATE}
    return learner.parameters() | {"unseen": "ignore"}, state


@dataclass(frozen=True)
class Sparsified:
    """A smaller model, and what it costs."""

    learner: Bayesian
    kept: int
    dropped: int
    loss_before: float | None = None
    """Mean log loss on the given data, of the model as it was."""
    loss: float | None = None
    """Likewise, of the smaller one."""


def report(before: Bayesian, after: Bayesian, blocks: Iterable[Block] | None) -> Sparsified:
    kept = len(after._core.rows()[0])
    dropped = len(before._core.rows()[0]) - kept
    if blocks is None:
        return Sparsified(after, kept, dropped)
    old = new = examples = 0.0
    for block in blocks:
        if block.labels is None:
            raise ValueError("to say what it costs takes blocks with labels")
        old += float(before.losses(before.score(block), block.labels).sum())
        new += float(after.losses(after.score(block), block.labels).sum())
        examples += len(block)
    if examples == 0:
        raise ValueError("to say what it costs takes at least one example")
    return Sparsified(after, kept, dropped, old / examples, new / examples)


def widened(learner: Bayesian, outputs: int) -> tuple[dict[str, Any], State]:
    """Parameters and state with more outputs; a single one becomes those of classes 0 and 1, mirrored."""
    _no_full(learner, "widened")
    shape, k = learner.shape, _columns(learner)

    def wide(rows: Floats) -> Floats:
        planes = rows.shape[1] // k
        parts = []
        for plane in range(planes):
            old = rows[:, plane * k : (plane + 1) * k]
            old = old.reshape(-1, shape.views, shape.outputs, shape.priors)
            if shape.outputs == 1:
                shift = (
                    -2 * learner.prior_mean * (np.abs(rows).sum(axis=1) > 0) if plane == 0 else 0.0
                )
                other = -old + np.reshape(shift, (-1, 1, 1, 1)) if plane % 2 == 0 else old
                old = np.concatenate([other, old], axis=2)
            grown = np.zeros((len(rows), shape.views, outputs, shape.priors))
            grown[:, :, : old.shape[2]] = old
            parts.append(grown.reshape(len(rows), shape.views * outputs * shape.priors))
        return np.ascontiguousarray(np.hstack([*parts, rows[:, planes * k :]]))

    state = learner.state()
    state["rows"] = wide(state["rows"])
    state["intercept"] = wide(state["intercept"][None])[0]
    evidence = state["log_evidence"].reshape(shape.outputs, -1)
    if shape.outputs == 1:
        evidence = np.vstack([evidence, evidence])
    grown = np.zeros((outputs, shape.components))
    grown[: len(evidence)] = evidence
    state["log_evidence"] = grown.ravel()
    if learner.calibrates:
        state["calibration"] = calibration.mirrored(state["calibration"], outputs)
    return learner.parameters() | {"outputs": outputs}, state


def sample(
    learner: Bayesian, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Draw n times: a component for each output by its evidence, then every weight from it."""
    keys, means, variances = learner.posterior()
    at_zero, spread = learner.intercept_posterior()
    weights = np.empty((n, learner.outputs, len(keys)))
    intercepts = np.empty((n, learner.outputs))
    for o in range(learner.outputs):
        chosen = rng.choice(learner.shape.components, size=n, p=learner.evidence[o])
        intercepts[:, o] = rng.normal(at_zero[o, chosen], np.sqrt(spread[o, chosen]))
        weights[:, o] = rng.normal(means[:, o, chosen].T, np.sqrt(variances[:, o, chosen]).T)
    return keys, weights, intercepts
