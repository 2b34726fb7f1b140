"""The sketch's algorithms against the paper's, dense, and against exact solvers of others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from sklearn.linear_model import LogisticRegression

from riata import _core
from riata.learners import Sketch
from riata.reference import sketch as reference
from tests.learners.sketches import codes, dense, gaussian, solve, words
from tests.problems import block_of, labels_for

LINKS = ["logit", "probit"]
EXACT = {"fit_intercept": False, "tol": 1e-10}


def liblinear(X, y, gamma, intercept=True, weights=None):
    model = LogisticRegression(
        solver="liblinear", l1_ratio=1, C=1 / gamma, tol=1e-6, max_iter=2000,
        fit_intercept=intercept, random_state=0,
    ).fit(X, y, weights)  # fmt: skip
    return model.coef_[0], float(model.intercept_[0] if intercept else 0.0)


# Links


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_terms_are_the_reference_and_its_derivatives(link, y):
    for margin in np.concatenate([np.linspace(-29, 29, 59), [-1e-9, 0, 1e-9]]):
        loss, slope, curvature = _core.link_term(link, float(margin), y)
        at = np.array([margin]), np.array([y])
        assert loss == pytest.approx(-reference.log_likelihood(link, *at)[0], rel=1e-12, abs=1e-300)
        first, second = reference.derivatives(link, *at)
        assert slope == pytest.approx(-first[0], rel=1e-11, abs=1e-300)
        assert curvature == pytest.approx(-second[0], rel=1e-9, abs=1e-300)
        h = 1e-5
        ahead, behind = (_core.link_term(link, float(margin + e), y)[0] for e in (h, -h))
        assert (ahead - behind) / (2 * h) == pytest.approx(slope, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("link", LINKS)
def test_terms_hold_far_out(link):
    for margin in (-1e8, -1e4, -300.0, -40.0, -30.0001, 40.0, 1e4, 1e8):
        loss, slope, curvature = _core.link_term(link, margin, 1.0)
        assert np.isfinite([loss, slope, curvature]).all()
        assert loss >= 0
        assert slope <= 0
        assert curvature >= 0
    near, far = (_core.link_term("probit", z, 1.0) for z in (-30 + 1e-9, -30 - 1e-9))
    np.testing.assert_allclose(near, far, rtol=1e-8)


def test_probabilities():
    margins = np.linspace(-5, 5, 11)
    area = [
        integrate.quad(lambda t: np.exp(-t * t / 2) / np.sqrt(2 * np.pi), -20, m)[0]
        for m in margins
    ]
    np.testing.assert_allclose(_core.link_apply("probit", margins, None), area, rtol=1e-9)
    np.testing.assert_allclose(
        _core.link_apply("logit", margins, None), 1 / (1 + np.exp(-margins)), rtol=1e-14
    )


# Shooting


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gamma", [0.1, 1.0, 5.0])
def test_shooting_equals_the_reference(seed, gamma):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 20))
    H, c = A.T @ A, rng.normal(size=20) * 5
    expected = reference.shooting(-H / 2, c, np.zeros(20), gamma, tol=1e-13)
    for start in (np.zeros(20), rng.normal(size=20)):
        b, _, converged = _core.shoot(H, c, np.full(20, gamma), start, change=1e-13)
        assert converged
        np.testing.assert_allclose(b, expected, rtol=1e-8, atol=1e-10)
    b, _, converged = _core.shoot(
        H, c, np.full(20, gamma), np.zeros(20), change=0.0, violation=1e-9
    )
    assert converged
    r = c - H @ b
    assert (np.abs(r[b == 0]) <= gamma + 1e-9).all()
    np.testing.assert_allclose(r[b != 0], gamma * np.sign(b[b != 0]), atol=1e-9)


def test_shooting_with_features_without_curvature():
    H = np.diag([2.0, 0.0, 1e-310, 1.0])
    b, sweeps, converged = _core.shoot(H, np.array([4.0, 9.0, 9.0, 0.5]), np.ones(4), np.zeros(4))
    assert b.tolist() == [1.5, 0.0, 0.0, 0.0]
    assert converged
    assert sweeps < 5


def test_shooting_with_features_that_are_the_same():
    """A singular curvature: many minima, none of them missed, and an end."""
    x = np.random.default_rng(0).normal(size=(50, 1))
    X = np.repeat(x, 4, axis=1)
    H, c = X.T @ X, X.T @ np.sign(x[:, 0])
    b, _, converged = _core.shoot(H, c, np.full(4, 3.0), np.zeros(4), change=0.0, violation=1e-10)
    assert converged
    assert b.sum() == pytest.approx((c[0] - 3.0) / H[0, 0])


@pytest.mark.parametrize("seed", range(4))
def test_shooting_where_columns_add_up_to_each_other(seed):
    """Values of a category, all of them as columns: along directions without curvature only the penalty counts."""
    rng = np.random.default_rng(seed)
    X = np.hstack([np.ones((2000, 1)), *(np.eye(12)[rng.integers(0, 12, 2000)] for _ in range(6))])
    y = X @ rng.normal(size=73) + 0.1 * rng.normal(size=2000)
    H, c, gamma = 0.1 * X.T @ X, 0.1 * X.T @ y, np.full(73, 0.01)
    b, sweeps, converged = _core.shoot(H, c, gamma, np.zeros(73), 0.0, 1e-9)
    assert converged
    assert sweeps < 300
    r = c - H @ b
    assert np.where(b != 0, np.abs(r - np.sign(b) * gamma), np.abs(r) - gamma).max() < 1e-8


def test_shooting_stops_at_the_sweeps_it_is_given():
    A = np.random.default_rng(0).normal(size=(20, 20))
    b, sweeps, converged = _core.shoot(
        A.T @ A, np.ones(20), np.full(20, 1e-3), np.zeros(20), 0.0, 0.0, 7
    )
    assert (sweeps, converged) == (7, False)
    assert np.isfinite(b).all()


# Algorithms


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("gamma", [2.0, 20.0])
def test_online_equals_algorithm_2(link, gamma):
    X, y = gaussian(link=link)
    expected = reference.online(X, y, gamma, link, tol=1e-11)
    learner = Sketch(
        algorithm="online", gamma=gamma, link=link, fit_intercept=False, shooting_tol=1e-11
    )
    for i in range(len(X)):
        learner.learn(block_of(X[i : i + 1], codes(y[i : i + 1])))
        if i % 100 == 99:
            np.testing.assert_allclose(
                dense(learner, X.shape[1]), expected[i], rtol=1e-7, atol=1e-9
            )


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("algorithm", ["multipass", "reduced"])
def test_passes_end_where_the_papers_algorithm_does(link, algorithm):
    X, y = gaussian(link=link)
    learner = solve(X, y, algorithm=algorithm, gamma=5.0, link=link, **EXACT)
    assert learner.converged
    w = dense(learner, X.shape[1])
    np.testing.assert_allclose(w, reference.multipass(X, y, 5.0, 30, link)[-1], atol=1e-8)
    np.testing.assert_allclose(w, reference.reduced(X, y, 5.0, 30, link)[-1], atol=1e-8)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("margin", [-30.0, -9.0, -8.0, -7.9, -1.0, 0.0, 5.0])
def test_the_model_of_an_example_is_the_references(link, margin):
    core = _core.Sketch(link, False, False)
    core.begin(np.array([0]), np.array([margin]), 0.0)
    row = block_of(np.ones((1, 1)), np.ones(1))
    core.accumulate(row.indptr, row.indices, row.values, np.ones(1), None, 1.0, 1, None)
    a, _ = reference.terms(link, np.array([margin]), np.ones(1))
    np.testing.assert_allclose(core.curvature(), -2 * a, rtol=1e-9)
    # on the wrong side it is nowhere below a loss that is the logistic one
    if link == "logit" and margin < -8:
        t = np.linspace(-500, 500, 1001)
        slope, _ = reference.derivatives(link, np.array([margin]), np.ones(1))
        at = -reference.log_likelihood(link, np.array([margin]), np.ones(1))
        model = at - slope * (t - margin) - a * (t - margin) ** 2
        assert (model >= -reference.log_likelihood(link, t, np.ones(len(t))) - 1e-6).all()


def test_every_iterate_of_multipass_is_the_papers():
    X, y = gaussian(n=2000)
    expected = reference.multipass(X, y, 5.0, 4, tol=1e-12)
    learner = Sketch(algorithm="multipass", gamma=5.0, fit_intercept=False, tol=1e-9, sample=0)
    for row in expected:
        learner.learn(block_of(X, codes(y)))
        learner.end_pass()
        core = learner._passes[0].core
        weights = np.zeros(12)
        weights[core.keys] = core.weights
        # Shooting stops at a hundredth of the violation, so early iterates are near the paper's, not on them
        np.testing.assert_allclose(weights, row, atol=2e-2 * np.abs(row).max())
    np.testing.assert_allclose(weights, row, atol=1e-3)


def test_probit_equals_expectation_maximisation():
    X, y = gaussian(link="probit", seed=3)
    learner = solve(X, y, gamma=10.0, link="probit", **EXACT)
    np.testing.assert_allclose(
        dense(learner, X.shape[1]), reference.probit_em(X, y, 10.0), atol=1e-7
    )


@pytest.mark.parametrize("algorithm", ["multipass", "reduced"])
@pytest.mark.parametrize("gamma", [0.5, 3.0, 30.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_equals_liblinear(algorithm, gamma, intercept):
    X, y = words(n=700, d=300)
    learner = solve(
        X,
        y,
        algorithm=algorithm,
        gamma=gamma,
        fit_intercept=intercept,
        penalize_intercept=True,
        tol=1e-9,
    )
    coef, offset = liblinear(X, y, gamma, intercept)
    assert learner.converged
    np.testing.assert_allclose(dense(learner, X.shape[1]), coef, atol=1e-2)
    assert learner.intercept[0] == pytest.approx(offset, abs=1e-2)
    ones = np.hstack([X, np.ones((len(X), 1))])
    ours = reference.objective(
        ones, y, np.append(dense(learner, X.shape[1]), learner.intercept), gamma
    )
    theirs = reference.objective(ones, y, np.append(coef, offset), gamma)
    assert ours <= theirs * (1 + 1e-9)


def test_equals_celer():
    celer = pytest.importorskip("celer")
    X, y = words(seed=1)
    coef = celer.LogisticRegression(C=1 / 5.0, tol=1e-10, fit_intercept=False).fit(X, y).coef_[0]
    learner = solve(X, y, gamma=5.0, **EXACT)
    np.testing.assert_allclose(dense(learner, X.shape[1]), coef, atol=1e-5)


def test_a_free_intercept_is_at_its_optimum():
    X, y = words(seed=2)
    y[:1300] = 1
    learner = solve(X, y, gamma=3.0, tol=1e-9)
    margins = X @ dense(learner, X.shape[1]) + learner.intercept[0]
    slope, _ = reference.derivatives("logit", margins, y)
    assert abs(slope.sum()) < 1e-5
    pull = np.abs(X.T @ slope)
    assert pull.max() <= 3.0 * (1 + 1e-6)
    np.testing.assert_allclose(pull[dense(learner, X.shape[1]) != 0], 3.0, rtol=1e-6)


@pytest.mark.parametrize("algorithm", ["multipass", "reduced"])
def test_weights_are_repetitions(algorithm):
    X, y = words(n=600, d=100)
    weights = np.random.default_rng(0).integers(0, 4, 600).astype(float)
    times = weights.astype(int)
    weighted = solve(X, y, weights, algorithm=algorithm, gamma=2.0, tol=1e-10)
    repeated = solve(X.repeat(times, 0), y.repeat(times), algorithm=algorithm, gamma=2.0, tol=1e-10)
    np.testing.assert_allclose(dense(weighted, 100), dense(repeated, 100), atol=1e-7)


@pytest.mark.parametrize("algorithm", ["multipass", "reduced", "online"])
def test_a_class_of_many_is_that_class_against_the_rest(algorithm):
    X, _ = words(n=500, d=80)
    y = labels_for(X, 3)
    block = block_of(X, y)
    together = Sketch(algorithm=algorithm, gamma=1.0, outputs=3)
    alone = [Sketch(algorithm=algorithm, gamma=1.0) for _ in range(3)]
    for learner, labels in [
        (together, y),
        *((a, (y == c).astype(float)) for c, a in enumerate(alone)),
    ]:
        learner.learn(block.with_labels(labels, None))
        learner.end_pass()
        while algorithm != "online" and not learner.complete:
            learner.learn(block.with_labels(labels, None))
            learner.end_pass()
    for c in range(3):
        assert np.array_equal(dense(together, 80)[:, c], dense(alone[c], 80))
        assert np.array_equal(together.score(block)[:, c], alone[c].score(block)[:, 0])
    np.testing.assert_allclose(
        together.losses(together.score(block), y),
        sum(a.losses(a.score(block), (y == c).astype(float)) for c, a in enumerate(alone)),
    )


def test_scores_are_the_margins_by_the_weights():
    X, y = words(n=400, d=80)
    learner = solve(X, y, gamma=1.0)
    expected = X @ dense(learner, 80) + learner.intercept[0]
    np.testing.assert_allclose(learner.score(block_of(X))[:, 0], expected, atol=1e-12)
    beyond = block_of(np.hstack([X, np.ones((400, 50))]), index=np.int64)
    np.testing.assert_allclose(learner.score(beyond)[:, 0], expected, atol=1e-12)
