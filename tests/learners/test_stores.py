"""Every first-order learner on every store: the same numbers, and only what is alive is kept."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from riata.block import Block
from riata.learners import FTRL, ElasticNet, TruncatedGradient
from tests.learners.dense import assert_same_state, coefficients
from tests.problems import block_of, dense_rows, labels_for

LEARNERS = [
    (ElasticNet, {"l1": 0.003, "l2": 0.05}),
    (ElasticNet, {"update": "sgd", "l1": 0.003, "l2": 0.05}),
    (ElasticNet, {"l1": 1e-4, "l2": 1.8, "learning_rate": "constant"}),
    (ElasticNet, {"loss": "hinge", "l1": 0.003}),
    (TruncatedGradient, {"gravity": 0.01, "period": 5}),
    (TruncatedGradient, {"gravity": 0.02, "theta": 0.1}),
    (TruncatedGradient, {"update": "round", "theta": 0.05, "period": 7}),
    (TruncatedGradient, {"update": "subgradient", "gravity": 0.01}),
    (FTRL, {"l1": 0.3}),
]
IDS = [f"{c.family}-{'-'.join(map(str, p.values()))}" for c, p in LEARNERS]


@pytest.mark.parametrize(("make", "parameters"), LEARNERS, ids=IDS)
@pytest.mark.parametrize("outputs", [1, 3])
def test_table_equals_dense_store_bit_for_bit(make, parameters, outputs):
    X = dense_rows(500, 80, density=0.1)
    y = labels_for(X, max(2, outputs))
    dense, table = (make(store=s, outputs=outputs, **parameters) for s in ("dense", "table"))
    assert np.array_equal(dense.learn(block_of(X, y)), table.learn(block_of(X, y)))
    assert np.array_equal(coefficients(dense, 80), coefficients(table, 80))
    assert np.array_equal(dense.score(block_of(X)), table.score(block_of(X)))
    assert dense.n_live() == table.n_live()
    assert_same_state(dense, table)


@pytest.mark.parametrize(("make", "parameters"), LEARNERS, ids=IDS)
def test_hashed_without_collisions_equals_dense_store(make, parameters):
    X = dense_rows(300, 40)
    y = labels_for(X, 2)
    dense, hashed = make(store="dense", **parameters), make(store="hashed", bits=22, **parameters)
    assert np.array_equal(dense.learn(block_of(X, y)), hashed.learn(block_of(X, y)))
    assert np.array_equal(dense.score(block_of(X)), hashed.score(block_of(X)))


def test_hashed_with_collisions_learns_the_sum_of_its_features():
    X = dense_rows(200, 400)
    y = labels_for(X, 2)
    learner = ElasticNet(store="hashed", bits=4, l1=1e-3)
    learner.learn(block_of(X, y))
    assert learner.coef()[0].max() < 16
    assert np.isfinite(learner.score(block_of(X))).all()


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
@pytest.mark.parametrize(("make", "parameters"), LEARNERS, ids=IDS)
def test_resumed_equals_uninterrupted(make, parameters, store):
    X = dense_rows(400, 50)
    y = labels_for(X, 2)
    straight, stopped = (make(store=store, **parameters) for _ in range(2))
    straight.learn(block_of(X, y))
    for start in range(0, 400, 37):
        stopped.learn(block_of(X[start : start + 37], y[start : start + 37]))
        stopped.coef(), stopped.n_live(), stopped.score(block_of(X))
        stopped = pickle.loads(pickle.dumps(stopped))
    assert_same_state(straight, stopped)


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (ElasticNet, {"l1": 1e-3, "l2": 0.0}),
        (TruncatedGradient, {"gravity": 1e-3}),
        (TruncatedGradient, {"gravity": 1e-3, "period": 10, "theta": 1.0}),
        (TruncatedGradient, {"update": "round", "theta": 0.06, "period": 10}),
    ],
)
def test_a_feature_seen_once_is_shrunk_to_zero(make, parameters, store):
    rows = np.zeros((5001, 2))
    rows[0, 0] = 1
    rows[1:, 1] = 1
    learner = make(eta0=0.1, learning_rate="constant", store=store, **parameters)
    learner.learn(block_of(rows[:1], np.ones(1)))
    assert learner.n_live() == 1
    labels = np.arange(5000) % 10 < 9
    learner.learn(block_of(rows[1:], labels.astype(float)))
    assert learner.n_live() == 1
    assert len(learner.coef()[0]) == 1
    assert len(learner.state()["keys"]) == 1
    assert learner.score(block_of(rows[:1]))[0, 0] == learner.intercept[0]


def test_the_table_lets_go_of_features_that_never_come_back():
    """A stream of features that are seen once: memory holds the live ones, not all that ever were.
    (Root mean squares would stay.)"""
    n, per_row = 20_000, 10
    indices = np.arange(n * per_row, dtype=np.int64) * 7919 + 10**12
    steps: Any = {"eta0": 0.5, "learning_rate": "constant", "feature_scale": "none"}
    learner = TruncatedGradient(gravity=0.05, store="table", **steps)
    block = block_of(np.ones((n, per_row)), (np.arange(n) % 2).astype(float), index=np.int64)
    block.indices[:] = indices
    sizes = []
    for start in range(0, n, 1000):
        learner.learn(block[start : start + 1000])
        sizes.append(learner._core.bytes)
    assert 0 < learner.n_live() < 2_000
    assert max(sizes[5:]) < 2 * min(sizes[5:])
    assert max(sizes) < 24 * n * per_row / 10


def test_table_memory_per_live_weight():
    n = 300_000
    keys = np.random.default_rng(0).choice(2**62, size=n, replace=False)
    block = block_of(np.ones((1000, n // 1000)), np.ones(1000), index=np.int64)
    block.indices[:] = np.sort(keys)
    steps = {"learning_rate": "inv_sqrt", "feature_scale": "none"}
    learner = TruncatedGradient(gravity=0.0, store="table", **steps)
    learner.learn(block)
    assert learner.n_live() == n
    assert learner._core.bytes <= 40 * n


def test_keys_of_63_bits_come_back_exactly():
    keys = np.array([0, 1, 2**31, 2**32 + 5, 2**62, 2**63 - 2], dtype=np.int64)
    block = block_of(np.ones((1, 6)), np.ones(1), index=np.int64)
    block.indices[:] = keys
    learner = ElasticNet(store="table")
    learner.learn(block)
    assert learner.coef()[0].tolist() == keys.tolist()


def test_negative_key_is_refused():
    block = block_of(np.ones((1, 2)), np.ones(1), index=np.int64)
    block.indices[0] = -5
    for store in ("table", "hashed"):
        with pytest.raises(ValueError, match="negative"):
            ElasticNet(store=store).learn(block)


@pytest.mark.parametrize("bits", [0, 33, -1])
def test_bits_out_of_range(bits):
    with pytest.raises(ValueError, match="bits"):
        ElasticNet(store="hashed", bits=bits)


@pytest.mark.parametrize(("make", "parameters"), LEARNERS, ids=IDS)
@pytest.mark.parametrize("outputs", [1, 3])
def test_features_spread_over_billions_of_indices_learn_the_same(make, parameters, outputs):
    """An array at first; once far features come it is kept in pieces, and again when farther ones do."""
    X = dense_rows(600, 80, density=0.1)
    X[:200, 40:] = 0
    X[:400, 60:] = 0
    y = labels_for(X, max(2, outputs))
    rng = np.random.default_rng(5)
    places = np.sort(np.concatenate([np.arange(40), rng.integers(9_000_000, 2**33, 40)]))
    near, far = (make(store="dense", outputs=outputs, **parameters) for _ in range(2))
    for rows in (slice(0, 200), slice(200, 400), slice(400, 600)):
        block = block_of(X[rows], y[rows], index=np.int64)
        moved = replace(block, indices=places[block.indices])
        assert np.array_equal(far.learn(moved), near.learn(block))
        assert np.array_equal(far.score(moved), near.score(block))
    indices, values = far.coef()
    near_indices, near_values = near.coef()
    assert np.array_equal(indices, places[near_indices])
    assert np.array_equal(values, near_values)
    assert far.n_live() == near.n_live()
    again = make.from_state(far.parameters(), far.state())
    assert np.array_equal(again.learn(moved), near.learn(block))


WIDTHS = """
import sys
from dataclasses import replace
from typing import Any
import numpy as np
from riata.learners import ElasticNet, TruncatedGradient
from tests.problems import block_of, dense_rows, labels_for

X = dense_rows(400, 90, density=0.3)
block = block_of(X, labels_for(X, 2))
far = replace(block, indices=block.indices.astype(np.int64) + 2**40)  # no array by number
for update in "fobos", "sgd", "truncate", "round":
    make = ElasticNet if update in ("fobos", "sgd") else TruncatedGradient
    parameters = {"l1": 0.003, "l2": 0.05} if make is ElasticNet else {"theta": 0.1, "period": 3}
    for store, data in ("dense", block), ("table", block), ("table", far):
        learner = make(update=update, store=store, **parameters)
        sys.stdout.buffer.write(learner.learn(data).tobytes() + learner.coef()[1].tobytes())
"""


def test_wide_and_plain_kernels_give_the_same_bits():
    """RIATA_PLAIN leaves the kernels for newer processors alone. On older ones both runs are plain."""
    bits = [
        subprocess.run(
            [sys.executable, "-c", WIDTHS], env=os.environ | plain, capture_output=True, check=True
        ).stdout
        for plain in ({}, {"RIATA_PLAIN": "1"})
    ]
    assert len(bits[0]) > 8 * 400 * 8
    assert bits[0] == bits[1]


def test_rows_of_a_fixed_size_are_the_same_in_any_order_of_blocks():
    """Rows are looked for one example ahead: across the ends of Blocks and in any order of learning."""
    X = dense_rows(60, 200)
    y = labels_for(X, 2)
    parameters = {"store": "hashed", "bits": 5, "l1": 1e-3}
    whole, parts, ordered = (ElasticNet(**parameters) for _ in range(3))
    scores = whole.learn(block_of(X, y))
    pieces = [parts.learn(block_of(X[i : i + 7], y[i : i + 7])) for i in range(0, 60, 7)]
    assert np.array_equal(scores, np.concatenate(pieces))
    backwards = np.arange(60)[::-1].copy()
    ordered.learn(block_of(X[::-1].copy(), y[::-1].copy()), backwards)
    assert_same_state(whole, parts)
    assert_same_state(whole, ordered)


def test_keys_of_names_go_to_a_table_though_the_names_are_not_known():
    keys = np.array([5, 1 << 62, 7, 1 << 50], dtype=np.int64)
    empty = Block(np.array([0, 0]), keys[:0], np.zeros(0, np.float32), np.array([1.0]))
    block = Block(np.array([0, 2, 4]), keys, np.ones(4, np.float32), np.array([1.0, 0.0]))
    auto, table = ElasticNet(), ElasticNet(store="table")
    for learner in (auto, table):
        learner.learn(empty)
        learner.learn(block)
    assert_same_state(auto, table)
    assert np.array_equal(auto.coef()[0], np.sort(keys))
    again = pickle.loads(pickle.dumps(auto))
    assert np.array_equal(again.score(block), auto.score(block))
    assert np.array_equal(again.learn(block), table.learn(block))
