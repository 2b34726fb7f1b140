"""DATA on the command line: one file or several, read as one stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from riata.cli.options import option
from riata.sources import FORMATS, Source, open_source

F = TypeVar("F", bound=Callable[..., Any])


def data_options(command: F) -> F:
    """How to read DATA."""
    for decorate in (
        option(
            "--threads",
            type=click.IntRange(min=1),
            metavar="N",
            section="Data",
            help="Threads that read and parse.  [default: 2]",
        ),
        option("--zero-based", is_flag=True, section="Data", help="Feature indices start at 0."),
        option(
            "--format",
            "format_",
            type=click.Choice(list(FORMATS)),
            section="Data",
            help="How DATA is written.  [default: by its name]",
        ),
    ):
        command = decorate(command)
    return command


def open_data(
    paths: Sequence[str], format_: str | None, zero_based: bool, threads: int | None, **more: Any
) -> Source:
    """The files as one source; `-` is standard input."""
    if list(paths).count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    return open_source(list(paths), format=format_, zero_based=zero_based, threads=threads, **more)
