"""Text with named features as a source: what its formats share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.errors import DataError
from riata.sources.io.lines import PADDING, Chunk
from riata.sources.table.roles import Roles
from riata.sources.text.text import Parsed, TextSource, Trouble

Crosses: TypeAlias = Iterable[Sequence[str] | str]

Rows: TypeAlias = tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64] | None,
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float32],
    NDArray[np.uint8] | None,
    NDArray[np.int64] | None,
    NDArray[np.int64],
    int,
    tuple[str, int, bytes, int, bytes] | None,
]
"""What the native readers of named features return."""

VALUE_MESSAGES = {
    "value_not_finite": "the value is {text}; values must be finite: drop or replace it",
    "value_too_large": "the value {text} is beyond what a 32-bit float holds (3.4e38); rescale it",
    "sum_too_large": "the values of {text} add up, or multiply, to more than a 32-bit float holds "
    "(3.4e38); rescale them",
    "row_too_long": "the crosses make more than 67 million features of this line; "
    "cross smaller groups",
}


LABEL_MESSAGES = {
    "label_missing": "the label, column '{detail}', is missing",
    "label_syntax": "expected a number as the label, found {text}",
    "label_unknown": "the label {text} is none of those in the first rows: {labels}",
    "label_not_finite": "the label is {text}; labels must be finite numbers",
    "label_too_large": "the label {text} is beyond what a 64-bit float holds",
    "label_twice": "the label comes twice; this one is {text}",
    "weight_missing": "the weight, column '{detail}', is missing",
    "weight_syntax": "expected a number as the weight, found {text}",
    "weight_not_finite": "the weight is {text}; weights must be finite numbers",
    "weight_negative": "the weight is {text}; weights must not be negative",
    "weight_twice": "the weight comes twice; this one is {text}",
    "offset_missing": "the offset, column '{detail}', is missing",
    "offset_syntax": "expected a number as the offset, found {text}",
    "offset_not_finite": "the offset is {text}; offsets must be finite numbers",
    "offset_too_large": "the offset {text} is beyond what a 32-bit float holds (3.4e38)",
    "offset_twice": "the offset comes twice; this one is {text}",
}


@dataclass(slots=True)
class NamedTrouble(Trouble):
    """Trouble that knows the column's name."""

    detail: str = ""


def check_crosses(crosses: Crosses) -> list[list[str]]:
    """Pairs and triples of groups, given as tuples or as `a:b`.

    >>> check_crosses([("user", "ad"), "user:ad:hour"])
    [['user', 'ad'], ['user', 'ad', 'hour']]
    """
    checked = []
    for cross in crosses:
        groups = cross.split(":") if isinstance(cross, str) else [str(group) for group in cross]
        if len(groups) not in (2, 3):
            raise ValueError(
                f"a cross joins two or three groups of features, such as user:ad, not {cross!r}"
            )
        checked.append(groups)
    return checked


class NamedTextSource(TextSource):
    """Text whose features have names."""

    def __init__(
        self,
        paths: list[str],
        *,
        labelled: bool = True,
        names: bool = True,
        crosses: Crosses = (),
        schema: Mapping[str, Any] | None = None,
        **reading: Any,
    ) -> None:
        super().__init__(paths, **reading)
        self._labelled = labelled
        self._names = names
        self._given: Mapping[str, Any] = schema or {}
        self._crosses = check_crosses(crosses or self._given.get("crosses", ()))

    @property
    def schema(self) -> dict[str, Any] | None:
        """What must be the same for another source to make the same features; plain values.

        It holds what was found out from the first rows, so it is None before they were read.
        """
        return {"crosses": self._crosses} if self._crosses else None

    @property
    def label_names(self) -> list[str] | None:
        """Where labels are words: label i stands for the i-th."""
        return None


def as_before(roles: Roles, given: Mapping[str, Any]) -> Roles:
    """The roles; missing values and the offset are as in `given` unless they say otherwise."""
    if roles.missing == "drop" and "missing" in given:
        roles = replace(roles, missing=given["missing"])
    if roles.offset is None:
        kinds = zip(given.get("columns", ()), given.get("kinds", ()), strict=True)
        column = next((column for column, kind in kinds if kind == "offset"), None)
        roles = replace(roles, offset=given.get("offset", column))
    return roles


def like_columns(roles: Roles, given: Mapping[str, Any]) -> Roles:
    """The roles, columns that nobody mentions being what they were in a table.

    >>> like_columns(Roles(), {"columns": ["y", "hour"], "kinds": ["label", "category"]})
    ... # doctest: +NORMALIZE_WHITESPACE
    Roles(label='y', weight=None, offset=None, ignore=(), numeric=(), categorical=('hour',),
          missing='drop')
    """
    roles = as_before(roles, given)
    kinds = dict(zip(given.get("columns", ()), given.get("kinds", ()), strict=True))
    for column, kind in kinds.items():
        if kind in ("log1p", "bucket"):
            raise DataError(
                f"the model was trained on log1p or buckets of {column!r}, which only tables of "
                "columns (CSV, Parquet, Arrow) can make"
            )
    mentioned = {roles.label, roles.weight, roles.offset}
    mentioned |= {*roles.ignore, *roles.numeric, *roles.categorical}

    def of(*wanted: str) -> tuple[str, ...]:
        return tuple(c for c, kind in kinds.items() if kind in wanted and c not in mentioned)

    def one(role: str, named: str | None) -> str | None:
        return next(iter(of(role)), None) if named is None else named

    label, weight = one("label", roles.label), one("weight", roles.weight)
    replaced = set(of("label", "weight", "offset")) - {label, weight}
    return replace(
        roles,
        label=label,
        weight=weight,
        ignore=(*roles.ignore, *of("ignored"), *sorted(replaced)),
        numeric=(*roles.numeric, *of("number")),
        categorical=(*roles.categorical, *of("category")),
    )


def parsed(rows: Rows, path: str) -> Parsed:
    """The rows that a native reader made, as a Block."""
    labels, weights, offsets, indptr, keys, values, names, name_offsets, lines, n_lines, trouble = (
        rows
    )
    block = Block(
        indptr,
        keys,
        values,
        labels,
        weights,
        names=names,
        name_offsets=name_offsets,
        path=path,
        lines=lines,
        offsets=offsets,
    )
    if trouble is None:
        return Parsed(block, n_lines, None)
    kind, column, text, _, detail = trouble
    return Parsed(
        block, n_lines, NamedTrouble(kind, column, text, detail=detail.decode("utf-8", "replace"))
    )


def join_chunks(chunks: list[Chunk]) -> Chunk:
    """Chunks of one file, one behind another, as one."""
    if len(chunks) == 1:
        return chunks[0]
    text = b"".join(memoryview(chunk.buffer)[: chunk.size] for chunk in chunks)
    buffer = bytearray(len(text) + PADDING)
    buffer[: len(text)] = text
    return Chunk(buffer, len(text), chunks[0].path, chunks[0].first, chunks[-1].position)
