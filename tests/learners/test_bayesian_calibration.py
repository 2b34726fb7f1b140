"""Beta calibration of the log odds, learned beside the model."""

from __future__ import annotations

import numpy as np
import pytest

from riata import BayesianClassifier, _core
from riata.learners import Bayesian
from riata.metrics import Calibration
from riata.reference.bayesian import Recalibrated
from tests.problems import block_of, dense_rows, labels_for


@pytest.mark.parametrize("half_life", [None, 25.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_equals_dense_reference(half_life, classes):
    X = dense_rows(200, 12)
    y = labels_for(X, classes)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], 200)
    outputs = 1 if classes == 2 else classes
    plain, corrected = (
        Bayesian(half_life=half_life, outputs=outputs, calibrate=c) for c in (False, True)
    )
    scores = plain.learn(block_of(X, y, weights))
    found = corrected.learn(block_of(X, y, weights))
    for o in range(outputs):
        reference = Recalibrated(half_life)
        positive = y == (1 if outputs == 1 else o)
        expected = [
            reference.learn(s, 1.0 if is_it else -1.0, w)
            for s, is_it, w in zip(scores[:, o], positive, weights, strict=True)
        ]
        np.testing.assert_allclose(found[:, o], expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(corrected.correction[o], reference.mean, rtol=1e-10, atol=1e-12)
        assert corrected.correction[o].min() != 1  # all three have moved
        after = [reference.score(s) for s in plain.score(block_of(X))[:, o]]
        np.testing.assert_allclose(
            corrected.score(block_of(X))[:, o], after, rtol=1e-10, atol=1e-12
        )


def test_what_is_learned_of_the_weights_does_not_change():
    X = dense_rows(100, 10)
    y = labels_for(X, 2)
    plain, corrected = Bayesian(calibrate=False), Bayesian(calibrate=True)
    for learner in (plain, corrected):
        learner.learn(block_of(X, y))
    np.testing.assert_array_equal(plain.state()["rows"], corrected.state()["rows"])


def test_batch_loop_order_and_resumed_give_the_same_bits():
    X = dense_rows(120, 15)
    y = labels_for(X, 2)
    whole, loop = (Bayesian(calibrate=True, half_life=50.0) for _ in range(2))
    scores = whole.learn(block_of(X, y))
    parts = [loop.learn(block_of(X[i : i + 1], y[i : i + 1])) for i in range(60)]
    resumed = Bayesian.from_state(loop.parameters(), loop.state())
    parts.append(resumed.learn(block_of(X[60:], y[60:])))
    np.testing.assert_array_equal(scores, np.concatenate(parts))
    order = np.random.default_rng(0).permutation(120)
    given, sorted_ = Bayesian(calibrate=True), Bayesian(calibrate=True)
    np.testing.assert_array_equal(
        given.learn(block_of(X, y), order), sorted_.learn(block_of(X[order], y[order]))
    )


def test_scores_that_are_half_of_what_they_should_be():
    rng = np.random.default_rng(0)
    s = rng.normal(0, 2, 5000)
    y = (rng.random(5000) < 1 / (1 + np.exp(-(2 * s - 0.5)))).astype(float)
    state = np.zeros((1, _core.RECALIBRATION_WIDTH))
    _core.recalibrate(s[:, None].copy(), state, y, None, 1.0)
    ((a, b, offset),) = _core.recalibration(state)
    assert (a + b) / 2 == pytest.approx(2, abs=0.2)
    assert a - b == pytest.approx(0, abs=0.4)
    assert offset == pytest.approx(-0.5, abs=0.3)


def test_what_is_too_sure_of_one_class_alone():
    rng = np.random.default_rng(0)
    s = rng.normal(0, 2, 20000)
    right = -0.5 * np.logaddexp(0, -s) + 1.5 * np.logaddexp(0, s)
    y = (rng.random(20000) < 1 / (1 + np.exp(-right))).astype(float)
    state = np.zeros((1, _core.RECALIBRATION_WIDTH))
    _core.recalibrate(s[:, None].copy(), state, y, None, 1.0)
    np.testing.assert_allclose(_core.recalibration(state), [(0.5, 1.5, 0.0)], atol=0.15)


def test_a_higher_score_stays_higher_whatever_the_labels_say():
    rng = np.random.default_rng(0)
    s = rng.normal(0, 3, 5000)
    y = (rng.random(5000) < 1 / (1 + np.exp(2 * s))).astype(float)  # the wrong way round
    state = np.zeros((1, _core.RECALIBRATION_WIDTH))
    _core.recalibrate(s[:, None].copy(), state, y, None, 1.0)
    ((a, b, _),) = _core.recalibration(state)
    assert a == b == 0


def test_probabilities_become_better_calibrated():
    """A prior far too narrow for the weights: the log odds are too small, and that can be put right."""
    rng = np.random.default_rng(1)
    X = (rng.random((6000, 8)) < 0.3).astype(float)
    y = (rng.random(6000) < 1 / (1 + np.exp(-(X @ rng.normal(size=8) * 3)))).astype(float)
    errors, losses = {}, {}
    for calibrate in (False, True):
        learner = Bayesian(prior_variance=0.003, calibrate=calibrate)
        scores = learner.learn(block_of(X, y))
        table = Calibration()
        table.add(learner.probability(scores)[:, 0], y > 0)
        errors[calibrate], losses[calibrate] = table.error, learner.losses(scores, y).mean()
    assert errors[True] < 0.5 * errors[False]
    assert losses[True] < losses[False]


def test_merged_widened_and_taken_for_a_prior():
    X = dense_rows(300, 10)
    y = labels_for(X, 2)
    one, two = Bayesian(), Bayesian()
    one.learn(block_of(X[:150], y[:150]))
    two.learn(block_of(X[150:], y[150:]))
    both = one.merge(two)
    np.testing.assert_array_equal(
        both.state()["calibration"], one.state()["calibration"] + two.state()["calibration"]
    )
    alike = Bayesian(calibrate=True).merge(one)  # by default is on as well
    np.testing.assert_array_equal(alike.correction, one.correction)
    with pytest.raises(ValueError, match="calibrate"):
        one.merge(Bayesian(calibrate=False))
    wide = one.with_outputs(3)
    scores = wide.score(block_of(X))
    np.testing.assert_allclose(scores[:, 1], one.score(block_of(X))[:, 0], rtol=1e-12)
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(wide.correction[2], [1, 1, 0])
    np.testing.assert_array_equal(one.as_prior().correction, one.correction)


def test_by_default_where_the_prior_is_not_chosen_either():
    X = dense_rows(200, 8)
    y = labels_for(X, 2)
    scores = {}
    for name, parameters in {
        "default": {},
        "on": {"calibrate": "on"},
        "off": {"calibrate": False},
        "one": {"prior_variance": 1.0},
        "one, off": {"prior_variance": 1.0, "calibrate": "off"},
        "one, on": {"prior_variance": 1.0, "calibrate": True},
    }.items():
        scores[name] = Bayesian(**parameters).learn(block_of(X, y))
    np.testing.assert_array_equal(scores["default"], scores["on"])
    np.testing.assert_array_equal(scores["one"], scores["one, off"])
    assert (scores["default"] != scores["off"]).sum() > 150
    assert (scores["one"] != scores["one, on"]).sum() > 150
    with pytest.raises(ValueError, match="calibrate='maybe'"):
        Bayesian(calibrate="maybe")


def test_a_collapsed_model_keeps_its_correction():
    X = dense_rows(400, 8)
    learner = Bayesian()
    learner.learn(block_of(X, labels_for(X, 2)))
    alone = learner.collapse()
    assert alone.prior_variance != "auto"
    assert alone.calibrates
    np.testing.assert_array_equal(alone.correction, learner.correction)
    again = Bayesian.from_state(alone.parameters(), alone.state())
    np.testing.assert_array_equal(again.score(block_of(X)), alone.score(block_of(X)))


def test_a_state_of_another_version_is_refused():
    learner = Bayesian()
    state = learner.state() | {"calibration": np.zeros((1, 5))}
    with pytest.raises(ValueError, match=r"shape \(1, 5\), not \(1, 9\)"):
        Bayesian.from_state(learner.parameters(), state)


def test_single_events_are_corrected_alike():
    X = dense_rows(150, 6)
    y = labels_for(X, 2)
    events = [{str(i): float(v) for i, v in enumerate(row) if v} for row in X]
    plain, learner, reference = Bayesian(calibrate=False), Bayesian(), Recalibrated()
    for event, label in zip(events, y, strict=True):
        (raw,) = plain.learn_one(event, label)
        before = reference.learn(raw, 2 * label - 1)
        assert learner.learn_one(event, label) == [pytest.approx(before, 1e-9)]
    (raw,) = plain.score_one(events[3])
    assert learner.score_one(events[3]) == [pytest.approx(reference.score(raw), 1e-9)]
    assert abs(reference.score(raw) - raw) > 1e-3


def test_intervals_hold_the_probability():
    X = dense_rows(300, 8)
    model = BayesianClassifier(calibrate=True, random_state=0).fit(X, labels_for(X, 2))
    low, high = model.predict_proba(X, interval=0.9)
    assert ((low < model.predict_proba(X)) & (model.predict_proba(X) < high)).mean() > 0.95


def test_extreme_scores_and_weights_leave_it_finite():
    rng = np.random.default_rng(0)
    state = np.zeros((1, _core.RECALIBRATION_WIDTH))
    for _ in range(500):
        scores = rng.choice([-1e300, -1e50, -3.0, 0.0, 1e-300, 2.0, 1e90, 1e308], (6, 1))
        weights = rng.choice([0.0, 1e-300, 1.0, 1e10, 1e300], 6)
        _core.recalibrate(scores, state, rng.integers(0, 2, 6).astype(float), weights, 1.0)
        assert np.isfinite(scores).all()
        assert np.isfinite(state).all()
        assert np.isfinite(_core.recalibration(state)).all()
