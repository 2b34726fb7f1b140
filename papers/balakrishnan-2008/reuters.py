"""Reuters-21578, the ModApte split, one category of it: from the SGML to rows of unit length."""

from __future__ import annotations

import functools
import html
import os
import re
import tarfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

DATA = Path(os.environ.get("RIATA_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
ARCHIVE = DATA / "reuters21578" / "reuters21578_sgm.tar.gz"

STORY = re.compile(r"<REUTERS(?P<head>[^>]*)>(?P<story>.*?)</REUTERS>", re.DOTALL)
SPLIT = re.compile(r'LEWISSPLIT="([^"]*)"')
TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
TEXT = re.compile(r"<TEXT[^>]*>(.*?)</TEXT>", re.DOTALL)
DATELINE = re.compile(r"<DATELINE>.*?</DATELINE>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
WORD = re.compile(r"[a-z][a-z']+|[0-9]+")


Example = tuple[bool, Counter[str]]
"""Whether it is of the category, and how often each word occurs."""


@dataclass(frozen=True)
class Split:
    """Rows, labels of -1 and +1, and what the columns are called."""

    X: sparse.csr_matrix
    y: np.ndarray
    words: list[str]


def inside(pattern: re.Pattern[str], text: str) -> str:
    """What the pattern has in its parentheses, where it is found first."""
    found = pattern.search(text)
    assert found is not None, f"a story without {pattern.pattern}"
    return found[1]


@functools.cache
def stories() -> list[tuple[str, str, list[str]]]:
    """(LEWISSPLIT, TOPICS, words) of every story with TOPICS="YES"."""
    out = []
    with tarfile.open(ARCHIVE) as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            if not member.name.endswith(".sgm"):
                continue
            file = archive.extractfile(member)
            assert file is not None, f"{member.name} is not a file"
            text = file.read().decode("latin-1")
            for match in STORY.finditer(text):
                head, story = match["head"], match["story"]
                if 'TOPICS="YES"' not in head:
                    continue
                split = inside(SPLIT, head)
                body = DATELINE.sub(" ", inside(TEXT, story))
                text_alone = html.unescape(TAG.sub(" ", body)).lower()
                out.append((split, inside(TOPICS, story), WORD.findall(text_alone)))
    return out


def load(counts: bool = False, category: str = "earn") -> tuple[Split, Split]:
    """Train and test: (1 + log tf) * log(N / df) of the training words, rows of length 1, as float32 holds them.

    With `counts`, how often each word occurs instead.
    """
    by_split: dict[str, list[Example]] = {"TRAIN": [], "TEST": []}
    for split, topics, words in stories():
        if split in by_split:
            by_split[split].append((f"<D>{category}</D>" in topics, Counter(words)))
    train = by_split["TRAIN"]
    df = Counter(word for _, occurs in train for word in occurs)
    words = sorted(df)
    column = {word: j for j, word in enumerate(words)}
    idf = {word: np.log(len(train) / df[word]) for word in words}

    def rows(examples: list[Example]) -> Split:
        indptr = [0]
        indices: list[int] = []
        values: list[float] = []
        for _, words_of in examples:
            known = sorted(
                (column[w], float(n) if counts else (1 + np.log(n)) * idf[w])
                for w, n in words_of.items()
                if w in column
            )
            weights = np.array([v for _, v in known])
            length = 1.0 if counts else np.sqrt((weights**2).sum()) or 1.0
            keep = weights > 0
            indices.extend(np.array([j for j, _ in known], dtype=np.int64)[keep])
            values.extend((weights / length)[keep])
            indptr.append(len(indices))
        X = sparse.csr_matrix(
            (
                np.array(values, dtype=np.float32),
                np.array(indices, dtype=np.int32),
                np.array(indptr),
            ),
            shape=(len(examples), len(words)),
        )
        return Split(X, np.where([inside_it for inside_it, _ in examples], 1.0, -1.0), words)

    return rows(train), rows(by_split["TEST"])
