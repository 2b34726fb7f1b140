"""What to do with a column that nobody spoke of and that is worth little as it is read."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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
_LARGEST = float(np.finfo(np.float32).max)
_WHOLE = 2**24
"""Up to here 32-bit floats hold each whole number."""

_MISSING = frozenset([None, "", *MISSING_NUMBERS])
_ID = re.compile(
    r"|(?i:Unnamed: 0|rownames?|row[ _.-]?(id|name|number|no|nr)|(.*[^a-z])?(id|uuid|guid|index))|.*[a-z]I[Dd]"
)
"""What columns are called that number the rows; pandas and R write such a column, without a name or with their own."""
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
    try:
        different = set(values)
    except TypeError:  # lists
        return None
    kinds = {*map(type, different)}
    missing = sum(values.count(gone) for gone in _MISSING & different)
    if float in kinds:
        missing += sum(value != value for value in values)
        different = {value for value in different if value == value}
    different -= _MISSING
    count = len(values) - missing
    if count == 0 and len(values) >= _FEW:
        return f"has no value in the first rows; if it stays so, pass --ignore {_named(column)}"
    if count == len(different) >= _ALL and _ID.fullmatch(column):
        return (
            "has another value in each of the first rows; if it only tells them apart, pass --ignore "
            + _named(column)
        )
    if count < _FEW:
        return None
    if kind == "number":
        return _of_numbers(column, different)
    if kind == "category" and kinds <= {str, type(None)}:
        return _of_names(column, [value for value in values if value not in _MISSING], different)
    return None


def _named(column: str) -> str:
    return column if re.fullmatch(r"[\w.-]+", column) else repr(column)


def _of_numbers(column: str, different: set[Any]) -> str | None:
    """
    >>> _of_numbers("zip", {"02139", "10001"})
    "holds codes such as '02139', each of which is read as a number; if they are names, pass --categorical zip"
    """
    others = f"if they are names, pass --categorical {_named(column)}"
    texts = [value for value in different if isinstance(value, str)]
    code = _code_in(texts)
    if code is not None:
        return f"holds codes such as {code!r}, each of which is read as a number; {others}"
    longest = max(map(len, texts), default=0)
    if longest > len(str(_WHOLE)) or len(texts) < len(different):
        numbers = {float(value) for value in different if _may_be_large(value)}
        large = [x for x in numbers if _WHOLE < abs(x) < _LARGEST]
        kept = len({*np.array(large, np.float32).tolist()})
        if kept < _NEARLY * len(large):
            return (
                f"holds {len(large)} different numbers above {_WHOLE:,}, of which 32-bit floats keep {kept} apart; "
                + others
            )
    return None


def _may_be_large(value: Any) -> bool:
    if not isinstance(value, str):
        return True
    whole = len(value.partition(".")[0]) >= len(str(_WHOLE)) or "e" in value or "E" in value
    return whole and NUMBER.fullmatch(value) is not None


def _code_in(texts: Collection[str]) -> str | None:
    """The first by the alphabet with a zero before it, where all are digits alone."""
    if not all(map(str.isdecimal, texts)):
        return None
    return min((text for text in texts if len(text) > 1 and text[0] == "0"), default=None)


def _of_names(column: str, seen: Sequence[str], different: set[str]) -> str | None:
    """
    >>> prices = [f"${n},{n:03}.50" for n in range(1, 40)]
    >>> print(_of_names("price", prices, {*prices}))
    holds numbers with other signs, such as '$1,001.50', each of which is learned as a name: write them as ...
    """
    name, first = _named(column), seen[0]
    learned = "each of which is learned as a name"
    others = f"; if they are names, pass --categorical {name}"
    strange = _no_numbers(seen, different)
    if 0 < len(strange) < FEW_OTHERS * len(seen):
        shown = ",".join(list(dict.fromkeys(strange))[:3])
        return (
            f"is read as names, since {len(strange)} of its first {len(seen)} values are no numbers: {shown}; if "
            f"those mean missing values, pass --absent {shown!r} and --numeric {name}{others}"
        )
    if len(different) >= _MANY:
        if all(map(_OTHER_DATE.fullmatch, different)):
            return f"holds dates such as {first!r}, {learned}: write them as 2024-03-01" + others
        if all(map(NUMBER.fullmatch, different)) and _code_in(different) is None:
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


def _no_numbers(seen: Sequence[str], different: Collection[str]) -> list[str]:
    """Those that are no numbers, if some are."""
    if not any(text[0] in "+-.0123456789 \t" for text in different):
        return []
    numbers = {text for text in different if NUMBER.fullmatch(text)} | TRUTHS.keys()
    return [text for text in seen if text not in numbers]


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
