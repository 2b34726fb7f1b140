"""Vowpal Wabbit text, read slowly, after its documentation and nothing else.

    [label] [importance] [initial] [tag]|namespace[:weight] feature[:value] ... |namespace ...

The tag touches the bar or starts with a quote. A feature without a value has 1, one without a name its
place among those of its namespace. Values are multiplied by the weight of their namespace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

Feature = tuple[bytes, np.float32]


@dataclass
class Example:
    label: float = math.nan
    weight: float = 1.0
    initial: float = 0.0
    features: list[Feature] = field(default_factory=list)
    """As they stand, one may come twice; those of value zero are none."""

    def merged(self) -> dict[bytes, np.float32]:
        """In order of first appearance, repeated ones added up in that order."""
        sums: dict[bytes, np.float32] = {}
        for name, value in self.features:
            sums[name] = sums[name] + value if name in sums else value
        return {name: value for name, value in sums.items() if value != 0}


def examples(text: bytes) -> list[tuple[int, Example]]:
    """All examples, each with the number of its line."""
    lines = enumerate(text.split(b"\n"), 1)
    return [(number, example(line)) for number, line in lines if line.strip(b" \t\r")]


def example(line: bytes) -> Example:
    before, *spaces = line.split(b"|")
    words = before.split()
    if words and (not before.endswith((b" ", b"\t")) or words[-1].startswith(b"'")):
        words.pop()  # the tag
    read = Example()
    if words:
        read.label = float(words[0])
    if len(words) > 1:
        read.weight = float(words[1])
    if len(words) > 2:
        read.initial = float(words[2])
    for space in spaces:
        read.features += features_of(space)
    return read


def features_of(space: bytes) -> list[Feature]:
    words = space.split()
    name, weight = b"", np.float32(1)
    if words and not space[:1].isspace():
        name, colon, scale = words.pop(0).partition(b":")
        weight = np.float32(float(scale)) if colon else weight
    features: list[Feature] = []
    unnamed = 0
    for word in words:
        feature, colon, number = word.partition(b":")
        value = np.float32(float(number)) * weight if colon else weight
        if not feature:
            feature, unnamed = str(unnamed).encode(), unnamed + 1
        if value != 0:
            features.append((name + b"^" + feature if name else feature, value))
    return features
