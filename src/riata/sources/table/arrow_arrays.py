"""Arrow arrays as the NumPy arrays that the core reads. Needs pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from riata import _core
from riata.sources.cells import MISSING_NUMBERS, TRUTHS


def as_text(values: Any) -> Any:
    if pa.types.is_boolean(values.type):
        return pc.if_else(values, "true", "false").cast(pa.large_string())
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())
    return values.cast(pa.large_string())


def without_dictionary(values: Any) -> Any:
    """The values that a dictionary stands for."""
    if is_text(values.type.value_type):  # not every kind of text can be looked up
        texts = as_text(values.dictionary)
        values = pa.DictionaryArray.from_arrays(values.indices, texts)
    return values.dictionary_decode()


def text_buffers(values: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    _, offsets, data = values.buffers()
    start = values.offset
    if offsets is None or len(values) == 0:
        return np.zeros(len(values) + 1, np.int64), np.zeros(0, np.uint8)
    pieces = numbers_of(offsets, np.int64)[start : start + len(values) + 1]
    return pieces, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def respelled_buffers(values: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The same with true and false in one spelling."""
    offsets, data = text_buffers(values)
    changed = _core.respelled(offsets, data)
    return offsets, data if changed is None else changed


def validity(values: Any) -> NDArray[np.uint8] | None:
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


def numbers_of(buffer: Any, kind: type) -> NDArray[Any]:
    """A buffer as numbers: it may be longer than they are, by any number of bytes.

    >>> numbers_of(pa.py_buffer(bytes(11)), np.int32).tolist()
    [0, 0]
    """
    data = np.frombuffer(buffer or b"", np.uint8)
    return data[: len(data) // np.dtype(kind).itemsize * np.dtype(kind).itemsize].view(kind)


def float64(values: Any) -> tuple[NDArray[np.float64], NDArray[np.uint8] | None]:
    """Numbers, and which of them are there."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = without_dictionary(values)
        kind = values.type
    if pa.types.is_boolean(kind):
        values = values.cast(pa.uint8())
    elif is_text(kind):
        values = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        values = pc.if_else(pc.equal(values, ""), None, values)
    values = values.cast(pa.float64(), safe=False)
    if len(values) == 0:
        return np.zeros(0), None
    numbers = numbers_of(values.buffers()[1], np.float64)
    return numbers[values.offset : values.offset + len(values)], validity(values)


def rounded_once(values: Any) -> Any:
    """Integers that a double would round before a float does as floats, as text is read; others as they are."""
    if not (pa.types.is_int64(values.type) or pa.types.is_uint64(values.type)):
        return values
    ends = pc.min_max(values).as_py()
    if ends["min"] is None or max(-ends["min"], ends["max"]) <= _EXACT:
        return values
    return values.cast(pa.float32(), safe=False)


_EXACT = 1 << 53


def parsed_float64(
    values: Any, truths: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.uint8] | None, NDArray[np.bool_] | None]:
    """The same of a column that may hold texts; the last says which of those are no numbers.

    truths: those of true and false are 1 and 0.
    """
    try:
        return *float64(values), None
    except pa.ArrowInvalid:
        if pa.types.is_dictionary(values.type):
            values = without_dictionary(values)
        if not is_text(values.type):
            raise
    texts = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    gone = pc.is_in(texts, value_set=pa.array(MISSING_NUMBERS, texts.type))
    texts = pc.if_else(gone, pa.scalar(None, texts.type), texts)
    if truths:
        for word, number in TRUTHS.items():
            texts = pc.if_else(pc.equal(texts, word), str(number), texts)
    fine = pc.fill_null(pc.match_substring_regex(texts, _NUMBER), True)
    wrong = ~np.asarray(fine.to_numpy(zero_copy_only=False), np.bool_)
    return *float64(pc.if_else(fine, texts, None)), wrong


_NUMBER = r"^$|^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:nan|inf|infinity)$"


def is_text(kind: Any) -> bool:
    types = pa.types
    views = (getattr(types, "is_string_view", None), getattr(types, "is_binary_view", None))
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or any(view is not None and view(kind) for view in views)
    )


def is_number(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def is_list(kind: Any) -> bool:
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
