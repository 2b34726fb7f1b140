"""Bounds on the weights of a sketch: the interval of every feature, by number or by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from riata.learners.bounds import Bounds, Pair, group_of, parse_bounds
from riata.learners.sketch_points import Floats, Keys, Point

FREE: Pair = (-np.inf, np.inf)


@dataclass
class Limits:
    """Where each weight may be.

    >>> limits = Limits.of_bounds({"*": (0, None), 7: (0.5, 2)})
    >>> limits.of(np.array([3, 7]))
    (array([0. , 0.5]), array([inf,  2.]))
    >>> limits.origin().weights             # the nearest to zero, where zero is not allowed
    array([0.5])
    """

    everywhere: Pair
    own: dict[int, Pair]
    groups: dict[str, Pair]
    name_of: Callable[[int], bytes] | None = None
    _known: dict[int, Pair] = field(default_factory=dict, repr=False)

    @classmethod
    def of_bounds(
        cls, bounds: Bounds | None, name_of: Callable[[int], bytes] | None = None
    ) -> Limits | None:
        if bounds is None:
            return None
        everywhere, own, groups = parse_bounds(bounds)
        return cls(everywhere or FREE, own, groups, name_of)

    def of(self, keys: Keys) -> tuple[Floats, Floats]:
        """The lower and the upper ends."""
        low, high = (np.full(len(keys), end) for end in self.everywhere)
        special = keys if self.groups else keys[np.isin(keys, list(self.own))]
        if len(special):
            places = np.flatnonzero(np.isin(keys, special))
            for place in places.tolist():
                low[place], high[place] = self._pair(int(keys[place]))
        return low, high

    def _pair(self, key: int) -> Pair:
        if not self.groups:
            return self.own[key]
        if key not in self._known:
            assert self.name_of is not None
            name = self.name_of(key).decode("utf-8", "replace")
            group = group_of(name, self.groups)
            self._known[key] = self.everywhere if group is None else self.groups[group]
        return self._known[key]

    def origin(self, intercept: float = 0.0) -> Point:
        """The weights that are nearest to zero."""
        keys = np.array(
            sorted(k for k, (a, b) in self.own.items() if a > 0 or b < 0), dtype=np.int64
        )
        low, high = self.of(keys)
        return Point(keys, np.clip(0.0, low, high), intercept)

    def allowed(self, keys: Keys, pulls: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which of these features, with weights of zero, may go where the loss pulls them."""
        low, high = self.of(keys)
        return np.where(pulls > 0, high > 0, low < 0)


def violation_inside(r: Floats, w: Floats, penalties: Floats, low: Floats, high: Floats) -> Floats:
    """By how much each weight violates optimality: what a move that the bounds allow would gain.

    >>> violation_inside(np.array([-3.0]), np.zeros(1), np.ones(1), np.zeros(1), np.ones(1))
    array([0.])
    """
    up = np.where(w < high, r - np.where(w >= 0, penalties, -penalties), 0.0)
    down = np.where(w > low, np.where(w > 0, penalties, -penalties) - r, 0.0)
    return np.maximum(0.0, np.maximum(up, down))
