"""Inverse document frequency: n-grams are weighed by how many of the texts before had them.

A source gives n-grams as they stand in the texts, in whatever threads. They are weighed where rows are learned or
scored, in the order in which that happens: an example by the texts that were learned before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.errors import DataError

if TYPE_CHECKING:
    from riata.block import Block
    from riata.schema import Schema

KEYS, COUNTS, DOCUMENTS = TENSORS = ("text_keys", "text_counts", "text_documents")
"""What a model file calls them."""


@dataclass(frozen=True)
class WeighedColumn:
    """A column of texts; `norm`: its weighed n-grams are divided by their length."""

    name: str
    norm: bool = False


class TextWeights:
    """In how many texts each n-gram was, so far.

    >>> from riata.sources import open_source
    >>> rows = [{"label": 1, "body": "free entry"}, {"label": 0, "body": "free lunch"}]
    >>> source = open_source(rows, text=["body"], ngrams="words:1", text_idf=True)
    >>> [block] = source
    >>> weights = TextWeights.of(source.schema)
    >>> [round(float(value), 3) for value in weights.learn(block).values]  # `free` was in the first text
    [1.0, 1.0, 1.0, 1.693]
    >>> [round(float(value), 3) for value in weights.weigh(block).values]
    [1.0, 1.405, 1.0, 1.405]
    """

    def __init__(
        self, columns: Sequence[WeighedColumn], arrays: Mapping[str, NDArray[Any]] | None = None
    ) -> None:
        self._columns = tuple(columns)
        self._core = self._made({} if arrays is None else arrays)

    @classmethod
    def of(cls, schema: Schema, arrays: Mapping[str, NDArray[Any]] | None = None) -> TextWeights:
        """For the columns of a schema, from the start or from what `arrays` gave."""
        columns = [WeighedColumn(c.name, c.text.norm) for c in schema.features if c.is_weighed]
        return cls(columns, arrays)

    def _made(self, arrays: Mapping[str, NDArray[Any]]) -> _core.TextWeights:
        documents = np.asarray(arrays.get(DOCUMENTS, np.zeros(len(self._columns))), dtype=np.int64)
        keys = np.ascontiguousarray(arrays.get(KEYS, ()), dtype=np.int64)
        counts = np.ascontiguousarray(arrays.get(COUNTS, ()), dtype=np.uint32)
        if documents.shape != (len(self._columns),) or keys.ndim != 1 or counts.ndim != 1:
            raise ValueError("the weights of texts are not those of the columns of the schema")
        if (documents < 0).any() or (keys < 0).any() or (np.diff(keys) <= 0).any():
            raise ValueError("the weights of texts are damaged")
        columns = [
            (f"{column.name}^", True, column.norm, int(n))
            for column, n in zip(self._columns, documents, strict=True)
        ]
        return _core.TextWeights(columns, keys, counts)

    def weigh(self, block: Block) -> Block:
        """The rows, weighed by all that was learned."""
        return self._weighed(block, count=False)

    def learn(self, block: Block) -> Block:
        """The rows, each weighed by what was learned before it."""
        return self._weighed(block, count=True)

    def _weighed(self, block: Block, count: bool) -> Block:
        if block.names is None or block.name_offsets is None:
            raise DataError(
                f"{block.where(0)}: texts are weighed by the names of their n-grams, and these rows have none: "
                "open their source with names=True"
            )
        first, last = int(block.indptr[0]), int(block.indptr[-1])
        values = block.values[first:last].copy()
        offsets = np.ascontiguousarray(block.name_offsets[first : last + 1])
        keys = np.ascontiguousarray(block.indices[first:last], dtype=np.int64)
        indptr = block.indptr - first
        self._core.weigh(indptr, keys, values, block.names, offsets, count)
        if first == 0 and last == len(block.values):
            return replace(block, values=values)
        return replace(block.with_indices(keys, block.names, offsets), values=values)

    def take_back(self, block: Block) -> None:
        """Forget rows that were to be learned last, and were not."""
        arrays = self.arrays()
        keys, counts = arrays[KEYS], arrays[COUNTS].astype(np.int64)
        prefixes = [f"{column.name}^" for column in self._columns]
        for i in range(len(block)):
            texts = set()
            for k in range(int(block.indptr[i]), int(block.indptr[i + 1])):
                name = block.name_of(k) or ""
                column = next((c for c, p in enumerate(prefixes) if name.startswith(p)), None)
                if column is None:
                    continue
                texts.add(column)
                place = int(np.searchsorted(keys, block.indices[k]))
                if place < len(keys) and keys[place] == block.indices[k]:
                    counts[place] -= 1
            arrays[DOCUMENTS][sorted(texts)] -= 1
        kept = counts > 0
        arrays |= {KEYS: keys[kept], COUNTS: counts[kept].astype(np.uint32)}
        self._core = self._made(arrays)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as a model file holds it."""
        keys, counts = self._core.arrays()
        documents = np.array(self._core.documents(), dtype=np.int64)
        return {KEYS: keys, COUNTS: counts, DOCUMENTS: documents}

    def copy(self) -> TextWeights:
        return TextWeights(self._columns, self.arrays())

    def __copy__(self) -> TextWeights:
        return self.copy()

    def __reduce__(self) -> Any:
        return TextWeights, (self._columns, self.arrays())

    @property
    def documents(self) -> dict[str, int]:
        """How many texts of each column were learned."""
        names = [column.name for column in self._columns]
        return dict(zip(names, map(int, self._core.documents()), strict=True))

    def __len__(self) -> int:
        return len(self._core)


def with_weights(schema: Schema, weights: TextWeights | None = None) -> Schema:
    """The schema, with these weights or, where its texts are to be weighed, its own or new ones."""
    if not schema.is_weighed:
        return schema
    if weights is None:
        weights = TextWeights.of(schema) if schema.text_weights is None else schema.text_weights
    return replace(schema, text_weights=weights)
