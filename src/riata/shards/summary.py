"""What a task makes of a shard: sums, by feature and in all. They add up, in the order of the shards.

A summary is a few arrays and a header that JSON holds. `keys` and `rows` (and the names of the keys, where they have
some) are sums by feature; `add.*` are sums; of `max.*` the larger counts; `sample.*` are examples. On disk it is a
safetensors file with a checksum, written and read by `tensor_file`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import riata
from riata import tensor_file
from riata.errors import ModelError, RiataError, SettingsError
from riata.tensor_pieces import TensorPieces

VERSION = 1
SURVEY = "survey"
"""In the place of a method: what shards tell of the data, before anything is learned."""
BY_FEATURE = ("keys", "rows", "names", "name_offsets")
"""Arrays with something for each feature."""
_PIECE = 1 << 20
"""Bytes of rows that are read from a file at a time."""

Arrays = dict[str, NDArray[Any]]
_SAME = ("riata", "family", "parameters", "plan", "count", "round", "began")
_WORDS = {
    "riata": "versions of Riata",
    "family": "methods",
    "parameters": "parameters",
    "plan": "data, options of reading or schemas",
    "count": "numbers of shards",
    "round": "rounds",
    "began": "models that the round began with",
}


class MergeError(RiataError, ValueError):
    """Summaries that do not belong together."""


@dataclass
class Summary:
    """The sums of one shard, or of some neighbours."""

    header: dict[str, Any]
    arrays: Arrays = field(repr=False)

    @property
    def numbers(self) -> list[int]:
        """The shards that it is the sum of, ascending."""
        return list(self.header["numbers"])

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        head = {"format": tensor_file.SUMMARY, "version": VERSION}
        tensor_file.write(path, head | self.header, self.arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Summary:
        """All of it, from a file."""
        with StoredSummary(path) as stored:
            arrays = {name: stored.tensors.read(name) for name in stored.tensors.tensors}
            stored.check(arrays)
            stored.tensors.check_same()
        return cls(stored.header, arrays)

    def pieces(self) -> Iterator[Arrays]:
        """The sums by feature, some features at a time."""
        if "keys" in self.arrays:
            yield {name: self.arrays[name] for name in BY_FEATURE if name in self.arrays}


class StoredSummary:
    """A summary in a file: in memory is what does not go by feature, and of the rest a piece at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.tensors = TensorPieces(path, tensor_file.SUMMARY, VERSION)
        with self._said():
            _check_header(self.tensors.header)
        self.header = {
            k: v for k, v in self.tensors.header.items() if k not in ("format", "version", "sha256")
        }
        self.arrays: Arrays = {
            name: self.tensors.read(name) for name in self.tensors.tensors if name not in BY_FEATURE
        }
        there = {name: place.shape for name, place in self.tensors.tensors.items()}
        with self._said():
            _check_shapes(there)

    def __enter__(self) -> StoredSummary:
        return self

    def __exit__(self, *error: object) -> None:
        self.tensors.__exit__(*error)

    numbers = property(lambda self: list(self.header["numbers"]))

    def check(self, arrays: Arrays) -> None:
        """A ModelError where this piece of what goes by feature cannot be right."""
        with self._said():
            _check_piece(arrays)

    def pieces(self) -> Iterator[Arrays]:
        """The sums by feature, some features at a time."""
        tensors = self.tensors
        if "keys" not in tensors.tensors:
            return
        count, width = tensors.tensors["rows"].shape
        some = max(1 << 10, _PIECE // (8 * max(width, 1)))
        for first in range(0, max(count, 1), some):
            last = min(first + some, count)
            piece = {name: tensors.read(name, first, last) for name in ("keys", "rows")}
            if "names" in tensors.tensors:
                offsets = tensors.read("name_offsets", first, last + 1)
                self.check(piece | {"name_offsets": offsets})
                names = tensors.read("names", int(offsets[0]), int(offsets[-1]))
                piece |= {"names": names, "name_offsets": offsets - offsets[0]}
            self.check(piece)
            yield piece
        tensors.check_same()

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, ValueError) as error:
            self.tensors.__exit__()
            raise ModelError(
                f"{self.tensors.path}: the parts of this summary do not fit together: {error}"
            ) from None


def _check_header(header: dict[str, Any]) -> None:
    """A file may come from anywhere: what is wrong with it should be said before it is added up."""
    for name in (*_SAME, "training", "numbers", "fingerprints", "rows", "loss"):
        if name not in header:
            raise ValueError(f"{name!r} is missing")
    numbers, count = header["numbers"], header["count"]
    if not isinstance(count, int) or not isinstance(numbers, list) or not numbers:
        raise ValueError("the numbers of its shards cannot be read")
    if sorted(set(numbers)) != numbers or numbers[0] < 1 or numbers[-1] > count:
        raise ValueError("the numbers of its shards are not between 1 and their count, ascending")
    if set(header["fingerprints"]) != {str(n) for n in numbers}:
        raise ValueError("the fingerprints of its shards are missing")


def _check_shapes(shapes: Mapping[str, tuple[int, ...]]) -> None:
    keys, rows = shapes.get("keys"), shapes.get("rows")
    if (keys is None) != (rows is None):
        raise ValueError("one of the tensors 'keys' and 'rows' is missing")
    if ("names" in shapes) != ("name_offsets" in shapes) or ("names" in shapes and keys is None):
        raise ValueError("one of the tensors 'names' and 'name_offsets' is missing")
    if keys is None or rows is None:
        return
    if len(keys) != 1:
        raise ValueError("tensor 'keys' does not hold features")
    if len(rows) != 2 or rows[0] != keys[0]:
        raise ValueError("tensor 'rows' does not fit to 'keys'")
    if "names" in shapes and (
        shapes["name_offsets"] != (keys[0] + 1,) or len(shapes["names"]) != 1
    ):
        raise ValueError("tensor 'name_offsets' does not fit to 'names'")


def _check_piece(arrays: Arrays) -> None:
    if "keys" not in arrays:
        return
    keys, rows = arrays["keys"], arrays["rows"]
    if keys.dtype != np.int64 or (len(keys) and keys.min() < 0):
        raise ValueError("tensor 'keys' does not hold features")
    if rows.dtype != np.float64 or not np.isfinite(rows).all():
        raise ValueError("tensor 'rows' holds numbers that are not finite")
    if "name_offsets" not in arrays:
        return
    offsets = arrays["name_offsets"]
    if offsets.dtype != np.int64 or offsets[0] < 0:
        raise ValueError("tensor 'name_offsets' does not fit to 'names'")
    if (offsets[1:] < offsets[:-1]).any():
        raise ValueError("tensor 'name_offsets' does not ascend")
    if "names" in arrays:
        names = arrays["names"]
        if names.dtype != np.uint8 or offsets[-1] > len(names):
            raise ValueError("tensor 'name_offsets' does not fit to 'names'")


def header_of(
    family: str, parameters: dict[str, Any], plan: str, count: int, round: int, began: str
) -> dict[str, Any]:
    """What summaries must have in common."""
    return {
        "riata": riata.__version__, "family": family, "parameters": parameters, "plan": plan,
        "count": count, "round": round, "began": began,
    }  # fmt: skip


def check_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    """A MergeError where two summaries are not of the same training."""
    for name in _SAME:
        if one[name] != other[name]:
            a, b = (f"shard {h['numbers'][0]}" for h in (one, other))
            shown = (
                f" ({one[name]!s:.60} in {a}, {other[name]!s:.60} in {b})"
                if name not in ("plan", "began", "parameters")
                else f" ({_difference(one[name], other[name])}of {a} and {b})"
            )
            raise MergeError(f"parts with different {_WORDS[name]} cannot be merged{shown}")


def _difference(one: Any, other: Any) -> str:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return ""
    names = [k for k in one.keys() | other.keys() if one.get(k) != other.get(k)]
    return f"{', '.join(sorted(names))} "


def ordered_parts(
    paths: Sequence[str | os.PathLike[str]],
) -> tuple[dict[str, Any], list[str | os.PathLike[str]]]:
    """What all parts have in common, and where they are in the order of their shards; a MergeError unless each is there
    once, and all belong together."""
    heads = [(tensor_file.header_of(path, tensor_file.SUMMARY, VERSION), path) for path in paths]
    if not heads:
        raise MergeError("there is nothing to merge: name the parts")
    first = heads[0][0]
    places: dict[int, Any] = {}
    for head, path in heads:
        try:
            numbers = head["numbers"]
            check_alike(first, head)
        except KeyError as error:
            raise ModelError(f"{path}: damaged: its header lacks {error}") from None
        except MergeError as error:
            raise MergeError(f"{path}: {error}") from None
        for number in numbers:
            if number in places:
                raise MergeError(
                    f"shard {number} is there twice, in {places[number]} and {path}: give each part once"
                )
            places[number] = path
    check_count(sorted(places), first["count"], first["family"] == SURVEY)
    return first, [path for _, path in sorted(heads, key=lambda pair: pair[0]["numbers"][0])]


def check_count(numbers: Sequence[int], count: int, survey: bool = False) -> None:
    """A MergeError where shards are missing."""
    missing = sorted(set(range(1, count + 1)) - set(numbers))
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (" ..." if len(missing) > 10 else "")
        raise MergeError(
            f"{len(missing)} of {count} shards are missing: {shown}; make them with riata train --shard "
            f"{missing[0]}/{count}{' --survey' if survey else ''}"
        )


def check_rounds(rounds: int) -> None:
    if rounds < 1:
        raise SettingsError(f"rounds must be at least 1, not {rounds}")
