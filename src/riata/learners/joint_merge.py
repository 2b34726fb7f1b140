"""Settings of `auto` that learn all weights together, of two models: what each has gained in precision adds up.

With the same features this is exact where the update is (regression), whatever the units of the two: a change of units
is one of the prior alone. A feature that one model has never met was zero there, which is no evidence. Where it has met
it and these settings have not, nobody knows what it would have said, and they end.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from riata.learners.base import Floats, State
from riata.learners.feature_rows import aligned
from riata.learners.joint import INTERCEPT, LANES, prior_variances

MOST, LEAST = 128, 8
"""So many features are seen by a model of one output, and of very many."""


def merged_joint(
    one: State, two: State, outputs: int, priors: tuple[float, ...], intercept_variance: float
) -> State:
    """The tensors of both; none where these settings have ended, or must."""
    if "joint_keys" not in one or "joint_keys" not in two:
        return {}
    keys = np.union1d(one["joint_keys"], two["joint_keys"])
    if len(keys) > max(LEAST, int(MOST / math.sqrt(outputs))):
        return {}
    for state in (one, two):
        missed = np.setdiff1d(keys, state["joint_keys"])
        if np.isin(missed, state["keys"]).any() or INTERCEPT in missed:
            return {}
    units = _units(keys, one, two)
    variances = prior_variances(keys, units, priors, intercept_variance)
    n = len(keys)
    found: State = {
        "joint_keys": keys,
        "joint_units": units,
        "joint_means": np.zeros((outputs * n, LANES)),
        "joint_variances": np.zeros((outputs * n, LANES)),
        "joint_factors": np.zeros((outputs * n * (n - 1) // 2, LANES)),
        "joint_seen": one["joint_seen"] + two["joint_seen"],
    }
    for output, lane in product(range(outputs), range(LANES)):
        precision, pull = np.zeros((n, n)), np.zeros(n)
        for state in (one, two):
            own = prior_variances(
                state["joint_keys"], state["joint_units"], priors, intercept_variance
            )
            gained, moved = _evidence(state, output, lane, own[:, lane])
            at = np.searchsorted(keys, state["joint_keys"])
            precision[np.ix_(at, at)] += gained
            pull[at] += moved
        try:
            _put(found, output, lane, precision + np.diag(1 / variances[:, lane]), pull)
        except np.linalg.LinAlgError:
            return {}
    return found


def _units(keys: NDArray[np.int64], one: State, two: State) -> Floats:
    """The unit of each feature: the larger one, unless the mean square of all values is far from it."""
    each = [aligned(state["keys"], state["rows"][:, :2], keys) for state in (one, two)]
    sums = each[0] + each[1]
    mean = np.where(keys == INTERCEPT, 0.5, sums[:, 1] / np.maximum(sums[:, 0], 1))
    unit = np.ldexp(1.0, np.clip(np.frexp(mean)[1], -1000, 1000))
    each = [aligned(s["joint_keys"], s["joint_units"][:, None], keys)[:, 0] for s in (one, two)]
    now = np.maximum(*each)
    return np.asarray(np.where((unit > 2 * now) | (unit < now / 4), unit, now))


def _evidence(state: State, output: int, lane: int, prior: Floats) -> tuple[Floats, Floats]:
    """What was gained in precision beyond the priors of these variances, and precision times mean."""
    n = len(state["joint_keys"])
    factors = _triangle(state["joint_factors"][:, lane], output, n)
    of = slice(output * n, (output + 1) * n)
    back = np.linalg.inv(factors)
    precision = back.T @ (back / state["joint_variances"][of, lane][:, None])
    return precision - np.diag(1 / prior), precision @ state["joint_means"][of, lane]


def _triangle(column: Floats, output: int, n: int) -> Floats:
    """Upper, with ones on the diagonal, from numbers column by column."""
    below = np.eye(n)
    size = n * (n - 1) // 2
    below[np.tril_indices(n, -1)] = column[output * size : (output + 1) * size]
    return below.T


def _put(found: State, output: int, lane: int, precision: Floats, pull: Floats) -> None:
    """Mean and covariance, as U D U' with U upper triangular and ones on its diagonal. May raise a LinAlgError."""
    n = len(pull)
    scale = 1 / np.sqrt(np.diag(precision))
    lower = np.linalg.cholesky(scale[:, None] * precision * scale)
    root = scale[:, None] * np.linalg.inv(lower).T  # root times its transpose is the covariance
    size, of = n * (n - 1) // 2, slice(output * n, (output + 1) * n)
    found["joint_means"][of, lane] = root @ (root.T @ pull)
    found["joint_variances"][of, lane] = np.diag(root) ** 2
    found["joint_factors"][output * size : (output + 1) * size, lane] = (root / np.diag(root)).T[
        np.tril_indices(n, -1)
    ]
