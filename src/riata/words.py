"""How texts become features: the options, as one value that schemas and transformers hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

WEIGHTS = ("count", "presence", "log")
MOST_WORDS = 8
MOST_CHARS = 16

_PART = re.compile(r"(words|chars):(\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class Ngrams:
    """Of how many words, and of how many characters; None: none of these.

    >>> Ngrams.parse("words:1-2,chars:3-5")
    Ngrams(words=(1, 2), chars=(3, 5))
    >>> str(Ngrams.parse("chars:3"))
    'chars:3'
    """

    words: tuple[int, int] | None = (1, 2)
    chars: tuple[int, int] | None = None

    @classmethod
    def parse(cls, text: str) -> Ngrams:
        found: dict[str, tuple[int, int]] = {}
        for part in text.split(",") if isinstance(text, str) else [""]:
            match = _PART.fullmatch(part.strip())
            if match is None or match[1] in found:
                raise ValueError(
                    f"ngrams are such as words:1-2, chars:3-5 or words:1-2,chars:3-5, not {text!r}"
                )
            low, high = int(match[2]), int(match[3] or match[2])
            most = MOST_WORDS if match[1] == "words" else MOST_CHARS
            if not 1 <= low <= high <= most:
                raise ValueError(
                    f"n-grams of {match[1]} go from 1 up to {most}, the shorter first, "
                    f"not {part.strip()!r}"
                )
            found[match[1]] = (low, high)
        return cls(found.get("words"), found.get("chars"))

    def __str__(self) -> str:
        parts = []
        for name, span in (("words", self.words), ("chars", self.chars)):
            if span is not None:
                parts.append(f"{name}:{span[0]}" + (f"-{span[1]}" if span[1] > span[0] else ""))
        return ",".join(parts)

    @property
    def spans(self) -> tuple[int, int, int, int]:
        """As the core wants them: 0 for none."""
        return (*(self.words or (0, 0)), *(self.chars or (0, 0)))


_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Each is a word."""
_LOOKS = 10
"""Fewer values than these do not show what a column is."""


def looks_like_text(values: Sequence[str]) -> bool:
    """Whether values of a column are texts to be taken apart: mostly different, of several words.

    >>> looks_like_text([f"message {i} of somebody" for i in range(20)])
    True
    >>> looks_like_text(["New York City", "Rio de Janeiro"] * 10)
    False
    >>> looks_like_text([f"这家餐厅的菜很好吃{i}" for i in range(20)])
    True
    """
    if len(values) < _LOOKS or len(set(values)) < len(values) / 2:
        return False
    words = [sum(any(map(str.isalpha, word)) for word in _parted(value)) for value in values]
    return sum(words) >= 3 * len(values) and sum(n >= 2 for n in words) > len(values) / 2


def _parted(text: str) -> list[str]:
    return (text if text.isascii() else _IDEOGRAPH.sub(r" \g<0> ", text)).split()


@dataclass(frozen=True)
class TextOptions:
    """How the texts of a column become features. See `riata.reference.words` for what exactly each means.

    ngrams: which n-grams, such as `words:1-2,chars:3-5`.
    weight: what an n-gram that occurs n times is worth: `count` n, `presence` 1, `log` 1 + log n.
    idf: times the inverse document frequency, by the texts seen before.
    norm: divided by the length of the row, so that this is one.

    By default an n-gram is a feature like any other: worth one where it occurs, and somewhat more where it does
    so again. How much a feature is worth beside others is for the learner to find out.
    """

    ngrams: str = "words:1-2"
    weight: str = "log"
    idf: bool = False
    norm: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngrams", str(Ngrams.parse(self.ngrams)))
        if self.weight not in WEIGHTS:
            raise ValueError(f"weight is one of {', '.join(WEIGHTS)}, not {self.weight!r}")

    @property
    def spans(self) -> tuple[int, int, int, int]:
        return Ngrams.parse(self.ngrams).spans

    @property
    def core(self) -> tuple[tuple[int, int, int, int], str, bool]:
        """As the core wants them for a column."""
        norm = self.norm and not self.idf  # what is yet to be weighed is divided by its length then
        return self.spans, self.weight, norm

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TextOptions:
        return cls(**{name: values[name] for name in cls.__dataclass_fields__ if name in values})

    def __str__(self) -> str:
        """
        >>> str(TextOptions(norm=True))
        'words:1-2, log, row length one'
        """
        shown = [self.ngrams, self.weight]
        shown += ["inverse document frequency"] * self.idf + ["row length one"] * self.norm
        return ", ".join(shown)
