"""Bounds and priors by feature: whether there are such features. One that nobody has would be a slip in silence."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from riata.errors import SettingsError, in_words
from riata.learners.bounds import REST, group_of, parse_bounds

if TYPE_CHECKING:
    from riata.learners import Learner
    from riata.schema import Schema

_MOST_TO_COMPARE = 20_000
"""Of more names none is suggested: that would take seconds."""


def check_features(
    learner: Learner, schema: Schema | None, name: str, many: int | None = None
) -> None:
    """Refuse settings for features that there cannot be, where columns are all there is.

    name: that of the data; many: how many features there are, where they are numbered.
    """
    if schema is None:
        return
    columns = [column.name for column in schema.features]
    closed = schema.named and not schema.open and bool(columns)
    for parameter, key in _wanted(learner):
        if isinstance(key, str) and not schema.named:
            raise SettingsError(
                f"{parameter} of {key!r}: the features of {name} have numbers, not names"
                + ("; give bounds by number" if parameter == "bounds" else "")
            )
        if isinstance(key, str) and closed and not any(_belongs(key, c) for c in columns):
            raise SettingsError(
                f"{parameter} of {key!r}: {name} has no such feature; its columns are "
                f"{in_words(columns)}{_near(key, columns)}"
            )
        if isinstance(key, int) and not schema.named and many is not None and key >= many:
            raise SettingsError(
                f"{parameter} of feature {key}: {name} has {many:,} features, from 0 to {many - 1:,}"
            )


def warn_of_scaled(learner: Learner, schema: Schema, name: str) -> None:
    """Say where a bound is for the weight of a standard deviation, as numbers are read, and not for that of the
    column's own unit, as weights are shown. Zero and no bound are the same for both."""
    everywhere, _, groups = parse_bounds(learner.parameters()["bounds"])
    for column in schema.features:
        group = group_of(column.name, groups)
        pair = everywhere if group is None else groups[group]
        if pair and column.scale != 1 and any(end != 0 and math.isfinite(end) for end in pair):
            warnings.warn(
                f"{name}: column {column.name!r} is divided by {column.scale:.6g}, and bounds are for its weight "
                "then: in the column's own unit, as weights are shown, they are divided by that, too; to read "
                "numbers as they are, pass --scale none (scale='none')",
                stacklevel=3,
            )


def warn_of_unseen(learner: Learner, name: str, more: bool = False) -> None:
    """Say which settings are for features that never came; `more`: rows will, so they may yet."""
    names, offsets = learner.all_names()
    text = names.tobytes()
    for parameter, wanted in dict.fromkeys(_wanted(learner)):
        if isinstance(wanted, int):
            unseen = wanted >= learner.n_features
            hint = f"; the last one is {learner.n_features - 1:,}"
        else:
            unseen = not _is_there(wanted, text, offsets)
            hint = _near(wanted, _known(text, offsets)) if unseen else ""
        if unseen:
            shown = f"feature {wanted}" if isinstance(wanted, int) else repr(wanted)
            yet = " until now" if more else ""
            warnings.warn(
                f"{name}: {parameter} of {shown} was of no use{yet}: no feature of that name, namespace or column "
                f"was learned{hint}",
                stacklevel=3,
            )


def _wanted(learner: Learner) -> list[tuple[str, str | int]]:
    """Each parameter by feature, and the name or number that it speaks of."""
    return [
        (parameter, int(key) if parameter == "bounds" and str(key).isdigit() else str(key))
        for parameter, values in learner.by_feature
        for key in values
        if key != REST
    ]


def _belongs(wanted: str, column: str) -> bool:
    """Whether a name can be that of a feature of this column: itself, one of its values, or a cross with it."""
    return wanted == column or wanted.startswith(tuple(f"{column}{sign}" for sign in "^=*"))


def _is_there(wanted: str, text: bytes, offsets: Any) -> bool:
    """Whether a name is this, or begins with it and the sign of a namespace or column."""
    sought = wanted.encode()
    place = text.find(sought)
    while place >= 0:
        at = int(np.searchsorted(offsets, place))
        if at < len(offsets) - 1 and offsets[at] == place:
            at = (
                int(np.searchsorted(offsets, place, side="right")) - 1
            )  # empty names begin there, too
            rest = text[place + len(sought) : int(offsets[at + 1])]
            if place + len(sought) <= offsets[at + 1] and rest[:1] in (b"", b"^", b"="):
                return True
        place = text.find(sought, place + 1)
    return False


def _known(text: bytes, offsets: Any) -> set[str]:
    """What could have been meant: names, namespaces and columns."""
    if len(offsets) > _MOST_TO_COMPARE:
        return set()
    ends = offsets.tolist()
    names = {text[a:b].decode("utf-8", "replace") for a, b in itertools.pairwise(ends)}
    return names | {name.replace("=", "^").partition("^")[0] for name in names}


def _near(wanted: str, known: Iterable[str]) -> str:
    """
    >>> _near("pirce", ["price", "city"])
    "; did you mean 'price'?"
    """
    near = get_close_matches(wanted, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""
