"""What to do with a column that nobody spoke of and that is worth little as it is read."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from riata.sources.cells import MISSING_NUMBERS, NUMBER, TRUTHS

_FEW = 10
"""Fewer values than these do not show what a column is."""
_MANY = 20
"""So many different numbers are no names."""
_ALL = 100
"""If so many values are all different, others will be, too."""
_NEARLY = 0.9
FEW_OTHERS = 0.5
"""Fewer texts than numbers are a surprise."""
_WHOLE = 2**24
"""Up to here 32-bit floats hold each whole number."""

_ID = re.compile(
    r"|(?i:Unnamed: 0|rownames?|row[ _.-]?(id|name|number|no|nr)|(.*[^a-z])?(id|uuid|guid|index))|.*[a-z]I[Dd]"
)
"""What columns are called that number the rows; pandas and R write such a column, without a name or with their own."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d\S*)?")
_OTHER_DATE = re.compile(
    r"(\d{1,2}([/.-])\d{1,2}\2(\d{4}|\d\d)|\d{4}([/.])\d{1,2}\4\d{1,2})([T ,].*)?"
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_SIGNED = re.compile(
    r"[(+-]?\s*[$\u20a0-\u20cf£¥#~<>]?\s*[+-]?\d[\d.,' \u00a0\u202f]*([eE][+-]?\d+)?\s*"
    r"([%‰°$\u20a0-\u20cf£¥)]|[A-Za-zµ²³/]{1,6}\.?)?"
)
"""A number with a currency, a percent sign, a unit, or separators of thousands."""


def advice_on(column: str, kind: str, values: Sequence[Any]) -> str | None:
    """What to say of a column of these values, which are read as `kind`: "number", "category" or "list".

    >>> advice_on("order_id", "number", range(500))
    'has another value in each of the first rows; if it only tells them apart, pass --ignore order_id'
    >>> advice_on("user_id", "category", ["ann", "bob"] * 100), advice_on("size", "number", range(500))
    (None, None)
    """
    seen = [value for value in values if not _is_missing(value)]
    if not seen:
        if len(values) < _FEW:
            return None
        return f"has no value in the first rows; if it stays so, pass --ignore {_named(column)}"
    different = {*map(str, seen)}
    if _ID.fullmatch(column) and _ALL <= len(seen) == len(different):
        return (
            "has another value in each of the first rows; if it only tells them apart, pass --ignore "
            + _named(column)
        )
    if len(seen) < _FEW:
        return None
    if kind == "number":
        return _of_numbers(column, seen, different)
    if kind == "category" and all(isinstance(value, str) for value in seen):
        return _of_names(column, seen, different)
    return None


def _named(column: str) -> str:
    return column if re.fullmatch(r"[\w.-]+", column) else repr(column)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return not value or value in MISSING_NUMBERS
    return value is None or (isinstance(value, float) and math.isnan(value))


def _of_numbers(column: str, seen: Sequence[Any], different: set[str]) -> str | None:
    """
    >>> _of_numbers("zip", ["02139", "10001"], {"02139", "10001"})
    "holds codes such as '02139', each of which is read as a number; if they are names, pass --categorical zip"
    """
    others = f"if they are names, pass --categorical {_named(column)}"
    code = _code_in(seen)
    if code is not None:
        return f"holds codes such as {code!r}, each of which is read as a number; {others}"
    if max(map(len, different)) > len(str(_WHOLE)):
        numbers = {float(text) for text in different if NUMBER.fullmatch(text)}
        large = [x for x in numbers if _WHOLE < abs(x) < np.finfo(np.float32).max]
        kept = len({*np.array(large, np.float32).tolist()})
        if kept < _NEARLY * len(large):
            return (
                f"holds {len(large)} different numbers above {_WHOLE:,}, of which 32-bit floats keep {kept} apart; "
                + others
            )
    return None


def _code_in(seen: Sequence[Any]) -> str | None:
    """One with a zero before it, where all are digits alone."""
    if not all(isinstance(text, str) and text.isdecimal() for text in seen):
        return None
    return next((text for text in seen if len(text) > 1 and text[0] == "0"), None)


def _of_names(column: str, seen: Sequence[str], different: set[str]) -> str | None:
    """
    >>> prices = [f"${n},{n:03}.50" for n in range(1, 40)]
    >>> print(_of_names("price", prices, {*prices}))
    holds numbers with other signs, such as '$1,001.50', each of which is learned as a name: write them as ...
    >>> days = ["2024-03-01", "2024-03-02"] * 10
    >>> _of_names("day", days, {*days})
    'holds dates, each of which is learned as a name; pass --date day for their year, month, weekday and hour'
    """
    name, first = _named(column), seen[0]
    if all(map(_DATE.fullmatch, different)):
        advice = f"pass --date {name} for their year, month, weekday and hour"
        return f"holds dates, each of which is learned as a name; {advice}"
    learned = "each of which is learned as a name"
    others = f"; if they are names, pass --categorical {name}"
    strange = [text for text in seen if not NUMBER.fullmatch(text) and text not in TRUTHS]
    if 0 < len(strange) < FEW_OTHERS * len(seen):
        shown = ",".join(list(dict.fromkeys(strange))[:3])
        return (
            f"is read as names, since {len(strange)} of its first {len(seen)} values are no numbers: {shown}; if "
            f"those mean missing values, pass --absent {shown!r} and --numeric {name}{others}"
        )
    if len(different) >= _MANY:
        if all(map(_OTHER_DATE.fullmatch, different)):
            return (
                f"holds dates such as {first!r}, {learned}: write them as 2024-03-01, and pass --date {name}"
                + others
            )
        if all(map(NUMBER.fullmatch, different)) and _code_in(seen) is None:
            return (
                f"holds numbers as texts, {learned}; pass --numeric {name} to read them as numbers"
            )
        if all(_DECIMAL_COMMA.fullmatch(t) or NUMBER.fullmatch(t) for t in different) and any(
            len(text.rpartition(",")[2]) != 3 for text in different if "," in text
        ):
            return f"holds numbers with a comma, such as {first!r}, {learned}; pass --decimal , for text{others}"
        if all(map(_SIGNED.fullmatch, different)):
            return (
                f"holds numbers with other signs, such as {first!r}, {learned}: write them as "
                f"{_plain(first)}{others}"
            )
    if len(seen) >= _ALL and len(different) >= _NEARLY * len(seen):
        return (
            f"has another text in nearly each of the first rows, such as {_short(first)!r}, {learned} and says "
            f"little of new rows; pass --text {name} for the words in it, --ignore {name}, or --categorical {name}"
        )
    return None


def _plain(text: str) -> str:
    """
    >>> _plain("$1,234.50"), _plain("1.234,50 €"), _plain("12,5%"), _plain("1,234 kg")
    ('1234.50', '1234.50', '12.5', '1234')
    """
    found = re.search(r"-?\d[\d.,]*", text)
    digits = found[0].rstrip(".,") if found else text
    last = max(digits.rfind("."), digits.rfind(","))
    is_point = last >= 0 and (len(digits) - last != 4 or len({*digits} & {".", ","}) == 2)
    if not is_point:
        return re.sub("[.,]", "", digits)
    return re.sub("[.,]", "", digits[:last]) + "." + digits[last + 1 :]


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
