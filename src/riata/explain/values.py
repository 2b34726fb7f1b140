"""Results that are values by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar


class Values(Mapping[str, Any]):
    """Values by name, as JSON holds them; for people as text, and as HTML in a notebook."""

    for_terminal: ClassVar[Callable[[dict[str, Any]], str]]
    as_html: ClassVar[Callable[[dict[str, Any]], str]]

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        return type(self).for_terminal(self._values)

    def _repr_html_(self) -> str:
        return type(self).as_html(self._values)

    def to_dict(self) -> dict[str, Any]:
        return dict(self._values)
