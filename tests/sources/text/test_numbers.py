"""Values in text round to float32 once, as numpy.float32(text) does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata import _core


def parse(values: list[str]) -> np.ndarray:
    text = ("1 " + " ".join(f"{i}:{v}" for i, v in enumerate(values, 1)) + "\n").encode()
    rows = _core.parse_svmlight(text, len(text), False, True)
    assert rows.error is None, rows.error.kind
    dense = np.zeros(len(values), dtype=np.float32)
    dense[rows.indices] = rows.values
    return dense


def nearest(text: str) -> np.float32:
    """The nearest float32 by exact arithmetic, ties to even: the definition itself."""
    exact = Fraction(text)
    with np.errstate(over="ignore"):
        return _nearest(exact, np.float32(float(exact)))


def _nearest(exact: Fraction, guess: np.float32) -> np.float32:
    around = [
        guess,
        np.nextafter(guess, np.float32(-np.inf)),
        np.nextafter(guess, np.float32(np.inf)),
    ]
    finite = [f for f in around if np.isfinite(f)]
    return min(finite, key=lambda f: (abs(Fraction(float(f)) - exact), int(f.view(np.uint32)) & 1))


def assert_rounded(values: list[str]) -> None:
    expected = np.array([nearest(v) for v in values], dtype=np.float32)
    got = parse(values)
    wrong = np.flatnonzero(got != expected)
    assert not len(wrong), [(values[i], got[i], expected[i]) for i in wrong[:5]]


FIXED = """
    0 0.1 1. .5 16777217 16777219 1e-45 1e-46 7.006492321624085e-46 7.006492321624086e-46
    1.17549435e-38 3.4028234e38 3.4028235677e38 0.000000000000000000000000000001
    8388608.5 8388609.5 1.00000005960464477539062 1.00000005960464477539063 123456789e-20
    340282346638528859811704183484516925440 00000000000000000000000001.5
"""


def test_fixed() -> None:
    assert_rounded(FIXED.split())


@pytest.mark.parametrize("form", ["{:.9g}", "{:.17g}", "{:.6f}", "{:.3e}", "{:.40g}", "{:.12f}"])
def test_random(form: str) -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 0x7F000000, 3000, dtype=np.uint32)
    floats = np.concatenate([bits.view(np.float32), rng.normal(size=3000).astype(np.float32)])
    assert_rounded([form.format(float(f)) for f in floats])


def test_midpoints_and_their_neighbours() -> None:
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 0x7F000000, 2000, dtype=np.uint32)
    low, high = bits.view(np.float32).astype(float), (bits + 1).view(np.float32).astype(float)
    middle = (low + high) / 2  # exact in float64
    texts = [f"{m:.60g}" for m in middle]
    assert_rounded(texts)
    assert_rounded([f"{np.nextafter(m, np.inf):.60g}" for m in middle])
    assert_rounded([f"{np.nextafter(m, -np.inf):.60g}" for m in middle])


@settings(max_examples=500, deadline=None)
@given(
    st.from_regex(r"\A-?([0-9]{1,40}|[0-9]{0,20}\.[0-9]{1,40}|[0-9]{1,8}\.)(e[+-]?[0-2]?[0-9])?\Z")
)
def test_any_decimal(text: str) -> None:
    if abs(Fraction(text)) <= Fraction(float(np.finfo(np.float32).max)):
        assert_rounded([text])


@settings(max_examples=300, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_labels_are_doubles(label: float) -> None:
    text = f"{label!r} 1:1\n".encode()
    assert _core.parse_svmlight(text, len(text), False, True).labels.tolist() == [label]
