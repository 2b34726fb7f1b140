"""What the columns of a table of Arrow are: their types say most of it, the first rows the rest.

Needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from riata.errors import DataError
from riata.sources.table.arrow_arrays import as_text, float64, is_list, is_number, is_text
from riata.sources.table.layout import (
    LOOK_AT,
    LOOK_AT_BUCKETS,
    NUMBER,
    Layout,
    bucket_edges,
    check_transformed,
    label_names_of,
)
from riata.sources.table.roles import Roles, Transforms

BLANKS = " \t\r"


@dataclass(frozen=True)
class TableOptions:
    """What a caller wants of a table."""

    roles: Roles
    transforms: Transforms = field(default_factory=Transforms)
    absent: Sequence[str] = ()
    labelled: bool = True
    names: bool = True
    crosses: Sequence[Sequence[str]] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    """What another source found out."""
    skip: bool = False
    """Leave out rows that cannot be read."""

    def schema(self, layout: Layout) -> dict[str, Any]:
        kept = {"missing": self.roles.missing, "absent": list(self.absent)}
        return layout.to_json() | kept | {"crosses": [list(cross) for cross in self.crosses]}


def rows_needed(schema: Any, options: TableOptions, name: str) -> int:
    """How many of the first rows must be seen to know what the columns are."""
    columns = feature_columns(schema)
    label = options.roles.label_in(columns, options.labelled, name)
    if options.transforms.buckets:
        return LOOK_AT_BUCKETS
    return LOOK_AT if label is not None and _holds_text(schema.field(label).type) else 0


def feature_columns(schema: Any) -> list[str]:
    """The columns that somebody meant to be there: not the index that pandas saves."""
    return [column for column in schema.names if not column.startswith("__index_level_")]


def find_table_layout(schema: Any, head: Any, options: TableOptions, name: str) -> Layout:
    """The layout of a table with this schema whose first rows are the table `head`."""
    columns = feature_columns(schema)
    roles, transforms = options.roles, options.transforms
    features = roles.features(columns, options.labelled, name)
    label = roles.label_in(columns, options.labelled, name)
    for column in transforms.columns:
        check_transformed(column, columns, features, roles, name)
    layout = Layout(columns, [])
    for column in columns:
        kind = schema.field(column).type
        if column == label:
            layout.kinds.append("label")
            layout.label_names = _label_names(head, column, kind, options, name)
        elif column == roles.weight:
            layout.kinds.append("weight")
        elif column == roles.offset:
            layout.kinds.append("offset")
        elif column not in features:
            layout.kinds.append("ignored")
        elif column in transforms.log1p:
            layout.kinds.append("log1p")
        elif column in transforms.buckets:
            layout.kinds.append("bucket")
            numbers = present_numbers(head.column(column), options.absent, column, name)
            count = transforms.buckets[column]
            layout.edges[column] = bucket_edges(numbers, count, column, name)
        elif column in roles.numeric or (is_number(kind) and column not in roles.categorical):
            layout.kinds.append("number")
        else:
            layout.kinds.append("category")
        if column in features:
            _check_type(column, kind, column in roles.categorical, name)
    return layout


def check_types(schema: Any, layout: Layout, name: str) -> None:
    """Refuse a column of a type that cannot be what it was before."""
    for column, what in zip(layout.columns, layout.kinds, strict=True):
        if what in ("number", "log1p", "bucket", "category"):
            _check_type(column, schema.field(column).type, what == "category", name)


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
        f"convert it, name it categorical, or leave it out: --ignore {column}"
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
        texts = as_text(values.dictionary_decode() if pa.types.is_dictionary(kind) else values)
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
        numbers, valid = float64(without_absent(values, absent, exact=False))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{name}: column {column!r}: {str(error).splitlines()[0]}") from None
    if valid is not None:
        numbers = numbers[valid.view(np.bool_)]
    return numbers[np.isfinite(numbers)]


def _holds_text(kind: Any) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _label_names(head: Any, column: str, kind: Any, options: TableOptions, name: str) -> list[str]:
    if "label_names" in options.given:
        return list(options.given["label_names"] or ())
    if not _holds_text(kind):
        return []
    texts = head.column(column).cast(pa.large_string())
    words = [word.strip(BLANKS) for word in texts.to_pylist() if word is not None]
    present = [word for word in words if word and word not in options.absent]
    if all(map(NUMBER.fullmatch, present[:LOOK_AT])):
        return []
    return label_names_of(present, column, name)


def arranged(schema: Any, layout: Layout, options: TableOptions, name: str) -> Layout:
    """A layout that was found before, for another table."""
    return layout.arranged(feature_columns(schema), options.labelled, name, options.roles)
