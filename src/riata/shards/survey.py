"""What a schema learns, from all shards instead of the first rows: sums that add up, in one pass of its own.

Of labels, and of texts with an n-gram, counts. Of numbers, how many there are, their sum and squares (mean and
deviation) and the largest. Of columns that are cut into buckets, a sample of a bounded size, which is the same however
shards are put together: the numbers of the rows whose place has the smallest hash.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import NoExamples
from riata.labels import Label, words_of
from riata.schema import Column, Schema
from riata.shards.counting import merged_counts
from riata.shards.split import Shard
from riata.sources import ReadOptions, Source
from riata.sources.numbers import bucket_edges, scale_of
from riata.sources.source import iterate, unweighed
from riata.text_weights import COUNTS, DOCUMENTS, KEYS, TextWeights
from riata.training.encoder import count_labels

SAMPLE = 1 << 15
"""Numbers of a column that are kept to make buckets from."""
_OFF = 1 / 3
"""Numbers are read less this part of their scale, so that none is zero: those would not be there."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Wanted:
    """What a survey is to find out, and how it reads."""

    schema: Schema | None
    """By which it reads: numbers are neither cut nor scaled as they will be. None: there are no columns."""
    labels: bool
    scaled: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: Schema | None, options: ReadOptions, labels: bool, numbers: bool) -> Wanted:
        """`options` are those that the data was opened with; `numbers`: find out about them, too."""
        if schema is None or not numbers:
            return cls(schema, labels)
        fixed = {name for cross in schema.crosses for name in cross}
        if options.scale == "none" or ":" in fixed:
            fixed = set(schema.names)
        scaled, cut, columns = [], [], []
        for column in schema.columns:
            if column.is_feature and column.kind == "bucket":
                cut.append(column.name)
                column = Column(column.name, kind="number", centre=_between(0.0))
            elif column.is_feature and column.kind == "number" and column.name not in fixed:
                scaled.append(column.name)
                off = column.centre + _OFF * column.scale
                column = replace(column, centre=_between(off))
            columns.append(column)
        plain = replace(schema, columns=tuple(columns), crosses=())
        return cls(plain, labels, tuple(scaled), tuple(cut))

    @property
    def nothing(self) -> bool:
        return not (self.labels or self.scaled or self.cut or self.weighs)

    @property
    def weighs(self) -> bool:
        """Whether there are texts to be counted."""
        return self.schema is not None and self.schema.is_weighed


def _between(number: float) -> float:
    """A number near this one that no 32-bit float is."""
    near = float(np.float32(number))
    return near + (abs(near) or 1.0) * 2.0**-30


@dataclass
class Survey:
    """What is known of some shards."""

    labels: dict[Label, int] = field(default_factory=dict)
    numbers: dict[str, Floats] = field(default_factory=dict)
    """Of a column: how many, sum, sum of squares and largest absolute value, the middle two as they were read."""
    samples: dict[str, tuple[NDArray[np.uint64], Floats]] = field(default_factory=dict)
    """Of a column: hashes of places, and the numbers there, by ascending hash."""
    texts: dict[str, NDArray[Any]] = field(default_factory=dict)


def survey(sources: Iterable[Source], shard: Shard, wanted: Wanted) -> Survey:
    """What one shard adds; its sources read by the schema that is wanted."""
    found = Survey()
    weights = TextWeights.of(wanted.schema) if wanted.schema and wanted.weighs else None
    keys = _keys(wanted)
    row = 0

    def looked_at(blocks: Iterable[Block]) -> Iterator[Block]:
        nonlocal row
        for block in filter(len, blocks):
            for column in (*wanted.scaled, *wanted.cut):
                _add(found, wanted, column, keys[column], block, _hashes(shard.number, row, block))
            row += len(block)
            if weights is not None:
                weights.learn(block)
            yield block

    for source in map(unweighed, sources):
        with closing(iterate(source)) as blocks:
            try:
                if wanted.labels:
                    counts = count_labels(looked_at(blocks), words_of(source))
                    found.labels = merged_counts([found.labels, counts])
                else:
                    deque(looked_at(blocks), maxlen=0)
            except NoExamples:
                continue
    if weights is not None:
        found.texts = weights.arrays()
    return found


def _keys(wanted: Wanted) -> dict[str, int]:
    """The key of each column's feature."""
    secret = None if wanted.schema is None else wanted.schema.hash_key
    key = None if secret is None else bytes.fromhex(secret)
    out = {}
    for column in (*wanted.scaled, *wanted.cut):
        text = column.encode()
        name = np.frombuffer(text, dtype=np.uint8)
        out[column] = int(_core.keys_of_names(name, np.array([0, len(text)]), key)[0])
    return out


def _hashes(shard: int, row: int, block: Block) -> NDArray[np.uint64]:
    """Of the places of rows among all."""
    place = np.arange(row, row + len(block), dtype=np.uint64) + (np.uint64(shard) << np.uint64(40))
    for factor in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93):
        place = (place ^ (place >> np.uint64(31))) * np.uint64(factor)
    return place ^ (place >> np.uint64(29))


def _add(
    found: Survey, wanted: Wanted, column: str, key: int, block: Block, hashes: NDArray[np.uint64]
) -> None:
    first, last = int(block.indptr[0]), int(block.indptr[-1])
    at = np.flatnonzero(block.indices[first:last] == key) + first
    read = block.values[at].astype(np.float64)
    assert wanted.schema is not None
    how = wanted.schema.by_name[column]
    numbers = read * how.scale + how.centre
    if column in wanted.cut:
        rows = np.searchsorted(block.indptr, at, side="right") - 1
        more = hashes[rows], numbers.astype(np.float32).astype(np.float64)
        found.samples[column] = _smallest([found.samples.get(column, _NONE), more])
        return
    largest = float(np.abs(numbers).max(initial=0.0))
    now = np.array([len(read), read.sum(), (read * read).sum(), largest])
    found.numbers[column] = _joined(found.numbers.get(column, np.zeros(4)), now)


_NONE = np.zeros(0, dtype=np.uint64), np.zeros(0)


def _joined(one: Floats, other: Floats) -> Floats:
    return np.array([*(one[:3] + other[:3]), max(one[3], other[3])])


def _smallest(
    several: Sequence[tuple[NDArray[np.uint64], Floats]],
) -> tuple[NDArray[np.uint64], Floats]:
    hashes, numbers = (np.concatenate([pair[k] for pair in several]) for k in (0, 1))
    order = np.argsort(hashes, kind="stable")[:SAMPLE]
    return hashes[order], numbers[order]


def merged(surveys: Sequence[Survey]) -> Survey:
    """What is known of all shards, given in their order."""
    whole = Survey(labels=merged_counts([s.labels for s in surveys]))
    for name in {name: None for s in surveys for name in s.numbers}:
        for one in surveys:
            if name in one.numbers:
                known = whole.numbers.get(name, np.zeros(4))
                whole.numbers[name] = _joined(known, one.numbers[name])
    for name in {name: None for s in surveys for name in s.samples}:
        whole.samples[name] = _smallest([s.samples.get(name, _NONE) for s in surveys])
    texts = [s.texts for s in surveys if s.texts]
    if texts:
        keys, places = np.unique(np.concatenate([t[KEYS] for t in texts]), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([t[COUNTS] for t in texts]).astype(np.int64))
        whole.texts = {
            KEYS: keys,
            COUNTS: np.minimum(counts, 2**32 - 1).astype(np.uint32),
            DOCUMENTS: np.sum([t[DOCUMENTS] for t in texts], axis=0),
        }
    return whole


def learned(schema: Schema, found: Survey, wanted: Wanted, options: ReadOptions) -> Schema:
    """The schema with all that a survey of the whole found."""
    assert wanted.schema is not None
    by_name = wanted.schema.by_name

    def column(own: Column) -> Column:
        if own.name in found.samples:
            numbers = found.samples[own.name][1]
            count = options.transforms.buckets[own.name]
            edges = bucket_edges(numbers, count, own.name, "all shards")
            return replace(own, edges=tuple(edges))
        if own.name in found.numbers:
            count, total, squares, largest = found.numbers[own.name]
            read = by_name[own.name]
            mean = total / max(count, 1.0)
            spread = float(np.sqrt(max(squares / max(count, 1.0) - mean * mean, 0.0)))
            middle, deviation = mean * read.scale + read.centre, spread * read.scale
            centre, scale = scale_of(float(middle), deviation, float(largest), options.scale)
            return replace(own, centre=centre, scale=scale) if count else own
        return own

    made = replace(schema, columns=tuple(map(column, schema.columns)))
    if schema.is_weighed:
        made = replace(made, text_weights=TextWeights.of(made, found.texts or None))
    return made
