"""Data beside that of a training, such as a holdout, which is read in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from riata.block import Block
from riata.schema import Schema
from riata.sources.source import Source, unweighed


def _as_opened(name: str) -> Any:
    """A property that is the one of the source, which need not be known by its schema yet."""
    return property(lambda self: getattr(self._source, name))


class ReadAlike:
    """What `open_it` opens, by the schema of another source: that is known once the other has been begun.

    >>> from riata.sources import open_source
    >>> train = open_source([{"label": 1, "a": 3.0}, {"label": 0, "a": 5.0}], scale="standard")
    >>> rows = [{"label": 1, "a": 7.0}]
    >>> beside = ReadAlike(lambda schema: open_source(rows, schema=schema), train)
    >>> _ = list(train)
    >>> [block] = beside
    >>> block.values
    array([3.], dtype=float32)
    """

    def __init__(self, open_it: Callable[[Schema | None], Source], like: Source) -> None:
        self._open, self._like = open_it, like
        self._source, self._by_schema = open_it(None), False

    def _current(self) -> Source:
        schema = getattr(self._like, "schema", None)
        if not self._by_schema and schema is not None:
            # Weighed as the model stands when it is scored, by who scores it.
            self._source, self._by_schema = unweighed(self._open(schema)), True
        return self._source

    name = _as_opened("name")
    repeatable = _as_opened("repeatable")
    n_bytes = _as_opened("n_bytes")
    bytes_read = _as_opened("bytes_read")
    n_rows = _as_opened("n_rows")

    def __getattr__(self, name: str) -> Any:
        """What some sources have, such as `schema` and `label_names`."""
        if name in ("_source", "_like", "_open", "_by_schema"):  # not there yet
            raise AttributeError(name)
        return getattr(self._current(), name)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._current())
