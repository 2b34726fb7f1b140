"""Bayesian models made from others: merged, taken for a prior, collapsed, sparse; priors by name."""

from __future__ import annotations

import numpy as np
import pytest

from riata import _core
from riata.block import Block
from riata.learners import Bayesian
from tests.problems import block_of, dense_rows, labels_for


def trained(X, y, **parameters):
    learner = Bayesian(**parameters)
    learner.learn(block_of(X, y))
    return learner


def named_block(rows: list[dict[str, float]], labels: list[float]) -> Block:
    names = [name for row in rows for name in row]
    text = [name.encode() for name in names]
    return Block(
        np.cumsum([0, *map(len, rows)]),
        np.array([_core.key_of_name(name) for name in text], dtype=np.int64),
        np.array([v for row in rows for v in row.values()], dtype=np.float32),
        np.array(labels),
        names=np.frombuffer(b"".join(text), dtype=np.uint8),
        name_offsets=np.cumsum([0, *map(len, text)]),
    )


def split_problem():
    """Rows with features 0 to 9, and rows with features 10 to 19."""
    X = dense_rows(200, 20, density=0.5)
    X[:100, 10:] = 0
    X[100:, :10] = 0
    return X, labels_for(X, 2)


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
@pytest.mark.parametrize("prior_variance", [0.7, "auto"])
def test_merging_is_exact_for_disjoint_features(store, prior_variance):
    X, y = split_problem()
    common = {
        "prior_variance": prior_variance,
        "store": store,
        "fit_intercept": False,
        "calibrate": False,
    }
    merged = trained(X[:100], y[:100], **common).merge(trained(X[100:], y[100:], **common))
    whole = trained(X, y, **common)
    assert merged.t == whole.t
    for one, two in zip(merged.posterior(), whole.posterior(), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    np.testing.assert_allclose(merged.evidence, whole.evidence, rtol=1e-9)
    np.testing.assert_allclose(merged.score(block_of(X)), whole.score(block_of(X)), rtol=1e-9)


def test_merging_shared_features_is_sane():
    rng = np.random.default_rng(0)
    w = rng.normal(size=20)
    X = dense_rows(4000, 20, density=0.5, rare=False)
    y = (rng.random(4000) < 1 / (1 + np.exp(-X @ w))).astype(float)
    parts = [trained(X[i::4], y[i::4], prior_variance=1.0) for i in range(4)]
    merged = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
    whole = trained(X, y, prior_variance=1.0)

    def error(learner):
        keys, weights = learner.coef()
        return np.sqrt(np.mean((weights[:, 0] - w[keys]) ** 2))

    assert error(merged) < 1.5 * error(whole)
    assert error(merged) < min(map(error, parts))
    np.testing.assert_allclose(merged.coef_std(), whole.coef_std(), rtol=0.1)


def test_merging_with_nothing_changes_nothing():
    X, y = split_problem()
    learner = trained(X, y, half_life=50.0)
    merged = learner.merge(Bayesian(half_life=50.0))
    np.testing.assert_allclose(merged.score(block_of(X)), learner.score(block_of(X)), rtol=1e-10)


@pytest.mark.parametrize(
    "other",
    [{"prior_variance": 2.0}, {"prior_mean": 1.0}, {"link": "probit"}, {"half_life": 3.0},
     {"fit_intercept": False}, {"value": "binary"}, {"outputs": 3}],
)  # fmt: skip
def test_mismatched_priors_are_refused(other):
    with pytest.raises(ValueError, match="different priors"):
        Bayesian(prior_variance=1.0).merge(Bayesian(**{"prior_variance": 1.0, **other}))


def test_merging_named_features():
    a = Bayesian(prior_variance={"user": 2.0, "*": 0.5})
    b = Bayesian(prior_variance={"user": 2.0, "*": 0.5})
    a.learn(named_block([{"user^ann": 1.0, "hour": 2.0}], [1.0]))
    b.learn(named_block([{"user^bob": 1.0, "hour": 1.0}], [0.0]))
    merged = a.merge(b)
    keys, _ = merged.coef()
    assert sorted(merged.names(keys)) == ["hour", "user^ann", "user^bob"]
    numbered = trained(*split_problem(), prior_variance={"user": 2.0, "*": 0.5}, store="table")
    with pytest.raises(ValueError, match=r"named|stores"):
        a.merge(numbered)


def test_priors_by_namespace_and_name():
    learner = Bayesian(
        prior_variance={"user": 4.0, "hour": 0.01, "user^eve": 9.0, "*": 1.0}, fit_intercept=False
    )
    rows = [{"user^ann": 1.0}, {"hour": 1.0}, {"user^eve": 1.0}, {"ad=7": 1.0}, {"hour=3": 1.0}]
    block = named_block(rows, [1.0] * 5)
    _, std = learner.moments(block)  # before anything was learned
    np.testing.assert_allclose(std[:, 0] ** 2, [4.0, 0.01, 9.0, 1.0, 0.01])
    learner.learn(block)
    for i, variance in enumerate([4.0, 0.01, 9.0, 1.0, 0.01]):
        alone = Bayesian(prior_variance=variance, fit_intercept=False)
        alone.learn(block[i : i + 1])
        np.testing.assert_allclose(
            learner.score(block[i : i + 1]), alone.score(block[i : i + 1]), rtol=1e-12
        )


def test_numbered_features_have_their_number_for_a_name():
    learner = Bayesian(prior_variance={"3": 0.25, "*": 1.0}, fit_intercept=False)
    _, std = learner.moments(block_of(np.eye(5)))
    np.testing.assert_allclose(std[:, 0], [1, 1, 1, 0.5, 1])


@pytest.mark.parametrize("store", ["dense", "table"])
@pytest.mark.parametrize("prior_variance", ["auto", {"2": 0.1, "*": 1.0}])
def test_a_trained_model_as_prior_goes_on_as_if_never_stopped(store, prior_variance):
    X = dense_rows(200, 20)
    y = labels_for(X, 2)
    whole = trained(X, y, prior_variance=prior_variance, store=store)
    second = trained(X[:100], y[:100], prior_variance=prior_variance, store=store).as_prior()
    assert second.t == 0
    second.learn(block_of(X[100:], y[100:]))
    np.testing.assert_allclose(second.score(block_of(X)), whole.score(block_of(X)), rtol=1e-9)
    again = Bayesian.from_state(second.parameters(), second.state())
    np.testing.assert_array_equal(again.score(block_of(X)), second.score(block_of(X)))


def test_forgetting_falls_back_to_the_prior_model():
    X = dense_rows(200, 10, density=0.5)
    y = labels_for(X, 2)
    known = trained(X, y, prior_variance=1.0, half_life=1e6)
    before = known.score(block_of(X))
    prior = known.as_prior()
    shortly = Bayesian.from_state(prior.parameters() | {"half_life": 5.0}, prior.state())
    shortly.learn(block_of(X[:50], 1 - y[:50]))  # nonsense for a while
    empty = block_of(np.zeros((2000, 10)), np.tile([0.0, 1.0], 1000))
    shortly.learn(empty)  # examples without features: time passes
    _, means, _ = shortly.posterior()
    np.testing.assert_allclose(means[:, 0, 0], known.posterior()[1][:, 0, 0], rtol=1e-3)
    assert np.corrcoef(shortly.score(block_of(X))[:, 0], before[:, 0])[0, 1] > 0.99


def test_sparsify_keeps_what_is_sure():
    X = dense_rows(300, 30, density=0.4)
    y = labels_for(X, 2)
    learner = trained(X, y)
    report = learner.sparsify(1.5, [block_of(X, y)])
    keys, weights = learner.coef()
    sure = keys[np.abs(weights[:, 0]) > 1.5 * learner.coef_std()[:, 0]]
    np.testing.assert_array_equal(report.learner.coef()[0], sure)
    assert report.kept == len(sure)
    assert report.loss >= report.loss_before
    assert report.learner.unseen == "ignore"
    only = X.copy()
    only[:, np.setdiff1d(np.arange(30), sure)] = 0
    np.testing.assert_allclose(
        report.learner.score(block_of(X)), learner.score(block_of(only)), rtol=1e-12
    )
    with pytest.raises(ValueError, match="z=-1"):
        learner.sparsify(-1)
    with pytest.raises(ValueError, match="labels"):
        learner.sparsify(1.0, [block_of(X)])
    with pytest.raises(ValueError, match="at least one example"):
        learner.sparsify(1.0, [])


def test_named_features_stay_named_when_sparse():
    learner = Bayesian(prior_variance=1.0)
    rows = [{"a": 1.0}, {"b": 1.0}] * 30
    learner.learn(named_block(rows, [1.0, 0.0] * 30))
    learner.learn(named_block([{"rare": 1.0}], [1.0]))
    small = learner.sparsify(1.0).learner
    assert sorted(small.names(small.coef()[0])) == ["a", "b"]


@pytest.mark.parametrize("prior_mean", [0.0, 0.3])
def test_a_third_class_keeps_what_two_had_learned(prior_mean):
    X = dense_rows(100, 10)
    y = labels_for(X, 2)
    two = trained(X, y, prior_mean=prior_mean, value=("raw", "binary"), fit_intercept=False)
    three = two.with_outputs(3)
    seen = X[:, X.any(axis=0)]
    assert seen.shape[1] == 10
    scores = three.score(block_of(X))
    np.testing.assert_allclose(scores[:, 1], two.score(block_of(X))[:, 0], rtol=1e-12)
    np.testing.assert_allclose(scores[:, 0], -two.score(block_of(X))[:, 0], rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="not more"):
        three.with_outputs(3)


def test_samples_need_a_number():
    with pytest.raises(ValueError, match="n=0"):
        Bayesian().sample(0)
