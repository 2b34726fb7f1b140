"""Kinds of values that options take, besides numbers and words."""

from __future__ import annotations

from typing import Any

import click


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


class Intervals(click.ParamType):  # type: ignore[type-arg]
    """LOW,HIGH for all features, or FEATURE:LOW:HIGH by name, number or namespace, with commas between them.

    >>> kind = Intervals()
    >>> kind.convert("0,inf", None, None)
    (0.0, inf)
    >>> kind.convert("price:0:inf,7:-1:1,*:-5:5", None, None)
    {'price': (0.0, inf), '7': (-1.0, 1.0), '*': (-5.0, 5.0)}
    """

    name = "bounds"
    metavar = "LOW HIGH|F:LOW:HIGH,.."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float] | dict[str, tuple[float, float]]:
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        low, _, high = value.partition(",")
        if _is_number(low) and _is_number(high):
            return float(low), float(high)
        bounds: dict[str, tuple[float, float]] = {}
        for word in value.split(","):
            feature, low, high = ["", "", *word.rsplit(":", 2)][-3:]
            if not (feature and _is_number(low) and _is_number(high)):
                self.fail(
                    f"{word!r} is not FEATURE:LOW:HIGH, where FEATURE is a name, a number, a namespace, a column or * "
                    "for all others: price:0:inf,7:-1:1. For all features alike: LOW HIGH, such as 0 inf",
                    param,
                    ctx,
                )
            if feature in bounds:
                self.fail(f"{feature!r} has two intervals: name each feature once", param, ctx)
            bounds[feature] = (float(low), float(high))
        return bounds
