"""Lines of text with a label: fastText's, `__label__spam free entry`, and those whose first word is the label."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.sources.io.bytes import Stop
from riata.sources.io.lines import PADDING, Buffers, Chunk
from riata.sources.options import ReadOptions
from riata.sources.text.csv import CsvSource

_LABELS = re.compile(rb"^((?:__label__\S+[ \t]*)*)", re.MULTILINE)
_LABEL = re.compile(rb"__label__(\S+)")
_SEVERAL = re.compile(rb"^__label__\S+[ \t]+__label__\S", re.MULTILINE)
_FIRST_WORD = re.compile(rb"^[ \t]*([^\s]+)[ \t]*", re.MULTILINE)
_LINE = re.compile(rb"^(?=.*\S)", re.MULTILINE)
_LOOK_AT = 20
"""Lines that show whether all of them begin with a label."""


class LabelAndText(CsvSource):
    """What becomes a table of the columns `label` and `text`."""

    def __init__(
        self, paths: list[str], options: ReadOptions | None = None, **reading: Any
    ) -> None:
        options = replace(options or ReadOptions(), format="tsv", header=False, text=("text",))
        super().__init__(paths, options, **reading)

    def _count(self, count: int) -> list[str]:
        return ["label", "text"]

    def _in_columns(self, text: bytes) -> bytes:
        """Whole lines as those of the table: a label, a tab and a text each."""
        raise NotImplementedError

    def _lines(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        for chunk in super()._lines(buffers, stop):
            text = bytes(memoryview(chunk.buffer)[: chunk.size]).replace(b"\t", b" ")
            if text[:3] == b"\xef\xbb\xbf" and chunk.first:
                text = text[3:]
            text, in_file = self._one_label_each(text)
            columns = self._in_columns(text)
            buffer = bytearray(len(columns) + PADDING)
            buffer[: len(columns)] = columns
            yield replace(chunk, buffer=buffer, size=len(columns), in_file=in_file)

    def _one_label_each(self, text: bytes) -> tuple[bytes, NDArray[np.int64] | None]:
        """Lines of one label at most, and which of the given ones each is, where that differs."""
        return text, None


class FastTextSource(LabelAndText):
    """Files of lines with a label and a text, as fastText has them; read as a table of these two columns.

    The text is taken apart into n-grams: see `docs/text.md`. A line with several labels is an example of each
    of them; where rows need no labels, as to predict, it is one row, with the first of them.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.txt"
    >>> _ = path.write_text("__label__spam Free entry\\n__label__ham see you\\n")
    >>> source = FastTextSource([str(path)])
    >>> [block] = source
    >>> [block.name_of(i) for i in range(3)], block.labels, source.label_names
    (['text^free', 'text^entry', 'text^free entry'], array([1., 0.]), ['ham', 'spam'])
    """

    messages = CsvSource.messages | {
        "label_missing": "the label is missing; a line is such as `__label__spam free entry`",
    }

    def _prepare(self) -> None:
        super()._prepare()
        self.format = "fastText"  # type: ignore[misc]

    def _in_columns(self, text: bytes) -> bytes:
        return _LABELS.sub(_fasttext_line, text)

    def _one_label_each(self, text: bytes) -> tuple[bytes, NDArray[np.int64] | None]:
        if not self._labelled or not _SEVERAL.search(text):
            return text, None
        made: list[bytes] = []
        in_file: list[int] = []
        lines = text.split(b"\n")[:-1]
        for number, line in enumerate(lines):
            labels = _LABELS.match(line)
            assert labels is not None  # perhaps of nothing
            words = _LABEL.findall(labels[1])
            rest = line[labels.end() :]
            one_each = [b"__label__%s %s" % (word, rest) for word in dict.fromkeys(words)]
            made += one_each if len(words) > 1 else [line]
            in_file += [number] * (len(made) - len(in_file))
        return b"\n".join([*made, b""]), np.array([*in_file, len(lines)])


def _fasttext_line(line: re.Match[bytes]) -> bytes:
    if line.end() == line.start() and line.string[line.end() : line.end() + 1] in (b"\n", b""):
        return b""  # an empty line
    label = _LABEL.match(line[1])
    return (b"" if label is None else label[1]) + b"\t"


class LinesSource(LabelAndText):
    """Files of lines of text; with `label_first` the first word of each is its label, else there are none.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.txt"
    >>> _ = path.write_text("spam Free entry\\nham see you\\n")
    >>> source = LinesSource([str(path)], ReadOptions(label_first=True))
    >>> [block] = source
    >>> [block.name_of(i) for i in range(3)], block.labels, source.label_names
    (['text^free', 'text^entry', 'text^free entry'], array([1., 0.]), ['ham', 'spam'])
    """

    messages = CsvSource.messages | {
        "label_missing": "a line of text has no label; if its first word is that, say --label-first "
        "(label_first=True)",
    }

    def _prepare(self) -> None:
        super()._prepare()
        self.format = "text"  # type: ignore[misc]
        # A model whose labels are wanted has no other place for them.
        known = self._options.schema is not None and self._options.labelled
        self._label_first = self._options.label_first or known

    def _in_columns(self, text: bytes) -> bytes:
        if self._label_first:
            return _FIRST_WORD.sub(rb"\1\t", text)
        self._warn_of_labels(text)
        return _LINE.sub(b"\t", text)

    def _warn_of_labels(self, text: bytes) -> None:
        if self._core is not None or self._options.schema is None:
            return
        words = {str(word).encode() for word in self._options.schema.label_names or ()}
        lines = [line.split(None, 1)[0] for line in text.splitlines()[:_LOOK_AT] if line.strip()]
        if len(lines) > 1 and all(word in words for word in lines):
            warnings.warn(
                f"{self.name}: each of the first lines begins with the name of a class, which is read as a word of "
                "the text; if it is the label, say --label-first (label_first=True)",
                stacklevel=2,
            )
