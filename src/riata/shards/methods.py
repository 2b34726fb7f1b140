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
from riata.learners.base import Floats
from riata.learners.feature_rows import in_key_order, named_rows
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


def in_order(sums: Arrays) -> Arrays:
    """The same with the rows of features by ascending key: those of many shards add up faster where all have one order.

    Of a sample, the examples know features by their places, which stay.
    """
    keys = sums.get("keys")
    if keys is None or "sample.0.limit" in sums or not (keys[1:] < keys[:-1]).any():
        return sums
    return in_key_order(sums)


def refuse(learner: Learner, name: str, value: Any) -> SettingsError:
    return SettingsError(
        f"method {learner.family} with {name}={value!r} cannot be trained by shards: leave it out"
    )
