"""The sample that the passes of a sketch start from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from riata import _core
from riata.learners import Sketch
from riata.learners.sketch_rest import Rest, accumulate, on_features
from riata.learners.sketch_sample import Examples, Sample
from riata.reference import sketch as reference
from tests.learners.sketches import codes, dense, solve, words
from tests.problems import block_of


def kept(sample: Sample) -> np.ndarray:
    block = sample.block()
    assert block is not None
    assert block.labels is not None
    return np.sort(block.labels)


def numbered_rows(n=900):
    """Rows whose label says which they are."""
    X, _ = words(n=n, d=200)
    return block_of(X, np.arange(float(n)))


def test_the_same_examples_are_kept_in_any_order_and_any_parts():
    block = numbered_rows()
    straight, shuffled, left, right = (Sample(4000) for _ in range(4))
    straight.add(block)
    for rows in np.array_split(np.random.default_rng(0).permutation(len(block)), 13):
        shuffled.add(block.take(rows))
    left.add(block[:123])
    right.add(block[123:])
    left.merge(right)
    assert 500 < straight.nnz <= 4000
    assert not straight.whole
    assert np.array_equal(kept(straight), kept(shuffled))
    assert np.array_equal(kept(straight), kept(left))
    for name, array in straight.state().items():
        restored = Sample(4000)
        restored.restore(straight.state())
        assert np.array_equal(array, restored.state()[name]), name


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_hash_of_an_example_is_of_its_length_and_three_of_its_features(dtype):
    """Models that were saved within a pass have kept examples by it: it stays what it is."""
    rows = [[], [(7, 0.5)], [(2, 1.0), (3, -4.0)], [(0, 0.0), (5, 2.0), (9, 3.0), (2**30, 1e-3)]]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([j for row in rows for j, _ in row], dtype=dtype)
    values = np.array([v for row in rows for _, v in row], dtype=np.float32)

    def mixed(x):
        x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15 % 2**64
        x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9 % 2**64
        return x ^ (x >> 32)

    expected = []
    for start, stop in pairwise(indptr.tolist()):
        hash_ = (stop - start) * 0x9E3779B97F4A7C15 % 2**64
        for k in (start, (start + stop) // 2, stop - 1) if start < stop else ():
            hash_ = mixed(hash_ ^ (int(indices[k]) << 20) ^ int(values[k].view(np.uint32)))
        expected.append(mixed(hash_))
    assert _core.row_hashes(indptr, indices, values).tolist() == expected


@pytest.mark.parametrize("hard", [False, True])
def test_what_stays_is_below_the_largest_power_of_two_that_fits(hard):
    """And is copied in the same order, whether it came in one Block or in many."""
    block = numbered_rows()
    losses = np.exp(3 * np.random.default_rng(0).normal(size=len(block)))
    one, many = Sample(3000), Sample(3000)
    for sample in (one, many):
        if hard:
            sample.restart()
    one.add(block, losses)
    for rows in np.array_split(np.arange(len(block)), 11):
        many.add(block.take(rows), losses[rows])
    assert one.limit == many.limit
    together, apart = one.block(), many.block()
    assert together is not None
    assert apart is not None
    for name in ("indptr", "indices", "values", "labels"):
        assert np.array_equal(getattr(together, name), getattr(apart, name)), name
    twice = Sample(3000, limit=2 * one.limit, hard=hard)
    twice.add(block, losses)
    assert twice.limit == one.limit  # twice the limit was too much
    if hard:
        assert together.labels is not None
        assert one.loss == pytest.approx(losses[together.labels.astype(int)].sum(), rel=1e-6)


def test_what_fits_is_kept_whole_and_in_order():
    block, sample = numbered_rows(), Sample(10**6)
    sample.add(block[:100])
    sample.add(block[100:])
    assert sample.whole
    together = sample.block()
    assert together is not None
    assert np.array_equal(together.labels, block.labels)


def test_equal_examples_leave_no_sample_rather_than_too_large_a_one():
    block = block_of(np.ones((500, 10)), np.zeros(500))
    sample = Sample(1000)
    sample.add(block)
    assert sample.nnz <= 1000


@pytest.mark.parametrize("sample", [0, 3000, 2**20])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_solution_does_not_depend_on_the_sample(sample, link):
    X, y = words()
    exact = solve(X, y, gamma=1.0, link=link, tol=1e-10, sample=0)
    learner = solve(X, y, gamma=1.0, link=link, tol=1e-10, sample=sample)
    assert learner.converged
    np.testing.assert_allclose(dense(learner, 600), dense(exact, 600), atol=2e-4)


@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
def test_nearly_separable_data_takes_few_passes(gamma):
    """From zero Newton's steps overshoot here, and halving them one pass at a time takes dozens."""
    rng = np.random.default_rng(1)
    X = (rng.random((4000, 60)) < 0.1).astype(np.float64)
    X[:, :30] *= rng.random(30) < 0.3  # features that hardly ever occur
    y = np.where(X @ (8 * rng.normal(size=60)) - 1 > 0, 1.0, -1.0)
    learner = solve(X, y, gamma=gamma, sample=len(X) * 4)
    assert learner.converged
    assert len(learner.history) <= 10


def test_classes_that_are_sorted_do_not_matter():
    X, y = words()
    order = np.argsort(y, kind="stable")
    learner = solve(X[order], y[order], gamma=1.0, sample=4000)
    assert learner.converged
    assert len(learner.history) <= 10


def test_a_sample_of_one_class_is_of_no_use_and_no_harm():
    X, y = words()
    y[:] = -1
    y[7] = 1  # one positive example in two thousand
    learner = Sketch(gamma=0.5, sample=1000)
    block = block_of(X, codes(y))
    while not learner.complete:
        learner.learn(block)
        learner.end_pass()
    assert learner.converged


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("intercept", [False, True])
def test_hard_examples_and_the_model_of_the_others_are_the_reference(link, intercept):
    """At the weights of the pass and at others, with fewer active features than the model has."""
    X, y = words(n=300, d=40)
    keys = np.arange(0, 40, 2)
    rng = np.random.default_rng(0)
    hard = rng.random(300) < 0.3
    dense = np.hstack([np.ones((300, 1)), X[:, keys]])[:, 1 - intercept :]
    at = 0.5 * rng.normal(size=dense.shape[1])

    def sums(rows, keys, weights):
        core = _core.Sketch(link, intercept, False)
        core.begin(keys, weights[intercept:], float(weights[0]) if intercept else 0.0)
        block = block_of(X[rows], codes(y[rows]))
        accumulate(core, on_features(block, np.arange(0, 40, 2)), codes(y[rows]), 1.0, 1)
        return core

    rest = Rest.of(sums(slice(None), keys, at), sums(hard, keys, at), intercept)
    for few, weights in ((keys, at), (keys[3:11], at + 0.3 * rng.normal(size=len(at)))):
        own = np.isin(keys, few)
        beta = weights.copy()
        beta[intercept:][~own] = 0.0
        core = sums(hard, few, np.concatenate([beta[:intercept], beta[intercept:][own]]))
        rest.add_to(core, None)
        value, gradient = reference.hard_model(dense, y, at, hard, beta, link)
        assert core.loss == pytest.approx(value, rel=1e-6)
        found = -core.active_gradient()
        wanted = np.concatenate([gradient[:intercept], gradient[intercept:][own]])
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize(("gamma", "most"), [(0.1, 14), (1.0, 10)])
def test_data_beyond_the_sample_that_is_nearly_separable_takes_few_passes(gamma, most):
    """Steps by the hard examples, of which a fifth fits, end at the optimum."""
    rng = np.random.default_rng(3)
    X = np.zeros((6000, 800))
    for row in X:
        row[np.unique((800 ** rng.random(25)).astype(int) - 1)] = 1.0
    y = np.where(X @ (3 * rng.normal(size=800)) > 0, 1.0, -1.0)
    learner = solve(X, y, gamma=gamma, sample=20_000)
    assert learner.converged
    assert len(learner.history) <= most
    exact = solve(X, y, gamma=gamma, sample=2**20)
    assert learner.history[-1]["objective"] == pytest.approx(
        exact.history[-1]["objective"], rel=2e-6
    )


@pytest.mark.parametrize(("spread", "hard"), [(0.1, False), (4.0, True)])
def test_hard_examples_are_a_guide_where_they_have_most_of_all_losses(spread, hard):
    block = numbered_rows()
    losses = np.exp(spread * np.random.default_rng(0).normal(size=len(block)))
    sample = Sample(5000)
    sample.restart()
    sample.add(block, losses)
    seen = Examples.of(sample, 1.0, float(losses.sum()))
    assert (seen is not None and seen.hard) == hard


def test_no_penalty_is_refused_with_what_to_do_instead():
    with pytest.raises(ValueError, match=r"gamma=0.0 must be above 0.*small gamma"):
        Sketch(gamma=[1.0, 0.0])


def test_all_examples_are_kept_where_they_fit_and_part_of_them_is_the_sample_of_more():
    block = numbered_rows()
    whole, few = Sample(4000, 10**6), Sample(4000)
    for rows in (block[:400], block[400:]):
        whole.add(rows)
        few.add(rows)
    part = whole.part()
    assert whole.whole
    assert part is not None
    assert not part.whole
    assert few.part() is None  # it is part of all that there was
    assert np.array_equal(kept(part), kept(few))
    assert len(kept(whole)) == len(block)  # taking a part leaves it as it is
    assert Sample(10**6, 10**6).part() is None
    beyond = Sample(4000, 5000)
    beyond.add(block)
    assert np.array_equal(kept(beyond), kept(few))


@pytest.mark.parametrize(("gamma", "passes"), [(0.3, 2), (100.0, 6)])
def test_a_sample_or_all_in_memory_leads_to_the_same_optimum(monkeypatch, gamma, passes):
    """Few weights: passes from the solution of a sample; many, which a sample cannot tell: all in memory, at once."""
    X, y = words(n=20_000)
    exact = solve(X, y, gamma=gamma, sample=2**20, tol=1e-9)
    monkeypatch.setattr("riata.learners.sketch_sample.SAMPLE", 100_000)
    found = solve(X, y, gamma=gamma)
    assert found.converged
    assert len(found.history) <= passes
    assert (len(found.history) == 2) == (gamma < 1)
    assert found.history[-1]["objective"] <= exact.history[-1]["objective"] * (1 + 1e-6)
