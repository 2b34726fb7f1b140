"""What families share that put two models together: whether they go together, features of both, sums of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from riata.learners.base import Floats, State
from riata.learners.feature_rows import in_key_order, joined_keys, named_rows


def check_alike(a: Any, b: Any) -> None:
    """A ValueError that names what differs in two learners that are to be merged."""
    if type(a) is not type(b):
        raise ValueError(f"models of {a.family} and of {b.family} cannot be merged")
    ours, theirs = a.parameters(), b.parameters()
    for name in ours:
        if name not in ("calibrate", "n_jobs") and ours[name] != theirs[name]:
            raise ValueError(
                f"models with different parameters cannot be merged: {name}={ours[name]!r} and {theirs[name]!r}"
            )
    if getattr(a, "calibrates", False) != getattr(b, "calibrates", False):
        raise ValueError("a model with calibrate and one without cannot be merged")
    if a.hash_key != b.hash_key:
        keys = ("the default" if key is None else key.hex() for key in (a.hash_key, b.hash_key))
        raise ValueError(
            f"models whose names are hashed by different keys cannot be merged: {' and '.join(keys)}"
        )


def check_names(one: State, two: State) -> None:
    """A ValueError where one knows features by their names and the other by numbers."""
    if ("names" in one) != ("names" in two) and len(one["keys"]) and len(two["keys"]):
        ways = ("numbered", "named")
        raise ValueError(
            "a model of named and one of numbered features cannot be merged: those of the first are "
            f"{ways['names' in one]}, of the second {ways['names' in two]}"
        )


def both_keys(one: State, two: State) -> State:
    """The features of both, ascending, with their names."""
    more = ~np.isin(two["keys"], one["keys"])
    found = named_rows(two, more)
    if len(one["keys"]):
        found = joined_keys({k: one[k] for k in found if k in one}, found)
    ordered = in_key_order(found | {"rows": np.zeros((len(found["keys"]), 0))})
    return {k: v for k, v in ordered.items() if k != "rows"}


ALIKE = [np.ones((1, 1))] * 2
"""The ratios of two models whose values are in the same units."""


def size_ratios(rows: list[Floats]) -> list[Floats]:
    """The root mean square of a feature in both models over that in each, (n, 1): 1 where it was never met.

    Rows begin with a count and a sum of squares.

    >>> [float(ratio[0, 0]) for ratio in size_ratios([np.array([[1.0, 4.0]]), np.array([[3.0, 12.0]])])]
    [1.0, 1.0]
    >>> [float(ratio[0, 0]) for ratio in size_ratios([np.array([[1.0, 1.0]]), np.zeros((1, 2))])]
    [1.0, 1.0]
    >>> size_ratios([np.array([[1.0, 1.0]]), np.array([[1.0, 7.0]])])[0].tolist()
    [[2.0]]
    """
    count, square = (sum(of[:, k] for of in rows) for k in (0, 1))
    whole = np.sqrt(square / np.maximum(count, 1))
    found = []
    for of in rows:
        some = of[:, 1] > 0
        own = np.sqrt(np.where(some, of[:, 1], 1) / np.maximum(of[:, 0], 1))
        found.append(np.where(some, whole / own, 1.0)[:, None])
    return found


def merged_gaussians(
    means: list[Floats], gains: list[Floats], ratios: list[Floats], prior: Floats
) -> tuple[Floats, Floats]:
    """Means and gains in precision of two models that began with the same prior, of mean 0.

    What each has gained is of weights in its own units, and becomes that of weights in the units of both; the prior is
    the same in all units, and counts once.
    """
    gain = pull = np.zeros(1)
    for mean, own, ratio in zip(means, gains, ratios, strict=True):
        gain, pull = gain + own / ratio**2, pull + (prior + own) * mean / ratio
    return pull / (prior + gain), gain


def merged_averages(
    weights: list[Floats], squares: list[Floats], ratios: list[Floats]
) -> tuple[Floats, Floats]:
    """Weights of two models, averaged by the squared gradients that each has seen, and these added up."""
    total = pull = np.zeros(1)
    for weight, own, ratio in zip(weights, squares, ratios, strict=True):
        total, pull = total + own / ratio**2, pull + own / ratio**2 * (weight * ratio)
    some = total > 0
    return np.where(some, pull / np.where(some, total, 1), 0), total


def merged_weights(one: Floats, two: Floats) -> Floats:
    """How much each setting counts, (outputs, settings): both began with equal weights, so that they multiply.

    >>> merged_weights(np.array([[0.5, 0.5]]), np.array([[0.8, 0.2]])).round(3).tolist()
    [[0.8, 0.2]]
    """
    with np.errstate(divide="ignore"):
        logs = np.log(one) + np.log(two)
    product = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(product / product.sum(axis=1, keepdims=True))
