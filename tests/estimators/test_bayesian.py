"""BayesianClassifier: uncertainty, averaging, and other models from one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import riata
from riata import BayesianClassifier


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = sp.random(600, 20, density=0.2, random_state=1, format="csr", dtype=np.float32)
    w = rng.normal(size=20) * 3
    y = np.where(rng.random(600) < 1 / (1 + np.exp(-X @ w)), "yes", "no")
    return X, y


def test_score_and_std_follow_from_the_weights(data):
    X, y = data
    model = BayesianClassifier(prior_variance=1.0).fit(X, y)
    mean, std = model.decision_function(X, return_std=True)
    np.testing.assert_allclose(mean, X @ model.coef_[0] + model.intercept_[0], rtol=1e-10)
    variance = X.power(2) @ model.coef_std_[0] ** 2 + model.intercept_std_[0] ** 2
    np.testing.assert_allclose(std**2, variance, rtol=1e-6)
    shrunk = mean / np.sqrt(1 + np.pi / 8 * std**2)  # eq. 8
    np.testing.assert_allclose(model.decision_function(X), shrunk, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-shrunk)), rtol=1e-10)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("prior_variance", [1.0, "auto"])
def test_intervals_hold_the_share_they_name(data, link, prior_variance):
    X, y = data
    model = BayesianClassifier(prior_variance=prior_variance, link=link).fit(X, y)
    low, high = model.predict_proba(X[:20], interval=0.9)
    wide_low, wide_high = model.predict_proba(X[:20], interval=0.99)
    assert low.shape == (20, 2)
    assert ((wide_low <= low) & (low < high) & (high <= wide_high)).all()
    coef, intercept = model.sample_coef(4000, random_state=1)
    scores = X[:20] @ coef.T + intercept
    from scipy.special import expit, ndtr

    p = expit(scores) if link == "logit" else ndtr(scores)
    share = ((p > low[:, 1:]) & (p < high[:, 1:])).mean()
    assert abs(share - 0.9) < 0.03 if prior_variance == 1.0 else share > 0.8
    with pytest.raises(ValueError, match="interval"):
        model.predict_proba(X, interval=1.5)


def test_samples_have_the_posteriors_moments(data):
    X, y = data
    model = BayesianClassifier().fit(X, y)
    coef, intercept = model.sample_coef(20_000, random_state=3)
    assert coef.shape == (20_000, 20)
    np.testing.assert_allclose(coef.mean(axis=0), model.coef_[0], atol=0.05)
    np.testing.assert_allclose(coef.std(axis=0), model.coef_std_[0], rtol=0.05)
    np.testing.assert_allclose(intercept.std(), model.intercept_std_[0], rtol=0.05)
    np.testing.assert_array_equal(coef, model.sample_coef(20_000, random_state=3)[0])


def test_features_never_seen_have_their_prior(data):
    X, y = data
    X = sp.hstack([X, sp.csr_matrix((600, 1))]).tocsr()
    model = BayesianClassifier(prior_variance=0.25, prior_mean=0.5).fit(X, y)
    assert model.coef_[0, 20] == 0.5
    assert model.sparse_coef_[0, 20] == 0.5
    assert model.coef_std_[0, 20] == 0.5
    draws = model.sample_coef(5000)[0][:, 20]
    assert abs(draws.mean() - 0.5) < 0.05
    assert abs(draws.std() - 0.5) < 0.05


def test_evidence_and_collapse(data):
    X, y = data
    model = BayesianClassifier(value=["raw", "binary"], calibrate=False).fit(X, y)
    assert model.evidence_.shape == (16,)
    assert model.evidence_.sum() == pytest.approx(1)
    assert len(model.components_) == 16
    small = model.collapse()
    best = model.components_[int(model.evidence_.argmax())]
    assert (small.value, small.prior_variance) == best
    alone = BayesianClassifier(value=best[0], prior_variance=best[1]).fit(X, y)
    np.testing.assert_array_equal(small.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(small.coef_, alone.coef_)


def test_many_classes_are_normalised(data):
    X, _ = data
    y = np.asarray(X.argmax(axis=1)).ravel() % 3
    model = BayesianClassifier().fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert model.coef_.shape == model.coef_std_.shape == (3, 20)
    assert model.evidence_.shape == (3, 8)
    assert model.score(X, y) > 0.6
    mean, std = model.decision_function(X, return_std=True)
    assert mean.shape == std.shape == (600, 3)
    low, high = model.predict_proba(X, interval=0.5)
    assert (low <= high).all()
    coef, intercept = model.sample_coef(7)
    assert coef.shape == (7, 3, 20)
    assert intercept.shape == (7, 3)


def test_a_trained_model_is_the_prior_of_the_next(data, tmp_path):
    X, y = data
    whole = BayesianClassifier(shuffle=False).fit(X, y)
    first = BayesianClassifier(shuffle=False).fit(X[:300], y[:300])
    first.save(tmp_path / "first.riata")
    for prior in (first, tmp_path / "first.riata"):
        second = BayesianClassifier(prior=prior, shuffle=False).fit(X[300:], y[300:])
        np.testing.assert_allclose(second.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
        assert second.t_ == 300
    with pytest.raises(TypeError, match="not a Bayesian model"):
        BayesianClassifier(prior=3).fit(X, y)


def test_merging(data):
    X, y = data
    one, two = (BayesianClassifier(prior_variance=1.0).fit(X[i::2], y[i::2]) for i in (0, 1))
    both = one.merge(two)
    whole = BayesianClassifier(prior_variance=1.0).fit(X, y)
    assert both.t_ == 600
    assert abs(both.score(X, y) - whole.score(X, y)) < 0.05
    assert (both.coef_std_ < one.coef_std_).all()
    other = BayesianClassifier(prior_variance=1.0).fit(X, np.where(y == "yes", "maybe", "no"))
    with pytest.raises(ValueError, match="different classes"):
        one.merge(other)


def test_sparsify_says_what_it_costs(data):
    X, y = data
    model = BayesianClassifier().fit(X, y)
    _, report = model.sparsify(0.0, X, y)
    assert report.loss == pytest.approx(report.loss_before)
    small, report = model.sparsify(2.0, X, y)
    assert 0 < report.kept < 20
    assert report.kept + report.dropped == 20
    assert report.loss > report.loss_before
    assert small.sparse_coef_.nnz == report.kept
    from sklearn.metrics import log_loss

    assert log_loss(y, small.predict_proba(X)) == pytest.approx(report.loss, rel=1e-6)


def test_saved_and_loaded(data, tmp_path):
    X, y = data
    model = BayesianClassifier(value=("raw", "log1p"), half_life=100.0).fit(X, y == "yes")
    model.save(tmp_path / "model.riata")
    again = riata.load(tmp_path / "model.riata")
    assert isinstance(again, BayesianClassifier)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.half_life == 100.0


def test_single_events_and_new_classes():
    model = BayesianClassifier(prior_variance={"user": 4.0, "*": 0.5})
    for n in range(40):
        model.learn_one({"user": "ann", "hour": float(n % 3)}, "buys")
        model.learn_one({"user": "bob", "hour": float(n % 3)}, "leaves")
    assert model.predict_one({"user": "ann"}) == "buys"
    chances = model.predict_proba_one({"user": "bob", "hour": 1.0})
    assert chances["leaves"] > 0.8
    assert sum(chances.values()) == pytest.approx(1)
    for _ in range(40):
        model.learn_one({"user": "cleo", "hour": 2.0}, "returns")
    assert model.predict_one({"user": "cleo"}) == "returns"
    assert model.predict_one({"user": "ann"}) == "buys"
    learner = model.model_.learner
    keys, _ = learner.coef()
    assert set(learner.names(keys)) == {"user=ann", "user=bob", "user=cleo", "hour"}
