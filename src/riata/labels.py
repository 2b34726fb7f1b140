"""From the labels that stand in the data to the class codes 0, 1, ... that learners know."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DataError, SettingsError

Floats: TypeAlias = NDArray[np.float64]
Label: TypeAlias = str | bool | int | float
"""What somebody calls a class."""
ClassWeight: TypeAlias = Mapping[Any, float] | Sequence[tuple[Label, float]]
Words: TypeAlias = Callable[[], Sequence[Label] | None]
"""What the labels of a source stand for: label i for the i-th. None where they are the numbers they are."""

LOOK_AT = 1000
"""Rows whose labels are the classes to begin with; labels that come later join one by one."""
MOST_NUMBERS = 100
"""Different numbers that are taken for classes without a question, and one more for every hundred examples."""
FEW_WORDS = 20
"""So many classes need not have two examples each."""
MOST_WORDS = 1000


def as_text(label: Any) -> str:
    """A label as a user would write it.

    >>> as_text(1.0), as_text(2.5), as_text(True), as_text("ham")
    ('1', '2.5', 'true', 'ham')
    """
    if isinstance(label, bool | np.bool_):
        return "true" if label else "false"
    if isinstance(label, int | float | np.integer | np.floating):
        return (
            str(int(label)) if math.isfinite(label) and label == int(label) else repr(float(label))
        )
    return str(label)


def in_words(labels: Iterable[Any]) -> str:
    """Labels as a user would write them.

    >>> in_words([-1.0, 1.0, 2.5])
    '-1, 1, 2.5'
    """
    texts = [as_text(label) for label in labels]
    shown = ", ".join(texts[:10])
    return shown if len(texts) <= 10 else f"{shown}, ... ({len(texts)} in all)"


def same_label(a: Any, b: Any) -> bool:
    """Whether two labels mean the same class, though one may be a text where the other is a number or a bool.

    >>> same_label("1", 1.0), same_label("True", True), same_label(True, 1), same_label("ham", "Ham")
    (True, True, True, False)
    """
    if isinstance(a, str) == isinstance(b, str):
        return bool(a == b)
    text, other = (a, b) if isinstance(a, str) else (b, a)
    if isinstance(other, bool | np.bool_):
        return bool(text.lower() == as_text(other))
    number = _number(text)
    return number is not None and bool(number == other)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


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


def as_python(label: Any) -> Label:
    """A label as Python and JSON have it."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str | bool):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SettingsError(
            f"a class is a text, a number or a bool, not {type(label).__name__}"
        ) from None
    if not math.isfinite(number):
        raise SettingsError("a class must be a finite number, a text or a bool")
    return number


def ascending(labels: Iterable[Any]) -> list[Label]:
    """The labels, each once: numbers before texts, each in their order.

    >>> ascending(["b", 2, "a", 1.0, 2.0])
    [1.0, 2.0, 'a', 'b']
    """
    once = dict.fromkeys(map(as_python, labels))
    return sorted(once, key=lambda label: (isinstance(label, str), label))


class Classes:
    """The classes of a problem, in the order of their codes 0, 1, ...

    >>> classes = Classes(["ham", "spam"])
    >>> classes.code_of("spam"), classes.code_of("eggs"), classes.outputs
    (1, None, 1)
    """

    def __init__(
        self, labels: Iterable[Any], *, fixed: bool = False, open_pair: bool = False
    ) -> None:
        self.labels: list[Label] = [as_python(label) for label in labels]
        self.fixed = fixed
        """Whether other labels are refused; otherwise they join."""
        self.open_pair = open_pair
        """Only label 1 was seen; that the other one is 0 is a guess, and whatever shows up takes its place."""
        self.version = 0
        """How often they changed."""
        self._codes: dict[Any, int] | None = None
        if len(set(self.labels)) < len(self.labels):
            raise SettingsError(f"a class is named twice: {in_words(self.labels)}")

    @classmethod
    def named(cls, labels: Iterable[Any]) -> Classes:
        """Those that somebody gave, and no others."""
        found = ascending(labels)
        if len(found) < 2:
            raise SettingsError(f"at least two classes are needed, not only {in_words(found)}")
        return cls(found, fixed=True)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def outputs(self) -> int:
        """Columns that a learner needs: one for a pair, one a class otherwise."""
        return outputs_for(len(self))

    def array(self, most: int | None = None) -> NDArray[Any]:
        """As a model keeps them: the first so many, or all."""
        labels = self.labels[:most]
        alike = len({type(label) for label in labels}) <= 1
        return np.array(labels) if alike else np.array(labels, dtype=object)

    def code_of(self, label: Any) -> int | None:
        """The code of a label, or None."""
        if self._codes is None:
            self._codes = {known: code for code, known in enumerate(self.labels)}
        code = self._codes.get(label)
        if code is None and not self.all_are(
            isinstance(label, str)
        ):  # texts and numbers may mean the same
            alike = (code for code, known in enumerate(self.labels) if same_label(known, label))
            return next(alike, None)
        return code

    def join(self, label: Label) -> None:
        """A label that is none of them becomes one, with the next code."""
        if self.open_pair:
            self.open_pair = False
            self.labels[0] = label
        else:
            self.labels.append(label)
        self.version += 1
        self._codes = None

    def all_are(self, words: bool) -> bool:
        """Whether all are texts, or none is."""
        return all(isinstance(label, str) == words for label in self.labels)


def outputs_for(classes: int) -> int:
    """Columns that a learner needs for so many classes."""
    return 1 if classes <= 2 else classes


class LabelReader:
    """The labels of one source as class codes.

    `words` tells what the numbers in its Blocks stand for, as far as it is known when it is asked.
    """

    def __init__(self, classes: Classes, words: Words | None = None) -> None:
        self.classes = classes
        self._words = words or (lambda: None)
        self._known: tuple[int, int | None] | None = None
        self._table: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._values: Floats = np.empty(0)
        self._order: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.rows = 0
        """Labels seen."""

    def label(self, value: float) -> Label:
        """What a number of a Block stands for."""
        words = self._words()
        return float(value) if not words else words[int(value)]

    def codes(self, labels: Floats) -> NDArray[Any]:
        """The code of each label, or -1 where it is none of the classes."""
        words = self._words()
        now = self.classes.version, None if not words else len(words)
        if now != self._known:
            self._learn_codes(words)
            self._known = now
        if words:
            missing = np.isnan(labels)
            codes = self._table[np.where(missing, 0, labels).astype(np.intp)]
            return np.where(missing, -1, codes) if missing.any() else codes
        if (
            len(self._values) == 2
        ):  # without a search: labels may be as many as the rows of a matrix
            high: NDArray[np.bool_] = labels == self._values[1]
            known = high | (labels == self._values[0])
            return high.view(np.int8) if known.all() else np.where(known, high, -1)
        ranked = self._values[self._order]
        places = np.minimum(np.searchsorted(ranked, labels), len(ranked) - 1)
        return np.where(ranked[places] == labels, self._order[places], -1)

    def _learn_codes(self, words: Sequence[Label] | None) -> None:
        if words:
            codes = [self.classes.code_of(word) for word in words]
            self._table = np.array([-1 if code is None else code for code in codes], dtype=np.intp)
            return
        numbers = [
            _number(label) if isinstance(label, str) else float(label)
            for label in self.classes.labels
        ]
        self._values = np.array([np.nan if n is None else n for n in numbers], dtype=np.float64)
        self._order = np.argsort(self._values, kind="stable")

    def encode(self, block: Block, join: bool = False) -> Floats:
        """The block's labels as class codes. A label that is none of the classes joins, or is an error."""
        labels = labels_of(block)
        codes = self.codes(labels)
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            _, first = np.unique(labels[unknown], return_index=True)
            for row in unknown[np.sort(first)].tolist():
                self._take_in(block, row, labels[row], join)
            codes = self.codes(labels)
        self.rows += len(block)
        return codes.astype(np.float64)

    def _take_in(self, block: Block, row: int, value: float, join: bool) -> None:
        """A label that is none of the classes yet."""
        where = block.where(row)
        if math.isnan(value):
            raise DataError(f"{where}: the label is missing: give one, or leave the row out")
        classes, label = self.classes, self.label(value)
        word = isinstance(label, str)
        alike = not classes.all_are(not word)
        if alike and join and not classes.fixed:
            check_number_of_classes(len(classes) + 1, self.rows + row + 1, word, where)
            classes.join(label)
            return
        is_none = (
            f"{where}: label {as_text(label)} is none of the classes {in_words(classes.labels)}"
        )
        if alike:
            raise DataError(
                f"{is_none}: correct it, or train with all classes named (--classes, classes=[...]) or found by a "
                f"first pass (--classes scan)"
            )
        here, there = ("words", "numbers") if word else ("numbers", "words")
        if any(isinstance(known, bool) for known in classes.labels):
            there = "true and false"
        raise DataError(
            f"{is_none}: the labels of this data are {here}, the classes {there}: write them alike"
        )


def check_number_of_classes(count: int, rows: int, words: bool, where: str) -> None:
    """Ask whether these can be classes, where they are very many for so few examples."""
    distinct_words = words and count > FEW_WORDS and 2 * count > rows
    if not distinct_words and count <= (MOST_WORDS if words else MOST_NUMBERS) + rows / 100:
        return
    ask = (
        "was a column of ids or texts taken for the label? Name the right one with --label COLUMN (label=...)"
        if words
        else "is a number to be predicted, not a class? Then choose a loss of regression, such as --loss squared "
        "(a Regressor in Python)"
    )
    raise DataError(
        f"{where}: {count:,} different {'words' if words else 'numbers'} among the first {rows:,} labels: {ask}. "
        f"If they are classes, say so with --classes scan (classes='scan')"
    )


def _notice_odd(words: Sequence[str], where: str) -> None:
    """Say which classes may be one, written in two ways, or none."""
    from riata.sources.cells import MISSING_NUMBERS  # most labels are numbers

    for word in set(words) & set(MISSING_NUMBERS):
        warnings.warn(
            f"{where}the label {word!r} is learned as a class: if it means that there is none, pass --absent "
            f"{word!r} --on-error skip (absent=[{word!r}], on_error='skip')",
            stacklevel=2,
        )
    first: dict[str, str] = {}
    for word in words:
        other = first.setdefault(word.casefold(), word)
        if other is not word:
            warnings.warn(
                f"{where}the labels {other!r} and {word!r} differ in case alone, and are two classes: if they are "
                "one, write them alike",
                stacklevel=2,
            )


def labels_of(block: Block) -> Floats:
    if block.labels is None:
        raise DataError(f"{block.where(0)}: the examples have no labels to learn from")
    return block.labels


def first_classes(block: Block, rows: int | None, words: Sequence[Label] | None) -> Classes:
    """The classes that the labels of the first rows are, ascending; None are all rows of the Block."""
    labels = labels_of(block)[:rows]
    seen = distinct(labels[~np.isnan(labels)])
    if words:
        if isinstance(words[0], bool):
            return Classes(words)
        check_number_of_classes(len(seen), len(labels), True, block.where(len(labels) - 1))
        labels_seen = sorted(str(words[int(value)]) for value in seen)
        _notice_odd(labels_seen, "" if block.path is None else f"{block.path}: ")
        return Classes(labels_seen)
    if len(seen) == 0:
        raise DataError(f"{block.where(0)}: the examples have no labels to learn from")
    odd = np.flatnonzero(labels != np.rint(labels))
    if len(seen) > 2 and len(odd):
        raise DataError(
            f"{block.where(int(odd[0]))}: label {in_words([labels[odd[0]]])} is not a class: for real "
            f"labels choose a loss of regression (--loss squared; a Regressor in Python), or name the "
            f"classes (--classes, classes=[...])"
        )
    check_number_of_classes(len(seen), len(labels), False, block.where(len(labels) - 1))
    if len(seen) == 1 and seen[0] == 1:
        return Classes([0.0, 1.0], open_pair=True)
    return Classes(seen)


def words_of(source: Any) -> Words:
    """What the labels of a source stand for, whenever it is asked."""
    return lambda: getattr(source, "label_names", None)
