"""What the passes promise: the certificate, a falling objective, limits of memory, the path."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from riata import _core
from riata.learners import Sketch
from riata.reference import sketch as reference
from tests.learners.sketches import codes, dense, gaussian, solve, words
from tests.problems import block_of, labels_for

# The certificate


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("parameters", [{}, {"penalize_intercept": True}, {"fit_intercept": False}])
def test_the_gap_bounds_the_distance_from_the_optimum(link, parameters):
    X, y = words(seed=4)
    y[:500] = 1
    learner = solve(X, y, gamma=2.0, link=link, tol=1e-11, **parameters)
    best = learner.history[-1]["objective"]
    for entry in learner.history:
        assert entry["objective"] - best <= entry["gap"] * (1 + 1e-9) + 1e-9
        assert entry["violation"] >= 0
    gaps = [entry["gap"] for entry in learner.history]
    assert gaps[-1] <= 1e-11 * best
    assert gaps[-1] < gaps[0]


def test_history_tells_objective_and_support_as_they_are():
    X, y = words()
    learner = solve(X, y, gamma=4.0, penalize_intercept=True)
    last = learner.history[-1]
    w = np.append(dense(learner, X.shape[1]), learner.intercept)
    ones = np.hstack([X, np.ones((len(X), 1))])
    assert last["objective"] == pytest.approx(reference.objective(ones, y, w, 4.0), rel=1e-12)
    assert last["support"] == np.count_nonzero(w[:-1]) == learner.n_live()
    assert last["active"] >= last["support"]
    assert [entry["pass"] for entry in learner.history] == list(range(1, len(learner.history) + 1))
    slope, _ = reference.derivatives("logit", ones @ w, y)
    pull = ones.T @ slope
    violation = np.where(w != 0, np.abs(pull - 4.0 * np.sign(w)), np.maximum(0, np.abs(pull) - 4.0))
    assert last["violation"] == pytest.approx(violation.max(), abs=1e-9)


def test_a_limit_of_passes_is_a_warning_and_the_best_weights():
    X, y = words()
    with pytest.warns(ConvergenceWarning, match="after 3 passes"):
        learner = solve(X, y, gamma=1.0, max_passes=3, sample=0)
    assert not learner.converged
    assert learner.complete
    objectives = [entry["objective"] for entry in learner.history]
    w = dense(learner, X.shape[1])
    reached = reference.objective(X, y, w, 1.0)
    if learner.intercept[0] == 0:
        assert reached == pytest.approx(min(objectives))
    assert min(objectives) < objectives[0]


# Safety


def overshooting():
    """Newton's step from zero overshoots: few examples, far away from each other."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 40)) * np.exp(rng.normal(size=(60, 1)) * 2)
    X = X.astype(np.float32).astype(np.float64)
    return X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0)


@pytest.mark.parametrize("algorithm", ["multipass", "reduced"])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_a_step_that_overshoots_is_halved(algorithm, link):
    X, y = overshooting()
    learner = solve(
        X,
        y,
        algorithm=algorithm,
        gamma=0.01,
        link=link,
        fit_intercept=False,
        max_passes=200,
        sample=0,
    )
    assert learner.converged
    assert min(entry["step"] for entry in learner.history) < 1
    best = np.inf
    for entry in learner.history:
        if entry["step"] == 1:
            best = min(best, entry["objective"])
    assert learner.history[-1]["objective"] <= best * (1 + 1e-9)
    assert learner.history[-1]["objective"] <= learner.history[0]["objective"]


@pytest.mark.parametrize("passes", range(1, 12))
def test_no_run_ends_above_where_it_started(passes):
    X, y = overshooting()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner = solve(X, y, gamma=0.01, max_passes=passes, fit_intercept=False)
    reached = reference.objective(X, y, dense(learner, X.shape[1]), 0.01)
    assert reached <= reference.objective(X, y, np.zeros(X.shape[1]), 0.01)
    assert reached == pytest.approx(min(entry["objective"] for entry in learner.history))


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("gamma", [1e-4, 1.0])
def test_separable_data_has_a_finite_answer(link, gamma):
    X, _ = gaussian(n=100, d=5)
    X *= 1000
    y = np.sign(X[:, 0])
    learner = solve(X, y, gamma=gamma, link=link, fit_intercept=False, max_passes=200)
    assert np.isfinite(dense(learner, 5)).all()
    assert (np.sign(learner.score(block_of(X))[:, 0]) == y).all()
    assert learner.converged


def test_a_constant_column_is_left_to_the_intercept():
    X, y = words(n=500, d=60)
    y[:200] = 1
    alone = solve(X, y, gamma=1.0, tol=1e-10)
    joined = solve(np.hstack([X, np.full((500, 1), 3.0)]), y, gamma=1.0, tol=1e-10)
    assert joined.converged
    assert dense(joined, 61)[60] == 0
    np.testing.assert_allclose(dense(joined, 61)[:60], dense(alone, 60), atol=1e-6)


def test_features_far_from_zero_cost_no_more_passes():
    """A free intercept takes their mean: coordinate descent alone would crawl."""
    X, y = gaussian(n=400, d=10)
    near = solve(X, y, gamma=2.0, tol=1e-8)
    far = solve(X + 128.0, y, gamma=2.0, tol=1e-8)
    assert far.converged
    assert len(far.history) <= len(near.history) + 2
    np.testing.assert_allclose(dense(far, 10), dense(near, 10), atol=1e-4)


@pytest.mark.parametrize(("density", "size"), [(0.1, 1.0), (0.1, 6.0)])
def test_binary_features_and_a_small_penalty_take_at_most_ten_passes(density, size):
    """More of them than the sample holds, and Newton's steps alone would overshoot."""
    rng = np.random.default_rng(0)
    X = (rng.random((50_000, 300)) < density).astype(np.float32)
    score = X @ (rng.normal(size=300) * size * (rng.random(300) < 0.5))
    y = np.where(rng.random(50_000) < 1 / (1 + np.exp(np.median(score) - score)), 1.0, -1.0)
    learner = solve(X, y, gamma=1.0)
    assert learner.converged
    assert len(learner.history) <= 10


def test_gamma_beyond_every_gradient_leaves_the_intercept():
    X, y = words(n=500, d=60)
    y[:200] = 1
    learner = solve(X, y, gamma=1e6)
    assert learner.n_live() == 0
    assert learner.intercept[0] == pytest.approx(np.log(np.mean(y > 0) / np.mean(y < 0)))


# Capacity


def test_capacity_reaches_the_same_solution():
    X, y = words()
    free = solve(X, y, gamma=2.0, tol=1e-9)
    support = free.n_live()
    tight = solve(X, y, gamma=2.0, tol=1e-9, capacity=int(1.3 * support))
    assert tight.converged
    assert max(entry["active"] for entry in tight.history) <= int(1.3 * support)
    np.testing.assert_allclose(dense(tight, X.shape[1]), dense(free, X.shape[1]), atol=1e-5)


def test_without_a_capacity_the_worst_enter_first():
    """Thousands of features pull at the start, few stay: their curvature is not worth its square."""
    rng = np.random.default_rng(3)
    X = (rng.random((400, 3000)) < 0.3).astype(float)
    y = np.where(X[:, :20] @ rng.normal(size=20) + rng.logistic(size=400) > 0, 1.0, -1.0)
    learner = solve(X, y, gamma=2.0)
    assert learner.converged
    assert max(entry["active"] for entry in learner.history) <= 1000
    small = solve(X, y, gamma=2.0, capacity=2999)
    np.testing.assert_allclose(
        learner.history[-1]["objective"], small.history[-1]["objective"], rtol=2e-6
    )


def test_one_pass_of_a_path_warns():
    X, y = words(n=300, d=50)
    with pytest.warns(ConvergenceWarning, match="after 1 passes"):
        solve(X, y, gamma="path", max_passes=1)


def test_too_small_a_capacity_says_what_would_do():
    X, y = words()
    with pytest.warns(
        ConvergenceWarning, match=r"capacity=20 is smaller.*capacity=(\d+) would do"
    ) as caught:
        learner = solve(X, y, gamma=2.0, capacity=20)
    assert not learner.converged
    assert learner.n_live() <= 20
    enough = int(str(caught[0].message).rsplit("capacity=", 1)[1].split()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solve(X, y, gamma=2.0, capacity=enough).converged


# The path


def test_a_path_has_the_solution_of_every_gamma():
    X, y = words()
    gammas = (8.0, 1.0, 3.0)
    learner = solve(X, y, gamma=gammas, tol=1e-9)
    (path,) = learner.path
    assert [point.gamma for point in path] == [8.0, 3.0, 1.0]
    alone_passes = 0
    for point in path:
        alone = solve(X, y, gamma=point.gamma, tol=1e-9)
        alone_passes += len(alone.history)
        w = np.zeros(X.shape[1])
        w[point.keys] = point.weights
        np.testing.assert_allclose(w, dense(alone, X.shape[1]), atol=1e-4)
        assert point.objective == pytest.approx(alone.history[-1]["objective"], rel=1e-8)
        assert point.gap <= 1e-9 * point.objective
    assert path[-1].passes < alone_passes
    assert np.array_equal(learner.coef()[0], path[-1].keys)


@pytest.mark.parametrize("parameters", [{}, {"fit_intercept": False}, {"penalize_intercept": True}])
def test_the_grid_starts_where_the_first_feature_enters(parameters):
    X, y = words()
    y[:700] = 1
    learner = solve(X, y, gamma="path", path_length=5, path_ratio=0.1, max_passes=100, **parameters)
    (path,) = learner.path
    gammas = np.array([point.gamma for point in path])
    np.testing.assert_allclose(gammas, gammas[0] * np.geomspace(1, 0.1, 5))
    penalized = "penalize_intercept" in parameters  # then it is the intercept that enters first
    live = [len(point.keys) + (penalized and point.intercept != 0) for point in path]
    assert live[0] == 0
    assert live[1] > 0
    just_below = solve(X, y, gamma=gammas[0] * 0.999, tol=1e-9, **parameters)
    just_above = solve(X, y, gamma=gammas[0] * 1.001, tol=1e-9, **parameters)
    assert just_below.n_live() + (penalized and just_below.intercept[0] != 0) > 0
    assert just_above.n_live() == 0
    assert learner.converged


def test_memory_does_not_grow_with_the_examples():
    X, y = words(n=2000, d=300)
    one, many = _core.Sketch("logit", True, False), _core.Sketch("logit", True, False)
    keys = np.arange(100)
    for sketch, times in ((one, 1), (many, 20)):
        sketch.begin(keys, np.zeros(100), 0.0)
        block = block_of(X, codes(y))
        for _ in range(times):
            sketch.accumulate(block.indptr, block.indices, block.values, block.labels, None, 1.0, 1)
    assert one.bytes == many.bytes


def test_many_classes_in_one_run():
    X, _ = words(n=800, d=100)
    learner = solve(X, labels_for(X, 4), gamma=1.0, outputs=4)
    assert learner.converged
    assert {entry["output"] for entry in learner.history} == {0, 1, 2, 3}
    assert learner.probability(learner.score(block_of(X))).shape == (800, 4)


def test_features_that_go_together_end_at_the_optimum():
    """Copies and sums of features: coordinate descent alone would sweep forever."""
    X, y = gaussian(n=300, d=6, seed=4)
    noise = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    X = np.hstack([X, X, X[:, :4] + 2.0**-10 * noise])
    learner = solve(X, y, gamma=0.01, tol=1e-10, sample=0)
    assert learner.converged
    assert len(learner.history) <= 10


@pytest.mark.parametrize("size", [1.0, 0.2, 0.02, 0.002])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_a_pass_knows_the_loss_along_the_step_that_led_to_it(size, link):
    X, y = gaussian(n=300, d=5)
    block = block_of(X, codes(y))
    core = Sketch(link=link)._passes[0].core
    start = np.array([0.1, -0.2, 0.0, 0.0, 0.0])
    end = start + size * np.array([2.9, 1.2, -2.0, 0.0, 0.004])
    keys = np.arange(5)
    core.begin(keys, end, size - 0.5)
    core.came_from(keys[:2], start[:2], -0.5)
    core.accumulate(
        block.indptr, block.indices, block.values, block.labels, None, 1.0, 1, None
    )  # fmt: skip
    lengths, losses = core.along()
    for t, loss in zip(lengths, losses, strict=True):
        margins = X @ (start + t * (end - start)) - 0.5 + t * size
        assert loss == pytest.approx(_core.link_apply(link, margins, y).sum(), rel=1e-5)
    with pytest.raises(ValueError, match="active features alone"):
        core.came_from(np.array([9]), np.ones(1), 0.0)
