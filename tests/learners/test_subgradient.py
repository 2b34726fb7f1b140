"""Subgradient steps that were missed, near zero and with falling rates, against the dense rule."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest

from riata.block import Block
from riata.learners import TruncatedGradient
from riata.reference import linear as reference
from tests.learners.dense import assert_agrees, assert_same_state, coefficients
from tests.problems import block_of, dense_rows, labels_for

FALLING = [
    {"learning_rate": "inv_sqrt", "eta0": 0.5},
    {"learning_rate": "inv_t", "eta0": 3.0},
    {"learning_rate": "invscaling", "eta0": 0.5, "power_t": 0.7},
    {"learning_rate": "invscaling", "eta0": 0.1, "power_t": 0.05},
    {"learning_rate": "invscaling", "eta0": 3.0, "power_t": 1.5},
]
RATES = [{"learning_rate": "constant", "eta0": 0.1}, *FALLING]


def named(rates):
    return "-".join(map(str, rates.values()))


def nothing(n):
    """Examples without any feature."""
    empty = np.zeros(0, dtype=np.float32)
    return Block(np.zeros(n + 1, dtype=np.int64), empty.astype(np.int32), empty, np.zeros(n))


def learner_of(rates, gravity=0.01, **parameters):
    return TruncatedGradient(
        update="subgradient", gravity=gravity, fit_intercept=False, feature_scale="none", **rates, **parameters
    )  # fmt: skip


def once_each(d, seed=0):
    """Rows that have one feature each, so that each weight begins at a time and a size of its own."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-3, 0.5, size=d) * rng.choice([-1, 1], d)
    return np.diag(sizes.astype(np.float32).astype(np.float64))


def missed(learner, w, steps, t):
    """The reference's own steps: weights, how close to zero each came, and the last step; in steps."""
    rule = reference.subgradient(learner.gravity)
    none, closest = np.zeros_like(w), np.full(w.shape, np.inf)
    for i in range(t, t + steps):
        n = reference.rate(learner.learning_rate, i, learner.eta0, learner.power_t)
        closest = np.minimum(closest, np.abs(w) / (n * learner.gravity))
        w = rule(w, none, n, i + 1)
    return w, closest, n * learner.gravity


@pytest.mark.parametrize("rates", RATES, ids=named)
@pytest.mark.parametrize("before", [0, 100_000])
@pytest.mark.parametrize("steps", [1, 7, 50, 1_000, 100_000])
def test_weights_after_a_long_time_are_those_of_the_dense_rule(rates, before, steps):
    """Sizes are right, and signs where the walk did not come within roundings of zero; one that did may
    come to be zero, here and there, sooner or later."""
    d = 400
    learner = learner_of(rates)
    learner.learn(nothing(before))
    learner.learn(block_of(once_each(d), np.arange(d) % 2.0))
    w = coefficients(learner, d)
    learner.learn(nothing(steps))
    got = coefficients(learner, d)
    expected, closest, step = missed(learner, w, steps, before + d)
    largest = np.maximum(step, np.abs(w))
    decided = closest > 1e-10 * largest / step
    np.testing.assert_allclose((got / largest)[decided], (expected / largest)[decided], atol=1e-10)
    both = (got != 0) & (expected != 0)
    np.testing.assert_allclose(
        np.abs(got / largest)[both], np.abs(expected / largest)[both], atol=1e-10
    )
    assert np.all(np.abs(got - expected)[~decided] <= 2.01 * step)
    assert np.mean((got == 0) == (expected == 0)) > 0.85
    assert decided.mean() > (0.5 if steps <= max(before, 100) else 0.01)


@pytest.mark.parametrize("rates", RATES, ids=named)
def test_features_that_come_back_after_hundreds_of_rows_equal_dense(rates):
    X = dense_rows(1500, 25, density=0.02, seed=5)
    learner = learner_of(rates, gravity=0.003, outputs=3)
    assert_agrees(learner, X, labels_for(X, 3))


@pytest.mark.parametrize("power_t", [0.0, 1e-300, 1e-9, 5.0, 100.0])
@pytest.mark.parametrize("gravity", [0.0, 1e-300, 3.0])
def test_rates_that_hardly_fall_or_at_once(power_t, gravity):
    X = dense_rows(700, 20, density=0.05, seed=3)
    rates = {"learning_rate": "invscaling", "eta0": 0.3, "power_t": power_t}
    assert_agrees(learner_of(rates, gravity), X, labels_for(X, 2))


def test_rates_that_decay_and_long_gaps_equal_dense():
    d = 100
    learner = learner_of(FALLING[0], decay=0.5)
    X, y = once_each(d, seed=2), np.arange(d) % 2.0
    learner.learn(block_of(X, y))
    learner.end_pass()
    w = coefficients(learner, d)
    learner.learn(nothing(300))
    rule = reference.subgradient(learner.gravity)
    for i in range(d, d + 300):
        n = 0.5 * reference.rate("inv_sqrt", i, learner.eta0)
        w = rule(w, np.zeros_like(w), n, i + 1)
    np.testing.assert_allclose(coefficients(learner, d), w, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("rates", RATES, ids=named)
@pytest.mark.parametrize("store", ["table", "hashed"])
def test_stores_agree_over_long_gaps_and_resumption(rates, store):
    """Also where rows go because their weights have come to zero."""
    d = 300
    dense, other = learner_of(rates), learner_of(rates, store=store, bits=22)
    for seed, gap in enumerate((2_000, 30_000, 100_000)):
        X = once_each(d, seed)
        for block in (block_of(X, np.arange(d) % 2.0), nothing(gap), block_of(X[:7], np.ones(7))):
            assert np.array_equal(dense.learn(block), other.learn(block))
        assert np.array_equal(dense.score(block_of(X)), other.score(block_of(X)))
        other = pickle.loads(pickle.dumps(other))
    if store == "table":
        assert_same_state(dense, other)


def test_a_table_lets_go_of_weights_that_have_come_to_zero():
    learner = learner_of({"learning_rate": "inv_t", "eta0": 3.0}, store="table")
    learner.learn(block_of(once_each(300), np.arange(300) % 2.0))
    assert len(learner.state()["keys"]) == 300
    learner.learn(nothing(300_000))
    assert len(learner.state()["keys"]) < 10


@pytest.mark.parametrize("rates", FALLING, ids=named)
def test_the_time_to_bring_weights_current_does_not_grow_with_the_gap(rates):
    d, seconds = 2_000, []
    learner = learner_of(rates)
    block = block_of(once_each(d))
    learner.learn(block_of(once_each(d), np.arange(d) % 2.0))
    for gap in (1_000, 3_000_000):
        learner.learn(nothing(gap))
        taken = []
        for _ in range(5):
            start = time.process_time()
            learner.score(block)
            taken.append(time.process_time() - start)
        seconds.append(min(taken))
    assert seconds[1] < 30 * seconds[0]  # 3000 times if steps were taken one by one
