"""Sources: from files, standard input, matrices and frames to Blocks."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from riata.block import Block
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.io.bytes import expand
from riata.sources.options import ReadOptions
from riata.sources.recognise import FORMATS, check_format, format_of
from riata.sources.source import Source

# The source of a format is imported where one is opened: a program reads one or two of them, and a command
# line that reads one should not take the time to learn them all.

__all__ = ["FORMATS", "ReadOptions", "Source", "open_source"]


def open_source(
    what: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    options: ReadOptions | None = None,
    **given: Any,
) -> Source:
    """A stream of Blocks from whatever holds the examples.

    `what` is a path, a list of paths, or `"-"` for standard input (text, as it is or compressed with
    gzip, bzip2, xz or zstd); a scipy sparse matrix, a NumPy array, a pandas or polars frame of
    numbers (with labels in `y` and weights in `sample_weight`); a Block; or a Source, which is
    returned as it is. How to read it is said with the fields of `riata.ReadOptions`, as keywords or
    as one value in `options`.

    For text: indices count from 1 unless `zero_based`; with `labelled=False` lines may lack their
    label, which then is NaN; `threads` threads parse beside the consumer. `block_rows` limits the
    rows of a Block. Paths may be patterns (`logs/*.gz`): their files come sorted, in the place of
    the pattern. Paths with a protocol (`s3://...`, `https://...`) are read through fsspec.

    Parquet, Arrow IPC and Feather files, pyarrow Tables and whatever else speaks Arrow are tables
    of columns. So is a pandas or polars frame when the role of a column is named (`label`,
    `weight`, `offset`, `ignore`, `numeric`, `categorical`) or with `format="table"`; otherwise a
    frame is a matrix of numbers, like those that `fit` takes, whose features are numbered by
    column. See `riata.sources.options.Roles` for what becomes of columns; `offset` names one of
    numbers that are added to the scores of examples and not learned. `names=False` leaves the names
    of features out of Blocks; `crosses=["user:ad"]` multiplies groups of features.

    Comma or tab separated text (`delimiter`, `quote`, `header` where they cannot be seen from the
    file), JSON lines, ARFF and dicts are read the same way: see `riata.sources.text.csv.CsvSource`,
    `jsonl.JsonSource`, `arff.ArffSource`. For tables of columns, whether text, Parquet, Arrow or a
    frame, `absent` lists texts that mean a missing value, `log1p` and `buckets` (`{"age": 10}`)
    transform numbers, and labels may be words. What such a source finds out from its first rows is
    in its `schema`; hand that to `open_source` to read in the same way.

    A line, or a row of a table, that cannot be read is an error that names file, line and column.
    With `on_error="skip"` it is left out, counted in the source's `skipped`, and kept with its reason in the file
    `bad_lines`; more than `max_bad` of them (a share below 1, or a number) are an error still.

    With `cache`, files are parsed once: their Blocks go to a file, and later passes, and later
    programs that read the same files in the same way, read that. `cache=True` puts it beside the
    first file, a path where that says, and `"auto"` into a temporary file if the input is
    compressed. A pipe with a cache can be gone over more than once.

    >>> import numpy as np
    >>> source = open_source(np.eye(2), y=[1, -1])
    >>> source.name
    'ndarray 2 x 2'
    >>> for block in source:
    ...     print(block.labels, block.indices, block.values)
    [ 1. -1.] [0 1] [1. 1.]
    """
    options = ReadOptions.of(options, given)
    schema = options.schema
    if options.text_idf or (schema is not None and schema.is_weighed):
        options = replace(options, names=True)
    source = _open(what, y, sample_weight, options)
    named = getattr(source, "named", None)
    if schema is not None and named is not None:
        schema.check_named(named, source.name)
        if isinstance(own := getattr(source, "schema", None), Schema) and source is not what:
            schema.check_same(own, source.name)
    if schema is None or schema.text_weights is None:
        return source
    from riata.sources.weighed import weighed

    return weighed(source, schema)


def _open(what: Any, y: Any, sample_weight: Any, options: ReadOptions) -> Source:
    if options.cache is not None and options.cache is not False:
        return _open_cached(what, y, sample_weight, options)
    if options.hash_key is not None:
        return _open_keyed(what, y, sample_weight, options)
    paths = _paths(what)
    if paths is None:
        return _open_in_memory(what, y, sample_weight, options)
    _refuse_labels(y, sample_weight)
    paths = expand(paths)
    given = options.format or ("text" if options.label_first else None)
    found = format_of(paths, given, texts=schema_of_texts(options.schema))
    check_format(options, found)
    return _open_files(paths, found, options)


def _keywords_of_open_source() -> inspect.Signature:
    """For `help` and editors: the options stand where `**given` does."""
    named = inspect.signature(ReadOptions).parameters.values()
    fixed = [p for p in inspect.signature(open_source).parameters.values() if p.name != "given"]
    return inspect.Signature([*fixed, *named], return_annotation="Source")


open_source.__signature__ = _keywords_of_open_source()  # type: ignore[attr-defined]


def _open_keyed(what: Any, y: Any, sample_weight: Any, options: ReadOptions) -> Source:
    """The source with names hashed by a key: it is made as always, with the names."""
    from riata.sources.cache.source import CacheSource
    from riata.sources.keyed import KeyedSource, keyed_cache

    schema = options.schema and replace(options.schema, hash_key=None)
    without = replace(options, hash_key=None, schema=schema, names=True)
    source = _open(what, y, sample_weight, without)
    inner = getattr(source, "unkeyed", source)
    if isinstance(inner, CacheSource):
        return keyed_cache(inner, options.hash_key, options.names)
    return KeyedSource(source, options.hash_key, options.names)


def _open_in_memory(what: Any, y: Any, sample_weight: Any, options: ReadOptions) -> Source:
    """Matrices, frames, tables, dicts, Blocks and Sources."""
    from riata.sources.matrix import BlockSource, open_dense

    rows = options.block_rows
    if (matrix := _open_matrix(what, y, sample_weight, rows)) is not None:
        return matrix
    if (table := _open_table(what, y, sample_weight, options)) is not None:
        return table
    if isinstance(what, (list, tuple)):
        if not isinstance(what[0], Mapping):
            return open_dense(_as_array(what), y, sample_weight, rows)
        if y is not None or sample_weight is not None:
            raise DataError("dicts bring their labels along: name their key with label=...")
        return _open_dicts(what, options)
    _refuse_labels(y, sample_weight)
    if isinstance(what, Block):
        return BlockSource(what, f"Block of {len(what)} rows", rows)
    if isinstance(what, Source):
        return what
    if hasattr(what, "columns"):
        raise TypeError(
            f"this {type(what).__name__} does not speak Arrow (`__arrow_c_stream__`): polars does from version 1.3 on; "
            "or give its to_arrow()"
        )
    if isinstance(what, Iterable) and not isinstance(what, Mapping):
        return _open_dicts(what, options)
    raise TypeError(
        f"cannot read examples from {type(what).__name__}; give a path, '-', a list of paths, "
        "a scipy sparse matrix, a NumPy array, a pandas or polars DataFrame, or dicts"
    )


def _refuse_labels(y: Any, sample_weight: Any) -> None:
    if y is not None or sample_weight is not None:
        which = "y" if y is not None else "sample_weight"
        raise DataError(f"{which} goes with a matrix or a frame; text and Blocks bring their own")


def _open_table(what: Any, y: Any, sample_weight: Any, options: ReadOptions) -> Source | None:
    """Frames and what else speaks Arrow; None if it is neither."""
    from riata.sources.table.columnar import open_table, speaks_arrow
    from riata.sources.table.frame import is_frame, open_frame

    if hasattr(what, "to_frame") and len(getattr(what, "shape", ())) == 1:  # of pandas and polars
        raise TypeError(f"{type(what).__name__} is one column; a table has label and features")
    as_table = options.roles.given or options.for_columns or options.format == "table"
    as_table = as_table or (options.schema is not None and options.schema.named)
    if is_frame(what) and not as_table:
        return open_frame(what, y, sample_weight, options.block_rows)
    if not speaks_arrow(what):
        return None
    if y is not None or sample_weight is not None:
        raise DataError("a table brings its labels along: name their column with label=...")
    return open_table(what, options, options.skipping())


def _open_matrix(what: Any, y: Any, sample_weight: Any, block_rows: int | None) -> Source | None:
    """What SciPy and NumPy hold; None if it is neither's."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(what):
        from riata.sources.matrix import open_sparse

        return open_sparse(what, y, sample_weight, block_rows)
    if isinstance(what, np.ndarray):
        from riata.sources.matrix import open_dense

        return open_dense(what, y, sample_weight, block_rows)
    return None


_TEXT_FORMATS = {
    "svmlight": "svmlight.SvmlightSource",
    "vw": "vw.VwSource",
    "jsonl": "jsonl.JsonSource",
    "arff": "arff.ArffSource",
    "fasttext": "fasttext.FastTextSource",
    "text": "fasttext.LinesSource",
    "folder": "folder.FolderSource",
}
"""The module and the class of each."""


def _open_files(paths: list[str], format: str, options: ReadOptions) -> Source:
    """Files of one format."""
    if format == "cache":
        from riata.sources.cache.source import CacheSource
        from riata.sources.keyed import keyed_cache

        return keyed_cache(CacheSource(paths, options.block_rows), None, options.names)
    skipping = options.skipping(paths)
    if format in ("parquet", "arrow"):
        from riata.sources.table.columnar import open_columnar

        return open_columnar(paths, format, options, skipping)
    if format in _TEXT_FORMATS:
        module, name = _TEXT_FORMATS[format].split(".")
        kind = getattr(import_module(f"riata.sources.text.{module}"), name)
        source: Source = kind(paths, options, skipping=skipping)
        return source
    from riata.sources.text.csv import CsvSource

    return CsvSource(paths, replace(options, format=format), skipping=skipping)


def schema_of_texts(schema: Schema | None) -> bool:
    """Whether it has one column of features, called `text`, which holds texts: as lines of text are read."""
    features = [] if schema is None else schema.features
    return [(column.name, column.kind) for column in features] == [("text", "text")]


def _open_dicts(rows: Iterable[Any], options: ReadOptions) -> Source:
    from riata.sources.text.jsonl import DictSource

    return DictSource(rows, options, skipping=options.skipping())


def _open_cached(what: Any, y: Any, sample_weight: Any, options: ReadOptions) -> Source:
    """The source with a cache."""
    from riata.sources.cache.source import (
        TEMPORARY,
        CachedSource,
        CacheSource,
        default_path,
        identity_of,
    )

    cache, automatic = options.cache, options.cache == "auto"
    named = _paths(what)
    if named is None:
        raise ValueError("a cache is for files; matrices, frames and Blocks are in memory already")
    _refuse_labels(y, sample_weight)
    paths = expand(named)
    without = replace(options, cache=None)
    source = _open(paths, None, None, replace(without, block_rows=None))
    if isinstance(getattr(source, "unkeyed", source), CacheSource) or (
        automatic and not getattr(source, "compressed", False)
    ):
        return _open(paths, None, None, without)
    if automatic:
        path = TEMPORARY
    else:
        path = default_path(paths) if cache is True else os.fsdecode(cache)  # type: ignore[arg-type]
    return CachedSource(
        source,
        path,
        lambda: identity_of(paths, options.about_content()),
        block_rows=options.block_rows,
        read_first=options.bad_lines is not None,
    )


def _paths(what: Any) -> list[str] | None:
    if isinstance(what, (str, os.PathLike)):
        return [os.fsdecode(what)]
    if isinstance(what, (list, tuple)) and all(isinstance(p, (str, os.PathLike)) for p in what):
        return [os.fsdecode(path) for path in what]
    return None


def _as_array(rows: list[Any] | tuple[Any, ...]) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(rows)
    except ValueError as error:
        raise DataError(f"the rows do not form a matrix: {error}") from None
