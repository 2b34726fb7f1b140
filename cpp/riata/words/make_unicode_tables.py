"""Write unicode_tables.hpp, from the Unicode data that Python brings along.

    python cpp/riata/words/make_unicode_tables.py > cpp/riata/words/unicode_tables.hpp

It must be the pinned version of Unicode, which CPython 3.11 has: a name must not depend on who reads it.
"""

from __future__ import annotations

import sys
import unicodedata
from itertools import groupby

from riata.reference.words import fold, kind_of

PINNED = "14.0.0"
KINDS = (
    "other",
    "letter",
    "digit",
    "mark",
    "ideograph",
    "left out",
    "apostrophe",
    "connector",
    "between letters",
    "between digits",
)
"""In the order of `Kind` in characters.hpp."""


def kind_ranges() -> list[tuple[int, int, int]]:
    """First, last and kind of all ranges of characters that are something to words."""
    kinds = ((point, KINDS.index(kind_of(chr(point)))) for point in range(0x110000))
    ranges = []
    for kind, group in groupby(kinds, key=lambda entry: entry[1]):
        points = [point for point, _ in group]
        if kind:
            ranges.append((points[0], points[-1], kind))
    return ranges


def fold_ranges() -> list[tuple[int, int, int, int]]:
    """First, last, step and difference of all ranges of characters that are folded alike."""
    ranges: list[list[int]] = []
    for point in range(0x110000):
        by = ord(fold(chr(point))) - point
        if by == 0:
            continue
        last = ranges[-1] if ranges else None
        if last is not None and last[3] == by and point - last[1] in (1, 2):
            step = point - last[1]
            if last[0] == last[1] or last[2] == step:
                last[1:3] = point, step
                continue
        ranges.append([point, point, 1, by])
    return [(first, last, step, by) for first, last, step, by in ranges]


def filled(entries: list[str]) -> str:
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 110:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    return "\n".join([*lines, line])


def tables() -> str:
    kinds, folds = kind_ranges(), fold_ranges()
    return f"""// Characters of Unicode {PINNED}, as words see them. make_unicode_tables.py writes this file.
// clang-format off
#pragma once

#include "riata/words/characters.hpp"

namespace riata::words {{

inline constexpr KindRange kKindRanges[{len(kinds)}] = {{
{filled([f"{{{first:#x},{last:#x},{kind}}}" for first, last, kind in kinds])}
}};

inline constexpr FoldRange kFoldRanges[{len(folds)}] = {{
{filled([f"{{{first:#x},{last:#x},{step},{by}}}" for first, last, step, by in folds])}
}};

}}  // namespace riata::words
"""


if __name__ == "__main__":
    if unicodedata.unidata_version != PINNED:
        sys.exit(f"this Python has Unicode {unicodedata.unidata_version}, not {PINNED}")
    sys.stdout.write(tables())
