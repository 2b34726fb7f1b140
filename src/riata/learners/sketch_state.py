"""The state of a sketch as arrays, and back: with the same bits."""

from __future__ import annotations

import numpy as np

from riata import _core
from riata.learners.base import State
from riata.learners.sketch_passes import Passes
from riata.learners.sketch_points import ORIGIN, PathPoint, Point


def passes_state(run: Passes) -> State:
    """A run of passes as arrays."""
    scalars, keys, lanes = run.core.sums()
    done = run.accepted or ORIGIN
    seen = (*run.core.fingerprint, *(run.fingerprint or (0, 0, 0)))
    return {
        "gammas": np.array(run.gammas, dtype=np.float64),
        "flags": np.array(
            [run.at, run.passes, run.halvings, run.done, run.converged, run.needed,
             run.accepted is not None, run.fingerprint is not None, run.core.features],
            dtype=np.int64,
        ),
        "shortened": np.array([run.shortened]),
        "accepted_keys": done.keys,
        "accepted": np.array([done.intercept, done.loss, *done.weights]),
        "active": run.core.keys,
        "weights": run.core.weights,
        "curvature": run.core.curvature(),
        "sums": np.array(scalars),
        "gradient_keys": keys,
        "gradient": lanes,
        "fingerprint": np.array(seen, dtype=np.uint64),
        "history": np.array([list(h.values()) for h in run.history], dtype=np.float64).reshape(-1, 8),
        "path": np.array(
            [[p.gamma, p.intercept, p.objective, p.gap, p.passes, len(p.keys)] for p in run.path]
        ).reshape(-1, 6),
        "path_keys": np.concatenate([ORIGIN.keys, *(p.keys for p in run.path)]),
        "path_weights": np.concatenate([ORIGIN.weights, *(p.weights for p in run.path)]),
    }  # fmt: skip


def restore_passes(run: Passes, state: State) -> None:
    """Put a run back to where `passes_state` was taken."""
    run.gammas = [float(g) for g in state["gammas"]]
    flags = [int(f) for f in state["flags"]]
    run.at, run.passes, run.halvings = flags[:3]
    run.shortened = float(state["shortened"][0]) if "shortened" in state else 0.5**run.halvings
    run.done, run.converged, run.needed = bool(flags[3]), bool(flags[4]), flags[5]
    intercept, loss = (float(v) for v in state["accepted"][:2])
    if flags[6]:
        run.accepted = Point(state["accepted_keys"], state["accepted"][2:], intercept, loss)
    seen = [int(v) for v in state["fingerprint"]]
    if flags[7]:
        run.fingerprint = (seen[3], seen[4], seen[5])
    _restore_core(run, state, seen, flags[8])
    names = ("pass", "gamma", "objective", "gap", "violation", "active", "support", "step")
    whole = ("pass", "active", "support")
    run.history = [
        {k: int(v) if k in whole else float(v) for k, v in zip(names, row, strict=True)}
        for row in state["history"]
    ]
    start = 0
    for gamma, b0, objective, gap, passes, size in state["path"].tolist():
        part = slice(start, start + int(size))
        start += int(size)
        keys, weights = state["path_keys"][part], state["path_weights"][part]
        run.path.append(PathPoint(gamma, keys, weights, b0, objective, gap, int(passes)))


def _restore_core(run: Passes, state: State, seen: list[int], features: int) -> None:
    first = int(run.settings.fit_intercept)
    weights = state["weights"]
    run.core.begin(state["active"], weights[first:], float(weights[0]) if first else 0.0)
    run.core.set_curvature(state["curvature"])
    run.core.set_sums(state["sums"].tolist(), state["gradient_keys"], state["gradient"], features)
    run.core.fingerprint = (seen[0], seen[1], seen[2])


def online_state(core: _core.OnlineSketch) -> State:
    """An online sketch as arrays."""
    rows, columns, values = core.triples()
    heads, indptr, keys, entries = core.waiting()
    return {
        "keys": core.keys,
        "vectors": core.vectors(),
        "rows": rows,
        "columns": columns,
        "values": values,
        "clock": np.array([core.t, core.refreshed], dtype=np.int64),
        "waiting_heads": heads,
        "waiting_indptr": indptr,
        "waiting_keys": keys,
        "waiting_values": entries,
    }


def restore_online(core: _core.OnlineSketch, part: State) -> None:
    """Put an online sketch back to where `online_state` was taken."""
    t, refreshed = (int(v) for v in part["clock"])
    core.restore(
        part["keys"], part["vectors"], part["rows"], part["columns"], part["values"], t, refreshed
    )
    core.set_waiting(
        part["waiting_heads"], part["waiting_indptr"], part["waiting_keys"], part["waiting_values"]
    )
