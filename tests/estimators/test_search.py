"""RiataSearchCV is GridSearchCV whose fits share their passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)

import riata

GRID = {"l1": [1e-5, 1e-3], "eta0": [0.05, 0.5]}


def data(n: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 12)) * (rng.random((n, 12)) < 0.5)
    return X, np.where(X[:, 0] - X[:, 1] + rng.logistic(size=n) > 0, "yes", "no")


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_the_best_is_what_fit_makes_of_it(shuffle: bool, form: Any) -> None:
    X, y = data()
    X = form(X)
    estimator = riata.ElasticNetClassifier(passes=3, shuffle=shuffle, random_state=7)
    search = riata.RiataSearchCV(estimator, GRID, cv=4, scoring="neg_log_loss").fit(X, y)
    single = clone(estimator).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.best_estimator_.coef_, single.coef_)
    np.testing.assert_array_equal(search.predict(X), single.predict(X))
    assert search.best_estimator_.get_params() == single.get_params()
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    assert len(search.cv_results_["params"]) == 4
    for name in ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"):
        assert search.cv_results_[name].shape == (4,)
    assert search.score(X, y) == pytest.approx(-log_loss(y, search.predict_proba(X)))


def test_scores_are_those_of_a_fit_without_the_fold() -> None:
    X, y = data()
    estimator = riata.ElasticNetClassifier(passes=2, shuffle=False, random_state=0)
    cv = StratifiedKFold(4)
    search = riata.RiataSearchCV(estimator, GRID, cv=cv, scoring="neg_log_loss").fit(X, y)
    for i, given in enumerate(search.cv_results_["params"]):
        expected = cross_val_score(
            clone(estimator).set_params(**given), X, y, cv=cv, scoring="neg_log_loss"
        )
        found = [search.cv_results_[f"split{f}_test_score"][i] for f in range(4)]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (riata.FTRLClassifier(random_state=0), {"l1": [0.0, 1.0], "alpha": [0.1]}),
        (riata.BayesianClassifier(random_state=0), {"prior_variance": [0.1, 1.0]}),
        (
            riata.TruncatedGradientClassifier(random_state=0),
            [{"gravity": [0.0, 0.1]}, {"period": [1, 5]}],
        ),
    ],
)
def test_other_families(estimator: Any, grid: Any) -> None:
    X, y = data(200)
    search = riata.RiataSearchCV(estimator, grid, cv=3).fit(X, y)
    single = clone(estimator).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.best_estimator_.coef_, single.coef_)
    assert 0.5 < search.best_score_ <= 1


def test_regression_weights_and_groups() -> None:
    X, _ = data()
    y = X[:, 0] * 2 + 1
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    groups = np.arange(len(y)) // 10
    estimator = riata.ElasticNetRegressor(passes=3, random_state=0)
    search = riata.RiataSearchCV(estimator, {"eta0": [1e-6, 0.1]}, cv=GroupKFold(4))
    search.fit(X, y, sample_weight=weights, groups=groups)
    assert search.best_params_ == {"eta0": 0.1}
    single = clone(estimator).set_params(eta0=0.1).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.coef_, single.coef_)


def test_frames_and_several_classes() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["x", "y", "z"], 300)})
    y = frame["b"].map({"x": "one", "y": "two", "z": "three"})
    search = riata.RiataSearchCV(riata.ElasticNetClassifier(random_state=0), GRID, cv=KFold(3)).fit(
        frame, y
    )
    assert search.best_score_ > 0.9
    assert set(search.classes_) == {"one", "two", "three"}
    assert list(search.predict(frame[:3])) == list(y[:3])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"param_grid": {"lr": [1]}}, "not a parameter of the learner"),
        ({"cv": ShuffleSplit(3, test_size=0.5, random_state=0)}, "must part the rows"),
        ({"estimator": riata.SketchClassifier()}, "SketchClassifierCV"),
        ({"estimator": riata.ElasticNetClassifier(holdout=0.1)}, "leave holdout"),
        ({"param_grid": {"l1": []}}, "empty"),
    ],
)
def test_what_cannot_be(arguments: dict[str, Any], says: str) -> None:
    X, y = data(60)
    given: dict[str, Any] = {
        "estimator": riata.ElasticNetClassifier(),
        "param_grid": GRID,
    } | arguments
    with pytest.raises(ValueError, match=says):
        riata.RiataSearchCV(**given).fit(X, y)
