"""What is told of the scores of settings: in the core for log odds, otherwise here, the same."""

from __future__ import annotations

import numpy as np
import pytest

from riata import _core
from riata.sweeping.tally import Predictions, Tally


def scores_and_labels(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 5, (3, n, 1))
    scores[0, :7, 0] = [0.0, -0.0, 40.0, -40.0, 1e308, -1e308, 1e-300][: min(7, n)]
    return scores, (rng.random(n) < 0.4).astype(np.float64)


@pytest.mark.parametrize("n", [7, 8, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_core_tells_the_same(n: int, weighted: bool) -> None:
    scores, labels = scores_and_labels(n, n)
    weights = np.random.default_rng(1).random(n) if weighted else None
    chances = _core.loss_probability("logistic", scores.ravel()).reshape(scores.shape)
    plain, quick = Tally(3, "log_loss", None), Tally(3, "log_loss", None)
    for _ in range(2):
        a = plain.add(Predictions(scores, chances, np.zeros((0, 0))), labels, weights, None)
        said = Predictions(scores, None, np.zeros((0, 0)), log_odds=True)
        b = quick.add(said, labels, weights, None)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)
    for name in ("totals", "weights", "correct", "positives", "negatives", "calibration"):
        np.testing.assert_allclose(
            getattr(plain, name), getattr(quick, name), rtol=1e-12, atol=1e-15
        )
    for s in range(3):
        assert plain.auc(s) == pytest.approx(quick.auc(s))
        assert plain.calibration_error(s) == pytest.approx(quick.calibration_error(s))


def test_losses_of_all_settings_are_those_of_each() -> None:
    scores, labels = scores_and_labels(0, 1003)
    scores[0, :8, 0] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 709.5, -709.5, 1e300]
    found = _core.log_losses(np.ascontiguousarray(scores[:, :, 0]), labels)
    y = np.where(labels == 1, 1.0, -1.0)
    for own, losses in zip(scores, found, strict=True):
        one_by_one = _core.loss_value("logistic", own[:, 0].copy(), y)
        np.testing.assert_array_equal(losses, one_by_one)
        np.testing.assert_array_equal(_core.row_losses("logistic", own.copy(), labels, 0.0), losses)
    assert np.isnan(found[0, 0])


def test_shapes_are_checked() -> None:
    scores, labels = np.zeros((3, 8)), np.zeros(8)
    with pytest.raises(ValueError, match="length"):
        _core.log_losses(scores, labels[1:])
    wrong = np.zeros((2, 16)), np.zeros((3, 16)), np.zeros((3, 3, 10)), np.zeros(3)
    with pytest.raises(ValueError, match="shape"):
        _core.tally_log_odds(scores, labels, None, 1e-15, *wrong)
