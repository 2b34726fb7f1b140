"""Texts to n-grams: the core against the reference, on any Unicode; the tables; weights learned on the way."""

from __future__ import annotations

import importlib.util
import math
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from riata import _core
from riata.reference import words as reference
from riata.words import Ngrams, TextOptions

WORDS = Path(__file__).parent.parent / "cpp" / "riata" / "words"
PINNED = "14.0.0"
same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version != PINNED, reason=f"the tables are those of Unicode {PINNED}"
)
KINDS = ["words:1-2", "words:1", "words:2-3", "chars:3-5", "words:1-2,chars:2-4", "words:8"]

odd = st.sampled_from(
    "aZéÉßẞİΣς09٣.,'’_ \n\t漢字か\u0301\u00ad\u200d\u200b\ufeff·٫-~^\x00\U0001f600\U00020000\U00010400Ⱥ\u2126"
)
texts = st.one_of(
    st.text(odd, max_size=300),
    st.text(max_size=100),
    st.lists(
        st.sampled_from(["free", "entry", "a", "Don't", "3.50", "été", "漢字"]), max_size=60
    ).map(" ".join),
)


def ngrams(text: str | bytes, kind: str = "words:1-2", prefix: str = "body^") -> dict[str, float]:
    """The n-grams of a text by the core, in their order; their keys are those of their names."""
    rows = _core.tokenise([text], Ngrams.parse(kind).spans, "count", prefix, True)
    assert rows.error is None
    bare = _core.tokenise([text], Ngrams.parse(kind).spans, "count", prefix, False)
    np.testing.assert_array_equal(bare.indices, rows.indices)
    np.testing.assert_array_equal(bare.values, rows.values)
    names, ends = rows.names.tobytes(), rows.name_offsets.tolist()
    found = [names[a:b] for a, b in pairwise(ends)]
    assert [_core.key_of_name(name) for name in found] == rows.indices.tolist()
    shown = [name.decode().removeprefix(prefix) for name in found]
    assert len(set(shown)) == len(shown)
    return dict(zip(shown, rows.values.tolist(), strict=True))


@same_unicode
@settings(max_examples=400, deadline=None)
@given(
    texts,
    st.sampled_from(KINDS),
    st.sampled_from(["", "body^", "a name of more than sixteen bytes^"]),
)
@example("l·'x x·y 1.2.3 a.b ''a' a_1_ _", "words:1-2", "body^")
@example("漢\ufe00a漢'字 9漢9", "words:1-2", "body^")
@example("x" * 256 + " " + "y" * 257 + " z", "words:1-2,chars:3", "body^")
def test_the_core_does_what_the_reference_says(text: str, kind: str, prefix: str) -> None:
    expected = reference.ngrams(text, Ngrams.parse(kind))
    assert list(ngrams(text, kind, prefix).items()) == list(expected.items())


@same_unicode
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_long_texts_are_looked_at_in_parts_that_nobody_sees(seed: int, kind: str) -> None:
    random = np.random.default_rng(seed)
    pieces = ["free", "don't", "3.5", "été", "漢字", "end.", "\n", "A" * 300, "x_y"]
    blanks = [" ", "\n", "-", "\u3000"]
    text = "".join(
        pieces[i] + blanks[j]
        for i, j in zip(
            random.integers(0, 9, 6000), random.choice(4, 6000, p=[0.1, 0.1, 0.4, 0.4]), strict=True
        )
    )
    expected = reference.ngrams(text, Ngrams.parse(kind))
    assert list(ngrams(text, kind).items()) == list(expected.items())


@pytest.mark.parametrize("kind", KINDS)
def test_ascii_is_the_same_in_every_unicode(kind: str) -> None:
    """Also where the tables are of another version than Python's."""
    text = "".join(map(chr, range(128))) + " It's FREE: 3.50, x_y; don't! 'a' 1,000. a.b " * 9
    expected = reference.ngrams(text, Ngrams.parse(kind))
    assert list(ngrams(text, kind).items()) == list(expected.items())


@same_unicode
def test_the_tables_are_those_that_their_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("tables", WORDS / "make_unicode_tables.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PINNED == PINNED
    assert (WORDS / "unicode_tables.hpp").read_text() == script.tables()


def test_folding_twice_changes_nothing() -> None:
    folded = [reference.fold(chr(point)) for point in range(0x110000)]
    assert all(reference.fold(character) == character for character in set(folded))


@pytest.mark.parametrize(
    ("text", "byte"),
    [
        (b"free \xff entry", 5),
        (b"caf\xc3", 3),
        (b"\xed\xa0\x80", 0),
        (b"a" * 70 + b"\xf5", 70),
        (b"word " * 20_000 + b"\x80 and so on", 100_000),
        ("漢".encode() + b"\xe6\xbc", 3),
    ],
)
def test_what_is_no_text_is_found_to_the_byte(text: bytes, byte: int) -> None:
    rows = _core.tokenise([b"fine", text], (1, 2, 0, 0), "count", "", True)
    assert (rows.error.kind, rows.n_lines, rows.error.column) == ("not_text", 1, byte)


def test_a_text_of_100_mb() -> None:
    text = b"the quick brown fox jumps over the lazy dog " * (100_000_000 // 44)
    rows = _core.tokenise([text], (1, 2, 0, 0), "count", "b^", True)
    assert len(rows.values) == 8 + 9
    assert rows.values.max() == 2 * (100_000_000 // 44)


def test_a_run_without_blanks_is_no_word_and_no_trouble() -> None:
    rows = _core.tokenise([b"x" * 5_000_000 + b" y"], (1, 2, 3, 5), "count", "", True)
    assert rows.names.tobytes() == b"y~<y>"


@given(st.lists(texts, max_size=8), st.sampled_from(["count", "presence", "log"]))
@settings(max_examples=50, deadline=None)
def test_values_are_those_of_the_reference(many: list[str], weight: str) -> None:
    rows = _core.tokenise(many, (1, 2, 0, 0), weight, "", True)
    expected = [
        value
        for text in many
        for value in reference.values(_counts(text), weight, norm=False).values()
    ]
    np.testing.assert_allclose(rows.values, expected, rtol=1e-6)


def _counts(text: str) -> dict[str, int]:
    return {name: int(n) for name, n in ngrams(text, prefix="").items()}


@given(st.lists(texts, max_size=12), st.booleans(), st.booleans())
@settings(max_examples=50, deadline=None)
def test_an_example_is_weighed_by_what_was_before_it(
    many: list[str], idf: bool, norm: bool
) -> None:
    rows = _core.tokenise(many, (1, 2, 0, 0), "log", "b^", True)
    weights = _core.TextWeights([("b^", idf, norm, 0)], *_no_counts())
    half = len(many) // 2
    for learned in (slice(0, half), slice(half, None)):
        _weigh(weights, rows, learned)
    documents = reference.Documents()
    expected = []
    for text in many:
        counts = _counts(text)
        expected += reference.values(counts, "log", documents if idf else None, norm).values()
        documents.add(counts)
    np.testing.assert_allclose(rows.values, expected, rtol=2e-6)
    if idf:
        assert weights.documents() == [documents.count]
        assert sorted(weights.arrays()[1].tolist()) == sorted(documents.holding.values())


def _no_counts() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint32)


def _weigh(
    weights: _core.TextWeights, rows: _core.ParsedRows, which: slice, learn: bool = True
) -> None:
    start, stop, _ = which.indices(len(rows.indptr) - 1)
    indptr = rows.indptr[start : stop + 1].copy()
    weights.weigh(indptr, rows.indices, rows.values, rows.names, rows.name_offsets, learn)


def test_frozen_counts_give_the_same_bits_again() -> None:
    many = ["free entry now", "call now", "", "free call"]
    first = _core.tokenise(many, (1, 2, 0, 0), "log", "b^", True)
    weights = _core.TextWeights([("b^", True, True, 0)], *_no_counts())
    _weigh(weights, first, slice(None))
    assert weights.documents() == [3]  # a text without words is none
    again = _core.TextWeights([("b^", True, True, 3)], *weights.arrays())
    one, other = (_core.tokenise(["free now"], (1, 2, 0, 0), "log", "b^", True) for _ in "ab")
    _weigh(weights, one, slice(None), learn=False)
    _weigh(again, other, slice(None), learn=False)
    assert one.values.tobytes() == other.values.tobytes()
    assert again.documents() == [3]
    assert len(again) == len(weights)


def test_columns_are_weighed_apart_and_others_left_alone() -> None:
    rows = _core.tokenise(["x y"], (1, 1, 0, 0), "count", "a^b^", True)
    weights = _core.TextWeights([("a^", True, True, 0), ("a^b^", False, True, 0)], *_no_counts())
    _weigh(weights, rows, slice(None))
    np.testing.assert_allclose(rows.values, math.sqrt(0.5))
    assert weights.documents() == [0, 0]
    other = _core.tokenise(["x y"], (1, 1, 0, 0), "count", "c^", True)
    _weigh(weights, other, slice(None))
    assert other.values.tolist() == [1, 1]


def test_a_full_table_forgets_the_rarest() -> None:
    weights = _core.TextWeights([("", True, False, 0)], *_no_counts(), most=100)
    for i in range(200):
        _weigh(
            weights, _core.tokenise([f"every w{i}"], (1, 1, 0, 0), "count", "", True), slice(None)
        )
    assert len(weights) <= 100
    keys, counts = weights.arrays()
    assert counts[keys.tolist().index(_core.key_of_name(b"every"))] == 200
    assert weights.documents() == [200]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        "words:0-2",
        "words:2-1",
        "words:1-9",
        "chars:3-17",
        "words:1,words:2",
        "bytes:1",
    ],
)
def test_ngrams_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"words:1-2|go from 1"):
        Ngrams.parse(text)
    with pytest.raises(ValueError, match=r"words:1-2|go from 1"):
        TextOptions(ngrams=text)


def test_options_are_plain_values() -> None:
    options = TextOptions(ngrams="chars:3-5,words:1", weight="presence", idf=False)
    assert options.ngrams == "words:1,chars:3-5"
    assert TextOptions.from_json(options.to_json() | {"documents": 3}) == options
    with pytest.raises(ValueError, match="weight is one of count, presence, log, not 'tf'"):
        TextOptions(weight="tf")
