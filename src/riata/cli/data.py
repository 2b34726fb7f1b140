"""DATA on the command line: one file or several, read as one stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from riata.block import Block
from riata.cli.options import option
from riata.feed import iterate
from riata.sources import Source, open_source

F = TypeVar("F", bound=Callable[..., Any])


class Chain:
    """Several sources, one after the other, as one.

    >>> import numpy as np
    >>> parts = [open_source(np.eye(2), np.zeros(2)), open_source(np.eye(3), np.ones(3))]
    >>> sum(len(block) for block in Chain(parts))
    5
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = list(sources)
        self._done = 0
        self._current: Source | None = None

    @property
    def name(self) -> str:
        return " ".join(source.name for source in self.sources)

    @property
    def repeatable(self) -> bool:
        return all(source.repeatable for source in self.sources)

    @property
    def n_bytes(self) -> int | None:
        sizes = [source.n_bytes for source in self.sources]
        known = [n for n in sizes if n is not None]
        return sum(known) if len(known) == len(sizes) else None

    @property
    def n_rows(self) -> int | None:
        rows = [source.n_rows for source in self.sources]
        known = [n for n in rows if n is not None]
        return sum(known) if len(known) == len(rows) else None

    @property
    def bytes_read(self) -> int:
        return self._done + (0 if self._current is None else self._current.bytes_read)

    def __iter__(self) -> Iterator[Block]:
        self._done, self._current = 0, None
        for source in self.sources:
            self._current = source
            yield from iterate(source)
            self._done += source.bytes_read
            self._current = None


def data_options(command: F) -> F:
    """How to read DATA."""
    for decorate in (
        option("--threads", type=click.IntRange(min=1), section="Data", help="Threads that read."),
        option("--zero-based", is_flag=True, section="Data", help="Feature indices start at 0."),
        option("--format", "format_", metavar="NAME", section="Data", help="Default: by the name."),
    ):
        command = decorate(command)
    return command


def open_data(
    paths: Sequence[str], format_: str | None, zero_based: bool, threads: int | None, **more: Any
) -> Source:
    """The files as one source; `-` is standard input."""
    if list(paths).count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    try:
        sources = [
            open_source(path, format=format_, zero_based=zero_based, threads=threads, **more)
            for path in paths
        ]
    except ValueError as error:
        if type(error) is ValueError:  # an option that a source refuses, not bad data
            raise click.UsageError(str(error)) from error
        raise
    return sources[0] if len(sources) == 1 else Chain(sources)
