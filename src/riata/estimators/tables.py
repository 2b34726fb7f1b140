"""Frames, files, dicts and open sources where scikit-learn has matrices: they are read by the schema."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from importlib.util import find_spec
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names, _check_y, check_consistent_length

from riata.block import Block
from riata.errors import refuse_twice
from riata.schema import NUMBERS, Column, Schema
from riata.sources import ReadOptions, Source, open_source
from riata.sources.source import iterate, unweighed
from riata.sources.table.frame import is_frame

_READING = {f.name for f in fields(ReadOptions)}


def is_table(X: Any) -> bool:
    """A frame whose columns have names, or another table of Arrow's."""
    if find_spec("pyarrow") is None:  # a frame is a matrix then
        return False
    if is_frame(X):
        return all(isinstance(column, str) for column in X.columns)
    return hasattr(X, "__arrow_c_stream__") and hasattr(X, "schema")


def is_stream(X: Any) -> bool:
    """A path or several, dicts, or a source: it brings its labels along, where it has some."""
    if isinstance(X, (str, os.PathLike, Source)):
        return True
    some = isinstance(X, (list, tuple)) and len(X) > 0
    return some and isinstance(X[0], (Mapping, str, os.PathLike))


def are_dicts(X: Any) -> bool:
    """Rows that say the names of their values themselves."""
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)


def columns_of(table: Any) -> list[str]:
    if are_dicts(table):
        return list(dict.fromkeys(name for row in table for name in row))
    return list(table.columns if is_frame(table) else table.schema.names)


def split_options(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those about reading, and the others."""
    reading = {name: value for name, value in given.items() if name in _READING}
    return reading, {name: value for name, value in given.items() if name not in _READING}


def check_known(options: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """A TypeError for an option that neither reading nor this function has.

    >>> check_known({"categoricals": ["hour"]}, open_source)
    Traceback (most recent call last):
    TypeError: there is no option 'categoricals'; did you mean 'categorical'?
    """
    known = [*signature(function).parameters, *_READING]
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, 1)
            raise TypeError(
                f"there is no option {name!r}" + "".join(f"; did you mean {c!r}?" for c in close)
            )


def open_examples(X: Any, **reading: Any) -> Source:
    """Whatever holds examples with their labels."""
    if isinstance(X, Source):
        return X
    if is_table(X):
        refuse_twice(columns_of(X), "the frame")
        reading.setdefault("format", "table")
    return open_source(X, **reading)


def refuse_unreadable(X: Any) -> None:
    """A ValueError for what is no table and never was a matrix, with what to give instead."""
    if type(X).__module__.startswith("polars") and type(X).__name__ == "LazyFrame":
        raise ValueError("a LazyFrame has no rows yet: give it as X.collect()")
    if is_frame(X):
        strange = [column for column in X.columns if not isinstance(column, str)]
        if strange and any(isinstance(cell, str) for cell in X.head(1).to_numpy().flat):
            raise ValueError(
                f"names of columns are texts, and this frame has {strange[0]!r}: df.columns = df.columns.map(str)"
            )
        return
    some = isinstance(X, (list, tuple)) or getattr(X, "ndim", 2) == 1
    if some and len(X) and isinstance(next(iter(X)), str):
        raise ValueError(
            "X is a list of texts, and has no columns: give a frame with a column of them, such as "
            "pandas.DataFrame({'text': X}), or begin a Pipeline with riata.TextFeatures()"
        )


class TableWithLabels:
    """The rows of a table, or dicts, with labels and weights that are not in it."""

    repeatable = True
    named = True
    bytes_read = 0
    n_bytes = None

    def __init__(self, X: Any, y: Any, weights: NDArray[np.float64] | None, **reading: Any) -> None:
        columns = columns_of(X)
        if not are_dicts(X):
            refuse_twice(columns, "the frame")
            reading["format"] = "table"
        if "label" in columns and reading.get("schema") is None:
            raise ValueError(
                "the frame has a column 'label', and y is given, too: leave y out (fit(df, label='label')), "
                "or drop the column"
            )
        if not len(y):
            raise ValueError(f"Found array with 0 sample(s) (shape=(0, {len(columns)})): give rows")
        self._label = getattr(y, "name", None)
        if self._label in columns and reading.get("schema") is None:
            warnings.warn(
                f"the frame has a column {self._label!r}, as y is called, and it is learned as a feature: if it is "
                f"the label, drop it, or leave y out (fit(df, label={self._label!r}))",
                stacklevel=4,
            )
        self._source = unweighed(open_source(X, labelled=False, **reading))
        self._labels: NDArray[np.float64] | None = None
        self._weights = weights
        self.name = self._source.name
        self.n_rows: int | None = len(y)

    def with_labels(self, labels: NDArray[np.float64]) -> TableWithLabels:
        self._labels = labels
        return self

    def set_weights(self, weights: NDArray[np.float64] | None) -> None:
        self._weights = weights

    @property
    def schema(self) -> Schema | None:
        """That of the table; the label has the name of y, if it has one."""
        found: Schema | None = self._source.schema  # type: ignore[attr-defined]
        label = self._label
        if found is None or not isinstance(label, str) or label in found.by_name:
            return found
        return replace(found, columns=(*found.columns, Column(label, "label")))

    def __iter__(self) -> Iterator[Block]:
        start = 0
        assert self._labels is not None
        for block in iterate(self._source):
            stop = start + len(block)
            weights = None if self._weights is None else self._weights[start:stop]
            yield block.with_labels(self._labels[start:stop], weights)
            start = stop


def checked_labels(estimator: Any, X: Any, y: Any, numeric: bool = False) -> NDArray[Any]:
    """y as an array, one label for each row of the table."""
    labels: NDArray[Any] = _check_y(y, y_numeric=numeric, estimator=estimator)
    check_consistent_length(X, labels)
    return labels


def note_columns(estimator: Any, X: Any, schema: Schema | None = None, reset: bool = True) -> None:
    """Keep the names of the features of a frame, or compare them with those of the fit."""
    if are_dicts(X):  # each row may have others
        if reset:
            estimator.n_features_in_ = len(columns_of(X))
            estimator.__dict__.pop("feature_names_in_", None)
        return
    left_out = {c.name for c in (schema or Schema()).columns if not c.is_feature}
    refuse_twice(columns_of(X), "the frame")
    kept = [column for column in columns_of(X) if column not in left_out]
    if reset:
        estimator.feature_names_in_ = np.array(kept, dtype=object)
        estimator.n_features_in_ = len(kept)
    elif kept != list(estimator.feature_names_in_) and is_frame(X):
        _check_feature_names(estimator, X[kept], reset=False)


def as_table(X: Any, schema: Schema) -> Any:
    """A matrix as the table of numbers that a model was trained on; None where it cannot be that."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or schema.open:
        return None
    features = schema.features
    if len(features) != X.shape[1] or not all(column.kind in NUMBERS for column in features):
        return None
    import pyarrow as pa

    arrays = [np.ascontiguousarray(X[:, j], dtype=np.float64) for j in range(X.shape[1])]
    return pa.table(arrays, names=[column.name for column in features])
