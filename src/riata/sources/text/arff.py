"""ARFF files, dense or sparse, as a source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.schema import Column, Schema
from riata.sources.cells import are_dates, are_truths
from riata.sources.io.bytes import Stop
from riata.sources.io.lines import LONGEST_LINE, PADDING, Buffers, Chunk, cut_lines
from riata.sources.labels import BOOLS, LabelWords, text_words
from riata.sources.numbers import bucket_edges
from riata.sources.options import LOOK_AT
from riata.sources.table.layout import (
    LOOK_AT_BUCKETS,
    TableOptions,
    make_schema,
)
from riata.sources.text.named import (
    LABEL_MESSAGES,
    VALUE_MESSAGES,
    NamedTextSource,
    join_chunks,
)
from riata.sources.text.text import Parsed, excerpt, parsed
from riata.words import looks_like_text

_MESSAGES = (
    VALUE_MESSAGES
    | LABEL_MESSAGES
    | {
        "label_unknown": "the label {text} is none of the declared values: {labels}",
        "value_syntax": "attribute '{detail}' is numeric, but here is {text}",
        "fields_many": "there are {count} attributes, but {text} is one more in this line",
        "fields_few": "the line ends before all of its {count} attributes are there",
        "quote_inside": "a quote inside the value {text}; quote all of it",
        "quote_open": "the quote that begins {text} is not closed on its line",
        "quote_text": "text behind the closing quote of {text}",
        "instance_weight": "the weight of an instance, {text}, is not supported; "
        "make it an attribute and name it with --weight",
        "sparse_index": "expected the number of an attribute and a blank, found {text}",
        "sparse_range": "attribute {text} is not there; {count} are declared, counted from 0",
        "sparse_order": "attribute {text} stands behind a later one; sort them",
        "sparse_value": "the attribute has no value",
        "sparse_end": "expected the end of the line behind the closing brace, found {text}",
    }
)

_WORD = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,{}'"%]+)""")
_DATA = re.compile(rb"^[ \t]*@data[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """A column as the header declares it."""

    name: str
    values: tuple[str, ...] | None
    """The values of a nominal attribute; None for a number or a string."""
    numeric: bool

    @property
    def bools(self) -> bool:
        """Whether it is true or false."""
        return self.values is not None and are_truths(self.values)


class ArffSource(NamedTextSource):
    """ARFF files, or `-` for standard input: the header says what the attributes are.

    A numeric attribute becomes a feature with its name, a nominal or string one `attribute=value`;
    `?` is missing. The label is the attribute that `Roles` names, or one called `class` or `label`,
    or the last one. A nominal label is the place of its value among those declared, from 0. What a
    sparse row leaves out is 0, and for a nominal attribute that is the first of its values.

    >>> import pathlib, tempfile
    >>> from riata.sources import ReadOptions
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.arff"
    >>> text = "@relation r\\n@attribute a numeric\\n@attribute b {x,y}\\n@data\\n2.5,y\\n?,x\\n"
    >>> _ = path.write_text(text)
    >>> [block] = ArffSource([str(path)], ReadOptions(label="b"))
    >>> block.labels, block.values, block.name_of(0)
    (array([1., 0.]), array([2.5], dtype=float32), 'a')
    """

    format = "ARFF"
    messages = _MESSAGES

    def _prepare(self) -> None:
        super()._prepare()
        self._wanted = TableOptions.of(self._options)
        self._here: Schema | None = None
        self._declared: list[float] | None = None  # the labels, where all of them are numbers
        self._core: _core.CsvFormat | None = None

    def _chunks(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        held: list[Chunk] = []  # what may still be the header
        for chunk in cut_lines(self._paths, buffers, stop):
            if chunk.first and held:
                whole = join_chunks(held)
                held = []
                if not self._take_header(whole):
                    raise self._no_data(whole.path)
                yield whole
            if not (chunk.first or held):
                yield chunk
                continue
            held.append(chunk)
            whole = join_chunks(held)
            if self._here is None and not self._shows_enough(whole):
                continue
            if self._take_header(whole):
                held = []
                yield whole
            elif whole.size > LONGEST_LINE:
                raise self._no_data(whole.path)
        if held:
            whole = join_chunks(held)
            if not self._take_header(whole):
                raise self._no_data(whole.path)
            yield whole

    def _shows_enough(self, chunk: Chunk) -> bool:
        """Whether all rows are there that are looked at, or there is far too much before them."""
        wanted = LOOK_AT_BUCKETS if self._wanted.transforms.buckets else LOOK_AT
        with memoryview(chunk.buffer)[: chunk.size] as text:
            found = _DATA.search(text)
            end = None if found is None else found.end()
            del found  # it holds on to the text
        if end is None:
            return chunk.size > LONGEST_LINE
        return chunk.buffer.count(b"\n", end, chunk.size) > wanted

    def _no_data(self, path: str) -> DataError:
        return DataError(f"{path}:1:1: no line @data in this file; is it ARFF?")

    def _take_header(self, chunk: Chunk) -> bool:
        """Reads the header, if all of it is here, and leaves empty lines in its place."""
        found = _DATA.search(memoryview(chunk.buffer)[: chunk.size])
        if found is None:
            return False
        end = found.end()
        del found  # it holds on to the buffer
        header = bytes(chunk.buffer[:end])
        attributes = read_header(header.decode("utf-8", "replace"), chunk.path)
        schema = self._schema_of(attributes, chunk.path, chunk, end)
        columns = [attribute.name for attribute in attributes]
        here = schema.arranged(columns, self._labelled, chunk.path)
        if self._here is None:
            self._schema, self._here = schema, here
            words = text_words(here.label_names)
            declared = {a.name: list(a.values or ()) for a in attributes}
            if here.label_names == BOOLS:  # here they are what they are declared to be
                words = declared.get(here.of_role("label") or "", [])
                words = [] if _numbers(words) is not None else words
            self._words = LabelWords(words) if words else None
            self._core = _core.CsvFormat(
                here.core_columns(),
                words,
                ["?", *here.absent],
                ",",
                "",
                self._labelled,
                self._names,
                here.crosses,
            )
        elif here != self._here:
            raise DataError(
                f"{chunk.path}:1:1: the attributes differ from those of {self._paths[0]}; "
                "read files of different attributes one by one"
            )
        chunk.buffer[:end] = re.sub(rb"[^\n]", b" ", header)
        return True

    def _numbers_of(
        self,
        name: str,
        columns: Sequence[str],
        chunk: Chunk,
        end: int,
        omitted: str = "",
        most: int = LOOK_AT,
    ) -> Any:
        """The numbers of an attribute in the first rows."""
        block = _first_rows(Column(name, kind="number", omitted=omitted), columns, chunk, end, most)
        found = np.zeros(len(block))
        for row in range(len(block)):
            for i in range(int(block.indptr[row]), int(block.indptr[row + 1])):
                gone = block.name_of(i) == f"{name}=?"
                found[row] = np.nan if gone else block.values[i]
        return found[~np.isnan(found)]

    def _schema_of(
        self, attributes: Sequence[Attribute], path: str, chunk: Chunk, end: int
    ) -> Schema:
        columns = [attribute.name for attribute in attributes]
        declared = {attribute.name: attribute for attribute in attributes}
        wanted = self._wanted
        roles, given = wanted.roles, wanted.given
        if roles.label is None and (given is None or given.of_role("label") is None):
            free = [c for c in columns if c not in (roles.weight, roles.offset)] or columns
            named = [c for c in free if c.lower() in ("label", "class")]
            roles = replace(roles, label=named[0] if named else free[-1])
            wanted = replace(wanted, roles=roles)
        omitted: dict[str, str] = {}

        def find(name: str) -> Column:
            attribute = declared[name]
            if name in wanted.transforms.log1p:
                return Column(name, kind="log1p")
            if name in wanted.transforms.buckets:
                seen = self._numbers_of(name, columns, chunk, end, most=LOOK_AT_BUCKETS)
                edges = bucket_edges(seen, wanted.transforms.buckets[name], name, path)
                return Column(name, kind="bucket", edges=tuple(edges))
            if name in roles.numeric or (
                attribute.numeric and name not in (*roles.categorical, *roles.text)
            ):
                return wanted.number(name, lambda: self._numbers_of(name, columns, chunk, end))
            if attribute.bools and name not in (*roles.categorical, *roles.text, *roles.date):
                first = (attribute.values or ("",))[0]
                return wanted.number(
                    name, lambda: self._numbers_of(name, columns, chunk, end, first)
                )
            if name in roles.text:
                return wanted.text_column(name)
            if name in roles.date:
                return Column(name, kind="date")
            if attribute.values is None and name not in roles.categorical:
                rows = _first_rows(Column(name, kind="category"), columns, chunk, end)
                texts = [str(rows.name_of(i)).removeprefix(f"{name}=") for i in range(rows.nnz)]
                if are_truths(texts):
                    return wanted.number(name, lambda: self._numbers_of(name, columns, chunk, end))
                if are_dates(texts):
                    return wanted.date_column(name, path)
                if looks_like_text([text for text in texts if text != "?"]):
                    return wanted.text_column(name, found=path)
            return Column(name, kind="category")

        def find_words(name: str) -> Sequence[str]:
            words = list(declared[name].values or ())
            return () if _numbers(words) is not None else words

        def numbers(name: str) -> Any:
            is_numeric = declared[name].numeric
            return self._numbers_of(name, columns, chunk, end) if is_numeric else np.empty(0)

        schema = make_schema(columns, wanted, path, find, find_words, numbers)
        for column in schema.columns:  # what a sparse row leaves out is up to this file
            attribute = declared.get(column.name)
            if attribute is None:
                continue
            if column.role == "label" and _numbers(list(attribute.values or ())) is not None:
                # {-1,1} and the like: the label is the number
                self._declared = _numbers(list(attribute.values or ()))
                omitted[column.name] = (attribute.values or ("",))[0]
            elif column.kind in ("category", "list") or (
                column.kind == "number" and attribute.bools
            ):
                zero = "0" if attribute.numeric else ""
                omitted[column.name] = attribute.values[0] if attribute.values else zero
        made = [replace(c, omitted=omitted.get(c.name, "")) for c in schema.columns]
        return replace(schema, columns=tuple(made))

    def _parse(self, chunk: Chunk) -> Parsed:
        assert self._core is not None
        read = parsed(self._core.parse_arff(chunk.buffer, chunk.size), chunk.path)
        return read if self._declared is None else self._only_declared(read)

    def _only_declared(self, read: Parsed) -> Parsed:
        """The rows before the first whose label is a number, but none of those declared."""
        labels, lines = read.block.labels, read.block.lines
        assert labels is not None
        assert lines is not None
        wrong = np.flatnonzero(~(np.isin(labels, self._declared or ()) | np.isnan(labels)))
        if not len(wrong):
            return read
        row = int(wrong[0])
        error = _core.ParseError("label_unknown", 1, f"{labels[row]:.17g}".encode())
        return Parsed(read.block[:row], int(lines[row]), error)

    def _details(self, error: _core.ParseError) -> dict[str, object]:
        known = self.label_names or [f"{number:.17g}" for number in self._declared or ()]
        names = ", ".join(known[:10])
        count = 0 if self._here is None else len(self._here.columns)
        return {"count": count, "labels": names, "detail": error.detail}


def _first_rows(
    column: Column, columns: Sequence[str], chunk: Chunk, end: int, most: int = LOOK_AT
) -> Block:
    """The first rows as they are when only this attribute makes features; `name=?` where it is missing."""
    specs = [column if c == column.name else Column(c, "ignored") for c in columns]
    raw = Schema(tuple(specs), missing="feature").core_columns()
    core = _core.CsvFormat(raw, (), ["?"], ",", "", False, True, ())
    text = bytes(memoryview(chunk.buffer)[end : chunk.size]).split(b"\n")
    rows = islice(
        (line for line in text if line.strip() and not line.lstrip().startswith(b"%")), most
    )
    padded = bytearray(b"\n".join(rows) + b"\n")
    size = len(padded)
    padded += bytes(PADDING)
    return parsed(core.parse_arff(padded, size), chunk.path).block


def _numbers(words: list[str]) -> list[float] | None:
    try:
        return [float(word) for word in words] or None
    except ValueError:
        return None


def read_header(text: str, path: str) -> list[Attribute]:
    """The attributes that a header declares.

    >>> read_header("@relation r\\n@attribute 'a b' {x, 'y z'}\\n@attribute c real", "r.arff")
    ... # doctest: +NORMALIZE_WHITESPACE
    [Attribute(name='a b', values=('x', 'y z'), numeric=False),
     Attribute(name='c', values=None, numeric=True)]
    """
    attributes = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip()
        if not words or words.startswith("%"):
            continue
        keyword = words.split(None, 1)[0].lower()
        if keyword == "@attribute":
            attributes.append(_attribute(words[len(keyword) :], f"{path}:{number}:1"))
        elif keyword not in ("@relation", "@data"):
            raise DataError(
                f"{path}:{number}:1: expected @relation, @attribute or @data, "
                f"found {excerpt(words.encode())}"
            )
    if not attributes:
        raise DataError(f"{path}:1:1: no @attribute before @data")
    return attributes


def _attribute(declared: str, where: str) -> Attribute:
    name = _WORD.match(declared)
    if name is None:
        raise DataError(f"{where}: expected the name of the attribute")
    kind = declared[name.end() :].strip()
    if kind.startswith("{"):
        return Attribute(_unquoted(name[1]), _nominal(kind, where), numeric=False)
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in _NUMERIC or word == "string":
        return Attribute(_unquoted(name[1]), None, numeric=word in _NUMERIC)
    if word in ("date", "relational"):
        raise DataError(f"{where}: attributes of type {word} are not supported; convert them first")
    raise DataError(
        f"{where}: expected numeric, string or {{value, ...}} as the type of the attribute, "
        f"found {excerpt(kind.encode())}"
    )


def _nominal(kind: str, where: str) -> tuple[str, ...]:
    values = []
    at = 1
    while (word := _WORD.match(kind, at)) is not None:
        values.append(_unquoted(word[1]))
        at = word.end()
        while at < len(kind) and kind[at] in " \t,":
            at += 1
    if not values or not kind[at:].startswith("}"):
        raise DataError(f"{where}: the list of values has no end, or nothing in it")
    return tuple(values)


def _unquoted(word: str) -> str:
    if word[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    return word
