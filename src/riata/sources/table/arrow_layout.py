"""What the columns of a table of Arrow are: their types say most of it, the first rows the rest.

Needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from riata.errors import DataError
from riata.schema import NUMBERS, Column, Schema
from riata.sources.cells import NUMBER, are_dates, are_truths
from riata.sources.labels import BOOLS, text_words
from riata.sources.numbers import bucket_edges, is_scaled
from riata.sources.options import LOOK_AT
from riata.sources.table.arrow_arrays import (
    as_text,
    is_list,
    is_number,
    is_text,
    parsed_float64,
    without_dictionary,
)
from riata.sources.table.layout import (
    LOOK_AT_BUCKETS,
    TableOptions,
    label_names_of,
    make_schema,
)
from riata.words import looks_like_text

BLANKS = " \t\r"


def rows_needed(schema: Any, options: TableOptions, name: str) -> int:
    """How many of the first rows must be seen to know what the columns are."""
    if options.transforms.buckets:
        return LOOK_AT_BUCKETS
    given = options.given
    if options.scale != "none" and (given is None or given.open):
        return LOOK_AT
    if given is not None and any(map(is_scaled, given.columns)):
        return LOOK_AT
    label = None if given is None else given.of_role("label")
    if options.roles.label is not None or label is None:
        label = options.roles.label_in(feature_columns(schema), options.labelled, name)
    if given is None and any(map(is_text, schema.types)):
        return LOOK_AT
    if label not in schema.names:
        return 0
    if given is not None and text_words(given.label_names):
        return 0
    return LOOK_AT if holds_text(schema.field(label).type) else 0


def feature_columns(schema: Any) -> list[str]:
    """The columns that somebody meant to be there: not the index that pandas saves."""
    return [column for column in schema.names if not column.startswith("__index_level_")]


def find_table_schema(schema: Any, head: Any, wanted: TableOptions, name: str) -> Schema:
    """The schema of a table with these types whose first rows are the table `head`."""
    columns = feature_columns(schema)
    roles, transforms = wanted.roles, wanted.transforms
    absent = wanted.kept.absent

    def first(column: str) -> Any:
        if column not in head.column_names:  # pyarrow reads some damaged files so
            raise DataError(
                f"{name}: the file says that it has a column {column!r}, and its rows have none: it is damaged"
            )
        return head.column(column)

    def numbers(column: str) -> NDArray[np.float64]:
        return present_numbers(first(column).slice(0, LOOK_AT), absent, column, name)

    def find(column: str) -> Column:
        kind = schema.field(column).type
        moments = is_day_or_moment(kind)
        _check_type(column, kind, moments or column in (*roles.categorical, *roles.date), name)
        if column in roles.date:
            return Column(column, kind="date")
        if column in roles.text:
            if not holds_text(kind):
                raise DataError(f"{name}: column {column!r} holds {kind}, not texts")
            return wanted.text_column(column)
        if column in transforms.log1p:
            return Column(column, kind="log1p")
        if column in transforms.buckets:
            found = present_numbers(first(column), absent, column, name)
            edges = bucket_edges(found, transforms.buckets[column], column, name)
            return Column(column, kind="bucket", edges=tuple(edges))
        made = find_kind(column, kind)
        return wanted.notice(made, lambda: first(column).slice(0, LOOK_AT).to_pylist(), name)

    def find_kind(column: str, kind: Any) -> Column:
        if is_day_or_moment(kind) and column not in roles.categorical:
            return wanted.date_column(column, name)
        if column in roles.numeric or (is_number(kind) and column not in roles.categorical):
            return wanted.number(column, lambda: numbers(column))
        if is_text(kind) and "binary" not in str(kind):
            texts = [] if column in roles.categorical else first(column).to_pylist()
            texts = [text for text in texts[:LOOK_AT] if text and text not in absent]
            if wanted.given is None and are_truths(texts):
                return wanted.number(column, lambda: numbers(column))
            if are_dates(texts):
                return wanted.date_column(column, name)
            if looks_like_text(texts):
                return wanted.text_column(column, found=name)
        return Column(column, kind="list" if is_list(kind) else "category")

    def find_words(column: str) -> Sequence[Any]:
        first(column)
        return label_names(head.slice(0, LOOK_AT), column, schema.field(column).type, absent, name)

    def numbers_if_any(column: str) -> NDArray[np.float64]:
        kind = schema.field(column).type
        return numbers(column) if is_number(kind) or is_text(kind) else np.empty(0)

    found = make_schema(columns, wanted, name, find, find_words, numbers_if_any)
    check_types(schema, found.arranged(columns, wanted.labelled, name), name)
    return found


def check_types(types: Any, schema: Schema, name: str) -> None:
    """Refuse a column of a type that cannot be what it was before."""
    for column in schema.features:
        kind = types.field(column.name).type
        _check_type(column.name, kind, column.kind in ("category", "list", "date"), name)
        if column.kind == "date" and not (
            holds_text(kind) or pa.types.is_null(kind) or is_day_or_moment(kind)
        ):
            raise DataError(f"{name}: column {column.name!r} holds {kind}, not dates")
        if column.kind == "text" and not (holds_text(kind) or pa.types.is_null(kind)):
            raise DataError(
                f"{name}: column {column.name!r} holds {kind}, but the model was trained with it as text"
            )
        if is_list(kind) and column.kind in NUMBERS:
            raise DataError(
                f"{name}: column {column.name!r} holds {kind}, but the model was trained with it as "
                f"{column.kind}"
            )


def is_day_or_moment(kind: Any) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def dates_as_text(values: Any) -> Any:
    """Dates and times as ISO 8601 writes them, by the clock of their zone."""
    if pa.types.is_dictionary(values.type):
        values = without_dictionary(values)
    if pa.types.is_date(values.type):
        return as_text(values.cast(pa.date32()))
    if not pa.types.is_timestamp(values.type):
        return as_text(values)
    if values.type.tz is not None:
        values = pc.local_timestamp(values)
    return pc.strftime(values.cast(pa.timestamp("s"), safe=False), "%Y-%m-%dT%H:%M:%S").cast(
        pa.large_string()
    )


def _check_type(column: str, kind: Any, category: bool, name: str) -> None:
    types, whole = pa.types, kind
    if types.is_dictionary(kind):
        kind = kind.value_type
    if is_list(kind):
        kind = kind.value_type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if is_text(kind):
            return
    elif (
        is_text(kind)
        or types.is_null(kind)
        or is_number(kind)
        or (category and types.is_temporal(kind))
    ):
        return
    raise DataError(
        f"{name}: column {column!r} holds {whole}, which makes no features; "
        f"convert it, name it categorical, or leave it out: "
        f"--ignore {column}"
    )


def without_absent(values: Any, absent: Sequence[str], exact: bool = True) -> Any:
    """Texts, or numbers, with nulls for those that mean a missing value.

    Of numbers, those that the texts spell; of other texts without the blanks around them unless
    `exact`.
    """
    if not absent:
        return values
    kind = values.type
    if is_number(kind) and not pa.types.is_boolean(kind):
        spelled = [float(text) for text in absent if NUMBER.fullmatch(text)]
        numbers = values.cast(pa.float64(), safe=False)
        gone = pc.is_in(numbers, value_set=pa.array(spelled, pa.float64()))
    else:
        texts = as_text(without_dictionary(values) if pa.types.is_dictionary(kind) else values)
        trimmed = texts if exact else pc.utf8_trim(texts, BLANKS)
        gone = pc.is_in(trimmed, value_set=pa.array(absent, pa.large_string()))
        values = texts
    return pc.if_else(gone, pa.scalar(None, values.type), values)


def present_numbers(
    values: Any, absent: Sequence[str], column: str, name: str
) -> NDArray[np.float64]:
    """The numbers of a column, without those that are missing."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    try:
        numbers, valid, _ = parsed_float64(without_absent(values, absent, exact=False), truths=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{name}: column {column!r}: {str(error).splitlines()[0]}") from None
    if valid is not None:
        numbers = numbers[valid.view(np.bool_)]
    return numbers[np.isfinite(numbers)]


def holds_text(kind: Any) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def label_names(
    head: Any, column: str, kind: Any, absent: Sequence[str], name: str
) -> Sequence[Any]:
    """What labels stand for: words, or bools; nothing where they are numbers."""
    if pa.types.is_boolean(kind):
        return BOOLS
    if not holds_text(kind):
        return []
    texts = head.column(column).cast(pa.large_string())
    words = [word.strip(BLANKS) for word in texts.to_pylist() if word is not None]
    present = [word for word in words if word and word not in absent]
    if all(map(NUMBER.fullmatch, present[:LOOK_AT])):
        return []
    return label_names_of(present, column, name)
