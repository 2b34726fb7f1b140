"""The online algorithm: one pass, in the order of the stream."""

from __future__ import annotations

import numpy as np
import pytest

from riata.block import Block
from riata.learners import Sketch
from riata.reference import sketch as reference
from tests.learners.sketches import codes, dense, gaussian, solve, words
from tests.problems import block_of


def online(X, y, **parameters):
    learner = Sketch(algorithm="online", **parameters)
    learner.learn(block_of(X, codes(y)))
    learner.end_pass()
    return learner


def test_batch_equals_loop():
    X, y = words(n=400, d=80)
    batch = online(X, y, gamma=1.0)
    loop = Sketch(algorithm="online", gamma=1.0)
    scores = [loop.learn(block_of(X[i : i + 1], codes(y[i : i + 1]))) for i in range(400)]
    again = Sketch(algorithm="online", gamma=1.0)
    assert np.array_equal(np.concatenate(scores), again.learn(block_of(X, codes(y))))
    for name, array in batch.state().items():
        assert np.array_equal(array, loop.state()[name]), name


def test_approaches_the_exact_solution_with_more_data():
    """The paper's table 1: the distance of the online weights from the batch ones falls."""
    X, y = gaussian(n=20_000, d=11)
    distances = []
    for n in (500, 4000, 20_000):
        exact = dense(solve(X[:n], y[:n], gamma=10.0, tol=1e-9), 11)
        distances.append(np.abs(dense(online(X[:n], y[:n], gamma=10.0), 11) - exact).sum())
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.1


def test_both_heuristics_improve_it():
    """Section 4.1: a penalty that grows, and blocks that are taken twice."""
    X, y = gaussian(n=3000, d=11)
    exact = dense(solve(X, y, gamma=30.0, tol=1e-9), 11)

    def distance(**parameters):
        return np.abs(dense(online(X, y, gamma=30.0, **parameters), 11) - exact).sum()

    plain = distance()
    assert distance(gamma_schedule="linear", horizon=3000) < plain
    assert distance(block_size=100) < plain


def test_the_linear_schedule_equals_the_reference():
    X, y = gaussian(n=300)
    expected = reference.online(X, y, 8.0, tol=1e-11, horizon=200)[-1]
    learner = online(
        X,
        y,
        gamma=8.0,
        gamma_schedule="linear",
        horizon=200,
        fit_intercept=False,
        shooting_tol=1e-11,
    )
    np.testing.assert_allclose(dense(learner, 12), expected, rtol=1e-7, atol=1e-9)


def test_a_block_of_all_examples_is_two_multipass_steps():
    X, y = gaussian(n=300)
    learner = online(X, y, gamma=5.0, block_size=300, fit_intercept=False, shooting_tol=1e-12)
    np.testing.assert_allclose(
        dense(learner, 12), reference.multipass(X, y, 5.0, 2, tol=1e-13)[-1], rtol=1e-6, atol=1e-9
    )


def test_an_open_block_waits_for_the_end_of_the_pass():
    X, y = gaussian(n=50)
    learner = Sketch(algorithm="online", gamma=1.0, block_size=40)
    learner.learn(block_of(X, codes(y)))
    before = dense(learner, 12)
    learner.end_pass()
    assert not np.array_equal(before, dense(learner, 12))
    assert learner.t == 50
    assert not learner.complete


@pytest.mark.parametrize("block_size", [1, 16])
def test_merged_shards_hold_the_sum_of_their_models(block_size):
    X, y = gaussian(n=400)
    halves = [
        online(X[a:b], y[a:b], gamma=4.0, block_size=block_size) for a, b in ((0, 200), (200, 400))
    ]
    psi = [np.zeros((13, 13)) for _ in range(3)]
    halves.append(online(X[:200], y[:200], gamma=4.0, block_size=block_size))
    halves[2].merge(halves[1])
    for matrix, learner in zip(psi, halves, strict=True):
        core = learner._online[0]
        rows, columns, values = core.triples()
        index = core.keys + 1  # the intercept has key -1
        matrix[index[rows], index[columns]] = values
    np.testing.assert_allclose(psi[0] + psi[1], psi[2], rtol=1e-12)
    assert halves[2].t == 400
    exact = dense(solve(X, y, gamma=4.0), 12)
    merged = np.abs(dense(halves[2], 12) - exact).sum()
    assert merged < np.abs(dense(halves[0], 12) - exact).sum()


def test_many_features_as_sparse_rows():
    """So many features that a dense sketch of them would not fit."""
    rng = np.random.default_rng(0)
    n, d = 300, 300_000
    indices = np.sort(rng.integers(0, d, (n, 8)), axis=1).astype(np.int32)
    indices[:, 0] = rng.integers(0, 2, n)
    y = indices[:, 0].astype(np.float64)
    block = Block(
        np.arange(0, 8 * n + 1, 8), indices.ravel(), np.ones(8 * n, dtype=np.float32), labels=y
    )
    learner = Sketch(algorithm="online", gamma=5.0)
    learner.learn(block)
    assert learner._online[0].bytes < 5_000_000
    assert (((learner.score(block)[:, 0] > 0) == y)[50:]).all()
    assert {int(k) for k in learner.coef()[0]} <= {0, 1}


def test_labels_that_are_all_equal_stay_finite():
    X, _ = gaussian(n=300)
    learner = online(X, np.ones(300), gamma=1.0)
    assert np.isfinite(learner.intercept).all()
    assert learner.intercept[0] > 2
