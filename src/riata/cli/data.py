"""DATA on the command line: one file or several, read as one stream."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from typing import Any, TypeVar

import click

from riata import model_file
from riata.atomic import check_folder, same_file
from riata.cli.options import option
from riata.cli.text import plural
from riata.errors import ModelError, RiataError, SettingsError
from riata.record import Model
from riata.schema import Schema, cross_text
from riata.sources import FORMATS, ReadOptions, Source, open_source
from riata.sources.io.bytes import expand

F = TypeVar("F", bound=Callable[..., Any])


class Number(click.FloatRange):
    """A number of a range; what is none, "nan", is in no range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


@contextmanager
def settings_as_usage() -> Iterator[None]:
    """Settings that do not go together are a mistake in the options."""
    try:
        yield
    except SettingsError as error:
        raise click.UsageError(str(error)) from error


def _columns(ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> list[str]:
    """The names in lists; an empty one is the name of a column where it stands alone: --ignore ''."""
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    return [*names, *("" for value in values if not value)]


def _buckets(
    ctx: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> dict[str, int]:
    buckets = {}
    for value in _columns(ctx, parameter, values):
        column, _, count = value.rpartition(":")
        if not column or not count.isdigit():
            raise click.BadParameter(f"expected COLUMN:NUMBER, such as age:10, not {value!r}")
        buckets[column] = int(count)
    return buckets


def _bad_line_file(
    ctx: click.Context, parameter: click.Parameter, value: str | None
) -> os.PathLike[str] | None:
    if value is None:
        return None
    from riata.sources.bad_lines import BadLineFile  # read only where lines are skipped

    check_folder(value)
    return BadLineFile(value)


_COLUMNS: dict[str, Any] = {"multiple": True, "metavar": "COLUMNS", "callback": _columns}

_FLAGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "format": ("--format", "by its name or content", {"type": click.Choice(list(FORMATS))}),
    "zero_based": ("--zero-based", "", {"is_flag": True}),
    "label": ("--label", "label", {"metavar": "COLUMN"}),
    "label_first": ("--label-first", "", {"is_flag": True}),
    "weight": ("--weight", "", {"metavar": "COLUMN"}),
    "offset": ("--offset", "", {"metavar": "COLUMN"}),
    "ignore": ("--ignore", "", _COLUMNS),
    "numeric": ("--numeric", "", _COLUMNS),
    "categorical": ("--categorical", "", _COLUMNS),
    "text": ("--text", "columns that look so", _COLUMNS),
    "ngrams": ("--ngrams", "words:1-2", {"metavar": "NGRAMS"}),
    "text_weight": ("--text-weight", "log", {}),
    "text_idf": ("--text-idf", "", {"is_flag": True}),
    "text_norm": ("--text-norm", "", {"is_flag": True}),
    "date": ("--date", "", _COLUMNS),
    "missing": ("--missing", "drop", {}),
    "absent": ("--absent", "", _COLUMNS),
    "log1p": ("--log1p", "", _COLUMNS),
    "buckets": (
        "--buckets",
        "",
        {"multiple": True, "metavar": "COLUMN:N", "callback": _buckets},
    ),
    "scale": ("--scale", "auto in train", {}),
    "header": ("--header-line/--no-header-line", "by its look", {}),
    "delimiter": ("--delimiter", "by the format", {"metavar": "SIGN"}),
    "decimal": ("--decimal", ".", {}),
    "quote": ("--quote", '" in csv, none in tsv', {"metavar": "SIGN"}),
    "crosses": ("--cross", "", {"multiple": True, "metavar": "A:B", "callback": _columns}),
    "ngram": ("--ngram", "", {"multiple": True, "metavar": "N", "callback": _columns}),
    "on_error": ("--on-error", "raise; skip with --bad-lines", {}),
    "bad_lines": ("--bad-lines", "", {"metavar": "FILE", "callback": _bad_line_file}),
    "max_bad": ("--max-bad", "0.5", {"type": Number(min=0), "metavar": "LIMIT"}),
    "threads": (
        "--threads",
        "by the processor, 1 or 2",
        {"type": click.IntRange(min=1), "metavar": "N"},
    ),
}
"""Of each of `ReadOptions` that is an option here: its flag, what the help calls its default, and its kind."""


def data_options(command: F) -> F:
    """How to read DATA: the options of `ReadOptions`, all None where they are not given."""
    described = {f.name: f.metadata for f in fields(ReadOptions)}
    for name, (flag, default, kind) in reversed(_FLAGS.items()):
        text = described[name]["help"]
        shown = f"  [default: {default}]" if default else ""
        choices = described[name]["choices"]
        chosen = {"type": click.Choice(choices)} if choices else {}
        command = option(
            flag,
            name,
            section="Data",
            help=f"{text[:1].upper()}{text[1:]}.{shown}",
            **{"default": None, **chosen, **kind},
        )(command)
    return command


def read_as_option(command: F) -> F:
    """Whether data is read as that of a model was."""
    return option(
        "--read-as",
        metavar="MODEL",
        section="Data",
        help="Read DATA as the data of this model was read: the same columns, scales and buckets, so that both models "
        "can be merged (riata merge).",
    )(command)


def schema_of(before: Model | None, path: str | None) -> Schema | None:
    """How the data of the model was read that a run goes on from, or of another one.

    In how many texts n-grams were is counted anew in a run that begins.
    """
    if before is not None and path is not None:
        raise click.UsageError("--read-as: a run that goes on reads as its model did; leave it out")
    if path is None:
        return None if before is None else before.schema
    schema = model_file.load(path).schema
    if schema is None:
        raise click.UsageError(f"--read-as {path}: this model does not say how its data was read")
    return replace(schema, text_weights=None)


def read_options(given: Mapping[str, Any], **more: Any) -> ReadOptions:
    """What of the options of a command is about reading, and what it adds to them."""
    chosen = {name: given[name] for name in _FLAGS if given.get(name) not in (None, (), [], {})}
    if "bad_lines" in chosen:
        chosen.setdefault("on_error", "skip")
    try:
        return ReadOptions(**chosen, **more)
    except ValueError as error:  # options that do not go together
        raise click.UsageError(str(error)) from error


def open_data(paths: Sequence[str], options: ReadOptions) -> Source:
    """The files as one source; `-` is standard input."""
    if list(paths).count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    try:
        return open_source(list(paths), options=options)
    except RiataError:
        raise
    except ValueError as error:  # options that do not go with the format
        raise click.UsageError(str(error)) from error


def load_model(path: str, data: Sequence[str]) -> Model:
    """The model; where it is none, but one of the files of data is, the error says what comes first."""
    try:
        return model_file.load(path)
    except ModelError as error:
        for other in data:
            with suppress(OSError, ModelError):
                model_file.load(other)
                error.add_note(f"{other} is a model: name it first, and the data behind it")
        raise


def load_before(resume: str | None, initial: str | None) -> Model | None:
    """The model that a run goes on from or begins with; one machine cannot go on between two rounds."""
    saved = resume or initial
    before = None if saved is None else model_file.load(saved)
    if resume is not None and before is not None and before.record.shards is not None:
        raise click.UsageError(
            f"{resume} was trained by shards: go on with --shard or --dask, or begin a run with --initial"
        )
    return before


def refuse_to_replace(paths: Sequence[str], output: str | None) -> None:
    """A file cannot be both what is read and what is made of it: it would be lost."""
    if output is not None and any(same_file(path, output) for path in expand(list(paths))):
        raise click.UsageError(
            f"{output} is what is read, and would be replaced: name another file"
        )


def reading_words(options: ReadOptions, only: Collection[str] | None = None) -> list[str]:
    """The words of a command line that reads the same data in the same way; `only`: those of these options.

    >>> reading_words(ReadOptions(format="vw", threads=2, ignore=["id", "time"], buckets={"age": 9}))
    ['--format', 'vw', '--ignore', 'id,time', '--buckets', 'age:9']
    """
    words: list[str] = []
    for name, value in options.given().items():
        if name not in _FLAGS or name == "threads" or (only is not None and name not in only):
            continue
        flag, _, no_flag = _FLAGS[name][0].partition("/")
        if isinstance(value, bool):
            words.append(flag if value else no_flag)
        elif name == "crosses":
            words += [word for cross in value for word in (flag, cross_text(cross))]
        elif name == "buckets":
            words += [word for c, n in value.items() for word in (flag, f"{c}:{n}")]
        elif isinstance(value, tuple):
            words += [flag, ",".join(value)]
        else:
            words += [flag, os.fspath(value) if name == "bad_lines" else str(value)]
    return words


def skipped_lines(source: Source, options: ReadOptions) -> str | None:
    """What to say about lines that were left out."""
    return say_skipped(getattr(source, "skipped", 0), options)


def say_skipped(count: int, options: ReadOptions) -> str | None:
    """
    >>> say_skipped(2, ReadOptions())
    '2 lines that could not be read; --bad-lines FILE keeps them'
    """
    if not count:
        return None
    kept = options.bad_lines
    where = f"they are in {os.fspath(kept)}" if kept is not None else "--bad-lines FILE keeps them"
    return f"{plural(count, 'line')} that could not be read; {where}"
