"""Predictions as a table: what each row is called, its class or number, probabilities, scores and intervals."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, BinaryIO

import click
import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.labels import as_text
from riata.metrics import class_probabilities, predicted_codes
from riata.record import Model
from riata.sources.ids import RowIds

TABLES = ("csv", "tsv", "jsonl", "parquet")
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_SUFFIXES |= {".parquet": "parquet", ".pq": "parquet"}


@dataclass(frozen=True)
class Coded:
    """A value a row, of a few that there are."""

    codes: NDArray[np.int64]
    values: Sequence[Any]

    def tolist(self) -> list[Any]:
        return [self.values[code] for code in self.codes.tolist()]


Columns = dict[str, "list[Any] | NDArray[np.float64] | Coded"]
"""Names of rows as they are, numbers, classes."""


def table_of_name(path: str | None) -> str | None:
    """The kind of table that the end of a file's name asks for.

    >>> table_of_name("out.csv"), table_of_name("out.txt"), table_of_name(None)
    ('csv', None, None)
    """
    return None if path is None else _SUFFIXES.get(PurePath(path).suffix.lower())


def refuse_name(path: str) -> None:
    """A mistake in the options where the end of a file's name asks for a table that is not written."""
    suffix = PurePath(path).suffix.lower()
    if suffix in (".xlsx", ".xls", ".ods", ".json", ".arrow", ".feather"):
        raise click.UsageError(
            f"{path}: a table is written as .csv, .tsv, .jsonl or .parquet, not as {suffix}: end the name so, or say "
            "with --to what it is"
        )


@dataclass(frozen=True)
class Wanted:
    """What goes into the table."""

    scores: bool = False
    """Beside the probabilities; where there are none, scores are there anyway."""
    interval: float | None = None


def columns_of(model: Model, block: Block, wanted: Wanted, ids: RowIds | None) -> Columns:
    """The columns of a Block's rows."""
    learner = model.learner
    columns: Columns = {} if ids is None else {ids.name: ids.of(block)}
    scores = learner.score(block)
    if model.classes is None:
        return columns | {"prediction": scores[:, 0]}
    labels = model.labels
    codes = np.minimum(predicted_codes(scores), len(labels) - 1)
    columns["prediction"] = Coded(codes.astype(np.int64), labels)
    names = [as_text(label) for label in labels]
    probabilities = learner.probability(scores)
    if probabilities is not None and len(names) > 1:
        columns |= _by_class("probability", names, class_probabilities(probabilities))
    outputs = names if learner.outputs > 1 else names[-1:]
    if wanted.interval is not None:
        low, high = learner.interval(block, wanted.interval)  # type: ignore[attr-defined]
        columns |= _by_class("low", outputs, low) | _by_class("high", outputs, high)
    if wanted.scores or probabilities is None:
        columns |= _by_class("score", outputs, scores)
    return columns


def _by_class(what: str, labels: list[str], values: NDArray[np.float64]) -> Columns:
    return {f"{what}_{label}": values[:, i] for i, label in enumerate(labels)}


Write = Callable[[Columns], None]


class TextTable:
    """CSV, TSV or JSON lines; numbers as short as they can be without losing a bit."""

    def __init__(self, file: BinaryIO, kind: str) -> None:
        self._file, self._kind = file, kind
        self._begun = False

    def write(self, columns: Columns) -> None:
        if self._kind == "jsonl":
            names = list(columns)
            rows = zip(*as_lists(columns).values(), strict=True)
            lines = (
                json.dumps(dict(zip(names, row, strict=True)), default=str) + "\n" for row in rows
            )
            self._file.write("".join(lines).encode())
            return
        delimiter = "\t" if self._kind == "tsv" else ","
        if not self._begun:
            self._file.write(delimiter.join(_cells(list(columns), delimiter)).encode() + b"\n")
        self._begun = True
        cells = [_cells_of(column, delimiter) for column in columns.values()]
        self._file.write(_core.table_rows(cells, delimiter))

    def close(self) -> None:
        """Nothing is held back."""


def as_lists(columns: Columns) -> dict[str, list[Any]]:
    return {
        name: column if isinstance(column, list) else column.tolist()
        for name, column in columns.items()
    }


def _cells_of(
    column: list[Any] | NDArray[np.float64] | Coded, delimiter: str
) -> NDArray[np.float64] | tuple[NDArray[np.int64], list[str]]:
    """As the core takes it: numbers, or texts and which of them."""
    if isinstance(column, Coded):  # 1, not 1.0, and true, not True
        return column.codes, _cells([as_text(value) for value in column.values], delimiter)
    if isinstance(column, list):
        return np.arange(len(column)), _cells(column, delimiter)
    return np.ascontiguousarray(column)


def _cells(values: Sequence[Any], delimiter: str) -> list[str]:
    """Each as it stands between delimiters: in quotes where it must be.

    >>> _cells(["a", "b,c", None, 1.5], ",")
    ['a', '"b,c"', '', '1.5']
    """
    lines = _Lines()
    writer = csv.writer(lines, delimiter=delimiter, lineterminator="\n")
    writer.writerows((value, "") for value in values)
    return [line[:-2] for line in lines.written]


class _Lines:
    """What a csv.writer takes for a file: a line for every row."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.write = self.written.append


class ParquetTable:
    """One row group a Block or so, with the types that the values have."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise DataError(
                f'{path}: Parquet needs the package pyarrow: pip install "riata[arrow]"'
            ) from None
        self._file, self._pa, self._pq = file, pa, pq
        self._writer: Any = None

    def write(self, given: Columns) -> None:
        columns = as_lists(given)
        schema = None if self._writer is None else self._writer.schema
        try:
            table = self._pa.table(columns, schema=schema)
        except (
            self._pa.ArrowInvalid,
            self._pa.ArrowTypeError,
        ):  # what rows are called is of several kinds
            first = next(iter(columns))
            columns = columns | {first: [None if v is None else str(v) for v in columns[first]]}
            table = self._pa.table(columns, schema=schema)
        if self._writer is None:
            self._writer = self._pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def open_table(file: BinaryIO, kind: str, path: str) -> TextTable | ParquetTable:
    return ParquetTable(file, path) if kind == "parquet" else TextTable(file, kind)
