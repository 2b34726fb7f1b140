"""Batches of Arrow columns to Blocks of named features. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.sources.roles import Roles

MARK = b"riata.rows"
"""In the metadata of a schema: the columns are those of `to_table`, not features."""

_FLAWS = {
    "not_finite": "is beyond what a 32-bit float holds (3.4e38), or infinite; rescale or drop it",
    "sum_too_large": "adds up, or multiplies, to more than a 32-bit float holds (3.4e38); rescale it",
    "row_too_long": "is in crosses that make more than 67 million features of a row",
    "damaged": "holds offsets that lead nowhere; the data is damaged",
}


class BatchReader:
    """Turns batches of one schema into Blocks; may be used from several threads."""

    def __init__(
        self,
        schema: Any,
        name: str,
        roles: Roles,
        *,
        labelled: bool = True,
        names: bool = True,
        crosses: Sequence[Sequence[str]] = (),
    ) -> None:
        self.schema = flat_schema(schema)
        self.ready_made = is_ready_made(schema)
        self._name, self._roles, self._labelled = name, roles, labelled
        self._names, self._crosses = names, crosses
        self._dictionaries: dict[str, tuple[Any, _Dictionary]] = {}
        if self.ready_made:
            self.columns = self.schema.names
            return
        columns = [c for c in self.schema.names if not c.startswith("__index_level_")]
        self._features = roles.features(columns, labelled, name)
        self._label = roles.label_in(columns, labelled, name)
        if not self._features:
            raise DataError(f"{name}: no column is left for the features")
        for column in self._features:
            self._check(column, self.schema.field(column).type)
        groups = {group for cross in crosses for group in cross}
        for group in sorted(groups - set(self._features)):
            raise DataError(f"{name}: a cross names {group!r}, which is no column of features")
        extra = [c for c in (self._label, roles.weight) if c is not None]
        self.columns = [c for c in self.schema.names if c in {*self._features, *extra}]

    def block(self, batch: Any, path: str | None, first_row: int) -> Block:
        """The rows of a batch, the first of them row `first_row` of its file, counted from 0."""
        table = flat(batch)
        if self.ready_made:
            return from_table(table, path, first_row)
        columns = _core.Columns(len(table))
        for name in self._features:
            self._add(columns, name, table.column(name), path or self._name)
        indptr, keys, values, names, offsets, trouble = columns.read(
            self._names, self._roles.missing == "feature", self._crosses
        )
        if trouble is not None:
            kind, row, column = trouble
            raise DataError(
                f"{path or self._name}: row {first_row + row}, column "
                f"{self._features[column]!r} {_FLAWS[kind]}"
            )
        return Block(
            indptr,
            keys,
            values,
            self._numbers(table, self._label, path, first_row, "label"),
            self._numbers(table, self._roles.weight, path, first_row, "weight"),
            names=names,
            name_offsets=offsets,
            path=path,
            lines=np.arange(first_row + 1, first_row + 1 + len(table)),
        )

    def _check(self, column: str, kind: Any) -> None:
        """Refuse a column of a type that cannot be a feature, before any row is read."""
        types = pa.types
        if types.is_dictionary(kind):
            kind = kind.value_type
        if _is_list(kind):
            kind = kind.value_type
            kind = kind.value_type if types.is_dictionary(kind) else kind
            if _is_text(kind):
                return
        elif (
            _is_text(kind)
            or types.is_null(kind)
            or _is_number(kind)
            or (
                column in self._roles.categorical
                and (types.is_temporal(kind) or types.is_decimal(kind))
            )
        ):
            return
        raise DataError(
            f"{self._name}: column {column!r} holds {kind}, which makes no features; "
            f"convert it, name it categorical, or leave it out: --ignore {column}"
        )

    def _add(self, columns: Any, name: str, values: Any, where: str) -> None:
        kind = values.type
        as_number = name in self._roles.numeric or (
            _is_number(kind) and name not in self._roles.categorical
        )
        try:
            if pa.types.is_null(kind):
                values = values.cast(pa.large_string())
            if as_number:
                columns.number(name, *_float64(values))
            elif _is_list(kind):
                values = values.cast(pa.large_list(kind.value_type))
                lists = np.frombuffer(values.buffers()[1], np.int64)
                lists = lists[values.offset : values.offset + len(values) + 1]
                self._add_texts(columns, name, values.values, _validity(values), lists)
            else:
                self._add_texts(columns, name, values, _validity(values), None)
        except pa.ArrowInvalid as error:
            raise DataError(f"{where}: column {name!r}: {error}") from None

    def _add_texts(
        self,
        columns: Any,
        name: str,
        values: Any,
        valid: NDArray[np.uint8] | None,
        lists: NDArray[np.int64] | None,
    ) -> None:
        if pa.types.is_dictionary(values.type):
            dictionary = self._dictionary(name, values.dictionary)
            codes = values.indices.cast(pa.int32())
            codes = codes.fill_null(-1) if codes.null_count else codes
            numbers = codes.to_numpy(zero_copy_only=False)
            if dictionary.valid is not None:
                known = (numbers >= 0) & dictionary.valid.view(np.bool_)[numbers]
                numbers = np.where(known, numbers, -1).astype(np.int32)
            columns.coded(name, numbers, *dictionary.texts, dictionary.keys, valid, lists)
            return
        values = _as_text(values)
        if lists is not None and values.null_count:  # a missing entry of a list is no entry
            entries = np.arange(len(values), dtype=np.int32)
            codes = np.where(values.is_valid().to_numpy(zero_copy_only=False), entries, -1)
            texts = _text_buffers(values)
            columns.coded(
                name, codes.astype(np.int32), *texts, _core.text_keys(name, *texts), valid, lists
            )
            return
        columns.text(name, *_text_buffers(values), valid, lists)

    def _dictionary(self, name: str, values: Any) -> _Dictionary:
        """A dictionary, hashed; the batches of a file mostly share one."""
        known = self._dictionaries.get(name)
        if known is None or not _is_same(known[0], values):
            known = values, _Dictionary(name, values)
            self._dictionaries[name] = known
        return known[1]

    def _numbers(
        self, table: Any, column: str | None, path: str | None, first_row: int, role: str
    ) -> NDArray[np.float64] | None:
        if column is None:
            return None
        where = path or self._name
        values = table.column(column)
        try:
            numbers, valid = _float64(values)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"{where}: the {role} column {column!r} must hold numbers, not {values.type} "
                f"({str(error).splitlines()[0]})"
            ) from None
        if valid is not None:
            numbers = np.where(valid, numbers, np.nan)
        if role == "label" and not self._labelled:
            return numbers
        wrong = ~np.isfinite(numbers)
        if role == "weight":
            wrong |= numbers < 0
        if wrong.any():
            row = int(wrong.argmax())
            shown = "missing" if np.isnan(numbers[row]) else numbers[row]
            raise DataError(
                f"{where}: row {first_row + row}, column {column!r}: the {role} is {shown}; "
                + (
                    "weights must be finite and not negative"
                    if role == "weight"
                    else "drop the row"
                )
            )
        return numbers


class _Dictionary:
    """The distinct texts of a column, with the keys of the features they make."""

    def __init__(self, name: str, values: Any) -> None:
        values = _as_text(values)
        self.texts = _text_buffers(values)
        self.keys = _core.text_keys(name, *self.texts)
        self.valid = _validity(values)


def _is_same(a: Any, b: Any) -> bool:
    """Whether two arrays are the same memory; `a` is held, so its memory is not used again."""
    if a is b:
        return True
    if len(a) != len(b) or a.offset != b.offset or a.type != b.type:
        return False
    pairs = zip(a.buffers(), b.buffers(), strict=True)
    return all(x is y or (x and y and x.address == y.address) for x, y in pairs)


def _as_text(values: Any) -> Any:
    if pa.types.is_boolean(values.type):
        return pc.if_else(values, "true", "false").cast(pa.large_string())
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())
    return values.cast(pa.large_string())


def _text_buffers(values: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    _, offsets, data = values.buffers()
    start = values.offset
    if offsets is None or len(values) == 0:
        return np.zeros(len(values) + 1, np.int64), np.zeros(0, np.uint8)
    pieces = np.frombuffer(offsets, np.int64)[start : start + len(values) + 1]
    return pieces, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def _validity(values: Any) -> NDArray[np.uint8] | None:
    """A byte a value, 0 where it is missing; None if none is."""
    if not values.null_count:
        return None
    bits = values.buffers()[0]
    if bits is None:  # a type without a bitmap, such as null
        return np.zeros(len(values), np.uint8)
    start = values.offset
    stop = start + len(values)
    part = np.frombuffer(bits, np.uint8)[start // 8 : (stop + 7) // 8]
    return np.unpackbits(part, bitorder="little")[start % 8 : start % 8 + len(values)]


def _float64(values: Any) -> tuple[NDArray[np.float64], NDArray[np.uint8] | None]:
    """Numbers, and which of them are there."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.dictionary_decode()
        kind = values.type
    if pa.types.is_boolean(kind):
        values = values.cast(pa.uint8())
    elif _is_text(kind):
        values = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        values = pc.if_else(pc.equal(values, ""), None, values)
    values = values.cast(pa.float64(), safe=False)
    if len(values) == 0:
        return np.zeros(0), None
    numbers = np.frombuffer(values.buffers()[1], np.float64)
    return numbers[values.offset : values.offset + len(values)], _validity(values)


def _is_text(kind: Any) -> bool:
    types = pa.types
    views = (getattr(types, "is_string_view", None), getattr(types, "is_binary_view", None))
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or any(view is not None and view(kind) for view in views)
    )


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def flat_schema(schema: Any) -> Any:
    """The schema with the fields of structures as columns of their own: `user.age`."""
    while any(pa.types.is_struct(field.type) for field in schema):
        schema = pa.schema(
            [part for field in schema for part in (field.flatten())], metadata=schema.metadata
        )
    return schema


def flat(batch: Any) -> Any:
    """The same of a batch."""
    while any(pa.types.is_struct(field.type) for field in batch.schema):
        [batch] = pa.Table.from_batches([batch]).flatten().to_batches()
    return batch


def is_ready_made(schema: Any) -> bool:
    return schema.metadata is not None and MARK in schema.metadata


def to_batch(block: Block) -> Any:
    """A Block as columns: label, weight, and lists of keys, values and names."""
    count = len(block)
    arrays: dict[str, Any] = {}
    if block.labels is not None:
        arrays["label"] = pa.array(block.labels)
    if block.weights is not None:
        arrays["weight"] = pa.array(block.weights)
    pointers = pa.py_buffer(np.ascontiguousarray(block.indptr))
    nnz = block.nnz

    def lists(child: Any) -> Any:
        return pa.Array.from_buffers(
            pa.large_list(child.type), count, [None, pointers], children=[child]
        )

    arrays["index"] = lists(pa.array(block.indices[:nnz]))
    arrays["value"] = lists(pa.array(block.values[:nnz]))
    if block.names is not None and block.name_offsets is not None:
        first, last = int(block.name_offsets[0]), int(block.name_offsets[-1])
        offsets = np.ascontiguousarray(block.name_offsets - first)
        data = pa.py_buffer(np.ascontiguousarray(block.names[first:last]))
        names = pa.Array.from_buffers(pa.large_string(), nnz, [None, pa.py_buffer(offsets), data])
        arrays["name"] = lists(names)
    fields = [pa.field(name, array.type) for name, array in arrays.items()]
    return pa.record_batch(list(arrays.values()), schema=pa.schema(fields, metadata={MARK: b"1"}))


def from_table(batch: Any, path: str | None, first_row: int) -> Block:
    """The Block that `to_batch` was given."""
    index = batch.column("index").cast(pa.large_list(batch.schema.field("index").type.value_type))
    pointers = np.frombuffer(index.buffers()[1], np.int64)
    pointers = pointers[index.offset : index.offset + len(index) + 1]
    first, last = int(pointers[0]), int(pointers[-1])

    def child(name: str) -> Any:
        column = batch.column(name)
        if len(column.flatten()) != last - first:
            raise DataError(f"{path}: the lists of {name!r} and 'index' differ in length")
        return column.flatten()

    names: NDArray[np.uint8] | None = None
    offsets: NDArray[np.int64] | None = None
    if "name" in batch.schema.names:
        offsets, names = _text_buffers(child("name").cast(pa.large_string()))
    present = batch.schema.names
    indices = child("index").to_numpy(zero_copy_only=False)
    values = child("value").to_numpy(zero_copy_only=False)
    _inspect(pointers - first, indices, values, names is not None, path, first_row)
    return Block(
        pointers - first,
        indices,
        values,
        _float64(batch.column("label"))[0] if "label" in present else None,
        _float64(batch.column("weight"))[0] if "weight" in present else None,
        names=names,
        name_offsets=offsets,
        path=path,
        lines=np.arange(first_row + 1, first_row + 1 + len(batch)),
    )


def _inspect(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    values: NDArray[np.float32],
    named: bool,
    path: str | None,
    first_row: int,
) -> None:
    flaw, row, _, canonical = _core.inspect_rows(indptr, indices, values, (1 << 63) - 1)
    if flaw or not (canonical or named):
        what = flaw or "indices out of order"
        raise DataError(f"{path}: row {first_row + row}: {what}; the file is damaged")
