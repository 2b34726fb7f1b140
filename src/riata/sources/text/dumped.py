"""Dicts as the lines of JSON that they would be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def texts_of(rows: list[Mapping[str, Any]]) -> tuple[list[str], str]:
    """The rows as text, up to one that cannot be written so, and why."""
    texts = []
    for row in rows:
        try:
            texts.append(_dumped(row))
        except (TypeError, ValueError, RecursionError) as error:
            return texts, f"cannot be read as features: {error}"
    return texts, ""


def _dumped(row: Mapping[str, Any]) -> str:
    text = json.dumps(row, ensure_ascii=False, default=_as_json, separators=(",", ":"))
    if "NaN" in text:  # or a text says so, and nothing changes
        text = json.dumps(
            _without_nan(row), ensure_ascii=False, default=_as_json, separators=(",", ":")
        )
    return text + "\n"


def _without_nan(value: Any) -> Any:
    """The same with None for NaN, which is how pandas has missing values, as a frame would be read."""
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, (float, np.floating)) and value != value else value


def date_as_text(value: Any) -> Any:
    """A date or time as the text that it is in JSON, None for NaT; any other value as it is."""
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    if hasattr(value, "isoformat"):
        return value.isoformat() if value == value else None
    return value


def _as_json(value: Any) -> Any:
    """NumPy's numbers and arrays, dates, mappings and sets as JSON knows them."""
    if isinstance(value, np.datetime64) or hasattr(value, "isoformat"):
        return date_as_text(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is neither number, text, list nor dict")
