"""Parameters that are a number, several, or a word, as `--gamma path` is."""

from __future__ import annotations

from typing import Any

import click


class NumbersOrWord(click.ParamType):  # type: ignore[type-arg]
    """A number, numbers with commas between them, or a word that the learner knows.

    >>> kind = NumbersOrWord()
    >>> kind.convert("2", None, None), kind.convert("3,1", None, None), kind.convert("path", None, None)
    (2.0, (3.0, 1.0), 'path')
    """

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str | tuple[float, ...]:
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        try:
            numbers = tuple(float(word) for word in value.split(","))
        except ValueError:
            return value
        return numbers[0] if len(numbers) == 1 else numbers
