"""What texts stand for in cells of tables: numbers, missing ones, truths."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable

TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
"""What stands for numbers in columns of text, where bools were written."""
MISSING_NUMBERS = ("NA", "NaN", "nan", "null", "NULL", "?")
"""What stands for a missing number in text, beside nothing at all; as in the core."""

_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?"  # what the core reads
)
NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\r]*")


def are_truths(texts: Iterable[str]) -> bool:
    """Whether texts are bools, however they are spelled; some may be missing.

    >>> are_truths(["True", "NA", "FALSE"]), are_truths(["true", "yes"]), are_truths(["NA"])
    (True, False, False)
    """
    there = {text.strip() for text in texts} - {"", *MISSING_NUMBERS}
    return bool(there) and there <= TRUTHS.keys()


def are_dates(texts: Iterable[str], absent: Collection[str] = ()) -> bool:
    """Whether texts are days, perhaps with a time, as ISO 8601 has them; some may be missing.

    >>> are_dates(["2024-03-01", "NA"]), are_dates(["2024-03-01 17:30"]), are_dates(["2024-03-32"]), are_dates(["NA"])
    (True, True, False, False)
    """
    there = {text.strip() for text in texts} - {"", *MISSING_NUMBERS, *absent}
    return bool(there) and all(map(_is_date, there))


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text) is None:
        return False
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
