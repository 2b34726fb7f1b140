"""`auto` with several classes that share one probability."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import riata
from riata.learners import Portfolio
from riata.learners.portfolio_settings import SETTINGS
from riata.reference import portfolio as reference
from tests.cli.helpers import riata as riata_command
from tests.learners.test_portfolio import FOUR, by_members, close, core, learned
from tests.problems import block_of, dense_rows, labels_for

MIXED = [SETTINGS[k] for k in (2, 5, 12, 19, 28, 32, 34)]


def in_the_middle(n: int = 1500, seed: int = 0) -> tuple[Any, Any]:
    """Three classes along a line: no plane parts the middle one from the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    shares = np.exp(3 * np.outer(X[:, 0], [-1, 0, 1]) + [0, 1, 0])
    drawn = rng.random((n, 1)) < (shares / shares.sum(axis=1, keepdims=True)).cumsum(axis=1)
    return X, drawn.argmax(axis=1)


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
@pytest.mark.parametrize("correct", [True, False])
def test_kernels_do_what_the_reference_says(store: str, correct: bool) -> None:
    rng = np.random.default_rng(4)
    X = dense_rows(200, 12, 0.6)
    y = labels_for(X, 4)
    weights, offsets = rng.random(200) * 3, rng.normal(size=200)
    model = core(MIXED, store, outputs=4, multinomial=True, correct=correct, bits=16)
    scores = learned(model, block_of(X, y, weights, offsets=offsets))
    expected = reference.Multinomial(MIXED, 12, 4, correct=correct)
    rows = zip(X, y.astype(int), weights, offsets, strict=True)
    close(scores, [expected.learn(*row) for row in rows])
    now = model.snapshot(rows=False)
    for o, output in enumerate(expected.outputs):
        close(now["weights"][o], output.weights)
        close(now["losses"][o], output.losses)


def test_every_member_has_the_bits_it_has_alone() -> None:
    X = dense_rows(200, 20, 0.5)
    block = block_of(X, labels_for(X, 3), np.random.default_rng(1).random(200) * 2)
    together = core(MIXED, outputs=3, multinomial=True)
    learned(together, block)
    scores = by_members(together, block).reshape(200, 3, len(MIXED))
    for k, setting in enumerate(MIXED):
        beside = [SETTINGS[0]] if setting[0] == "joint" else []
        alone = core([*beside, setting], outputs=3, multinomial=True)
        learned(alone, block)
        own = by_members(alone, block).reshape(200, 3, -1)[:, :, -1]
        np.testing.assert_array_equal(own, scores[:, :, k])


def test_scores_of_a_member_are_log_odds_of_one_probability() -> None:
    X = dense_rows(300, 10, 0.5)
    model = core(FOUR, outputs=5, multinomial=True, correct=False)
    block = block_of(X, labels_for(X, 5))
    learned(model, block)
    p = 1 / (1 + np.exp(-by_members(model, block).reshape(300, 5, len(FOUR))))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)


def test_a_nearly_certain_class_loses_no_digits() -> None:
    """Of ten thousand examples of one class and a few of others."""
    y = np.zeros(3000)
    y[:3] = [1, 2, 3]
    X = np.ones((3000, 1))
    model = core(FOUR, outputs=4, multinomial=True)
    scores = learned(model, block_of(X * 1e4, y))
    assert np.isfinite(scores).all()
    assert scores[-1, 0] > 5 > -5 > scores[-1, 1:].max()


def test_two_classes_are_what_they_are_without_it() -> None:
    X = dense_rows(300, 8, 0.5)
    block = block_of(X, labels_for(X, 2))
    np.testing.assert_array_equal(
        Portfolio().learn(block), Portfolio(multi_class="ovr").learn(block)
    )


def test_a_class_in_the_middle_is_learned() -> None:
    """One against the rest cannot; with one probability it is nearly what a batch solver finds."""
    X, y = in_the_middle()
    lost = {}
    for kind in ("multinomial", "ovr"):
        model = riata.AutoClassifier(multi_class=kind, shuffle=False).fit(X[:1000], y[:1000])
        lost[kind] = log_loss(y[1000:], model.predict_proba(X[1000:]))
    batch = LogisticRegression().fit(X[:1000], y[:1000])
    exact = log_loss(y[1000:], batch.predict_proba(X[1000:]))
    assert lost["multinomial"] < 1.02 * exact < 1.05 * exact < lost["ovr"]


def test_the_one_linear_model_predicts_as_well() -> None:
    X, y = in_the_middle()
    model = riata.AutoClassifier(shuffle=False).fit(X[:1000], y[:1000])
    whole = log_loss(y[1000:], model.predict_proba(X[1000:]))
    single = log_loss(y[1000:], model.collapse().predict_proba(X[1000:]))
    assert abs(model.cost_of_single_) < 0.05
    assert single < 1.05 * whole
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=0.05 * np.abs(model.coef_).max())


def test_what_one_linear_model_lost_is_told_as_log_loss(tmp_path: Path) -> None:
    """By compact on data, by train --single, and by inspect, also where classes share a probability."""
    X, y = in_the_middle()
    rows = [
        f"{label} " + " ".join(f"{k + 1}:{x:g}" for k, x in enumerate(row))
        for row, label in zip(X, y, strict=True)
    ]
    (tmp_path / "d.svm").write_text("\n".join(rows[:1000]) + "\n")
    (tmp_path / "t.svm").write_text("\n".join(rows[1000:]) + "\n")
    model, small, single = (tmp_path / name for name in ("m", "s", "one"))
    riata_command("train", tmp_path / "d.svm", "-o", model, "-q")
    done = json.loads(
        riata_command("compact", model, "-o", small, "--data", tmp_path / "t.svm", "--json").out
    )
    whole, of_small = done["loss_on_data"]
    assert of_small == pytest.approx(whole, rel=0.05)
    told = json.loads(riata_command("evaluate", small, tmp_path / "t.svm", "--json").out)
    assert told["log_loss"] == pytest.approx(of_small)
    riata_command("train", tmp_path / "d.svm", "-o", single, "-q", "--single")
    shares = np.bincount(y[:1000]) / 1000
    for each in (model, small, single):
        said = json.loads(riata_command("inspect", each, "--json").out)
        assert said["progressive_loss"] < said["constant_loss"]
        assert said["constant_loss"] == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-6)
        assert "log loss of 3 classes" in riata_command("inspect", each).out


def test_a_class_that_joins_late_shares_the_probability(tmp_path: Path) -> None:
    X, y = in_the_middle()
    events = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    known = np.array(["low", "middle", "high"], dtype=object)[y]
    model = riata.AutoClassifier()
    for event, label in zip(events[:600], known[:600], strict=True):
        model.learn_one(event, "low" if label == "low" else "middle")
    two = [model.predict_proba_one(event)["middle"] for event in events[600:700]]
    model.learn_one(events[600], "high")
    three = [model.predict_proba_one(event) for event in events[600:700]]
    # Of the classes that were known, one is to the other about as it was.
    told = [each["middle"] / (each["low"] + each["middle"]) for each in three]
    np.testing.assert_allclose(told, two, atol=0.03)
    for event, label in zip(events[600:1000], known[600:1000], strict=True):
        model.learn_one(event, label)
    p = [
        model.predict_proba_one(e)[label]
        for e, label in zip(events[1000:], known[1000:], strict=True)
    ]
    assert -np.mean(np.log(p)) < 0.8 * np.log(3)
    model.save(tmp_path / "m.riata")
    again = riata.load(tmp_path / "m.riata")
    assert again.predict_proba_one(events[0]) == model.predict_proba_one(events[0])


def test_a_model_of_an_earlier_version_goes_on_against_the_rest() -> None:
    X, y = in_the_middle(400)
    before = Portfolio(outputs=3, multi_class="ovr")
    before.learn(block_of(X[:200], y[:200].astype(float)))
    parameters = before.parameters()
    del parameters["multi_class"]  # files of before do not have it
    again = Portfolio.from_state(parameters, before.state())
    assert again.multi_class == "ovr"
    block = block_of(X[200:], y[200:].astype(float))
    np.testing.assert_array_equal(again.learn(block), before.learn(block))
    np.testing.assert_array_equal(
        again.probability(again.score(block)), before.probability(before.score(block))
    )


def test_classes_in_another_order_are_the_same_model() -> None:
    X, y = in_the_middle(500)
    learner = Portfolio(outputs=3)
    block = block_of(X, y.astype(float))
    learner.learn(block)
    other = learner.with_classes_in_order([2, 0, 1])
    np.testing.assert_allclose(other.score(block), learner.score(block)[:, [2, 0, 1]], rtol=1e-12)


def test_models_that_share_and_models_that_do_not_are_not_merged() -> None:
    X, y = in_the_middle(300)
    block = block_of(X, y.astype(float))
    one, two = Portfolio(outputs=3), Portfolio(outputs=3, multi_class="ovr")
    one.learn(block)
    two.learn(block)
    with pytest.raises(ValueError, match="multi_class"):
        one.merge(two)


def test_merged_halves_are_near_one_model() -> None:
    X, y = in_the_middle(2000)
    halves = []
    for part in (slice(0, 800), slice(800, 1600)):
        halves.append(riata.AutoClassifier(shuffle=False).fit(X[part], y[part]))
    whole = riata.AutoClassifier(shuffle=False).fit(X[:1600], y[:1600])
    lost = [
        log_loss(y[1600:], model.predict_proba(X[1600:]))
        for model in (whole, halves[0].merge(halves[1]))
    ]
    assert lost[1] < 1.03 * lost[0]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="multi_class='softmax' is not one of"):
        Portfolio(outputs=3, multi_class="softmax")
