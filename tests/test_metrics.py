from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs
from sklearn.calibration import calibration_curve

from riata import metrics


def example(n: int = 2000, seed: int = 0, k: int = 2):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 3, size=(n, 1 if k == 2 else k))
    p = 1 / (1 + np.exp(-scores))
    if k == 2:
        labels = (rng.random(n) < p[:, 0] ** 1.5).astype(float)
    else:
        labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1).astype(float)
    return scores, p, labels, rng.exponential(size=n)


def streamed(task, scores, p, labels, weights, parts=7):  # type: ignore[no-untyped-def]
    evaluation = metrics.Evaluation(task, scores.shape[1])
    for rows in np.array_split(np.arange(len(labels)), parts):
        w = None if weights is None else weights[rows]
        evaluation.add(scores[rows], None if p is None else p[rows], labels[rows], w)
    return evaluation.result()


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_against_scikit_learn(weighted: bool) -> None:
    scores, p, labels, weights = example()
    w = weights if weighted else None
    result = streamed("classification", scores, p, labels, w)
    exact = theirs.roc_auc_score(labels, scores[:, 0], sample_weight=w)
    assert metrics.auc(scores[:, 0], labels == 1, w) == pytest.approx(exact, abs=1e-12)
    assert abs(result["auc"] - exact) <= result["auc_error"] + 1e-12
    assert result["auc_error"] < 1e-4
    assert result["log_loss"] == pytest.approx(theirs.log_loss(labels, p[:, 0], sample_weight=w))
    assert metrics.log_loss(p[:, 0], labels == 1, w) == pytest.approx(result["log_loss"])
    assert result["accuracy"] == pytest.approx(
        theirs.accuracy_score(labels, scores[:, 0] > 0, sample_weight=w)
    )
    share = np.average(labels, weights=w)
    assert result["positive_share"] == pytest.approx(share)
    assert result["base_log_loss"] == pytest.approx(
        theirs.log_loss(labels, np.full(len(labels), share), sample_weight=w)
    )


def test_calibration_against_scikit_learn() -> None:
    _, p, labels, _ = example()
    calibration = metrics.Calibration()
    for rows in np.array_split(np.arange(len(labels)), 3):
        calibration.add(p[rows, 0], labels[rows] == 1)
    observed, predicted = calibration_curve(labels, p[:, 0], n_bins=10)
    bins = calibration.bins()
    assert [b["observed"] for b in bins] == pytest.approx(observed.tolist())
    assert [b["predicted"] for b in bins] == pytest.approx(predicted.tolist())
    weight = np.array([b["weight"] for b in bins])
    assert calibration.error == pytest.approx(
        float((weight * np.abs(observed - predicted)).sum() / weight.sum())
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes_against_scikit_learn(weighted: bool) -> None:
    scores, p, labels, weights = example(k=4)
    w = weights if weighted else None
    shares = p / p.sum(axis=1, keepdims=True)
    result = streamed("classification", scores, shares, labels, w)
    assert result["log_loss"] == pytest.approx(theirs.log_loss(labels, shares, sample_weight=w))
    assert result["accuracy"] == pytest.approx(
        theirs.accuracy_score(labels, scores.argmax(axis=1), sample_weight=w)
    )
    assert "auc" not in result
    assert "calibration" not in result


@pytest.mark.parametrize("weighted", [False, True])
def test_regression_against_scikit_learn(weighted: bool) -> None:
    rng = np.random.default_rng(3)
    labels = 1e6 + rng.normal(size=1000)  # far from zero: sums of squares would cancel
    scores = (labels + rng.normal(size=1000))[:, None]
    w = rng.exponential(size=1000) if weighted else None
    result = streamed("regression", scores, None, labels, w)
    assert result["rmse"] == pytest.approx(
        theirs.root_mean_squared_error(labels, scores[:, 0], sample_weight=w)
    )
    assert result["mae"] == pytest.approx(
        theirs.mean_absolute_error(labels, scores[:, 0], sample_weight=w)
    )
    assert result["r2"] == pytest.approx(
        theirs.r2_score(labels, scores[:, 0], sample_weight=w), abs=1e-7
    )


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.booleans(), st.floats(0, 10)), min_size=1, max_size=60
    )
)
def test_streaming_auc_stays_within_its_error(rows: list[tuple[float, bool, float]]) -> None:
    scores, positive, weights = (np.array(column) for column in zip(*rows, strict=True))
    exact = metrics.auc(scores, positive, weights)
    streaming = metrics.StreamingAUC()
    streaming.add(scores, positive, weights)
    if exact is None:
        assert streaming.value is None
    else:
        assert streaming.value is not None
        assert abs(streaming.value - exact) <= streaming.error + 1e-9


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(1, 20), st.booleans())
def test_mean_does_not_depend_on_cuts(n: int, parts: int, weighted: bool) -> None:
    rng = np.random.default_rng(n)
    values, weights = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n), rng.random(n)
    whole, cut = metrics.Mean(), metrics.Mean()
    whole.add(values, weights if weighted else None)
    for rows in np.array_split(np.arange(n), parts):
        cut.add(values[rows], weights[rows] if weighted else None)
    assert whole == cut
    if n:
        expected = np.average(values, weights=weights if weighted else None)
        assert whole.value == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_edges() -> None:
    assert metrics.Mean().value is None
    assert metrics.auc(np.array([1.0, 2.0]), np.array([True, True])) is None
    assert metrics.Calibration().error is None
    calibration = metrics.Calibration()
    calibration.add(np.array([0.0, 1.0]), np.array([False, True]))
    assert calibration.error == 0
    sure_and_wrong = metrics.log_loss(np.array([1.0]), np.array([False]))
    assert 30 < sure_and_wrong < 40
    constant = metrics.Residuals()
    constant.add(np.array([1.0, 2.0]), np.array([5.0, 5.0]))
    assert constant.r2 is None
    nothing = metrics.Evaluation("classification").result()
    assert nothing["examples"] == 0
    assert nothing["accuracy"] is None
