"""Threads, Blocks, a resumed run and shards that are merged: the same pass of the sketch."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from riata.learners import Sketch
from tests.learners.sketches import codes, dense, solve, words
from tests.problems import block_of

# Equal bits


@pytest.mark.parametrize("sample", [0, 20_000])
@pytest.mark.parametrize("algorithm", ["multipass", "reduced"])
def test_threads_and_blocks_change_no_bit(algorithm, sample):
    X, y = words(n=6000, d=400)
    block = block_of(X, codes(y), np.random.default_rng(0).random(6000))
    assert block.nnz > 1 << 15  # enough for a second thread
    whole, pair, pieces = (
        Sketch(algorithm=algorithm, gamma=3.0, n_jobs=jobs, max_passes=4, sample=sample)
        for jobs in (1, 2, 2)
    )
    for _ in range(3):
        scores = [whole.learn(block), pair.learn(block)]
        cuts = [0, 1, 2, 700, 1024, 5999, 6000]
        scores.append(np.concatenate([pieces.learn(block[a:b]) for a, b in pairwise(cuts)]))
        assert np.array_equal(scores[0], scores[1])
        assert np.array_equal(scores[0], scores[2])
        for learner in (whole, pair, pieces):
            learner.end_pass()
        for other in (pair, pieces):
            for name, array in whole.state().items():
                assert np.array_equal(array, other.state()[name], equal_nan=True), name


@pytest.mark.parametrize("algorithm", ["multipass", "reduced", "online"])
def test_resumed_equals_uninterrupted(algorithm):
    X, y = words(n=600, d=80)
    block = block_of(X, codes(y))
    parameters = {
        "algorithm": algorithm,
        "gamma": 1.0,
        "block_size": 7 if algorithm == "online" else 1,
    }
    straight, stopped = Sketch(**parameters), Sketch(**parameters)
    for _ in range(1 if algorithm == "online" else 20):
        straight.learn(block)
        straight.end_pass()
        for start in range(0, 600, 170):
            stopped.learn(block[start : start + 170])
            stopped.coef(), stopped.n_live(), stopped.score(block)
            stopped = pickle.loads(pickle.dumps(stopped))
        stopped.end_pass()
        stopped = pickle.loads(pickle.dumps(stopped))
        assert np.array_equal(dense(straight, 80), dense(stopped, 80))
        assert np.array_equal(straight.intercept, stopped.intercept)
        assert straight.history == stopped.history
        if straight.complete:
            break
    assert (straight.t, straight.n_features) == (stopped.t, stopped.n_features)


def test_wide_indices_cost_the_features_that_occur():
    X, y = words(n=300, d=50)
    block = block_of(X, codes(y), index=np.int64)
    far = type(block)(block.indptr, block.indices * 10**8, block.values, block.labels)
    near, wide = Sketch(gamma=0.5), Sketch(gamma=0.5)
    for learner, rows in ((near, block), (wide, far)):
        while not learner.complete:
            learner.learn(rows)
            learner.end_pass()
    assert np.array_equal(near.coef()[0] * 10**8, wide.coef()[0])
    assert np.array_equal(near.coef()[1], wide.coef()[1])


# Merging


@pytest.mark.parametrize("algorithm", ["multipass", "reduced"])
@pytest.mark.parametrize("shards", [2, 3, 7])
def test_shards_merge_into_the_same_model(algorithm, shards):
    X, y = words(n=1500, d=200)
    block = block_of(X, codes(y))
    parameters = {"algorithm": algorithm, "gamma": 2.0}
    whole = solve(X, y, **parameters)
    edges = np.linspace(0, 1500, shards + 1).astype(int)
    main = Sketch(**parameters)
    while not main.complete:
        start = pickle.dumps(main)
        workers = [pickle.loads(start) for _ in range(shards)]
        for worker, a, b in zip(workers, edges[:-1], edges[1:], strict=True):
            worker.learn(block[a:b])
        main = workers[0]
        for worker in workers[1:]:
            main.merge(worker)
        main.end_pass()
    np.testing.assert_allclose(dense(main, 200), dense(whole, 200), rtol=1e-9, atol=1e-12)
    assert main.history[-1]["objective"] == pytest.approx(whole.history[-1]["objective"], rel=1e-12)
    assert len(main.history) == len(whole.history)


@pytest.mark.parametrize("algorithm", ["multipass", "reduced"])
def test_merging_sums_is_associative(algorithm):
    X, y = words(n=900, d=100)
    block = block_of(X, codes(y))

    def shard(k):
        learner = Sketch(algorithm=algorithm, gamma=2.0)
        learner.learn(block[300 * k : 300 * (k + 1)])
        return learner

    left, right = shard(0), shard(0)
    left.merge(shard(1))
    left.merge(shard(2))
    tail = shard(1)
    tail.merge(shard(2))
    right.merge(tail)
    one, two = (learner._passes[0].core.sums() for learner in (left, right))
    for name in ("scalars", "keys", "gradients"):
        of_one, of_two = getattr(one, name), getattr(two, name)
        np.testing.assert_allclose(of_one, of_two, rtol=1e-12, atol=1e-13)
    for learner in (left, right):
        learner.end_pass()
    a, b = left._passes[0].core, right._passes[0].core
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-12, atol=1e-14)


def test_what_does_not_add_up_is_refused():
    X, y = words(n=200, d=50)
    block = block_of(X, codes(y))
    one, two = Sketch(gamma=1.0), Sketch(gamma=1.0)
    one.learn(block)
    one.end_pass()
    with pytest.raises(ValueError, match="same pass"):
        one.merge(two)
    with pytest.raises(ValueError, match="parameters"):
        one.merge(Sketch(gamma=2.0))
