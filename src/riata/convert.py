"""Blocks to files: svmlight, Vowpal Wabbit text, Parquet, or a cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.atomic import atomic_write
from riata.block import Block
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.cache.file import SUFFIX
from riata.sources.cache.source import about
from riata.sources.cache.writer import CacheWriter
from riata.sources.labels import text_words
from riata.sources.source import Source, iterate, unweighed

FORMATS = ("svmlight", "vw", "parquet", "cache")
_SUFFIXES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".parquet": "parquet",
    ".pq": "parquet",
    SUFFIX: "cache",
    ".arrow": "cache",
}


@dataclass
class Converted:
    """What was written."""

    rows: int = 0
    entries: int = 0
    escaped: int = 0
    """Names, of all entries, that Vowpal Wabbit's text cannot hold: blanks became %20 and so on.

    Different names stay different: a % that looks like that already becomes %25, and no name %empty."""
    numbered: int = 0
    """Names that became numbers, because svmlight has no names."""
    names_file: str | None = None
    """Where those names are: line i is the name of index i."""
    weights_lost: bool = False
    """There were weights that the format cannot hold: svmlight none, Vowpal Wabbit's those of rows without label."""
    offsets_lost: bool = False
    """The same of offsets, the initial predictions of examples."""
    label_words: list[str] | None = None
    """The words that labels were, in the order of the numbers that stand for them in text."""
    skipped: int = 0
    """Lines that could not be read and were left out."""
    schema: Schema | None = None
    """What the source found out from its first rows."""


def format_for(path: str | os.PathLike[str], to: str | None = None) -> str:
    """The format to write: the one named, else by the end of the name.

    >>> format_for("x.vw"), format_for("x.txt", "svmlight")
    ('vw', 'svmlight')
    """
    found = to or _SUFFIXES.get(PurePath(os.fsdecode(path)).suffix.lower())
    if found not in FORMATS:
        raise DataError(
            f"{os.fsdecode(path)}: in which format? End the name in {', '.join(_SUFFIXES)}, or say "
            f"--to {'|'.join(FORMATS)}"
        )
    return found


def convert(
    source: Source,
    path: str | os.PathLike[str],
    to: str | None = None,
    *,
    zero_based: bool = False,
    on_progress: Callable[[Converted], None] | None = None,
) -> Converted:
    """Write all rows of a source to a file, which appears when it is complete.

    svmlight: features are numbers, from 1 unless `zero_based`. Named features are numbered in the
    order they appear, and `path.names` tells the name of each; weights and offsets of examples are lost.
    vw: `namespace^name` becomes a feature `name` of a namespace; what would end a name is
    written as `%20` and so on. parquet: label, weight, and lists of index, value and name a row,
    which Riata reads back as they were (extra `[arrow]`). cache: as `cache=` makes it, an Arrow IPC file.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from riata.sources import open_source
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "eye.vw"
    >>> convert(open_source(np.eye(2), [1, -1]), path).rows
    2
    >>> path.read_text()
    '1 | 1\\n-1 | 2\\n'
    """
    format = format_for(path, to)
    result = Converted()
    if format == "cache":
        source = unweighed(source)  # its schema says that the model weighs it
    with atomic_write(path) as file:
        writer = _WRITERS[format](file, result, 0 if zero_based else 1)
        with writer as write, closing(iterate(source)) as blocks:
            for block in blocks:
                result.rows += len(block)
                result.entries += block.nnz
                result.skipped = getattr(source, "skipped", 0)
                result.schema = getattr(source, "schema", None)
                _refuse_unweighed(result.schema, source.name, format)
                write(block)
                if on_progress is not None:
                    on_progress(result)
        if result.numbered:
            result.names_file = f"{os.fsdecode(path)}.names"
            with atomic_write(result.names_file) as names_file:
                names_file.write(write.names())  # type: ignore[attr-defined]
    return result


def _refuse_unweighed(schema: Schema | None, name: str, format: str) -> None:
    """A model weighs texts as it learns them: what does not say that they are to be would lose it."""
    lost = schema is not None and schema.is_weighed and schema.text_weights is None
    if lost and format != "cache":
        raise DataError(
            f"{name}: inverse document frequencies (--text-idf) are learned with a model, and {format} cannot say "
            "that its texts are to be weighed: leave the option out, or make a cache (--to cache)"
        )


Write = Callable[[Block], None]


class _Svmlight:
    """svmlight has numbers alone: names get the next free one."""

    def __init__(self, file: BinaryIO, result: Converted, base: int) -> None:
        self._file, self._result, self._base = file, result, base
        self._numbers: dict[int, int] = {}
        self._names: list[bytes] = []

    def __call__(self, block: Block) -> None:
        if block.names is not None:
            block = self._numbered(block)
        elif len(self._numbers):
            raise DataError(f"{block.where(0)}: features with names and without in one stream")
        self._result.weights_lost |= block.weights is not None and bool((block.weights != 1).any())
        self._result.offsets_lost |= block.offsets is not None and bool(block.offsets.any())
        self._result.label_words = _words(self._result)
        self._file.write(_text("svmlight", block, self._base)[0])

    def names(self) -> bytes:
        return b"".join(name.replace(b"\n", b"\\n") + b"\n" for name in self._names)

    def _numbered(self, block: Block) -> Block:
        keys, first = np.unique(block.indices, return_index=True)
        for k in np.sort(first).tolist():
            key = int(block.indices[k])
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                assert block.names is not None
                assert block.name_offsets is not None
                start, stop = block.name_offsets[k : k + 2]
                self._names.append(block.names[start:stop].tobytes())  # UTF-8 or not
        self._result.numbered = len(self._numbers)
        table = np.array([self._numbers[key] for key in keys.tolist()], dtype=np.int64)
        numbers = table[np.searchsorted(keys, block.indices)]
        rows = np.repeat(np.arange(len(block)), np.diff(block.indptr))
        order = np.lexsort((numbers, rows))  # svmlight wants them ascending in each row
        return replace(
            block,
            indices=numbers[order],
            values=block.values[order],
            names=None,
            name_offsets=None,
        )


@contextmanager
def _svmlight(file: BinaryIO, result: Converted, base: int) -> Iterator[Write]:
    yield _Svmlight(file, result, base)


@contextmanager
def _vw(file: BinaryIO, result: Converted, base: int) -> Iterator[Write]:
    def write(block: Block) -> None:
        text, escaped = _text("vw", block, base)
        result.escaped += escaped
        result.label_words = _words(result)
        lost = True if block.labels is None else np.isnan(block.labels)
        if block.weights is not None:
            result.weights_lost |= bool((lost & (block.weights != 1)).any())
        if block.offsets is not None:
            result.offsets_lost |= bool((lost & (block.offsets != 0)).any())
        file.write(text)

    yield write


@contextmanager
def _parquet(file: BinaryIO, result: Converted, base: int) -> Iterator[Write]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError('Parquet needs the package pyarrow: pip install "riata[arrow]"') from None
    from riata.sources.table.arrow_rows import to_batch

    writer: Any = None
    words: list[str] | None = None

    def write(block: Block) -> None:
        nonlocal writer, words
        if writer is not None and _words(result) != words:
            raise DataError(
                f"{block.where(0)}: a label is new, and the labels of a Parquet file are written before its "
                f"rows: shuffle the rows, or convert to a cache (--to cache)"
            )
        words = _words(result)
        whole = replace(block, indices=block.indices.astype(np.int64, copy=False))
        batch = to_batch(whole, result.schema)
        if writer is None:
            writer = pq.ParquetWriter(file, batch.schema, compression="zstd")
        try:
            writer.write_batch(batch)
        except (pa.ArrowException, ValueError) as error:
            raise DataError(f"{block.where(0)}: unlike the rows before: {error}") from None

    yield write
    if writer is not None:
        writer.close()


@contextmanager
def _cache(file: BinaryIO, result: Converted, base: int) -> Iterator[Write]:
    writer = CacheWriter(file, (result.schema or Schema()).hash_key)
    yield writer.write
    writer.finish(about(None, result.skipped, result.schema))


_WRITERS = {"svmlight": _svmlight, "vw": _vw, "parquet": _parquet, "cache": _cache}


def _words(result: Converted) -> list[str] | None:
    return text_words((result.schema or Schema()).label_names) or None


def _text(format: str, block: Block, base: int) -> tuple[bytes, int]:
    first, last = int(block.indptr[0]), int(block.indptr[-1])
    offsets: NDArray[np.int64] | None = None
    if block.name_offsets is not None:
        offsets = block.name_offsets[first : last + 1]
    return _core.write_text(
        format,
        block.indptr - first,
        block.indices[first:last].astype(np.int64, copy=False),
        block.values[first:last],
        block.labels,
        block.weights,
        block.names,
        offsets,
        base,
        block.offsets,
    )
