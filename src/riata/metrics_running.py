"""What a run says of itself on the way: its mean loss, and what always predicting the same would have lost.

A model that loses more than that has learned nothing, or worse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core

Floats = NDArray[np.float64]

NOTICED = 1.05
"""A loss that is larger than the constant's by this factor is said: finding out that nothing helps costs a little."""
ENOUGH = 100
"""With fewer examples, only a loss larger by RUNS_AWAY is said."""
RUNS_AWAY = 20.0
_AT_ONCE = 8192
"""Numbers that are added up at a time."""
FARTHEST = 1e145
"""Labels farther from each other count as this far: squares stay in the range of floats."""


@dataclass
class Mean:
    """A weighted mean whose bits do not depend on how the stream was cut.

    >>> import numpy as np
    >>> whole, parts = Mean(), Mean()
    >>> x = np.random.default_rng(0).random(1000)
    >>> whole.add(x)
    >>> for piece in np.array_split(x, 7):
    ...     parts.add(piece)
    >>> whole.value == parts.value
    True
    """

    total: float = 0.0
    weight: float = 0.0

    def add(self, values: Floats, weights: Floats | None = None) -> None:
        """Add up one after the other, as a loop would: NumPy's own sum goes pairwise, by length."""
        if len(values) == 0:
            return
        weighted = values if weights is None else values * weights
        self.total = _sequential_sum(self.total, weighted)
        if weights is None:
            self.weight += len(values)
        else:
            self.weight = _sequential_sum(self.weight, weights)

    def plus(self, other: Mean) -> Mean:
        """The mean of what both have seen."""
        return Mean(self.total + other.total, self.weight + other.weight)

    @property
    def value(self) -> float | None:
        """The mean so far; None before the first example."""
        return self.total / self.weight if self.weight > 0 else None


def _sequential_sum(start: float, values: Floats) -> float:
    """Piece by piece, in memory that stays in the cache."""
    if len(values) == 1:  # single rows are many
        return start + float(values[0])
    running = np.empty(min(len(values), _AT_ONCE) + 1)
    running[0] = start
    for begin in range(0, len(values), _AT_ONCE):
        piece = values[begin : begin + _AT_ONCE]
        running[1 : len(piece) + 1] = piece
        now = running[: len(piece) + 1]
        np.add.accumulate(now, out=now)
        running[0] = now[-1]
    return float(running[0])


@dataclass
class LabelSums:
    """The weight of each class, or mean and mean square of the labels of a regression, however the stream was cut.

    >>> import numpy as np
    >>> sums = LabelSums()
    >>> sums.add(np.array([0.0, 1.0, 0.0]), classes=True)
    >>> sums.classes
    [2.0, 1.0]
    """

    classes: list[float] = field(default_factory=list)
    first: float = 0.0
    """A label of the regression: the others are measured from there, which loses no digits."""
    distance: Mean = field(default_factory=Mean)
    square: Mean = field(default_factory=Mean)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> LabelSums:
        means = {name: Mean(**values[name]) for name in ("distance", "square")}
        for mean in means.values():
            mean.total, mean.weight = float(mean.total), float(mean.weight)
        return cls([float(w) for w in values["classes"]], float(values["first"]), **means)

    def add(self, labels: Floats, weights: Floats | None = None, *, classes: bool) -> None:
        if len(labels) == 0:
            return
        if classes and len(labels) == 1:
            code = int(labels[0])
            self.classes += [0.0] * (code + 1 - len(self.classes))
            self.classes[code] += 1.0 if weights is None else float(weights[0])
            return
        if classes:
            codes = labels.astype(np.intp)
            sums = np.zeros(max(len(self.classes), int(codes.max()) + 1))
            sums[: len(self.classes)] = self.classes
            if weights is None:
                sums += np.bincount(codes, minlength=len(sums))
            else:
                np.add.at(sums, codes, weights)  # one after the other
            self.classes = sums.tolist()
            return
        if self.square.weight == 0:
            self.first = float(labels[0])
        distances = np.clip(labels - self.first, -FARTHEST, FARTHEST)
        self.distance.add(distances, weights)
        self.square.add(distances**2, weights)

    @property
    def all_the_same(self) -> bool:
        """Whether one label is all there was.

        >>> sums = LabelSums()
        >>> sums.add(np.full(3, 2.5), classes=False)
        >>> sums.all_the_same
        True
        """
        if self.classes:
            return sum(weight > 0 for weight in self.classes) == 1
        return self.square.weight > 0 and self.square.total == 0

    def constant_loss(
        self, losses: Callable[[Floats, Floats], Floats], outputs: int
    ) -> float | None:
        """The mean loss of the best constant prediction, or a bound from above; None where nothing is known.

        `losses` has the loss of rows of scores and labels, as learners do.
        """
        if self.classes:
            return self._of_classes(losses, outputs)
        distance, square = self.distance.value, self.square.value
        if distance is None or square is None:
            return None
        # Of the squared loss this is its mean; of those that grow more slowly with the distance at least that.
        deviation = float(np.sqrt(max(0.0, square - distance * distance)))
        return float(losses(np.array([[deviation], [-deviation]]), np.zeros(2)).max())

    def _of_classes(self, losses: Callable[[Floats, Floats], Floats], outputs: int) -> float | None:
        weights = np.array(self.classes)
        if len(weights) > max(2, outputs) or not weights.sum() > 0:
            return None
        shares = weights / weights.sum()
        codes = np.arange(len(shares), dtype=np.float64)
        p = shares[1:2] if outputs == 1 else np.pad(shares, (0, outputs - len(shares)))
        p = np.pad(p, (0, outputs - len(p)))
        kept = np.clip(p, 1e-15, 1 - 1e-15)
        # What minimises the logistic loss, the hinge loss, and those between.
        candidates = (np.log(kept) - np.log1p(-kept), np.where(p > 0.5, 1.0, -1.0), 2 * p - 1)
        return min(
            float(shares @ losses(np.tile(scores, (len(codes), 1)), codes)) for scores in candidates
        )


def worse_than_constant(loss: float | None, constant: float | None, examples: int) -> bool:
    """
    >>> worse_than_constant(0.8, 0.6, 1000), worse_than_constant(0.61, 0.6, 1000), worse_than_constant(0.8, 0.6, 20)
    (True, False, False)
    """
    if loss is None or constant is None:
        return False
    return loss > (NOTICED if examples >= ENOUGH else RUNS_AWAY) * constant


def sparsity(live: int, total: int) -> float:
    """The share of weights that are exactly zero.

    >>> sparsity(25, 100)
    0.75
    """
    return 1 - live / total if total > 0 else 0.0


class LabelOrder:
    """Whether labels come in long runs of one class, as in a file that is sorted by class.

    In random order a label differs from the one before with chance 1 - sum of the squared shares of the classes.
    `sorted` says that it did so less than one fiftieth as often as that, where fifty times or more would have
    been usual: runs of a hundred, of two classes that are as frequent. By chance that does not happen.

    >>> order = LabelOrder()
    >>> order.add(np.repeat([0.0, 1.0], 500))
    >>> order.sorted
    True
    >>> order = LabelOrder()
    >>> order.add(np.repeat([0.0, 1.0] * 50, 10))  # runs of ten
    >>> order.sorted
    False

    `one_class_at_the_end` says that the last twentieth or more of the examples is of one class, and that a run of it
    would be so long with a chance of less than one in a million, if runs went on as they did before.

    >>> order.add(np.zeros(300))
    >>> order.one_class_at_the_end, order.run, order.share_before
    (True, 300, 0.5)
    """

    _FEWER, _USUAL, _SHARE, _BY_CHANCE = 50, 50, 20, 1e-6

    def __init__(self) -> None:
        self._seen = _core.LabelCounts()
        self.drift = LabelDrift(self._seen)

    def add(self, codes: Floats) -> None:
        """The next labels, as class codes."""
        self._seen.add(codes)

    @property
    def _counts(self) -> Floats:
        return np.asarray(self._seen.pieces.sum(axis=0), dtype=np.float64)

    @property
    def examples(self) -> int:
        return self._seen.examples

    @property
    def changes(self) -> int:
        """How many labels are not the one before."""
        return self._seen.changes

    @property
    def run(self) -> int:
        """How many examples at the end are of one class."""
        return self._seen.run

    @property
    def usual(self) -> float:
        """How many changes there would be in random order."""
        total = self.examples
        return float(total - (self._counts**2).sum() / total) if total else 0.0

    @property
    def sorted(self) -> bool:
        return self.usual >= self._USUAL and self.changes * self._FEWER < self.usual

    @property
    def last(self) -> int:
        """The class code of the last example."""
        return self._seen.last

    @property
    def share_before(self) -> float:
        """How frequent the class of the last examples was before them."""
        before = self.examples - self.run
        return float((self._counts[self.last] - self.run) / before) if before else 1.0

    @property
    def one_class_at_the_end(self) -> bool:
        if self.run * self._SHARE < self.examples or self.examples - self.run < self._USUAL:
            return False
        before = self._counts[self.last] - self.run
        ended = self._seen.ended[self.last]
        goes_on = 1 - (ended + 1) / (before + 2)  # one more: no run is no certainty
        return bool(self.examples * goes_on**self.run < self._BY_CHANCE)

    @property
    def is_odd(self) -> bool:
        """Whether a model learns too much of the end."""
        return self.sorted or self.one_class_at_the_end or self.drift.is_wide

    @property
    def sorted_so_far(self) -> bool:
        """The same on the way, once it is more than one run that may have come by chance."""
        often = self.changes * self._FEWER >= self.examples  # more often than `usual` can be
        if self.examples < 1000 or often or not self.sorted:
            return False
        return bool((self.examples - self._counts.max()) * self._SHARE >= self.examples)


class LabelDrift:
    """How much the share of a class changes from the first quarter of the examples to the last.

    >>> drift = LabelDrift()
    >>> for share in (0.1, 0.3, 0.5, 0.7):
    ...     drift.add((np.arange(1000) % 10 < 10 * share).astype(float))
    >>> code, before, after = drift.widest
    >>> code, round(before, 2), round(after, 2)
    (1, 0.1, 0.7)
    """

    _FEWEST, _WIDE = 250, 0.25

    def __init__(self, seen: _core.LabelCounts | None = None) -> None:
        self._seen = _core.LabelCounts() if seen is None else seen

    def add(self, codes: Floats) -> None:
        """The next labels, as class codes."""
        self._seen.add(codes)

    @property
    def widest(self) -> tuple[int, float, float]:
        """The class whose share changes most, and its shares; no change where there are few examples."""
        used = -(-self._seen.examples // self._seen.length)
        pieces = self._seen.pieces
        first, last = pieces[: used // 4], pieces[used - used // 4 : used]
        if min(first.sum(), last.sum()) < self._FEWEST:
            return 0, 0.0, 0.0
        before, after = (part.sum(axis=0) / part.sum() for part in (first, last))
        code = int(np.abs(after - before).argmax())
        return code, float(before[code]), float(after[code])

    @property
    def is_wide(self) -> bool:
        _, before, after = self.widest
        return abs(after - before) > self._WIDE
