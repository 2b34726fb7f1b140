"""Models of `auto` and Bayesian regressions of two parts of the data, as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from riata.learners import AutoRegression, BayesianRegression, Portfolio
from riata.learners.joint import OFF_CENTRE, joint_means
from riata.learners.portfolio_settings import SEPARATE
from tests.problems import block_of, dense_rows, labels_for


def trained(cls: Any, X: Any, y: Any, **parameters: Any) -> Any:
    learner = cls(**parameters)
    learner.learn(block_of(X, y))
    return learner


def loss(learner: Any, X: Any, y: Any) -> float:
    return float(learner.losses(learner.score(block_of(X)), y).mean())


def problem(n: int, outputs: int = 1, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = dense_rows(n, 20, density=0.5, rare=False)
    w = np.random.default_rng(1).normal(size=(20, max(outputs, 2)))
    return X, (X @ w + rng.gumbel(size=(n, w.shape[1]))).argmax(axis=1).astype(float)


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
def test_where_no_feature_is_shared_rows_are_those_of_one_model(store: str) -> None:
    X = dense_rows(200, 20, density=0.5) * 10.0 ** np.arange(-2, 3).repeat(4)
    X[:100, 10:] = 0
    X[100:, :10] = 0
    y = labels_for(X, 2)
    alone = {"store": store, "fit_intercept": False, "fit_joint": False}
    merged = trained(Portfolio, X[:100], y[:100], **alone).merge(
        trained(Portfolio, X[100:], y[100:], **alone)
    )
    whole = trained(Portfolio, X, y, **alone)
    ours, theirs = merged.state(), whole.state()
    for name in ("keys", "seen", "settings", "lengths"):
        np.testing.assert_allclose(ours[name], theirs[name], err_msg=name)
    np.testing.assert_allclose(ours["rows"], theirs["rows"], rtol=1e-9, atol=1e-12)
    if store != "hashed":
        assert merged.n_features == whole.n_features


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
def test_a_merged_model_predicts_as_well_as_its_parts(outputs: int, store: str) -> None:
    X, y = problem(6000, outputs)
    parts = [
        trained(Portfolio, X[i:4000:2], y[i:4000:2], outputs=outputs, store=store) for i in (0, 1)
    ]
    merged = parts[0].merge(parts[1])
    whole = trained(Portfolio, X[:4000], y[:4000], outputs=outputs, store=store)
    of = {name: loss(m, X[4000:], y[4000:]) for name, m in (("merged", merged), ("whole", whole))}
    each = [loss(part, X[4000:], y[4000:]) for part in parts]
    assert of["merged"] < max(each)
    assert of["merged"] < 1.005 * min(*each, of["whole"])
    assert merged.learns_jointly == (store != "hashed")


def test_the_order_of_merging_does_not_matter() -> None:
    X, y = problem(3000)
    a, b, c = (trained(Portfolio, X[i::3], y[i::3], keep_all=True) for i in range(3))
    one, two = a.merge(b).state(), b.merge(a).state()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    rows = block_of(X[:500])
    orders = [a.merge(b).merge(c), c.merge(a).merge(b), b.merge(c.merge(a))]
    for other in orders[1:]:
        np.testing.assert_allclose(other.score(rows), orders[0].score(rows), rtol=1e-8, atol=1e-10)


def test_units_do_not_matter_to_what_sees_scaled_values() -> None:
    X, y = problem(2000)
    units = 2.0 ** np.random.default_rng(3).integers(-20, 20, 20)
    found = []
    for by in (np.ones(20), units):
        parts = [trained(Portfolio, X[i::2] * by, y[i::2], fit_joint=False) for i in (0, 1)]
        state = parts[0].merge(parts[1]).state()
        found.append(state["rows"][:, 2 + 16 : 2 + 32])  # Bayesian, scaled values
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-12)


def test_values_of_other_sizes_in_the_other_part_are_put_in_one_unit() -> None:
    """Both parts know the same weight of the same feature, one of them from values ten times as large."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 1)) * np.where(np.arange(4000) < 2000, 0.3, 3.0)[:, None]
    y = 2 * x[:, 0] + 0.1 * rng.normal(size=4000)
    halves = slice(0, 2000), slice(2000, 4000)
    parts = [trained(BayesianRegression, x[half], y[half]) for half in halves]
    keys, weights = parts[0].merge(parts[1]).coef()
    assert keys.tolist() == [0]
    assert abs(weights[0, 0] - 2) < 0.01


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_regressions_that_learn_jointly_are_as_if_one_had_seen_all(fit_intercept: bool) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 6)) @ rng.normal(size=(6, 6)) + 1
    y = X @ rng.normal(size=6) + rng.normal(size=900)
    X = X.astype(np.float32).astype(float)
    options = {"fit_intercept": fit_intercept}
    merged = trained(AutoRegression, X[:500], y[:500], **options).merge(
        trained(AutoRegression, X[500:], y[500:], **options)
    )
    state, keys = merged.state(), np.arange(-1 if fit_intercept else 0, 6)
    units = dict(zip(state["joint_keys"].tolist(), state["joint_units"].tolist(), strict=True))
    Z = np.hstack([np.ones((900, 1)), X])[:, keys + 1]
    for lane, prior in enumerate(merged.joint_priors):
        at_zero = 1 / (1e10 + OFF_CENTRE * prior)
        ridge = np.diag([at_zero if k < 0 else units[k] / prior for k in keys.tolist()])
        exact = np.linalg.solve(Z.T @ Z + ridge, Z.T @ y)
        np.testing.assert_allclose(joint_means(state, keys)[:, lane], exact, rtol=1e-8)
    merged.learn(block_of(X[:10], y[:10]))  # its covariances are sound
    assert np.isfinite(merged.score(block_of(X))).all()


def test_features_that_one_part_never_met_join() -> None:
    X, y = problem(800)
    narrow = X.copy()
    narrow[:, 10:] = 0
    merged = trained(Portfolio, narrow, y).merge(trained(Portfolio, X, y))
    assert merged.learns_jointly
    assert len(merged.state()["joint_keys"]) == 21


def test_joint_settings_end_where_features_were_met_and_not_seen() -> None:
    rng = np.random.default_rng(0)
    X = dense_rows(500, 100, density=0.5, rare=False)
    seldom = X.copy()
    seldom[:, 90:] = 0
    seldom[-3:, 90:] = 1  # too seldom, when there are many already
    y = (rng.random(500) < 0.5).astype(float)
    a, b = trained(Portfolio, X, y), trained(Portfolio, seldom, y)
    assert (len(a.state()["joint_keys"]), len(b.state()["joint_keys"])) == (101, 91)
    merged = a.merge(b)
    assert not merged.learns_jointly
    assert all(member["rule"] != "joint" for member in merged.members)
    regressions = [trained(AutoRegression, of, y) for of in (X, seldom)]
    one = regressions[0].merge(regressions[1])
    assert not one.learns_jointly
    weights = one.state()["weights"]
    assert weights[-4:].tolist() == [0, 0, 0, 0]
    assert np.isclose(weights.sum(), 1)


def test_settings_that_one_has_dropped_are_gone() -> None:
    X, y = problem(9000)
    a, b = trained(Portfolio, X, y), trained(Portfolio, X[:500], y[:500])
    assert len(a.settings) < len(b.settings)
    merged = a.merge(b)
    assert merged.settings == a.settings
    assert merged.t == 9500
    state, other = a.state(), b.state()
    kept = np.isin(other["settings"], state["settings"])
    total = state["losses"] + other["losses"][:, kept]
    np.testing.assert_array_equal(merged.state()["losses"], total)
    weights = state["weights"] * other["weights"][:, kept]
    np.testing.assert_allclose(merged.state()["weights"], weights / weights.sum(), rtol=1e-9)


def test_models_without_a_setting_in_common_are_refused() -> None:
    X, y = problem(200)
    models = []
    for kept in (3, 20):
        learner = trained(Portfolio, X, y, fit_joint=False)
        state = learner.state()
        columns = [0, 1, *(2 + 16 * (kept // 8) + kept % 8 + 8 * k for k in (0, 1))]
        one = {name: np.ones((1, 1)) for name in ("weights",)}
        one |= {n: np.zeros((1, 1)) for n in ("losses", "recent_losses", "claims", "worth", "gaps")}
        state |= one | {
            "settings": np.array([kept]),
            "rows": np.ascontiguousarray(state["rows"][:, columns]),
            "intercept": np.ascontiguousarray(state["intercept"][columns]),
            "corrections": np.zeros((1, 6)),
        }
        models.append(Portfolio.from_state(learner.parameters(), state))
    assert all(model.settings[0] < SEPARATE for model in models)
    with pytest.raises(ValueError, match="no setting in common.*--keep-all"):
        models[0].merge(models[1])


def test_it_goes_on_and_is_saved(tmp_path: Any) -> None:
    for cls in (Portfolio, AutoRegression, BayesianRegression):
        X, y = problem(1500)
        merged = trained(cls, X[:500], y[:500]).merge(trained(cls, X[500:1000], y[500:1000]))
        again = cls.from_state(merged.parameters(), merged.state())
        for learner in (merged, again):
            learner.learn(block_of(X[1000:], y[1000:]))
        one, two = merged.state(), again.state()
        for name in one:
            np.testing.assert_array_equal(one[name], two[name], err_msg=name)
        assert merged.t == 1500


def test_merging_with_an_empty_model_keeps_what_was_learned() -> None:
    X, y = problem(600)
    for cls in (Portfolio, AutoRegression, BayesianRegression):
        learner, rows = trained(cls, X, y), block_of(X[:50])
        for merged in (learner.merge(cls()), cls().merge(learner)):
            np.testing.assert_allclose(
                merged.score(rows), learner.score(rows), rtol=1e-9, atol=1e-10
            )
            np.testing.assert_allclose(
                merged.state()["rows"], learner.state()["rows"], rtol=1e-12, atol=1e-15
            )


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ({}, {"keep_all": True}, "keep_all=False and True"),
        ({}, {"fit_intercept": False}, "fit_intercept=True and False"),
        ({"store": "hashed", "bits": 12}, {"store": "hashed", "bits": 13}, "bits=12 and 13"),
        ({}, {"outputs": 3}, "outputs=1 and 3"),
        ({"calibrate": "off"}, {}, "calibrate"),
    ],
)
def test_models_that_differ_are_refused(one: Any, two: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Portfolio(**one).merge(Portfolio(**two))


def test_other_families_names_and_hash_keys_are_refused() -> None:
    with pytest.raises(ValueError, match=r"auto-regression and of bayesian-regression"):
        AutoRegression().merge(BayesianRegression())
    named, numbered = Portfolio(), Portfolio()
    named.learn_one({"a": 1.0}, 1.0)
    numbered.learn(block_of(np.eye(3), np.array([0.0, 1.0, 1.0])))
    with pytest.raises(ValueError, match="first are named, of the second numbered"):
        named.merge(numbered)
    keyed = Portfolio()
    keyed.use_hash_key(bytes(16))
    with pytest.raises(ValueError, match="hashed by different keys.*the default and 0000"):
        named.merge(keyed)


@pytest.mark.parametrize("outputs", [1, 3])
def test_classes_in_another_order_are_the_same_model(outputs: int) -> None:
    X, y = problem(1500, outputs)
    order = [1, 0] if outputs == 1 else [2, 0, 1]
    back = np.argsort(order)  # class i is what was class order[i]
    learner, rows = trained(Portfolio, X, y, outputs=outputs), block_of(X[:300])
    other = learner.with_classes_in_order(order)
    scores = learner.score(rows)
    expected = -scores if outputs == 1 else scores[:, order]
    np.testing.assert_allclose(other.score(rows), expected, rtol=1e-9, atol=1e-12)
    more = block_of(X[300:], y[300:])
    learner.learn(more)
    other.learn(more.with_labels(back[more.labels.astype(int)].astype(float), None))
    scores = learner.score(rows)
    expected = -scores if outputs == 1 else scores[:, order]
    np.testing.assert_allclose(other.score(rows), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(other.coef()[1].shape, learner.coef()[1].shape)
