"""Texts to words and bigrams, in one thread, against scikit-learn's vectorizers at equal tokens.

The texts are the stories of Reuters-21578, 16 MB of English, a row each. What is a word is what scikit-learn's
pattern says of it, `\\w+`, in texts of which all but letters, digits and blanks is gone: there everybody finds the same
words, and that they do is checked.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from functools import cache

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from benchmarks.paths import DATA
from benchmarks.ratio import Ratio, Run, Times, ratio
from riata import TextFeatures, _core

TITLE = "Texts to words and bigrams, one thread"
SPEED = 150.0
"""Megabytes a second."""
HASHING, COUNTING = 30.0, 10.0
SCIKIT = {"token_pattern": r"(?u)\w+", "ngram_range": (1, 2)}


@cache
def stories() -> list[str]:
    found = []
    with tarfile.open(DATA / "reuters21578" / "reuters21578_sgm.tar.gz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".sgm") else None
            if file is not None:
                text = file.read().decode("latin-1")
                found += re.findall(r"<BODY>(.*?)</BODY>", text, re.DOTALL)
    return [re.sub(r"[^A-Za-z0-9\n]+", " ", story) for story in found]


def ratios(run: Run) -> Iterator[Ratio]:
    if not (DATA / "reuters21578" / "reuters21578_sgm.tar.gz").exists():
        yield Ratio("Reuters-21578", None, why="its archive is not under $RIATA_DATA")
        return
    texts = stories()[:2000] if run.quick else stories()
    counts = TextFeatures(weight="count")
    counting = CountVectorizer(**SCIKIT)
    ours, theirs = counts.fit_transform(texts), counting.fit_transform(texts)
    assert set(counts.get_feature_names_out()) == set(counting.get_feature_names_out())
    assert np.array_equal(np.sort(ours.data), np.sort(theirs.data))
    hashing = HashingVectorizer(**SCIKIT)
    size = sum(map(len, texts)) / 1e6

    def tokenise(names: bool) -> None:
        for start in range(0, len(texts), 1000):
            _core.tokenise(texts[start : start + 1000], (1, 2, 0, 0), "log", "body^", names)

    times = run.turns(
        {
            "tokenise": lambda: tokenise(True),
            "without names": lambda: tokenise(False),
            "transform": lambda: counts.transform(texts),
            "fit_transform": lambda: TextFeatures(weight="count").fit_transform(texts),
            "hashing": lambda: hashing.transform(texts),
            "counting": lambda: CountVectorizer(**SCIKIT).fit_transform(texts),
        }
    )
    best, median = times["tokenise"].best, times["tokenise"].median
    yield Ratio(
        "words and bigrams with their names",
        size / best,
        size / median,
        unit=" MB/s",
        least=SPEED,
        detail=f"{size:.1f} MB, {ours.nnz:,} features in rows",
    )
    yield _against("HashingVectorizer.transform", times["hashing"], times["tokenise"], HASHING, "")
    yield _against(
        "HashingVectorizer.transform",
        times["hashing"],
        times["without names"],
        HASHING,
        "the same without names, which it has none of either",
    )
    yield _against(
        "HashingVectorizer.transform", times["hashing"], times["transform"], None, "TextFeatures"
    )
    yield _against(
        "CountVectorizer.fit_transform",
        times["counting"],
        times["fit_transform"],
        COUNTING,
        "TextFeatures",
    )


def _against(what: str, theirs: Times, ours: Times, least: float | None, note: str) -> Ratio:
    return ratio(f"{what} / {note or 'rows of a text column'}", theirs, ours, least=least)
