"""Pieces of HTML, every text in them escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def shown(text: object, most: int = 200) -> str:
    """Any text as HTML shows it: control characters by their number, and not without end.

    >>> shown("<b>\\x00")
    '&lt;b&gt;\\\\x00'
    """
    given = str(text)
    clean = "".join(
        c if c.isprintable() or c == " " else c.encode("unicode_escape").decode()
        for c in given[: most + 1]
    )
    return escape(clean if len(given) <= most else clean[: most - 1] + "…")


def data(value: Any) -> str:
    """JSON inside a script element, which no text in it can end.

    >>> data({"name": "</script>"})
    '{"name":"\\\\u003c/script>"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return (
        "".join(c if c == " " or c.isprintable() else f"\\u{ord(c):04x}" for c in text)
        if not text.isprintable()
        else text
    )


def facts(pairs: Iterable[tuple[str, str, str]]) -> str:
    """Name, number, and a few words beneath; those without a number are left out."""
    cells = "".join(
        f"<div><dt>{shown(name)}</dt><dd>{shown(value)}"
        + (f"<small>{shown(more)}</small>" if more else "")
        + "</dd></div>"
        for name, value, more in pairs
        if value
    )
    return f'<dl class="facts">{cells}</dl>'


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    numbers: Sequence[int] = (),
) -> str:
    """A table whose first cells name the rows; `numbers` are the columns that stand to the right."""

    def cell(k: int, value: object) -> str:
        kind = ' class="number"' if k in numbers else ""
        return (
            f'<th scope="row"{kind}>{shown(value)}</th>'
            if k == 0
            else f"<td{kind}>{shown(value)}</td>"
        )

    head = "".join(
        f'<th scope="col"{" class=number" if k in numbers else ""}>{shown(name)}</th>'
        for k, name in enumerate(heads)
    )
    body = "".join(
        f"<tr>{''.join(cell(k, value) for k, value in enumerate(row))}</tr>" for row in rows
    )
    return (
        f'<div class="wide-table" tabindex="0" role="region" aria-label="{shown(caption)}">'
        f"<table><caption>{shown(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def section(name: str, title: str, content: str, kind: str = "") -> str:
    """A part of the page, or nothing where it has no content."""
    if not content:
        return ""
    attribute = f' class="{kind}"' if kind else ""
    return f'<section id="{name}"{attribute}><h2>{shown(title)}</h2>{content}</section>'
