"""Texts with what each of their words adds to a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from riata.reference.words import ngram_places, word_places
from riata.schema import Column
from riata.show import html_text
from riata.words import Ngrams

LONGEST = 20_000
"""Characters of a text that are shown."""


@dataclass(frozen=True)
class Piece:
    """A word, or what stands between words."""

    text: str
    contribution: float | None
    """None between words."""


def pieces(text: str, column: Column, contributions: Mapping[str, float]) -> list[Piece]:
    """The text, word by word, with what its n-grams add.

    An n-gram that occurs several times counts in equal parts at each place, one of several words in equal parts for
    each: so the words of a text add up to what its column adds.

    >>> found = pieces("Free entry, FREE!", Column("body", kind="text"), {"body^free": 2.0, "body^free entry": 0.5})
    >>> [(p.text, p.contribution) for p in found]
    [('Free', 1.25), (' ', None), ('entry', 0.25), (', ', None), ('FREE', 1.0), ('!', None)]
    """
    places = word_places(text)
    grams = ngram_places([word for _, _, word in places], Ngrams.parse(column.text.ngrams))
    counts: dict[str, int] = {}
    for name, _, _ in grams:
        counts[name] = counts.get(name, 0) + 1
    shares = [0.0] * len(places)
    for name, first, last in grams:
        part = contributions.get(f"{column.name}^{name}", 0.0) / counts[name] / (last - first)
        for i in range(first, last):
            shares[i] += part
    found, at = [], 0
    for (start, stop, _), share in zip(places, shares, strict=True):
        if start > at:
            found.append(Piece(text[at:start], None))
        found.append(Piece(text[start:stop], share))
        at = stop
    return [*found, Piece(text[at:], None)] if at < len(text) else found


def strength(piece: Piece, largest: float) -> float:
    """From -1 to 1, how far a word speaks against or for the class."""
    if piece.contribution is None or largest <= 0:
        return 0.0
    return max(-1.0, min(1.0, piece.contribution / largest))


def largest_of(found: list[Piece]) -> float:
    return max((abs(piece.contribution) for piece in found if piece.contribution), default=0.0)


def as_html(found: list[Piece]) -> str:
    """Words for the class on green, against it on red, the stronger the darker; the numbers as tool tips."""
    largest, out = largest_of(found), []
    for piece in found:
        shown = html_text(piece.text, LONGEST)
        how = strength(piece, largest)
        if abs(how) < 0.02:
            out.append(shown)
            continue
        colour = "34,139,34" if how > 0 else "205,60,60"
        title = f"{piece.contribution:+.4f}"
        style = f"background:rgba({colour},{0.08 + 0.5 * abs(how):.2f})"
        out.append(f'<span style="{style}" title="{title}">{shown}</span>')
    return "".join(out)
