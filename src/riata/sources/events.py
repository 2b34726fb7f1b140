"""Single dicts read by a schema, as the rows of a table are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from riata import _core
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.options import ReadOptions
from riata.sources.text.jsonl import DictSource

ReadEvent: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def event_reader(schema: Schema | None) -> ReadEvent | None:
    """What makes of a dict the names and values of its features; None where they are what the dict says.

    >>> from riata.schema import Column
    >>> read = event_reader(Schema((Column("hour", kind="category"), Column("id", "ignored"))))
    >>> read({"hour": 17, "id": "a7"})
    {'hour=17': 1.0}
    """
    if schema is None or not schema.named:
        return None
    if (
        schema.open
        and not schema.crosses
        and all(c.guessed and not c.is_changed for c in schema.columns)
    ):
        return None
    if schema.of_role("offset") is not None:
        return _refuse_offset
    if schema.crosses or any("." in c.name or c.kind in ("text", "dict") for c in schema.columns):
        return lambda x: _as_row(x, schema)
    missing = schema.missing == "feature"
    columns = schema.core_columns(objects=True)
    read: ReadEvent = _core.DictFormat(columns, schema.open, schema.absent, missing).read
    return read


def _refuse_offset(x: Mapping[str, Any]) -> Mapping[str, Any]:
    raise ValueError(
        "the model was trained with offsets, which single events do not have: give it a list, predict([x])"
    )


def _as_row(x: Mapping[str, Any], schema: Schema) -> dict[str, float]:
    """By way of the reader of many dicts, for what needs more than one column at a time."""
    try:
        [block] = DictSource([x], ReadOptions(schema=schema, labelled=False))
    except DataError as error:
        raise ValueError(str(error).removeprefix("row 0: ")) from None
    return {str(block.name_of(i)): float(block.values[i]) for i in range(block.nnz)}
