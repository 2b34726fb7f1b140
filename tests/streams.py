"""Sources that tests can cut, stop and break as they like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from riata.block import Block
from tests.problems import block_of, dense_rows, labels_for


class ListSource:
    """A Block, handed out `rows` rows at a time. `fail_at` raises before that row of that pass."""

    n_bytes: int | None = None

    def __init__(
        self,
        block: Block,
        rows: int = 64,
        *,
        repeatable: bool = True,
        fail_at: tuple[int, int] | None = None,
        error: BaseException | None = None,
    ) -> None:
        self.block, self.rows, self.repeatable = block, rows, repeatable
        self.fail_at, self.error = fail_at, error
        self.name = f"list of {len(block)}"
        self.n_rows: int | None = len(block)
        self.bytes_read = 0
        self.passes = 0
        self.closed = 0

    def __iter__(self) -> Iterator[Block]:
        number, self.passes = self.passes, self.passes + 1
        self.bytes_read = 0
        try:
            for start in range(0, len(self.block), self.rows):
                stop = start + self.rows
                if self.fail_at is not None and self.error is not None:
                    fail_pass, fail_row = self.fail_at
                    if number == fail_pass and start <= fail_row < stop:
                        raise self.error
                self.bytes_read = stop
                yield self.block[start:stop]
        finally:
            self.closed += 1


def problem(n: int = 500, d: int = 40, classes: int = 2, seed: int = 0) -> Block:
    """Rows with lines of a file that does not exist; labels -1 and 1, or 1, 2, ..., or real."""
    x = dense_rows(n, d, seed=seed)
    labels = labels_for(x, classes, seed=seed + 1)
    if classes == 2:
        labels = 2 * labels - 1
    elif classes > 2:
        labels = labels + 1
    lines = np.arange(1, n + 1, dtype=np.int64)
    return replace(block_of(x, labels), path="p.svm", lines=lines)
