"""The core's own exp, log and log1p: within one unit in the last place, whatever the C library; the normal
distribution: within a few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from riata import _core

mpmath = pytest.importorskip("mpmath")
rng = np.random.default_rng(11)


def spread(low: float, high: float, n: int = 1500) -> np.ndarray:
    return rng.uniform(low, high, n)


def units_off(f: Callable[[Any], Any], x: np.ndarray, got: np.ndarray) -> float:
    """The largest distance from the exact value, in units of its last place."""
    with mpmath.workprec(150):
        worst = 0.0
        for at, value in zip(x, got, strict=True):
            exact = f(mpmath.mpf(float(at)))
            unit = mpmath.mpf(float(np.spacing(abs(float(exact)))))
            worst = max(worst, float(abs(mpmath.mpf(float(value)) - exact) / unit))
        return worst


CASES = {
    "exp near zero": ("exp", spread(-1, 1)),
    "exp": ("exp", spread(-745, 709.7)),
    "exp of next to nothing": ("exp", np.exp(spread(-80, -5)) * rng.choice([-1, 1], 1500)),
    "bounded_exp": ("bounded_exp", spread(-700, 700)),
    "log near one": ("log", 1 + spread(-0.3, 0.5)),
    "log": ("log", np.exp(spread(-708, 709))),
    "log of subnormals": ("log", 5e-324 * rng.integers(1, 1 << 50, 300)),
    "log1p on [0, 1]": ("log1p", spread(0, 1)),
    "log1p near zero": ("log1p", np.exp(spread(-60, 0)) * rng.choice([-1, 1], 1500)),
    "log1p below zero": ("log1p", spread(-1, 0)),
    "log1p above one": ("log1p", np.exp(spread(0, 80))),
}


@pytest.mark.parametrize("case", CASES)
def test_within_one_unit(case: str) -> None:
    name, x = CASES[case]
    exact = {"exp": mpmath.exp, "bounded_exp": mpmath.exp, "log": mpmath.log, "log1p": mpmath.log1p}
    assert units_off(exact[name], x, getattr(_core, name)(x)) < 1


@pytest.mark.parametrize(
    ("name", "exact", "x"),
    [
        ("wide_log1p", mpmath.log1p, spread(-1, 1)),
        ("wide_log1p", mpmath.log1p, np.exp(spread(-60, 0)) * rng.choice([-1, 1], 1500)),
        ("wide_log1p", mpmath.log1p, np.exp(spread(0, 690))),
        ("one_minus_exp_of_minus", lambda a: -mpmath.expm1(-a), np.exp(spread(-80, 0))),
        ("one_minus_exp_of_minus", lambda a: -mpmath.expm1(-a), spread(0, 708)),
    ],
)
def test_within_three_units(name: str, exact: Callable[[Any], Any], x: np.ndarray) -> None:
    assert units_off(exact, x, getattr(_core, name)(x)) < 3


@pytest.mark.parametrize(
    ("low", "high", "most"), [(-1, 1, 4), (-10, 10, 4), (-37.5, -9.99, 4), (9.9, 38, 1)]
)
def test_normal_distribution(low: float, high: float, most: float) -> None:
    x = spread(low, high)
    assert units_off(mpmath.ncdf, x, _core.normal_cdf(x)) < most


def exact_slope(z: Any) -> Any:
    return mpmath.npdf(z) / mpmath.ncdf(z)


def exact_log(z: Any) -> Any:
    return mpmath.log1p(-mpmath.ncdf(-z)) if z > 0 else mpmath.log(mpmath.ncdf(z))


@pytest.mark.parametrize(
    ("low", "high"), [(-10, 0), (0, 10), (10, 37), (-1000, -10), (-0.001, 0.001)]
)
def test_slope_and_logarithm_of_it(low: float, high: float) -> None:
    x = spread(low, high, 500)
    slope, _, log_value = _core.probit_derivatives(x)
    assert units_off(exact_slope, x, slope) < 6
    assert units_off(exact_log, x, log_value) < 6


def test_ends() -> None:
    x = np.array([-np.inf, -1e300, -40.0, 40.0, 1e300, np.inf, np.nan, 0.0])
    np.testing.assert_array_equal(_core.normal_cdf(x), [0, 0, 0, 1, 1, 1, np.nan, 0.5])
    slope, curvature, _ = _core.probit_derivatives(x[2:6])
    np.testing.assert_array_equal(slope[1:], 0)
    np.testing.assert_array_equal(curvature[1:], 0)
    inf, nan = np.inf, np.nan
    x = np.array([inf, -inf, nan, 710.0, -746.0, 0.0, -745.1])
    np.testing.assert_array_equal(_core.exp(x), [inf, 0, nan, inf, 0, 1, 5e-324])
    x = np.array([0.0, -1.0, inf, nan, 1.0])
    np.testing.assert_array_equal(_core.log(x), [-inf, nan, inf, nan, 0])
    x = np.array([0.0, -1.0, inf, nan, -2.0, 1e300])
    np.testing.assert_array_equal(_core.log1p(x), [0, -inf, inf, nan, nan, np.log(1e300)])
    x = np.array([-inf, -1e300, 1e300, inf])
    np.testing.assert_allclose(_core.bounded_exp(x), np.exp([-700.0, -700, 700, 700]), rtol=1e-15)
