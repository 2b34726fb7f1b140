"""Text, one example a line, as a source: what the readers of all text formats share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riata._core import ParsedRows, ParseError
from riata.block import Block, concatenate
from riata.errors import DataError, NoExamples
from riata.sources.io.bytes import Stop, compression_of_name, display, is_remote, size_of
from riata.sources.io.lines import LONGEST_LINE, Buffers, Chunk, LineTooLong, cut_lines
from riata.sources.io.prefetch import ordered_map, threads_beside
from riata.sources.options import ReadOptions
from riata.sources.source import Begun, split

if TYPE_CHECKING:  # a file without bad lines needs nothing of this
    from riata.sources.bad_lines import BadLine, Skipping

_EXCERPT = 40
_CHUNKS = 64  # that a file is cut into, unless it is large
_SMALLEST_CHUNK = 1 << 18
_BEHIND_BAD = 1 << 12  # bytes to parse at once behind a bad line: the next one may be near


@dataclass(slots=True)
class Parsed:
    """The rows of a chunk up to the first line that cannot be read."""

    block: Block
    """Its lines are counted from 0 at the start of the chunk."""
    n_lines: int
    """Lines read without error."""
    error: ParseError | None


def parsed(rows: ParsedRows, path: str) -> Parsed:
    """The rows that a reader of the core made, as a Block."""
    block = Block(
        rows.indptr,
        rows.indices,
        rows.values,
        rows.labels,
        rows.weights,
        names=rows.names,
        name_offsets=rows.name_offsets,
        path=path,
        lines=rows.lines,
        offsets=rows.offsets,
    )
    return Parsed(block, rows.n_lines, rows.error)


@dataclass(slots=True)
class _Read:
    """What became of a chunk."""

    parts: list[Parsed]
    """More than one where bad lines were skipped between them; each counts its own lines from 0."""
    path: str
    first: bool
    position: int
    bad: list[BadLine] = field(default_factory=list)
    """Skipped, in order; numbered from 1 at the start of the chunk."""
    bad_lines: int = 0
    """Lines that those take up."""
    in_file: NDArray[np.int64] | None = None
    """See `Chunk`."""

    def line(self, number: Any) -> Any:
        """The line of the file that a line of the chunk stands for, both from 0; also of several at once."""
        return number if self.in_file is None else self.in_file[number]


@dataclass(slots=True)
class _Counter:
    line: int = 0
    """Lines of the current file in the chunks before."""
    total: int = 0
    """The same, of all files."""


class TextSource(ABC):
    """Files of text, or `-` for standard input, read one after another.

    Reading, unpacking and parsing run in `threads` threads beside the consumer; the Blocks do not
    depend on how many. Memory is bounded by a few chunks, whatever the size of the files.
    """

    format: ClassVar[str]
    """As messages name it."""
    messages: ClassVar[Mapping[str, str]]
    """What to say about each kind of error; `{text}` is the offending text."""
    chunk_bytes: ClassVar[int] = 1 << 20
    """Text that is parsed at once: a Block comes of it."""
    blocks_ahead: ClassVar[int | None] = None
    """Blocks that wait for the consumer or are being made; a few more than there are threads."""

    n_rows: int | None = None
    named: ClassVar[bool] = False
    """Whether features have names, and not numbers."""

    def __init__(
        self,
        paths: list[str],
        options: ReadOptions | None = None,
        *,
        skipping: Skipping | None = None,
        _chunk_bytes: int | None = None,
    ) -> None:
        if not paths:
            raise DataError("no files given")
        self._options = options = options or ReadOptions()
        sizes = [size_of(path) for path in paths]
        known = [size for size in sizes if size is not None]
        self.n_bytes: int | None = sum(known) if len(known) == len(sizes) else None
        self.repeatable = all(
            size is not None or is_remote(path) for path, size in zip(paths, sizes, strict=True)
        )
        self.bytes_read = 0
        self.name = join_names(paths)
        self.compressed = any(compression_of_name(path) is not None for path in paths)
        self._paths = paths
        self._skipping = skipping
        self._labelled = options.labelled
        self._block_rows = options.block_rows
        self._helped = options.threads is None and all(
            size is not None and not is_remote(path)
            for path, size in zip(paths, sizes, strict=True)
        )
        self._threads = options.threads or threads_beside(self._helped)
        self._chunk_bytes = _chunk_bytes or self._suitable_chunk()
        self._begun = Begun("save it to a file to go over it again")
        self._lines_before = 0 if options.part is None else options.part.head.count(b"\n")
        """Lines that are read before a part of a file, and are no part of it."""
        self._prepare()

    def _prepare(self) -> None:
        """What a format makes of its options, before anything is read."""

    def _suitable_chunk(self) -> int:
        """Of a small file less at once, so that there is something to do for everyone."""
        if self.n_bytes is None:
            return self.chunk_bytes
        return min(self.chunk_bytes, max(self.n_bytes // _CHUNKS, _SMALLEST_CHUNK))

    @property
    def skipped(self) -> int:
        """Lines of the current pass that could not be read and were left out."""
        return 0 if self._skipping is None else self._skipping.count

    @abstractmethod
    def _parse(self, chunk: Chunk) -> Parsed:
        """The rows of some whole lines. Called from several threads at once.

        After a bad line that is skipped, it is called again for a chunk that begins behind it,
        which is not the `first` one of its file.
        """

    def _in_order(self, block: Block) -> Block:
        """Each Block on its way to the consumer, in the order of the data."""
        return block

    def _details(self, error: ParseError) -> dict[str, object]:
        """What else the messages of this format mention."""
        return {}

    def _chunks(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        return cut_lines(self._paths, buffers, stop, self._options.part)

    def __iter__(self) -> Iterator[Block]:
        self._begun.again(self.name, self.repeatable)
        return self._pass()

    def _pass(self) -> Iterator[Block]:
        self.bytes_read = 0
        empty = True
        with closing(self._blocks()) as blocks:
            for block in blocks:
                empty = False
                yield from split(block, self._block_rows)
        if empty:
            raise NoExamples(f"no examples in {self.name}")

    def _blocks(self) -> Generator[Block, None, None]:
        stop = Stop()
        buffers = Buffers(self._chunk_bytes)
        counter = _Counter()

        def parse(chunk: Chunk) -> _Read:
            read = self._read(chunk)
            buffers.give_back(chunk.buffer)
            return read

        results = ordered_map(
            parse,
            self._chunks(buffers, stop),
            threads=self._threads,
            ahead=self.blocks_ahead,
            helping=self._helped,
            cancel=stop.set,
        )
        if self._skipping is not None:
            self._skipping.begin_pass()
        try:
            for read in results:
                self.bytes_read = read.position
                yield from map(self._in_order, self._number(read, counter))
            if self._skipping is not None:
                self._skipping.end_pass(self.name, counter.total)
        except LineTooLong as error:
            raise DataError(
                f"{error.path}:{counter.line + 1}:1: this line is longer than "
                f"{LONGEST_LINE >> 20} MiB; is it {self.format} text, one example a line?"
            ) from None
        finally:
            results.close()
            stop.close()
            buffers.close()

    def _read(self, chunk: Chunk) -> _Read:
        """All lines of the chunk, or those before the first bad one where it stops the pass."""
        part = self._parse(chunk)
        read = _Read([part], chunk.path, chunk.first, chunk.position, in_file=chunk.in_file)
        lines, done = 0, chunk.size
        while self._skipping is not None and (part.error is not None or done < chunk.size):
            lines += part.n_lines
            if part.error is None:
                ahead = 2 * done
            else:
                done, skipped = self._skip(chunk, part.n_lines, part.error, lines, read)
                lines += skipped
                ahead = _BEHIND_BAD
                part.error = None
            del chunk.buffer[:done]  # moves nothing: a bytearray only notes its new start
            chunk.size -= done
            chunk.first = False
            done = self._end_of_piece(chunk, ahead)
            part = self._parse(replace(chunk, size=done))
            if part.block.lines is not None:
                part.block.lines[:] += lines
            read.parts.append(part)
        return read

    def _skip(
        self, chunk: Chunk, before: int, error: ParseError, lines: int, read: _Read
    ) -> tuple[int, int]:
        """Note the bad line, `before` lines into the chunk; says where it ends, and how many lines it takes."""
        from riata.sources.bad_lines import BadLine

        start = start_of_line(chunk, before)
        end = self._end_of_bad(chunk, start, error)
        text = bytes(chunk.buffer[start:end]).removesuffix(b"\r")
        taken = 1 + text.count(b"\n")
        read.bad.append(BadLine(lines + 1, error.column, self._reason(error), text))
        read.bad_lines += taken
        return end + 1, taken

    def _end_of_piece(self, chunk: Chunk, size: int) -> int:
        """The end of whole lines, about so many bytes of them, or of all there are."""
        if size >= chunk.size:
            return chunk.size
        return chunk.buffer.index(b"\n", size, chunk.size) + 1

    def _number(self, read: _Read, counter: _Counter) -> Iterator[Block]:
        """The rows of a chunk, with their lines in the file, before whatever went wrong behind them."""
        if read.first:
            counter.line = -self._lines_before
        path, before, error = read.path, counter.line, read.parts[-1].error
        filled = [part.block for part in read.parts if len(part.block)]
        block = concatenate(filled) if filled else None
        if block is not None:
            assert block.lines is not None
            block.lines[:] = read.line(block.lines) + before + 1
        for bad in read.bad:
            bad.number = int(read.line(bad.number - 1)) + 1 + before
            try:
                assert self._skipping is not None
                self._skipping.add(path, bad, counter.total - before + bad.number)
            except DataError:
                if block is not None and block.lines is not None:
                    yield from filter(len, [block[: int(np.searchsorted(block.lines, bad.number))]])
                raise
        if block is not None:
            yield block
        lines = int(read.line(sum(part.n_lines for part in read.parts) + read.bad_lines))
        counter.line += lines
        counter.total += lines
        if error is not None:
            from riata.sources.bad_lines import stop_at

            raise stop_at(f"{path}:{counter.line + 1}:{error.column}: {self._reason(error)}")

    def _end_of_bad(self, chunk: Chunk, start: int, error: ParseError) -> int:
        """The newline that ends what cannot be read."""
        return chunk.buffer.index(b"\n", start, chunk.size)

    def _reason(self, error: ParseError) -> str:
        return self.messages[error.kind].format(
            text=excerpt(error.text), previous=error.previous, **self._details(error)
        )


def start_of_line(chunk: Chunk, before: int) -> int:
    """Where the line begins that has so many before it."""
    start = 0
    for _ in range(before):
        start = chunk.buffer.index(b"\n", start, chunk.size) + 1
    return start


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


def join_names(paths: list[str]) -> str:
    names = [display(path) for path in paths]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more files"
