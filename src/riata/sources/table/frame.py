"""Frames of numbers, from pandas or polars, as sources."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.errors import DataError
from riata.sources.matrix import BlockSource, Dense, DenseSource, open_pieces


def is_frame(what: Any) -> bool:
    """Whether it is a pandas or polars DataFrame; imports neither."""
    return _is_a(what, "pandas", "DataFrame") or _is_a(what, "polars", "DataFrame")


def open_frame(
    frame: Any, y: Any, sample_weight: Any, block_rows: int | None = None
) -> BlockSource | DenseSource:
    """A frame whose columns are all numbers or booleans; feature j is the j-th column.

    >>> import pandas as pd
    >>> [block] = open_frame(pd.DataFrame({"age": [30, 0], "height": [1.8, 1.6]}), [1, 0], None)
    >>> block.values
    array([30. ,  1.8,  1.6], dtype=float32)
    """
    library = "pandas" if _is_a(frame, "pandas", "DataFrame") else "polars"
    name = f"{library} DataFrame {frame.shape[0]} x {frame.shape[1]}"
    dtypes = list(frame.dtypes)
    for column, dtype in zip(frame.columns, dtypes, strict=True):
        if not (_pandas_number(dtype) if library == "pandas" else _polars_number(dtype)):
            raise DataError(
                f"{name}: column {column!r} holds {dtype}, not numbers; encode or drop it"
            )
    cut = _pandas_piece if library == "pandas" else _polars_piece

    def piece(start: int, stop: int) -> NDArray[np.float64]:
        return cut(frame, start, stop)

    def column_name(column: int) -> str:
        return f"column {frame.columns[column]!r}"

    dense = Dense(name, frame.shape, piece, column_name)
    return open_pieces(dense, y, sample_weight, block_rows)


def spans_as_names(table: Any) -> Any:
    """The table; intervals and periods of a frame of pandas as the texts that they are in CSV."""
    if not _is_a(table, "pandas", "DataFrame"):
        return table
    import pandas as pd

    def is_span(dtype: Any) -> bool:
        if isinstance(dtype, pd.CategoricalDtype):
            dtype = dtype.categories.dtype
        return isinstance(dtype, (pd.IntervalDtype, pd.PeriodDtype))

    found = [place for place, dtype in enumerate(table.dtypes) if is_span(dtype)]
    for place in found:
        texts = table.iloc[:, place].map(str, na_action="ignore").astype(object)
        table = table.copy(deep=False) if place == found[0] else table
        table.isetitem(place, texts)
    return table


def _is_a(what: Any, library: str, kind: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(what, getattr(module, kind))


def _pandas_number(dtype: Any) -> bool:
    import pandas as pd

    types = pd.api.types
    return bool(
        (types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype))
        and not types.is_complex_dtype(dtype)
    )


def _polars_number(dtype: Any) -> bool:
    import polars as pl

    return bool(dtype.is_numeric() or dtype == pl.Boolean)


def _pandas_piece(frame: Any, start: int, stop: int) -> NDArray[np.float64]:
    rows = frame.iloc[start:stop]
    return np.ascontiguousarray(rows.to_numpy(dtype=np.float64, na_value=np.nan))


def _polars_piece(frame: Any, start: int, stop: int) -> NDArray[np.float64]:
    import polars as pl

    rows = frame.slice(start, stop - start).cast(pl.Float64)
    return np.ascontiguousarray(rows.to_numpy(), dtype=np.float64)
