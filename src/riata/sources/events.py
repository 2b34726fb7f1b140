"""Single dicts read by a schema, as the rows of a table are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.keyed import KeyedSource
from riata.sources.options import ReadOptions
from riata.sources.source import Source
from riata.sources.text.jsonl import DictSource
from riata.text_weights import TextWeights

ReadEvent: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def event_reader(schema: Schema | None, for_core: bool = False) -> ReadEvent | None:
    """What makes of a dict the names and values of its features; None where they are what the dict says.

    `for_core`: nobody but events of the core will look at the result, so it need not be a dict.

    >>> from riata.schema import Column
    >>> read = event_reader(Schema((Column("hour", kind="category"), Column("id", "ignored"))))
    >>> read({"hour": 17, "id": "a7"})
    {'hour=17': 1.0}
    """
    if schema is None or not schema.named:
        return None
    if (
        schema.open
        and schema.truths
        and not schema.crosses
        and all(c.guessed and not c.is_changed for c in schema.columns)
    ):
        return None
    if schema.of_role("offset") is not None:
        return _refuse_offset
    if schema.text_weights is not None:
        return lambda x: _as_features(weights_of(schema).weigh(event_row(x, schema)))
    if schema.crosses or any(
        "." in c.name or c.kind in ("text", "date", "dict") for c in schema.columns
    ):
        return lambda x: _as_features(event_row(x, schema))
    missing = schema.missing == "feature"
    columns = schema.core_columns(objects=True)
    format = _core.DictFormat(columns, schema.open, schema.absent, missing, not schema.truths)
    return format.event if for_core else format.read


def _refuse_offset(x: Mapping[str, Any]) -> Mapping[str, Any]:
    raise ValueError(
        "the model was trained with offsets, which single events do not have: give it a list, predict([x])"
    )


def weights_of(schema: Schema) -> TextWeights:
    assert schema.text_weights is not None
    return schema.text_weights


def event_row(x: Mapping[str, Any], schema: Schema) -> Block:
    """By way of the reader of many dicts, for what needs more than one column at a time."""
    source: Source = DictSource([x], ReadOptions(schema=schema, labelled=False))
    if schema.hash_key is not None:
        source = KeyedSource(source, schema.hash_key)
    try:
        [block] = source
    except DataError as error:
        raise ValueError(str(error).removeprefix("row 0: ")) from None
    return block


def _as_features(block: Block) -> dict[str, float]:
    return {str(block.name_of(i)): float(block.values[i]) for i in range(block.nnz)}
