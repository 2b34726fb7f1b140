"""What the first JSON objects of a stream have under their keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.schema import Column
from riata.sources.cells import MISSING_NUMBERS, NUMBER, TRUTHS, are_dates
from riata.sources.labels import BOOLS
from riata.sources.table.layout import TableOptions
from riata.sources.text.dumped import date_as_text
from riata.words import looks_like_text

_DEEPEST = 64
_MOST_COLUMNS = 1000
"""So many keys are columns; objects with more are rows of a sparse matrix, whose names tell all."""


def objects_in(lines: Iterable[bytes]) -> Iterator[Any]:
    for line in lines:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):  # parsing will say what is wrong with it
            continue


_NOTHING = object()


def lookup(item: Any, path: str, nothing: Any = None) -> Any:
    """The value under a key, or under a path of keys."""
    if not isinstance(item, Mapping):
        return nothing
    if path in item:
        return item[path]
    for at, sign in enumerate(path):
        if sign == "." and path[:at] in item:
            return lookup(item[path[:at]], path[at + 1 :], nothing)
    return nothing


def any_has(objects: Iterable[Any], path: str) -> bool:
    """Whether there is something, perhaps null, under this path in one of them."""
    return any(lookup(item, path, _NOTHING) is not _NOTHING for item in objects)


def values_in(objects: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """What the objects have under each path, null among it."""
    found: dict[str, list[Any]] = {}

    def gather(item: Mapping[str, Any], before: str, depth: int = 0) -> None:
        for key, value in item.items():
            if isinstance(value, Mapping):
                if depth < _DEEPEST:  # else parsing will say that it is too deep
                    gather(value, f"{before}{key}.", depth + 1)
            else:
                found.setdefault(f"{before}{key}", []).append(date_as_text(value))

    for item in objects:
        gather(item, "")
    return found


def is_within(path: str, others: Iterable[str]) -> bool:
    """Whether the path is one of the others, or below one.

    >>> is_within("user.age", ["user"]), is_within("users", ["user"])
    (True, False)
    """
    return any(path == other or path.startswith(f"{other}.") for other in others)


def find_columns(
    values: Mapping[str, list[Any]], absent: Sequence[str] = (), bools: bool = True
) -> list[Column]:
    """What the values are, where all under a path are alike; none where there are very many paths.

    absent: texts that mean a missing value. bools: texts of true and false are numbers where there is nothing else.

    >>> [(c.name, c.kind) for c in find_columns({"a": [1, None], "b": ["x"], "c": [1, "x"]})]
    [('a', 'number'), ('b', 'category')]
    """
    if len(values) > _MOST_COLUMNS:
        return []
    found = []
    for path, seen in values.items():
        kinds = {_kind(value, absent) for value in seen if value is not None}
        if bools and kinds <= {"number", "truth", "missing"} and "truth" in kinds:
            found.append(Column(path, kind="number"))
            continue
        kinds = {"category" if kind in ("truth", "missing") else kind for kind in kinds}
        if len(kinds) == 1 and (kind := kinds.pop()):
            found.append(Column(path, kind=kind, guessed=True))
    return found


def with_texts(
    columns: list[Column], values: Mapping[str, list[Any]], wanted: TableOptions, name: str
) -> Iterator[Column]:
    """The columns, those whose values are dates, or look like texts to be taken apart, being that."""
    for column in columns:
        texts = [value for value in values[column.name] if isinstance(value, str) and value]
        if column.kind == "category" and are_dates(texts, wanted.kept.absent):
            yield wanted.date_column(column.name, name)
        else:
            yield wanted.text_column(column.name, found=name) if looks_like_text(texts) else column


def _kind(value: Any, absent: Sequence[str]) -> str:
    if isinstance(value, str):
        text = value.strip()
        if not text or text in MISSING_NUMBERS or text in absent:
            return "missing"
        return "truth" if text in TRUTHS else "category"
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return "number"
    alike = isinstance(value, (list, tuple, set)) and all(isinstance(item, str) for item in value)
    return "list" if alike else ""


def numbers_in(values: Iterable[Any], absent: Sequence[str]) -> NDArray[np.float64]:
    """Those of the values that are numbers, or texts of numbers."""
    kept = []
    for value in values:
        if isinstance(value, str):
            text = value.strip()
            if text not in absent and (NUMBER.fullmatch(text) or text in TRUTHS):
                kept.append(TRUTHS[text] if text in TRUTHS else float(text))
        elif isinstance(value, (bool, int, float, np.number, np.bool_)):
            kept.append(float(value))
    return np.array(kept)


def labels_in(objects: Iterable[Any], key: str, absent: Iterable[str]) -> list[Any]:
    """The labels of objects that have one, words without the blanks around them.

    >>> labels_in([{"y": " spam"}, {"y": None}, {"x": 1}, {"y": "NA"}], "y", ["NA"])
    ['spam']
    """
    missing = {"", *absent}
    found = [lookup(item, key) for item in objects]
    labels = [label.strip(" \t\r") if isinstance(label, str) else label for label in found]
    return [
        label
        for label in labels
        if not (label is None or (isinstance(label, str) and label in missing))
    ]


def names_of(seen: Sequence[Any]) -> tuple[Any, ...] | None:
    """What labels stand for: words, in the order of their numbers, or bools; () where some are numbers, None where
    there are none.

    >>> names_of(["spam", "ham"]), names_of([True, True]), names_of([1, 0]), names_of([])
    (('ham', 'spam'), (False, True), (), None)
    """
    if not seen:
        return None
    if all(isinstance(label, bool | np.bool_) for label in seen):
        return BOOLS
    words = {label for label in seen if isinstance(label, str)}
    numbers = any(isinstance(label, int | float | np.number) for label in seen)
    return tuple(sorted(words)) if words and not numbers else ()


def scaled(column: Column, values: list[Any], objects: int, wanted: TableOptions) -> Column:
    """A key that most objects have, with a number each, is a column of numbers like those of tables."""
    if column.kind != "number" or 2 * len(values) < objects:
        return column
    made = wanted.number(column.name, lambda: numbers_in(values, wanted.kept.absent))
    return replace(made, guessed=column.guessed)
