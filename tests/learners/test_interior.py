"""The interior-point kernel against the dense reference and the general method, and what users may rely on."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata.errors import DataError, DivergenceError
from tests.learners.interiors import (
    CLASSIFIES,
    InteriorPoint,
    assert_agrees,
    bounded_or_not,
    coefficients,
    dense,
)
from tests.problems import block_of, dense_rows, labels_for


@pytest.mark.parametrize("loss", list(CLASSIFIES))
@pytest.mark.parametrize("dimension", [0, 40])
@pytest.mark.parametrize(
    ("l1", "sigma", "k0"), [(0.01, 0.5, 1.0), (0.0, 0.1, 30.0), (0.5, 1.0, 0.0)]
)
def test_equals_dense_reference(loss, dimension, l1, sigma, k0):
    X = dense_rows(200, 40)
    y = labels_for(X, 2 if CLASSIFIES[loss] else 0)
    learner = InteriorPoint(
        loss=loss, l1=l1, sigma=sigma, k0=k0, dimension=dimension, epsilon=0.6, quantile=0.8
    )
    assert_agrees(learner, X, y)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_and_starts_equal_dense(index, fit_intercept):
    X = dense_rows(200, 30, seed=3)
    weights = np.random.default_rng(0).random(200) * 2
    learner = InteriorPoint(l1=0.01, start=0.05, dual=0.3, fit_intercept=fit_intercept)
    assert_agrees(learner, X, labels_for(X, 2), weights, index)


@pytest.mark.parametrize("dimension", [0, 30])
@pytest.mark.parametrize(
    "bounds",
    [(0, None), (None, 0), (-0.3, 0.2), (None, 0.1), {3: (0.5, 2.0), 4: (-2, -0.1), 29: (0, 0.05)},
     {"*": (0, 1), 7: (None, None)}],
)  # fmt: skip
def test_bounds_equal_dense_and_hold(bounds, dimension):
    X = dense_rows(300, 30, seed=4)
    y = labels_for(X, 2)
    low, high = np.full(31, -np.inf), np.full(31, np.inf)
    pairs = bounds if isinstance(bounds, dict) else {"*": bounds}
    for key in sorted(pairs, key=lambda key: key != "*"):  # the rest first
        where = slice(None) if key == "*" else key
        low[where] = -np.inf if pairs[key][0] is None else pairs[key][0]
        high[where] = np.inf if pairs[key][1] is None else pairs[key][1]
    learner = InteriorPoint(l1=0.003, bounds=bounds, dimension=dimension, k0=5)
    known = tuple(key for key in pairs if key != "*")
    model = assert_agrees(learner, X, y, low=low, high=high, known=known)
    keys, weights = learner.coef()
    assert (low[keys] < weights[:, 0]).all()
    assert (weights[:, 0] < high[keys]).all()
    assert set(known) <= set(keys.tolist())
    assert (model.x[model.below] > model.lo[model.below]).all()


def test_features_never_seen_share_one_state_exactly():
    """A feature first shown late continues, bit for bit, as if it had been swept along from the start."""
    X = dense_rows(100, 20, density=1.0, rare=False)
    late = np.zeros((1, 21))
    late[0, 20] = 1.0
    first = block_of(np.hstack([X, np.zeros((100, 1))]), labels_for(X, 2))
    showing = InteriorPoint(l1=0.01, dimension=30)
    showing.learn(first)
    unseen = showing.state()["rows"][0]
    showing.learn(block_of(late, np.ones(1), weights=np.zeros(1)))  # no weight: no gradient
    state = showing.state()
    assert state["keys"].tolist()[-1] == 20
    assert np.array_equal(state["rows"][-1], state["rows"][0])
    assert not np.array_equal(unseen, state["rows"][0])  # it does move
    assert unseen[0] == unseen[2]  # the halves are equal: it weighs exactly nothing
    assert unseen[1] == unseen[3]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-6, 1.0, 1e3, 1e9]),
    l1=st.sampled_from([0.0, 1e-3, 1.0, 1e4]),
    sigma=st.sampled_from([1e-6, 0.5, 1.0]),
    k0=st.sampled_from([0.0, 1.0, 50.0]),
    loss=st.sampled_from(["logistic", "hinge", "huber"]),
)
def test_strictly_feasible_after_every_step_on_adversarial_gradients(
    seed, scale, l1, sigma, k0, loss
):
    """Signs and sizes of the gradients have nothing to do with any objective."""
    rng = np.random.default_rng(seed)
    X = (
        (rng.normal(size=(60, 12)) * scale * (rng.random((60, 12)) < 0.4))
        .astype(np.float32)
        .astype(float)
    )
    y = (rng.random(60) < 0.5).astype(float)
    learner = InteriorPoint(loss=loss, l1=l1, sigma=sigma, k0=k0)
    for i in range(60):
        learner.learn(block_of(X[i : i + 1], y[i : i + 1]))
        rows = learner.state()["rows"]
        assert np.isfinite(rows).all()
        assert (rows > 0).all()
        assert 0 < learner.step[0] <= 1 / (k0 + i + 1)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-3, 1.0, 1e6]))
def test_bounds_hold_strictly_after_every_step_on_adversarial_gradients(seed, scale):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(60, 6)) * scale).astype(np.float32).astype(float)
    y = (rng.random(60) < 0.5).astype(float)
    low, high = np.array([-1, 0, 0.5, -3, -1e-3, 1e6]), np.array([1, 2, 0.75, -2, 1e-3, 1e6 + 1])
    bounds = {i: (low[i], high[i]) for i in range(6)}
    learner = InteriorPoint(l1=0.01, bounds=bounds, k0=0)
    for i in range(60):
        learner.learn(block_of(X[i : i + 1], y[i : i + 1]))
        w = coefficients(learner, 6)[:, 0]
        assert (low < w).all()
        assert (w < high).all()


def test_a_column_of_many_equals_the_column_alone():
    X = dense_rows(200, 30, seed=6)
    y = labels_for(X, 4)
    together = InteriorPoint(l1=0.002, outputs=4)
    scores = together.learn(block_of(X, y))
    for c in range(4):
        alone = InteriorPoint(l1=0.002)
        single = alone.learn(block_of(X, (y == c).astype(float)))
        assert np.array_equal(single[:, 0], scores[:, c])
        assert np.array_equal(coefficients(alone, 30)[:, 0], coefficients(together, 30)[:, c])


@pytest.mark.parametrize("normalize", ["l1", "l2", "sqrt_nnz"])
def test_scaling_equals_scaled_rows(normalize):
    X = dense_rows(150, 20, density=1.0)
    y = labels_for(X, 2)
    norms = {
        "l1": np.abs(X).sum(axis=1),
        "l2": np.sqrt((X * X).sum(axis=1)),
        "sqrt_nnz": np.sqrt((X != 0).sum(axis=1)),
    }[normalize]
    learner = InteriorPoint(l1=0.001, normalize=normalize)
    scores = learner.learn(block_of(X, y))
    model = dense(learner, 20)
    scaled = np.where(X != 0, X / np.maximum(norms, 1e-30)[:, None], 0.0)
    np.testing.assert_allclose(scores[:, 0], model.learn(scaled, 2 * y - 1), rtol=1e-10, atol=1e-12)
    expected = scaled @ model.w + model.intercept
    np.testing.assert_allclose(learner.score(block_of(X))[:, 0], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("bounds", [None, (-0.5, None)])
def test_batch_equals_loop_and_order(bounds):
    X = dense_rows(200, 30)
    y = labels_for(X, 2)
    order = np.random.default_rng(0).permutation(200)
    batch, loop, shuffled = (InteriorPoint(l1=1e-3, bounds=bounds) for _ in range(3))
    batch.learn(block_of(X[order], y[order]))
    shuffled.learn(block_of(X, y), order)
    for i in order:
        loop.learn(block_of(X[i : i + 1], y[i : i + 1]))
    for other in (loop, shuffled):
        for name, array in batch.state().items():
            assert np.array_equal(array, other.state()[name]), name


@bounded_or_not
def test_resumed_equals_uninterrupted_and_reading_changes_nothing(bounds, outputs):
    X = dense_rows(300, 50)
    y = labels_for(X, max(2, outputs))
    make = {"l1": 0.003, "bounds": bounds, "outputs": outputs, "prune": 0.1}
    straight = InteriorPoint(**make)
    straight.learn(block_of(X, y))
    stopped = InteriorPoint(**make)
    for start in range(0, 300, 37):
        stopped.learn(block_of(X[start : start + 37], y[start : start + 37]))
        stopped.coef(), stopped.n_live(), stopped.score(block_of(X))
        stopped = pickle.loads(pickle.dumps(stopped))
        parameters = json.loads(json.dumps(stopped.parameters()))
        stopped = InteriorPoint.from_state(parameters, stopped.state())
    assert stopped.parameters() == straight.parameters()
    for name, array in straight.state().items():
        assert np.array_equal(array, stopped.state()[name]), name


def test_score_reads_the_weights_that_coef_shows():
    X = dense_rows(300, 40, seed=8)
    y = labels_for(X, 3)
    for prune in (0.0, 0.05, 0.6):
        learner = InteriorPoint(l1=0.01, outputs=3, prune=prune)
        learner.learn(block_of(X, y))
        wider = np.hstack([X, np.ones((300, 5))])  # five features never seen
        expected = X @ coefficients(learner, 40) + learner.intercept
        np.testing.assert_allclose(learner.score(block_of(wider)), expected, rtol=1e-10, atol=1e-12)


def test_prune_drops_the_smallest_up_to_its_share():
    X = dense_rows(400, 60, seed=9)
    learner = InteriorPoint(l1=0.01)
    learner.learn(block_of(X, labels_for(X, 2)))
    everything = coefficients(learner, 60)[:, 0]
    pruned = InteriorPoint.from_state(learner.parameters() | {"prune": 0.1}, learner.state())
    kept = coefficients(pruned, 60)[:, 0]
    dropped = (kept == 0) & (everything != 0)
    assert 0 < dropped.sum() == np.count_nonzero(everything) - pruned.n_live()
    total = np.abs(everything).sum()
    assert np.abs(everything[dropped]).sum() <= 0.1 * total
    smallest_kept = np.abs(kept[kept != 0]).min()
    assert np.abs(everything[dropped]).max() <= smallest_kept
    assert (
        np.abs(everything[dropped]).sum() + smallest_kept > 0.1 * total
    )  # one more would be too many


def test_prune_follows_what_is_learned():
    X = dense_rows(200, 30, seed=10)
    block = block_of(X, labels_for(X, 2))
    learner = InteriorPoint(l1=0.01, prune=0.2)
    learner.learn(block[:100])
    before = learner.coef()[1].copy()
    learner.learn(block[100:])
    fresh = InteriorPoint(l1=0.01, prune=0.2)
    fresh.learn(block)
    assert np.array_equal(learner.coef()[1], fresh.coef()[1])
    assert before.shape != learner.coef()[1].shape or not np.array_equal(before, learner.coef()[1])


def test_approaches_the_exact_lasso():
    from sklearn.linear_model import Lasso

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10)).astype(np.float32).astype(float)
    y = X @ np.array([3.0, -2, 0, 0, 1.5, 0, 0, 0, 0, -0.2]) + rng.normal(size=400)
    exact = Lasso(alpha=0.3, fit_intercept=False).fit(X, y).coef_
    learner = InteriorPoint(
        loss="squared", l1=0.3, sigma=0.1, k0=20, fit_intercept=False, dimension=10
    )
    for _ in range(60):
        learner.learn(block_of(X, y))
    w = coefficients(learner, 10)[:, 0]
    assert np.abs(w - exact).max() < 0.05
    assert np.abs(w[exact == 0]).max() < 0.02


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("bounds", [None, (0, 1)])
def test_nan_gradients_keep_the_last_feasible_iterate(bad, bounds):
    X = dense_rows(20, 8, density=0.7)
    y = labels_for(X, 2)
    good, bitten = InteriorPoint(bounds=bounds), InteriorPoint(bounds=bounds)
    good.learn(block_of(X[:7], y[:7]))
    block = block_of(X, y)
    block.values[block.indptr[7]] = bad
    with pytest.raises(
        DivergenceError, match="row 7: the gradient is not a number.*as it was before"
    ):
        bitten.learn(block)
    assert bitten.t == 7
    for name, array in good.state().items():
        assert np.array_equal(array, bitten.state()[name]), name
    bitten.learn(block_of(X[8:], y[8:]))  # and it goes on from there
    assert np.isfinite(bitten.state()["rows"]).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0}, "sigma=0 must be above 0"),
        ({"sigma": 1.5}, "sigma=1.5 must be above 0 and at most 1"),
        ({"sigma": -0.5}, "sigma=-0.5"),
        ({"sigma": float("nan")}, "sigma=nan"),
        ({"l1": -1}, "l1=-1 must be at least 0"),
        ({"k0": -1}, "k0=-1"),
        ({"start": 0}, "start=0"),
        ({"prune": 1}, "prune=1 must be at least 0 and below 1"),
        ({"loss": "log"}, "loss='log' is not one of"),
        ({"normalize": "max"}, "normalize='max'"),
        ({"outputs": 0}, "outputs=0"),
        ({"bounds": (1, 0)}, "bounds of all features contradict each other"),
        ({"bounds": (0, 0)}, "no number lies strictly between 0 and 0"),
        ({"bounds": {3: (2, 2)}}, "bounds of feature 3 contradict"),
        ({"bounds": (0.5, 1)}, "must contain 0"),
        ({"bounds": {-1: (0, 1)}}, "-1 is not the index of a feature"),
        ({"bounds": {"": (0, 1)}}, "'' is not the index of a feature"),
        ({"bounds": {"price": (1, 2)}}, "bounds 1, 2 of price must contain 0"),
        ({"bounds": {9: (0, 1)}, "dimension": 9}, "below 9"),
        ({"bounds": (0, 1, 2)}, "is not \\(low, high\\)"),
        ({"bounds": (0, float("nan"))}, "contradict"),
        ({"bounds": (0, 1e40)}, "too large"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        InteriorPoint(**parameters)


def test_a_feature_beyond_the_dimension_is_named():
    X = np.eye(4)
    learner = InteriorPoint(dimension=3)
    with pytest.raises(DataError, match="row 3: feature 3 is beyond dimension=3"):
        learner.learn(block_of(X, np.ones(4)))
    assert learner.t == 0


def test_malformed_blocks_are_refused():
    learner = InteriorPoint()
    good = block_of(dense_rows(3, 5, density=1.0, rare=False), np.ones(3))
    for indptr in ([0, 5, 3, 15], [0, 5, 10, 99], [-4, 5, 10, 15]):
        with pytest.raises(ValueError, match="not well formed"):
            learner.learn(
                type(good)(np.array(indptr, dtype=np.int64), good.indices, good.values, good.labels)
            )
    with pytest.raises(ValueError, match="labels differ in length"):
        learner.learn(good.with_labels(np.ones(2), None))
    with pytest.raises(ValueError, match="without labels"):
        learner.learn(good.with_labels(None, None))
    good.indices[1] = -1
    with pytest.raises(ValueError, match="index"):
        learner.learn(good)


def test_bits_do_not_depend_on_the_machine():
    """Every operation again, in the order that the source gives it: no fused or reordered arithmetic."""
    d, n, l1, sigma, k0 = 21, 40, 0.01, 0.5, 5.0
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(n, d)) * 0.05).astype(np.float32).astype(np.float64)
    y = rng.normal(size=n) * 0.1
    learner = InteriorPoint(
        loss="squared", l1=l1, sigma=sigma, k0=k0, start=1.0, dual=0.1, fit_intercept=False
    )
    learner.learn(block_of(X, y))
    x, z = np.full((2, d + 1), 1.0), np.full((2, d + 1), 0.1)  # column 0: never seen
    product = 0.0
    for _ in range(d):
        product += (0.0 + 1.0 * 0.1) + 1.0 * 0.1
    for k in range(n):
        p = 0.0
        for j in range(d):
            p += (x[0, j + 1] - x[1, j + 1]) * X[k, j]
        g = np.append(0.0, (p - y[k]) * X[k])
        never = (0.0 + x[0, 0] * z[0, 0]) + x[1, 0] * z[1, 0]
        mu = sigma * (product + 1.0 * never) / (2.0 * d + 1.0 * 2.0)
        a = 1.0 / (k0 + k + 1)
        wide = x * (x + z)
        r = 1.0 / (wide[0] * wide[1])
        slopes, inverses = np.stack([l1 + g, l1 - g]), np.stack([r * wide[1], r * wide[0]])
        dx = (mu - slopes * x) * (inverses * x)
        dz = (mu - z * dx) * (inverses * (x + z)) - z
        x, z = x + a * dx, z + a * dz
        sums = np.zeros(8)
        for j in range(d):
            sums[j % 8] += x[0, j + 1] * z[0, j + 1] + x[1, j + 1] * z[1, j + 1]
        product = 0.0
        for one in sums:
            product += one
    assert learner.step[0] == a
    rows = learner.state()["rows"]
    assert np.array_equal(rows, np.stack([x[0], z[0], x[1], z[1]], axis=1))
