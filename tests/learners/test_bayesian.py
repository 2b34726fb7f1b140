"""The Bayesian learner against its dense reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from riata import _core
from riata.block import Block
from riata.learners import Bayesian
from riata.reference.bayesian import Averaged, Gaussian
from tests.learners.dense import some_weights
from tests.problems import block_of, dense_rows, labels_for

UPDATES = [
    *({"update": "marginal", "mean": m, "variance": v}
      for m, v in itertools.product(("taylor", "newton"), ("curvature", "height"))),
    {"update": "joint", "mean": "taylor"},
    {"update": "joint", "mean": "newton"},
    {"update": "adf"},
    {"update": "vb", "samples": 20, "seed": 3},
]  # fmt: skip


def reference_of(learner: Bayesian, d: int) -> list[Averaged]:
    """One dense average an output."""
    size = d + learner.fit_intercept
    outputs = []
    for _ in range(learner.outputs):
        components = []
        for view, prior in learner.components:
            variance = np.full(size, prior)
            if learner.fit_intercept:
                variance[-1] = learner.intercept_variance
            model = Gaussian(
                np.full(size, learner.prior_mean), variance, learner.update, learner.link, learner.mean,
                learner.variance, learner.fit_intercept, learner.half_life,
            )  # fmt: skip
            components.append((view, model))
        outputs.append(Averaged(components, learner.share))
    return outputs


def reference_scores(learner, outputs, X, y, weights=None, offsets=None):
    scores = np.empty((len(X), len(outputs)))
    for i, x in enumerate(X):
        normals = _core.standard_normals(
            learner.seed, outputs[0].components[0][1].t, learner.samples
        )
        for o, model in enumerate(outputs):
            label = 1.0 if y[i] == (1 if len(outputs) == 1 else o) else -1.0
            weight = 1.0 if weights is None else weights[i]
            offset = 0.0 if offsets is None else offsets[i]
            scores[i, o] = model.learn(x, label, weight, normals, offset)
    return scores


def assert_agrees(learner, X, y, weights=None, index=np.int32, tolerance=1e-10, offsets=None):
    outputs = reference_of(learner, X.shape[1])
    expected = reference_scores(learner, outputs, X, y, weights, offsets)
    np.testing.assert_allclose(
        learner.learn(block_of(X, y, weights, index, offsets)),
        expected,
        rtol=tolerance,
        atol=tolerance,
    )
    seen = np.flatnonzero(X.any(axis=0))
    keys, means, variances = learner.posterior()
    for o, average in enumerate(outputs):
        np.testing.assert_allclose(learner.evidence[o], average.weights(), rtol=1e-8, atol=1e-12)
        for c, (_, model) in enumerate(average.components):
            if learner.store != "hashed":
                assert set(keys) <= set(seen)
                np.testing.assert_allclose(
                    means[:, o, c], model.mean[keys], rtol=tolerance, atol=tolerance
                )
                np.testing.assert_allclose(variances[:, o, c], model.variance[keys], rtol=tolerance)
            if learner.fit_intercept:
                mean, variance = learner.intercept_posterior()
                np.testing.assert_allclose(
                    mean[o, c], model.mean[-1], rtol=tolerance, atol=tolerance
                )
                np.testing.assert_allclose(variance[o, c], model.variance[-1], rtol=tolerance)
    added = np.zeros(len(X)) if offsets is None else offsets
    after = [
        [model.score(x, offset) for model in outputs] for x, offset in zip(X, added, strict=True)
    ]
    np.testing.assert_allclose(
        learner.score(block_of(X, offsets=offsets)), after, rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("update", UPDATES, ids=lambda u: "-".join(map(str, u.values())))
@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("store", ["dense", "table"])
def test_equals_dense_reference(update, link, store):
    X = dense_rows(40 if update["update"] == "vb" else 120, 25)
    learner = Bayesian(prior_variance=0.7, link=link, store=store, **update)
    assert_agrees(learner, X, labels_for(X, 2))


@pytest.mark.parametrize("update", UPDATES, ids=lambda u: "-".join(map(str, u.values())))
def test_mixtures_of_priors_and_views_equal_dense(update):
    X = dense_rows(5 if update["update"] == "vb" else 25, 15, seed=2)
    learner = Bayesian(value=("raw", "binary", "log1p"), outputs=3, calibrate=False, **update)
    assert learner.shape.components == 24
    assert_agrees(learner, X, labels_for(X, 3), index=np.int64)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("store", ["dense", "table"])
@pytest.mark.parametrize("prior_variance", ["auto", 0.3])
def test_forgetting_weights_and_prior_mean_equal_dense(link, store, prior_variance):
    X = dense_rows(150, 30, density=0.1, seed=4)
    parameters = {"prior_mean": 0.25, "half_life": 20.0, "share": 0.01, "calibrate": False}
    learner = Bayesian(prior_variance=prior_variance, link=link, store=store, **parameters)
    assert_agrees(learner, X, labels_for(X, 2), some_weights(150, zero_every=7))


@pytest.mark.parametrize("update", UPDATES, ids=lambda u: "-".join(map(str, u.values())))
def test_example_weights_equal_dense(update):
    X = dense_rows(80, 12, seed=5)
    weights = np.random.default_rng(2).random(80)
    learner = Bayesian(prior_variance=0.5, fit_intercept=False, **update)
    assert_agrees(learner, X, labels_for(X, 2), weights)


def test_all_stores_give_the_same_bits():
    X = dense_rows(200, 40)
    y = labels_for(X, 2)
    stores = [Bayesian(store=store, bits=20) for store in ("dense", "table", "hashed")]
    scores = [learner.learn(block_of(X, y)) for learner in stores]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(
        scores[0], scores[2]
    )  # no two of 40 features share one of 2^20 rows


def test_features_that_share_a_hashed_row_stay_finite():
    X = dense_rows(200, 40)
    learner = Bayesian(store="hashed", bits=2)
    assert np.isfinite(learner.learn(block_of(X, labels_for(X, 2)))).all()


@pytest.mark.parametrize(
    "parameters", [{}, {"half_life": 30.0}, {"prior_variance": {"3": 0.1, "*": 2.0}}]
)
@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
def test_batch_loop_and_resumed_give_the_same_bits(parameters, store):
    X = dense_rows(150, 30)
    y = labels_for(X, 2)
    whole, loop = (Bayesian(store=store, bits=12, **parameters) for _ in range(2))
    scores = whole.learn(block_of(X, y))
    one_by_one = [loop.learn(block_of(X[i : i + 1], y[i : i + 1])) for i in range(75)]
    resumed = Bayesian.from_state(loop.parameters(), loop.state())
    one_by_one += [resumed.learn(block_of(X[75:], y[75:]))]
    np.testing.assert_array_equal(scores, np.concatenate(one_by_one))
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, resumed.state()[name])
    np.testing.assert_array_equal(whole.score(block_of(X)), resumed.score(block_of(X)))


def test_order_is_the_order_of_learning():
    X = dense_rows(50, 10)
    y = labels_for(X, 2)
    order = np.random.default_rng(0).permutation(50)
    given, sorted_ = Bayesian(), Bayesian()
    np.testing.assert_array_equal(
        given.learn(block_of(X, y), order), sorted_.learn(block_of(X[order], y[order]))
    )


def test_score_just_before_learning_is_what_learn_returns():
    X = dense_rows(60, 10)
    y = labels_for(X, 2)
    learner = Bayesian(half_life=50.0)
    for i in range(len(X)):
        row = block_of(X[i : i + 1], y[i : i + 1])
        np.testing.assert_array_equal(learner.score(row), learner.learn(row))


def test_no_half_life_changes_no_bit():
    X = dense_rows(100, 20)
    y = labels_for(X, 2)
    without, forever = Bayesian(), Bayesian(half_life=1e300)
    np.testing.assert_array_equal(without.learn(block_of(X, y)), forever.learn(block_of(X, y)))


def test_evidence_bounds_the_loss_by_the_best_prior():
    X = dense_rows(400, 20)
    y = labels_for(X, 2)

    def total(learner):
        return learner.losses(learner.learn(block_of(X, y)), y).sum()

    average = Bayesian(calibrate=False)
    best = min(total(Bayesian(prior_variance=v)) for v in average.prior_variances)
    assert total(average) <= best + np.log(8) + 1e-9
    # What it takes to learn three numbers more.
    assert total(Bayesian()) <= best + np.log(8) + 1.5 * np.log(400)


def test_share_lets_another_prior_take_over():
    """First features without effect, where a small prior wins, then large weights."""
    rng = np.random.default_rng(0)
    X = (rng.random((4000, 10)) < 0.5).astype(float)
    strong = X @ rng.normal(size=10) * 5 > 0
    y = np.where(np.arange(4000) < 2000, rng.random(4000) < 0.5, strong).astype(float)
    losses = {}
    for share in (0.0, 0.01):
        learner = Bayesian(share=share, half_life=200.0 if share else None)
        losses[share] = learner.losses(learner.learn(block_of(X, y)), y)[2000:].mean()
    assert losses[0.01] < losses[0.0]


def test_forgetting_follows_a_stream_that_turns():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 5)).astype(np.float32).astype(float)
    w = rng.normal(size=5) * 3
    y = np.where(np.arange(4000) < 2000, X @ w > 0, X @ w < 0).astype(float)
    late = {}
    for half_life in (None, 200.0):
        learner = Bayesian(half_life=half_life)
        late[half_life] = learner.losses(learner.learn(block_of(X, y)), y)[3000:].mean()
    assert late[200.0] < 0.5 * late[None]


def test_what_is_forgotten_leaves_the_table():
    n = 20_000
    learner = Bayesian(half_life=1.0, store="table")
    features = np.arange(n, dtype=np.int32)
    learner.learn(Block(np.arange(n + 1), features, np.ones(n, dtype=np.float32), np.ones(n)))
    keys, _, _ = learner.posterior()
    assert len(keys) < n / 2
    assert {n - 1, n - 2} <= set(keys.tolist())


def test_covers_the_truth_as_often_as_it_says():
    """Weights drawn from the prior: about 90 % must lie in their 90 % interval."""
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(10):
        w = rng.normal(size=30)
        X = (rng.random((2000, 30)) < 0.1).astype(float)
        y = (rng.random(2000) < 1 / (1 + np.exp(-X @ w))).astype(float)
        learner = Bayesian(prior_variance=1.0, fit_intercept=False)
        learner.learn(block_of(X, y))
        keys, weights = learner.coef()
        hits += list(np.abs(weights[:, 0] - w[keys]) < 1.645 * learner.coef_std()[:, 0])
    assert 0.84 < np.mean(hits) < 0.96
