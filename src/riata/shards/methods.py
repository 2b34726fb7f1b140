"""How each family is trained shard by shard: what a task begins with, what it adds up, what becomes of the sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import SettingsError
from riata.learners import FAMILIES, Learner
from riata.learners.base import Floats, State
from riata.shards.kept import KEYS, NAMES, Form

Arrays = dict[str, NDArray[Any]]


_SCALE = ("scale_keys", "scale_sums")
"""What feature_scale="rms" keeps of each feature."""


class Method(ABC):
    """A family of learners, as functions of arrays: tasks run anywhere, as often as they must."""

    exact = False
    """Whether the result is that of one machine, and not near it."""

    @abstractmethod
    def check(self, learner: Learner) -> None:
        """A SettingsError for parameters that shards cannot do."""

    @abstractmethod
    def begin(self, learner: Learner, beside: Arrays, round: int) -> Arrays:
        """What every task of this round begins with, from the model so far."""

    def start(self, parameters: dict[str, Any], state: Arrays, round: int, shards: int) -> Learner:
        """The learner of a task, one of so many."""
        family = FAMILIES[self.family]
        return family.from_state(parameters, state) if state else family(**from_json(parameters))

    @abstractmethod
    def sums(self, learner: Any, state: Arrays, rows: int) -> Arrays:
        """What the learner of a task has added up, beyond what it began with."""

    @abstractmethod
    def finish(self, learner: Any, sums: Arrays, rows: int, round: int) -> tuple[Learner, Arrays]:
        """The model after a round, and what is kept beside it for the next one."""

    def learn(self, learner: Learner, block: Block) -> Floats:
        return learner.learn(block)

    def complete(self, learner: Learner) -> bool:
        """Whether another round would change nothing."""
        return False

    def form(self, parameters: dict[str, Any], state: Arrays, round: int) -> Form:
        """How the tasks of a round read rows, and in which form they may be kept for the next one."""
        form = KEYS if parameters.get("store") == "hashed" else NAMES
        return Form(form, form)

    def needed(
        self, parameters: dict[str, Any], state: Arrays, blocks: Iterable[Block]
    ) -> tuple[Arrays, Iterable[Block]]:
        """Of what the task begins with, the features that its shard has; and its Blocks, again.

        A model of all features takes longer to make than a shard takes to learn. The shard is held in memory for it:
        shards are of bounded size.
        """
        if "keys" not in state or parameters.get("store") == "hashed":
            return state, blocks
        held = list(blocks)
        found = [np.unique(b.indices[b.indptr[0] : b.indptr[-1]]) for b in held]
        there = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
        kept = np.isin(state["keys"], there, assume_unique=True)
        own = state | {"rows": np.ascontiguousarray(state["rows"][kept])} | named_rows(state, kept)
        if "scale_keys" in state:
            kept = np.isin(state["scale_keys"], there, assume_unique=True)
            own |= {name: np.ascontiguousarray(state[name][kept]) for name in _SCALE}
        return own, held

    family: str = ""


def from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a learner as they were before JSON made lists of tuples."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in parameters.items()}


_MODULES = {
    "sketch": ("sketching", "SketchMethod"),
    "bayesian": ("gaussian", "BayesianMethod"),
    "auto": ("portfolio", "PortfolioMethod"),
    "bayesian-regression": ("regression", "RegressionMethod"),
    "auto-regression": ("regression", "RegressionMethod"),
    "elastic-net": ("mixing", "MixingMethod"),
    "truncated": ("mixing", "MixingMethod"),
    "ftrl": ("mixing", "MixingMethod"),
}


def method_of(family: str) -> Method:
    """How a family is trained; a SettingsError for one that cannot be."""
    if family not in _MODULES:
        raise SettingsError(
            f"method {family} cannot be trained by shards; those that can: {', '.join(_MODULES)}"
        )
    module, name = _MODULES[family]
    made: Method = getattr(import_module(f"riata.shards.{module}"), name)()
    made.family = family
    return made


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


def named_rows(state: State, kept: NDArray[np.bool_]) -> Arrays:
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


def in_order(sums: Arrays) -> Arrays:
    """The same with the rows of features by ascending key: those of many shards add up faster where all have one order.

    Of a sample, the examples know features by their places, which stay.
    """
    keys = sums.get("keys")
    if keys is None or "sample.0.limit" in sums or not (keys[1:] < keys[:-1]).any():
        return sums
    order = np.argsort(keys, kind="stable")
    sorted_ = sums | {"keys": keys[order], "rows": sums["rows"][order]}
    if "names" in sums:
        starts, lengths = sums["name_offsets"][:-1][order], np.diff(sums["name_offsets"])[order]
        offsets = np.zeros(len(order) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        at = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        sorted_ |= {"names": sums["names"][at], "name_offsets": offsets}
    return sorted_


def refuse(learner: Learner, name: str, value: Any) -> SettingsError:
    return SettingsError(
        f"method {learner.family} with {name}={value!r} cannot be trained by shards: leave it out"
    )
