"""Text, one example a line, as a source: what the readers of all text formats share."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import ClassVar

from riata.block import Block
from riata.errors import DataError
from riata.sources.bytes import Stop, display, size_of
from riata.sources.lines import LONGEST_LINE, Buffers, Chunk, LineTooLong, cut_lines
from riata.sources.prefetch import ordered_map
from riata.sources.source import split

_EXCERPT = 40


@dataclass(slots=True)
class Trouble:
    """What is wrong with a line."""

    kind: str
    column: int
    text: bytes
    """The offending text, shortened."""
    previous: int = 0


@dataclass(slots=True)
class Parsed:
    """The rows of a chunk up to the first line that cannot be read."""

    block: Block
    """Its lines are counted from 0 at the start of the chunk."""
    n_lines: int
    """Lines read without trouble."""
    trouble: Trouble | None


class TextSource(ABC):
    """Files of text, or `-` for standard input, read one after another.

    Reading, unpacking and parsing run in `threads` threads beside the consumer; the Blocks do not
    depend on how many. Memory is bounded by a few chunks, whatever the size of the files.
    """

    format: ClassVar[str]
    """As messages name it."""
    messages: ClassVar[Mapping[str, str]]
    """What to say about each kind of trouble; `{text}` is the offending text."""

    n_rows: int | None = None

    def __init__(
        self,
        paths: list[str],
        *,
        block_rows: int | None = None,
        threads: int | None = None,
        _chunk_bytes: int = 1 << 20,
    ) -> None:
        if not paths:
            raise DataError("no files given")
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        sizes = [size_of(path) for path in paths]
        known = [size for size in sizes if size is not None]
        self.n_bytes: int | None = sum(known) if len(known) == len(sizes) else None
        self.repeatable = self.n_bytes is not None
        self.bytes_read = 0
        self.name = _join(paths)
        self._paths = paths
        self._block_rows = block_rows
        self._threads = threads or min(2, len(os.sched_getaffinity(0)))
        self._chunk_bytes = _chunk_bytes
        self._begun = False

    @abstractmethod
    def _parse(self, chunk: Chunk) -> Parsed:
        """The rows of some whole lines. Called from several threads at once."""

    def _details(self, trouble: Trouble) -> dict[str, object]:
        """What else the messages of this format mention."""
        return {}

    def _chunks(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        return cut_lines(self._paths, buffers, stop)

    def __iter__(self) -> Iterator[Block]:
        if self._begun and not self.repeatable:
            raise DataError(
                f"{self.name} can be read only once; save it to a file to go over it again"
            )
        self._begun = True
        return self._pass()

    def _pass(self) -> Iterator[Block]:
        self.bytes_read = 0
        empty = True
        with closing(self._blocks()) as blocks:
            for block in blocks:
                empty = False
                yield from split(block, self._block_rows)
        if empty:
            raise DataError(f"no examples in {self.name}")

    def _blocks(self) -> Generator[Block, None, None]:
        stop = Stop()
        buffers = Buffers(self._chunk_bytes)
        line = 0  # lines of the current file in the chunks before

        def parse(chunk: Chunk) -> tuple[Parsed, bool, int]:
            parsed = self._parse(chunk)
            buffers.give_back(chunk.buffer)
            return parsed, chunk.first, chunk.position

        results = ordered_map(
            parse, self._chunks(buffers, stop), threads=self._threads, cancel=stop.set
        )
        try:
            for parsed, first, position in results:
                if first:
                    line = 0
                block = parsed.block
                self.bytes_read = position
                if len(block):
                    assert block.lines is not None
                    block.lines[:] += line + 1
                    yield block
                line += parsed.n_lines
                if parsed.trouble is not None:
                    raise self._error(f"{block.path}:{line + 1}", parsed.trouble)
        except LineTooLong as error:
            raise DataError(
                f"{error.path}:{line + 1}:1: this line is longer than {LONGEST_LINE >> 20} MiB; "
                f"is it {self.format} text, one example a line?"
            ) from None
        finally:
            results.close()
            stop.close()

    def _error(self, where: str, trouble: Trouble) -> DataError:
        message = self.messages[trouble.kind].format(
            text=excerpt(trouble.text), previous=trouble.previous, **self._details(trouble)
        )
        return DataError(f"{where}:{trouble.column}: {message}")


def excerpt(text: bytes) -> str:
    """A few characters of the input that can be printed anywhere.

    >>> excerpt(b"a\\x00b"), excerpt(b"")
    ("'a\\\\x00b'", 'the end of the line')
    """
    if not text:
        return "the end of the line"
    shown = text.decode("utf-8", "backslashreplace")
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return f"'{shown}'" if len(shown) <= _EXCERPT else f"'{shown[: _EXCERPT - 3]}...'"


def _join(paths: list[str]) -> str:
    names = [display(path) for path in paths]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more files"
