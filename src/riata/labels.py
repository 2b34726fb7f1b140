"""From the labels that stand in the data to the class codes 0, 1, ... that learners know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DataError

Floats = NDArray[np.float64]


def in_words(values: Iterable[float]) -> str:
    """Labels as a user would write them.

    >>> in_words([-1.0, 1.0, 2.5])
    '-1, 1, 2.5'
    """
    numbers = list(values)
    shown = ", ".join(f"{v:.10g}" for v in numbers[:10])
    return shown if len(numbers) <= 10 else f"{shown}, ... ({len(numbers)} in all)"


class Classes:
    """The classes of a problem, ascending; the code of a class is its place.

    >>> import numpy as np
    >>> classes = Classes([-1, 1])
    >>> classes.codes(np.array([1.0, -1.0, 1.0])), classes.outputs
    (array([1, 0, 1]), 1)
    """

    def __init__(self, values: Sequence[float] | Floats, *, open_pair: bool = False) -> None:
        self.values = np.unique(np.asarray(values, dtype=np.float64))
        self.open_pair = open_pair
        """The pair is taken to be 0, 1, but -1 in place of 0 may still show up."""
        if len(self.values) < 2:
            raise ValueError(f"at least two classes are needed, not only {in_words(self.values)}")
        if not np.all(np.isfinite(self.values)):
            raise ValueError("a class must be a finite number")

    @classmethod
    def from_block(cls, block: Block) -> Classes:
        """The classes that the first labels of a stream speak for."""
        labels = _labels(block)
        seen = np.unique(labels)
        odd = np.flatnonzero(labels != np.rint(labels))
        if len(seen) > 2 and len(odd):
            raise DataError(
                f"{block.where(int(odd[0]))}: label {in_words([labels[odd[0]]])} is not a class: "
                f"for real labels choose a loss of regression (--loss squared), or name the "
                f"classes (--classes)"
            )
        if len(seen) >= 2:
            return cls(seen)
        if seen[0] == 1:
            return cls([0.0, 1.0], open_pair=True)
        if seen[0] in (0.0, -1.0):
            return cls([seen[0], 1.0])
        raise DataError(
            f"{block.where(0)}: all of the first {len(labels):,} labels are {in_words(seen)}, so "
            f"the other class is not known: name both (--classes), or let a first pass find them "
            f"(--classes scan)"
        )

    @property
    def outputs(self) -> int:
        """Columns that a learner needs: one for a pair, one a class otherwise."""
        return 1 if len(self.values) == 2 else len(self.values)

    def codes(self, labels: Floats) -> NDArray[np.intp]:
        """The place of each label, or -1 where it is none of the classes."""
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
        codes = self.codes(labels)
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            row = int(unknown[0])
            raise DataError(
                f"{block.where(row)}: label {in_words([labels[row]])} is none of the classes "
                f"{in_words(self.values)}: correct it, or name all classes (--classes), or let a "
                f"first pass find them (--classes scan)"
            )
        return codes.astype(np.float64)

    def decode(self, codes: NDArray[np.intp]) -> Floats:
        """The labels that codes stand for."""
        return self.values[codes]


def _labels(block: Block) -> Floats:
    if block.labels is None:
        raise DataError(f"{block.where(0)}: the examples have no labels to learn from")
    return block.labels


def class_factors(
    class_weight: Mapping[float, float] | Sequence[tuple[float, float]], classes: Classes
) -> Floats:
    """The factor of each class code; a class that is not named keeps 1."""
    factors = np.ones(len(classes.values))
    for label, factor in dict(class_weight).items():
        code = int(classes.codes(np.array([float(label)]))[0])
        if code < 0:
            raise ValueError(
                f"class_weight names {in_words([label])}, which is none of the classes "
                f"{in_words(classes.values)}"
            )
        if not 0 <= factor < np.inf:
            raise ValueError(f"the weight of class {in_words([label])} must be >= 0, not {factor}")
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
