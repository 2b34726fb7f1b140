"""JSON objects, one a line, as a source."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from riata import _core
from riata.block import Block
from riata.errors import DataError, in_words, suggest
from riata.schema import Column, Schema
from riata.sources.bad_lines import BadLine, Skipping
from riata.sources.io.bytes import Stop
from riata.sources.io.lines import Buffers, Chunk, cut_lines
from riata.sources.labels import BOOLS, LabelWords, text_words
from riata.sources.numbers import bucket_edges, compare_units
from riata.sources.options import LABEL, LOOK_AT, ReadOptions
from riata.sources.source import Begun, split
from riata.sources.table.layout import (
    LOOK_AT_BUCKETS,
    TableOptions,
    check_texts,
    with_all_crosses,
)
from riata.sources.text.dumped import texts_of
from riata.sources.text.first_objects import (
    any_has,
    find_columns,
    is_within,
    labels_in,
    lookup,
    names_of,
    numbers_in,
    objects_in,
    scaled,
    values_in,
    with_texts,
)
from riata.sources.text.named import LABEL_MESSAGES, VALUE_MESSAGES, NamedTextSource, look_ahead
from riata.sources.text.text import Parsed, excerpt, parsed

_MESSAGES = (
    VALUE_MESSAGES
    | LABEL_MESSAGES
    | {
        "object": "expected an object, {{...}}, on each line, found {text}; of one list of "
        "objects, jq -c '.[]' makes such lines",
        "trailing": "text behind the object: {text}; one object a line, please",
        "key": "expected a key in double quotes, found {text}",
        "colon": "expected a colon behind the key, found {text}",
        "comma_object": "expected a comma or a closing brace, found {text}",
        "comma_list": "expected a comma or a closing bracket, found {text}",
        "value": "expected a value, found {text}",
        "value_syntax": "expected a number, found {text}",
        "depth": "objects and lists are nested more than 64 deep",
        "string_open": "the string {text} is not closed on its line",
        "string_control": "a control character within a string; write it as \\u00..",
        "escape": "unknown escape {text} within a string",
        "surrogate": "{text} is half of a surrogate pair; the other half is missing",
        "label_missing": "the label '{label}' is missing; name its key with --label (label=...)",
        "label_kind": "the label is {text}; it must be a number or a text",
        "kind": "column '{detail}' holds numbers, but here is {text}; if its values are names, train "
        "with --categorical {detail}",
        "key_unknown": "{text} was not there before: the model was trained with {columns}; leave it out "
        "with --ignore",
        "offset_missing": "the offset '{offset}' is missing; name its key with --offset (offset=...)",
    }
)


class JsonFormat:
    """What becomes of the keys of an object, shared by text and dicts."""

    def __init__(self, wanted: TableOptions) -> None:
        self._wanted = wanted
        self._schema: Schema | None = None
        self._core: tuple[_core.JsonFormat, Sequence[str]] | None = None
        """What reads lines, and the words that it knows as labels."""
        self.words: LabelWords | None = None
        self._bools = False
        self.label = self._of_role("label", wanted.roles.label) or LABEL
        self.offset = self._of_role("offset", wanted.roles.offset)
        replace(wanted.roles, label=self.label)  # it must not have another role

    def _of_role(self, role: str, named: str | None) -> str | None:
        given = self._wanted.given
        return named if named is not None or given is None else given.of_role(role)

    @property
    def rows_needed(self) -> int:
        """How many of the first objects show what the keys are."""
        return LOOK_AT_BUCKETS if self._wanted.transforms.buckets else LOOK_AT

    def find_out(self, first: Sequence[Any], name: str) -> None:
        """What the keys are, from the first objects; and whether they have those that are needed at all."""
        objects = [item for item in first[:LOOK_AT] if isinstance(item, Mapping)]
        wanted = self._wanted
        wanted.refuse_others(name)
        known = (wanted.given or Schema(open=True)).with_roles(
            name, self.label, wanted.roles.weight, self.offset, wanted.roles.ignore
        )
        values = values_in(objects)
        self._check_keys(objects, list(values), known, name)
        absent = wanted.kept.absent
        compare_units(wanted.given, list(values), lambda p: numbers_in(values[p], absent), name)
        columns = list(known.columns)
        if known.open:
            more = [item for item in first if isinstance(item, Mapping)]
            found = {column.name: column for column in self._explicit(values, more, name)}
            found = {name: c for name, c in found.items() if name not in known.by_name}
            taken = [*known.by_name, *found]
            guessed = find_columns(
                {path: seen for path, seen in values.items() if not is_within(path, taken)},
                wanted.kept.absent,
                wanted.given is None,
            )
            guessed = [scaled(c, values[c.name], len(objects), wanted) for c in guessed]
            guessed = [*with_texts(guessed, values, wanted, name)]
            for column in guessed:
                wanted.notice(column, partial(values.__getitem__, column.name), name)
            columns = [*columns, *found.values(), *guessed]
        found_names = names_of(labels_in(objects, self.label, wanted.kept.absent))
        names = found_names if known.label_names is None else known.label_names
        self._schema = replace(
            wanted.kept, columns=tuple(columns), label_names=names, open=known.open
        )
        self._schema = with_all_crosses(self._schema)
        self._check_crosses(values, name)
        check_texts(self._schema, name)
        if found_names is not None and not (text_words(names) and text_words(found_names)):
            names = found_names  # here labels are what they are
        self._bools, words = names == BOOLS, text_words(names)
        self.words = LabelWords(words) if words else None
        self._core = self._core_with(words), words

    def _core_with(self, words: Sequence[str]) -> _core.JsonFormat:
        assert self._schema is not None
        schema, wanted = self._schema, self._wanted
        return _core.JsonFormat(
            schema.core_columns(objects=True),
            schema.open,
            words,
            schema.absent,
            schema.missing == "feature",
            wanted.labelled,
            wanted.names,
            schema.crosses,
            not schema.truths,
        )

    def _explicit(
        self, values: Mapping[str, list[Any]], objects: list[Any], name: str
    ) -> Iterator[Column]:
        """The keys that somebody named; buckets are made from all of these objects."""
        roles, transforms = self._wanted.roles, self._wanted.transforms
        absent = self._wanted.kept.absent
        for path in roles.numeric:
            if path not in transforms.columns:
                yield self._wanted.number(path, partial(numbers_in, values.get(path, ()), absent))
        yield from (Column(path, kind="category") for path in roles.categorical)
        yield from map(self._wanted.text_column, roles.text)
        yield from (Column(path, kind="date") for path in roles.date)
        yield from (Column(path, kind="log1p") for path in transforms.log1p)
        for path, count in transforms.buckets.items():
            if path in roles.categorical:
                raise DataError(f"{name}: log1p and buckets are for numbers; {path!r} has names")
            numbers = numbers_in((lookup(item, path) for item in objects), absent)
            yield Column(path, kind="bucket", edges=tuple(bucket_edges(numbers, count, path, name)))

    def _check_keys(
        self, objects: list[Mapping[str, Any]], found: list[str], known: Schema, name: str
    ) -> None:
        """A column that no object has is an error. Keys that may yet come are worth a warning."""
        roles = self._wanted.roles
        needed = {"label": self.label if self._wanted.labelled else None, "offset": self.offset}
        for role, path in needed.items():
            if objects and path is not None and not any_has(objects, path):
                raise DataError(
                    f"{name}: the {role} '{path}' is missing in all of the first objects; name its "
                    f"key with --{role} ({role}=...): {suggest(path, found)}"
                )
        if not known.open:
            for column in known.features if objects else ():
                if not any_has(objects, column.name):
                    raise DataError(
                        f"{name}: column {column.name!r} is missing in all of the first objects; "
                        f"there are {in_words(found)}"
                    )
            return
        named = (*roles.numeric, *roles.categorical, *roles.text, *roles.date)
        for path in (*roles.ignore, *named):
            if objects and not any_has(objects, path) and self._wanted.given is None:
                warnings.warn(
                    f"{name}: none of the first objects has a key {path!r}; {suggest(path, found)}",
                    stacklevel=2,
                )

    def _check_crosses(self, values: Mapping[str, list[Any]], name: str) -> None:
        assert self._schema is not None
        for group in (group for cross in self._schema.crosses for group in cross):
            if not any(path == group or path.startswith(f"{group}.") for path in values):
                raise DataError(
                    f"{name}: a cross names {group!r}, which none of the first objects has; "
                    f"{suggest(group, list(values))}"
                )

    @property
    def ready(self) -> bool:
        return self._core is not None

    @property
    def schema(self) -> Schema | None:
        return None if self._schema is None else self._schema.with_words(self.label_names)

    @property
    def label_names(self) -> list[Any] | None:
        if self._bools:
            return list(BOOLS)
        return None if self.words is None else self.words.names

    def parse(self, text: bytes | bytearray, size: int, path: str) -> Parsed:
        assert self._core is not None
        while True:
            core, words = self._core
            if self.words is not None and len(self.words.seen) > len(words):
                words = self.words.seen
                core = self._core_with(words)
                self._core = core, words
            read = parsed(core.parse(text, size), path)
            unknown = read.error is not None and read.error.kind == "label_unknown"
            if not unknown or not self._joins(bytes(text[:size]), read.n_lines, words):
                return read

    def _joins(self, text: bytes, before: int, known: Sequence[str]) -> bool:
        """Whether the label behind so many lines is a word that the reader did not know, and that joins. Those of the
        lines behind it join, too: after each stop the text is read again from its start."""
        lines = text.split(b"\n", before)[before].split(b"\n")
        labels = labels_in(objects_in(lines), self.label, self._wanted.kept.absent)
        words = [label for label in labels if isinstance(label, str)]
        if self.words is None or not words or words[0] in known:
            return False
        self.words.add(words)
        return True

    def in_order(self, block: Block) -> Block:
        return block if self.words is None else self.words.in_order(block)

    def details(self) -> dict[str, object]:
        names = ", ".join((self.label_names or [])[:10])
        known = in_words((self.schema or Schema()).names)
        return {"label": self.label, "offset": self.offset, "labels": names, "columns": known}


class JsonSource(NamedTextSource):
    """Files of JSON objects, one a line, or `-` for standard input.

    Keys of nested objects are joined: `{"user": {"age": 30}}` is the feature `user.age` with the
    value 30. A text is the feature `key=text`, true is `key` with 1; false and null are nothing. A
    list of texts is several features, other things in lists are numbered, `key.0`. Columns of
    `Roles` are keys here, `user.age` if nested; an ignored key leaves out all below it.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.jsonl"
    >>> _ = path.write_text('{"y": 1, "user": {"age": 30, "tags": ["a", "b"]}, "new": true}')
    >>> [block] = JsonSource([str(path)], ReadOptions(label="y"))
    >>> [block.name_of(i) for i in range(block.nnz)]
    ['user.age', 'user.tags=a', 'user.tags=b', 'new']
    """

    format = "JSON"
    messages = _MESSAGES

    def _prepare(self) -> None:
        super()._prepare()
        self._mapping = JsonFormat(TableOptions.of(self._options))

    @property
    def schema(self) -> Schema | None:
        return self._mapping.schema

    @property
    def label_names(self) -> list[Any] | None:
        return self._mapping.label_names

    def _in_order(self, block: Block) -> Block:
        return self._mapping.in_order(block)

    def _chunks(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        chunks = cut_lines(self._paths, buffers, stop, self._options.part)
        if not self._mapping.ready:
            chunks, path, text = look_ahead(chunks, self._mapping.rows_needed)
            self._mapping.find_out(list(objects_in(text.split(b"\n"))), path or self.name)
        yield from chunks

    def _parse(self, chunk: Chunk) -> Parsed:
        return self._mapping.parse(chunk.buffer, chunk.size, chunk.path)

    def _details(self, error: _core.ParseError) -> dict[str, object]:
        return self._mapping.details() | {"detail": error.detail or self._mapping.label}

    def _reason(self, error: _core.ParseError) -> str:
        reason = super()._reason(error)
        if error.text or error.kind not in ("key", "value", "comma_object", "comma_list"):
            return reason
        return f"{reason}; an object must not go on on the next line: jq -c . mends that"


class DictSource:
    """Dicts from an iterable, read as the JSON objects that they would be.

    A list or tuple can be gone over more than once, a generator only once.

    >>> rows = [{"y": 1, "words": ["spam", "offer"]}, {"y": 0, "length": 30}]
    >>> [block] = DictSource(rows, ReadOptions(label="y"))
    >>> block.labels, [block.name_of(i) for i in range(block.nnz)]
    (array([1., 0.]), ['words=spam', 'words=offer', 'length'])
    """

    format = "dicts"
    named = True
    bytes_read = 0
    n_bytes = None

    def __init__(
        self,
        rows: Iterable[Mapping[str, Any]],
        options: ReadOptions | None = None,
        *,
        skipping: Skipping | None = None,
    ) -> None:
        options = options or ReadOptions()
        sized = isinstance(rows, (list, tuple))
        self.n_rows: int | None = len(rows) if isinstance(rows, (list, tuple)) else None
        self.repeatable = sized or iter(rows) is not rows
        self.name = f"{self.n_rows} dicts" if sized else f"dicts from a {type(rows).__name__}"
        self._rows = rows
        self._block_rows = options.block_rows
        self._skipping = skipping
        self._mapping = JsonFormat(TableOptions.of(options))
        self._begun = Begun("make a list of them first")

    schema = JsonSource.schema
    label_names = JsonSource.label_names

    def __iter__(self) -> Iterator[Block]:
        self._begun.again(self.name, self.repeatable)
        return self._pass()

    @property
    def skipped(self) -> int:
        """Rows of the current pass that could not be read and were left out."""
        return 0 if self._skipping is None else self._skipping.count

    def _pass(self) -> Iterator[Block]:
        rows = iter(self._rows)
        before = 0
        empty = True
        if self._skipping is not None:
            self._skipping.begin_pass()
        while piece := list(islice(rows, self._mapping.rows_needed)):
            if not self._mapping.ready:
                self._mapping.find_out(piece, self.name)
            for block in self._blocks(piece, before):
                empty = False
                yield from split(block, self._block_rows)
            before += len(piece)
        if self._skipping is not None:
            self._skipping.end_pass(self.name, before)
        if empty:
            raise DataError(f"no examples in {self.name}")

    def _blocks(self, piece: list[Mapping[str, Any]], before: int) -> Iterator[Block]:
        """The rows, those before a bad one in front of its error; it may be left out."""
        done = 0
        while done < len(piece):
            texts, reason = texts_of(piece[done:])
            text = "".join(texts).encode()
            part = self._mapping.parse(text, len(text), self.name)
            if len(part.block):
                yield self._mapping.in_order(replace(part.block, path=None, lines=None))
            if part.error is not None:
                details = self._mapping.details() | {"detail": part.error.detail}
                reason = _MESSAGES[part.error.kind].format(text=excerpt(part.error.text), **details)
            done += part.n_lines
            if reason:
                self._leave_out(piece[done], before + done, reason)
                done += 1

    def _leave_out(self, row: Any, number: int, reason: str) -> None:
        if self._skipping is None:
            raise DataError(f"row {number}: {reason}")
        shown = repr(row).encode("utf-8", "replace")
        self._skipping.add(self.name, BadLine(number, 1, reason, shown), number + 1)
