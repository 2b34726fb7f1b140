"""What a model is, in a page: how it was made, how much of it is alive, what counts most."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.explain import summary_text
from riata.explain.values import Values
from riata.explain.weights import WeightTable, read_weights
from riata.learners.base import decoded
from riata.record import Model
from riata.schema import Schema
from riata.show import printable

MOST_GROUPS = 1000
"""More namespaces or columns are not told apart."""
NOT_SHOWN = ("outputs",)


@dataclass(frozen=True)
class Wanted:
    """Which features are shown."""

    top: int = 10
    grep: str | None = None
    """A regular expression that names must match somewhere."""
    namespace: str | None = None
    sides: bool = True
    """Of one output, also those for it and those against it."""

    @property
    def narrowed(self) -> bool:
        return self.grep is not None or self.namespace is not None


class Summary(Values):
    """What `summary` says."""

    for_terminal, as_html = summary_text.for_terminal, summary_text.as_html

    def __repr__(self) -> str:
        return f"<summary of a model of {self['family']}: {self['weights']}>"


def summary(
    model: Model,
    wanted: Wanted | None = None,
    about: Mapping[str, Any] | None = None,
    names: tuple[Any, Any, Any] | None = None,
) -> Summary:
    """All there is to say of a model; `about` is what is known of its file.

    `names` are keys and names as a file has them: to ask the model for a million of them takes as long as to read it.
    """
    wanted = wanted or Wanted()
    learner, record = model.learner, model.record
    with learner.lock:
        table = read_weights(model)
        live = int(np.count_nonzero(table.weights))
        values: dict[str, Any] = {
            **(about or {}),
            "family": learner.family,
            "task": learner.task,
            "classes": None if model.classes is None else model.labels,
            "schema": None if model.schema is None else model.schema.to_json(),
            "parameters": learner.parameters(),
            "changed": changed_parameters(learner),
            "data": record.data,
            "earlier": record.earlier,
            "merged": record.merged,
            "examples": learner.t,
            "passes": record.passes,
            "loss": model.loss_name,
            "loss_in_words": model.loss_in_words,
            "progressive_loss": record.progressive_loss,
            "loss_after_first": record.loss_after_first.value,
            "constant_loss": model.constant_loss,
            "holdout": record.holdout,
            "interrupted": record.interrupted,
            "verdict": learner.verdict,
            "features": int(learner.n_features),
            "live_features": len(table),
            "live_weights": live,
            "weights": model.weights_in_words(live, len(table)),
        }
        return Summary(values | _strongest(model, table, wanted, names) | _of_family(learner))


def changed_parameters(learner: Any) -> dict[str, Any]:
    """Those that are not as they are by default."""
    known = {f.name for f in fields(learner) if f.init}
    given = {name: getattr(learner, name) for name in ("loss", "update") if name in known}
    try:
        chosen = type(learner)(**given).parameters()
        blank = type(learner)().parameters()
    except (TypeError, ValueError):
        return {k: v for k, v in learner.parameters().items() if k not in NOT_SHOWN}
    values = learner.parameters()
    return {
        name: value
        for name, value in values.items()
        if name not in NOT_SHOWN and value != (blank if name in given else chosen)[name]
    }


def _of_family(learner: Any) -> dict[str, Any]:
    """Which settings or components are averaged, and what calibration has come to."""
    found: dict[str, Any] = {}
    if learner.family == "auto":
        found["settings"] = sorted(learner.members, key=lambda m: -m["weight"])
        found["cost_of_single"] = learner.cost_of_single
    if learner.family == "bayesian" and len(learner.components) > 1:
        shares = learner.evidence.mean(axis=0).tolist()
        parts = [
            {"values": view, "prior_variance": variance, "weight": share}
            for (view, variance), share in zip(learner.components, shares, strict=True)
        ]
        found["components"] = sorted(parts, key=lambda part: -part["weight"])
    if getattr(learner, "calibrates", False) and hasattr(learner, "correction"):
        found["calibration"] = learner.correction.tolist()
    return found


def _strongest(model: Model, table: WeightTable, wanted: Wanted, known: Any) -> dict[str, Any]:
    """The intercept, the groups of features, and the features whose weights are largest.

    Weights of columns that are scaled are compared as they were learned, and shown for numbers as the data has them.
    """
    original = table.original()
    names = _names(table, known) if table.named else None
    codes, called, groups = (None, [], []) if names is None else _groups(model, table, names)
    places = _chosen(table, wanted, names, codes, called)
    found: dict[str, Any] = {
        "intercept": original.intercept.tolist(),
        "intercept_std": _listed(table.intercept_deviations),
        "groups": groups,
        "matching": len(places) if wanted.narrowed else None,
    }
    if table.weights.shape[1] > 1:
        sizes = np.abs(table.weights[places]).max(axis=1, initial=0.0)
        return found | {"strongest": _entries(original, _largest(places, sizes, wanted.top))}
    column = table.weights[:, 0] if len(places) == len(table) else table.weights[places, 0]
    sides = (np.maximum(column, 0.0), np.minimum(column, 0.0))
    row = np.array([0, len(places)])
    best = [places[_core.strongest_entries(row, side, wanted.top)[1]] for side in sides]
    both = np.concatenate(best)
    top = _largest(both, np.abs(table.weights[both, 0]), wanted.top)
    found["strongest"] = _entries(original, top)
    if wanted.sides:
        found |= {"for": _entries(original, best[0]), "against": _entries(original, best[1])}
    return found


def _names(table: WeightTable, known: Any) -> Any:
    """The names of all features, from where they are at hand in the same order."""
    if known is not None and np.array_equal(known[0], table.keys):
        return np.ascontiguousarray(known[1]), np.ascontiguousarray(known[2])
    return table.raw_names()


def _listed(values: Any) -> Any:
    return None if values is None else values.tolist()


def _largest(places: NDArray[np.int64], sizes: Any, top: int) -> NDArray[np.int64]:
    """The places with the largest sizes, in falling order; of equals those with the smaller keys first."""
    if top < len(sizes):
        if top == 0:
            return places[:0]
        least = np.partition(sizes, len(sizes) - top)[len(sizes) - top]
        kept = np.flatnonzero(sizes >= least)
        places, sizes = places[kept], sizes[kept]
    return places[np.lexsort((places, -sizes))][:top]


def _entries(table: WeightTable, places: NDArray[np.int64]) -> list[dict[str, Any]]:
    weights = table.weights[places].tolist()
    deviations = _listed(None if table.deviations is None else table.deviations[places])
    found = []
    for i, feature in enumerate(table.features(places)):
        entry = {"feature": feature, "weights": weights[i]}
        found.append(entry if deviations is None else entry | {"std": deviations[i]})
    return found


def _groups(
    model: Model, table: WeightTable, names: Any
) -> tuple[NDArray[np.int32], list[str], list[dict[str, Any]]]:
    """The namespace or column of each feature, as a number; what these are called; how many weights each has."""
    columns = [c.name for c in (model.schema or Schema()).features]
    codes, found = _core.name_groups(names[0], names[1], columns, MOST_GROUPS)
    single = table.weights.shape[1] == 1
    sizes = np.abs(table.weights[:, 0]) if single else np.abs(table.weights).sum(axis=1)
    shifted = codes + 1  # -1, of too many groups, becomes 0
    many = len(found) + 1
    features = np.bincount(shifted, minlength=many)
    total = np.bincount(shifted, sizes, minlength=many)
    weights: Any = features  # there is no feature without a weight
    if not single:
        weights = np.bincount(shifted, np.count_nonzero(table.weights, axis=1), minlength=many)
    called = [name.decode("utf-8", "replace") for name in found]
    groups = [
        {"group": name, "features": int(f), "weights": int(w), "sum": float(s)}
        for name, f, w, s in zip(["(others)", *called], features, weights, total, strict=True)
        if f
    ]
    return codes, called, sorted(groups, key=lambda g: (-g["weights"], g["group"]))


def _chosen(
    table: WeightTable, wanted: Wanted, names: Any, codes: Any, called: list[str]
) -> NDArray[np.int64]:
    """The features that are asked for."""
    places = np.arange(len(table))
    if not wanted.narrowed:
        return places
    if names is None:
        raise ValueError(
            "features of this model have numbers, not names: there is nothing to match"
        )
    if wanted.namespace is not None:
        if wanted.namespace not in called:
            shown = ", ".join(repr(printable(name, 40)) for name in called[1:11])
            raise ValueError(f"no feature is in {wanted.namespace!r}; there are {shown or 'none'}")
        places = np.flatnonzero(codes == called.index(wanted.namespace))
    if wanted.grep is not None:
        try:
            pattern = re.compile(wanted.grep)
        except re.error as error:
            raise ValueError(f"{wanted.grep!r} is no regular expression: {error}") from None
        texts = decoded(*names)
        kept = [i for i in places.tolist() if pattern.search(texts[i])]
        places = np.array(kept, dtype=np.int64)
    return places
