"""The TREC 2007 public spam corpus as Blocks, in order of arrival."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from riata.block import Block

DATA = Path(os.environ.get("RIATA_DATA", Path(__file__).parents[3] / "shared" / "data"))
CORPUS = DATA / "trec07p" / "trec07p.vw.zst"


def lines(path: Path = CORPUS) -> Iterator[str]:
    """The text of the corpus, a message a line."""
    import zstandard

    with path.open("rb") as file:
        plain = zstandard.ZstdDecompressor().stream_reader(file)
        yield from io.TextIOWrapper(plain, encoding="utf-8", errors="replace", newline="\n")


def messages(path: Path = CORPUS) -> tuple[Block, int]:
    """All messages in one Block, label 1 for spam, and how many features there are.

    Words of the header and of the body are features of their own, numbered as they first appear.
    """
    numbers: dict[tuple[str, str], int] = {}
    labels, indptr, indices = [], [0], []
    values: list[float] = []
    for line in lines(path):
        head, *spaces = line.rstrip("\n").split("|")
        labels.append(1.0 if head.split()[0] == "1" else 0.0)
        row: dict[int, float] = {}
        for space in spaces:
            name, *words = space.split(" ")
            for word in words:
                if word:
                    text, _, count = word.rpartition(":")
                    text, count = (text, count) if text else (word, "1")
                    feature = numbers.setdefault((name, text), len(numbers))
                    row[feature] = row.get(feature, 0.0) + float(count)
        order = sorted(row)
        indices.extend(order)
        values.extend(row[feature] for feature in order)
        indptr.append(len(indices))
    block = Block(
        np.array(indptr, dtype=np.int64),
        np.array(indices, dtype=np.int32),
        np.array(values, dtype=np.float32),
        labels=np.array(labels),
        path=path.name,
        lines=np.arange(1, len(labels) + 1),
    )
    return block, len(numbers)
