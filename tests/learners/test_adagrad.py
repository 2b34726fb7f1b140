"""AdaGrad's rates under an elastic net: lazy against dense."""

from __future__ import annotations

import numpy as np
import pytest

from riata import _core
from riata.learners import ElasticNet, TruncatedGradient
from tests.learners.dense import assert_agrees, assert_same_state, some_weights
from tests.problems import block_of, dense_rows, labels_for

LOSSES = {name: classification for name, classification, *_ in _core.losses()}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("update", ["fobos", "sgd"])
@pytest.mark.parametrize(
    ("l1", "l2"), [(0.0, 0.0), (0.01, 0.0), (0.0, 0.02), (0.01, 0.02), (0.3, 2.0)]
)
def test_equals_dense_reference(loss, update, l1, l2):
    X = dense_rows(300, 40)
    y = labels_for(X, 2 if LOSSES[loss] else 0)
    learner = ElasticNet(
        loss=loss,
        update=update,
        l1=l1,
        l2=l2,
        eta0=0.3,
        learning_rate="adagrad",
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


def test_only_the_elastic_net_has_it():
    with pytest.raises(ValueError, match="adagrad"):
        TruncatedGradient(learning_rate="adagrad")
    with pytest.raises(ValueError, match="l1"):
        ElasticNet(learning_rate="adagrad", l1=-1.0)
