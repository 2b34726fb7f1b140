"""svmlight text as a source: `label index:value index:value ... # comment`, one example a line."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.sources.bytes import Stop, display, size_of
from riata.sources.lines import LONGEST_LINE, Buffers, Chunk, LineTooLong, cut_lines
from riata.sources.prefetch import ordered_map
from riata.sources.source import split

_EXCERPT = 40

_MESSAGES = {
    "label_missing": "the label is missing: the line starts with {text}; put a number before it",
    "label_syntax": "expected a number as the label, found {text}",
    "label_several": "several labels ({text}); one label a line, please: "
    "write one file for each label, or keep the first",
    "label_not_finite": "the label is {text}; labels must be finite numbers",
    "label_too_large": "the label {text} is beyond what a 64-bit float holds",
    "qid_syntax": "expected a whole number after qid:, found {text}",
    "feature_syntax": "expected index:value, found {text}",
    "index_zero": "index 0, but indices count from 1; "
    "if yours count from 0, pass --zero-based (zero_based=True)",
    "index_negative": "negative index in {text}; indices count from {base}",
    "index_duplicate": "index {previous} comes twice; give each index once a line",
    "index_descending": "the index in {text} is smaller than the {previous} before it; "
    "sort the indices of each line",
    "index_too_large": "the index in {text} is beyond 2^63 - 1",
    "value_missing": "{text} has no value after the colon",
    "value_syntax": "expected a number after the colon, found {text}",
    "value_not_finite": "the value is {text}; values must be finite: drop or replace it",
    "value_too_large": "the value {text} is beyond what a 32-bit float holds (3.4e38); rescale it",
}


@dataclass(slots=True)
class _Parsed:
    block: Block
    n_lines: int
    trouble: tuple[str, int, bytes, int] | None
    first: bool
    position: int


class SvmlightSource:
    """Files of svmlight text, or `-` for standard input, read one after another.

    Reading, unpacking and parsing run in `threads` threads beside the consumer; the Blocks do not
    depend on how many. Memory is bounded by a few chunks, whatever the size of the files.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.svm"
    >>> _ = path.write_text("1 3:0.5 7:2 # a comment\\n-1 1:1\\n")
    >>> [block] = SvmlightSource([str(path)])
    >>> block.labels, block.indices, block.lines.tolist()
    (array([ 1., -1.]), array([2, 6, 0], dtype=int32), [1, 2])
    """

    n_rows: int | None = None

    def __init__(
        self,
        paths: list[str],
        *,
        block_rows: int | None = None,
        zero_based: bool = False,
        labelled: bool = True,
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
        self._zero_based = zero_based
        self._labelled = labelled
        self._threads = threads or min(2, len(os.sched_getaffinity(0)))
        self._chunk_bytes = _chunk_bytes
        self._begun = False

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

        def parse(chunk: Chunk) -> _Parsed:
            parsed = self._parse(chunk)
            buffers.give_back(chunk.buffer)
            return parsed

        results = ordered_map(
            parse,
            cut_lines(self._paths, buffers, stop),
            threads=self._threads,
            cancel=stop.set,
        )
        try:
            for parsed in results:
                if parsed.first:
                    line = 0
                block = parsed.block
                self.bytes_read = parsed.position
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
                "is it svmlight text, one example a line?"
            ) from None
        finally:
            results.close()
            stop.close()

    def _parse(self, chunk: Chunk) -> _Parsed:
        labels, indptr, indices, values, lines, n_lines, trouble = _core.parse_svmlight(
            chunk.buffer, chunk.size, self._zero_based, self._labelled
        )
        block = Block(indptr, indices, values, labels, path=chunk.path, lines=lines)
        return _Parsed(block, n_lines, trouble, chunk.first, chunk.position)

    def _error(self, where: str, trouble: tuple[str, int, bytes, int]) -> DataError:
        kind, column, text, previous = trouble
        message = _MESSAGES[kind].format(
            text=_excerpt(text), previous=previous, base=0 if self._zero_based else 1
        )
        return DataError(f"{where}:{column}: {message}")


def _excerpt(text: bytes) -> str:
    """A few characters of the input that can be printed anywhere."""
    if not text:
        return "the end of the line"
    shown = text.decode("utf-8", "backslashreplace")
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return f"'{shown}'" if len(shown) <= _EXCERPT else f"'{shown[: _EXCERPT - 3]}...'"


def _join(paths: list[str]) -> str:
    names = [display(path) for path in paths]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more files"
