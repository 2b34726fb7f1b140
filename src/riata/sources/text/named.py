"""Text with named features as a source: what its formats share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from riata.block import Block
from riata.schema import Schema
from riata.sources.io.lines import PADDING, Chunk
from riata.sources.text.text import Parsed, TextSource, start_of_line

if TYPE_CHECKING:
    from riata.sources.labels import LabelWords

VALUE_MESSAGES = {
    "value_not_finite": "the value is {text}; values must be finite: drop or replace it",
    "value_too_large": "the value {text} is beyond what a 32-bit float holds (3.4e38); rescale it",
    "scaled_too_large": "the value {text}, scaled by what the first rows were, is beyond what a 32-bit float holds "
    "(3.4e38); correct it, or read values as they are (--scale none)",
    "sum_too_large": "the values of {text} add up, or multiply, to more than a 32-bit float holds "
    "(3.4e38); rescale them",
    "kind_text": "column '{detail}' holds texts, but here is {text}; if its values are names, train with "
    "--categorical {detail}",
    "not_date": "column '{detail}' holds dates, such as 2024-03-01 or 2024-03-01T17:30, but here is {text}; if "
    "it means a missing one, pass --absent; if its values are names, train with --categorical {detail}",
    "not_text": "column '{detail}' holds texts, but here are bytes that are no UTF-8: {text}; convert the "
    "file first, with iconv -f latin1 -t utf-8 or the like",
    "row_too_long": "the crosses make more than 67 million features of this line; "
    "cross smaller groups",
}


LABEL_MESSAGES = {
    "label_missing": "the label, column '{detail}', is missing",
    "label_syntax": "expected a number as the label, found {text}",
    "label_unknown": "the label {text} is none of those in the first rows: {labels}",
    "label_not_finite": "the label is {text}; labels must be finite numbers",
    "label_too_large": "the label {text} is beyond what a 64-bit float holds",
    "label_twice": "the label comes twice; this one is {text}",
    "weight_missing": "the weight, column '{detail}', is missing",
    "weight_syntax": "expected a number as the weight, found {text}",
    "weight_not_finite": "the weight is {text}; weights must be finite numbers",
    "weight_negative": "the weight is {text}; weights must not be negative",
    "weight_twice": "the weight comes twice; this one is {text}",
    "offset_missing": "the offset, column '{detail}', is missing",
    "offset_syntax": "expected a number as the offset, found {text}",
    "offset_not_finite": "the offset is {text}; offsets must be finite numbers",
    "offset_too_large": "the offset {text} is beyond what a 32-bit float holds (3.4e38)",
    "offset_twice": "the offset comes twice; this one is {text}",
}


class NamedTextSource(TextSource):
    """Text whose features have names."""

    named = True

    def _prepare(self) -> None:
        self._names = self._options.names
        self._schema: Schema | None = None
        self._words: LabelWords | None = None

    @property
    def schema(self) -> Schema | None:
        """What must be the same for another source to make the same features.

        It holds what was found out from the first rows, so it is None before they were read.
        """
        return None if self._schema is None else self._schema.with_words(self.label_names)

    @property
    def label_names(self) -> list[Any] | None:
        """Where labels are words or bools: label i stands for the i-th."""
        return None if self._words is None else self._words.names

    def _in_order(self, block: Block) -> Block:
        return block if self._words is None else self._words.in_order(block)

    def _joins(self, chunk: Chunk, read: Parsed, known: Sequence[str]) -> bool:
        """Whether what stopped the reader is a word among the labels that it did not know, and that joins. Those of
        the lines behind it join, too: after each stop the chunk is read again from its start."""
        error = read.error
        if error is None or error.kind != "label_unknown" or self._words is None:
            return False
        start = start_of_line(chunk, read.n_lines)
        words = self._labels_in(bytes(memoryview(chunk.buffer)[start : chunk.size]))
        if not words or words[0] in known:
            return False
        self._words.add(words)
        return True

    def _labels_in(self, lines: bytes) -> list[str]:
        """The words that are labels of these lines; first that of the first line, whatever it is."""
        return []


def join_chunks(chunks: list[Chunk]) -> Chunk:
    """Chunks of one file, one behind another, as one."""
    if len(chunks) == 1:
        return chunks[0]
    text = b"".join(memoryview(chunk.buffer)[: chunk.size] for chunk in chunks)
    buffer = bytearray(len(text) + PADDING)
    buffer[: len(text)] = text
    return Chunk(buffer, len(text), chunks[0].path, chunks[0].first, chunks[-1].position)


def look_ahead(chunks: Iterator[Chunk], lines: int) -> tuple[Iterator[Chunk], str | None, bytes]:
    """All the chunks, the name of the first file, and so many of its lines, or all there are.

    What goes wrong while looking is raised again behind the chunks before it.
    """
    held: list[Chunk] = []
    text = b""
    fault: Exception | None = None
    try:
        for chunk in chunks:
            held.append(chunk)
            if chunk.first and len(held) > 1:
                break
            text += memoryview(chunk.buffer)[: chunk.size]
            if text.count(b"\n") >= lines:
                break
    except Exception as error:
        fault = error
        if not held:
            raise

    def again() -> Iterator[Chunk]:
        yield from held
        if fault is not None:
            raise fault
        yield from chunks

    path = held[0].path if held else None
    return again(), path, b"\n".join(text.split(b"\n", lines)[:lines])
