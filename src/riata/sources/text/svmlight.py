"""svmlight text as a source: `label index:value index:value ... # comment`, one example a line."""

from __future__ import annotations

from riata import _core
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.io.lines import Chunk
from riata.sources.text.text import Parsed, TextSource, parsed

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


_OTHERS = (
    (b"|", "vw", "Vowpal Wabbit text"),
    (b"{", "jsonl", "JSON"),
    (b"@", "arff", "ARFF"),
    (b",", "csv", "comma separated"),
)
"""Signs of formats that a pipe cannot be recognised by before it is read."""


class SvmlightSource(TextSource):
    """Files of svmlight text, or `-` for standard input, read one after another.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.svm"
    >>> _ = path.write_text("1 3:0.5 7:2 # a comment\\n-1 1:1\\n")
    >>> [block] = SvmlightSource([str(path)])
    >>> block.labels, block.indices, block.lines.tolist()
    (array([ 1., -1.]), array([2, 6, 0], dtype=int32), [1, 2])
    """

    format = "svmlight"
    messages = _MESSAGES
    # Parsing takes little longer than learning, and where cores are fewer than threads each of them stands
    # still for milliseconds at times: some Blocks in stock keep the others busy.
    chunk_bytes = 2 << 20
    blocks_ahead = 12

    def _prepare(self) -> None:
        self._zero_based = self.schema.base == 0

    @property
    def schema(self) -> Schema:
        """Features are numbered, as the file has them."""
        given = self._options.schema
        base = None if given is None else given.base
        if self._options.zero_based and base == 1:
            raise DataError(
                f"{self.name}: --zero-based, but the model was trained on indices that count from 1"
            )
        return Schema(
            named=False, base=base if base is not None else int(not self._options.zero_based)
        )

    def _parse(self, chunk: Chunk) -> Parsed:
        rows = _core.parse_svmlight(chunk.buffer, chunk.size, self._zero_based, self._labelled)
        return parsed(rows, chunk.path)

    def _reason(self, error: _core.ParseError) -> str:
        reason = super()._reason(error)
        for sign, format, what in _OTHERS:
            if error.kind in ("label_syntax", "label_several", "feature_syntax") and (
                sign in error.text
            ):
                return f"{reason}; if this is {what}, pass --format {format}"
        if error.kind == "label_syntax" and error.text.decode("utf-8", "replace")[:1].isalpha():
            return f"{reason}; if lines are texts, each behind its label, pass --label-first"
        return reason

    def _details(self, error: _core.ParseError) -> dict[str, object]:
        return {"base": self.schema.base}
