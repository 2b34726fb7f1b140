"""Labels: words that stand for numbers in Blocks, and the labels and weights that come beside a matrix."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DataError

BOOLS = (False, True)
"""What labels stand for that are bools: 0 and 1 in Blocks."""


def text_words(names: Sequence[Any] | None) -> list[str]:
    """The words that labels are; none where they are numbers or bools.

    >>> text_words(("ham", "spam")), text_words(BOOLS), text_words(None)
    (['ham', 'spam'], [], [])
    """
    return [name for name in names or () if isinstance(name, str)]


class LabelWords:
    """The words that labels are, with the number that stands for each in Blocks.

    Those that are known from the start come first. Words that come later get the next numbers, in the order of
    the data: readers that work side by side `add` them as they come, and `in_order` gives each its number
    when the rows pass by.

    >>> words = LabelWords(["ham", "spam"])
    >>> words.add(["later", "late"]), words.add(["ham"])
    (True, False)
    >>> words.numbers_in_order(np.array([3.0, 0.0, 2.0, 3.0]))
    array([2., 0., 3., 2.])
    >>> words.names
    ['ham', 'spam', 'late', 'later']
    """

    def __init__(self, first: Iterable[str]) -> None:
        self.seen = list(first)
        """As readers number them; replaced, never changed."""
        self._first = len(self.seen)
        self._places: dict[int, int] = {}
        self._lock = threading.Lock()

    def add(self, words: Iterable[str]) -> bool:
        """Whether there are new ones among them."""
        with self._lock:
            every = list(dict.fromkeys([*self.seen, *words]))
            if len(every) == len(self.seen):
                return False
            self.seen = every
            return True

    @property
    def names(self) -> list[str]:
        """Label i stands for the i-th; those that have passed by."""
        return [*self.seen[: self._first], *(self.seen[number] for number in self._places)]

    def numbers_in_order(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        late = np.flatnonzero(labels >= self._first)
        if not len(late):
            return labels
        for number in dict.fromkeys(labels[late].astype(int).tolist()):
            self._places.setdefault(number, self._first + len(self._places))
        table = np.arange(len(self.seen), dtype=np.float64)
        for number, place in self._places.items():
            table[number] = place
        numbered = labels.copy()
        numbered[late] = table[labels[late].astype(np.intp)]
        return numbered

    def in_order(self, block: Block) -> Block:
        """The Block with numbers in the order of the data."""
        if block.labels is None or len(self.seen) == self._first:
            return block
        labels = self.numbers_in_order(block.labels)
        return block if labels is block.labels else block.with_labels(labels, block.weights)


def check_labels(y: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Labels as float64, one a row, finite. None stays None.

    >>> check_labels([True, False], 2)
    array([1., 0.])
    """
    if y is None:
        return None
    labels = _column(y, "y", n_rows)
    _refuse_first(labels, ~np.isfinite(labels), "y", "labels must be finite numbers")
    return labels


def check_weights(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Weights as float64, one a row (or one for all), finite and not negative. None stays None."""
    if weights is None:
        return None
    if np.ndim(weights) == 0:
        weights = np.full(n_rows, weights)
    checked = _column(weights, "sample_weight", n_rows)
    _refuse_first(checked, ~np.isfinite(checked), "sample_weight", "weights must be finite")
    _refuse_first(checked, checked < 0, "sample_weight", "weights must not be negative")
    return checked


def _column(values: Any, name: str, n_rows: int) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{name} must have one number a row; its shape is {array.shape}")
    if len(array) != n_rows:
        raise DataError(f"{name} has {len(array)} entries for {n_rows} rows; give one a row")
    if array.dtype.kind not in "biufO":
        raise DataError(f"{name} must be numbers, not {array.dtype}; encode class names first")
    try:
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from None


def _refuse_first(
    values: NDArray[np.float64], bad: NDArray[np.bool_], name: str, rule: str
) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"{name} is {values[row]} at row {row}; {rule}")
