"""The state of a sketch as arrays, and back: with the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riata import _core
from riata.learners.base import State
from riata.learners.sketch_passes import Passes
from riata.learners.sketch_points import ORIGIN, PathPoint, Point
from riata.learners.state_check import NAMES, Tensor, check_known, check_state

if TYPE_CHECKING:
    from riata.learners.sketch import Sketch

SUMS_WITHOUT_STEP = 13
"""Sums of a pass whose weights did not come by a step."""
HISTORY = ("pass", "gamma", "objective", "gap", "violation", "active", "support", "step")


def passes_state(run: Passes) -> State:
    """A run of passes as arrays."""
    sums = run.core.sums()
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
        "sums": np.array(sums.scalars),
        "gradient_keys": sums.keys,
        "gradient": sums.gradients,
        "fingerprint": np.array(seen, dtype=np.uint64),
        "history": np.array([list(h.values()) for h in run.history], dtype=np.float64).reshape(-1, 8),
        "path": np.array(
            [[p.gamma, p.intercept, p.objective, p.gap, p.passes, len(p.keys)] for p in run.path]
        ).reshape(-1, 6),
        "path_keys": np.concatenate([ORIGIN.keys, *(p.keys for p in run.path)]),
        "path_weights": np.concatenate([ORIGIN.weights, *(p.weights for p in run.path)]),
    }  # fmt: skip


PASSES = {
    "gammas": Tensor("float64", ("gammas",), least=0),
    "flags": Tensor("int64", (9,), least=0),
    "shortened": Tensor("float64", (1,), optional=True),
    "accepted_keys": Tensor("int64", ("k",), least=0),
    "accepted": Tensor("float64", ("k+2",), finite=False),  # the loss is NaN where it is not known
    "active": Tensor("int64", ("active",), least=0),
    "weights": Tensor("float64", ("slots",)),
    "curvature": Tensor("float64", ("cells",)),
    "sums": Tensor("float64", ("sums",)),
    "gradient_keys": Tensor("int64", ("g",), least=0),
    "gradient": Tensor("float64", ("g", 2)),
    "fingerprint": Tensor("uint64", (6,)),
    "history": Tensor("float64", ("passes", 8), finite=False),
    "path": Tensor("float64", ("path", 6), finite=False),
    "path_keys": Tensor("int64", ("p",), least=0),
    "path_weights": Tensor("float64", ("p",)),
}
ONLINE = {
    "keys": Tensor("int64", ("n",), least=-1),
    "vectors": Tensor("float64", ("n", 3)),
    "rows": Tensor("int64", ("cells",), least=0),
    "columns": Tensor("int64", ("cells",), least=0),
    "values": Tensor("float64", ("cells",)),
    "clock": Tensor("int64", (2,), least=0),
    "waiting_heads": Tensor("float64", ("waiting", "width")),
    "waiting_indptr": Tensor("int64", ("waiting+1",), least=0),
    "waiting_keys": Tensor("int64", ("entries",), least=-1),
    "waiting_values": Tensor("float32", ("entries",)),
}


COMMON = ("seen", "name_keys", "names", "name_offsets")
"""Tensors that belong to all outputs."""


def check_sketch(state: State, outputs: int) -> None:
    """What belongs to all outputs, and where each of them has features."""
    heads = ("sample.", "folds.", *(f"{c}." for c in range(outputs)))
    for name in state:
        if name not in COMMON and not name.startswith(heads):
            raise ValueError(f"tensor {name!r} has no place in such a model")
    check_state({"seen": state["seen"]}, {"seen": Tensor("int64", (2,), least=0)})
    features = int(state["seen"][1])
    if "name_keys" in state:
        table = {"name_keys": Tensor("int64", ("n",), least=0)} | NAMES
        named = {name: state[name] for name in table if name in state}
        check_state(named, table)
        if len(named) < len(table) or len(np.unique(state["name_keys"])) < len(state["name_keys"]):
            raise ValueError("the names of the features do not fit together")
        features = min(features, len(state["name_keys"]))
    for name, array in state.items():
        if name.endswith((".accepted_keys", ".path_keys", ".active", ".gradient_keys")) or (
            name.endswith(".keys") and array.dtype == np.int64
        ):
            check_known(array, features, name)


def restore_passes(run: Passes, state: State) -> None:
    """Put a run back to where `passes_state` was taken."""
    check_state(state, PASSES)
    sizes = state["path"][:, 5]
    if not ((sizes >= 0) & (sizes == np.floor(sizes))).all() or sizes.sum() != len(
        state["path_keys"]
    ):
        raise ValueError("the path and its weights do not fit together")
    if not np.isfinite(state["accepted"][[0, *range(2, len(state["accepted"]))]]).all():
        raise ValueError("tensor 'accepted' holds numbers that are not finite")
    for name in ("active", "support", "pass"):
        column = HISTORY.index(name)
        if not (np.abs(state["history"][:, column]) < 2.0**53).all():
            raise ValueError("tensor 'history' holds numbers that are not counts")
    if not (np.abs(state["path"][:, 4]) < 2.0**53).all():
        raise ValueError("tensor 'path' holds numbers that are not counts")
    flags = [int(f) for f in state["flags"]]
    asked = run.gammas
    run.gammas = [float(g) for g in state["gammas"]]
    if flags[0] >= max(1, len(run.gammas)) or (asked and asked != run.gammas):
        raise ValueError("tensor 'gammas' and parameter 'gamma' do not fit together")
    if len(state["weights"]) != len(state["active"]) + int(run.settings.fit_intercept):
        raise ValueError("tensors 'weights' and 'active' do not fit together")
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
    names = HISTORY
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
    curved = (
        run.settings.algorithm == "multipass" or not len(weights) or len(state["curvature"]) > 0
    )
    run.core.begin(state["active"], weights[first:], float(weights[0]) if first else 0.0, curved)
    if len(state["sums"]) > SUMS_WITHOUT_STEP and run.accepted is not None:
        start = run.accepted
        run.core.came_from(start.keys, start.weights, start.intercept)
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
    check_state(part, ONLINE)
    t, refreshed = (int(v) for v in part["clock"])
    core.restore(
        part["keys"], part["vectors"], part["rows"], part["columns"], part["values"], t, refreshed
    )
    core.set_waiting(
        part["waiting_heads"], part["waiting_indptr"], part["waiting_keys"], part["waiting_values"]
    )


def sketch_state(learner: Sketch) -> State:
    """A sketch with all its outputs as arrays."""
    state: State = {"seen": np.array(learner._seen, dtype=np.int64)}
    if len(learner._feature_index):
        names = ("name_keys", "names", "name_offsets")
        state |= dict(zip(names, learner._feature_index.arrays(), strict=True))
    if learner._passes and not learner.complete:
        state |= {f"sample.{name}": array for name, array in learner._sample.state().items()}
    for c in range(learner.outputs):
        part = (
            passes_state(learner._passes[c])
            if learner._passes
            else online_state(learner._online[c])
        )
        state |= {f"{c}.{name}": array for name, array in part.items()}
    if learner._folds is not None:
        state |= {f"folds.{name}": array for name, array in learner._folds.state().items()}
    return state


def restore_sketch(learner: Sketch, state: State) -> None:
    """Put a sketch back to where `sketch_state` was taken."""
    check_sketch(state, learner.outputs)
    learner._seen[:] = [int(n) for n in state["seen"]]
    if "name_keys" in state:
        learner._feature_index.translate(state["name_keys"], state["names"], state["name_offsets"])
    if "sample.limit" in state:
        learner._sample.restore(_part(state, "sample."))
    for c in range(learner.outputs):
        part = _part(state, f"{c}.")
        if learner._passes:
            restore_passes(learner._passes[c], part)
        else:
            restore_online(learner._online[c], part)
    if learner._folds is not None:
        learner._folds.restore(_part(state, "folds."))
    learner._scorer[0] = None


def _part(state: State, head: str) -> State:
    return {k.removeprefix(head): v for k, v in state.items() if k.startswith(head)}
