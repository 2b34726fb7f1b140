"""Lines that cannot be read: stop at the first, or skip them, count them and keep them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from riata.atomic import same_file
from riata.errors import DataError

FIRST_LOOK = 1000
"""Lines to have seen before a share of bad ones says anything."""


@dataclass(slots=True)
class BadLine:
    """A line that was skipped."""

    number: int
    """Of the line in its file, from 1."""
    column: int
    reason: str
    text: bytes

    def where(self, path: str) -> str:
        return f"{path}:{self.number}:{self.column}"


class BadLineFile:
    """Where skipped lines are kept: `file:line:column: reason`, a tab, the line as it stood.

    Several sources may share one. It is there from the start: an empty one says that no line was bad.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file: BinaryIO | None = None

    def __fspath__(self) -> str:
        return self.path

    def begin(self, inputs: Iterable[str]) -> None:
        """Make the file; DataError if it is one of those to read, which would be lost."""
        for path in inputs:
            if same_file(path, self.path):
                raise DataError(
                    f"{self.path}: this is what is read; keep bad lines in another file"
                )
        self._open()

    def add(self, path: str, line: BadLine) -> None:
        head = f"{line.where(path)}: {line.reason}\t".encode("utf-8", "replace")
        file = self._open()
        file.write(head + line.text + b"\n")
        file.flush()

    def _open(self) -> BinaryIO:
        if self._file is None:
            self._file = open(self.path, "wb")  # noqa: SIM115
        return self._file


def stop_at(message: str) -> DataError:
    """The error for a line that cannot be read, with a note on how to go on without it."""
    error = DataError(message)
    error.add_note("to leave such lines out: --on-error skip (on_error='skip')")
    return error


class Skipping:
    """The count of a source's bad lines, pass by pass, and the limit that it must keep.

    limit: a share of the lines when below 1, else a number of lines.
    """

    def __init__(self, limit: float = 0.5, keep: BadLineFile | None = None) -> None:
        if not limit >= 0:
            raise ValueError(f"max_bad is a share below 1 or a number of lines, not {limit}")
        self.limit = limit
        self.count = 0
        self._keep = keep
        self._kept = 0

    def begin_pass(self) -> None:
        self.count = 0

    def add(self, path: str, line: BadLine, lines: int) -> None:
        """Count a line; DataError if it is one too many. `lines` is its number, counted over all files."""
        self.count += 1
        if self.count > self._kept:  # a later pass finds the same ones again
            self._kept += 1
            if self._keep is not None:
                self._keep.add(path, line)
        if self.limit >= 1 or lines >= FIRST_LOOK:
            self._check(lines, f"{line.where(path)}: {line.reason}")

    def end_pass(self, name: str, lines: int) -> None:
        self._check(lines, name)

    def _check(self, lines: int, where: str) -> None:
        allowed = self.limit if self.limit >= 1 else self.limit * lines
        if self.count <= allowed:
            return
        share = f"{self.limit:g} lines" if self.limit >= 1 else f"{100 * self.limit:g} %"
        raise DataError(
            f"{where}; with it, {self.count} of {lines} lines could not be read, more than the "
            f"{share} allowed (--max-bad, max_bad). Is this the right --format?"
        )
