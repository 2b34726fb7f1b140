"""What the sketch refuses, and what it takes although it looks odd: clear errors, and a pass that is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from riata.errors import DataError
from riata.learners import Sketch
from tests.learners.sketches import codes, solve, words
from tests.problems import block_of


def same(a, b):
    one, two = a.state(), b.state()
    assert one.keys() == two.keys()
    for name, array in one.items():
        assert np.array_equal(array, two[name], equal_nan=True), name


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0}, "gamma=0.0 must be above 0"),
        ({"gamma": -1}, "gamma=-1.0 must be above 0"),
        ({"gamma": (1.0, 0.0)}, "gamma=0.0 must be above 0"),
        ({"gamma": ()}, "empty list"),
        ({"gamma": "auto"}, "'path'"),
        ({"gamma": float("nan")}, "gamma=nan"),
        ({"capacity": 0}, "capacity=0 must be at least 1"),
        ({"tau": 1.5}, "tau=1.5 must be at most 1"),
        ({"tau": 0}, "tau=0 must be above 0"),
        ({"tol": 0}, "tol=0 must be above 0"),
        ({"max_passes": 0}, "max_passes=0"),
        ({"link": "cloglog"}, "link='cloglog' is not one of 'logit', 'probit'"),
        ({"algorithm": "batch"}, "algorithm='batch'"),
        ({"gamma_schedule": "linear"}, "needs horizon"),
        ({"algorithm": "online", "gamma": "path"}, "takes one gamma"),
        ({"block_size": 0}, "block_size=0"),
        ({"outputs": 0}, "outputs=0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Sketch(**parameters)


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_labels_that_are_all_equal_are_an_error(label):
    X, _ = words(n=100, d=20)
    with pytest.raises(DataError, match="all labels are equal.*penalize_intercept"):
        solve(X, np.full(100, label), gamma=1.0)
    finite = solve(X, np.full(100, label), gamma=1.0, penalize_intercept=True)
    assert finite.converged
    assert np.isfinite(finite.intercept).all()


def test_examples_without_weight_are_an_error():
    X, y = words(n=100, d=20)
    with pytest.raises(DataError, match="weight 0"):
        solve(X, y, np.zeros(100), gamma=1.0)


@pytest.mark.parametrize("change", ["value", "label", "row", "feature"])
def test_data_that_changes_between_passes_is_an_error(change):
    X, y = words(n=300, d=50)
    learner = Sketch(gamma=1.0)
    learner.learn(block_of(X, codes(y)))
    learner.end_pass()
    rows, columns = np.nonzero(X)
    if change == "value":
        X[rows[7], columns[7]] += 0.25
    elif change == "label":
        y[11] = -y[11]
    elif change == "row":
        X, y = X[:-1], y[:-1]
    else:
        X[rows[7], columns[7]] = 0
    learner.learn(block_of(X, codes(y)))
    with pytest.raises(DataError, match="data changed between passes"):
        learner.end_pass()


def test_rows_in_another_order_are_the_same_data():
    X, y = words(n=300, d=50)
    block, order = block_of(X, codes(y)), np.random.default_rng(0).permutation(300)
    learner = Sketch(gamma=1.0)
    while not learner.complete:
        scores = learner.learn(block, order)
        assert len(scores) == 300
        learner.end_pass()
        order = order[::-1]
    assert learner.converged


def test_malformed_blocks_are_refused_and_leave_the_pass_alone():
    X, y = words(n=50, d=30)
    learner, clean = Sketch(gamma=1.0), Sketch(gamma=1.0)
    good = block_of(X, codes(y))
    for fix, message in (
        (lambda b: b.values.__setitem__(3, np.nan), "infinite or not a number"),
        (lambda b: b.values.__setitem__(3, np.inf), "infinite or not a number"),
        (lambda b: b.indices.__setitem__(3, -1), "negative"),
        (lambda b: b.indptr.__setitem__(3, 10**9), "not well formed"),
    ):
        bad = block_of(X, codes(y))
        fix(bad)
        with pytest.raises(ValueError, match=message):
            learner.learn(bad)
    with pytest.raises(ValueError, match="weight of an example"):
        learner.learn(good.with_labels(good.labels, np.full(50, -1.0)))
    with pytest.raises(ValueError, match="without labels"):
        learner.learn(good.with_labels(None, None))
    with pytest.raises(ValueError, match="order names a row"):
        learner.learn(good, np.array([0, 50]))
    learner.learn(good)
    clean.learn(good)
    same(learner, clean)


def test_a_complete_sketch_refuses_more():
    X, y = words(n=200, d=30)
    learner = solve(X, y, gamma=1.0)
    with pytest.raises(ValueError, match="complete"):
        learner.learn(block_of(X, codes(y)))


def test_an_output_without_examples_is_an_error():
    X, _ = words(n=100, d=30)
    with pytest.raises(DataError, match="all labels are equal"):
        solve(X, np.zeros(100) + (np.arange(100) % 2), gamma=1.0, outputs=3)
