"""The probability of each of several classes, from scores of each against the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import riata
from riata.learners import Bayesian, ElasticNet, Learner, Portfolio, Sketch
from riata.learners.classes import logistic
from riata.reference.classes import against_others, class_probabilities

SCORES = np.random.default_rng(0).normal(size=(200, 5)) * 4


@pytest.mark.parametrize(
    "kind", [ElasticNet, Bayesian, partial(Portfolio, multi_class="ovr"), Sketch]
)
def test_exactly_one_class_is_right(kind: Callable[..., Learner]) -> None:
    found = kind(outputs=5).probability(SCORES)
    assert found is not None
    np.testing.assert_allclose(found, class_probabilities(logistic(SCORES)), rtol=1e-10)


def test_a_shared_probability_is_what_log_odds_against_the_others_say() -> None:
    p = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
    found = Portfolio(outputs=5).probability(against_others(SCORES.T).T)
    np.testing.assert_allclose(found, p, rtol=1e-10)
    far = Portfolio(outputs=3).probability(np.array([[900.0, -900.0, -901.0]]))
    assert far[0, 0] == 1
    assert np.isfinite(far).all()


def test_probit() -> None:
    from scipy.stats import norm

    scores = SCORES / 2
    found = Sketch(outputs=5, link="probit").probability(scores)
    np.testing.assert_allclose(found, class_probabilities(norm.cdf(scores)), rtol=1e-7)


def test_what_is_nearly_certain_keeps_its_order() -> None:
    """Scores whose probabilities against the rest are all 1, or all 0, in numbers of 64 bits."""
    for scores in ([[800.0, 799.0, 40.0]], [[-800.0, -801.0, -900.0]]):
        for learner in (ElasticNet(outputs=3), Sketch(outputs=3, link="logit")):
            found = learner.probability(np.array(scores))
            assert found is not None
            np.testing.assert_allclose(found, [[0.7310585786, 0.2689414214, 0.0]], atol=1e-9)
    far = Sketch(outputs=3, link="probit").probability(np.array([[-50.0, 60.0, 70.0]]))
    assert far is not None
    assert np.isfinite(far).all()
    assert far[0, 0] < 1e-300


def test_of_a_loss_that_may_be_sure_of_several_in_proportion() -> None:
    found = ElasticNet(outputs=3, loss="modified_huber").probability(
        np.array([[2.0, 1.0, 0.0], [-2.0, -3.0, -1.0]])
    )
    np.testing.assert_allclose(found, [[0.4, 0.4, 0.2], [1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize(
    "model", [riata.AutoClassifier(), riata.BayesianClassifier(), riata.ElasticNetClassifier()]
)
def test_every_face_says_the_same(model: Any) -> None:
    """Rows, single events, and the log loss of an evaluation; the class that is predicted is the most probable."""
    rng = np.random.default_rng(1)
    words = np.array(["ant", "bee", "cat"])
    events = [
        {"x": float(x), "w": str(w)}
        for x, w in zip(rng.normal(size=300), words[rng.integers(3, size=300)], strict=True)
    ]
    y = np.array([words[(len(e["w"]) + ord(e["w"][0]) + (e["x"] > 0)) % 3] for e in events])  # type: ignore[arg-type, operator]
    for event, label in zip(events, y, strict=True):
        model.learn_one(event, label)
    chances = [model.predict_proba_one(event) for event in events]
    rows = np.array([[c[label] for label in model.classes_] for c in chances])
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert [model.predict_one(e) for e in events] == [max(c, key=c.__getitem__) for c in chances]
    np.testing.assert_array_equal(rows, model.predict_proba(events))
