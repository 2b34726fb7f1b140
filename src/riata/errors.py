"""What can go wrong through no fault of Riata's: every message says what, where, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RiataError(Exception):
    """The base of all errors that a user can act on; the command line prints them without a traceback."""


class DataError(RiataError, ValueError):
    """The input is not what it should be. The message starts with file:line:column where there is one."""


class NoExamples(DataError):
    """There is nothing to read in the input: it is whole, but holds no example."""


class LostData(DataError):
    """A file was cut short while it was read: some of what was read before this error was not what the
    file had held, and whatever was learned from it is worth nothing."""


class ChangedData(DataError):
    """The examples are not those that were read before, in an earlier pass or by the run to resume: what was
    learned from both is worth nothing."""


class RefusedExample(DataError):
    """An example that cannot be learned. Those before it in its Block were: `scores` are theirs."""

    def __init__(self, message: str, scores: NDArray[np.float64]) -> None:
        super().__init__(message)
        self.scores = scores


class OutOfMemory(RiataError, MemoryError):
    """The program has come to the most memory that it may take."""


class ModelError(RiataError, ValueError):
    """A model file cannot be read: cut short, damaged, foreign, or written by a newer Riata."""


class DivergenceError(RiataError, ArithmeticError):
    """The weights have grown beyond what a float holds: the learning rate is too high for these values."""


class SettingsError(RiataError, ValueError):
    """Settings of a training that make no sense, alone or together."""


def refuse_twice(columns: Sequence[str], name: str) -> None:
    """Refuse a table in which several columns have one name."""
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise DataError(f"{name}: several columns are called {column!r}; rename them")
        seen.add(column)


def in_words(columns: Sequence[str]) -> str:
    """Names of columns, not too many.

    >>> in_words(["age", "city"])
    "'age', 'city'"
    """
    shown = ", ".join(map(repr, columns[:12])) if columns else "none"
    return shown if len(columns) <= 12 else f"{shown} and {len(columns) - 12} more"


def suggest(column: str, columns: Sequence[str]) -> str:
    """What somebody who named a column that is not there may have meant.

    >>> suggest("Citty", ["city", "age"])
    "did you mean 'city'? There are 'city', 'age'"
    """
    from difflib import get_close_matches  # few commands have something to suggest

    by_lower = {name.lower(): name for name in reversed(columns)}
    near = get_close_matches(column.lower(), list(by_lower), n=1)
    shown = in_words(columns)
    if columns and all(map(str.isdigit, columns)):
        shown = f"{len(columns)} columns without names, numbered from 1"
        shown += "; if the first line is a header, say so with --header-line (header=True)"
    if not near or column.isdigit():
        return f"there are {shown}"
    return f"did you mean {by_lower[near[0]]!r}? There are {shown}"
