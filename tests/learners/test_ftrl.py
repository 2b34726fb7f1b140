"""FTRL-Proximal against the dense reference."""

from __future__ import annotations

import numpy as np
import pytest

from riata import _core
from riata.learners import FTRL
from tests.learners.dense import assert_agrees
from tests.problems import dense_rows, labels_for

LOSSES = {name: classification for name, classification, *_ in _core.losses()}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.5, 0.0), (0.0, 1.0), (0.3, 0.2)])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_equals_dense_reference(loss, l1, l2, beta):
    X = dense_rows(300, 40)
    y = labels_for(X, 2 if LOSSES[loss] else 0)
    assert_agrees(
        FTRL(loss=loss, alpha=0.2, beta=beta, l1=l1, l2=l2, epsilon=0.6, quantile=0.8), X, y
    )


@pytest.mark.parametrize("normalize", ["none", "l2", "sqrt_nnz"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_columns_weights_and_scaling_equal_dense(normalize, fit_intercept):
    X = dense_rows(300, 30, seed=3)
    weights = np.random.default_rng(0).random(300) * 2
    learner = FTRL(l1=0.2, outputs=4, normalize=normalize, fit_intercept=fit_intercept)
    assert_agrees(learner, X, labels_for(X, 4), weights, np.int64)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha=0 must be above 0"),
        ({"beta": -1}, "beta=-1"),
        ({"l1": -1}, "l1=-1"),
        ({"l2": "x"}, "l2"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        FTRL(**parameters)
