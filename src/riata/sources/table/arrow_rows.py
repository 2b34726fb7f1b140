"""Blocks as Arrow columns and back: what `riata convert` writes to Parquet. Needs pyarrow."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.table.arrow_arrays import float64, numbers_of, text_buffers

MARK = b"riata.rows"
"""In the metadata of a schema: the columns are those of `to_batch`, not features."""
SCHEMA = b"riata.schema"
"""There too: what the source of the rows found out from its first ones, as JSON."""
SCHEMA_0_1 = b"riata.fitted"
"""The same in files that early versions of 0.1 wrote."""


def is_ready_made(schema: Any) -> bool:
    return schema.metadata is not None and MARK in schema.metadata


def schema_in(arrow_schema: Any) -> Schema | None:
    """What `to_batch` was told about the source."""
    metadata = arrow_schema.metadata or {}
    kept = metadata.get(SCHEMA, metadata.get(SCHEMA_0_1))
    return None if kept is None else Schema.from_json(json.loads(kept))


def to_batch(block: Block, schema: Schema | None = None) -> Any:
    """A Block as columns: label, weight, offset (null: none), and lists of keys, values and names."""
    count = len(block)
    arrays: dict[str, Any] = {}
    if block.labels is not None:
        arrays["label"] = pa.array(block.labels)
    if block.weights is not None:
        arrays["weight"] = pa.array(block.weights)
    # always there: the rows of a source may have some later
    none = pa.nulls(count, pa.float64())
    arrays["offset"] = none if block.offsets is None else pa.array(block.offsets)
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
    metadata = {MARK: b"1"}
    if schema is not None:
        metadata[SCHEMA] = json.dumps(schema.to_json()).encode()
    return pa.record_batch(list(arrays.values()), schema=pa.schema(fields, metadata=metadata))


def from_table(batch: Any, path: str | None, first_row: int) -> Block:
    """The Block that `to_batch` was given."""
    index = batch.column("index").cast(pa.large_list(batch.schema.field("index").type.value_type))
    pointers = numbers_of(index.buffers()[1], np.int64)
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
        offsets, names = text_buffers(child("name").cast(pa.large_string()))
    present = batch.schema.names
    indices = child("index").to_numpy(zero_copy_only=False)
    values = child("value").to_numpy(zero_copy_only=False)
    _inspect(pointers - first, indices, values, names is not None, path, first_row)
    return Block(
        pointers - first,
        indices,
        values,
        float64(batch.column("label"))[0] if "label" in present else None,
        float64(batch.column("weight"))[0] if "weight" in present else None,
        names=names,
        name_offsets=offsets,
        path=path,
        lines=np.arange(first_row + 1, first_row + 1 + len(batch)),
        offsets=_offsets(batch, path, first_row),
    )


def _offsets(batch: Any, path: str | None, first_row: int) -> NDArray[np.float64] | None:
    if "offset" not in batch.schema.names or batch.column("offset").null_count == len(batch):
        return None
    offsets, _ = float64(batch.column("offset").fill_null(0.0))
    bad = np.flatnonzero(~(np.abs(offsets) <= np.finfo(np.float32).max))
    if len(bad):
        raise DataError(
            f"{path}: row {first_row + int(bad[0])}: the offset is {offsets[bad[0]]}; the file is damaged"
        )
    return offsets


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
