"""One line of the page: a ratio of two times of the same run, with the target that it is held to."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Times:
    """Seconds of the turns of one contender."""

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        for value in self.seconds:
            check_seconds(value)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def less(self, other: Times) -> Times | None:
        """What is left when `other` is taken off each turn; None where that is not measurable.

        Both are noisy, so a difference says something only when it is larger than what their turns differ by,
        and not small beside what is taken off.

        >>> [round(s, 2) for s in Times((0.7, 0.8)).less(Times((0.1, 0.1))).seconds]
        [0.6, 0.7]
        >>> Times((0.080, 0.091)).less(Times((0.081, 0.085))) is None
        True
        """
        noise = self.median - self.best + other.median - other.best
        if self.best - other.best <= max(noise, 0.25 * other.best):
            return None
        return Times(tuple(s - other.best for s in self.seconds))


def check_seconds(value: float) -> None:
    """
    >>> check_seconds(-7.4e-5)
    Traceback (most recent call last):
        ...
    ValueError: -7.4e-05 s is no time: nothing takes less than nothing
    """
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{value:g} s is no time: nothing takes less than nothing")


@dataclass(frozen=True)
class Ratio:
    """`value` is None where nothing can be said, and `why` says why."""

    what: str
    value: float | None
    median: float | None = None
    """The same of the medians; `value` is of the best turns."""
    unit: str = "x"
    least: float | None = None
    most: float | None = None
    detail: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if self.value is None and not self.why:
            raise ValueError(f"{self.what}: no value, and nothing that says why")
        for value in (self.value, self.median):
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{self.what}: {value:g} is no ratio of two times")

    @property
    def reached(self) -> bool | None:
        """Whether the target is; None without a target or a value."""
        if self.value is None or (self.least is None and self.most is None):
            return None
        return (self.least is None or self.value >= self.least) and (
            self.most is None or self.value <= self.most
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"reached": self.reached}


def seconds(value: float) -> str:
    """
    >>> seconds(12.7), seconds(0.0532), seconds(0.00056), seconds(2.9e-7)
    ('12.7 s', '53.2 ms', '560 us', '0.290 us')
    """
    check_seconds(value)
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= size or unit == "us":
            scaled = value / size
            digits = 0 if scaled >= 100 else 1 if scaled >= 10 else 2 if scaled >= 1 else 3
            return f"{scaled:.{digits}f} {unit}"
    raise AssertionError


def ratio(
    what: str,
    top: Times | None,
    bottom: Times | None,
    *,
    least: float | None = None,
    most: float | None = None,
    note: str = "",
) -> Ratio:
    """top / bottom, both of the same run. A rival's time over ours wants `least`, ours over another's `most`.

    >>> found = ratio("it", Times((2.0, 3.0)), Times((1.0, 1.0)), least=1.5, note="of two")
    >>> found.value, found.median, found.reached, found.detail
    (2.0, 2.5, True, '2.00 s / 1.00 s; of two')
    """
    if top is None or bottom is None:
        why = "not measurable: the times differ by less than they vary"
        return Ratio(what, None, least=least, most=most, why=why)
    detail = f"{seconds(top.best)} / {seconds(bottom.best)}" + (f"; {note}" if note else "")
    return Ratio(
        what,
        top.best / bottom.best,
        top.median / bottom.median,
        least=least,
        most=most,
        detail=detail,
    )


@dataclass(frozen=True)
class Run:
    """How a task is to be run."""

    repeat: int = 5
    quick: bool = False
    """Leave out what no target needs, and take smaller amounts where the size does not matter."""
    against: tuple[str, ...] = field(default_factory=tuple)
    """Adapters of rivals; empty for all."""

    def turns(
        self, works: Mapping[str, Callable[[], Any]], repeat: int | None = None
    ) -> dict[str, Times]:
        """All once, then all again: what slows the machine slows all of them."""
        found: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(repeat or self.repeat):
            for name, work in works.items():
                start = time.perf_counter()
                work()
                found[name].append(time.perf_counter() - start)
        return {name: Times(tuple(times)) for name, times in found.items()}
