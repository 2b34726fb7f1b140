"""AdaGrad's rates and implicit steps, under an elastic net and truncated: lazy against dense."""

from __future__ import annotations

import numpy as np
import pytest

from riata import _core
from riata.learners import ElasticNet, TruncatedGradient
from riata.reference.linear import implicit_slope
from tests.learners.dense import (
    assert_agrees,
    assert_passes_agree,
    assert_same_state,
    some_weights,
)
from tests.problems import block_of, dense_rows, labels_for

LOSSES = {name: classification for name, classification, *_ in _core.losses()}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("update", ["fobos", "sgd"])
@pytest.mark.parametrize("learning_rate", ["adagrad", "adagrad_explicit"])
@pytest.mark.parametrize(
    ("l1", "l2"), [(0.0, 0.0), (0.01, 0.0), (0.0, 0.02), (0.01, 0.02), (0.3, 2.0)]
)
def test_equals_dense_reference(loss, update, learning_rate, l1, l2):
    X = dense_rows(150, 40)
    y = labels_for(X, 2 if LOSSES[loss] else 0)
    learner = ElasticNet(
        loss=loss,
        update=update,
        l1=l1,
        l2=l2,
        eta0=0.3,
        learning_rate=learning_rate,
        epsilon=0.6,
        quantile=0.8,
    )
    assert_agrees(learner, X, y)


@pytest.mark.parametrize("store", ["dense", "table"])
@pytest.mark.parametrize("update", ["fobos", "sgd"])
def test_columns_weights_and_scaling_equal_dense(store, update):
    X = dense_rows(300, 30, seed=3)
    parameters = {"l1": 0.01, "l2": 0.01, "outputs": 4, "normalize": "l2", "store": store}
    learner = ElasticNet(update=update, learning_rate="adagrad", **parameters)
    assert_agrees(learner, X, labels_for(X, 4), some_weights(300, zero_every=5), np.int64)


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
def test_stopped_and_resumed_equals_never_stopped(store):
    X = dense_rows(200, 30)
    y = labels_for(X, 2)
    whole, first = (
        ElasticNet(learning_rate="adagrad", l1=0.01, store=store, bits=10) for _ in range(2)
    )
    whole.learn(block_of(X, y))
    first.learn(block_of(X[:90], y[:90]))
    resumed = ElasticNet.from_state(first.parameters(), first.state())
    for i in range(90, 200):
        resumed.learn(block_of(X[i : i + 1], y[i : i + 1]))
    assert_same_state(whole, resumed)


def test_a_feature_that_stopped_appearing_still_shrinks_to_zero():
    learner = ElasticNet(learning_rate="adagrad", l1=0.01, l2=0.0, eta0=0.5)
    learner.learn(block_of(np.array([[1.0, 0.0]]), np.ones(1)))
    assert 0 in learner.coef()[0]
    rest = np.tile([[0.0, 1.0]], (300, 1))
    learner.learn(block_of(rest, np.ones(300)))
    assert 0 not in learner.coef()[0]


def test_a_third_class_keeps_what_two_had_learned():
    X = dense_rows(100, 10)
    y = labels_for(X, 2)
    two = ElasticNet(learning_rate="adagrad")
    two.learn(block_of(X, y))
    three = two.with_outputs(3)
    scores = three.score(block_of(X))
    np.testing.assert_array_equal(scores[:, 1], two.score(block_of(X))[:, 0])
    np.testing.assert_array_equal(scores[:, 0], -scores[:, 1])
    assert np.isfinite(three.learn(block_of(X, labels_for(X, 3)))).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "update",
    [
        {"gravity": 0.02},
        {"gravity": 0.02, "theta": 0.1, "period": 7},
        {"update": "round", "theta": 0.05, "period": 10},
    ],
)
def test_truncation_equals_dense_reference(loss, update):
    X = dense_rows(300, 40)
    y = labels_for(X, 2 if LOSSES[loss] else 0)
    learner = TruncatedGradient(
        loss=loss, learning_rate="adagrad", eta0=0.3, epsilon=0.6, quantile=0.8, **update
    )
    assert_agrees(learner, X, y, some_weights(300, zero_every=6))


@pytest.mark.parametrize("loss", LOSSES)
def test_an_implicit_slope_is_that_after_the_step(loss):
    rng = np.random.default_rng(0)
    for _ in range(200):
        p, strength = rng.normal() * 10.0 ** rng.integers(-2, 4), 10.0 ** rng.uniform(-6, 8)
        y = rng.choice([-1.0, 1.0]) if LOSSES[loss] else rng.normal()
        expected = implicit_slope(loss, p, y, strength, 0.7)
        found = _core.implicit_slope(loss, p, y, 0.7, strength)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("eta0", [1e-3, 1.0, 1e9])
def test_no_rate_explodes(loss, eta0):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 4)) * [1e-4, 1.0, 300.0, 6e4]
    y = labels_for(X, 2) if LOSSES[loss] else 1e6 + 1e3 * (X / [1e-4, 1.0, 300.0, 6e4]).sum(axis=1)
    for parameters in ({"feature_scale": "none"}, {"feature_scale": "rms"}):
        learner = ElasticNet(loss=loss, eta0=eta0, learning_rate="adagrad", **parameters)
        scores = learner.learn(block_of(X, y))
        assert np.isfinite(scores).all()
        if not LOSSES[loss]:
            assert np.abs(scores[100:, 0] - 1e6).max() < 1e6  # the labels are within 1e4 of it


@pytest.mark.parametrize("loss", ["squared", "quantile"])
def test_units_and_origin_of_labels_do_not_matter(loss):
    X = dense_rows(300, 10)
    y = labels_for(X, 0)
    one, two = (ElasticNet(loss=loss, l1=0.0, l2=0.0, learning_rate="adagrad") for _ in range(2))
    a, b = one.learn(block_of(X, y)), two.learn(block_of(X, 1e6 + 1e4 * y))
    np.testing.assert_allclose((b[1:] - 1e6) / 1e4, a[1:], rtol=1e-6, atol=1e-6)


def test_rates_that_fall_after_each_pass_equal_dense():
    learner = TruncatedGradient(
        decay=0.5, learning_rate="adagrad", eta0=0.3, gravity=0.01, feature_scale="none"
    )
    assert_passes_agree(learner)


def test_the_subgradient_baseline_needs_a_schedule():
    with pytest.raises(ValueError, match="inv_sqrt"):
        TruncatedGradient(update="subgradient", learning_rate="adagrad")
    assert TruncatedGradient(update="subgradient").learning_rate == "inv_sqrt"
    with pytest.raises(ValueError, match="l1"):
        ElasticNet(learning_rate="adagrad", l1=-1.0)
