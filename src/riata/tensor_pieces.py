"""The tensors of a file, read a piece at a time: what is larger than one would like to hold."""

from __future__ import annotations

import hashlib
import json
import math
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riata import tensor_file
from riata.errors import ModelError

_AT_ONCE = 1 << 20
_KINDS = {tensor_file.in_file(kind): np.dtype(kind).newbyteorder("<") for kind in tensor_file.TYPES}


class Place(NamedTuple):
    """Where a tensor stands, behind the header, and what it is."""

    first: int
    kind: np.dtype[Any]
    shape: tuple[int, ...]


def _places(head: bytes, path: str) -> dict[str, Place]:
    """The tensors of a file; a ModelError where they are not one behind the other."""
    described = json.loads(head[8:])
    described.pop("__metadata__", None)
    found: dict[str, Place] = {}
    end = 0
    try:
        for name, about in sorted(described.items(), key=lambda item: item[1]["data_offsets"]):
            first, last = about["data_offsets"]
            shape = tuple(int(size) for size in about["shape"])
            place = Place(first, _KINDS[about["dtype"]], shape)
            if (
                first != end
                or last - first != math.prod(shape) * place.kind.itemsize
                or min(shape, default=0) < 0
            ):
                raise ValueError(f"tensor {name!r} is not where it should be")
            found[name] = place
            end = last
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path}: cut short or damaged: {error}") from error
    return found


class TensorPieces:
    """A file of this format that is whole, as its checksum says; anything else is a ModelError that says what."""

    def __init__(self, path: str | os.PathLike[str], format: str, newest: int) -> None:
        self.path = str(path)
        self._file = open(path, "rb")  # noqa: SIM115
        try:
            self._before = self._stamp()
            head = tensor_file.read_head(self._file, self.path, self._before[0])
            self.header = tensor_file.read_header(head, self.path, format, newest, checked=False)
            tensor_file.data_size(head, self.path, self._before[0])
            self._check_digest(head)
            self._start = len(head)
            self.tensors = _places(head, self.path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> TensorPieces:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def read(self, name: str, first: int = 0, last: int | None = None) -> NDArray[Any]:
        """These rows of a tensor, or all of it."""
        place = self.tensors[name]
        if not place.shape:
            return self._read(place, 0, ())
        last = place.shape[0] if last is None else last
        row = place.kind.itemsize * math.prod(place.shape[1:])
        return self._read(place, first * row, (max(last - first, 0), *place.shape[1:]))

    def _read(self, place: Place, skip: int, shape: tuple[int, ...]) -> NDArray[Any]:
        made = np.empty(shape, dtype=place.kind)
        self._file.seek(self._start + place.first + skip)
        if self._file.readinto(made.reshape(-1).view(np.uint8).data) != made.nbytes:
            raise ModelError(f"{self.path}: changed while it was read: try again")
        return made

    def check_same(self) -> None:
        """A ModelError where the file was written to since it was opened."""
        if self._stamp() != self._before:
            raise ModelError(f"{self.path}: changed while it was read: try again")

    def _stamp(self) -> tuple[int, int]:
        status = os.fstat(self._file.fileno())
        return status.st_size, status.st_mtime_ns

    def _check_digest(self, head: bytes) -> None:
        found = hashlib.sha256()
        place = tensor_file.digest_place(head)
        if place >= 0:
            found.update(head[:place] + tensor_file.NO_DIGEST.encode() + head[place + 64 :])
            piece = bytearray(_AT_ONCE)
            view = memoryview(piece)
            self._file.seek(len(head))
            while count := self._file.readinto(piece):
                found.update(view[:count])
        if place < 0 or found.hexdigest() != self.header.get("sha256"):
            raise ModelError(f"{self.path}: {tensor_file.DAMAGED}")
