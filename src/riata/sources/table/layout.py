"""What the columns of a table are: of one in text found out from its first rows, then the same for all.

A column that nobody named numeric, categorical or text is numeric if the first rows hold nothing but numbers in it,
text if they hold mostly different texts of several words, else categorical. Edges of buckets are quantiles. Labels
that are words are numbered, in the order of the alphabet.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riata.errors import DataError, suggest
from riata.schema import Column, Schema, expand_crosses
from riata.sources.advice import FEW_OTHERS, advice_on
from riata.sources.cells import MISSING_NUMBERS, NUMBER, TRUTHS, are_dates
from riata.sources.numbers import bucket_edges, centre_and_scale, compare_units
from riata.sources.options import LOOK_AT, Roles, Transforms
from riata.words import TextOptions, looks_like_text

if TYPE_CHECKING:
    from riata.sources.options import ReadOptions

LOOK_AT_BUCKETS = 10_000
"""Rows that decide where buckets begin and end."""
_MOST_LABELS = 1000

Cells = Sequence[Sequence[str]]


@dataclass(frozen=True)
class TableOptions:
    """What a caller wants of a table."""

    roles: Roles
    transforms: Transforms = field(default_factory=Transforms)
    absent: Sequence[str] = ()
    labelled: bool = True
    names: bool = True
    crosses: Sequence[Sequence[str]] = ()
    text: TextOptions = field(default_factory=TextOptions)
    """How texts become features."""
    given: Schema | None = None
    """What another source found out."""
    skip: bool = False
    """Leave out rows that cannot be read."""
    dropped: Sequence[str] = ()
    """Columns that are ignored, and not there any more."""
    scale: str = "none"

    @classmethod
    def of(cls, options: ReadOptions, skip: bool = False) -> TableOptions:
        if options.schema is not None and options.schema.ngram:
            raise DataError(
                "the model was trained on n-grams of the features of Vowpal Wabbit text (--ngram), which other data "
                "has not: give it such text"
            )
        return cls(
            options.roles,
            options.transforms,
            tuple(options.absent),
            options.labelled,
            options.names,
            options.crosses,  # type: ignore[arg-type]
            options.text_options,
            options.schema,
            skip,
            scale=options.scale,
        )

    def number(self, column: str, numbers: Callable[[], NDArray[np.float64]]) -> Column:
        """A column of numbers, scaled by those in its first rows unless it is crossed with another."""
        crossed = any(column in cross or ":" in cross for cross in self.kept.crosses)
        if self.scale == "none" or crossed:
            return Column(column, kind="number")
        centre, scale = centre_and_scale(numbers(), self.scale)
        return Column(column, kind="number", centre=centre, scale=scale)

    @property
    def unread(self) -> list[str]:
        """Columns that nobody needs to look at."""
        known = () if self.given is None else self.given.columns
        wanted = (self.roles.label, self.roles.weight, self.roles.offset)
        ignored = [c.name for c in known if c.role == "ignored" and c.name not in wanted]
        return [*self.roles.ignore, *ignored]

    def without(self, dropped: Sequence[str]) -> TableOptions:
        """The same for a table without those of its columns that are ignored."""
        left = tuple(column for column in self.roles.ignore if column not in dropped)
        return replace(self, roles=replace(self.roles, ignore=left), dropped=tuple(dropped))

    @property
    def kept(self) -> Schema:
        """A schema without columns: what holds for all of them, as it was before where there was one."""
        if self.given is not None:
            return replace(self.given, columns=())
        crosses = tuple(map(tuple, self.crosses))
        return Schema(crosses=crosses, missing=self.roles.missing, absent=tuple(self.absent))

    def text_column(self, column: str, found: str | None = None) -> Column:
        """A column of texts; `found`: nobody said so, but the first rows of the data of this name look so."""
        if found is not None:
            _say_found(found, column, "texts, whose words and n-grams")
        return Column(column, kind="text", tokeniser=self.text.to_json())

    def date_column(self, column: str, name: str) -> Column:
        """A column of dates that nobody spoke of, which the first rows of the data of this name, or its type, show."""
        _say_found(name, column, "dates, whose year, month, weekday and hour")
        return Column(column, kind="date")

    def notice(self, column: Column, values: Callable[[], Sequence[Any]], name: str) -> Column:
        """The column; says where nobody spoke of it and it seems to be worth little as it is."""
        spoken_of = (*self.roles.numeric, *self.roles.categorical)
        if self.given is None and column.name not in spoken_of and column.kind != "text":
            advice = advice_on(column.name, column.kind, values())
            if advice is not None:
                warnings.warn(f"{name}: column {column.name!r} {advice}", stacklevel=2)
        return column

    def refuse_others(self, name: str) -> None:
        """A DataError where something is asked for that the schema has otherwise."""
        if self.given is None:
            return
        self.given.check_options(name, self.roles.missing, self.absent, self.crosses)
        kinds = dict.fromkeys(self.roles.numeric, "number")
        kinds |= dict.fromkeys(self.roles.categorical, "category")
        kinds |= dict.fromkeys(self.roles.text, "text")
        kinds |= dict.fromkeys(self.roles.date, "date")
        kinds |= dict.fromkeys(self.transforms.log1p, "log1p")
        kinds |= dict.fromkeys(self.transforms.buckets, "bucket")
        for column, kind in kinds.items():
            known = self.given.by_name.get(column)
            if known is None and not self.given.open:
                raise DataError(
                    f"{name}: there is no column {column!r} in the model; "
                    f"{suggest(column, self.given.names)}"
                )
            if known is not None and known.what not in (kind, "list", "feature"):
                raise DataError(
                    f"{name}: column {column!r} cannot be a {kind}; the model was trained with it as "
                    f"{known.what}"
                )


def _say_found(name: str, column: str, what: str) -> None:
    warnings.warn(
        f"{name}: column {column!r} holds {what} are the features; if each is one name, pass --categorical {column}",
        stacklevel=3,
    )


def make_schema(
    columns: Sequence[str],
    wanted: TableOptions,
    name: str,
    find: Callable[[str], Column],
    find_words: Callable[[str], Sequence[str]],
    numbers: Callable[[str], NDArray[np.float64]],
) -> Schema:
    """The schema of data with these columns: as given, and for columns that are new there as found.

    find: what the first rows say of a column of features; find_words: the words that its labels are; numbers:
    those that the first rows have in a column.
    """
    wanted.refuse_others(name)
    compare_units(wanted.given, columns, numbers, name)
    given, roles = wanted.given, wanted.roles
    known = (given or Schema(open=True)).with_roles(
        name, roles.label, roles.weight, roles.offset, roles.ignore
    )
    if given is not None and not given.open:
        label = known.of_role("label")
        if known.label_names is not None or label is None or label not in columns:
            return known
        return replace(known, label_names=tuple(find_words(label)))
    ignored = [c.name for c in known.columns if not c.is_feature and c.name in columns]
    targets = {role: known.of_role(role) for role in ("label", "weight", "offset")}
    if not wanted.labelled:
        targets |= {r: None for r in ("label", "weight") if targets[r] not in columns}
    free = replace(
        roles,
        ignore=(*roles.ignore, *(c for c in ignored if c not in targets.values())),
        **targets,  # type: ignore[arg-type]
    )
    features = set(free.features(columns, wanted.labelled, name))
    for column in wanted.transforms.columns:
        check_transformed(column, columns, features, roles, name)
    label = free.label_in(columns, wanted.labelled, name)
    words = known.label_names
    made = dict(known.by_name)
    made |= {column: Column(column, "ignored") for column in wanted.dropped}
    for column in columns:
        if column == label:
            made[column] = Column(column, "label")
            words = tuple(find_words(column)) if words is None else words
        elif column in (free.weight, free.offset):
            made[column] = Column(column, "weight" if column == free.weight else "offset")
        elif column not in features:
            made.setdefault(column, Column(column, "ignored"))
        elif column not in made or not made[column].kind:
            made[column] = find(column)
    if given is None:  # as they stand in the data
        there = {column: made[column] for column in columns}
        made = there | {name: column for name, column in made.items() if name not in there}
    kept = replace(wanted.kept, columns=tuple(made.values()), label_names=words)
    kept = with_all_crosses(kept)
    check_crossed(kept, name)
    check_texts(kept, name)
    return kept


def find_schema(columns: list[str], rows: Cells, wanted: TableOptions, name: str) -> Schema:
    """The schema of a table in text whose first rows are these: buckets from all of them, the rest from the first 1000.

    >>> rows = [["1", "3.5", "red"], ["0", "", "blue"]]
    >>> schema = find_schema(["y", "size", "colour"], rows, TableOptions(Roles(label="y")), "a.csv")
    >>> [column.what for column in schema.columns]
    ['label', 'number', 'category']
    """
    absent = wanted.kept.absent
    roles, transforms = wanted.roles, wanted.transforms

    def present_in(column: str, most: int = LOOK_AT) -> list[str]:
        place = columns.index(column)
        cells = [row[place].strip() for row in rows[:most] if place < len(row)]
        return [cell for cell in cells if cell and cell not in absent]

    def find(column: str) -> Column:
        if column in transforms.log1p:
            return Column(column, kind="log1p")
        if column in roles.categorical:
            return Column(column, kind="category")
        if column in roles.text:
            return wanted.text_column(column)
        if column in roles.date:
            return Column(column, kind="date")
        if column in transforms.buckets:
            numbers = _numbers_in(present_in(column, LOOK_AT_BUCKETS))
            edges = bucket_edges(numbers, transforms.buckets[column], column, name)
            return Column(column, kind="bucket", edges=tuple(edges))
        present = present_in(column)
        there = [cell for cell in present if cell not in MISSING_NUMBERS]
        others = [cell for cell in there if not NUMBER.fullmatch(cell) and cell not in TRUTHS]
        if column in roles.numeric or (there and not others):
            made = wanted.number(column, lambda: _numbers_in(there, {*others}))
        elif are_dates(there):
            return wanted.date_column(column, name)
        elif looks_like_text(present):
            return wanted.text_column(column, found=name)
        elif _warn_of_others(column, others, len(there), name, first_row(column, others)):
            return Column(column, kind="category")
        else:
            made = Column(column, kind="category")
        return wanted.notice(made, lambda: there or [""] * len(rows[:LOOK_AT]), name)

    def first_row(column: str, others: list[str]) -> int | None:
        place = columns.index(column)
        cells = (row[place].strip() if place < len(row) else "" for row in rows)
        return next((n for n, cell in enumerate(cells, 1) if others and cell == others[0]), None)

    def find_words(column: str) -> list[str]:
        return label_words(present_in(column), column, name)

    def numbers(column: str) -> NDArray[np.float64]:
        return _numbers_in(present_in(column))

    return make_schema(columns, wanted, name, find, find_words, numbers)


def _numbers_in(cells: Sequence[str], others: Collection[str] | None = None) -> NDArray[np.float64]:
    """The numbers among these cells; `others`: those that are none, if they are known."""
    if others is None:
        others = {cell for cell in cells if not NUMBER.fullmatch(cell) and cell not in TRUTHS}
    kept = [cell for cell in cells if cell not in others] if others else cells
    if TRUTHS.keys().isdisjoint(kept):
        return np.array([*map(float, kept)])
    return np.array([float(TRUTHS.get(cell, cell)) for cell in kept])


def label_words(present: list[str], column: str, name: str) -> list[str]:
    """The words that these labels are, in the order of their numbers; none where they are numbers."""
    others = [cell.strip() for cell in present[:LOOK_AT] if not NUMBER.fullmatch(cell)]
    _warn_of_others(column, others, len(present[:LOOK_AT]), name)
    return label_names_of(present, column, name) if others else []


def _warn_of_others(
    column: str, others: list[str], count: int, name: str, row: int | None = None
) -> bool:
    """Numbers with a few texts among them may be numbers, and the texts mean that they are missing: say so."""
    if not 0 < len(others) < FEW_OTHERS * count:
        return False
    shown = ",".join(list(dict.fromkeys(others))[:3])
    where = "" if row is None else f" ({others[0]!r} in row {row:,})"
    names = "" if row is None else f"; if they are names, --categorical {column}"
    warnings.warn(
        f"{name}: column {column!r} is read as names, since {len(others)} of its first {count} values "
        f"are no numbers: {shown}{where}; if those mean missing values, pass --absent {shown!r}{names}",
        stacklevel=2,
    )
    return True


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


def with_all_crosses(schema: Schema) -> Schema:
    """The schema with `:` in its crosses replaced by all columns of features, but for texts."""
    groups = [column.name for column in schema.features if column.kind != "text"]
    return replace(schema, crosses=expand_crosses(schema.crosses, groups, own=False))


def check_crossed(schema: Schema, name: str) -> None:
    """Refuse a cross of what is no column of features."""
    features = [column.name for column in schema.features]
    for group in (group for cross in schema.crosses for group in cross):
        if group not in features:
            raise DataError(
                f"{name}: a cross names {group!r}, which is no column of features; "
                f"{suggest(group, features)}"
            )


def check_texts(schema: Schema, name: str) -> None:
    """Refuse what a text cannot be: crossed, or with features that another column may have, too."""
    for column in schema.features:
        if column.kind not in ("text", "date"):
            continue
        if column.kind == "text" and any(column.name in cross for cross in schema.crosses):
            raise DataError(
                f"{name}: column {column.name!r} holds texts, which cannot be crossed; if each text is "
                f"one name, pass --categorical {column.name}"
            )
        like = [c.name for c in schema.features if c.name.startswith(f"{column.name}^")]
        if like:
            raise DataError(
                f"{name}: column {like[0]!r} has a name like those that the words of {column.name!r} "
                "get: rename it"
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
