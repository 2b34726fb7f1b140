"""State by feature, as arrays: rows in another order, of some features, of two models; Gaussian ones as sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riata.learners.base import Floats, State


def aligned(keys: NDArray[np.int64], rows: Floats, wanted: NDArray[np.int64]) -> Floats:
    """The rows of these features; zeros for those that are not there."""
    out = np.zeros((len(wanted), rows.shape[1]))
    if not len(keys) or not len(wanted):
        return out
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    at = np.minimum(np.searchsorted(ordered, wanted), len(keys) - 1)
    there = ordered[at] == wanted
    out[there] = rows[order[at[there]]]
    return out


def named_rows(state: State, kept: NDArray[np.bool_]) -> State:
    """Keys, and names where there are some, of these rows."""
    if "names" not in state:
        return {"keys": np.ascontiguousarray(state["keys"][kept])}
    if kept.all():
        return {k: state[k] for k in ("keys", "names", "name_offsets")}
    lengths = np.diff(state["name_offsets"])
    bytes_kept = np.repeat(kept, lengths)
    offsets = np.zeros(int(kept.sum()) + 1, dtype=np.int64)
    np.cumsum(lengths[kept], out=offsets[1:])
    return {
        "keys": np.ascontiguousarray(state["keys"][kept]),
        "names": np.ascontiguousarray(state["names"][bytes_kept]),
        "name_offsets": offsets,
    }


def joined_keys(one: State, other: State) -> State:
    """Features of both, one behind the other."""
    if not other:
        return one
    joined = {"keys": np.concatenate([one["keys"], other["keys"]])}
    if "names" in one:
        offsets = one["name_offsets"]
        joined["names"] = np.concatenate([one["names"][: offsets[-1]], other["names"]])
        joined["name_offsets"] = np.concatenate([offsets, offsets[-1] + other["name_offsets"][1:]])
    return joined


def in_key_order(state: State) -> State:
    """The same with keys, rows and names by ascending key."""
    order = np.argsort(state["keys"], kind="stable")
    found = state | {"keys": state["keys"][order], "rows": state["rows"][order]}
    if "names" in state:
        starts, lengths = state["name_offsets"][:-1][order], np.diff(state["name_offsets"])[order]
        offsets = np.zeros(len(order) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        at = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        found |= {"names": state["names"][at], "name_offsets": offsets}
    return found


# Rows of a model are k means and the precision that was gained for each beyond its prior's.


def natural(rows: Floats, prior: Floats) -> Floats:
    """What was gained in precision, and precision times mean: these add up."""
    k = len(prior)
    gain = rows[:, k : 2 * k]
    return np.hstack([gain, (prior + gain) * rows[:, :k]])


def posterior(sums: Floats, prior: Floats) -> Floats:
    """The reverse."""
    k = len(prior)
    gain = sums[:, :k]
    return np.ascontiguousarray(np.hstack([sums[:, k:] / (prior + gain), gain]))
