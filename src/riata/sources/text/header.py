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


def quoted_in(rows: Sequence[Sequence[str]], quote: str = '"') -> str | None:
    """A cell in quotes, where quotes in all of the cells are as if they quoted.

    >>> quoted_in([["1", '"a ""b"" c"'], ["2", "d"]])
    '"a ""b"" c"'
    >>> quoted_in([["1", '"a"'], ["2", 'she said "b"']])
    """
    found = None
    for cell in (cell for row in rows for cell in row if quote in cell):
        if cell.count(quote) % 2:  # there may be a newline between two
            whole = cell.startswith(quote) or cell.endswith(quote)
        else:
            whole = cell[0] == cell[-1] == quote
            whole = whole and quote not in cell[1:-1].replace(2 * quote, "")
            found = found or cell
        if not whole:
            return None
    return found
