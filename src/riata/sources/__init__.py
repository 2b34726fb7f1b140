"""Sources: from files, standard input, matrices and frames to Blocks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riata.block import Block
from riata.errors import DataError
from riata.sources.bad_lines import BadLineFile, Skipping
from riata.sources.io.remote import expand
from riata.sources.recognise import FORMATS, format_of
from riata.sources.source import Source
from riata.sources.table.roles import Roles

if TYPE_CHECKING:
    from riata.sources.text.named import Crosses

# The source of a format is imported where one is opened: a program reads one or two of them, and a command
# line that reads one should not take the time to learn them all.

__all__ = ["FORMATS", "Source", "open_source"]


def open_source(
    what: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    format: str | None = None,
    block_rows: int | None = None,
    zero_based: bool = False,
    labelled: bool = True,
    threads: int | None = None,
    names: bool = True,
    crosses: Crosses = (),
    label: str | None = None,
    weight: str | None = None,
    offset: str | None = None,
    ignore: Sequence[str] = (),
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    missing: str = "drop",
    absent: Sequence[str] = (),
    log1p: Sequence[str] = (),
    buckets: Mapping[str, int] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    schema: Mapping[str, Any] | None = None,
    on_error: str = "raise",
    bad_lines: str | os.PathLike[str] | BadLineFile | None = None,
    max_bad: float = 0.5,
    cache: bool | str | os.PathLike[str] | None = None,
) -> Source:
    """A stream of Blocks from whatever holds the examples.

    `what` is a path, a list of paths, or `"-"` for standard input (text, plain or compressed with
    gzip, bzip2, xz or zstd); a scipy sparse matrix, a NumPy array, a pandas or polars frame of
    numbers (with labels in `y` and weights in `sample_weight`); a Block; or a Source, which is
    returned as it is.

    For text: indices count from 1 unless `zero_based`; with `labelled=False` lines may lack their
    label, which then is NaN; `threads` threads parse beside the consumer. `block_rows` limits the
    rows of a Block. Paths may be patterns (`logs/*.gz`): their files come sorted, in the place of
    the pattern. Paths with a protocol (`s3://...`, `https://...`) are read through fsspec.

    Parquet, Arrow IPC and Feather files, pyarrow Tables and whatever else speaks Arrow are tables
    of columns. So is a pandas or polars frame when the role of a column is named (`label`,
    `weight`, `offset`, `ignore`, `numeric`, `categorical`) or with `format="table"`; otherwise a
    frame is a matrix of numbers, like those that `fit` takes, whose features are numbered by
    column. See `riata.sources.table.roles.Roles` for what becomes of columns; `offset` names one of
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
    given = dict(locals())  # first of all: what was asked for, and nothing else
    if block_rows is not None and block_rows < 1:
        raise ValueError(f"block_rows must be at least 1, not {block_rows}")
    if cache is not None and cache is not False:
        return _open_cached(given)
    paths = _paths(what)
    if paths is None and (matrix := _open_matrix(what, y, sample_weight, block_rows)) is not None:
        return matrix
    named = tuple(ignore), tuple(numeric), tuple(categorical)
    roles = Roles(label, weight, offset, *named, missing=missing)
    skipping = _skipping(on_error, bad_lines, max_bad, paths)
    table: dict[str, Any] = {
        "roles": roles,
        "labelled": labelled,
        "names": names,
        "crosses": crosses,
        "block_rows": block_rows,
        "threads": threads,
    }
    columns: dict[str, Any] = {"absent": absent, "log1p": log1p, "buckets": buckets}
    asked = next((option for option, value in columns.items() if value), None)
    if paths is None:
        from riata.sources.table.columnar import open_table, speaks_arrow
        from riata.sources.table.frame import is_frame, open_frame

        if is_frame(what) and not (roles.given or asked or format == "table"):
            return open_frame(what, y, sample_weight, block_rows)
        if speaks_arrow(what):
            if y is not None or sample_weight is not None:
                raise DataError("a table brings its labels along: name their column with label=...")
            if len(getattr(what, "shape", (0, 0))) != 2:
                raise TypeError(
                    f"{type(what).__name__} is one column; a table has label and features"
                )
            return open_table(what, **table, **columns, schema=schema, skipping=skipping)
        if asked is not None:
            raise ValueError(f"{asked} is for tables of columns; {type(what).__name__} has none")
    if isinstance(what, (list, tuple)) and what and isinstance(what[0], Mapping):
        if y is not None or sample_weight is not None:
            raise DataError("dicts bring their labels along: name their key with label=...")
        return _open_dicts(what, schema, table | {"skipping": skipping})
    if paths is None and isinstance(what, (list, tuple)):
        from riata.sources.matrix import open_dense

        return open_dense(_as_array(what), y, sample_weight, block_rows)
    if y is not None or sample_weight is not None:
        which = "y" if y is not None else "sample_weight"
        raise DataError(f"{which} goes with a matrix or a frame; text and Blocks bring their own")
    if paths is not None:
        paths = expand(paths)
        found = format_of(paths, format)
        if asked is not None and found not in ("parquet", "arrow", "csv", "tsv", "cache"):
            raise ValueError(f"{asked} is for tables of columns; {found} has none")
        _refuse_in_vain(found, roles, crosses)
        text = {
            "zero_based": zero_based,
            "delimiter": delimiter,
            "quote": quote,
            "header": header,
            "skipping": skipping,
        }
        table |= {"schema": schema, "columns": columns}
        return _open_files(paths, found, table, text)
    if isinstance(what, Block):
        from riata.sources.matrix import BlockSource

        return BlockSource(what, f"Block of {len(what)} rows", block_rows)
    if isinstance(what, Source):
        return what
    if isinstance(what, Iterable) and not isinstance(what, Mapping):
        return _open_dicts(what, schema, table | {"skipping": skipping})
    raise TypeError(
        f"cannot read examples from {type(what).__name__}; give a path, '-', a list of paths, "
        "a scipy sparse matrix, a NumPy array, a pandas or polars DataFrame, or dicts"
    )


def _refuse_in_vain(format: str, roles: Roles, crosses: Crosses) -> None:
    """What was said about columns or groups to a format that has none would pass unnoticed."""
    if crosses and format in ("svmlight", "cache"):
        raise ValueError(f"crosses are of columns or namespaces; {format} has none")
    if roles.given and format in ("svmlight", "vw", "cache"):
        named = next(field for field, value in vars(roles).items() if value != vars(Roles())[field])
        raise ValueError(f"{named} is for columns; {format} has none")


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


def _open_files(
    paths: list[str], format: str, table: dict[str, Any], text: dict[str, Any]
) -> Source:
    """Files of one format. `table` is what formats with columns take, `text` what formats of text take."""
    columns: dict[str, Any] = table.pop("columns")
    if format in ("parquet", "arrow"):
        from riata.sources.table.columnar import open_columnar

        skipping = text["skipping"]
        return open_columnar(paths, format, **table, **columns, skipping=skipping)
    if format == "cache":
        from riata.sources.cache.source import CacheSource

        return CacheSource(paths, table["block_rows"])
    reading = {name: table[name] for name in ("block_rows", "labelled", "threads")}
    reading["skipping"] = text["skipping"]
    if format == "svmlight":
        from riata.sources.text.svmlight import SvmlightSource

        return SvmlightSource(paths, zero_based=text["zero_based"], **reading)
    reading |= {name: table[name] for name in ("names", "crosses", "schema")}
    if format == "vw":
        from riata.sources.text.vw import VwSource

        return VwSource(paths, **reading)
    reading["roles"] = table["roles"]
    if format == "jsonl":
        from riata.sources.text.jsonl import JsonSource

        return JsonSource(paths, **reading)
    if format == "arff":
        from riata.sources.text.arff import ArffSource

        return ArffSource(paths, **reading)
    from riata.sources.text.csv import CsvSource

    signs = {name: text[name] for name in ("delimiter", "quote", "header")}
    return CsvSource(paths, format=format, **signs, **columns, **reading)


def _open_dicts(
    rows: Iterable[Any], schema: Mapping[str, Any] | None, options: dict[str, Any]
) -> Source:
    from riata.sources.text.jsonl import DictSource

    left = {name: option for name, option in options.items() if name != "threads"}
    return DictSource(rows, schema=schema, **left)


def _open_cached(given: dict[str, Any]) -> Source:
    """The source with a cache; `given` are the arguments of `open_source`."""
    from riata.sources.cache.source import (
        TEMPORARY,
        CachedSource,
        CacheSource,
        default_path,
        identity_of,
    )

    cache, block_rows = given.pop("cache"), given.pop("block_rows")
    what, automatic = _paths(given.pop("what")), cache == "auto"
    if what is None:
        raise ValueError("a cache is for files; matrices, frames and Blocks are in memory already")
    paths = expand(what)
    source = open_source(paths, **given)
    if isinstance(source, CacheSource) or (automatic and not getattr(source, "compressed", False)):
        return open_source(paths, **given, block_rows=block_rows)
    keep_bad = given.pop("bad_lines") is not None
    for irrelevant in ("threads", "y", "sample_weight"):
        del given[irrelevant]
    path = TEMPORARY if automatic else default_path(paths) if cache is True else os.fsdecode(cache)
    return CachedSource(
        source,
        path,
        lambda: identity_of(paths, given),
        block_rows=block_rows,
        read_first=keep_bad,
    )


def _skipping(
    on_error: str,
    bad_lines: str | os.PathLike[str] | BadLineFile | None,
    max_bad: float,
    paths: list[str] | None,
) -> Skipping | None:
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error is 'raise' or 'skip', not {on_error!r}")
    if on_error == "raise":
        if bad_lines is not None:
            raise ValueError("bad_lines keeps what on_error='skip' leaves out: give both")
        return None
    if bad_lines is None:
        return Skipping(max_bad)
    kept = bad_lines if isinstance(bad_lines, BadLineFile) else BadLineFile(bad_lines)
    kept.begin(expand(paths) if paths else ())
    return Skipping(max_bad, kept)


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
