"""Dask collections as shards: a partition is one."""

from __future__ import annotations

from typing import Any

from riata.errors import DataError


def is_collection(source: Any) -> bool:
    """A Dask DataFrame or array."""
    return hasattr(source, "__dask_graph__")


class Partitions:
    """The partitions of a DataFrame, or the blocks of rows of an array with their labels.

    They are computed where they are needed, and again where a worker that had them is lost. To keep them in
    memory, call `persist()` before.
    """

    def __init__(self, source: Any, y: Any = None, sample_weight: Any = None) -> None:
        from dask.delayed import delayed

        self.name = f"dask {type(source).__name__}"
        if (
            hasattr(source, "to_delayed")
            and hasattr(source, "partitions")
            and hasattr(source, "columns")
        ):
            if y is not None or sample_weight is not None:
                raise DataError(
                    "a DataFrame brings its labels along: name their column with label=..."
                )
            self._parts = list(source.to_delayed())
            return
        if len(getattr(source, "shape", ())) != 2:
            raise DataError(f"{self.name}: a matrix of examples needs 2 dimensions")
        blocks = source.to_delayed()
        if blocks.shape[1] != 1:
            raise DataError(
                f"{self.name}: its columns are cut into {blocks.shape[1]} chunks: rechunk it, so that each chunk "
                "has whole rows (x.rechunk({1: -1}))"
            )
        rows = list(blocks.ravel())
        labels, weights = (
            _column(self.name, what, v, source)
            for what, v in (("y", y), ("sample_weight", sample_weight))
        )
        self._parts = [
            delayed(_row_block, pure=False)(x, a, b)
            for x, a, b in zip(
                rows, labels or [None] * len(rows), weights or [None] * len(rows), strict=True
            )
        ]

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, place: int) -> Any:
        """The partition, to be computed by a worker that needs it."""
        return self._parts[place]


def _row_block(x: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    return x, y, weights


def _column(name: str, what: str, values: Any, like: Any) -> list[Any] | None:
    if values is None:
        return None
    if not is_collection(values):
        raise DataError(f"{what} must be a Dask array or Series, cut as the rows of X are")
    parts = values.to_delayed()
    parts = list(parts.ravel()) if hasattr(parts, "ravel") else list(parts)
    if len(parts) != like.numblocks[0]:
        raise DataError(
            f"{name}: {what} has {len(parts)} chunks, and X has {like.numblocks[0]}: cut them alike"
        )
    return parts
