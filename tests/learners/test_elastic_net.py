"""The elastic-net kernels against the dense reference, and what users may rely on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from riata import _core
from riata.errors import DivergenceError
from riata.learners import ElasticNet, InteriorPoint
from tests.learners.dense import assert_agrees, assert_same_state, coefficients
from tests.problems import block_of, dense_rows, labels_for

LOSSES = [name for name, *_ in _core.losses()]
CLASSIFIES = {name: classification for name, classification, *_ in _core.losses()}
RATES = ["constant", "inv_sqrt", "inv_t", "invscaling"]
PENALTIES = [(0.0, 0.0), (0.01, 0.0), (0.0, 0.1), (0.003, 0.05)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("update", ["fobos", "sgd"])
@pytest.mark.parametrize("learning_rate", RATES)
@pytest.mark.parametrize(("l1", "l2"), PENALTIES)
def test_equals_dense_reference(loss, update, learning_rate, l1, l2):
    X = dense_rows(300, 40)
    y = labels_for(X, 2 if CLASSIFIES[loss] else 0)
    eta0 = 0.05 if loss in ("squared", "squared_hinge") else 0.3
    learner = ElasticNet(
        loss=loss, update=update, learning_rate=learning_rate, l1=l1, l2=l2,
        eta0=eta0, power_t=0.7, epsilon=0.6, quantile=0.8,
    )  # fmt: skip
    assert_agrees(learner, X, y)


@pytest.mark.parametrize("update", ["fobos", "sgd"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("normalize", ["none", "l2", "sqrt_nnz"])
def test_columns_weights_and_scaling_equal_dense(update, index, fit_intercept, normalize):
    X = dense_rows(150, 30, seed=3)
    y = labels_for(X, 5)
    weights = np.random.default_rng(0).random(150) * 2
    learner = ElasticNet(
        update=update,
        l1=0.002,
        l2=0.01,
        outputs=5,
        fit_intercept=fit_intercept,
        normalize=normalize,
    )
    assert_agrees(learner, X, y, weights, index)


def test_clipped_predictions_equal_dense():
    X = dense_rows(200, 20)
    learner = ElasticNet(loss="squared", eta0=0.05, clip=(-0.5, 1.0))
    assert_agrees(learner, X, labels_for(X, 0))
    assert learner.score(block_of(X)).max() <= 1.0


@pytest.mark.parametrize("update", ["fobos", "sgd"])
def test_rescaling_changes_nothing(update):
    """A penalty so strong that P falls below every threshold many times over."""
    X = dense_rows(400, 30, seed=5)
    learner = ElasticNet(update=update, l1=1e-4, l2=1.8, eta0=0.5, learning_rate="constant")
    assert_agrees(learner, X, labels_for(X, 2))


def test_a_column_of_many_equals_the_column_alone():
    X = dense_rows(300, 30, seed=6)
    y = labels_for(X, 4)
    together = ElasticNet(l1=0.002, l2=0.01, outputs=4)
    scores = together.learn(block_of(X, y))
    for c in range(4):
        alone = ElasticNet(l1=0.002, l2=0.01)
        single = alone.learn(block_of(X, (y == c).astype(float)))
        assert np.array_equal(single[:, 0], scores[:, c])
        assert np.array_equal(coefficients(alone, 30)[:, 0], coefficients(together, 30)[:, c])


def test_batch_equals_loop_and_order():
    X = dense_rows(200, 30)
    y = labels_for(X, 2)
    order = np.random.default_rng(0).permutation(200)
    batch, loop, shuffled = ElasticNet(l1=1e-3), ElasticNet(l1=1e-3), ElasticNet(l1=1e-3)
    batch.learn(block_of(X[order], y[order]))
    shuffled.learn(block_of(X, y), order)
    for i in order:
        loop.learn(block_of(X[i : i + 1], y[i : i + 1]))
    assert_same_state(batch, loop)
    assert_same_state(batch, shuffled)


@pytest.mark.parametrize("update", ["fobos", "sgd"])
def test_resumed_equals_uninterrupted_and_reading_changes_nothing(update):
    X = dense_rows(400, 50)
    y = labels_for(X, 2)
    straight = ElasticNet(update=update, l1=0.003, l2=0.2)
    straight.learn(block_of(X, y))
    stopped = ElasticNet(update=update, l1=0.003, l2=0.2)
    for start in range(0, 400, 37):
        stopped.learn(block_of(X[start : start + 37], y[start : start + 37]))
        stopped.coef(), stopped.n_live(), stopped.score(block_of(X))
        stopped = pickle.loads(pickle.dumps(stopped))
    assert_same_state(straight, stopped)


def test_a_feature_that_never_returns_is_still_shrunk_to_zero():
    rows = np.zeros((5001, 2))
    rows[0, 0] = 1
    rows[1:, 1] = 1
    learner = ElasticNet(l1=1e-3, l2=0.0, eta0=0.1, learning_rate="constant")
    learner.learn(block_of(rows[:1], np.ones(1)))
    assert learner.coef()[0].tolist() == [0]
    learner.learn(block_of(rows[1:], np.ones(5000)))
    assert learner.coef()[0].tolist() == [1]
    assert learner.state()["keys"].tolist() == [1]


@pytest.mark.parametrize("family", [ElasticNet, InteriorPoint])
def test_far_indices_cost_only_the_pages_they_touch(family):
    learner = family()
    far = block_of(np.eye(1, 3), np.ones(1), index=np.int64)
    far.indices[:] = 10**10
    learner.learn(far)
    assert learner.n_features == 10**10 + 1
    assert learner.coef()[0].tolist() == [10**10]


def test_divergence_is_an_error_and_the_state_stays_finite():
    X = dense_rows(400, 10, density=1.0) * 1e3
    learner = ElasticNet(loss="squared", eta0=10.0, learning_rate="constant")
    with pytest.raises(DivergenceError, match="lower eta0"):
        learner.learn(block_of(X, labels_for(X, 0)))
    assert all(np.isfinite(array).all() for array in learner.state().values())


def test_nan_values_never_enter_the_state():
    X = dense_rows(20, 5, density=1.0)
    block = block_of(X, labels_for(X, 2))
    block.values[7] = np.nan
    learner = ElasticNet()
    with pytest.raises(DivergenceError):
        learner.learn(block)
    assert all(np.isfinite(array).all() for array in learner.state().values())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l1": -1}, "l1=-1 must be at least 0"),
        ({"l2": float("nan")}, "l2=nan"),
        ({"eta0": 0}, "eta0=0 must be above 0"),
        ({"eta0": "fast"}, "not a number"),
        ({"loss": "log"}, "loss='log' is not one of 'logistic'"),
        ({"update": "adam"}, "'fobos', 'sgd'"),
        ({"learning_rate": "optimal"}, "not one of"),
        (
            {"update": "sgd", "learning_rate": "constant", "l2": 2.0, "eta0": 0.5},
            "must be below 1 with update='sgd'",
        ),
        ({"quantile": 1.0}, "quantile=1.0 must be above 0 and below 1"),
        ({"clip": (0, 1)}, "for a loss of regression"),
        ({"outputs": 0}, "outputs=0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ElasticNet(**parameters)


def test_malformed_blocks_are_refused():
    learner = ElasticNet()
    good = block_of(dense_rows(3, 5, density=1.0), np.ones(3))
    for indptr in ([0, 5, 3, 15], [0, 5, 10, 99], [-4, 5, 10, 15]):
        with pytest.raises(ValueError, match="not well formed"):
            learner.learn(
                type(good)(np.array(indptr, dtype=np.int64), good.indices, good.values, good.labels)
            )
    with pytest.raises(ValueError, match="not well formed"):
        learner.learn(good, np.array([0, 7], dtype=np.int64))
    with pytest.raises(ValueError, match="labels differ in length"):
        learner.learn(good.with_labels(np.ones(2), None))
    with pytest.raises(ValueError, match="without labels"):
        learner.learn(good.with_labels(None, None))


def test_negative_index_is_refused():
    block = block_of(dense_rows(3, 5, density=1.0), np.ones(3))
    block.indices[4] = -1
    with pytest.raises(ValueError, match="index"):
        ElasticNet().learn(block)


def test_wide_indices_are_never_narrowed():
    """Labels of another type ask for a conversion; the indices must not be converted with them."""
    block = block_of(np.eye(1, 3), np.ones(1), index=np.int64)
    block.indices[:] = 2**32 + 5
    learner = ElasticNet(store="table")
    learner.learn(block.with_labels(np.ones(1, dtype=np.int64), None))
    assert learner.coef()[0].tolist() == [2**32 + 5]
