"""Names hashed by a key of one's own: nobody who does not know it can choose names that share a key."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.source import Source, iterate

DIGITS = 32


def parse_hash_key(text: str) -> str:
    """32 hexadecimal digits; `random` makes new ones.

    >>> parse_hash_key("00FF" * 8)
    '00ff00ff00ff00ff00ff00ff00ff00ff'
    >>> len(parse_hash_key("random"))
    32
    """
    if text == "random":
        return secrets.token_hex(DIGITS // 2)
    if not isinstance(text, str) or not re.fullmatch(f"[0-9a-fA-F]{{{DIGITS}}}", text):
        raise ValueError(f"a hash key is {DIGITS} hexadecimal digits, or random, not {text!r}")
    return text.lower()


class KeyedSource:
    """Another source whose named features get their keys by this hash key; None: by the default hash.

    The key is in the schema: what is read with that is read in the same way.
    """

    # All of these are the other source's, by __getattr__.
    name: str
    repeatable: bool
    n_bytes: int | None
    bytes_read: int
    n_rows: int | None

    def __init__(
        self, source: Source, hash_key: str | None, names: bool = True, only_names: bool = False
    ) -> None:
        """`names`: whether its Blocks hold the names of features; the other source's must.
        `only_names`: 64-bit numbers of features are keys of names.
        """
        self.unkeyed = source
        self._hex = hash_key
        self._hash_key = None if hash_key is None else bytes.fromhex(hash_key)
        self._names = names
        self._only_names = only_names

    @property
    def schema(self) -> Schema | None:
        found = getattr(self.unkeyed, "schema", None)
        if found is None:  # it is yet to look at its first rows
            named = getattr(self.unkeyed, "named", True) is not False
            found = None if self._hex is None else Schema(open=named, named=named)
        return None if found is None else replace(found, hash_key=self._hex)

    def __getattr__(self, name: str) -> Any:
        """What all sources have, and what some have, such as `skipped` and `check`."""
        if name == "unkeyed":  # not there yet
            raise AttributeError(name)
        return getattr(self.unkeyed, name)

    def __iter__(self) -> Iterator[Block]:
        with closing(iterate(self.unkeyed)) as blocks:
            for block in blocks:
                yield self._keyed(block)

    def _keyed(self, block: Block) -> Block:
        if not block.named:
            if self._only_names and block.indices.dtype == np.int64 and block.nnz:
                raise DataError(
                    f"{block.where(0)}: keys of names without the names cannot be hashed by another key"
                )
            return block
        assert block.names is not None
        assert block.name_offsets is not None
        first, last = int(block.indptr[0]), int(block.indptr[-1])
        offsets = np.ascontiguousarray(block.name_offsets[first : last + 1])
        keys = _core.keys_of_names(block.names, offsets, self._hash_key)
        if not self._names:
            return block.with_indices(keys)
        return block.with_indices(keys, block.names, offsets)


def keyed_cache(source: Source, hash_key: str | None, names: bool) -> Source:
    """A cache, whose names may have been hashed by this key when it was made, or by another one."""
    schema: Schema | None = getattr(source, "schema", None)
    own = None if schema is None else schema.hash_key
    return source if own == hash_key else KeyedSource(source, hash_key, names, only_names=True)
