"""DATA on the command line: one file or several, read as one stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from riata.cli.options import option
from riata.cli.text import plural
from riata.errors import RiataError
from riata.sources import FORMATS, Source, open_source
from riata.sources.bad_lines import BadLineFile, same_file
from riata.sources.io.remote import expand
from riata.sources.table.roles import MISSING

F = TypeVar("F", bound=Callable[..., Any])

READING = (
    "format_",
    "zero_based",
    "threads",
    "label",
    "weight",
    "offset",
    "ignore",
    "numeric",
    "categorical",
    "missing",
    "absent",
    "log1p",
    "buckets",
    "header_line",
    "delimiter",
    "quote",
    "crosses",
    "on_error",
    "bad_lines",
    "max_bad",
)
"""The names of `data_options`."""


def _columns(ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> list[str]:
    return [name for value in values for name in value.split(",")]


def _buckets(
    ctx: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> dict[str, int]:
    buckets = {}
    for value in values:
        column, _, count = value.rpartition(":")
        if not column or not count.isdigit():
            raise click.BadParameter(f"expected COLUMN:NUMBER, such as age:10, not {value!r}")
        buckets[column] = int(count)
    return buckets


def _bad_line_file(
    ctx: click.Context, parameter: click.Parameter, value: str | None
) -> BadLineFile | None:
    return None if value is None else BadLineFile(value)


def data_options(command: F) -> F:
    """How to read DATA."""
    columns: dict[str, Any] = {
        "multiple": True,
        "metavar": "COLUMNS",
        "callback": _columns,
        "section": "Data",
    }
    for decorate in (
        option(
            "--threads",
            type=click.IntRange(min=1),
            metavar="N",
            section="Data",
            help="Threads that read and parse beside the learner.  [default: by the processor, 1 or 2]",
        ),
        option(
            "--max-bad",
            type=click.FloatRange(min=0),
            default=0.5,
            metavar="LIMIT",
            section="Data",
            help="Stop when more lines than this are bad: a share below 1, or a number.  "
            "[default: 0.5]",
        ),
        option(
            "--bad-lines",
            callback=_bad_line_file,
            metavar="FILE",
            section="Data",
            help="Keep skipped lines there, each with its reason; implies --on-error skip.",
        ),
        option(
            "--on-error",
            type=click.Choice(["raise", "skip"]),
            section="Data",
            help="What to do at a line that cannot be read.  [default: raise]",
        ),
        option(
            "--cross",
            "crosses",
            multiple=True,
            metavar="A:B",
            section="Data",
            help="Multiply the features of two or three namespaces or columns.",
        ),
        option(
            "--quote",
            metavar="SIGN",
            section="Data",
            help='The sign that quotes fields, or none.  [default: " in csv, none in tsv]',
        ),
        option(
            "--delimiter",
            metavar="SIGN",
            section="Data",
            help="What separates columns: a sign, or tab.  [default: by the format]",
        ),
        option(
            "--header-line/--no-header-line",
            default=None,
            section="Data",
            help="Whether the first line names the columns.  [default: by its look]",
        ),
        option(
            "--buckets",
            multiple=True,
            metavar="COLUMN:N",
            callback=_buckets,
            section="Data",
            help="Cut a column of numbers into N buckets of about as many rows each.",
        ),
        option("--log1p", **columns, help="Columns whose value x becomes log(1 + x)."),
        option("--absent", **columns, help="Texts that mean a missing value, such as ?,NA."),
        option(
            "--missing",
            type=click.Choice(MISSING),
            default="drop",
            section="Data",
            help="A missing value makes no feature, or the feature column=?.  [default: drop]",
        ),
        option(
            "--categorical", **columns, help="Columns whose numbers are names: hour=17, not 17."
        ),
        option("--numeric", **columns, help="Columns of text to read as numbers."),
        option("--ignore", **columns, help="Columns to leave out, such as id,time."),
        option(
            "--offset",
            metavar="COLUMN",
            section="Data",
            help="The column of numbers that scores begin with, such as those of another model.",
        ),
        option("--weight", metavar="COLUMN", section="Data", help="The column of weights."),
        option(
            "--label",
            metavar="COLUMN",
            section="Data",
            help="The column to predict.  [default: label]",
        ),
        option("--zero-based", is_flag=True, section="Data", help="Feature indices start at 0."),
        option(
            "--format",
            "format_",
            type=click.Choice(list(FORMATS)),
            section="Data",
            help="How DATA is written.  [default: by its name or content]",
        ),
    ):
        command = decorate(command)
    return command


def pick_reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """What of the options of a command is about reading."""
    return {name: given[name] for name in READING if name in given}


def open_data(paths: Sequence[str], **reading: Any) -> Source:
    """The files as one source; `-` is standard input."""
    if list(paths).count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    options = {k: v for k, v in reading.items() if v is not None}
    if "header_line" in options:
        options["header"] = options.pop("header_line")
    if "format_" in options:
        options["format"] = options.pop("format_")
    if "bad_lines" in options:
        options.setdefault("on_error", "skip")
    try:
        return open_source(list(paths), **options)
    except RiataError:
        raise
    except ValueError as error:  # options that do not go together
        raise click.UsageError(str(error)) from error


def refuse_to_replace(paths: Sequence[str], output: str | None) -> None:
    """A file cannot be both what is read and what is made of it: it would be lost."""
    if output is not None and any(same_file(path, output) for path in expand(list(paths))):
        raise click.UsageError(
            f"{output} is what is read, and would be replaced: name another file"
        )


def reading_words(reading: Mapping[str, Any]) -> list[str]:
    """The options that read the same data again.

    >>> reading_words({"format_": "vw", "threads": 2, "ignore": ["id", "time"], "max_bad": 0.5})
    ['--format', 'vw', '--ignore', 'id,time']
    """
    words: list[str] = []
    for name in READING:
        value = reading.get(name)
        flag = "--" + name.rstrip("_").replace("_", "-")
        if name == "header_line" and value is False:
            words.append("--no-header-line")
        if name == "threads" or value in (None, False, "drop") or value in ([], (), {}):
            continue
        if (name, value) == ("max_bad", 0.5):
            continue
        if value is True:
            words.append(flag)
        elif name == "crosses":
            words += [word for cross in value for word in ("--cross", cross)]
        elif name == "buckets":
            words += [word for c, n in value.items() for word in (flag, f"{c}:{n}")]
        elif isinstance(value, list):
            words += [flag, ",".join(value)]
        else:
            words += [flag, value.path if isinstance(value, BadLineFile) else str(value)]
    return words


def skipped_lines(source: Source, reading: Mapping[str, Any]) -> str | None:
    """What to say about lines that were left out."""
    return say_skipped(getattr(source, "skipped", 0), reading.get("bad_lines"))


def say_skipped(count: int, kept: BadLineFile | None) -> str | None:
    """
    >>> say_skipped(2, None)
    '2 lines that could not be read; --bad-lines FILE keeps them'
    """
    if not count:
        return None
    where = "--bad-lines FILE keeps them" if kept is None else f"they are in {kept.path}"
    return f"{plural(count, 'line')} that could not be read; {where}"
