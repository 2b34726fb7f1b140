"""What texts stand for in cells of tables: numbers, missing ones, truths."""

from __future__ import annotations

import re
from collections.abc import Iterable

TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
"""What stands for numbers in columns of text, where bools were written."""
MISSING_NUMBERS = ("NA", "NaN", "nan", "null", "NULL", "?")
"""What stands for a missing number in text, beside nothing at all; as in the core."""

NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\r]*")


def are_truths(texts: Iterable[str]) -> bool:
    """Whether texts are bools, however they are spelled; some may be missing.

    >>> are_truths(["True", "NA", "FALSE"]), are_truths(["true", "yes"]), are_truths(["NA"])
    (True, False, False)
    """
    there = {text.strip() for text in texts} - {"", *MISSING_NUMBERS}
    return bool(there) and there <= TRUTHS.keys()
