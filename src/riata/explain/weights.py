"""The weights of a model at one moment, with what is needed to read them: names, deviations, the original scale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import take_names
from riata.learners import Learner
from riata.learners.base import decoded
from riata.record import Model
from riata.schema import Column, Schema

Floats = NDArray[np.float64]
Keys = NDArray[np.int64]
RawNames = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""UTF-8 of all names one behind another, and where each begins."""


@dataclass
class WeightTable:
    """Weights that are not zero, in the order of their keys, as they were learned.

    A scaled column's weight is for its scaled numbers; `original` turns all into those for numbers as they stand in
    the data.
    """

    keys: Keys
    weights: Floats
    """(features, outputs)"""
    deviations: Floats | None
    """The standard deviation of each weight, where the family has one."""
    intercept: Floats
    intercept_deviations: Floats | None
    named: bool
    first: int
    """What text calls the first numbered feature."""
    scaled: list[tuple[int, Column]]
    """Where columns stand whose numbers are scaled."""
    learner: Learner = field(repr=False)

    def __len__(self) -> int:
        return len(self.keys)

    def raw_names(self, places: Keys | None = None) -> RawNames | None:
        """The names of the features at these places, or of all."""
        if not self.named:
            return None
        return raw_names(self.learner, self.keys if places is None else self.keys[places])

    def features(self, places: Keys) -> list[str] | list[int]:
        """What the features at these places are called: names, or numbers as the text has them."""
        names = self.raw_names(places)
        if names is None:
            numbers: list[int] = (self.keys[places] + self.first).tolist()
            return numbers
        return decoded(*names)

    def original(self) -> WeightTable:
        """The same for numbers as they stand in the data."""
        if not self.scaled:
            return self
        places = np.array([place for place, _ in self.scaled])
        scale = np.array([column.scale for _, column in self.scaled])[:, None]
        centre = np.array([column.centre for _, column in self.scaled])
        weights = self.weights.copy()
        weights[places] /= scale
        deviations = None if self.deviations is None else self.deviations.copy()
        if deviations is not None:
            deviations[places] /= scale
        return WeightTable(
            self.keys, weights, deviations, self.intercept - centre @ weights[places], None,
            self.named, self.first, [], self.learner,
        )  # fmt: skip


def read_weights(model: Model) -> WeightTable:
    """The weights of a model as they are now."""
    learner: Any = model.learner
    schema = model.schema or Schema()
    has_deviations = hasattr(learner, "coef_std")
    with learner.lock:
        keys, weights = learner.coef()
        deviations = learner.coef_std() if has_deviations else None
        intercept = learner.intercept
        about_intercept = learner.intercept_std if has_deviations else None
        named = has_names(learner)
        return WeightTable(
            keys, weights, deviations, intercept, about_intercept, named, schema.base or 0,
            scaled_columns(learner, schema, keys), learner,
        )  # fmt: skip


def scaled_columns(
    learner: Learner, schema: Schema, keys: Keys, hashed: bool = False
) -> list[tuple[int, Column]]:
    """Columns whose numbers are scaled and that have a weight, and where it stands among the keys.

    In a hashed store a weight may belong to others as well: there are none, unless `hashed`.
    """
    columns = [c for c in schema.features if c.kind == "number" and c.is_changed]
    if not columns or not schema.named or not (hashed or has_names(learner)):
        return []
    wanted = keys_of(learner, [column.name for column in columns])
    places = np.searchsorted(keys, wanted)
    return [
        (place, column)
        for place, key, column in zip(places.tolist(), wanted.tolist(), columns, strict=True)
        if place < len(keys) and keys[place] == key
    ]


def has_names(learner: Learner) -> bool:
    """Whether the model knows the names of its features."""
    return learner.names(np.empty(0, dtype=np.int64)) is not None


def name_keys(learner: Learner, names: list[str]) -> Keys:
    """The keys of these names in Blocks."""
    encoded = [name.encode() for name in names]
    text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    return np.asarray(_core.keys_of_names(text, offsets, learner.hash_key), dtype=np.int64)


def keys_of(learner: Any, names: list[str]) -> Keys:
    """The keys of these names in `coef`; -1 where there is none."""
    return keys_in_model(learner, name_keys(learner, names))


def keys_in_model(learner: Any, keys: NDArray[Any]) -> Keys:
    """Keys in Blocks as the model has them: its own numbers, rows of a hashed store, or the same."""
    index = getattr(learner, "_feature_index", None)
    if index is not None and len(index):
        wide = np.ascontiguousarray(keys, dtype=np.int64)
        return np.asarray(index.translate(wide, None, None), dtype=np.int64)
    if getattr(learner, "_kept_in", "") == "hashed":
        return np.asarray(_core.hashed_places(np.ascontiguousarray(keys), int(learner.bits)))
    return np.asarray(keys, dtype=np.int64)


def raw_names(learner: Any, keys: Keys) -> RawNames:
    """The names of these features of a model that knows them."""
    index = getattr(learner, "_feature_index", None)
    if index is not None:
        _, text, offsets = index.arrays()
        return take_names(text, offsets, keys)
    core = learner._core
    if hasattr(core, "names"):
        text, offsets = core.names(np.ascontiguousarray(keys))
        return text, offsets
    state = core.snapshot()
    order = np.argsort(state["keys"], kind="stable")
    places = order[np.searchsorted(state["keys"], keys, sorter=order)]
    return take_names(state["names"], state["name_offsets"], places)
