"""What a task makes of a shard: sums, by feature and in all. They add up, in the order of the shards.

A summary is a few arrays and a header that JSON holds. `keys` and `rows` (and the names of the keys, where they have
some) are sums by feature; `add.*` are sums; of `max.*` the larger counts; `sample.*` are examples. On disk it is a
safetensors file with a checksum, written and read by `tensor_file`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import riata
from riata import _core, tensor_file
from riata.errors import ModelError, RiataError, SettingsError

VERSION = 1
FAN_IN = 64
"""So many neighbours are added up one after another; their sums, again so many, after that: a tree of fixed shape."""

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
        header, arrays = tensor_file.read_views(path, tensor_file.SUMMARY, VERSION)
        try:
            _check(header, arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{path}: the parts of this summary do not fit together: {error}"
            ) from None
        return cls(
            {k: v for k, v in header.items() if k not in ("format", "version", "sha256")}, arrays
        )


def _check(header: dict[str, Any], arrays: Arrays) -> None:
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
    keys, rows = arrays.get("keys"), arrays.get("rows")
    if (keys is None) != (rows is None):
        raise ValueError("one of the tensors 'keys' and 'rows' is missing")
    if keys is None or rows is None:
        return
    if keys.dtype != np.int64 or keys.ndim != 1 or (len(keys) and keys.min() < 0):
        raise ValueError("tensor 'keys' does not hold features")
    if rows.dtype != np.float64 or rows.ndim != 2 or len(rows) != len(keys):
        raise ValueError("tensor 'rows' does not fit to 'keys'")
    if not np.isfinite(rows).all():
        raise ValueError("tensor 'rows' holds numbers that are not finite")
    if ("names" in arrays) != ("name_offsets" in arrays):
        raise ValueError("one of the tensors 'names' and 'name_offsets' is missing")
    if "names" in arrays:
        offsets = arrays["name_offsets"]
        good = offsets.dtype == np.int64 and offsets.shape == (len(keys) + 1,)
        if not good or offsets[0] != 0 or offsets[-1] > len(arrays["names"]):
            raise ValueError("tensor 'name_offsets' does not fit to 'names'")
        if (offsets[1:] < offsets[:-1]).any():
            raise ValueError("tensor 'name_offsets' does not ascend")


def header_of(
    family: str, parameters: dict[str, Any], plan: str, count: int, round: int, began: str
) -> dict[str, Any]:
    """What summaries must have in common."""
    return {
        "riata": riata.__version__, "family": family, "parameters": parameters, "plan": plan,
        "count": count, "round": round, "began": began,
    }  # fmt: skip


class Sums:
    """Summaries of neighbours as they come, one after another: in memory are the sums, and the one that is added."""

    def __init__(self) -> None:
        self.header: dict[str, Any] | None = None
        self._index = _core.FeatureIndex()
        self._rows = np.zeros((0, 0))
        self._size = 0
        self._arrays: Arrays = {}
        self._named = self._keyed = False

    def add(self, summary: Summary) -> None:
        if self.header is None:
            self.header = {k: _copied(v) for k, v in summary.header.items()}
            self._take(summary.arrays)
            return
        check_alike(self.header, summary.header)
        twice = set(self.header["numbers"]) & set(summary.numbers)
        if twice:
            raise MergeError(f"shard {min(twice)} is there twice: give each part once")
        self._take(summary.arrays)
        head = self.header
        head["numbers"] = sorted([*head["numbers"], *summary.numbers])
        head["fingerprints"] |= summary.header["fingerprints"]
        head["rows"] += summary.header["rows"]
        head["loss"] = [a + b for a, b in zip(head["loss"], summary.header["loss"], strict=True)]

    def result(self) -> Summary:
        """All that was added; nothing is left here."""
        if self.header is None:
            raise MergeError("there is nothing to merge")
        arrays = dict(self._arrays)
        if self._keyed:
            keys, names, offsets = self._index.take()
            arrays |= {"keys": keys, "rows": self._rows[: self._size]}
            if self._named:
                arrays |= {"names": names, "name_offsets": offsets}
        return Summary(self.header, arrays)

    def _take(self, arrays: Arrays) -> None:
        places = self._take_rows(arrays) if "keys" in arrays else None
        for name, array in arrays.items():
            if name.startswith("add."):
                known = self._arrays.get(name)
                if known is not None and known.shape != array.shape:
                    raise MergeError(f"the sums {name!r} have different shapes")
                self._arrays[name] = array.copy() if known is None else known + array
            elif name.startswith("max."):
                known = self._arrays.get(name)
                self._arrays[name] = array.copy() if known is None else np.maximum(known, array)
        for name in arrays:
            if name.startswith("sample.") and name.endswith(".limit"):
                from riata.shards.samples import merged_samples

                head = name.removesuffix("limit")
                mine, theirs = (
                    {k.removeprefix(head): v for k, v in several.items() if k.startswith(head)}
                    for several in (self._arrays, arrays)
                )
                whole = merged_samples(mine, theirs, places if "names" in arrays else None)
                self._arrays |= {f"{head}{k}": v for k, v in whole.items()}

    def _take_rows(self, arrays: Arrays) -> NDArray[np.int32]:
        """Add the rows of features, each to that of the same; where they are now."""
        keys, rows = arrays["keys"], arrays["rows"]
        named = "names" in arrays
        if self._keyed and len(keys) and self._size and named != self._named:
            raise MergeError("parts with named and with numbered features cannot be merged")
        if self._keyed and rows.shape[1] != self._rows.shape[1]:
            raise MergeError("the rows of these parts have different widths")
        self._keyed, self._named = True, self._named or named
        names = arrays.get("names", np.zeros(0, dtype=np.uint8))
        offsets = arrays.get("name_offsets", np.zeros(len(keys) + 1, dtype=np.int64))
        before = self._size
        places = self._index.translate(keys, names, offsets)
        self._size = len(self._index)
        if self._rows.shape[1] != rows.shape[1]:
            self._rows = np.zeros((self._size + self._size // 8, rows.shape[1]))
        elif self._size > len(self._rows):
            room = max(self._size, before + before // 8)
            self._rows.resize(
                (room, rows.shape[1]), refcheck=False
            )  # in place, where memory allows
        _core.add_rows(self._rows, places, rows)
        return places


def _copied(value: Any) -> Any:
    return type(value)(value) if isinstance(value, list | dict) else value


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


def merge(summaries: Iterable[Summary]) -> Summary:
    """The sum of summaries of neighbours, in the order of their shards, as one tree of fixed shape."""
    return merge_tree(summaries)


def merge_tree(parts: Iterable[Any], load: Any = None) -> Summary:
    """The same; `load` gets a summary from what stands for it. In memory is one at a time, and the sums of each level.

    As many neighbours as `FAN_IN` says are added up, one after another, and so are their sums.
    """
    levels: list[_Level] = []

    def add(summary: Summary, height: int) -> None:
        if height == len(levels):
            levels.append(_Level())
        level = levels[height]
        if level.count == FAN_IN:
            whole, levels[height] = level.sums.result(), _Level()
            del level
            add(whole, height + 1)
        levels[height].add(summary)

    for part in parts:
        add(load(part) if load is not None and not isinstance(part, Summary) else part, 0)
    if not levels:
        raise MergeError("there is nothing to merge")
    for height in range(len(levels) - 1):
        add(levels[height].sums.result(), height + 1)
    return levels[-1].sums.result()


class _Level:
    """The sums of some neighbours, and how many they are."""

    def __init__(self) -> None:
        self.sums, self.count = Sums(), 0

    def add(self, summary: Summary) -> None:
        self.sums.add(summary)
        self.count += 1


def add_up(summaries: Iterable[Summary]) -> Summary:
    """Neighbours, one after another."""
    sums = Sums()
    for summary in summaries:
        sums.add(summary)
        del summary  # before the next one comes
    return sums.result()


def check_count(numbers: Sequence[int], count: int) -> None:
    """A MergeError where shards are missing."""
    missing = sorted(set(range(1, count + 1)) - set(numbers))
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (" ..." if len(missing) > 10 else "")
        raise MergeError(
            f"{len(missing)} of {count} shards are missing: {shown}; make them with riata train --shard "
            f"{missing[0]}/{count}"
        )


def check_rounds(rounds: int) -> None:
    if rounds < 1:
        raise SettingsError(f"rounds must be at least 1, not {rounds}")
