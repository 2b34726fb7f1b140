"""Sums of summaries, in the order of their shards, as one tree of fixed shape."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.shards.summary import Arrays, MergeError, StoredSummary, Summary, check_alike

FAN_IN = 64
"""So many neighbours are added up one after another; their sums, again so many, after that: a tree of fixed shape."""
Part = Summary | str | os.PathLike[str]


class Sums:
    """Summaries of neighbours as they come, one after another: in memory are the sums, and the one that is added."""

    def __init__(self) -> None:
        self.header: dict[str, Any] | None = None
        self._features: _Sorted | _AsTheyCome | None = None
        self._arrays: Arrays = {}

    def add(self, summary: Summary | StoredSummary) -> None:
        if self.header is None:
            self.header = {k: _copied(v) for k, v in summary.header.items()}
            self._take(summary)
            return
        check_alike(self.header, summary.header)
        twice = set(self.header["numbers"]) & set(summary.numbers)
        if twice:
            raise MergeError(f"shard {min(twice)} is there twice: give each part once")
        self._take(summary)
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
        if self._features is not None:
            arrays |= self._features.take()
        return Summary(self.header, arrays)

    def _take(self, summary: Summary | StoredSummary) -> None:
        arrays = summary.arrays
        places = self._take_features(summary)
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
                whole = merged_samples(mine, theirs, places)
                self._arrays |= {f"{head}{k}": v for k, v in whole.items()}

    def _take_features(self, summary: Summary | StoredSummary) -> NDArray[np.int32] | None:
        """Add the rows of features, each to that of the same. Where they are now, if a sample needs to know."""
        sampled = any(name.startswith("sample.") for name in summary.arrays)
        places: list[NDArray[np.int32]] = []
        for piece in summary.pieces():
            if self._features is None:
                self._features = (_AsTheyCome if sampled else _Sorted)(piece)
            elif sampled != isinstance(self._features, _AsTheyCome):
                raise MergeError(
                    "parts with and without a sample of their examples do not go together"
                )
            if not places:
                self._features.begin(piece)
            places.append(self._features.add(piece))
        named = sampled and self._features is not None and self._features.named
        return np.concatenate(places) if named else None


class _Features:
    """Rows by feature, to which those of others are added."""

    def __init__(self, like: Arrays) -> None:
        self.named, self.width, self.size = "names" in like, like["rows"].shape[1], 0

    def begin(self, piece: Arrays) -> None:
        """Another summary comes, and begins with this."""
        named = "names" in piece
        if len(piece["keys"]) and self.size and named != self.named:
            raise MergeError("parts with named and with numbered features cannot be merged")
        if piece["rows"].shape[1] != self.width:
            raise MergeError("the rows of these parts have different widths")
        self.named |= named

    def add(self, piece: Arrays) -> NDArray[np.int32]:
        raise NotImplementedError

    def take(self) -> Arrays:
        raise NotImplementedError


class _Sorted(_Features):
    """By ascending key, as `in_order` has them: then two lists become one without a table to find features in."""

    def __init__(self, like: Arrays) -> None:
        super().__init__(like)
        self._core = _core.SortedSums(self.width)
        self._last = -1

    def begin(self, piece: Arrays) -> None:
        super().begin(piece)
        self._core.rewind()
        self._last = -1

    def add(self, piece: Arrays) -> NDArray[np.int32]:
        keys = piece["keys"]
        if len(keys):
            if keys[0] <= self._last or (keys[1:] <= keys[:-1]).any():
                raise MergeError(
                    "the features of a part are not in their order, or one is there twice"
                )
            self._last = int(keys[-1])
            self._core.add(keys, piece["rows"], piece.get("names"), piece.get("name_offsets"))
        self.size = len(self._core)
        return _NO_PLACES

    def take(self) -> Arrays:
        keys, rows, names, offsets = self._core.take()
        arrays = {"keys": keys, "rows": rows}
        return arrays | ({"names": names, "name_offsets": offsets} if self.named else {})


class _AsTheyCome(_Features):
    """In the order in which they came first: examples of a sample know features by their places."""

    def __init__(self, like: Arrays) -> None:
        super().__init__(like)
        self._index = _core.FeatureIndex()
        self._rows = np.zeros((0, self.width))

    def add(self, piece: Arrays) -> NDArray[np.int32]:
        keys = piece["keys"]
        names = piece.get("names", np.zeros(0, dtype=np.uint8))
        offsets = piece.get("name_offsets", np.zeros(len(keys) + 1, dtype=np.int64))
        before = self.size
        places = self._index.translate(keys, names, offsets)
        self.size = len(self._index)
        if self.size > len(self._rows):  # in place, where memory allows
            self._rows.resize((max(self.size, before + before // 8), self.width), refcheck=False)
        _core.add_rows(self._rows, places, piece["rows"])
        return places

    def take(self) -> Arrays:
        keys, names, offsets = self._index.take()
        arrays = {"keys": keys, "rows": self._rows[: self.size]}
        return arrays | ({"names": names, "name_offsets": offsets} if self.named else {})


_NO_PLACES = np.zeros(0, dtype=np.int32)


def _copied(value: Any) -> Any:
    return type(value)(value) if isinstance(value, list | dict) else value


def merge(summaries: Iterable[Summary]) -> Summary:
    """The sum of summaries of neighbours, in the order of their shards, as one tree of fixed shape."""
    return merge_tree(summaries)


def merge_tree(parts: Iterable[Part]) -> Summary:
    """The same, also of summaries in files. In memory are the sums of each level, and of a file a piece at a time.

    As many neighbours as `FAN_IN` says are added up, one after another, and so are their sums.
    """
    levels: list[_Level] = []

    def add(part: Part, height: int) -> None:
        if height == len(levels):
            levels.append(_Level())
        level = levels[height]
        if level.count == FAN_IN:
            whole, levels[height] = level.sums.result(), _Level()
            del level
            add(whole, height + 1)
        levels[height].add(part)

    for part in parts:
        add(part, 0)
    if not levels:
        raise MergeError("there is nothing to merge")
    for height in range(len(levels) - 1):
        add(levels[height].sums.result(), height + 1)
    return levels[-1].sums.result()


class _Level:
    """The sums of some neighbours, and how many they are."""

    def __init__(self) -> None:
        self.sums, self.count = Sums(), 0

    def add(self, part: Part) -> None:
        if isinstance(part, Summary):
            self.sums.add(part)
        else:
            with StoredSummary(part) as stored:
                self.sums.add(stored)
        self.count += 1


def add_up(summaries: Iterable[Summary]) -> Summary:
    """Neighbours, one after another."""
    sums = Sums()
    for summary in summaries:
        sums.add(summary)
        del summary  # before the next one comes
    return sums.result()
