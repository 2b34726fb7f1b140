"""What `prior_variance` can be, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riata.learners.base import check_number

AUTO = tuple(0.001 * 4.0**k for k in range(8))
"""The prior variances that `prior_variance="auto"` averages."""
SMALLEST, LARGEST = 1e-20, 1e20


def check_variance(name: str, value: Any) -> None:
    """Positive, and far enough from the ends of the range of floats that no product overflows."""
    check_number(name, value, above=0)
    if not SMALLEST <= float(value) <= LARGEST:
        raise ValueError(f"{name}={value!r} must be between {SMALLEST:g} and {LARGEST:g}")


def parsed(value: str | float | Mapping[str, float]) -> str | float | dict[str, float]:
    """What prior_variance means: "auto", a number, or numbers by namespace or name.

    >>> parsed("user=0.5, *=1")
    {'user': 0.5, '*': 1.0}
    """
    if isinstance(value, str):
        if value == "auto":
            return value
        if "=" in value:
            parts = [part.rpartition("=") for part in value.split(",")]
            value = {name.strip(): number for name, _, number in parts}  # type: ignore[misc]
    if isinstance(value, Mapping):
        if not value:
            raise ValueError("prior_variance={} names no prior: give at least {'*': 1.0}")
        for name, number in value.items():
            check_variance(f"prior_variance[{name!r}]", number)
        return {str(name): float(number) for name, number in value.items()}
    check_variance("prior_variance", value)
    return float(value)
