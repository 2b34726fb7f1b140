"""Bounds of weights: for all features, by index, by name or namespace."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from riata.errors import DataError

REST = "*"
"""The key of `bounds` that stands for every feature without bounds of its own."""

Pair = tuple[float, float]
Bounds = Sequence[float | None] | Mapping[Any, Sequence[float | None]]


def parse_bounds(
    bounds: Bounds | None, dimension: int = 0
) -> tuple[Pair | None, dict[int, Pair], dict[str, Pair]]:
    """The interval of features in general (None: the whole line), by index, and by name or namespace.

    >>> parse_bounds((0, None))
    ((0.0, inf), {}, {})
    >>> parse_bounds({"*": (-1, 1), 7: (0.5, 2), "price": (None, 0)})
    ((-1.0, 1.0), {7: (0.5, 2.0)}, {'price': (-inf, 0.0)})
    """
    if bounds is None:
        return None, {}, {}
    if not isinstance(bounds, Mapping):
        bounds = {REST: bounds}
    everywhere: Pair | None = None
    own: dict[int, Pair] = {}
    groups: dict[str, Pair] = {}
    for key, pair in bounds.items():
        if key == REST:
            everywhere = _around_zero("all features", pair)
        elif isinstance(key, str) and key and not key.lstrip("-").isdigit():
            groups[key] = _around_zero(key, pair)
        else:
            own[_index(key, dimension)] = _interval(f"feature {key}", pair)
    return everywhere, own, groups


def _index(key: Any, dimension: int) -> int:
    try:
        feature = int(key)
    except (TypeError, ValueError):
        feature = -1
    if feature < 0 or (dimension and feature >= dimension):
        top = f" below {dimension}" if dimension else ""
        raise ValueError(
            f"bounds: {key!r} is not the index of a feature, 0 or more{top}, nor a name, nor {REST!r}"
        )
    return feature


def _around_zero(what: str, pair: Sequence[float | None]) -> Pair:
    low, high = _interval(what, pair)
    if not low <= 0 <= high:
        raise ValueError(
            f"bounds {low:g}, {high:g} of {what} must contain 0, the weight of a feature never seen; "
            "only bounds by index may stay away from it: {index: (low, high)}"
        )
    return low, high


def _interval(what: str, pair: Sequence[float | None]) -> Pair:
    try:
        low, high = pair
        low = -math.inf if low is None else float(low)
        high = math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds of {what}: {pair!r} is not (low, high), None for no bound"
        ) from None
    if not low < high or low == math.inf or high == -math.inf:
        raise ValueError(
            f"bounds of {what} contradict each other: no number lies strictly between {low:g} and {high:g}"
        )
    if any(math.isfinite(end) and abs(end) > 1e30 for end in (low, high)):
        raise ValueError(f"bounds of {what}: {pair!r} is too large; use None for no bound")
    return low, high


def group_of(name: str, groups: Mapping[str, Pair]) -> str | None:
    """The longest of the groups that a name belongs to: itself, its namespace^ or its column=.

    >>> group_of("price^special", {"price": (0.0, 1.0), "pri": (0.0, 2.0)})
    'price'
    """
    fits = [g for g in groups if name == g or name.startswith((f"{g}^", f"{g}="))]
    return max(fits, key=len, default=None)


def check_bounds_fit(own: Mapping[int, Pair], groups: Mapping[str, Pair], named: bool) -> None:
    """Bounds by number are of no use for features with names, and the other way round."""
    if named and own:
        raise DataError(
            f"bounds of feature {next(iter(own))}: the features of this data have names, not numbers; "
            "give bounds by name, namespace or column"
        )
    if groups and not named:
        raise DataError(
            f"bounds of {next(iter(groups))!r}: the features of this data have numbers, not names; "
            "give bounds by number"
        )


def bounds_for_json(
    everywhere: Pair | None, own: Mapping[int, Pair], groups: Mapping[str, Pair]
) -> Any:
    """Bounds as JSON can hold them.

    >>> bounds_for_json((0.0, math.inf), {7: (0.5, 2.0)}, {})
    {'*': [0.0, None], '7': [0.5, 2.0]}
    """

    def ends(pair: Pair) -> list[float | None]:
        return [end if math.isfinite(end) else None for end in pair]

    if not own and not groups:
        return None if everywhere is None else tuple(ends(everywhere))
    rest = {} if everywhere is None else {REST: ends(everywhere)}
    by_index = {str(feature): ends(pair) for feature, pair in sorted(own.items())}
    return rest | by_index | {name: ends(pair) for name, pair in sorted(groups.items())}
