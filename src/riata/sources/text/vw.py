"""Vowpal Wabbit text as a source: `label weight initial 'tag |namespace feature:value ...`, a line each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from riata import _core
from riata.errors import DataError, suggest
from riata.schema import Column, Schema, describe, expand_crosses
from riata.sources.io.bytes import Stop
from riata.sources.io.lines import PADDING, Buffers, Chunk, cut_lines
from riata.sources.options import LOOK_AT
from riata.sources.text.named import VALUE_MESSAGES, NamedTextSource, look_ahead
from riata.sources.text.text import Parsed, parsed

_NGRAM = re.compile(r"(?:(.+?):?)??(\d+)")
MOST_IN_A_ROW = 8
_NAMESPACE = re.compile(rb"\|([^\s:|]*)")
_FOREIGN = "; Riata learns from one number as the label: `1 |...`, `-1 2.5 |...`"

_MESSAGES = VALUE_MESSAGES | {
    "json": "this is JSON, not Vowpal Wabbit text; objects, one a line, can be read with "
    "--format jsonl (format='jsonl')",
    "bar_missing": "there is no bar (|) in this line; features stand behind one: `1 |words a b`, "
    "and an example without any is written `1 |`",
    "tab": "a tab before the bar, where Vowpal Wabbit skips what stands before it; use a space",
    "tag_not_last": "{text} stands between the tag and the bar; the tag comes last",
    "label_missing": "the label is missing; put a number before the bar",
    "label_touches_bar": "{text} touches the bar, which makes it the tag of the line, not its "
    "label; put a space between them",
    "label_syntax": "expected a number as the label, found {text}",
    "label_not_finite": "the label is {text}; labels must be finite numbers",
    "label_too_large": "the label {text} is beyond what a 64-bit float holds",
    "label_long": "{text} is one word too many; before the bar stand label, weight, initial "
    "prediction and tag",
    "label_shared": "{text} starts an example of several lines (contextual bandit or "
    "label-dependent features), which is not supported" + _FOREIGN,
    "label_ccb": "a conditional contextual bandit example, which is not supported" + _FOREIGN,
    "label_slates": "a slates example, which is not supported" + _FOREIGN,
    "label_continuous": "a continuous-action (ca) label, which is not supported" + _FOREIGN,
    "label_several": "{text} is a multi-label, which is not supported" + _FOREIGN,
    "label_costs": "{text} is a cost-sensitive label (class:cost), which is not supported"
    + _FOREIGN,
    "label_bandit": "{text} is a contextual bandit label (action:cost:probability), which is not "
    "supported" + _FOREIGN,
    "weight_syntax": "expected a number as the weight behind the label, found {text}",
    "weight_not_finite": "the weight is {text}; weights must be finite numbers",
    "weight_negative": "the weight is {text}; weights must not be negative",
    "initial_syntax": "expected a number as the initial prediction behind the weight, found {text}",
    "initial_not_finite": "the initial prediction is {text}; it must be a finite number",
    "initial_too_large": "the initial prediction {text} is beyond what a 32-bit float holds (3.4e38)",
    "namespace_name": "expected the name of a namespace behind the bar, found {text}; "
    "a namespace without a name has no weight",
    "namespace_weight_missing": "the namespace has no weight behind its colon",
    "namespace_weight_syntax": "expected a number as the weight of the namespace, found {text}",
    "weighted_too_large": "the value of {text} times the weight of its namespace is beyond what a "
    "32-bit float holds (3.4e38); rescale it",
    "value_missing": "{text} has no value behind the colon",
    "value_syntax": "expected a number behind the colon, found {text}; "
    "for a feature with a word as its value write name=word",
}


class VwSource(NamedTextSource):
    """Files of Vowpal Wabbit text, or `-` for standard input, read one after another.

    The name of a feature is `namespace^feature`, or `feature` where the namespace has none. A
    feature that a line repeats adds up. Weights of namespaces multiply values, importance weights
    become the weights of the Block, initial predictions its offsets, and tags are passed over. Of
    the labels only numbers are known; those of Vowpal Wabbit's other tasks are refused by name.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.vw"
    >>> _ = path.write_text("1 'mail.1 |h from |b offer:2\\n-1 0.5 |b hello\\n")
    >>> [block] = VwSource([str(path)])
    >>> [block.name_of(i) for i in range(block.nnz)], block.values, block.weights
    (['h^from', 'b^offer', 'b^hello'], array([1., 2., 1.], dtype=float32), array([1. , 0.5]))
    """

    format = "Vowpal Wabbit"
    messages = _MESSAGES
    chunk_bytes = 2 << 20

    def _prepare(self) -> None:
        super()._prepare()
        crosses, given = self._options.crosses, self._options.schema
        if given is not None and given.named:
            for column in given.features:
                if column.is_changed:
                    raise DataError(
                        f"{self.name}: the model was trained on the column {column.name!r} as "
                        f"{describe(column)}, and Vowpal Wabbit text has no columns: write the data as "
                        "CSV or JSON"
                    )
            given.check_options(self.name, "drop", (), crosses)  # type: ignore[arg-type]
        self._schema = self._wanted(given)
        named = (self._schema.crosses, self._schema.ngram, self._options.ignore)
        self._looked = not any(named)
        self._ignored = [c.name for c in self._schema.columns if c.role == "ignored"]

    def _wanted(self, given: Schema | None) -> Schema:
        """What the options ask for, or the model's schema, which they must not contradict."""
        options = self._options
        ngram = tuple(parse_ngram(text) for text in options.ngram)
        if given is None:
            columns = tuple(Column(name, "ignored") for name in options.ignore)
            crosses: Any = options.crosses
            return Schema(columns, open=True, crosses=crosses, ngram=ngram)
        if ngram not in ((), given.ngram):
            raise DataError(
                f"{self.name}: --ngram is other than where the model was trained: leave it out"
            )
        return given.with_roles(self.name, ignore=options.ignore)

    @property
    def label_names(self) -> None:
        """Labels are numbers, whatever the model's are."""
        return None

    def _chunks(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        chunks = cut_lines(self._paths, buffers, stop, self._options.part)
        if not self._looked:
            chunks, path, text = look_ahead(chunks, LOOK_AT)
            self._check_named(text, path or self.name)
            self._looked = True
        yield from chunks

    def _check_named(self, text: bytes, path: str) -> None:
        """Refuse namespaces that none of the first lines has, and find out what `:` stands for."""
        assert self._schema is not None
        found = sorted({name.decode("utf-8", "replace") for name in _NAMESPACE.findall(text)})
        schema = self._schema
        if self._options.schema is None:
            kept = [name for name in found if name not in self._ignored]
            self._schema = replace(schema, crosses=expand_crosses(schema.crosses, kept))
        crossed = (group for cross in self._schema.crosses for group in cross)
        grams = (name for name, _ in schema.ngram if name and self._options.schema is None)
        for what, groups in (
            ("a cross", crossed), ("--ngram", grams), ("--ignore", self._options.ignore),
        ):  # fmt: skip
            for group in groups:
                if text and group not in found:
                    raise DataError(
                        f"{path}: {what} names the namespace {group!r}, which none of the first lines has; "
                        f"{suggest(group, found)}"
                    )

    def _parse(self, chunk: Chunk) -> Parsed:
        assert self._schema is not None
        crosses, ngram = self._schema.crosses, dict(self._schema.ngram)
        text: bytes | bytearray = chunk.buffer
        size = chunk.size
        if ngram or self._ignored:
            of_all = ngram.pop("", 0)
            text = _core.expand_vw(text, size, list(ngram.items()), of_all, self._ignored)
            size = len(text)
            text += bytes(PADDING)
        rows = _core.parse_vw(text, size, self._labelled, self._names, crosses)
        return parsed(rows, chunk.path)


def parse_ngram(text: str) -> tuple[str, int]:
    """A namespace, empty for all, and up to how many of its features in a row make n-grams.

    >>> parse_ngram("2"), parse_ngram("b3"), parse_ngram("body:2")
    (('', 2), ('b', 3), ('body', 2))
    """
    found = _NGRAM.fullmatch(text.strip())
    most = int(found[2]) if found else 0
    if found is None or not 2 <= most <= MOST_IN_A_ROW:
        raise DataError(
            f"--ngram is a number from 2 up to {MOST_IN_A_ROW}, or a namespace and one, such as 2, b2 or body:2; not "
            f"{text!r}"
        )
    return found[1] or "", most
