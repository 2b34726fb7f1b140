"""Settings of `auto` that learn all weights together: exact, in any unit, and only while there are few features."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss

import riata
from riata import AutoClassifier, AutoRegressor
from riata.block import Block
from riata.learners import AutoRegression, Portfolio
from riata.learners.joint import INTERCEPT
from riata.learners.portfolio_settings import SEPARATE
from riata.reference import portfolio as dense_portfolio
from riata.reference.regression import Regressions
from tests.problems import block_of, dense_rows, labels_for

MAKERS = [AutoRegression, Portfolio]


def labels_of(make: Any, X: Any) -> Any:
    return labels_for(X, 0 if make is AutoRegression else 2)


def rare_and_often(n: int, rare: int, seed: int = 0) -> Any:
    """Five numbers in every row, and one of many indicators."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, 5 + rare))
    X[:, :5] = rng.normal(size=(n, 5)).astype(np.float32) * 2.0 ** rng.integers(-9, 9, 5)
    X[np.arange(n), 5 + rng.integers(0, rare, n)] = 1.0
    return X


def test_one_pass_is_the_exact_solution() -> None:
    """The posterior with the prior over the units of now, whatever they were on the way."""
    X = rare_and_often(400, 8) * np.r_[np.ones(5), np.linspace(0.1, 30, 8)]
    X[:200, 2] *= 2.0**-20  # its unit moves far, more than once
    X = X.astype(np.float32).astype(np.float64)
    y = labels_for(X, 0)
    weights = np.random.default_rng(1).random(400) + 0.1
    learner = AutoRegression()
    learner.learn(block_of(X, y, weights))
    state = learner.state()
    keys, prior = state["joint_keys"], np.array([m["prior_variance"] for m in learner.members[-4:]])
    wide = np.column_stack([np.ones(400) if key == INTERCEPT else X[:, key] for key in keys])
    for lane in range(4):
        precision = state["joint_units"] / prior[lane]
        precision[keys == INTERCEPT] = 1e-10
        A = (wide * weights[:, None]).T @ wide + np.diag(precision)
        size = np.sqrt(np.diag(A))  # units differ by orders of magnitude
        exact = np.linalg.solve(A / np.outer(size, size), wide.T @ (weights * y) / size) / size
        error = np.abs(state["joint_means"][:, lane] - exact) * size / np.abs(exact * size).max()
        assert error.max() < 1e-6


@pytest.mark.parametrize("rare", [30, 300, 4000])
def test_features_come_in_as_the_reference_says(rare: int) -> None:
    X = rare_and_often(700, rare)
    y = labels_for(X, 2)
    learner = Portfolio()
    expected = dense_portfolio.Portfolio(
        [(m["rule"], m["values"], m["parameter"]) for m in learner.members], X.shape[1]
    )
    said = [expected.learn(x, 2 * label - 1) for x, label in zip(X, y, strict=True)]
    learner.learn(block_of(X, y))
    np.testing.assert_allclose(learner._core.snapshot()["weights"][0], expected.weights, rtol=1e-7)
    assert np.isfinite(said).all()
    state = learner.state()
    assert dict(zip(state["joint_keys"].tolist(), state["joint_units"].tolist(), strict=True)) == {
        key: expected.together.units[place] for key, place in expected.together.places.items()
    }
    assert len(state["joint_keys"]) <= 128
    assert set(range(5)) < set(state["joint_keys"].tolist())  # what is in every row always is


@pytest.mark.parametrize("make", MAKERS)
def test_they_end_where_rows_hold_other_features(make: Any) -> None:
    X = dense_rows(200, 2000, 0.02, rare=False)
    y = labels_of(make, X)
    learner, without = make(), make(fit_joint=False)
    scores = learner.learn(block_of(X, y))
    assert "joint_keys" not in learner.state()
    assert all(m["weight"] == 0 for m in learner.members if m["rule"] == "joint")
    np.testing.assert_allclose(scores[50:], without.learn(block_of(X, y))[50:], rtol=0.5, atol=0.5)
    if make is AutoRegression:
        expected = Regressions(list(learner.settings), 2000, joint=learner.joint_priors)
        for x, label in zip(X, y, strict=True):
            expected.learn(x, label)
        assert not expected.together.open
        np.testing.assert_allclose(learner._core.snapshot()["weights"], expected.weights, rtol=1e-5)
    assert "joint_keys" not in without.state()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("rare", [20, 500])
def test_bits_do_not_depend_on_cuts_or_saving(make: Any, rare: int) -> None:
    X = rare_and_often(300, rare)
    block = block_of(X, labels_of(make, X))
    whole, parts = make(), make()
    scores = whole.learn(block)
    said = []
    for begin in range(0, 300, 70):
        said.append(parts.learn(block[begin : begin + 70]))
        parts = pickle.loads(pickle.dumps(parts))
    assert np.array_equal(scores, np.vstack(said))
    assert {k: v.tobytes() for k, v in whole.state().items()} == {
        k: v.tobytes() for k, v in parts.state().items()
    }
    table = make(store="table")
    assert np.array_equal(scores, table.learn(block))
    order = np.argsort(np.random.default_rng(0).random(300))
    turned, taken = make(), make()
    assert np.array_equal(turned.learn(block, order), taken.learn(block.take(order)))


@pytest.mark.parametrize("make", MAKERS)
def test_scores_are_those_just_before_learning(make: Any) -> None:
    X = rare_and_often(60, 10)
    y = labels_of(make, X)
    learner = make()
    for r in range(60):
        row = block_of(X[r : r + 1], y[r : r + 1])
        np.testing.assert_allclose(learner.score(row), learner.learn(row), rtol=1e-12)


def test_a_feature_may_stand_twice_in_a_row() -> None:
    once = Block(
        np.array([0, 2]), np.array([1, 3], np.int32), np.array([5, 1], np.float32), np.ones(1)
    )
    twice = Block(
        np.array([0, 3]), np.array([1, 3, 1], np.int32), np.array([2, 1, 3], np.float32), np.ones(1)
    )
    learner = AutoRegression()
    for _ in range(5):
        learner.learn(twice)
    assert np.isfinite(learner.state()["joint_means"]).all()
    lanes = [m["rule"] == "joint" for m in learner.members]
    np.testing.assert_allclose(learner.score(once), learner.score(twice), rtol=0.05)
    assert sum(lanes) == 4


def collinear(n: int, seed: int) -> Any:
    """Ten columns that nearly are sums of each other, in units of all sizes, far from zero."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3))
    X = hidden @ rng.normal(size=(3, 10)) + 0.05 * rng.normal(size=(n, 10))
    return (X + 20 * rng.normal(size=10)) * 10.0 ** rng.integers(-4, 5, 10), X @ rng.normal(size=10)


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_go_together(seed: int) -> None:
    """One pass is as good as the batch solution; one by one, weights are far from it."""
    X, signal = collinear(2000, seed)
    y = signal + 0.1 * np.random.default_rng(seed).normal(size=2000) + 7
    errors = []
    for model in (AutoRegressor(), AutoRegressor(fit_joint=False), Ridge()):
        sizes = X.std(axis=0) if isinstance(model, Ridge) else 1.0
        model.fit(X[:1600] / sizes, y[:1600])
        errors.append(np.mean((model.predict(X[1600:] / sizes) - y[1600:]) ** 2))
    assert errors[0] <= 1.02 * errors[2]
    assert errors[0] < errors[1]
    z = signal + np.random.default_rng(seed).logistic(size=2000) > 0
    batch = LogisticRegression(max_iter=5000).fit((X / X.std(axis=0))[:1600], z[:1600])
    theirs = log_loss(z[1600:], batch.predict_proba((X / X.std(axis=0))[1600:]))
    ours = log_loss(z[1600:], AutoClassifier().fit(X[:1600], z[:1600]).predict_proba(X[1600:]))
    assert ours <= 1.05 * theirs


def test_more_classes_and_late_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6)).astype(np.float32).astype(np.float64)
    y = labels_for(X, 3)
    together = Portfolio(outputs=3, multi_class="ovr", calibrate=False)
    together.learn(block_of(X, y))
    state = together.state()
    assert [m["rule"] for m in together.members[-4:]] == ["joint"] * 4
    for o in range(3):  # each class has the state of a model of its own
        alone = Portfolio(calibrate=False)
        alone.learn(block_of(X, (y == o).astype(float)))
        n = len(state["joint_keys"])
        mine = alone.state()
        if len(mine["settings"]) == len(state["settings"]) or "joint_means" in mine:
            np.testing.assert_array_equal(
                state["joint_means"][o * n : (o + 1) * n], mine["joint_means"]
            )
    wider = together.with_outputs(5)
    np.testing.assert_array_equal(wider.state()["joint_means"][: 3 * 7], state["joint_means"])
    wider.learn(block_of(X, np.minimum(y + 2, 4.0)))
    assert np.isfinite(wider.score(block_of(X))).all()


def test_a_model_from_before_there_were_such_settings(tmp_path: Path) -> None:
    X = rare_and_often(300, 10)
    y = labels_of(AutoRegression, X)
    learner = AutoRegression(fit_joint=False)
    learner.learn(block_of(X, y))
    state = learner.state()
    before = state | {"sums": state["sums"][:4]}
    parameters = {k: v for k, v in learner.parameters().items() if k != "fit_joint"}
    found = AutoRegression.from_state(parameters, before)
    np.testing.assert_allclose(found.score(block_of(X)), learner.score(block_of(X)), rtol=1e-12)
    assert found.learn(block_of(X, y)).shape == (300, 1)
    two = Portfolio(fit_joint=False)
    two.learn(block_of(X, labels_for(X, 2)))
    parameters = {k: v for k, v in two.parameters().items() if k != "fit_joint"}
    again = Portfolio.from_state(parameters, two.state())
    assert max(again.settings) < SEPARATE
    block = block_of(X, labels_for(X, 2))
    assert np.array_equal(again.learn(block), two.learn(block))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("keys", lambda a: a[1:].copy()),
        ("keys", lambda a: np.zeros_like(a)),
        ("keys", lambda a: a - 5),
        ("units", lambda a: a * 0),
        ("units", lambda a: a * np.nan),
        ("means", lambda a: a[:, 1:].copy()),
        ("variances", lambda a: -a),
        ("variances", lambda a: a + np.inf),
        ("factors", lambda a: a[1:].copy()),
        ("seen", lambda a: a[1:].copy()),
    ],
)
def test_states_that_cannot_be_are_refused(make: Any, name: str, change: Any) -> None:
    X = rare_and_often(100, 4)
    learner = make()
    learner.learn(block_of(X, labels_of(make, X)))
    state = learner.state()
    state[f"joint_{name}"] = change(state[f"joint_{name}"])
    with pytest.raises(ValueError, match="joint|has the shape"):
        make.from_state(learner.parameters(), state)


def test_saved_explained_and_made_one(tmp_path: Path) -> None:
    """Whatever reads a model of `auto` knows of them: files, weights, the one linear model, explanations."""
    X, signal = collinear(1500, 1)
    z = signal + np.random.default_rng(0).logistic(size=1500) > 0
    model = AutoClassifier(random_state=0).fit(X, z)
    leading = max(model.members_, key=lambda member: member["weight"])
    assert leading["rule"] == "joint"
    model.save(tmp_path / "m.riata")
    again = riata.load(tmp_path / "m.riata")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.members_ == model.members_
    loss = log_loss(z, model.predict_proba(X))
    as_one = 1 / (1 + np.exp(-(X @ model.coef_[0] + model.intercept_[0])))
    assert log_loss(z, as_one) < 1.05 * loss
    assert (
        log_loss(z, model.collapse().predict_proba(X)) < (1 + model.cost_of_collapse_) * 1.05 * loss
    )
    apart = model.explain(X[:20])
    np.testing.assert_allclose(
        [row.score for row in apart], model.decision_function(X[:20]), rtol=1e-9
    )
