"""What the columns of a table are for, and what is done to their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from riata.errors import DataError

LABEL = "label"
"""The column that is taken for the label when none is named."""
MISSING = ("drop", "feature")


@dataclass(frozen=True)
class Roles:
    """Columns by name.

    label: the column with the labels; None is the one called `label`.
    weight: the column with the weights of the examples.
    offset: the column of numbers that are added to the scores of the examples and not learned, such as
        the score of another model. They are part of the prediction: it needs the column, too.
    ignore: columns to leave out.
    numeric: columns whose texts are read as numbers; numbers are without being named.
    categorical: columns whose numbers are names: `hour=17`, not 17 times the weight of `hour`.
    missing: `"drop"`: a missing value makes no feature; `"feature"`: it makes `column=?`.

    >>> roles = Roles(label="clicked", ignore=("id",))
    >>> roles.features(["id", "clicked", "age", "city"], labelled=True, name="log.parquet")
    ['age', 'city']
    """

    label: str | None = None
    weight: str | None = None
    offset: str | None = None
    ignore: Sequence[str] = ()
    numeric: Sequence[str] = ()
    categorical: Sequence[str] = ()
    missing: str = "drop"

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise ValueError(f"missing is 'drop' or 'feature', not {self.missing!r}")
        twice = set(self.numeric) & set(self.categorical)
        if twice:
            raise ValueError(f"column {min(twice)!r} cannot be both numeric and categorical")
        self._refuse_two_roles(self.label)

    def _refuse_two_roles(self, label: str | None) -> None:
        taken: dict[str, str] = {}
        named = [("label", label), ("weight", self.weight), ("offset", self.offset)]
        for role, column in [*named, *(("ignored", column) for column in self.ignore)]:
            if column is not None and taken.setdefault(column, role) != role:
                raise ValueError(f"column {column!r} cannot be both {taken[column]} and {role}")

    @property
    def given(self) -> bool:
        """Whether any column was named."""
        return self != Roles()

    def label_in(self, columns: Sequence[str], labelled: bool, name: str) -> str | None:
        """The label's column; a DataError where there should be one and is not."""
        label = LABEL if self.label is None else self.label
        if label in columns and label not in self.ignore:
            return label
        if not labelled:
            return None
        if self.label is None:
            raise DataError(
                f"{name}: which column is the label? Name it with --label (label=...); "
                f"{suggest(label, columns)}"
            )
        raise DataError(
            f"{name}: there is no column {label!r} for the label; {suggest(label, columns)}"
        )

    def features(self, columns: Sequence[str], labelled: bool, name: str) -> list[str]:
        """The columns that become features, in their order; DataError for a name that is not there."""
        if len(set(columns)) < len(columns):
            twice = min(column for column, count in Counter(columns).items() if count > 1)
            raise DataError(f"{name}: several columns are called {twice!r}; rename them")
        named = {
            "weight": [] if self.weight is None else [self.weight],
            "offset": [] if self.offset is None else [self.offset],
            "ignore": self.ignore,
            "numeric": self.numeric,
            "categorical": self.categorical,
        }
        for option, names in named.items():
            for column in names:
                if column not in columns:
                    raise DataError(
                        f"{name}: {option} names a column {column!r}, which is not there; "
                        f"{suggest(column, columns)}"
                    )
        label = self.label_in(columns, labelled, name)
        try:
            self._refuse_two_roles(label)
        except ValueError as error:  # of a label that nobody named
            raise DataError(f"{name}: {error}") from None
        out = {label, self.weight, self.offset, *self.ignore}
        features = [column for column in columns if column not in out]
        if not features:
            raise DataError(f"{name}: no column is left for the features")
        return features


@dataclass(frozen=True)
class Transforms:
    """What is done to numbers before they are features.

    log1p: columns whose value x becomes log(1 + x); below zero -log(1 - x).
    buckets: columns that are cut into so many buckets of about as many rows each.
    """

    log1p: Sequence[str] = ()
    buckets: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column, count in self.buckets.items():
            if count < 2:
                raise ValueError(f"column {column!r} needs at least 2 buckets, not {count}")
        twice = set(self.log1p) & set(self.buckets)
        if twice:
            raise ValueError(f"column {min(twice)!r}: log1p and buckets exclude each other")

    @property
    def columns(self) -> list[str]:
        return [*self.log1p, *self.buckets]


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


def suggest(column: str, columns: Sequence[str]) -> str:
    """What somebody who named a column that is not there may have meant.

    >>> suggest("Citty", ["city", "age"])
    "did you mean 'city'? There are 'city', 'age'"
    """
    by_lower = {name.lower(): name for name in reversed(columns)}
    near = get_close_matches(column.lower(), list(by_lower), n=1)
    shown = ", ".join(map(repr, columns[:12])) if columns else "none"
    if len(columns) > 12:
        shown += f" and {len(columns) - 12} more"
    if columns and all(map(str.isdigit, columns)):
        shown = f"{len(columns)} columns without names, numbered from 1"
        shown += "; if the first line is a header, say so with --header-line (header=True)"
    if not near or column.isdigit():
        return f"there are {shown}"
    return f"did you mean {by_lower[near[0]]!r}? There are {shown}"
