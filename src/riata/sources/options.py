"""How examples are read: every option of `open_source` and of the command line, in one place; what the columns of a
table are for, and what is done to their numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from riata.errors import DataError, refuse_twice, suggest
from riata.schema import Schema
from riata.sources.io.bytes import FilePart

if TYPE_CHECKING:
    from riata.sources.bad_lines import BadLineFile, Skipping
    from riata.words import TextOptions

Crosses: TypeAlias = Iterable[Sequence[str] | str]

ON_ERROR = ("raise", "skip")
_LISTS = ("ignore", "numeric", "categorical", "text", "date", "absent", "log1p", "ngram")
_NOT_ABOUT_CONTENT = ("threads", "block_rows", "bad_lines", "cache")
"""Options that change nothing about the examples that are read."""


LABEL = "label"
"""The column that is taken for the label when none is named."""
LOOK_AT = 1000
"""Rows that decide what columns are."""
MISSING = ("drop", "feature")
_KINDS = ("numeric", "categorical", "text", "date")
SCALES = ("none", "standard", "max", "auto")


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
    text: columns of texts whose words and n-grams are features: see docs/text.md.
    date: columns of dates, whose year, month, weekday and hour are features.
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
    text: Sequence[str] = ()
    date: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise ValueError(f"missing is 'drop' or 'feature', not {self.missing!r}")
        kinds = {name: getattr(self, name) for name in _KINDS}
        for one, other in combinations(kinds, 2):
            if twice := set(kinds[one]) & set(kinds[other]):
                raise ValueError(f"column {min(twice)!r} cannot be both {one} and {other}")
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
        label = likely_label(columns) if self.label is None else self.label
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
        } | {name: getattr(self, name) for name in _KINDS}
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


def likely_label(columns: Sequence[str]) -> str:
    """The column that is the label where none is named: `label`, or the only one that is it but for its case.

    >>> likely_label(["Label", "SMS"])
    'Label'
    """
    alike = [column for column in columns if column.lower() == LABEL]
    return alike[0] if LABEL not in columns and len(alike) == 1 else LABEL


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


def _option(default: Any, help: str, choices: tuple[str, ...] = ()) -> Any:
    """An option, with what the command line shows for it."""
    return field(default=default, metadata={"help": help, "choices": choices})


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read examples. `open_source` takes these as keywords, or as one value in `options`.

    They are checked when they are put together: names of columns against each other, numbers against
    their range. What only the data can tell (a column that is not there) is an error where it is read.

    >>> options = ReadOptions(label="clicked", ignore=["id"], crosses=["user:ad"])
    >>> options.ignore, options.crosses
    (('id',), (('user', 'ad'),))
    >>> ReadOptions(label="id", ignore=["id"])
    Traceback (most recent call last):
    ValueError: column 'id' cannot be both label and ignored
    """

    format: str | None = _option(None, "how the data is written")
    zero_based: bool = _option(False, "feature indices start at 0")
    label: str | None = _option(None, "the column to predict")
    label_first: bool = _option(
        False, "lines of text: the first word of each is its label, the rest is the text"
    )
    weight: str | None = _option(None, "the column of weights")
    offset: str | None = _option(
        None, "the column of numbers that scores begin with, such as those of another model"
    )
    ignore: Sequence[str] = _option((), "columns or namespaces to leave out, such as id,time")
    numeric: Sequence[str] = _option((), "columns of text to read as numbers")
    categorical: Sequence[str] = _option((), "columns whose numbers are names: hour=17, not 17")
    text: Sequence[str] = _option((), "columns of texts whose words and n-grams are features")
    ngrams: str = _option(
        "words:1-2",
        "n-grams of texts, such as words:1-2, chars:3-5, or both with a comma between",
    )
    text_weight: str = _option(
        "log",
        "what an n-gram that occurs n times in a text is worth: n, 1 or 1 + log n",
        ("count", "presence", "log"),
    )
    text_idf: bool = _option(
        False, "multiply n-grams by their inverse document frequency in the texts learned before"
    )
    text_norm: bool = _option(False, "divide the n-grams of a text by the length of their row")
    date: Sequence[str] = _option(
        (),
        "columns of dates, such as 2024-03-01T17:30, whose year, month, weekday and hour are features; those that hold "
        "nothing else are found",
    )
    missing: str = _option(
        "drop", "a missing value makes no feature, or the feature column=?", MISSING
    )
    absent: Sequence[str] = _option((), "texts that mean a missing value, such as ?,NA")
    log1p: Sequence[str] = _option((), "columns whose value x becomes log(1 + x)")
    buckets: Mapping[str, int] | None = _option(
        None, "cut a column of numbers into N buckets of about as many rows each"
    )
    scale: str = _option(
        "none",
        "what numbers of columns are measured in: from their mean on in standard deviations, in parts of the "
        "largest, or as they are; auto is standard where there are columns",
        SCALES,
    )
    header: bool | None = _option(None, "whether the first line names the columns")
    delimiter: str | None = _option(None, "what separates columns: a sign, or tab")
    decimal: str = _option(".", "the sign in numbers of CSV: 3.5 or 3,5", (".", ","))
    quote: str | None = _option(None, "the sign that quotes fields, or none")
    crosses: Crosses = _option(
        (),
        "multiply the features of two or three namespaces or columns, such as user:ad; user: is with all others, "
        ":: all with all",
    )
    ngram: Sequence[str] = _option(
        (),
        "Vowpal Wabbit text: n-grams of up to N features of all namespaces, or of one, such as b2",
    )
    on_error: str = _option("raise", "what to do at a line that cannot be read", ON_ERROR)
    bad_lines: str | os.PathLike[str] | BadLineFile | None = _option(
        None, "keep skipped lines there, each with its reason"
    )
    max_bad: float = _option(
        0.5, "stop when more lines than this are bad: a share below 1, or a number"
    )
    threads: int | None = _option(None, "threads that read and parse beside the learner")
    labelled: bool = _option(True, "whether rows have labels; without, they may lack them")
    names: bool = _option(True, "whether Blocks hold the names of features")
    block_rows: int | None = _option(None, "the most rows of a Block")
    hash_key: str | None = _option(
        None, "hash names by a key of one's own: 32 hexadecimal digits, or random"
    )
    schema: Schema | None = _option(
        None, "what another source has learned from its first rows: read in the same way"
    )
    cache: bool | str | os.PathLike[str] | None = _option(
        None,
        "parse once: True keeps the Blocks beside the first file, a path there, 'auto' for a run",
    )

    part: FilePart | None = _option(
        None, "read a part of each file alone: bytes of text, or row groups of Parquet"
    )

    def __post_init__(self) -> None:
        for name in _LISTS:
            value = getattr(self, name)
            if isinstance(value, str):
                raise ValueError(f"{name} is a list, such as [{value!r}], not {value!r}")
            object.__setattr__(self, name, tuple(value))
        object.__setattr__(self, "crosses", tuple(map(tuple, check_crosses(self.crosses))))
        for name in ("block_rows", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal is a point or a comma, not {self.decimal!r}")
        if self.scale not in SCALES:
            raise ValueError(f"scale is one of {', '.join(SCALES)}, not {self.scale!r}")
        if self.on_error not in ON_ERROR:
            raise ValueError(f"on_error is 'raise' or 'skip', not {self.on_error!r}")
        if self.on_error == "raise" and self.bad_lines is not None:
            raise ValueError("bad_lines keeps what on_error='skip' leaves out: give both")
        if not self.max_bad >= 0:
            raise ValueError(f"max_bad is a share below 1 or a number of lines, not {self.max_bad}")
        if isinstance(self.schema, Mapping):
            object.__setattr__(self, "schema", Schema.from_json(self.schema))
        self._check_hash_key()
        _ = self.roles, self.transforms  # they check what belongs to them
        if (self.ngrams, self.text_weight) != ("words:1-2", "log"):
            _ = self.text_options

    def _check_hash_key(self) -> None:
        """The schema has the say, where there is one."""
        if self.hash_key is None and self.schema is None:
            return
        from riata.sources.keyed import parse_hash_key

        key = None if self.hash_key is None else parse_hash_key(self.hash_key)
        if self.schema is not None:
            own = self.schema.hash_key
            if key not in (None, own):
                raise ValueError(
                    f"hash_key is {key}, and was {own or 'the default'} where the model was trained: "
                    "leave it out"
                )
            key = None if own is None else parse_hash_key(own)
        object.__setattr__(self, "hash_key", key)

    @classmethod
    def of(cls, options: Self | None, given: Mapping[str, Any]) -> Self:
        """The options, changed by those given by name; a TypeError for a name that there is not.

        >>> ReadOptions.of(None, {"lable": "y"})
        Traceback (most recent call last):
        TypeError: there is no option 'lable' to read with; did you mean 'label'?
        """
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                close = get_close_matches(name, known, 1)
                hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
                raise TypeError(f"there is no option {name!r} to read with; {hint}")
        return cls(**given) if options is None else replace(options, **given)

    @property
    def roles(self) -> Roles:
        """What the columns of a table are for."""
        named = (self.label, self.weight, self.offset, self.ignore, self.numeric, self.categorical)
        return Roles(*named, missing=self.missing, text=self.text, date=self.date)

    @property
    def text_options(self) -> TextOptions:
        """How texts become features."""
        from riata.words import TextOptions  # most data has none

        return TextOptions(self.ngrams, self.text_weight, self.text_idf, self.text_norm)

    @property
    def transforms(self) -> Transforms:
        """What is done to numbers before they are features."""
        return Transforms(tuple(self.log1p), dict(self.buckets or {}))

    @property
    def for_columns(self) -> str | None:
        """An option that was given and means something for tables of columns alone."""
        known = ("absent", "log1p", "buckets", "ngrams", "text_weight", "text_idf", "text_norm")
        return next((name for name in known if name in self.given()), None)

    def given(self) -> dict[str, Any]:
        """The options that are not as they are by default."""
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def about_content(self) -> dict[str, Any]:
        """Those of the given options that the examples depend on: a cache is good for the same ones."""
        given = {k: v for k, v in self.given().items() if k not in _NOT_ABOUT_CONTENT}
        return given if self.schema is None else given | {"schema": self.schema.to_json()}

    def skipping(self, paths: Iterable[str] = ()) -> Skipping | None:
        """What to do with lines that cannot be read in these files; None: stop at the first."""
        if self.on_error == "raise":
            return None
        from riata.sources.bad_lines import BadLineFile, Skipping

        if self.bad_lines is None:
            return Skipping(self.max_bad)
        given = self.bad_lines
        kept = given if isinstance(given, BadLineFile) else BadLineFile(given)
        kept.begin(paths)
        return Skipping(self.max_bad, kept)


def check_crosses(crosses: Crosses) -> list[list[str]]:
    """Pairs and triples of groups, given as tuples or as `a:b`; `:` in place of a group stands for all of them.

    >>> check_crosses([("user", "ad"), "user:ad:hour", "user:", "::"])
    [['user', 'ad'], ['user', 'ad', 'hour'], ['user', ':'], [':', ':']]
    """
    checked = []
    for cross in crosses:
        if isinstance(cross, str):
            groups = list(cross) if set(cross) == {":"} else [g or ":" for g in cross.split(":")]
        else:
            groups = [str(group) for group in cross]
        if len(groups) not in (2, 3):
            raise ValueError(
                f"a cross joins two or three groups of features, such as user:ad, user: or ::, not {cross!r}"
            )
        checked.append(groups)
    return checked
