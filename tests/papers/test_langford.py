"""The parts of papers/langford-2009, on small data."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

Paper = Callable[[str, str], ModuleType]
FOLDER = "langford-2009"


def rows(n: int, d: int, density: float, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < density, rng.normal(size=(n, d)), 0.0)
    return sparse.csr_matrix(X.astype(np.float32)), (rng.random(n) < 0.5).astype(np.float64)


def last(online: ModuleType, X: sparse.csr_matrix, y: np.ndarray, *setting: float) -> np.ndarray:
    block = online.block_of(X, y)
    ((_, w),) = online.passes(online.learner(*setting), block, X.shape[1], (3,))
    return np.asarray(w)


@pytest.mark.parametrize(
    ("shape", "setting"),
    [
        pytest.param((60, 5, 1.1), (0.05, 0.7, 0.02), id="every feature in every row"),
        pytest.param((50, 20, 0.3), (0.1, 0.5, 0.0), id="no gravity: gradient descent"),
    ],
)
def test_time_stamps_are_equation_6(
    paper: Paper, shape: tuple[int, int, float], setting: tuple[float, float, float]
) -> None:
    online, stamped = paper(FOLDER, "online"), paper(FOLDER, "stamped")
    X, y = rows(*shape)
    W = stamped.passes(X, y, *(np.array([v]) for v in setting), (3,), from_first=False)[3]
    np.testing.assert_allclose(last(online, X, y, *setting), W[:, 0], rtol=1e-9, atol=1e-12)


def test_a_stamp_starts_at_the_first_occurrence(paper: Paper) -> None:
    """Gravity of the examples before it, and of its own, is not applied to a new feature."""
    stamped = paper(FOLDER, "stamped")
    X = sparse.csr_matrix(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32))
    eta, one, g = np.array([0.1]), np.array([1.0]), np.array([0.05])
    w = stamped.passes(X[:3], np.ones(3), eta, one, g, (1,))[1]
    assert w[1, 0] == pytest.approx(0.2)  # 2 eta x error, nothing off
    w = stamped.passes(X, np.ones(4), eta, one, g, (1,))[1]
    assert w[1, 0] == pytest.approx(0.2 + 0.2 * 0.8 - 0.1 * 0.05)


@pytest.mark.parametrize("period", [1, 10])
def test_the_subgradient_rule_is_the_references(paper: Paper, period: int) -> None:
    subgradient = paper(FOLDER, "subgradient")
    X, y = rows(45, 6, 0.5)
    eta, g = 0.1, 0.02
    W = subgradient.passes(X, y, np.array([eta]), np.array([0.5]), np.array([g]), (2,), period)[2]
    w, step, taken = np.zeros(6), eta, 0
    for _ in range(2):
        for x, label in zip(X.toarray().astype(float), y, strict=True):
            taken += 1
            pull = step * g * period * np.sign(w) * (taken % period == 0)
            w = w + 2 * step * (label - np.clip(x @ w, 0, 1)) * x - pull
        step *= 0.5
    np.testing.assert_allclose(W[:, 0], w, rtol=1e-9, atol=1e-12)


def test_the_bounds_hold_and_would_be_seen_to_fail(paper: Paper) -> None:
    theorems = paper(FOLDER, "theorems")
    X, y = theorems.problem(60, 5, 0)
    for loss in theorems.LOSSES:
        W, g = theorems.iterates(X, y, loss, 0.2, 0.01, np.inf, 1), theorems.gravities(60, 0.01, 1)
        for bar in theorems.candidates(X, y, loss, 0.01, 0):
            left, right = theorems.sides(X, y, W, bar, loss, 0.2, g, np.inf)
            assert left <= right
    left, right = theorems.sides(X, y, -5 * W, bar * 0, loss, 0.2, g, np.inf)
    assert left > right  # not the iterates of the rule


def test_time_stamps_leave_fewer_rare_features(paper: Paper) -> None:
    online, stamped = paper(FOLDER, "online"), paper(FOLDER, "stamped")
    X, y = rows(400, 300, density=0.03)
    setting = (0.1, 0.9, 0.05)
    W = stamped.passes(X, y, *(np.array([v]) for v in setting), (3,))[3]
    assert np.count_nonzero(W) < 0.8 * np.count_nonzero(last(online, X, y, *setting))


def test_auc_is_scikit_learns(paper: Paper) -> None:
    online, rng = paper(FOLDER, "online"), np.random.default_rng(0)
    y, scores = (rng.random(200) < 0.3).astype(float), rng.normal(size=200).round(1)
    assert online.auc(scores, y) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


def test_the_sparsest_of_those_hardly_worse_is_chosen(paper: Paper) -> None:
    sparsify = paper(FOLDER, "sparsify")
    plain, good, small, bad = (sparsify.Setting(0.1, 0.5, g, 5) for g in (0.0, 0.01, 0.02, 0.1))
    means = {
        plain: {"accuracy": 0.90, "left": 100.0},
        good: {"accuracy": 0.91, "left": 60.0},
        small: {"accuracy": 0.895, "left": 20.0},
        bad: {"accuracy": 0.88, "left": 1.0},
    }
    assert sparsify.chosen(means, regression=False) == (plain, small)
    assert sparsify.chosen(means, regression=False, tolerance=0.03) == (plain, bad)


def test_sets_have_the_features_of_table_1(paper: Paper) -> None:
    uci = paper(FOLDER, "uci")
    found = [name for name, s in uci.SOURCES.items() if (uci.DATA / s.file).exists()]
    if not found:
        pytest.skip(f"{uci.DATA} has none of the sets")
    for name in found:
        source, task = uci.SOURCES[name], uci.load(name, True)
        assert task.features == source.features + 1000 or name in ("ad", "wpbc")
        assert (len(task.y), len(task.y_test)) == (source.train, source.test) or name == "ad"
        assert {0.0, 1.0} >= set(task.y) or task.regression
