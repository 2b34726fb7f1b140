"""Learners beside their dense reference."""

from __future__ import annotations

import numpy as np

from riata.learners import FTRL, ElasticNet, TruncatedGradient
from riata.reference import linear as reference
from tests.problems import block_of


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
        case ElasticNet(learning_rate="adagrad"):
            return reference.AdaGrad(learner.update, learner.eta0, learner.l1, learner.l2)
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
    if getattr(learner, "learning_rate", "") == "adagrad":
        intercept_rule = reference.AdaGrad(learner.update, learner.eta0, 0, 0)
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


def assert_agrees(learner, X, y, weights=None, index=np.int32, offsets=None):
    """The learner and its reference, side by side over the rows: scores on the way, weights at the end."""
    model = dense(learner, X.shape[1])
    before = learner.learn(block_of(X, y, weights, index, offsets))
    np.testing.assert_allclose(before, model.learn(X, y, weights, offsets), rtol=1e-10, atol=1e-12)
    assert_same_weights(learner, model)
    after = learner.score(block_of(X, offsets=offsets))
    np.testing.assert_allclose(after, model.score(X, offsets), rtol=1e-10, atol=1e-12)
    return model


def assert_same_weights(learner, model):
    np.testing.assert_allclose(coefficients(learner, model.d), model.w, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(learner.intercept, model.intercept, rtol=1e-10, atol=1e-13)


def assert_same_state(one, other):
    """Equal to the last bit."""
    a, b = one.state(), other.state()
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name], b[name]), name
