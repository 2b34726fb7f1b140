"""A folder of text files as a source: a folder a class, a file a text."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from riata.block import Block
from riata.errors import DataError
from riata.sources.io.bytes import Input, Stop
from riata.sources.io.lines import LONGEST_LINE, PADDING, Buffers, Chunk, LineTooLong
from riata.sources.options import ReadOptions
from riata.sources.recognise import format_by_name
from riata.sources.text.fasttext import LabelAndText

_BLANKS = bytes.maketrans(b"\t\n\r\x0b\x0c", b"     ")
_PIECE = 1 << 16


class FolderSource(LabelAndText):
    """`mail/spam/1.txt`, `mail/ham/2.txt`: each file is a text, and the folder that it is in its label.

    Folders within those of the classes belong to them; what begins with a point is passed over. Files in the folder
    itself have no label. A folder has no order: its files come mixed, in one that follows from their names alone.

    >>> import pathlib, tempfile
    >>> mail = pathlib.Path(tempfile.mkdtemp())
    >>> for label, text in (("spam", "Free entry"), ("ham", "see you")):
    ...     (mail / label).mkdir()
    ...     _ = (mail / label / "1.txt").write_text(text)
    >>> source = FolderSource([str(mail)])
    >>> [block] = source
    >>> sorted(block.labels.tolist()), source.label_names, block.nnz
    ([0.0, 1.0], ['ham', 'spam'], 6)
    """

    messages = LabelAndText.messages | {
        "label_missing": "this file lies in no folder of a class, such as mail/spam/1.txt",
        "not_text": "here are bytes that are no UTF-8: {text}; what is this file?",
    }

    def __init__(
        self, folders: list[str], options: ReadOptions | None = None, **reading: Any
    ) -> None:
        options = options or ReadOptions()
        self._files = [file for folder in folders for file in labelled_files(folder)]
        for _, path in self._files:
            if (format := format_by_name(path)) is not None:
                raise DataError(
                    f"{path} looks like {format}: a folder is read as one of texts, a file each; name such files "
                    f"instead, for example {os.path.dirname(path)}/*"
                )
        if not self._files:
            raise DataError(f"{', '.join(folders)}: no files in this folder")
        if options.labelled and not any(label for label, _ in self._files):
            raise DataError(
                f"{', '.join(folders)}: a folder of texts has a folder for each class, such as mail/spam/1.txt; "
                "if its files hold many examples each, name them, for example "
                f"{os.path.join(folders[0], '*')}"
            )
        super().__init__([path for _, path in self._files], options, **reading)
        self.format = "folder"  # type: ignore[misc]
        self.name = ", ".join(folders)

    def _lines(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        lines: list[bytes] = []
        size = position = 0
        first = True
        for label, path in self._files:
            text = _read(path, stop).removeprefix(b"\xef\xbb\xbf").translate(_BLANKS)
            lines.append(label.encode("utf-8", "surrogateescape") + b"\t" + text + b"\n")
            size += len(lines[-1])
            position += len(text)
            if size >= self._chunk_bytes:
                yield self._chunk(lines, first, position)
                lines, size, first = [], 0, False
        if lines:
            yield self._chunk(lines, first, position)

    def _chunk(self, lines: list[bytes], first: bool, position: int) -> Chunk:
        buffer = bytearray(b"".join(lines))
        size = len(buffer)
        buffer += bytes(PADDING)
        return Chunk(buffer, size, self.name, first, position)

    def _blocks(self) -> Generator[Block, None, None]:
        """What is said of a line is of a file here."""
        try:
            yield from super()._blocks()
        except DataError as error:
            place = re.match(re.escape(self.name) + r":(\d+):", str(error))
            if place is None:
                raise
            error.args = (self._files[int(place[1]) - 1][1] + str(error)[place.end() - 1 :],)
            raise


def labelled_files(folder: str) -> list[tuple[str, str]]:
    """The label, which is empty for files in the folder itself, and the path of each file, mixed."""
    found: list[tuple[str, str]] = []
    for here, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = os.path.relpath(here, folder)
        label = "" if inside == os.curdir else inside.split(os.sep)[0]
        found += [(label, os.path.join(here, name)) for name in files if not name.startswith(".")]
    names = {path: os.path.relpath(path, folder) for _, path in found}
    return sorted(found, key=lambda file: (_mixed(names[file[1]]), names[file[1]]))


def _mixed(name: str) -> int:
    """A number that follows from a name, and not from what it means."""
    from riata import _core

    return int(_core.key_of_name(name.replace(os.sep, "/").encode("utf-8", "surrogateescape")))


def _refuse(error: OSError) -> None:
    raise DataError(f"{error.filename}: {error.strerror}: this folder cannot be read")


def _read(path: str, stop: Stop) -> bytes:
    parts, size = [], 0
    buffer = bytearray(_PIECE)
    with closing(Input(path, stop)) as source, memoryview(buffer) as view:
        while count := source.read_into(view):
            parts.append(bytes(view[:count]))
            size += count
            if size > LONGEST_LINE:
                raise LineTooLong(path)
    return b"".join(parts)
