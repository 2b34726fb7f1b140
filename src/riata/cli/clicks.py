"""A click stream whose truth is known: the long-tail model of the Bayesian paper's Fig. 2.

22 categories; category j (1 .. 22) has 2^j values, and every event shows one value of each. Value
n of a category (counted from 0) is drawn with a chance proportional to 1 / (n + 1)^1.75, so a few
values are in most events and most values are in none. Every value has a true weight from N(0, 2^2),
and the event is a click with the chance logistic(sum of the weights shown).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

CATEGORIES = 22
EXPONENT = 1.75
DEVIATION = 2.0
FEATURES = 2 ** (CATEGORIES + 1) - 2
DIGITS = len(str(FEATURES))


def feature(category: int, value: int) -> int:
    """The index of a value, counted from 0: category 1 has 0 and 1, category 2 has 2 to 5, ...

    >>> feature(1, 0), feature(2, 0), feature(22, 2**22 - 1) == FEATURES - 1
    (0, 2, True)
    """
    return (1 << category) - 2 + value


def category_and_value(index: int) -> tuple[int, int]:
    """The way back.

    >>> category_and_value(feature(7, 100))
    (7, 100)
    """
    category = (index + 2).bit_length() - 1
    return category, index + 2 - (1 << category)


class Clicks:
    """The stream: the same seed gives the same events, weights and labels."""

    def __init__(self, seed: int) -> None:
        weights, events = np.random.SeedSequence(seed).spawn(2)
        self.weights = np.random.default_rng(weights).normal(0, DEVIATION, FEATURES)
        self.random = np.random.default_rng(events)
        chances = np.arange(1, 2**CATEGORIES + 1) ** -EXPONENT
        self.cumulative = np.cumsum(chances)

    def draw(self, n: int) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]:
        """n events: feature indices (n, 22), clicked or not, and the true chance of a click."""
        rows = np.empty((n, CATEGORIES), dtype=np.int64)
        for j in range(1, CATEGORIES + 1):
            table = self.cumulative[: 2**j]
            values = np.searchsorted(table, self.random.random(n) * table[-1], side="right")
            rows[:, j - 1] = feature(j, 0) + np.minimum(values, 2**j - 1)
        scores = self.weights[rows].sum(axis=1)
        chance = 1 / (1 + np.exp(-scores))
        return rows, self.random.random(n) < chance, chance

    def pieces(self, n: int, size: int = 20_000) -> Iterator[int]:
        """n cut into pieces that fit into the cache."""
        for start in range(0, n, size):
            yield min(size, n - start)


def svmlight(rows: NDArray[np.int64], clicked: NDArray[np.bool_]) -> bytes:
    """Events as svmlight text: `1 2:1 5:1 ...`, indices from 1, every value 1.

    All lines at once: every number is laid out equally wide, then leading zeros are dropped.

    >>> import numpy as np
    >>> svmlight(np.array([[0, 9]]), np.array([True]))
    b'1 1:1 10:1\\n'
    """
    n, width = rows.shape
    cells = np.empty((n, width, DIGITS + 3), dtype=np.uint8)
    keep = np.ones(cells.shape, dtype=np.bool_)
    rest = (rows + 1).astype(np.int32)
    for place in range(DIGITS - 1, -1, -1):
        keep[:, :, place + 1] = rest > 0
        rest, digit = np.divmod(rest, 10)
        cells[:, :, place + 1] = digit + ord("0")
    cells[:, :, 0] = ord(" ")
    cells[:, :, DIGITS + 1] = ord(":")
    cells[:, :, DIGITS + 2] = ord("1")
    text = np.empty((n, width * (DIGITS + 3) + 2), dtype=np.uint8)
    mask = np.ones(text.shape, dtype=np.bool_)
    text[:, 0] = clicked + ord("0")
    text[:, 1:-1] = cells.reshape(n, -1)
    mask[:, 1:-1] = keep.reshape(n, -1)
    text[:, -1] = ord("\n")
    return text[mask].tobytes()
