"""Which format a file of text is in: by its name, else by its first lines."""

from __future__ import annotations

import os
import re
from contextlib import closing
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from riata.errors import DataError
from riata.sources.io.bytes import (
    STDIN,
    Input,
    Stop,
    look_at_standard_input,
    refuse_spreadsheet,
    size_of,
)

if TYPE_CHECKING:
    from riata.sources.options import ReadOptions

FORMATS = (
    *("svmlight", "vw", "csv", "tsv", "jsonl", "arff", "fasttext", "text", "folder"),
    *("parquet", "arrow", "cache"),
)

_TEXTS = ("fasttext", "text", "folder")
"""Formats of a label and a text each."""
_NO_NUMBERS = ("svmlight", "vw", "cache", *_TEXTS)
"""Formats without columns of numbers."""

_SUFFIXES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arff": "arff",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".riata-cache": "cache",
}
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
}
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_HEAD = 1 << 16

_NUMBER = rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_SVMLIGHT = re.compile(rb"\s*(" + _NUMBER + rb")?(\s+qid:-?\d+)?(\s+\d+:\S+)*\s*(#.*)?$")
_VW = re.compile(rb"[^|]*\|([^|:\s]*(:" + _NUMBER + rb")?)(\s|\||$)")


def format_of(paths: list[str], given: str | None, texts: bool = False) -> str:
    """The format of all files: the one given, else what their names or first lines say.

    `texts`: they are for a model of texts, for which a `.txt` holds lines of that.

    >>> format_of(["mail.vw"], None), format_of(["mail.vw"], "svmlight")
    ('vw', 'svmlight')
    """
    if given is not None:
        if given not in FORMATS:
            raise DataError(f"unknown format {given!r}; known are: {', '.join(FORMATS)}")
        return given
    formats = {path: _format_of(path) for path in paths}
    if texts:
        formats |= {
            p: "text" for p in paths if _is_txt(p) and formats[p] not in ("fasttext", "cache")
        }
    if len(set(formats.values())) > 1:
        shown = ", ".join(f"{path} is {format}" for path, format in list(formats.items())[:4])
        raise DataError(f"the files are in different formats: {shown}; name one with --format")
    return next(iter(formats.values()), "svmlight")


def _is_txt(path: str) -> bool:
    name = PurePath(path)
    return (
        name.with_suffix("") if name.suffix.lower() in _PACKED else name
    ).suffix.lower() == ".txt"


def _format_of(path: str) -> str:
    if path != STDIN and os.path.isdir(path):
        return "folder"
    found = format_by_name(path)
    if found == "arrow" and path != STDIN and size_of(path) and _is_cache(_head(path)):
        return "cache"  # an Arrow file too
    return found or _by_content(path)


def _is_cache(head: bytes) -> bool:
    from riata.sources.cache.arrow_file import is_cache  # most files are known by their names

    return is_cache(head)


def format_by_name(path: str) -> str | None:
    """The format that the end of a name speaks for."""
    name = PurePath(path)
    while name.suffix.lower() in _PACKED:
        name = name.with_suffix("")
    return _SUFFIXES.get(name.suffix.lower())


def _by_content(path: str) -> str:
    """What the first lines look like. A named pipe is not touched: it can be read only once."""
    refuse_spreadsheet(path)
    if path == STDIN:
        head = look_at_standard_input(_HEAD)
        if not head.strip():
            raise DataError("no examples in <stdin>: nothing came through the pipe")
        found = recognise(head)
        if found in (*_MAGIC.values(), "cache"):
            raise DataError(
                f"<stdin>: this is {found} data; name the file instead, or say --format arrow if it "
                "is a stream of Arrow data"
            )
        return found
    if size_of(path) is None:
        return "svmlight"
    head = _head(path)
    if is_model(head):
        raise DataError(f"{path}: this is a model of Riata's, not data: riata inspect shows it")
    return recognise(head)


def is_model(head: bytes) -> bool:
    """Whether a file that begins so is a model."""
    return head[8:9] == b"{" and b"riata-model" in head


def _head(path: str) -> bytes:
    stop = Stop()
    head = bytearray(_HEAD)
    filled = 0
    try:
        with closing(Input(path, stop)) as source, memoryview(head) as view:
            while filled < _HEAD and (count := source.read_into(view[filled:])):
                filled += count
    except DataError:
        pass  # damaged further on: reading it for good will say so
    finally:
        stop.close()
    return bytes(head[:filled])


def recognise(head: bytes) -> str:
    """The format that the first bytes of a file speak for; svmlight if they fit nothing.

    >>> recognise(b"1 |words hello:2 world")
    'vw'
    >>> recognise(b"# comment\\n1 3:0.5")
    'svmlight'
    >>> recognise(b"name,age\\nAda,36")
    'csv'
    """
    if _is_cache(head):
        return "cache"
    for magic, format in _MAGIC.items():
        if head.startswith(magic):
            return format
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()]
    first = lines[0].lstrip().lower() if lines else b""
    if first.startswith((b"{", b"[{")) or first.strip() == b"[":
        return "jsonl"
    if first.startswith((b"%", b"@relation", b"@attribute")):
        return "arff"
    if first.startswith(b"__label__"):
        return "fasttext"
    lines = [line for line in lines if not line.startswith(b"#")][:20]
    lines = lines[:-1] or lines  # the last one may be cut short
    if all(map(_SVMLIGHT.match, lines)):
        return "svmlight"
    if all(map(_VW.match, lines)):
        return "vw"
    for format, delimiters in (("tsv", (b"\t",)), ("csv", (b",", b";"))):
        if any(sign in lines[0] for sign in delimiters):
            return format
    return "svmlight"


def check_format(options: ReadOptions, format: str) -> None:
    """What was said about columns or groups to a format that has none would pass unnoticed."""
    columns = options.for_columns
    if columns is not None and format in ("svmlight", "vw", "cache"):
        raise ValueError(f"{columns} is for tables of columns; {format} has none")
    if options.label_first and format != "text":
        raise ValueError(f"label_first is for lines of text; {format} has its labels elsewhere")
    if options.scale in ("standard", "max") and format in _NO_NUMBERS:
        raise ValueError(f"scale is for columns of numbers; {format} has none")
    if options.crosses and format in ("svmlight", "cache", *_TEXTS):
        raise ValueError(f"crosses are of columns or namespaces; {format} has none")
    if options.decimal != "." and format not in ("csv", "tsv"):
        raise ValueError(f"decimal is for numbers in CSV; in {format} they have a point")
    if options.ngram and format != "vw":
        raise ValueError(
            f"ngram is of the features of Vowpal Wabbit's namespaces; {format} has none"
        )
    roles = replace(options.roles, ignore=()) if format == "vw" else options.roles
    blank = type(roles)()
    if roles.given and format in _NO_NUMBERS:
        named = next(name for name, value in vars(roles).items() if value != getattr(blank, name))
        raise ValueError(f"{named} is for columns; {format} has none")
