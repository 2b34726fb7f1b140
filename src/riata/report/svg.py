"""Small charts as SVG text, coloured by the style sheet of the page, so that dark mode and print have their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 640, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 12, 46


@dataclass(frozen=True)
class Series:
    """A line through points, those without a number left out."""

    label: str
    x: Sequence[float]
    y: Sequence[float | None]
    marks: bool = False
    line: bool = True

    def points(self) -> list[tuple[float, float]]:
        pairs = zip(self.x, self.y, strict=True)
        return [(a, b) for a, b in pairs if b is not None and math.isfinite(a) and math.isfinite(b)]


@dataclass(frozen=True)
class Scale:
    """From values to pixels."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = (
            (math.log10(v) for v in (self.low, self.high)) if self.log else (self.low, self.high)
        )
        at = math.log10(value) if self.log else value
        return self.first + (at - low) / (high - low) * (self.last - self.first)

    def ticks(self) -> list[float]:
        """
        >>> Scale(0, 1, 0, 100).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        >>> Scale(100, 30000, 0, 100, log=True).ticks()
        [100.0, 300.0, 1000.0, 3000.0, 10000.0, 30000.0]
        """
        if self.log:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            steps = (1, 2, 5) if last - first <= 2 else (1, 3) if last - first <= 3 else (1,)
            every = max(1, (last - first) // 6)
            marks = [m * 10.0**p for p in range(first, last + 1, every) for m in steps]
            return [mark for mark in marks if self.low * 0.999 <= mark <= self.high * 1.001]
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / 4))
        step *= next(m for m in (1, 2, 5, 10) if span / (m * step) <= 6)
        first = math.ceil(self.low / step - 1e-9)
        return [round(k * step, 12) for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def shown(value: float) -> str:
    """A number beside an axis.

    >>> shown(1000000.0), shown(20000.0), shown(0.25), shown(0.0)
    ('1M', '20k', '0.25', '0')
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):g}{unit}"
    return f"{value:.4g}"


def _scale(
    values: Sequence[float], first: float, last: float, log: bool, ends: tuple[float, float] | None
) -> Scale:
    low, high = ends or (min(values), max(values))
    if log:
        low = max(low, 1e-300)
        return Scale(low, max(high, low * 1.01), first, last, True)
    if ends is None:
        room = 0.06 * (high - low) or abs(high) * 0.1 or 1.0
        low, high = low - room, high + room
    return Scale(low, high, first, last)


def line_chart(
    title: str,
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    x_ends: tuple[float, float] | None = None,
    y_ends: tuple[float, float] | None = None,
    diagonal: bool = False,
) -> str:
    """Lines in one pair of axes, with their names above them; empty text where there are no points."""
    points = [point for each in series for point in each.points() if not log_x or point[0] > 0]
    if not points:
        return ""
    x = _scale([p[0] for p in points], _LEFT, _WIDTH - _RIGHT, log_x, x_ends)
    y = _scale([p[1] for p in points], _HEIGHT - _BOTTOM, _TOP, False, y_ends)
    parts = [_axes(x, y, x_label, y_label)]
    if diagonal:
        parts.append(_path([(x(x.low), y(y.low)), (x(x.high), y(y.high))], "guide"))
    for k, each in enumerate(series):
        placed = [(x(a), y(b)) for a, b in each.points() if not log_x or a > 0]
        if each.line:
            parts.append(_path(placed, f"line s{k}"))
        if each.marks:
            parts += [
                f'<circle class="mark s{k}" cx="{a:.1f}" cy="{b:.1f}" r="4"/>' for a, b in placed
            ]
    return _figure(title, "".join(parts), _HEIGHT, [each.label for each in series])


def interval_chart(
    title: str, rows: Sequence[tuple[str, float, float, float]], x_label: str
) -> str:
    """A dot a row with the interval around it, by name."""
    if not rows:
        return ""
    height = 24 * len(rows) + _TOP + _BOTTOM
    ends = [end for _, _, low, high in rows for end in (low, high)]
    x = _scale([*ends, 0.0], 230, _WIDTH - _RIGHT, False, None)
    parts = [
        f'<line class="grid" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>'
        f'<text class="tick" x="{x(t):.1f}" y="{height - _BOTTOM + 18}" text-anchor="middle">{shown(t)}</text>'
        for t in x.ticks()
    ]
    parts.append(
        f'<line class="axis" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>'
    )
    for k, (name, value, low, high) in enumerate(rows):
        at, side = _TOP + 24 * k + 12, "for" if value > 0 else "against"
        parts.append(
            f'<text class="tick" x="222" y="{at + 4}" text-anchor="end">{escape(clipped(name, 25))}</text>'
            f'<line class="line {side}" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{at}" y2="{at}"/>'
            f'<circle class="mark {side}" cx="{x(value):.1f}" cy="{at}" r="4"/>'
        )
    parts.append(_axis_name(x_label, (230 + _WIDTH - _RIGHT) / 2, height - 8))
    return _figure(title, "".join(parts), height, [])


def clipped(name: str, most: int) -> str:
    """
    >>> clipped("a long name", 6), clipped("short", 6), clipped("a\\x00b", 9)
    ('a lon…', 'short', 'a\\\\x00b')
    """
    name = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in name[: most + 1]
    )
    return name if len(name) <= most else name[: most - 1] + "…"


def _axes(x: Scale, y: Scale, x_label: str, y_label: str) -> str:
    parts = []
    for tick in x.ticks():
        parts.append(
            f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
            f'<text class="tick" x="{x(tick):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">'
            f"{shown(tick)}</text>"
        )
    for tick in y.ticks():
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
            f'<text class="tick" x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{shown(tick)}</text>'
        )
    middle = (_HEIGHT - _BOTTOM + _TOP) / 2
    parts.append(_axis_name(x_label, (_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8))
    parts.append(
        f'<text class="name" transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>"
    )
    return "".join(parts)


def _axis_name(text: str, x: float, y: float) -> str:
    return f'<text class="name" x="{x}" y="{y}" text-anchor="middle">{escape(text)}</text>'


def _path(points: Sequence[tuple[float, float]], kind: str) -> str:
    steps = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    return f'<polyline class="{kind}" points="{steps}"/>'


def _figure(title: str, content: str, height: float, names: Sequence[str]) -> str:
    keys = "".join(
        f'<li><svg width="26" height="10" aria-hidden="true"><line class="line s{k}" x1="0" x2="26" y1="5" y2="5"/>'
        f"</svg> {escape(name)}</li>"
        for k, name in enumerate(names)
    )
    legend = f'<ul class="legend">{keys}</ul>' if len(names) > 1 else ""
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>{legend}"
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" aria-label="{escape(title)}">{content}</svg></figure>'
    )
