"""From the labels that stand in the data to the class codes 0, 1, ... that learners know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DataError, SettingsError

Floats: TypeAlias = NDArray[np.float64]
ClassWeight: TypeAlias = Mapping[float, float] | Sequence[tuple[float, float]]


def in_words(values: Iterable[float]) -> str:
    """Labels as a user would write them.

    >>> in_words([-1.0, 1.0, 2.5])
    '-1, 1, 2.5'
    """
    numbers = list(values)
    shown = ", ".join(f"{v:.10g}" for v in numbers[:10])
    return shown if len(numbers) <= 10 else f"{shown}, ... ({len(numbers)} in all)"


def distinct(labels: Floats) -> Floats:
    """The labels that occur, ascending.

    NumPy's `unique` would do, but it takes longer to import what it needs than to do it.

    >>> import numpy as np
    >>> distinct(np.array([2.0, -1.0, 2.0]))
    array([-1.,  2.])
    """
    ascending = np.sort(labels, axis=None)
    before, after = ascending[:-1], ascending[1:]
    first = np.ones(len(ascending), dtype=bool)
    first[1:] = (before != after) & (before == before)  # NaN comes last, and once
    found: Floats = ascending[first]
    return found


class Classes:
    """The classes of a problem, ascending; the code of a class is its place.

    >>> import numpy as np
    >>> classes = Classes([-1, 1])
    >>> classes.codes(np.array([1.0, -1.0, 1.0])), classes.outputs
    (array([1, 0, 1]), 1)
    """

    def __init__(self, values: Sequence[float] | Floats, *, open_pair: bool = False) -> None:
        self.values = distinct(np.asarray(values, dtype=np.float64))
        self.open_pair = open_pair
        """The pair is taken to be 0, 1, but -1 in place of 0 may still show up."""
        if len(self.values) < 2:
            raise SettingsError(
                f"at least two classes are needed, not only {in_words(self.values)}"
            )
        if not np.all(np.isfinite(self.values)):
            raise SettingsError("a class must be a finite number")

    @classmethod
    def from_block(cls, block: Block) -> Classes:
        """The classes that the first labels of a stream speak for."""
        labels = _labels(block)
        seen = distinct(labels)
        odd = np.flatnonzero(labels != np.rint(labels))
        if len(seen) > 2 and len(odd):
            raise DataError(
                f"{block.where(int(odd[0]))}: label {in_words([labels[odd[0]]])} is not a class: "
                f"for real labels choose a loss of regression (--loss squared), or name the "
                f"classes (--classes, classes=[...])"
            )
        if len(seen) >= 2:
            return cls(seen)
        if seen[0] == 1:
            return cls([0.0, 1.0], open_pair=True)
        if seen[0] in (0.0, -1.0):
            return cls([seen[0], 1.0])
        raise DataError(
            f"{block.where(0)}: all of the first {len(labels):,} labels are {in_words(seen)}, so "
            f"the other class is not known: name both (--classes, classes=[...]), or let a first "
            f"pass find them (--classes scan)"
        )

    @property
    def outputs(self) -> int:
        """Columns that a learner needs: one for a pair, one a class otherwise."""
        return 1 if len(self.values) == 2 else len(self.values)

    def codes(self, labels: Floats) -> NDArray[np.intp]:
        """The place of each label, or -1 where it is none of the classes."""
        if len(self.values) == 2:  # without a search: labels may be as many as the rows of a matrix
            high: NDArray[np.bool_] = labels == self.values[1]
            return np.where(high | (labels == self.values[0]), high, -1)
        places = np.minimum(np.searchsorted(self.values, labels), len(self.values) - 1)
        return np.where(self.values[places] == labels, places, -1)

    def encode(self, block: Block) -> Floats:
        """The block's labels as class codes; a label that is none of the classes is an error."""
        labels = _labels(block)
        if self.open_pair and not np.all(labels == 1):
            other = labels[labels != 1][0]
            self.open_pair = False
            if other == -1:
                self.values = np.array([-1.0, 1.0])
        if len(self.values) == 2:
            high: NDArray[np.bool_] = labels == self.values[1]
            if (high | (labels == self.values[0])).all():
                codes_of_pair: Floats = high.astype(np.float64)
                return codes_of_pair
        codes = self.codes(labels)
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            row = int(unknown[0])
            raise DataError(
                f"{block.where(row)}: label {in_words([labels[row]])} is none of the classes "
                f"{in_words(self.values)}: correct it, or name all classes (--classes, "
                f"classes=[...]), or let a first pass find them (--classes scan)"
            )
        return codes.astype(np.float64)

    def decode(self, codes: NDArray[np.intp]) -> Floats:
        """The labels that codes stand for."""
        return self.values[codes]


def _labels(block: Block) -> Floats:
    if block.labels is None:
        raise DataError(f"{block.where(0)}: the examples have no labels to learn from")
    return block.labels


def class_factors(class_weight: ClassWeight, classes: Classes) -> Floats:
    """The factor of each class code; a class that is not named keeps 1."""
    factors = np.ones(len(classes.values))
    for label, factor in dict(class_weight).items():
        code = int(classes.codes(np.array([float(label)]))[0])
        if code < 0:
            raise SettingsError(
                f"class_weight names {in_words([label])}, which is none of the classes "
                f"{in_words(classes.values)}"
            )
        if not 0 <= factor < np.inf:
            raise SettingsError(
                f"the weight of class {in_words([label])} must be >= 0, not {factor}"
            )
        factors[code] = factor
    return factors


def count_labels(blocks: Iterable[Block]) -> dict[float, int]:
    """How often each label occurs."""
    counts: dict[float, int] = {}
    for block in blocks:
        for label, count in zip(*np.unique(_labels(block), return_counts=True), strict=True):
            counts[float(label)] = counts.get(float(label), 0) + int(count)
    return counts


def balanced(counts: Mapping[float, int]) -> list[tuple[float, float]]:
    """Factors under which every class weighs the same, as scikit-learn's `"balanced"`.

    >>> balanced({0.0: 30, 1.0: 10})
    [(0.0, 0.6666666666666666), (1.0, 2.0)]
    """
    total = sum(counts.values())
    return [(label, total / (len(counts) * n)) for label, n in sorted(counts.items()) if n > 0]


class Encoder:
    """What training does to the labels and weights of a classification's Blocks.

    `classes` and `class_weight` are as `train` takes them; the first Block settles what is open.
    """

    def __init__(
        self,
        classes: Sequence[float] | Floats | str | None = None,
        class_weight: ClassWeight | str | None = None,
        *,
        open_pair: bool = False,
    ) -> None:
        self.classes: Classes | None = None
        self.class_weight: ClassWeight | None = None
        self._factors: Floats | None = None
        self._scan_classes = self._scan_weights = False
        if isinstance(classes, str):
            self._scan_classes = classes == "scan"
            if not self._scan_classes:
                raise SettingsError(f'classes is a list, None or "scan", not "{classes}"')
        elif classes is not None:
            self.classes = Classes(classes, open_pair=open_pair)
        if isinstance(class_weight, str):
            self._scan_weights = class_weight == "balanced"
            if not self._scan_weights:
                raise SettingsError(f'class_weight is a dict or "balanced", not "{class_weight}"')
        else:
            self.class_weight = class_weight

    @property
    def wants_scan(self) -> bool:
        """Whether the labels must be counted before learning."""
        return self._scan_classes or self._scan_weights

    def scan(self, counts: Mapping[float, int]) -> None:
        """Take from the counts of the labels what was asked for."""
        if self._scan_classes:
            self.classes = Classes(sorted(counts))
        if self._scan_weights:
            self.class_weight = balanced(counts)

    def settle(self, block: Block) -> Classes:
        """Let the first Block decide what is still open."""
        if self.classes is None:
            self.classes = Classes.from_block(block)
        if self.class_weight is not None:
            if self.classes.open_pair and -1 in dict(self.class_weight):
                self.classes = Classes([-1.0, 1.0])
            self._factors = class_factors(self.class_weight, self.classes)
        return self.classes

    @property
    def weights_by_label(self) -> list[tuple[float, float]] | None:
        """The class weights as a record keeps them."""
        if self.class_weight is None:
            return None
        return [(float(label), float(w)) for label, w in dict(self.class_weight).items()]

    def encode(self, block: Block) -> Block:
        """The Block with class codes for labels, and class weights in its weights."""
        assert self.classes is not None
        codes = self.classes.encode(block)
        if self._factors is None:
            return block.with_labels(codes, block.weights)
        weights = self._factors[codes.astype(np.intp)]
        return block.with_labels(
            codes, weights if block.weights is None else weights * block.weights
        )
