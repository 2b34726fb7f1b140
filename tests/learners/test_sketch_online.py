"""The online algorithm: one pass, in the order of the stream."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from riata.block import Block, concatenate
from riata.errors import RefusedExample
from riata.learners import Sketch
from riata.reference import sketch as reference
from tests.cli.helpers import riata
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


def one_row(features: int, first: int = 0) -> Block:
    return Block(
        indptr=np.array([0, features]),
        indices=np.arange(first, first + features, dtype=np.int32),
        values=np.ones(features, np.float32),
        labels=np.array([1.0]),
    )


def test_pairs_of_a_long_row_are_counted_before_they_are_made() -> None:
    learner = Sketch(algorithm="online")
    (core,) = learner._online
    learner.limit_memory(50_000_000)
    learner.learn(one_row(500))  # 500 x 500 numbers
    before = core.bytes
    assert 500 * 500 * 8 <= before < 8_000_000
    with pytest.raises(
        RefusedExample,
        match=r"row 0: 100000 features: an online sketch keeps all pairs .* "
        r"would take up to 80.* GB, and 0.05 GB are allowed: leave features out, use",
    ):
        learner.learn(one_row(100_000))
    assert core.bytes == before
    assert learner.t == 1
    learner.learn(one_row(500))
    assert core.bytes == before


def test_saving_takes_what_it_says() -> None:
    """Row, column and value of every pair: --max-memory has to keep room for all three."""
    learner = Sketch(algorithm="online")
    learner.learn(one_row(700))
    state = sum(array.nbytes for array in learner.state().values())
    assert learner.to_save > Sketch().to_save
    assert 2 * learner._online[0].bytes < state <= learner.to_save * learner._online[0].bytes


@pytest.mark.parametrize("block_size", [1, 7])
def test_what_comes_before_a_refused_row_is_learned_by_every_output(block_size: int) -> None:
    rng = np.random.default_rng(4)
    rows = [
        one_row(30, int(first)).with_labels(np.array([float(i % 3)]), None)
        for i, first in enumerate(rng.integers(0, 60, 20))
    ]
    huge = one_row(40_000).with_labels(np.array([1.0]), None)
    refusing = Sketch(algorithm="online", outputs=3, block_size=block_size)
    refusing.limit_memory(30_000_000)
    with pytest.raises(RefusedExample, match="^row 20: 40000 features") as refused:
        refusing.learn(concatenate([*rows, huge, rows[0]]))
    other = Sketch(algorithm="online", outputs=3, block_size=block_size)
    scores = np.concatenate([other.learn(row) for row in rows])
    np.testing.assert_array_equal(refused.value.scores, scores)
    assert refusing.t == other.t == 20
    for name, array in other.state().items():
        np.testing.assert_array_equal(refusing.state()[name], array)


def test_rows_that_wait_for_others_count() -> None:
    """Their pairs are made all at once."""
    apart = [one_row(300, 300 * k) for k in range(12)]
    one = Sketch(algorithm="online")
    one.learn(apart[0])
    learner = Sketch(algorithm="online", block_size=100)
    learner.limit_memory(4 * one._online[0].bytes)
    with pytest.raises(RefusedExample) as refused:
        learner.learn(concatenate(apart))
    learner.end_pass()
    assert 1 <= len(refused.value.scores) <= 4
    assert learner._online[0].bytes <= 4 * one._online[0].bytes


def test_a_run_keeps_what_came_before_a_refused_row(tmp_path: Path) -> None:
    long = " ".join(f"{j}:1" for j in range(1, 20_001))
    usual = [f"{i % 2} {1 + i % 7}:1 9:{i % 3 + 1}" for i in range(50)]
    data, model = tmp_path / "x.svm", tmp_path / "m"
    data.write_text("\n".join([*usual, f"1 {long}", *usual]) + "\n")
    how = ["--method", "sketch", "--algorithm", "online"]
    done = riata("train", data, "-o", model, *how, "--max-memory", "600M", code=1)
    assert f"{data}:51: 20000 features: an online sketch" in done.err
    partial = model_file.load(tmp_path / "m.partial")
    assert (partial.record.examples, partial.learner.t) == (50, 50)
    data.write_text("\n".join([*usual, "1 3:1", *usual]) + "\n")
    riata("train", data, "-o", model, "-q", "--resume", tmp_path / "m.partial")
    riata("train", data, "-o", tmp_path / "whole", "-q", *how)
    whole = model_file.load(tmp_path / "whole").learner.state()
    for name, array in model_file.load(model).learner.state().items():
        np.testing.assert_array_equal(array, whole[name])


@pytest.mark.parametrize("features", [3, 40, 700])
def test_what_is_counted_is_not_less_than_what_is_taken(features: int) -> None:
    """A limit of what was taken in the end is enough only if nothing was ever counted as less."""
    rows = [one_row(features, first) for first in range(0, 3 * features, features // 3)]
    free = Sketch(algorithm="online")
    taken = []
    for row in rows:
        free.learn(row)
        taken.append(free._online[0].bytes)
    for k, row in enumerate(rows):
        learner = Sketch(algorithm="online")
        for earlier in rows[:k]:
            learner.learn(earlier)
        learner._online[0].max_bytes = taken[k] - 1
        with pytest.raises(RefusedExample, match="pairs of features"):
            learner.learn(row)


def test_by_default_a_share_of_the_machine_is_allowed() -> None:
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for outputs in (1, 3):
        cores = Sketch(algorithm="online", outputs=outputs)._online
        assert sum(core.max_bytes for core in cores) == pytest.approx(0.8 * most)
