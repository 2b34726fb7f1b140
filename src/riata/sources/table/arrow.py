"""Batches of Arrow columns to Blocks of named features. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from riata import _core
from riata.block import Block, concatenate
from riata.errors import DataError
from riata.schema import NUMBERS, Column, Schema, bucket_names
from riata.sources.labels import LabelWords, text_words
from riata.sources.table.arrow_arrays import (
    as_text,
    flat,
    flat_schema,
    is_list,
    numbers_of,
    parsed_float64,
    respelled_buffers,
    rounded_once,
    text_buffers,
    validity,
    without_dictionary,
)
from riata.sources.table.arrow_layout import (
    BLANKS,
    dates_as_text,
    feature_columns,
    find_table_schema,
    holds_text,
    label_names,
    rows_needed,
    without_absent,
)
from riata.sources.table.arrow_rows import from_table, is_ready_made, schema_in
from riata.sources.table.bad_rows import BadRow, Faults, Part
from riata.sources.table.layout import TableOptions
from riata.sources.table.parquet_pages import Decoded, PageBatch

_MESSAGES = {
    "not_finite": "the value is beyond what a 32-bit float holds (3.4e38), as it is or scaled by what the first rows "
    "were, or infinite; rescale or drop it",
    "sum_too_large": "the value adds up, or multiplies, to more than a 32-bit float holds (3.4e38); rescale it",
    "row_too_long": "crosses make more than 67 million features of a row",
    "not_text": "the text is no UTF-8",
    "not_date": "this is no date, such as 2024-03-01 or 2024-03-01T17:30; if it means a missing one, pass --absent; if "
    "the column's values are names, train with --categorical",
    "damaged": "the column holds offsets that lead nowhere; the data is damaged",
}
_RULES = {
    "label": "drop the row",
    "weight": "weights must be finite and not negative",
    "offset": "offsets must be finite and at most 3.4e38 in size",
}

Rows: TypeAlias = Callable[[int, int], Part]
"""The rows of a batch from one up to another, counted from its first; for any thread to call."""


class BatchReader:
    """Turns batches of one schema into Blocks; may be used from several threads.

    Before the first batch, `find_schema` must be called: with as many of the first rows as
    `rows_needed` says, where the schema is not known from another table.
    """

    def __init__(
        self, types: Any, name: str, options: TableOptions, schema: Schema | None = None
    ) -> None:
        self.arrow_schema = flat_schema(types)
        self.ready_made = is_ready_made(types)
        self.schema = schema
        self.rows_needed = 0
        self.name, self._options = name, options
        self._dictionaries: dict[str, tuple[Any, _Dictionary]] = {}
        self.words: LabelWords | None = None
        """The words that labels are."""
        self.bools = False
        """Whether labels are bools."""
        if self.ready_made:
            self.columns = self.arrow_schema.names
            self.schema = schema_in(types)
            if options.given is not None and self.schema is not None:
                options.given.check_same(self.schema, name)
            return
        columns = feature_columns(self.arrow_schema)
        known = options.given if schema is None else schema
        if schema is None:
            self.rows_needed = rows_needed(self.arrow_schema, options, name)
        unread = {*options.roles.ignore}
        if known is not None:
            roles = {c.name: c.role for c in known.columns}
            unread |= {c for c, role in roles.items() if role in ("ignored", "id", "group")}
            unread -= {options.roles.label, options.roles.weight, options.roles.offset}
        self.columns = [column for column in columns if column not in unread]

    def find_schema(self, head: Any) -> None:
        """Decide what the columns are; `head` is a table of the first rows."""
        if self.ready_made:
            return
        options, name = self._options, self.name
        if self.schema is not None:
            options = replace(options, given=self.schema)
        self.schema = find_table_schema(self.arrow_schema, head, options, name)
        columns = feature_columns(self.arrow_schema)
        here = self.schema.arranged(columns, options.labelled, name)
        self._features = here.features
        self._label, self._weight = here.of_role("label"), here.of_role("weight")
        self._offset = here.of_role("offset")
        self._absent = self.schema.absent
        self._find_label_names(head)
        if not self._features:
            raise DataError(f"{name}: no column is left for the features")

    def _find_label_names(self, head: Any) -> None:
        """What labels stand for here, where they may be written in another way than the schema has them."""
        names: Sequence[Any] | None = None if self.schema is None else self.schema.label_names
        label = self._label
        if label is None or label not in self.arrow_schema.names:
            return
        kind = self.arrow_schema.field(label).type
        self.bools = bool(pa.types.is_boolean(kind))
        if not text_words(names) or not holds_text(kind):
            names = label_names(head, label, kind, self._absent, self.name)
        self.words = LabelWords(text_words(names)) if text_words(names) else None

    def columns_of(self, batch: Any, path: str | None, first_row: int) -> Rows:
        """The rows of a batch, the first of them row `first_row` of its file, counted from 0."""
        table = batch.decode() if isinstance(batch, PageBatch) else flat(batch)
        if self.ready_made:
            block = from_table(table, path, first_row)
            return lambda start, stop: Part(block[start:stop], [], stop - start)
        faults = Faults(table, first_row)
        labels = self._labels(table, path, faults)
        weights = self._numbers(table, self._weight, path, "weight", faults)
        offsets = self._numbers(table, self._offset, path, "offset", faults)
        if offsets is not None and not offsets.any():
            offsets = None
        columns = _core.Columns(len(table))
        assert self.schema is not None
        for column in self._features:
            self._add(columns, column, table, path or self.name, faults)
        columns.cross(self.schema.crosses)
        missing = self.schema.missing == "feature"
        lines = np.arange(first_row + 1, first_row + 1 + len(table))

        def read(start: int, stop: int) -> tuple[Block, BadRow | None]:
            rows = columns.read(start, stop, self._options.names, missing)
            bad = None
            if rows.error is not None:
                kind, stop = rows.error.kind, rows.error.row
                bad = faults.bad_row(stop, self._features[rows.error.column].name, _MESSAGES[kind])
                if kind == "damaged":
                    raise DataError(f"{bad.where(path or self.name)}: {bad.reason}")
            block = Block(
                rows.indptr,
                rows.keys,
                rows.values,
                None if labels is None else labels[start:stop],
                None if weights is None else weights[start:stop],
                names=rows.names,
                name_offsets=rows.name_offsets,
                path=path,
                lines=lines[start:stop],
                offsets=None if offsets is None else offsets[start:stop],
            )
            return block, bad

        def rows(start: int, stop: int) -> Part:
            known = faults.within(start, stop)
            blocks: list[Block] = []
            bad: list[BadRow] = []
            at = start
            while at < stop or not blocks:
                end = known[0] if known else stop
                block, wrong = read(at, end)
                blocks.append(block)
                if wrong is not None:
                    bad.append(wrong)
                elif known:
                    bad.append(faults.told(known.pop(0)))
                if bad and not self._options.skip:
                    break
                at += len(block) + (wrong is not None or end < stop)
            filled = [block for block in blocks if len(block)] or blocks[:1]
            return Part(concatenate(filled), bad, stop - start, first_row + start)

        return rows

    def _add(self, columns: Any, column: Column, table: Any, where: str, faults: Faults) -> None:
        absent, name, kind = self._absent, column.name, column.kind
        if isinstance(table, Decoded) and not absent and self._add_decoded(columns, column, table):
            return
        values = table.column(name)
        try:
            if pa.types.is_null(values.type):
                values = values.cast(pa.large_string())
            if kind in NUMBERS:
                given = without_absent(values, absent, exact=False)
                if kind == "number":
                    given = rounded_once(given)
                *numbers, wrong = parsed_float64(given, truths=True)
                faults.add(wrong, name, lambda row: f"expected a number, found {values[row]!s:.40}")
                if kind == "bucket":
                    columns.bucket(name, *numbers, *_buckets(column))
                else:
                    columns.number(name, *numbers, kind == "log1p", column.centre, column.scale)
            elif kind == "date":
                texts = without_absent(dates_as_text(values), absent)
                columns.words(name, *text_buffers(texts), validity(texts), column.core_text)
            elif kind == "text":
                if pa.types.is_dictionary(values.type):
                    values = without_dictionary(values)
                texts = as_text(without_absent(values, absent))
                columns.words(name, *text_buffers(texts), validity(texts), column.text.core)
            elif is_list(values.type):
                values = values.cast(pa.large_list(values.type.value_type))
                lists = numbers_of(values.buffers()[1], np.int64)
                lists = lists[values.offset : values.offset + len(values) + 1]
                self._add_texts(columns, name, values.values, validity(values), lists)
            else:
                values = without_absent(values, absent)
                self._add_texts(columns, name, values, validity(values), None)
        except pa.ArrowInvalid as error:
            raise DataError(f"{where}: column {name!r}: {error}") from None

    def _add_decoded(self, columns: Any, column: Column, table: Decoded) -> bool:
        """A column as its pages have it, if it is what the features are made of."""
        values = table.columns.get(column.name)
        if values is None or column.kind == "date" or values.is_text != (column.kind == "category"):
            return False
        if column.kind == "category":
            if values.respelled and self._buffers is respelled_buffers:
                return False
            columns.coded(column.name, values)
        elif column.kind == "bucket":
            columns.bucket(column.name, values, *_buckets(column))
        else:
            log1p = column.kind == "log1p"
            columns.number(column.name, values, log1p, column.centre, column.scale)
        return True

    def _add_texts(
        self,
        columns: Any,
        name: str,
        values: Any,
        valid: NDArray[np.uint8] | None,
        lists: NDArray[np.int64] | None,
    ) -> None:
        if pa.types.is_dictionary(values.type):
            dictionary = self._dictionary(name, values.dictionary)
            codes = values.indices.cast(pa.int32(), safe=False)
            if codes.null_count and (lists is not None or dictionary.valid is not None):
                codes = codes.fill_null(-1)
            numbers = numbers_of(codes.buffers()[1], np.int32)
            numbers = numbers[codes.offset : codes.offset + len(codes)]
            if dictionary.valid is not None:
                known = (numbers >= 0) & dictionary.valid.view(np.bool_)[numbers]
                numbers = np.where(known, numbers, -1).astype(np.int32)
            columns.coded(name, numbers, *dictionary.texts, dictionary.keys, valid, lists)
            return
        values = as_text(values)
        if lists is not None and values.null_count:  # a missing entry of a list is no entry
            entries = np.arange(len(values), dtype=np.int32)
            codes = np.where(values.is_valid().to_numpy(zero_copy_only=False), entries, -1)
            texts = self._buffers(values)
            columns.coded(
                name, codes.astype(np.int32), *texts, _core.text_keys(name, *texts), valid, lists
            )
            return
        columns.text(name, *self._buffers(values), valid, lists)

    @property
    def _buffers(self) -> Callable[[Any], tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        """How texts that are names are handed over."""
        return text_buffers if self.schema is None or not self.schema.truths else respelled_buffers

    def _dictionary(self, name: str, values: Any) -> _Dictionary:
        """A dictionary, hashed; the batches of a file mostly share one."""
        known = self._dictionaries.get(name)
        if known is None or not _is_same(known[0], values):
            texts = as_text(values)
            known = values, _Dictionary(name, self._buffers(texts), validity(texts))
            self._dictionaries[name] = known
        return known[1]

    def _labels(self, table: Any, path: str | None, faults: Faults) -> NDArray[np.float64] | None:
        words = self.words
        if self._label is None or words is None:
            return self._numbers(table, self._label, path, "label", faults)
        texts = table.column(self._label)
        if pa.types.is_dictionary(texts.type):
            texts = without_dictionary(texts)
        texts = pc.utf8_trim(as_text(texts), BLANKS)
        missing = pc.is_in(texts, value_set=pa.array(["", *self._absent, None], texts.type))
        gone = missing.to_numpy(zero_copy_only=False)
        codes = pc.index_in(texts, value_set=pa.array(words.seen, pa.large_string()))
        if (new := codes.is_null().to_numpy(zero_copy_only=False) & ~gone).any():
            words.add(pc.unique(texts.filter(pa.array(new))).to_pylist())
            codes = pc.index_in(texts, value_set=pa.array(words.seen, pa.large_string()))
        labels = codes.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
        if self._options.labelled:
            faults.add(gone, self._label, lambda row: "the label is missing; drop the row")
        return np.where(gone, np.nan, np.asarray(labels, np.float64))

    def _numbers(
        self, table: Any, column: str | None, path: str | None, role: str, faults: Faults
    ) -> NDArray[np.float64] | None:
        if column is None:
            return None
        values = table.column(column)
        try:
            given = without_absent(values, self._absent, exact=False)
            numbers, valid, nonsense = parsed_float64(given)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            if role == "label" and not self._options.labelled:
                return np.full(len(table), np.nan)
            raise DataError(
                f"{path or self.name}: the {role} column {column!r} must hold numbers, not "
                f"{values.type} ({str(error).splitlines()[0]})"
            ) from None
        needed = role != "label" or self._options.labelled
        if needed:
            faults.add(
                nonsense,
                column,
                lambda row: f"expected a number as the {role}, found {values[row]!s:.40}",
            )
        if valid is not None:
            numbers = np.where(valid, numbers, np.nan)
        if not needed:
            return numbers
        wrong = ~np.isfinite(numbers)
        if role == "weight":
            wrong |= numbers < 0
        elif role == "offset":
            wrong |= np.abs(numbers) > np.finfo(np.float32).max

        def reason(row: int) -> str:
            shown = "missing" if np.isnan(numbers[row]) else numbers[row]
            return f"the {role} is {shown}; {_RULES[role]}"

        faults.add(wrong, column, reason)
        return numbers


def _buckets(column: Column) -> tuple[tuple[float, ...], list[str]]:
    return column.edges, bucket_names(column.name, column.edges)


class _Dictionary:
    """The distinct texts of a column, with the keys of the features they make."""

    def __init__(
        self,
        name: str,
        texts: tuple[NDArray[np.int64], NDArray[np.uint8]],
        valid: NDArray[np.uint8] | None,
    ) -> None:
        self.texts, self.valid = texts, valid
        self.keys = _core.text_keys(name, *texts)


def _is_same(a: Any, b: Any) -> bool:
    """Whether two arrays are the same memory; `a` is held, so its memory is not used again."""
    if a is b:
        return True
    if len(a) != len(b) or a.offset != b.offset or a.type != b.type:
        return False
    pairs = zip(a.buffers(), b.buffers(), strict=True)
    return all(x is y or (x and y and x.address == y.address) for x, y in pairs)
