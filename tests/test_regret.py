"""Progressive regret."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riata import metrics


def test_cut_anywhere_it_is_the_same():
    rng = np.random.default_rng(0)
    ours, theirs = rng.random(5000), rng.random(5000)
    whole = metrics.regret(ours, theirs)
    parts = metrics.Regret()
    for piece in np.array_split(np.arange(5000), 37):
        parts.add(ours[piece], theirs[piece])
    assert whole.curve == parts.curve
    assert whole.now == parts.now
    for moment in whole.curve:
        expected = (ours - theirs)[: moment.t].sum()
        assert moment.regret == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_memory_grows_with_the_logarithm():
    regret = metrics.Regret(per_decade=4)
    for _ in range(100):
        regret.add(np.ones(10_000), np.zeros(10_000))
    assert regret.t == 1_000_000
    assert len(regret.curve) <= 4 * 6 + 1
    assert regret.curve[-1].t == 1_000_000
    times = [m.t for m in regret.curve]
    assert times == sorted(set(times))
    assert regret.now.normalised == pytest.approx(1e6 / math.log(1e6))
    assert regret.curve[0].normalised is None


def test_bad_input():
    with pytest.raises(ValueError, match="as many losses"):
        metrics.regret(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="per_decade"):
        metrics.Regret(0)


def test_bayes_has_logarithmic_regret():
    """With the right prior, regret per parameter stays near ln(t) / 2."""
    from riata.learners import Bayesian
    from tests.problems import block_of

    rng = np.random.default_rng(0)
    w = rng.normal(size=20)
    X = (rng.random((20_000, 20)) < 0.1).astype(float)
    y = (rng.random(20_000) < 1 / (1 + np.exp(-X @ w))).astype(float)
    learner = Bayesian(prior_variance=1.0, fit_intercept=False)
    losses = learner.losses(learner.learn(block_of(X, y)), y)
    best = np.logaddexp(0, -np.where(y > 0, 1, -1) * (X @ w))
    normalised = metrics.regret(losses, best).now.normalised
    assert 2 < normalised < 20
