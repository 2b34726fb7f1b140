"""Sources whose texts are weighed by what a model has learned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from riata.block import Block
from riata.schema import Schema
from riata.sources.source import Source, iterate, unweighed
from riata.text_weights import TextWeights


class WeighedSource:
    """Another source with its n-grams times their inverse document frequency, as a model knows it now."""

    # All of these are the other source's, by __getattr__.
    name: str
    repeatable: bool
    n_bytes: int | None
    bytes_read: int
    n_rows: int | None

    def __init__(self, source: Source, weights: TextWeights) -> None:
        self.unweighed, self.text_weights = source, weights

    @property
    def schema(self) -> Schema | None:
        found: Schema | None = getattr(self.unweighed, "schema", None)
        return None if found is None else replace(found, text_weights=self.text_weights)

    def __getattr__(self, name: str) -> Any:
        """What all sources have, and what some have, such as `skipped` and `check`."""
        if name in ("unweighed", "text_weights"):  # not there yet
            raise AttributeError(name)
        return getattr(self.unweighed, name)

    def __iter__(self) -> Iterator[Block]:
        with closing(iterate(self.unweighed)) as blocks:
            for block in blocks:
                yield self.text_weights.weigh(block)


def checked_and_weighed(source: Source, schema: Schema | None) -> Iterator[Block]:
    """The Blocks of a source that somebody else opened, for a model of this schema.

    A DataError where it makes other features of a column than the model was trained on.
    """
    checked = schema is None
    with closing(iterate(weighed(source, schema))) as blocks:
        for block in blocks:
            own = None if checked else getattr(source, "schema", None)
            if schema is not None and isinstance(own, Schema):
                schema.check_changed(own, source.name)
            checked = True
            yield block


def weighed(source: Source, schema: Schema | None) -> Source:
    """The source as a model of this schema reads it."""
    weights = None if schema is None else schema.text_weights
    if weights is None:
        return source
    return WeighedSource(unweighed(source), weights)
