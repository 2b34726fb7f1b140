"""Texts to words, words to n-grams, n-grams to values: what the core does, again, a character at a time.

**Words.** Each character is folded: to lower case, as Unicode's simple case folding has it (`fold`), so that
`ẞ` is `ß`, `Σ` and `ς` are `σ`, and no character becomes two. Apostrophes of all kinds become `'`, connectors
(category Pc) `_`. Invisible format characters (category Cf: soft hyphens, joiners, marks of direction) are
left out, but for the zero width space, which separates. Texts are not normalised otherwise. Then

- a word is a maximal run of letters, marks and digits (categories L, M, N),
- with an apostrophe or a middle dot inside where a letter stands directly before and behind it (`don't`,
  `col·lega`), a point or a comma where digits do (`3.50`, `1,000`), a `_` where either does: as the word
  boundaries of Unicode Standard Annex 29 have it, except that a point or colon between letters separates;
- an ideograph (Chinese, Japanese) is a word of its own, with the marks behind it;
- a run of more than 256 bytes of UTF-8 is no word, and passed over.

**N-grams.** Of words: up to `high` words that follow each other, with a blank between. Of characters: pieces of
one word between `<` and `>`, `free` being `<fr`, `fre`, `ree`, `ee>`; a word too short for any is one piece.
Their names begin with a tilde, so that they are never taken for words: `~<fr`.

**Values.** How often the n-gram occurs, n: `count` n, `presence` 1, `log` 1 + log n; times the inverse document
frequency 1 + log((1 + N) / (1 + d)) of an n-gram that was in d of the N texts *before* this one; divided by the
length of the row.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from riata.words import Ngrams

LONGEST_WORD = 256
"""Bytes."""

_APOSTROPHES = "'\u2019\uff07"
_BETWEEN_LETTERS = "\u00b7\u0387\u055f\u05f4\u2027"
_BETWEEN_DIGITS = ".,\u066b\u066c"
_ZERO_WIDTH_SPACE = "\u200b"
_INSIDE = frozenset({"letter", "mark", "digit", "ideograph"})
_JOINED = {
    "apostrophe": frozenset({"letter", "mark"}),
    "between letters": frozenset({"letter", "mark"}),
    "between digits": frozenset({"digit"}),
    "connector": frozenset({"letter", "mark", "digit"}),
}
"""What may stand before and behind a character that is inside a word for that reason only."""


def kind_of(character: str) -> str:
    """What a character is to words.

    >>> [kind_of(c) for c in "aé7漢'. "]
    ['letter', 'letter', 'digit', 'ideograph', 'apostrophe', 'between digits', 'other']
    """
    category = unicodedata.category(character)
    if character in _APOSTROPHES:
        return "apostrophe"
    if character in _BETWEEN_LETTERS:
        return "between letters"
    if character in _BETWEEN_DIGITS:
        return "between digits"
    if category[0] == "L":
        name = unicodedata.name(character, "")
        ideograph = name.startswith(("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH"))
        return "ideograph" if ideograph else "letter"
    if category == "Cf" and character != _ZERO_WIDTH_SPACE:
        return "left out"
    return {"M": "mark", "N": "digit"}.get(
        category[0], "connector" if category == "Pc" else "other"
    )


def fold(character: str) -> str:
    """The character as it stands in names: one character always.

    >>> "".join(map(fold, "STRASSE Σίσυφος İ ẞ ’"))
    "strasse σίσυφοσ i ß '"
    """
    if character in _APOSTROPHES:
        return "'"
    if unicodedata.category(character) == "Pc":
        return "_"
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character.lower()[0]


def words(text: str) -> list[str]:
    """
    >>> words("Don’t pay 3.50, it's_FREE: mañana 漢字!")
    ["don't", 'pay', '3.50', "it's_free", 'mañana', '漢', '字']
    """
    return [word for _, _, word in word_places(text)]


def word_places(text: str) -> list[tuple[int, int, str]]:
    """Where words begin and end in a text, and what they are.

    >>> word_places("So, DON’T!")
    [(0, 2, 'so'), (4, 9, "don't")]
    """
    places = [i for i, c in enumerate(text) if kind_of(c) != "left out"]
    kinds = ["other", *(kind_of(text[i]) for i in places), "other"]
    found: list[tuple[int, int, str]] = []
    before = ""  # what the last word is made of, or nothing where it has ended
    for i, at in enumerate(places, start=1):
        kind, around = kinds[i], {kinds[i - 1], kinds[i + 1]}
        if not (kind in _INSIDE or around <= _JOINED.get(kind, frozenset())):
            before = ""
            continue
        if kind == "ideograph" or before == "" or (before == "ideograph" and kind != "mark"):
            found.append((at, at, ""))
            before = "ideograph" if kind == "ideograph" else "run"
        start, _, word = found[-1]
        found[-1] = start, at + 1, word + fold(text[at])
    return [place for place in found if len(place[2].encode()) <= LONGEST_WORD]


def ngrams(text: str, which: Ngrams | None = None) -> dict[str, int]:
    """How often each n-gram occurs, in the order of first appearance.

    >>> ngrams("Free entry! FREE")
    {'free': 2, 'entry': 1, 'free entry': 1, 'entry free': 1}
    >>> list(ngrams("to do", Ngrams(words=None, chars=(3, 4))))
    ['~<to', '~to>', '~<to>', '~<do', '~do>', '~<do>']
    """
    which = which or Ngrams()
    counts: dict[str, int] = {}
    for name, _, _ in ngram_places(words(text), which):
        counts[name] = counts.get(name, 0) + 1
    return counts


def ngram_places(found: list[str], which: Ngrams) -> list[tuple[str, int, int]]:
    """The n-grams of these words as they come, and from which word to behind which each of them is."""
    places: list[tuple[str, int, int]] = []
    for i, word in enumerate(found):
        if which.words is not None:
            low, high = which.words
            for n in range(low, high + 1):
                if n <= i + 1:
                    places.append((" ".join(found[i + 1 - n : i + 1]), i + 1 - n, i + 1))
        if which.chars is not None:
            low, high = which.chars
            whole = f"<{word}>"
            for n in range(min(low, len(whole)), high + 1):
                pieces = [f"~{whole[k : k + n]}" for k in range(len(whole) - n + 1)]
                places += [(piece, i, i + 1) for piece in pieces]
    return places


@dataclass
class Documents:
    """In how many texts each n-gram was, and how many they were."""

    count: int = 0
    holding: dict[str, int] = field(default_factory=dict)

    def add(self, names: Iterable[str]) -> None:
        """One text more. One without n-grams is none."""
        names = list(names)
        self.count += bool(names)
        for name in names:
            self.holding[name] = self.holding.get(name, 0) + 1

    def inverse_frequency(self, name: str) -> float:
        return 1 + math.log((1 + self.count) / (1 + self.holding.get(name, 0)))


def values(
    counts: Mapping[str, int],
    weight: str = "log",
    documents: Documents | None = None,
    norm: bool = True,
) -> dict[str, float]:
    """What the n-grams of a text are worth, `documents` being the texts before it; None: no such weight.

    >>> values({"free": 4, "call": 3}, "count")
    {'free': 0.8, 'call': 0.6}
    """
    found = {
        name: {"count": float(n), "presence": 1.0, "log": 1 + math.log(n)}[weight]
        for name, n in counts.items()
    }
    if documents is not None:
        found = {name: v * documents.inverse_frequency(name) for name, v in found.items()}
    length = math.sqrt(sum(v * v for v in found.values())) if norm else 1.0
    return {name: v / length for name, v in found.items()}
