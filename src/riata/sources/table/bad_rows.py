"""Rows of a table that cannot be examples: found a batch at a time, told one by one. Needs pyarrow."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.sources.bad_lines import BadLine


@dataclass(slots=True)
class BadRow(BadLine):
    """A row that was skipped, or that ends the pass. Its number counts from 0."""

    column_name: str = ""

    def where(self, path: str) -> str:
        return f"{path}: row {self.number}, column {self.column_name!r}"


@dataclass(slots=True)
class Part:
    """Some rows of a batch as a Block, without those that cannot be read."""

    block: Block
    bad: list[BadRow]
    """In order. Where they are not to be skipped: at most one, and the Block ends before it."""
    n_rows: int
    """As many as there were, the bad ones too."""
    first_row: int = 0
    """The number of the first of them."""


class Faults:
    """What is wrong with the rows of a batch."""

    def __init__(self, batch: Any, first_row: int) -> None:
        self._batch = batch
        self._first_row = first_row
        self._reasons: dict[int, tuple[str, str]] = {}

    def add(
        self, wrong: NDArray[np.bool_] | None, column: str, reason: Callable[[int], str]
    ) -> None:
        """Rows whose value of a column is wrong; the first thing said about a row stays."""
        if wrong is not None and wrong.any():
            for row in np.flatnonzero(wrong).tolist():
                self._reasons.setdefault(row, (column, reason(row)))

    def within(self, start: int, stop: int) -> list[int]:
        if not self._reasons:
            return []
        return sorted(row for row in self._reasons if start <= row < stop)

    def told(self, row: int) -> BadRow:
        column, reason = self._reasons[row]
        return self.bad_row(row, column, reason)

    def bad_row(self, row: int, column: str, reason: str) -> BadRow:
        place = self._batch.schema.get_field_index(column) + 1
        values = {name: self._batch.column(name)[row] for name in self._batch.schema.names}
        text = json.dumps(
            {name: _shown(value) for name, value in values.items()}, ensure_ascii=False, default=str
        )
        return BadRow(self._first_row + row, place, reason, text.encode("utf-8", "replace"), column)


def _shown(value: Any) -> Any:
    try:
        return value.as_py()
    except (ValueError, UnicodeDecodeError):  # text that is none, a time beyond what Python knows
        return str(value)
