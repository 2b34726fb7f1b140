"""svmlight text reads the same, bit for bit, whatever instructions the processor has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata import _core
from tests.sources.text.test_numbers import nearest

WIDER = ("avx2", "avx512")


def parse(text: bytes, instructions: str, zero_based: bool = False) -> _core.ParsedRows:
    # 64 bytes behind the text, of the worst kind, so that it is read where it lies
    padded = text + b"7" * _core.PADDING
    return _core.parse_svmlight(padded, len(text), zero_based, True, instructions)


def instructions_here() -> list[str]:
    found = []
    for name in WIDER:
        try:
            parse(b"1 1:1\n", name)
        except ValueError:
            continue
        found.append(name)
    return found


HERE = instructions_here()


def said(error: _core.ParseError | None) -> tuple[str, int, bytes, int] | None:
    return None if error is None else (error.kind, error.column, error.text, error.previous)


def assert_same(text: bytes, zero_based: bool = False) -> _core.ParsedRows:
    plain = parse(text, "plain", zero_based)
    for name in HERE:
        wide = parse(text, name, zero_based)
        for field in ("labels", "indptr", "indices", "values", "lines"):
            a, b = getattr(plain, field), getattr(wide, field)
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes(), name
        assert plain.n_lines == wide.n_lines, name
        assert said(plain.error) == said(wide.error), name
    return plain


@pytest.fixture(autouse=True)
def _needs_wider() -> None:
    if not HERE:
        pytest.skip("this processor has no wider instructions")


digits = st.text("0123456789", min_size=1, max_size=18)
plain_number = st.builds(
    lambda sign, whole, fraction: sign + whole + fraction,
    st.sampled_from(["", "", "", "-", "+"]),
    st.text("0123456789", max_size=17),
    st.one_of(st.just(""), st.just("."), digits.map(lambda d: "." + d)),
)
float32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
number = st.one_of(
    plain_number,
    st.integers(0, 99).map(str),
    float32.map(lambda x: f"{x:.6g}"),
    float32.map(repr),
    st.sampled_from(
        ["nan", "inf", "-", ".", "-.", "1e", "1e-7", "1.5E+3", "0", "-0", "0x1", "1:2"]
    ),
)
word = st.one_of(
    st.builds(lambda index, value: f"{index}:{value}", st.integers(0, 10**10), number),
    st.sampled_from(
        ["qid:3", "#", "# 5:1", "5", ":", "5:", "x:1", "-3:1", "a", "\x00", "\xff", "1:1#"]
    ),
)
blank = st.sampled_from([" "] * 8 + ["  ", "\t", " \t", "\r"])


@st.composite
def ascending_line(draw: st.DrawFn) -> str:
    """Features that are right, and so are read in large groups, but for an odd one now and then."""
    steps = draw(st.lists(st.integers(1, 5000), max_size=150))
    value = st.one_of(
        st.integers(0, 9).map(str),
        st.floats(0, 1000, width=32).map(lambda x: f"{x:.6g}"),
        st.floats(-1, 1, width=32).map(lambda x: f"{x:.7f}"),
        float32.map(lambda x: f"{x:.16g}"),
    )
    words = [f"{i}:{draw(value)}" for i in np.cumsum(steps)]
    if draw(st.integers(0, 9)) == 0 and words:
        words.insert(draw(st.integers(0, len(words) - 1)), draw(word))
    return draw(st.sampled_from(["1", "-1", "0.5", "+1"])) + "".join(f" {w}" for w in words)


@st.composite
def any_line(draw: st.DrawFn) -> str:
    words = draw(st.lists(st.tuples(blank, word), max_size=12))
    label = draw(st.one_of(st.just("1"), number, st.just("")))
    return label + "".join(between + w for between, w in words)


ending = st.sampled_from(["\n", "\n", "\r\n", " \n", "\n\n", "# c\n"])


def as_text(lines: list[tuple[str, str]]) -> bytes:
    return "".join(line + end for line, end in lines).encode("latin-1") + b"\n"


@given(st.lists(st.tuples(ascending_line(), ending), max_size=20), st.booleans())
@settings(max_examples=120, deadline=None)
def test_right_lines(lines: list[tuple[str, str]], zero_based: bool) -> None:
    assert_same(as_text(lines), zero_based)


@given(st.lists(st.tuples(st.one_of(any_line(), ascending_line()), ending), max_size=12))
@settings(max_examples=200, deadline=None)
def test_any_lines(lines: list[tuple[str, str]]) -> None:
    assert_same(as_text(lines))


@given(st.binary(max_size=400), st.integers(0, 300))
@settings(max_examples=120, deadline=None)
def test_any_bytes(noise: bytes, before: int) -> None:
    assert_same(b"1 1:0.5 2:0.25\n" * before + noise.replace(b"\n", b" ") + b"\n")


@pytest.mark.parametrize("form", ["{:.6g}", "{:.9g}", "{:.17g}", "{:.5e}", "{:.3f}", "{:d}"])
def test_many(form: str) -> None:
    """Files larger than any window, in the forms that programs write."""
    random = np.random.default_rng(0)
    rows = []
    for _ in range(400):
        indices = np.unique(random.integers(1, 300_000, size=random.integers(0, 150)))
        x = random.standard_normal(len(indices)) * 10.0 ** random.integers(-8, 6, len(indices))
        values = x.astype(np.int64).tolist() if form == "{:d}" else x.tolist()
        words = [f"{i}:{form.format(v)}" for i, v in zip(indices.tolist(), values, strict=True)]
        rows.append(" ".join([str(random.integers(-1, 2)), *words]))
    read = assert_same("\n".join([*rows, ""]).encode())
    assert read.error is None
    assert read.n_lines == len(read.labels) == 400
    written = [nearest(w.partition(":")[2]) for row in rows for w in row.split()[1:]]
    assert read.values.tobytes() == np.array([v for v in written if v != 0]).tobytes()


def test_halfway() -> None:
    """Decimals at and around the middle between two floats, which one rounding too many gets wrong."""
    random = np.random.default_rng(1)
    floats = np.abs(random.standard_normal(1000)).astype(np.float32)
    middles = (floats.astype(np.float64) + np.nextafter(floats, np.float32(9))) / 2
    words = [f"{m:.{places}f}" for m in middles for places in (9, 14, 15, 17, 25)]
    text = "1" + "".join(f" {i}:{w}" for i, w in enumerate(words, 1)) + "\n"
    numbers = assert_same(text.encode()).values
    assert numbers.tolist() == [nearest(w) for w in words]


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match="no such instructions"):
        parse(b"1 1:1\n", "mmx")
