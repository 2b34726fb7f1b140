"""What the columns of a table are for, and what is done to their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from riata.errors import DataError
from riata.schema import refuse_twice, suggest

LABEL = "label"
"""The column that is taken for the label when none is named."""
LOOK_AT = 1000
"""Rows that decide what columns are."""
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
        refuse_twice(columns, name)
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
