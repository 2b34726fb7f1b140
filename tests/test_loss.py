"""Losses: kernels against the reference, slopes against finite differences."""

import numpy as np
import pytest

from riata import _core
from riata.reference import linear as reference

LOSSES = _core.losses()


@pytest.mark.parametrize(("name", "classification", "probabilities", "parameter"), LOSSES)
def test_value_and_slope(name, classification, probabilities, parameter):
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.normal(scale=3, size=500), [800.0, -800.0, 0.0]])
    y = np.where(rng.random(503) < 0.5, -1.0, 1.0) if classification else rng.normal(size=503)
    value, slope = (f(name, p, y, 0.7) for f in (_core.loss_value, _core.loss_slope))
    expected = [reference.loss_value(name, a, b, 0.7) for a, b in zip(p, y, strict=True)]
    slopes = [reference.loss_slope(name, a, b, 0.7) for a, b in zip(p, y, strict=True)]
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(slope, slopes, rtol=1e-13, atol=1e-300)
    h = 1e-6
    difference = (_core.loss_value(name, p + h, y, 0.7) - _core.loss_value(name, p - h, y, 0.7)) / (
        2 * h
    )
    np.testing.assert_allclose(slope[:500], difference[:500], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [name for name, _, probabilities, _ in LOSSES if probabilities])
def test_probability_grows_with_the_score(name):
    p = np.linspace(-40, 40, 2001)
    probability = _core.loss_probability(name, p)
    assert probability.min() >= 0
    assert probability.max() <= 1
    assert (np.diff(probability) >= 0).all()
    np.testing.assert_allclose(probability + _core.loss_probability(name, -p), 1, rtol=1e-12)
