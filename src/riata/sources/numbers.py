"""Columns of numbers: what they are scaled by and where they are cut, and whether other data is in the same units."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from riata.errors import DataError
from riata.schema import Column, Schema

_SMALLEST_SCALE = 1e-20
_ENOUGH = 20
"""Fewer rows may all be unusual."""
_FAR = 30
"""So many deviations from where they lay, most values are of something else."""
_MOVED = 0.1
"""Of where they lay: time stamps and counters move less, and units change more."""
_NEAR_ZERO = 50
"""So many times nearer to zero, and to each other, likewise."""


def is_scaled(column: Column) -> bool:
    """Whether its numbers are centred or divided by what the first rows showed."""
    return column.is_feature and (column.centre, column.scale) != (0, 1)


def in_other_units(column: Column, numbers: NDArray[np.float64]) -> str | None:
    """What to say of the numbers in the first rows of data that a model reads, if they are far from those that it was
    trained on: a column that is scaled knows where these lay.

    >>> metres = Column("length", kind="number", centre=4.0, scale=1.5)
    >>> print(in_other_units(metres, np.linspace(2000, 6000, 50)))  # millimetres
    lies around 4000 here, and lay around 4, with a deviation of 1.5, where the model was trained: other units?
    >>> in_other_units(metres, np.linspace(2, 9, 50)) is in_other_units(metres, np.array([4000.0])) is None
    True
    """
    unknown = column.scale == 1  # what a column that did not vary is divided by
    if not is_scaled(column) or unknown or len(numbers) < _ENOUGH:
        return None
    low, middle, high = np.quantile(numbers, [0.25, 0.5, 0.75])
    far = abs(middle - column.centre) > max(_FAR * column.scale, _MOVED * abs(column.centre))
    # Values of one sign that have all become small, as metres that are now kilometres.
    shrunk = (
        abs(column.centre) > column.scale / 3
        and _NEAR_ZERO * abs(middle) < abs(column.centre)
        and 0 < _NEAR_ZERO * (high - low) < column.scale
    )
    if not far and not shrunk:
        return None
    return (
        f"lies around {middle:.6g} here, and lay around {column.centre:.6g}, with a deviation of {column.scale:.6g}, "
        "where the model was trained: other units?"
    )


def compare_units(
    schema: Schema | None,
    there: Sequence[str],
    numbers: Callable[[str], NDArray[np.float64]],
    name: str,
) -> None:
    """Says which columns seem to be in other units than in the data that a schema was learned from.

    there: the columns of this data, whose name is `name`; numbers: those in its first rows.
    """
    for column in () if schema is None else schema.features:
        if column.name in there and is_scaled(column):
            found = in_other_units(column, numbers(column.name))
            if found is not None:
                warnings.warn(f"{name}: column {column.name!r} {found}", stacklevel=2)


def centre_and_scale(numbers: NDArray[np.float64], how: str) -> tuple[float, float]:
    """What to take from these numbers, and what to divide by.

    >>> centre_and_scale(np.array([1.0, 3.0]), "standard")
    (2.0, 1.0)
    >>> centre_and_scale(np.array([1.0, -4.0]), "max")
    (0.0, 4.0)
    """
    # As 32-bit floats, which is how values are read, whatever held them.
    with np.errstate(over="ignore"):
        seen = numbers.astype(np.float32).astype(np.float64)
    seen = seen[np.isfinite(seen)]
    if not len(seen):
        return 0.0, 1.0
    return scale_of(float(seen.mean()), float(seen.std()), float(np.abs(seen).max()), how)


def scale_of(mean: float, deviation: float, largest: float, how: str) -> tuple[float, float]:
    """The same of numbers with this mean, standard deviation and largest absolute value."""
    if how == "max":
        return 0.0, largest if largest > _SMALLEST_SCALE else 1.0
    known = deviation > max(_SMALLEST_SCALE, 1e-9 * largest)  # else it is rounding
    return mean, deviation if known else 1.0


def bucket_edges(numbers: NDArray[np.float64], count: int, column: str, name: str) -> list[float]:
    """Where buckets of about as many of these numbers each begin and end."""
    if not len(numbers):
        raise DataError(
            f"{name}: no numbers in the first rows of column {column!r} to make buckets from"
        )
    cuts = np.arange(1, count) / count
    edges = np.quantile(numbers, cuts, method="inverted_cdf")
    return [float(edge) for edge in np.unique(edges.astype(np.float32))]
