"""Weights inside bounds on real data: the sketch against L-BFGS-B, the interior-point family against both."""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from riata import InteriorPointClassifier, SketchClassifier
from tests.data import DATA

L1 = 1e-4
BOUNDS = {"free": None, "non-negative": (0, None), "within a half": (-0.5, 0.5)}


@lru_cache
def read(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set RIATA_DATA to the folder of real data")
    if path.suffix == ".bz2":
        import bz2

        with bz2.open(path) as lines:
            X, y = load_svmlight_file(lines)
    else:
        X, y = load_svmlight_file(str(path))
    return X.astype(np.float32).tocsr(), y > 0


def least(X, y, gamma, bounds):
    """The least objective, by L-BFGS-B on both halves of the weights."""
    X, signs, d = X.astype(np.float64), np.where(y, 1.0, -1.0), X.shape[1]
    low, high = bounds or (None, None)

    def objective(v):
        margins = signs * (X @ (v[:d] - v[d:-1]) + v[-1])
        slopes = -signs * expit(-margins)
        g = X.T @ slopes
        value = np.logaddexp(0, -margins).sum() + gamma * v[:-1].sum()
        return value, np.concatenate([g + gamma, gamma - g, [slopes.sum()]])

    limits = [(0, high)] * d + [(0, None if low is None else -low)] * d + [(None, None)]
    options = {"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-13, "gtol": 1e-5, "maxcor": 30}
    found = minimize(
        objective, np.zeros(2 * d + 1), jac=True, method="L-BFGS-B", bounds=limits, options=options
    )
    return found.fun


@pytest.mark.parametrize("name", ["libsvm/a9a", "libsvm/ijcnn1.trn.bz2", "libsvm/heart_scale"])
@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
def test_the_sketch_has_the_optimum(name, bounds):
    X, y = read(name)
    model = SketchClassifier(gamma=L1 * X.shape[0], bounds=bounds).fit(X, y)
    assert model.n_iter_ <= 10
    last = model.history_[-1]
    assert last["gap"] <= 1e-6 * last["objective"]
    assert last["objective"] == pytest.approx(least(X, y, L1 * X.shape[0], bounds), rel=2e-6)


@pytest.mark.parametrize(
    ("name", "most", "area"),
    [("libsvm/a9a", (0.013, 0.001), 0.89), ("libsvm/ijcnn1.trn.bz2", (0.003, 0.0003), 0.62),
     ("libsvm/heart_scale", (0.09, 0.0015), 0.91),
     ("reuters21578/reuters.trn.bz2", (0.08, 0.001), 0.99)],
)  # fmt: skip
@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
def test_the_interior_point_family_comes_near(name, most, area, bounds):
    """The update alone, after one pass and after twenty; and its bound on the distance is true, and not far from it."""
    X, y = read(name)
    exact = SketchClassifier(gamma=L1 * X.shape[0], bounds=bounds).fit(X, y)
    best = exact.history_[-1]["objective"] / X.shape[0]
    for passes, limit in zip((1, 20), most, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = InteriorPointClassifier(
                l1=L1, bounds=bounds, random_state=0, passes=passes, polish=False
            ).fit(X, y)
            [proof] = model.model_.learner._proofs
        assert proof.objective <= (1 + limit) * best
        assert np.abs(exact.coef_).sum() <= 10 * np.abs(model.coef_).sum()
        assert proof.objective - best <= proof.gap + 1e-9
        assert proof.gap <= 1.1 * (proof.objective - best) + 0.001 * best
        assert roc_auc_score(y, model.decision_function(X)) > area


@pytest.mark.parametrize(
    "name",
    ["libsvm/a9a", "libsvm/ijcnn1.trn.bz2", "libsvm/heart_scale", "reuters21578/reuters.trn.bz2"],
)
@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
def test_the_interior_point_family_ends_at_the_optimum_in_the_order_of_the_file(name, bounds):
    """All of it fits in memory, so that the order of the examples does not matter."""
    X, y = read(name)
    exact = SketchClassifier(gamma=L1 * X.shape[0], bounds=bounds).fit(X, y)
    best = exact.history_[-1]["objective"] / X.shape[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = InteriorPointClassifier(l1=L1, bounds=bounds, shuffle=False, passes=1).fit(X, y)
    margins = np.where(y, 1, -1) * model.decision_function(X)
    objective = np.logaddexp(0, -margins).mean() + L1 * np.abs(model.coef_).sum()
    assert objective <= (1 + 1e-5) * best
    low, high = (
        e if e is not None else s * np.inf
        for e, s in zip(bounds or (None, None), (-1, 1), strict=True)
    )
    assert ((model.coef_ >= low) & (model.coef_ <= high)).all()
