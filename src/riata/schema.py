"""What the features of a model are: one value for every format that they come in.

A schema is made once, from options and the first rows, saved with the model, and applied to whatever is
read with that model later: text, tables, frames, dicts. What does not fit is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from riata.errors import DataError, ModelError, in_words, refuse_twice

if TYPE_CHECKING:
    from riata.text_weights import TextWeights
    from riata.words import TextOptions

VERSION = 1
"""Raised when an older Riata could no longer make sense of a schema."""

ROLES = ("feature", "label", "weight", "offset", "id", "group", "ignored")
KINDS = ("number", "log1p", "bucket", "category", "list", "text", "date", "dict")
NUMBERS = ("number", "log1p", "bucket")
"""Kinds whose values are numbers."""

Crosses = tuple[tuple[str, ...], ...]
CoreText = tuple[tuple[int, int, int, int], str, bool]
CoreColumn = tuple[str, str, str, str, list[float], list[str], float, float, CoreText]


@dataclass(frozen=True)
class Column:
    """A column of a table, or a key of objects, and what becomes of its values.

    role: feature, label, weight, offset, id, group or ignored.
    kind: of a feature: number, log1p, bucket, category, list (of categories), text, date or dict. Of a column
        without a kind the values say what they are, each for itself.
    edges: where buckets begin and end.
    centre, scale: a number x becomes (x - centre) / scale.
    omitted: the value that a sparse row means by leaving the column out.
    guessed: the first objects had nothing else under the key, but objects may: there a value says what it is.
    tokeniser: how a text becomes words.
    """

    name: str
    role: str = "feature"
    kind: str = ""
    edges: tuple[float, ...] = ()
    centre: float = 0.0
    scale: float = 1.0
    omitted: str = ""
    guessed: bool = False
    tokeniser: Mapping[str, Any] | None = None

    @property
    def is_feature(self) -> bool:
        return self.role == "feature"

    @property
    def is_changed(self) -> bool:
        """Whether what it holds becomes something else."""
        scaled = (self.centre, self.scale) != (0, 1)
        return self.is_feature and (scaled or self.kind in ("log1p", "bucket", "text", "date"))

    @property
    def is_weighed(self) -> bool:
        return self.is_feature and self.kind == "text" and self.text.idf

    @property
    def text(self) -> TextOptions:
        """How its texts become features, where they do."""
        from riata.words import TextOptions  # most data has none

        return TextOptions.from_json(self.tokeniser or {})

    @property
    def core_text(self) -> CoreText:
        return ((0, 0, 0, 0), "date", False) if self.kind == "date" else self.text.core

    @property
    def what(self) -> str:
        """Its role, or what kind of feature it is."""
        return (self.kind or "feature") if self.is_feature else self.role

    def to_json(self) -> dict[str, Any]:
        blank = Column(self.name)
        values = {k: v for k, v in asdict(self).items() if v != getattr(blank, k)}
        return {"name": self.name, **values}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Column:
        kept = {k: v for k, v in values.items() if k in {f.name for f in fields(cls)}}
        kept["edges"] = tuple(map(float, kept.get("edges", ())))
        try:
            column = cls(**kept)
            _ = column.tokeniser and column.text
        except (TypeError, ValueError) as error:
            raise ModelError(f"a column of the schema cannot be read: {error}") from None
        if column.role not in ROLES or column.kind not in ("", *KINDS):
            raise ModelError(f"column {column.name!r} of the schema is {column.what!r}")
        return column


@dataclass(frozen=True)
class Schema:
    """Columns, and what else decides which features a row has; values that JSON holds.

    named: whether features are known by name, or by number.
    base: the number that text has for the first feature; None where there was no text.
    open: rows may have other columns than these, as JSON objects may; they just join.
    label_names: where labels are words or bools, label i stands for the i-th; () where they are numbers, None where
        nobody has looked.
    crosses: groups of columns whose features are multiplied.
    missing: "drop": a missing value makes no feature; "feature": it makes `column=?`.
    absent: texts that mean a missing value, beside the empty one.
    hash_key: by which names are hashed; None is the default one.
    truths: True, TRUE and true are one text, and numbers in a column of bools alone; before, in CSV and ARFF only.
    ngram: of Vowpal Wabbit text: up to how many features in a row are n-grams, by namespace; `""` is all others.
    text_weights: in how many texts n-grams were, where they are weighed by that: it grows as the model learns,
        and lies beside the JSON in a model file.

    >>> schema = Schema((Column("y", "label"), Column("hour", kind="category")), missing="feature")
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...] = ()
    named: bool = True
    base: int | None = None
    open: bool = False
    label_names: tuple[Any, ...] | None = None
    crosses: tuple[tuple[str, ...], ...] = ()
    missing: str = "drop"
    absent: tuple[str, ...] = ()
    hash_key: str | None = None
    ngram: tuple[tuple[str, int], ...] = ()
    truths: bool = True
    text_weights: TextWeights | None = field(default=None, compare=False, repr=False)

    @cached_property
    def by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def features(self) -> list[Column]:
        """The columns that features are made of."""
        return [column for column in self.columns if column.is_feature]

    @property
    def is_weighed(self) -> bool:
        """Whether n-grams of some column are worth what the texts before say."""
        return any(column.is_weighed for column in self.columns if column.kind == "text")

    def with_words(self, names: Sequence[Any] | None) -> Schema:
        """The schema, with words that came later among those that labels are."""
        if len(names or ()) <= len(self.label_names or ()):
            return self
        return replace(self, label_names=tuple(names or ()))

    def of_role(self, role: str) -> str | None:
        """The first column with this role."""
        return next((column.name for column in self.columns if column.role == role), None)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "named": self.named,
            "base": self.base,
            "open": self.open,
            "columns": [column.to_json() for column in self.columns],
            "label_names": None if self.label_names is None else list(self.label_names),
            "crosses": [list(cross) for cross in self.crosses],
            "missing": self.missing,
            "absent": list(self.absent),
            "hash_key": self.hash_key,
            "truths": self.truths,
        } | ({"ngram": [list(pair) for pair in self.ngram]} if self.ngram else {})

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Schema:
        """A schema, or what models of 0.1 have in its place."""
        version = values.get("version")
        if version is None:
            from riata.schema_0_1 import schema_of_0_1

            return schema_of_0_1(values)
        if not isinstance(version, int) or version > VERSION:
            raise ModelError(
                f"a schema of version {str(version)[:20]}, written by a newer Riata; this one reads "
                f"up to version {VERSION}: upgrade Riata"
            )
        known = {f.name for f in fields(cls)} - {"text_weights"}
        kept = {k: v for k, v in values.items() if k in known}
        kept["columns"] = tuple(Column.from_json(column) for column in kept.get("columns", ()))
        kept["crosses"] = tuple(tuple(cross) for cross in kept.get("crosses", ()))
        kept["absent"] = tuple(kept.get("absent", ()))
        kept["truths"] = bool(kept.get("truths", False))
        kept["ngram"] = tuple((str(name), int(most)) for name, most in kept.get("ngram", ()))
        words = kept.get("label_names")
        kept["label_names"] = None if words is None else tuple(words)
        return cls(**kept)

    # For other data

    def with_roles(
        self,
        name: str,
        label: str | None = None,
        weight: str | None = None,
        offset: str | None = None,
        ignore: Collection[str] = (),
    ) -> Schema:
        """The schema for data in which these columns are the label and so on; features stay features."""
        roles = {column.name: column.role for column in self.columns}
        for role, named in (("label", label), ("weight", weight), ("offset", offset)):
            if named is None:
                continue
            self._check_free(roles, named, role, name)
            for other in [other for other, has in roles.items() if has == role]:
                roles[other] = "ignored"
            roles[named] = role
        for named in ignore:
            if roles.get(named) == "offset":
                raise ValueError(f"column {named!r} cannot be both offset and ignored")
            if roles.get(named) == "feature":
                raise DataError(
                    f"{name}: column {named!r} cannot be ignored; the model was trained with it as a feature"
                )
            roles[named] = "ignored"
        columns = [replace(c, role=roles.pop(c.name)) for c in self.columns]
        columns += [Column(other, role) for other, role in roles.items()]
        return replace(self, columns=tuple(columns))

    @staticmethod
    def _check_free(roles: Mapping[str, str], column: str, role: str, name: str) -> None:
        was = roles.get(column, "ignored")
        if was not in ("ignored", role, "id", "group"):
            raise DataError(
                f"{name}: column {column!r} cannot be the {role}; it was a {was} before"
            )

    def arranged(self, columns: Sequence[str], labelled: bool, name: str) -> Schema:
        """The same for data that has these columns, in this order; a DataError where it cannot be."""
        refuse_twice(columns, name)
        unknown = [column for column in columns if column not in self.by_name]
        if unknown and not self.open:
            missing = [c.name for c in self.features if c.name not in columns]
            hint = f"; {missing[0]!r} is missing" if missing else "; leave it out with --ignore"
            raise DataError(
                f"{name}: column {unknown[0]!r} was not there before: the model was trained with "
                f"{in_words(self.names)}{hint}"
            )
        for column in self.columns:
            needed = column.is_feature and not self.open
            needed |= column.role == "offset" or (column.role in ("label", "weight") and labelled)
            if needed and column.name not in columns:
                role = "" if column.is_feature else f" of the {column.role}"
                raise DataError(
                    f"{name}: column {column.name!r}{role} is missing; there are {in_words(columns)}"
                )
        there = tuple(self.by_name[column] for column in columns if column in self.by_name)
        return replace(self, columns=there)

    def check_named(self, named: bool, name: str) -> None:
        """Refuse data whose features are known in another way than those of the model."""
        if named == self.named:
            return
        ways = (
            "numbered features (svmlight, matrices)",
            "features with names (tables, dicts, VW text)",
        )
        raise DataError(
            f"{name} has {ways[named]}, but the model was trained on {ways[self.named]}: "
            "give it data of the kind that it knows, or train another model"
        )

    def check_same(self, other: Schema, name: str) -> None:
        """Refuse rows that were made ready with another schema."""
        self.check_named(other.named, name)
        for column in self.features:
            theirs = other.by_name.get(column.name, column)
            if replace(theirs, omitted=column.omitted) != column:
                raise DataError(
                    f"{name} was made with column {column.name!r} as {describe(theirs)}, but the model "
                    f"was trained with it as {describe(column)}: make it anew with the model's options"
                )

    def check_changed(self, other: Schema, name: str) -> None:
        """Refuse a source that makes something else of the values of a column."""
        for column in self.features:
            theirs = other.by_name.get(column.name)
            if theirs is None or not theirs.is_feature:
                continue
            ours, found = (
                (c.kind, c.edges, c.centre, c.scale, c.tokeniser) for c in (column, theirs)
            )
            if (column.is_changed or theirs.is_changed) and ours != found:
                raise DataError(
                    f"{name} was opened with column {column.name!r} as {describe(theirs)}, but the model was "
                    f"trained with it as {describe(column)}: open it with schema=model.model_.schema"
                )

    def check_options(
        self, name: str, missing: str, absent: Sequence[str], crosses: Sequence[Sequence[str]]
    ) -> None:
        """Refuse options that say otherwise; those that are as by default say nothing."""
        groups = list(dict.fromkeys(group for cross in self.crosses for group in cross))
        known = {*map(frozenset, self.crosses)}
        ways = [expand_crosses(crosses, groups, own) for own in (True, False)]
        if known in [{*map(frozenset, way)} for way in ways]:
            crosses = ()
        for option, wanted, was in (
            ("missing", missing, self.missing),
            ("absent", tuple(absent), self.absent),
            ("cross", tuple(map(tuple, crosses)), self.crosses),
        ):
            if wanted not in (was, (), "drop"):
                raise DataError(
                    f"{name}: --{option} is {_option(wanted)} here, and was {_option(was)} where the "
                    f"model was trained: leave it out"
                )

    def core_columns(self, objects: bool = False) -> list[CoreColumn]:
        """The columns as the core wants them; `objects`: for values that can say what they are."""
        made = []
        for column in self.columns:
            absent = f"{column.name}=?" if self.missing == "feature" else ""
            free = objects and column.guessed and not column.is_changed
            kind = "free" if free or not column.kind else column.kind
            kind += "_number" if free and column.kind == "number" and self.truths else ""
            if not column.is_feature:
                kind = "ignored" if column.role in ("id", "group") else column.role
            kind = "text" if kind == "date" else kind
            names = bucket_names(column.name, column.edges) if column.kind == "bucket" else []
            spec = (kind, column.name, absent, column.omitted, list(column.edges), names)
            made.append((*spec, column.centre, column.scale, column.core_text))
        return made


def _option(value: Any) -> str:
    texts = [part if isinstance(part, str) else cross_text(part) for part in value]
    return value if isinstance(value, str) else ",".join(texts) or "not given"


def describe(column: Column) -> str:
    """What a column is, in a few words.

    >>> describe(Column("age", kind="bucket", edges=(18, 65)))
    'buckets with edges 18, 65'
    """
    if column.kind == "bucket" and column.is_feature:
        return f"buckets with edges {', '.join(f'{edge:.7g}' for edge in column.edges)}"
    if column.kind == "number" and (column.centre, column.scale) != (0, 1):
        return f"number, less {column.centre:.6g}, divided by {column.scale:.6g}"
    if column.kind == "text" and column.is_feature:
        return f"text ({column.text})"
    return column.what


def bucket_names(column: str, edges: Sequence[float]) -> list[str]:
    """What features of buckets are called.

    >>> bucket_names("age", [18, 65])
    ['age=[-inf,18)', 'age=[18,65)', 'age=[65,inf)']
    """
    shown = ["-inf", *(f"{edge:.7g}" for edge in edges), "inf"]
    return [f"{column}=[{a},{b})" for a, b in pairwise(shown)]


def cross_text(cross: Sequence[str]) -> str:
    """
    >>> cross_text(("user", "ad")), cross_text(("user", ":")), cross_text((":", ":"))
    ('user:ad', 'user:', '::')
    """
    return "".join(cross) if set(cross) == {":"} else ":".join(g.strip(":") for g in cross)


def expand_crosses(
    crosses: Sequence[Sequence[str]], groups: Sequence[str], own: bool = True
) -> Crosses:
    """The crosses with `:` in the place of a group once for each of these; `own`: also of a group with itself.

    >>> expand_crosses([("a", ":")], ["a", "b"], own=False)
    (('a', 'b'),)
    """
    made: dict[tuple[str, ...], tuple[str, ...]] = {}
    for cross in crosses:
        ways = product(*(groups if group == ":" else (group,) for group in cross))
        for way in ways if ":" in cross else (tuple(cross),):
            if own or ":" not in cross or len(set(way)) == len(way):
                made.setdefault(tuple(sorted(way)), way)
    return tuple(made.values())
