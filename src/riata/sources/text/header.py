"""Whether the first line of a table names its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from riata.sources.cells import MISSING_NUMBERS, NUMBER

_RARE = 0.02
"""A column in which fewer of the next values are expected to be new tells names from values."""


def looks_like_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Whether the cells of the first line are names, by the rows below; None where that is anybody's guess.

    With numbers below there is little doubt. Where all are words, names are told by a column of few values in which
    theirs does not occur, and values by a column in which theirs does.

    >>> looks_like_header(["age", "city"], [["31", "Rome"]]), looks_like_header(["31", "Rome"], [])
    (True, False)
    >>> looks_like_header(["kind", "text"], [["ham", "hello"], ["spam", "win"]] * 50)
    True
    >>> looks_like_header(["ham", "first"], [["ham", f"other {n}"] for n in range(100)])
    False
    >>> looks_like_header(["a", "b"], [["c", "d"]]) is None
    True
    """
    if any(not cell or cell in MISSING_NUMBERS or NUMBER.fullmatch(cell) for cell in first):
        return False
    distinct = len(set(first)) == len(first)
    if distinct and any(NUMBER.fullmatch(cell) for row in rows for cell in row):
        return True
    names = values = False
    for place, cell in enumerate(first):
        seen = Counter(row[place].strip() for row in rows if len(row) == len(first))
        if cell in seen:
            values = True
        else:
            names |= distinct and _chance_of_new(seen) < _RARE
    return names if names != values else None


def _chance_of_new(seen: Counter[str]) -> float:
    """How likely the next value is a new one, by the share of values that occurred once (Good and Turing)."""
    return (sum(count == 1 for count in seen.values()) + 1) / (seen.total() + 1)
