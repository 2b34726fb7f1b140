"""fastText's lines as a source: `__label__spam free entry`, a label and a text each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from riata.sources.io.bytes import Stop
from riata.sources.io.lines import PADDING, Buffers, Chunk
from riata.sources.options import ReadOptions
from riata.sources.text.csv import CsvSource

_LABELS = re.compile(rb"^((?:__label__\S+[ \t]*)*)", re.MULTILINE)
_LABEL = re.compile(rb"__label__(\S+)")


class FastTextSource(CsvSource):
    """Files of lines with a label and a text, as fastText has them; read as a table of these two columns.

    The text is taken apart into n-grams: see `docs/text.md`. A line has one label: one with several is refused,
    since a class is predicted here, not a set of them; whoever wants each of the labels learned from the text writes
    the line once for each.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.txt"
    >>> _ = path.write_text("__label__spam Free entry\\n__label__ham see you\\n")
    >>> source = FastTextSource([str(path)])
    >>> [block] = source
    >>> [block.name_of(i) for i in range(3)], block.labels, source.label_names
    (['text^free', 'text^entry', 'text^free entry'], array([1., 0.]), ['ham', 'spam'])
    """

    messages = CsvSource.messages | {
        "fields_many": "a second label; a line has one: of a text with several, write a line for each",
        "label_missing": "the label is missing; a line is such as `__label__spam free entry`",
    }

    def __init__(
        self, paths: list[str], options: ReadOptions | None = None, **reading: Any
    ) -> None:
        options = replace(options or ReadOptions(), format="tsv", header=False, text=("text",))
        super().__init__(paths, options, **reading)
        self.format = "fastText"  # type: ignore[misc]

    def _lines(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        for chunk in super()._lines(buffers, stop):
            text = bytes(memoryview(chunk.buffer)[: chunk.size]).replace(b"\t", b" ")
            if text[:3] == b"\xef\xbb\xbf" and chunk.first:
                text = text[3:]
            columns = _LABELS.sub(_in_columns, text)
            buffer = bytearray(len(columns) + PADDING)
            buffer[: len(columns)] = columns
            yield replace(chunk, buffer=buffer, size=len(columns))

    def _count(self, count: int) -> list[str]:
        return ["label", "text"]


def _in_columns(line: re.Match[bytes]) -> bytes:
    if line.end() == line.start() and line.string[line.end() : line.end() + 1] in (b"\n", b""):
        return b""  # an empty line
    return b"\t".join([*_LABEL.findall(line[1])] or [b""]) + b"\t"
