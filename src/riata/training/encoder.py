"""Labels and weights of a classification, as training hands them to a learner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DataError, SettingsError
from riata.labels import (
    LOOK_AT,
    Classes,
    ClassWeight,
    Floats,
    Label,
    LabelReader,
    Words,
    as_python,
    ascending,
    first_classes,
    in_words,
    labels_of,
    words_of,
)
from riata.record import Model


def class_factors(class_weight: ClassWeight, classes: Classes) -> Floats:
    """The factor of each class code; a class that is not named keeps 1."""
    factors = np.ones(len(classes))
    unknown = []
    for label, factor in dict(class_weight).items():
        if not 0 <= factor < np.inf:
            raise SettingsError(
                f"the weight of class {in_words([label])} must be >= 0, not {factor}"
            )
        code = classes.code_of(label)
        if code is None:
            unknown.append(label)
        else:
            factors[code] = factor
    if unknown and (classes.fixed or len(unknown) == len(dict(class_weight))):
        raise SettingsError(
            f"class_weight names {in_words(unknown)}, which is none of the classes "
            f"{in_words(classes.labels)}"
        )
    return factors


def count_labels(blocks: Iterable[Block], words: Words | None = None) -> dict[Label, int]:
    """How often each label occurs."""
    counts: dict[Label, int] = {}
    for block in blocks:
        for label, count in zip(*np.unique(labels_of(block), return_counts=True), strict=True):
            counts[float(label)] = counts.get(float(label), 0) + int(count)
    named = words() if words is not None else None
    if not named:
        return counts
    return {named[int(value)]: count for value, count in counts.items()}


def balanced(counts: Mapping[Label, int]) -> list[tuple[Label, float]]:
    """Factors under which every class weighs the same, as scikit-learn's `"balanced"`.

    >>> balanced({0.0: 30, 1.0: 10})
    [(0.0, 0.6666666666666666), (1.0, 2.0)]
    """
    total = sum(counts.values())
    return [(label, total / (len(counts) * counts[label])) for label in ascending(counts)]


class Encoder:
    """What training does to the labels and weights of a classification's Blocks.

    `classes` and `class_weight` are as `train` takes them; the first rows decide what is open. `words` is of
    the source that the Blocks come from.
    """

    def __init__(
        self,
        classes: Sequence[Any] | NDArray[Any] | Classes | str | None = None,
        class_weight: ClassWeight | str | None = None,
        words: Words | None = None,
    ) -> None:
        self.classes: Classes | None = None
        self.class_weight: ClassWeight | None = None
        self._words = words
        self._reader: LabelReader | None = None
        self._factors: Floats | None = None
        self._scan_classes = self._scan_weights = False
        if isinstance(classes, str):
            self._scan_classes = classes == "scan"
            if not self._scan_classes:
                raise SettingsError(f'classes is a list, None or "scan", not "{classes}"')
        elif classes is not None:
            self.classes = classes if isinstance(classes, Classes) else Classes.named(classes)
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

    def scan(self, counts: Mapping[Label, int]) -> None:
        """Take from the counts of the labels what was asked for."""
        if self._scan_classes:
            self.classes = Classes.named(counts)
        if self._scan_weights:
            self.class_weight = balanced(counts)

    def find_classes(self, block: Block, rows: int | None = LOOK_AT) -> Classes:
        """Let the first rows decide what is still open."""
        if self.classes is None:
            self.classes = first_classes(block, rows, self._words() if self._words else None)
            named = () if self.class_weight is None else dict(self.class_weight)
            if self.classes.open_pair and -1 in named:
                self.classes = Classes([-1.0, 1.0])
        if self.class_weight is not None:
            self._factors = class_factors(self.class_weight, self.classes)
        return self.classes

    def complete(self, name: str) -> None:
        """All labels have been seen: a classification needs two of them."""
        classes = self.classes
        if classes is None or len(classes) > 1:
            return
        if classes.labels[0] not in (0.0, -1.0) or isinstance(classes.labels[0], bool):
            raise DataError(
                f"{name}: all labels are {in_words(classes.labels)}: a classification needs at least two "
                f"classes; if the other is yet to come, name both (--classes, classes=[...])"
            )
        classes.join(1.0)

    @property
    def weights_by_label(self) -> list[tuple[Label, float]] | None:
        """The class weights as a record keeps them."""
        if self.class_weight is None:
            return None
        return [(as_python(label), float(w)) for label, w in dict(self.class_weight).items()]

    def encode(self, block: Block) -> Block:
        """The Block with class codes for labels, and class weights in its weights."""
        assert self.classes is not None
        if self._reader is None:
            self._reader = LabelReader(self.classes, self._words)
        codes = self._reader.encode(block, join=True)
        return self._weighted(block, codes)

    def encode_other(self, words: Words | None) -> Callable[[Block], Block]:
        """The same for Blocks of another source, from which no class joins."""
        assert self.classes is not None
        reader = LabelReader(self.classes, words)
        return lambda block: self._weighted(block, reader.encode(block))

    def _weighted(self, block: Block, codes: Floats) -> Block:
        assert self.classes is not None
        if self.class_weight is None:
            return block.with_labels(codes, block.weights)
        if self._factors is None or len(self._factors) < len(self.classes):
            self._factors = class_factors(self.class_weight, self.classes)
        weights = self._factors[codes.astype(np.intp)]
        return block.with_labels(
            codes, weights if block.weights is None else weights * block.weights
        )


def encode_for(model: Model, source: Any, class_weight: Any = None) -> Callable[[Block], Block]:
    """What becomes of the labels of a source that a model is used on."""
    if model.classes is None:
        return partial(with_labels, words=words_of(source))
    encoder = Encoder(Classes(model.labels, fixed=True), class_weight)
    return encoder.encode_other(words_of(source))


def with_labels(block: Block, words: Words = lambda: None) -> Block:
    """A regression's labels stay what they are: numbers."""
    if block.labels is None:
        raise DataError(f"{block.where(0)}: the examples have no labels")
    if (names := words()) and isinstance(names[0], str):
        row = int(np.flatnonzero(np.isfinite(block.labels))[0])
        raise DataError(
            f"{block.where(row)}: the label is {names[int(block.labels[row])]!r}, a word, but the model was trained "
            f"on numbers: give data whose labels are numbers"
        )
    return block
