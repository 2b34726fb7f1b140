"""What the columns of a table are: of one in text found out from its first rows, then the same for all.

A column that nobody named numeric or categorical is numeric if the first rows hold nothing but
numbers in it, categorical otherwise. Edges of buckets are quantiles of the first rows. Labels that
are words are numbered, in the order of the alphabet.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.errors import DataError
from riata.sources.table.roles import Roles, Transforms, suggest

LOOK_AT = 1000
"""Rows that decide what columns are."""
LOOK_AT_BUCKETS = 10_000
"""Rows that decide where buckets begin and end."""
_MOST_LABELS = 1000
_FEW_OTHERS = 0.1
"""So few texts among numbers are a surprise."""

NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\r]*")

NO_FEATURES = ("ignored", "label", "weight", "offset")
"""Kinds of columns that make none."""

Cells = Sequence[Sequence[str]]


@dataclass
class Layout:
    """What each column is; plain values that JSON holds."""

    columns: list[str]
    kinds: list[str]
    """Of each column: ignored, label, weight, offset, number, log1p, bucket or category."""
    edges: dict[str, list[float]] = field(default_factory=dict)
    label_names: list[str] = field(default_factory=list)
    """Where labels are words: label i stands for the i-th."""
    omitted: dict[str, str] = field(default_factory=dict)
    """The values that a sparse row means by leaving an attribute out."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Layout | None:
        """The layout in there, if there is one."""
        known = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in values.items() if k in known}) if "kinds" in values else None

    def specs(self, missing: str) -> list[tuple[str, str, str, str, list[float], list[str]]]:
        """The columns as the core wants them."""
        specs = []
        for name, kind in zip(self.columns, self.kinds, strict=True):
            edges = self.edges.get(name, [])
            absent = f"{name}=?" if missing == "feature" else ""
            omitted = self.omitted.get(name, "")
            specs.append((kind, name, absent, omitted, edges, bucket_names(name, edges)))
        return specs

    def arranged(self, columns: list[str], labelled: bool, name: str, roles: Roles) -> Layout:
        """The same layout for a file that has these columns, in another order perhaps.

        Of the roles count the ignored columns that are no features, and the offset.
        """
        kind_of = dict(zip(self.columns, self.kinds, strict=True))
        if roles.offset is not None:
            _move_offset(kind_of, roles.offset, name)
        elif columns == self.columns:
            return self
        for column in columns:
            if column in roles.ignore and kind_of.get(column, "ignored") in (
                "ignored",
                "label",
                "weight",
            ):
                kind_of[column] = "ignored"
            if column not in kind_of:
                raise DataError(
                    f"{name}: column {column!r} was not there before; leave it out with --ignore"
                )
        for column, kind in kind_of.items():
            needed = kind != "ignored" and (labelled or kind not in ("label", "weight"))
            if needed and column not in columns:
                role = " of the offset" if kind == "offset" else ""
                raise DataError(f"{name}: column {column!r}{role} is missing")
        return replace(self, columns=columns, kinds=[kind_of[column] for column in columns])


def _move_offset(kind_of: dict[str, str], offset: str, name: str) -> None:
    """Make this column the offset: it may be new, but no column that has another role."""
    kind = kind_of.get(offset, "ignored")
    if kind not in ("ignored", "offset"):
        what = kind if kind in NO_FEATURES else "feature"
        raise DataError(f"{name}: column {offset!r} cannot be the offset; it was a {what} before")
    for column, kind in kind_of.items():
        if kind == "offset":
            kind_of[column] = "ignored"
    kind_of[offset] = "offset"


def find_layout(
    columns: list[str],
    rows: Cells,
    roles: Roles,
    transforms: Transforms,
    absent: Sequence[str],
    *,
    labelled: bool,
    name: str,
) -> Layout:
    """The layout of a table whose first rows are these.

    >>> rows = [["1", "3.5", "red"], ["0", "", "blue"]]
    >>> roles = Roles(label="y")
    >>> options = {"labelled": True, "name": "a.csv"}
    >>> find_layout(["y", "size", "colour"], rows, roles, Transforms(), (), **options).kinds
    ['label', 'number', 'category']
    """
    features = set(roles.features(columns, labelled, name))
    label = roles.label_in(columns, labelled, name)
    for column in transforms.columns:
        check_transformed(column, columns, features, roles, name)
    layout = Layout(columns, [])
    for place, column in enumerate(columns):
        cells = [row[place] for row in rows if place < len(row)]
        present = [cell for cell in cells if cell.strip() and cell.strip() not in absent]
        if column == label:
            layout.kinds.append("label")
            others = [cell.strip() for cell in present[:LOOK_AT] if not NUMBER.fullmatch(cell)]
            if others:
                layout.label_names = label_names_of(present, column, name)
                _warn_of_others(column, others, len(present[:LOOK_AT]), name)
        elif column == roles.weight:
            layout.kinds.append("weight")
        elif column == roles.offset:
            layout.kinds.append("offset")
        elif column not in features:
            layout.kinds.append("ignored")
        elif column in transforms.log1p:
            layout.kinds.append("log1p")
        elif column in transforms.buckets:
            layout.kinds.append("bucket")
            seen = np.array([float(cell) for cell in present if NUMBER.fullmatch(cell)])
            layout.edges[column] = bucket_edges(seen, transforms.buckets[column], column, name)
        elif column in roles.numeric:
            layout.kinds.append("number")
        elif column in roles.categorical:
            layout.kinds.append("category")
        else:
            present = present[:LOOK_AT]
            others = [cell.strip() for cell in present if not NUMBER.fullmatch(cell)]
            layout.kinds.append("category" if others or not present else "number")
            _warn_of_others(column, others, len(present), name)
    return layout


def _warn_of_others(column: str, others: list[str], count: int, name: str) -> None:
    """Numbers with a few texts among them may be numbers, and the texts mean that they are missing."""
    if not 0 < len(others) < _FEW_OTHERS * count:
        return
    shown = ",".join(list(dict.fromkeys(others))[:3])
    warnings.warn(
        f"{name}: column {column!r} is read as names, since {len(others)} of its first {count} values "
        f"are no numbers: {shown}; if those mean missing values, pass --absent {shown!r}",
        stacklevel=2,
    )


def check_transformed(
    column: str, columns: Sequence[str], features: Collection[str], roles: Roles, name: str
) -> None:
    """Refuse a transform of what is no feature, or no number."""
    if column not in columns:
        raise DataError(
            f"{name}: log1p or buckets names a column {column!r}, which is not there; "
            f"{suggest(column, columns)}"
        )
    if column not in features or column in roles.categorical:
        raise DataError(f"{name}: log1p and buckets are for features; {column!r} is none")


def check_crossed(layout: Layout, crosses: Sequence[Sequence[str]], name: str) -> None:
    """Refuse a cross of what is no column of features."""
    kinds = zip(layout.columns, layout.kinds, strict=True)
    features = [c for c, kind in kinds if kind not in NO_FEATURES]
    for group in (group for cross in crosses for group in cross):
        if group not in features:
            raise DataError(
                f"{name}: a cross names {group!r}, which is no column of features; "
                f"{suggest(group, features)}"
            )


def label_names_of(cells: list[str], column: str, name: str) -> list[str]:
    """The words that labels are, in the order of their numbers."""
    names = sorted({cell.strip() for cell in cells})
    if len(names) > _MOST_LABELS:
        raise DataError(
            f"{name}: the label column {column!r} holds {len(names)} different words in the first "
            f"{len(cells)} rows; is it the label?"
        )
    return names


def bucket_edges(numbers: NDArray[np.float64], count: int, column: str, name: str) -> list[float]:
    """Where buckets of about as many of these numbers each begin and end."""
    if not len(numbers):
        raise DataError(
            f"{name}: no numbers in the first rows of column {column!r} to make buckets from"
        )
    cuts = np.arange(1, count) / count
    edges = np.quantile(numbers, cuts, method="inverted_cdf")
    return [float(edge) for edge in np.unique(edges.astype(np.float32))]


def bucket_names(column: str, edges: Sequence[float]) -> list[str]:
    """What features of buckets are called.

    >>> bucket_names("age", [18, 65])
    ['age=[-inf,18)', 'age=[18,65)', 'age=[65,inf)']
    """
    shown = ["-inf", *(f"{edge:.7g}" for edge in edges), "inf"]
    return [f"{column}=[{a},{b})" for a, b in pairwise(shown)]
