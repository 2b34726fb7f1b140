"""Truncated gradient, rounding and subgradient against the dense reference, and their special cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riata import _core
from riata.learners import ElasticNet, TruncatedGradient
from tests.learners.dense import assert_agrees, assert_passes_agree, coefficients
from tests.problems import block_of, dense_rows, labels_for

LOSSES = {name: classification for name, classification, *_ in _core.losses()}
RATES = _core.schedules()
RULES = [
    {"update": "truncate", "gravity": 0.01},
    {"update": "truncate", "gravity": 0.01, "period": 10},
    {"update": "truncate", "gravity": 0.02, "theta": 0.05, "period": 3},
    {"update": "truncate", "gravity": 0.05, "theta": 0.05},
    {"update": "round", "theta": 0.05, "period": 10},
    {"update": "subgradient", "gravity": 0.01},
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learning_rate", RATES)
@pytest.mark.parametrize("rule", RULES, ids=lambda r: "-".join(map(str, r.values())))
def test_equals_dense_reference(loss, learning_rate, rule):
    X = dense_rows(300, 40)
    y = labels_for(X, 2 if LOSSES[loss] else 0)
    eta0 = 0.05 if loss in ("squared", "squared_hinge") else 0.3
    learner = TruncatedGradient(
        loss=loss,
        learning_rate=learning_rate,
        eta0=eta0,
        power_t=0.7,
        epsilon=0.6,
        quantile=0.8,
        feature_scale="none",
        **rule,
    )
    assert_agrees(learner, X, y)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: "-".join(map(str, r.values())))
@pytest.mark.parametrize("normalize", ["l2", "sqrt_nnz"])
def test_columns_weights_and_scaling_equal_dense(rule, normalize):
    X = dense_rows(300, 30, seed=3)
    weights = np.random.default_rng(0).random(300) * 2
    learner = TruncatedGradient(outputs=4, normalize=normalize, fit_intercept=False, **rule)
    assert_agrees(learner, X, labels_for(X, 4), weights, np.int64)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: "-".join(map(str, r.values())))
@pytest.mark.parametrize("learning_rate", ["constant", "inv_sqrt"])
def test_decay_after_each_pass_equals_dense(rule, learning_rate):
    learner = TruncatedGradient(
        decay=0.5, learning_rate=learning_rate, eta0=0.3, feature_scale="none", **rule
    )
    assert_passes_agree(learner)


def test_no_gravity_is_plain_stochastic_gradient():
    X = dense_rows(300, 40)
    y = labels_for(X, 2)
    plain = ElasticNet(l1=0.0, l2=0.0)
    learner = TruncatedGradient(gravity=0.0)
    assert np.array_equal(plain.learn(block_of(X, y)), learner.learn(block_of(X, y)))
    assert np.array_equal(coefficients(plain, 40), coefficients(learner, 40))


def test_infinite_theta_with_period_one_is_fobos():
    """Section 3.3: with theta = inf the rule is forward-backward splitting under an L1 penalty."""
    X = dense_rows(300, 40)
    y = labels_for(X, 2)
    fobos = ElasticNet(l1=0.01, l2=0.0)
    learner = TruncatedGradient(gravity=0.01, theta=math.inf)
    np.testing.assert_allclose(
        fobos.learn(block_of(X, y)), learner.learn(block_of(X, y)), rtol=1e-12
    )


def test_strong_gravity_with_theta_is_rounding():
    """Section 3.3: eq. 6 is eq. 4 once n K gravity >= theta."""
    X = dense_rows(300, 40)
    y = labels_for(X, 2)
    common = {"theta": 0.05, "period": 10, "learning_rate": "constant", "eta0": 0.1}
    rounding = TruncatedGradient(update="round", **common)
    learner = TruncatedGradient(gravity=0.06, **common)
    assert np.array_equal(rounding.learn(block_of(X, y)), learner.learn(block_of(X, y)))


def test_round_at_end():
    X = dense_rows(300, 40)
    learner = TruncatedGradient(update="subgradient", gravity=0.01, round_at_end=0.1)
    learner.learn(block_of(X, labels_for(X, 2)))
    before = coefficients(learner, 40)
    assert 0 < np.abs(before[before != 0]).min() < 0.1
    learner.finish()
    after = coefficients(learner, 40)
    np.testing.assert_array_equal(after, np.where(np.abs(before) <= 0.1, 0, before))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gravity": -1}, "gravity=-1 must be at least 0"),
        ({"theta": float("nan")}, "theta=nan"),
        ({"period": 0}, "period=0 must be at least 1"),
        ({"period": 2.5}, "whole number"),
        ({"decay": 1.5}, "at most 1"),
        ({"decay": 0}, "decay=0 must be above 0"),
        ({"update": "round"}, "theta=inf"),
        ({"update": "fobos"}, "'truncate', 'round', 'subgradient'"),
        ({"round_at_end": -0.1}, "round_at_end"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TruncatedGradient(**parameters)
