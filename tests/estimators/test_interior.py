"""The interior-point estimators: bounds, pruning, the files, the command line."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

from riata import InteriorPointClassifier, InteriorPointRegressor, load
from riata.learners import InteriorPoint
from tests.cli.helpers import riata, write_problem
from tests.problems import block_of, dense_rows, labels_for


def problem(n=300, d=20, classes=2):
    X = dense_rows(n, d, density=0.8, rare=False)
    return X, labels_for(X, classes)


def test_fit_is_the_learner():
    X, y = problem()
    model = InteriorPointClassifier(l1=0.01, passes=1, shuffle=False, polish=False).fit(X, y)
    learner = InteriorPoint(l1=0.01)
    learner.learn(block_of(X, y))
    keys, weights = learner.coef()
    assert np.array_equal(model.coef_[0, keys], weights[:, 0])
    assert np.array_equal(model.intercept_, learner.intercept)


def test_partial_fit_goes_on():
    X, y = problem()
    whole = InteriorPointRegressor(passes=1, shuffle=False, l1=0.01, polish=False).fit(X, y)
    parts = InteriorPointRegressor(l1=0.01)
    for start in range(0, 300, 60):
        parts.partial_fit(sp.csr_matrix(X[start : start + 60]), y[start : start + 60])
    assert np.array_equal(whole.coef_, parts.coef_)


def test_non_negative_weights_in_a_grid_search():
    X, y = problem()
    search = GridSearchCV(
        InteriorPointClassifier(passes=3),
        {"bounds": [None, (0, None), {"*": (-1, 1), 3: (0, 2)}]},
        cv=2,
    ).fit(X, y)
    assert search.best_params_ != {"bounds": (0, None)}
    tied = InteriorPointClassifier(bounds=(0, None)).fit(X, y)
    assert (tied.coef_ >= 0).all()
    assert InteriorPointClassifier().fit(X, y).coef_.min() < 0


@pytest.mark.parametrize("bounds", [None, (0, None), {"*": (-1, None), 3: (0.1, 2)}])
def test_saved_and_loaded(tmp_path, bounds):
    X, y = problem(classes=3)
    model = InteriorPointClassifier(l1=0.001, bounds=bounds, prune=0.05, passes=2).fit(X, y)
    model.save(tmp_path / "model.riata")
    again = load(tmp_path / "model.riata")
    assert isinstance(again, InteriorPointClassifier)
    assert np.array_equal(again.coef_, model.coef_)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    more = [m.partial_fit(X, y).coef_ for m in (model, again)]
    assert np.array_equal(*more)


def test_predictions_use_the_pruned_weights():
    X, y = problem()
    model = InteriorPointRegressor(l1=0.05, prune=0.2).fit(X, y)
    assert model.sparse_coef_.nnz < 20
    np.testing.assert_allclose(
        model.predict(X), X @ model.coef_ + model.intercept_, rtol=1e-6, atol=1e-6
    )


def test_long_steps_do_not_diverge():
    """Features of about 1000 at the longest steps: other families raise DivergenceError."""
    X, y = problem(classes=0)
    model = InteriorPointRegressor(update="paper", k0=0).fit(1000 * X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(InteriorPointRegressor().fit(1000 * X, y).coef_).all()


def test_command_line(tmp_path):
    write_problem(tmp_path / "d.svm")
    model = tmp_path / "m.riata"
    words = ["train", tmp_path / "d.svm", "--method", "interior", "-o", model]
    paper = ["--update", "paper", "--sigma", 0.3, "--k0", 2]
    riata(*words, "--bounds", 0, "inf", *paper, "--prune", 0.01)
    learned = load(model)
    assert (learned.coef_ >= 0).all()
    assert (learned.sigma, learned.k0, learned.prune) == (0.3, 2, 0.01)
    wrong = riata(*words, "--sigma", 2, code=2)
    assert "sigma=2.0 must be above 0 and at most 1" in wrong.err
    wrong = riata(*words, "--bounds", 1, 0, code=2)
    assert "contradict each other" in wrong.err
