"""The exact solution for examples in memory: against the reference, other solvers, and the certificate of a pass."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from scipy.optimize import minimize

from riata import SketchClassifier, _core
from riata.block import Block
from riata.learners import Sketch
from riata.learners.sketch_memory import InMemory
from riata.reference import sketch as reference
from tests.learners.sketches import codes, dense, gaussian, solve, words
from tests.problems import block_of

LINKS = ["logit", "probit"]


def by_columns(X, y, gamma, gamma0=0.0, **given):
    """The core's solution; y of -1 and +1."""
    block = block_of(X)
    columns = _core.ExampleColumns(
        block.indptr, block.indices.astype(np.int32), block.values, X.shape[1]
    )
    given = {"link": "logit", "fit_intercept": True, "weights": None, "offsets": None} | given
    return columns.solve(signs=y, gamma=gamma, gamma0=gamma0, **given)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("gamma", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("make", [gaussian, words])
def test_it_is_the_minimum_of_the_reference(link, gamma, make):
    """Objective and conditions of optimality as the reference has them; weights, offsets, no intercept."""
    X, y = make(n=300, d=60)
    offsets = np.random.default_rng(1).normal(size=len(y))
    found = by_columns(
        X, y, gamma, link=link, fit_intercept=False, offsets=offsets, tolerance=1e-10
    )
    assert found.converged
    beta = found.weights
    assert found.objective == pytest.approx(reference.objective(X, y, beta, gamma, link, offsets))
    slope, _ = reference.derivatives(link, X @ beta + offsets, y)
    pulls = X.T @ slope
    np.testing.assert_allclose(found.pulls, pulls, atol=1e-8 * gamma + 1e-9)
    live = beta != 0
    np.testing.assert_allclose(pulls[live], gamma * np.sign(beta[live]), rtol=1e-6)
    assert (np.abs(pulls) <= gamma * (1 + 1e-9)).all()


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("bounds", [None, (0.0, np.inf), (-0.2, 0.3), (0.1, 2.0)])
@pytest.mark.parametrize("gamma0", [0.0, 2.0])
def test_the_gap_is_true_and_comes_as_near_as_asked(link, bounds, gamma0):
    """Against L-BFGS-B, for a free intercept and one under the penalty, inside bounds."""
    X, y = gaussian(n=300, d=8)
    low, high = (np.full(8, end) for end in bounds or (-np.inf, np.inf))
    weights = np.random.default_rng(3).random(300) + 0.1
    given = {} if bounds is None else {"low": low, "high": high}

    def objective(v):
        w, b = v[:8] - v[8:16], v[16] - v[17]
        margins = X @ w + b
        slope, _ = reference.derivatives(link, margins, y)
        g, g0 = -X.T @ (weights * slope), -(weights @ slope)
        value = -(weights @ reference.log_likelihood(link, margins, y))
        value += 2.0 * v[:16].sum() + gamma0 * v[16:].sum()
        return value, np.concatenate([g + 2, 2 - g, [g0 + gamma0, gamma0 - g0]])

    ends = [*zip(np.maximum(low, 0), np.maximum(high, 0), strict=True),
            *zip(np.maximum(-high, 0), np.maximum(-low, 0), strict=True), (0, None), (0, None)]  # fmt: skip
    start = np.array([max(a, 0.0) for a, _ in ends])
    least = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=ends,
                     options={"maxiter": 5000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9}).fun  # fmt: skip
    for tolerance in (1e-2, 1e-4, 1e-9):
        found = by_columns(
            X, y, 2.0, gamma0, link=link, weights=weights, tolerance=tolerance, **given
        )
        assert found.converged
        assert found.gap <= tolerance * found.objective
        assert found.objective - found.gap <= least * (1 + 1e-9)
        assert found.objective >= least * (1 - 1e-7)
        assert (found.weights >= low).all()
        assert (found.weights <= high).all()


def test_columns_in_odd_units_and_copies_of_columns():
    """The largest violation is then that of the largest units, and sweeps over copies take forever."""
    rng = np.random.default_rng(0)
    X, y = gaussian(n=400, d=20)
    X[:, 0] *= 1e4
    X[:, 1] = 1000 + X[:, 1]
    X[:, 2] = X[:, 3] + 1e-3 * rng.normal(size=400)
    X = X.astype(np.float32).astype(np.float64)
    found = by_columns(X, y, 0.1, tolerance=1e-9)
    assert found.converged
    assert found.steps < 100


def test_a_row_that_names_a_feature_twice_has_the_sum():
    X, y = gaussian(n=200, d=3)
    once = block_of(X)
    half = (once.values / 2).astype(np.float32)
    twice = _core.ExampleColumns(
        2 * once.indptr, np.repeat(once.indices, 2).astype(np.int32), np.repeat(half, 2), 3
    )
    found = twice.solve("logit", True, y, None, None, 1.0, 0.0, tolerance=1e-10)
    wanted = by_columns(X, y, 1.0, tolerance=1e-10)
    np.testing.assert_allclose(found.weights, wanted.weights, rtol=1e-5)


def test_no_more_features_than_there_is_room_for():
    X, y = words(n=500, d=100)
    free = by_columns(X, y, 0.2)
    found = by_columns(X, y, 0.2, capacity=10)
    assert np.count_nonzero(free.weights) > 20
    assert 0 < np.count_nonzero(found.weights) <= 10
    assert not found.converged


def test_what_is_not_well_formed_is_refused():
    X, y = gaussian(n=20, d=3)
    block = block_of(X)
    with pytest.raises(ValueError, match="not among those named"):
        _core.ExampleColumns(block.indptr, block.indices.astype(np.int32), block.values, 2)
    with pytest.raises(ValueError, match="not well formed"):
        _core.ExampleColumns(
            block.indptr[::-1].copy(), block.indices.astype(np.int32), block.values, 3
        )
    with pytest.raises(ValueError, match="as many as the examples"):
        by_columns(X, y[:5], 1.0)
    with pytest.raises(ValueError, match="as many as the features"):
        by_columns(X, y, 1.0, low=np.zeros(2), high=np.ones(2))


@pytest.mark.parametrize("far", [1, 1000])
def test_numbers_of_features_change_no_bit(far):
    X, y = words(n=400, d=80)
    block = block_of(X, codes(y))
    apart = block.with_indices(block.indices.astype(np.int64) * far + 7)
    here, there = InMemory(block), InMemory(apart)
    np.testing.assert_array_equal(here.features * far + 7, there.features)
    settings = Sketch()
    one = here.solve(settings, None, 1.0, 0.5, 1e-8)
    other = there.solve(settings, None, 1.0, 0.5, 1e-8)
    np.testing.assert_array_equal(one.point.weights, other.point.weights)
    np.testing.assert_array_equal(one.point.keys * far + 7, other.point.keys)


@pytest.mark.parametrize("outputs", [1, 3])
def test_two_passes_are_enough_where_all_fits_and_the_second_has_no_curvature(outputs):
    X, y = words(n=1500, d=400)
    labels = codes(y) if outputs == 1 else np.arange(1500) % 3.0
    learner = Sketch(gamma=0.3, tol=1e-9, outputs=outputs)
    block = block_of(X, labels)
    learner.learn(block)
    learner.end_pass()
    assert not any(run.core.curved for run in learner._passes)
    again = Sketch.from_state(learner.parameters(), learner.state())
    for run in (learner, again):
        run.learn(block)
        run.end_pass()
        assert run.complete
        assert run.converged
    np.testing.assert_array_equal(learner.coef()[1], again.coef()[1])


def test_a_pass_without_curvature_says_so_and_is_made_again_where_a_step_is_needed():
    X, y = words(n=800, d=200)
    block = block_of(X, codes(y))
    learner = Sketch(gamma=0.3, tol=1e-8)
    learner.learn(block)
    learner.end_pass()
    with pytest.raises(ValueError, match="without curvature"):
        learner._passes[0].core.solve(0.3, 0.0, 0.0, 1e-3, 10)
    learner._passes[0].core.begin(np.array([0]), np.array([0.5]), 0.0, False)  # nowhere near
    learner._sample.clear()
    while not learner.complete:
        learner.learn(block)
        learner.end_pass()
    assert learner.converged
    np.testing.assert_allclose(
        dense(learner, 200), dense(solve(X, y, gamma=0.3, tol=1e-8, sample=0), 200), atol=1e-3
    )


def test_nothing_to_find_is_found_in_one_pass():
    X, y = words(n=300, d=100)
    model = SketchClassifier(1e4, penalize_intercept=True).fit(X, y)
    assert model.n_iter_ == 1
    assert model.converged_
    assert not model.coef_.any()


@pytest.mark.parametrize("gamma", [0.05, 0.2])
def test_names_that_hardly_ever_occur_are_proved_in_two_passes(gamma):
    """As in click data: of thousands of weights, many belong to one example, and some names only occur together."""
    rng = np.random.default_rng(0)
    n, sizes = 2000, (10, 300, 2000, 4000)
    columns = [(size * rng.random(n) ** 3).astype(np.int32) for size in sizes]
    columns.append(columns[-1])  # a name of its own for the same thing
    starts = np.cumsum([0, *sizes])
    indices = np.stack([c + s for c, s in zip(columns, starts, strict=True)], axis=1)
    scores = rng.normal(size=int(indices.max()) + 1)[indices].sum(axis=1)
    labels = (scores + rng.logistic(size=n) > 1).astype(float)
    block = Block(np.arange(0, 5 * n + 1, 5), indices.ravel(), np.ones(5 * n, np.float32), labels)
    learner = Sketch(gamma=gamma)
    while not learner.complete:
        learner.learn(block)
        learner.end_pass()
    assert learner.converged
    assert len(learner.history) == 2
    assert learner.n_live() > 700


def test_ctrl_c_ends_it():
    """Columns in units that are many powers of ten apart would take minutes."""
    rng = np.random.default_rng(0)
    X, y = gaussian(n=3000, d=300)
    X *= 10.0 ** rng.uniform(-10, 10, 300)

    def ctrl_c(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ctrl_c)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            by_columns(X, y, 1e-3, tolerance=1e-12, work=1e12)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
