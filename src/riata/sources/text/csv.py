"""Text in columns as a source: comma or tab separated, with or without a header."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

from riata import _core
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.cells import NUMBER
from riata.sources.io.bytes import Stop
from riata.sources.io.lines import LONGEST_LINE, Buffers, Chunk, cut_lines
from riata.sources.labels import BOOLS, LabelWords, text_words
from riata.sources.options import LOOK_AT, Transforms, likely_label
from riata.sources.table.layout import (
    LOOK_AT_BUCKETS,
    TableOptions,
    find_schema,
    label_words,
)
from riata.sources.text.header import looks_like_header, quoted_in
from riata.sources.text.named import (
    LABEL_MESSAGES,
    VALUE_MESSAGES,
    NamedTextSource,
    join_chunks,
    look_ahead,
)
from riata.sources.text.text import Parsed, parsed

_SOMETHING = re.compile(rb"\S")

_MESSAGES = (
    VALUE_MESSAGES
    | LABEL_MESSAGES
    | {
        "fields_many": "there are {count} columns, but {text} is one more in this line",
        "fields_few": "the line ends before all of its {count} columns are there",
        "quote_inside": "a quote inside the field {text}; quote all of it and double the quotes "
        "in it, or turn quoting off with --quote none (quote='')",
        "quote_open": "the quote that begins {text} is never closed",
        "quote_text": "text behind the closing quote of {text}; quotes within quotes are doubled",
        "value_syntax": "column '{detail}' holds numbers, but here is {text}; "
        "if its values are names, train with --categorical {detail}",
    }
)


class CsvSource(NamedTextSource):
    """Files of comma or tab separated text (RFC 4180), or `-` for standard input.

    A number becomes a feature with the name of its column, a text the feature `column=text`; see
    `Roles` and `Transforms` for what else can be said about columns. Without a header columns are
    called `1`, `2` and so on, and with one they may be named by number, too.

    Which columns hold numbers is found out from the first 1000 rows, and stays so: a later cell
    that is none is an error. `schema` tells what was found out; given to another source, it reads
    in the same way.

    >>> import pathlib, tempfile
    >>> from riata.sources import ReadOptions
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = path.write_text("click,city,age\\n1,Rome,30\\n0,,41.5\\n")
    >>> [block] = CsvSource([str(path)], ReadOptions(label="click"))
    >>> [block.name_of(i) for i in range(block.nnz)], block.values, block.labels
    (['city=Rome', 'age', 'age'], array([ 1. , 30. , 41.5], dtype=float32), array([1., 0.]))
    """

    messages = _MESSAGES

    def _prepare(self) -> None:
        super()._prepare()
        options = self._options
        self.format = options.format or "csv"  # type: ignore[misc]
        self._wanted = TableOptions.of(options)
        self._delimiter = _one_character(options.delimiter, "delimiter")
        if self.format == "tsv":
            self._delimiter = self._delimiter or "\t"
        quote = _one_character(options.quote, "quote")
        self._quote = ('"' if self.format == "csv" else "") if quote is None else quote
        self._header = options.header
        self._columns: list[str] | None = None
        self._label_place: int | None = None
        self._core: tuple[_core.CsvFormat, Sequence[str]] | None = None
        """What reads lines, and the words that it knows as labels."""

    def _chunks(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        chunks = self._lines(buffers, stop)
        if self._quote:
            chunks = join_quoted(chunks, self._quote)
        if self._core is None:
            chunks, path, text = look_ahead(chunks, self._rows_to_look_at() + 1)
            if path is None:
                return
            self._find_out(text, path)
        for chunk in chunks:
            if chunk.first and self._header:
                self._check_header(chunk)
            yield chunk

    def _lines(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        return _join_blank(cut_lines(self._paths, buffers, stop, self._options.part))

    def _rows_to_look_at(self) -> int:
        return LOOK_AT_BUCKETS if self._wanted.transforms.buckets else LOOK_AT

    def _find_out(self, head: bytes, path: str) -> None:
        if self._delimiter is None:
            self._delimiter = _likely_delimiter(head, self._options.decimal)
        rows = self._split(head, self._rows_to_look_at() + 1)
        if not rows:
            raise DataError(f"no examples in {self.name}")
        if not self._quote and self._options.quote is None and (cell := quoted_in(rows)):
            warnings.warn(
                f"{path}: cells of tab-separated text stand in quotes, such as {cell[:40]!r}, and these are read as "
                "a part of it; if they only quote, pass --quote '\"'",
                stacklevel=2,
            )
        self._check_shape(head, rows, path)
        if self._header is None:
            self._header = self._is_header(rows, path)
        columns = [cell.strip() for cell in rows[0]] if self._header else self._count(len(rows[0]))
        rows = rows[1:] if self._header else rows
        _check_widths(len(columns), rows, path)
        self._columns = columns
        if self._options.decimal == ",":
            rows = [[_with_point(cell) for cell in row] for row in rows]
        self._schema = find_schema(columns, rows, self._by_name(columns), path)
        here = self._schema.arranged(columns, self._labelled, path)
        if not here.features:
            raise DataError(f"{path}: no column is left for the features")
        label = here.of_role("label")
        self._label_place = columns.index(label) if label in columns else None
        words = text_words(here.label_names)
        if not words and self._label_place is not None:
            # Here they are what they are.
            cells = [row[self._label_place] for row in rows if len(row) == len(columns)]
            cells = [cell for cell in cells if cell.strip() and cell.strip() not in here.absent]
            if here.label_names == BOOLS or not any(map(NUMBER.fullmatch, cells)):
                words = label_words(cells, label or "", path)
        self._words = LabelWords(words) if words else None
        self._here = here
        self._core = self._core_with(here, words), words

    def _count(self, count: int) -> list[str]:
        """The columns of a table without a header, by number. One that needs no label and has one column less than
        the schema knows lacks that of the label."""
        numbers = [str(place + 1) for place in range(count)]
        given = self._wanted.given
        if given is None or self._labelled:
            return numbers
        rest = [name for name in given.names if name != given.of_role("label")]
        lacks = len(rest) == count < len(given.names) and all(map(str.isdigit, given.names))
        return rest if lacks else numbers

    def _core_with(self, here: Schema, words: Sequence[str]) -> _core.CsvFormat:
        return _core.CsvFormat(
            here.core_columns(),
            words,
            here.absent,
            self._delimiter or ",",
            self._quote,
            self._labelled,
            self._names,
            here.crosses,
            self._options.decimal == ",",
        )

    def _check_shape(self, head: bytes, rows: list[list[str]], path: str) -> None:
        """Refuse what is no table, or none with this delimiter."""
        if rows[0][0].startswith("sep=") and len(rows[0][0] + "".join(rows[0][1:])) <= len("sep=;"):
            raise DataError(
                f"{path}:1:1: the first line tells spreadsheets what separates columns; leave it out: "
                f"tail -n +2 {path} | riata ... - --format csv"
            )
        if b"\r" in head and head.count(b"\n") < 2 < len(rows):
            raise DataError(
                f"{path}: its lines end in carriage returns, which riata does not know as ends; "
                f"mend it in a pipe: tr '\\r' '\\n' < {path} | riata ... -"
            )
        if self._labelled and max(map(len, rows)) == 1 and self._wanted.given is None:
            sign = {"\t": "tabs", ",": "commas"}.get(self._delimiter or "", repr(self._delimiter))
            raise DataError(
                f"{path}:1:1: there is one column only, where label and features need two; if other "
                f"signs than {sign} separate columns, name them with --delimiter (delimiter=...)"
            )

    def _split(self, text: bytes, rows: int) -> list[list[str]]:
        """The first rows, or with -1 all, as far as they can be read: what is wrong, parsing will say."""
        assert self._delimiter is not None
        lines = io.StringIO(text.decode("utf-8", "replace"), newline="")
        if self._quote:
            reader = csv.reader(lines, delimiter=self._delimiter, quotechar=self._quote)
        else:
            reader = csv.reader(lines, delimiter=self._delimiter, quoting=csv.QUOTE_NONE)
        split: list[list[str]] = []
        try:
            for row in reader:
                if row and (len(row) > 1 or row[0].strip()):
                    split.append(row)
                if len(split) == rows:
                    break
        except csv.Error:
            pass
        return split

    def _is_header(self, rows: list[list[str]], path: str) -> bool:
        """Whether the first row names the columns: those that options or the model speak of, or by their looks."""
        cells = [cell.strip() for cell in rows[0]]
        roles, given = self._wanted.roles, self._wanted.given
        named = {roles.label or likely_label(cells), roles.weight, roles.offset, *roles.ignore}
        named |= {*roles.numeric, *roles.categorical, *roles.text, *roles.date}
        named |= set(self._wanted.transforms.columns)
        named |= set() if given is None else set(given.names)
        if {name for name in named if name is not None and not name.isdigit()} & set(cells):
            return True
        looks = looks_like_header(cells, rows[1:])
        if looks is None:
            raise DataError(
                f"{path}:1:1: is the first line a header? Say so with --header-line or "
                "--no-header-line (header=True or False)"
            )
        return looks

    def _by_name(self, columns: list[str]) -> TableOptions:
        """What is wanted, with columns that were given by number under their names."""
        roles, transforms = self._wanted.roles, self._wanted.transforms

        def named(given: Sequence[str]) -> tuple[str, ...]:
            return tuple(_resolve(column, columns) for column in given)

        try:
            roles = replace(
                roles,
                label=None if roles.label is None else _resolve(roles.label, columns),
                weight=None if roles.weight is None else _resolve(roles.weight, columns),
                offset=None if roles.offset is None else _resolve(roles.offset, columns),
                ignore=named(roles.ignore),
                numeric=named(roles.numeric),
                categorical=named(roles.categorical),
                text=named(roles.text),
                date=named(roles.date),
            )
        except ValueError as error:  # two roles of a column, by name and by number
            raise DataError(f"{self.name}: {error}") from None
        buckets = {_resolve(c, columns): n for c, n in transforms.buckets.items()}
        transforms = Transforms(named(transforms.log1p), buckets)
        return replace(self._wanted, roles=roles, transforms=transforms)

    def _check_header(self, chunk: Chunk) -> None:
        rows = self._split(bytes(memoryview(chunk.buffer)[: chunk.size]), 1)
        columns = [cell.strip() for cell in rows[0]] if rows else []
        if columns != self._columns:
            raise DataError(
                f"{chunk.path}:1:1: the columns differ from those of {self._paths[0]}; "
                "read files of different columns one by one"
            )

    def _parse(self, chunk: Chunk) -> Parsed:
        assert self._core is not None
        skip_header = chunk.first and bool(self._header)
        while True:
            core, words = self._core
            if self._words is not None and len(self._words.seen) > len(words):
                words = self._words.seen
                core = self._core_with(self._here, words)
                self._core = core, words
            read = parsed(core.parse(chunk.buffer, chunk.size, skip_header), chunk.path)
            if not self._joins(chunk, read, words):
                return read

    def _labels_in(self, lines: bytes) -> list[str]:
        place = self._label_place
        if place is None:
            return []
        rows = self._split(lines, -1)
        whole = [row for row in rows[1:] if len(row) == len(self._columns or ())]
        first, *others = (row[place].strip(" \t\r") for row in [*rows[:1], *whole])
        return [first, *(word for word in others if word and word not in self._here.absent)]

    @property
    def dialect(self) -> tuple[list[str], str, str, bool]:
        """The columns, what separates and what quotes them, and whether there is a header, once rows were read."""
        assert self._columns is not None
        return self._columns, self._delimiter or ",", self._quote, bool(self._header)

    def _end_of_bad(self, chunk: Chunk, start: int, error: _core.ParseError) -> int:
        end = super()._end_of_bad(chunk, start, error)
        if not self._quote or error.kind.startswith("quote_"):
            return end
        while chunk.buffer.count(self._quote.encode(), start, end) % 2 and end + 1 < chunk.size:
            end = chunk.buffer.index(b"\n", end + 1, chunk.size)
        return end

    def _end_of_piece(self, chunk: Chunk, size: int) -> int:
        end = super()._end_of_piece(chunk, size)
        mark = self._quote.encode()
        odd = mark and chunk.buffer.count(mark, 0, end) % 2
        while odd and end < chunk.size:  # a record may hold newlines in quotes
            start, end = end, super()._end_of_piece(chunk, end)
            odd ^= chunk.buffer.count(mark, start, end) % 2
        return end

    def _details(self, error: _core.ParseError) -> dict[str, object]:
        names = ", ".join((self.label_names or [])[:10])
        return {"count": len(self._columns or ()), "labels": names, "detail": error.detail}


def _join_blank(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """The chunks, empty lines at the start of a file in one with what comes behind them."""
    held: list[Chunk] = []
    for chunk in chunks:
        if held and chunk.first:
            yield join_chunks(held)
            held = []
        if (held or chunk.first) and not _SOMETHING.search(chunk.buffer, 0, chunk.size):
            held.append(chunk)
            continue
        yield join_chunks([*held, chunk])
        held = []
    if held:
        yield join_chunks(held)


def _check_widths(count: int, rows: list[list[str]], path: str) -> None:
    """Refuse a table whose rows all have one number of columns, and its first line another."""
    widths = {len(row) for row in rows}
    if len(rows) > 1 and len(widths) == 1 and widths != {count}:
        raise DataError(
            f"{path}:1:1: the first line has {count} columns, all rows behind it have "
            f"{widths.pop()}; mend that line, or leave it out and number the columns: "
            f"tail -n +2 {path} | riata ... - --no-header-line"
        )


def join_quoted(chunks: Iterator[Chunk], quote: str) -> Iterator[Chunk]:
    """Chunks that end where no quote is open: a quoted field may hold newlines."""
    mark = quote.encode()
    held: list[Chunk] = []
    quotes = 0
    for chunk in chunks:
        if chunk.first and held:
            yield join_chunks(held)
            held, quotes = [], 0
        held.append(chunk)
        quotes += chunk.buffer.count(mark, 0, chunk.size)
        if quotes % 2 == 0 or sum(c.size for c in held) > LONGEST_LINE:
            yield join_chunks(held)
            held, quotes = [], 0
    if held:
        yield join_chunks(held)


def _resolve(column: str, columns: list[str]) -> str:
    """A column by name, or by number from 1 where no column has that name."""
    if column not in columns and column.isascii() and column.isdigit():
        place = int(column) - 1
        if 0 <= place < len(columns):
            return columns[place]
    return column


def _with_point(cell: str) -> str:
    """A number with a decimal comma as one with a point; one with a point is none."""
    if NUMBER.fullmatch(cell) and "." in cell:
        return f"'{cell}'"
    pointed = cell.replace(",", ".")
    return pointed if NUMBER.fullmatch(pointed) else cell


def _likely_delimiter(head: bytes, decimal: str) -> str:
    first = head.split(b"\n", 1)[0]
    if b"," not in first or decimal == ",":
        for other in (b";", b"\t", b"|"):
            if other in first:
                return other.decode()
    return ","


def _one_character(text: str | None, option: str) -> str | None:
    if text is None:
        return None
    names = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "none": ""}
    character = names.get(text, text)
    if option == "delimiter" and not character:
        raise ValueError("the delimiter must be one character")
    if len(character.encode()) > 1 or character.isalnum() or (character and character in "\n\r.+-"):
        raise ValueError(f"the {option} must be one ASCII sign, not {text!r}")
    return character
