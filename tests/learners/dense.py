"""Learners beside their dense reference."""

from __future__ import annotations

import numpy as np

from riata.learners import FTRL, ElasticNet, TruncatedGradient
from riata.reference import linear as reference
from riata.reference.portfolio import RunningScale
from tests.problems import block_of, dense_rows, labels_for


def some_weights(n: int, zero_every: int):
    """Weights of n examples, zero now and then."""
    weights = np.random.default_rng(0).random(n) * 2
    weights[::zero_every] = 0
    return weights


def coefficients(learner, d):
    keys, weights = learner.coef()
    w = np.zeros((d, learner.outputs))
    w[keys] = weights
    return w


def rule_of(learner):
    match learner:
        case ElasticNet(learning_rate="adagrad" | "adagrad_explicit"):
            penalty = reference.elastic_net_penalty(learner.update, learner.l1, learner.l2)
            return reference.AdaGrad(
                learner.eta0,
                penalty,
                first=learner.update == "sgd",
                explicit=learner.learning_rate == "adagrad_explicit",
            )
        case TruncatedGradient(learning_rate="adagrad", update="truncate"):
            penalty = reference.truncate_penalty(learner.gravity, learner.theta, learner.period)
            return reference.AdaGrad(learner.eta0, penalty)
        case TruncatedGradient(learning_rate="adagrad", update="round"):
            penalty = reference.round_penalty(learner.theta, learner.period)
            return reference.AdaGrad(learner.eta0, penalty)
        case ElasticNet(update="fobos"):
            return reference.fobos(learner.l1, learner.l2)
        case ElasticNet(update="sgd"):
            return reference.sgd(learner.l1, learner.l2)
        case TruncatedGradient(update="truncate"):
            return reference.truncate(learner.gravity, learner.theta, learner.period)
        case TruncatedGradient(update="round"):
            return reference.rounding(learner.theta, learner.period)
        case TruncatedGradient(update="subgradient"):
            return reference.subgradient(learner.gravity)
        case FTRL():
            return reference.FTRLProximal(learner.alpha, learner.beta, learner.l1, learner.l2)
    raise TypeError(learner)


def dense(learner, d: int) -> reference.Dense:
    """The reference model with the learner's parameters."""
    steps = {
        name: getattr(learner, name)
        for name in ("learning_rate", "eta0", "power_t")
        if hasattr(learner, name)
    }
    parameter = {"huber": learner.epsilon, "quantile": learner.quantile}.get(learner.loss, 0.0)
    intercept_rule = isinstance(learner, FTRL) and reference.FTRLProximal(
        learner.alpha, learner.beta, 0, 0
    )
    if getattr(learner, "learning_rate", "").startswith("adagrad"):
        explicit = learner.learning_rate == "adagrad_explicit"
        intercept_rule = reference.AdaGrad(learner.eta0, explicit=explicit)
    return reference.Dense(
        rule_of(learner),
        d=d,
        m=learner.outputs,
        loss=learner.loss,
        parameter=parameter,
        fit_intercept=learner.fit_intercept,
        normalize=learner.normalize,
        clip=learner.clip or (-np.inf, np.inf),
        intercept_rule=intercept_rule or None,
        **steps,
    )


def scaled_for(learner, X, weights):
    """Rows as they are learned, and what columns are divided by afterwards: `feature_scale="rms"` by the reference."""
    scale, seen = RunningScale(X.shape[1]), np.array(X, dtype=np.float64)
    if learner.feature_scale == "none":
        return seen, np.ones(X.shape[1])
    for i, x in enumerate(seen):
        if weights is None or weights[i] > 0:
            seen[i] = scale.learn(x)
        else:
            seen[i] = np.where(scale.count > 0, x / sizes_of(scale), np.sign(x))
    return seen.astype(np.float32).astype(np.float64), sizes_of(scale)


def sizes_of(scale):
    return np.where(scale.count > 0, np.sqrt(scale.squares / np.maximum(scale.count, 1)), 1.0)


def assert_agrees(learner, X, y, weights=None, index=np.int32, offsets=None):
    """The learner and its reference, side by side over the rows: scores on the way, weights at the end."""
    model = dense(learner, X.shape[1])
    X = np.asarray(X, dtype=np.float32).astype(np.float64)
    seen, sizes = scaled_for(learner, X, weights)
    before = learner.learn(block_of(X, y, weights, index, offsets))
    np.testing.assert_allclose(
        before, model.learn(seen, y, weights, offsets), rtol=1e-10, atol=1e-12
    )
    assert_same_weights(learner, model, sizes)
    after = learner.score(block_of(X, offsets=offsets))
    last = (X / sizes).astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(after, model.score(last, offsets), rtol=1e-10, atol=1e-12)
    return model


def assert_same_weights(learner, model, sizes=1.0):
    weights = model.w / np.broadcast_to(sizes, model.d)[:, None]
    np.testing.assert_allclose(coefficients(learner, model.d), weights, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(learner.intercept, model.intercept, rtol=1e-10, atol=1e-13)


def assert_passes_agree(learner):
    """Four passes of two classes, the rates multiplied by `decay` after each."""
    X = dense_rows(150, 30, seed=7)
    y = labels_for(X, 2)
    model = dense(learner, 30)
    for _ in range(4):
        learner.learn(block_of(X, y))
        learner.end_pass()
        model.learn(X, y)
        model.rate_factor *= learner.decay
    assert_same_weights(learner, model)


def assert_same_state(one, other):
    """Equal to the last bit."""
    a, b = one.state(), other.state()
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name], b[name]), name
