"""The elastic-net estimators as scikit-learn users use them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import riata
from riata import ElasticNetClassifier, ElasticNetRegressor
from riata.errors import DataError
from riata.reference import linear as reference
from tests.problems import dense_rows, labels_for


@pytest.fixture
def problem():
    X = dense_rows(400, 60)
    return sp.csr_matrix(X), labels_for(X, 2).astype(int)


def test_one_pass_equals_reference(problem):
    X, y = problem
    steps = {"learning_rate": "inv_sqrt", "feature_scale": "none"}
    model = ElasticNetClassifier(l1=1e-3, l2=1e-3, passes=1, shuffle=False, **steps).fit(X, y)
    dense = reference.Dense(reference.fobos(1e-3, 1e-3), d=60)
    dense.learn(X.toarray(), y)
    np.testing.assert_allclose(model.coef_[0], dense.w[:, 0], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(
        model.decision_function(X), dense.score(X.toarray())[:, 0], rtol=1e-10
    )


def test_fit_equals_partial_fit_equals_single_rows(problem):
    X, y = problem
    fitted = ElasticNetClassifier(passes=1, shuffle=False).fit(X, y)
    parts, rows = ElasticNetClassifier(), ElasticNetClassifier()
    for start in range(0, 400, 150):
        parts.partial_fit(X[start : start + 150], y[start : start + 150], classes=[0, 1])
    for i in range(400):
        rows.partial_fit(X[i], y[i : i + 1], classes=[0, 1])
    assert np.array_equal(fitted.coef_, parts.coef_)
    assert np.array_equal(fitted.coef_, rows.coef_)
    assert rows.t_ == 400


@pytest.mark.parametrize(
    "kind", ["csr", "csc", "coo", "csr64", "dense", "float32", "pandas", "polars"]
)
def test_every_container_gives_the_same_model(problem, kind):
    X, y = problem
    expected = ElasticNetClassifier(passes=3, random_state=1).fit(X, y).coef_
    reading = {"scale": "none"} if kind in ("pandas", "polars") else {}
    if kind == "csr64":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    elif kind in ("csc", "coo"):
        X = X.asformat(kind)
    elif kind == "dense":
        X = X.toarray()
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind != "csr":
        X = pytest.importorskip(kind).DataFrame(
            X.toarray(), **({"schema": [f"f{i}" for i in range(60)]} if kind == "polars" else {})
        )
        X.columns = [f"f{i}" for i in range(60)]
    model = ElasticNetClassifier(passes=3, random_state=1).fit(X, y, **reading)
    assert np.array_equal(model.coef_, expected)


def test_multi_class_is_one_against_the_rest(problem):
    X, _ = problem
    y = np.array(["a", "b", "c", "d"])[labels_for(X.toarray(), 4).astype(int)]
    model = ElasticNetClassifier(passes=2, shuffle=False).fit(X, y)
    assert model.coef_.shape == (4, 60)
    for c, name in enumerate(model.classes_):
        alone = ElasticNetClassifier(passes=2, shuffle=False).fit(X, y == name)
        assert np.array_equal(alone.coef_[0], model.coef_[c])
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.classes_[proba.argmax(axis=1)] == model.predict(X)).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba)


def test_close_to_the_batch_optimum():
    X, y = make_classification(3000, 20, n_informative=8, random_state=0)
    X = StandardScaler().fit_transform(X)
    batch = LogisticRegression(C=1.0 / (3000 * 1e-3)).fit(X, y)
    model = ElasticNetClassifier(l1=0.0, l2=1e-3, passes=60, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, batch.coef_, atol=0.06)


def test_sparse_coef_and_dense_coef_agree(problem):
    X, y = problem
    model = ElasticNetClassifier(l1=0.01).fit(X, y)
    assert 0 < model.sparse_coef_.nnz < 60
    assert np.array_equal(model.sparse_coef_.toarray(), model.coef_)


def test_pipeline_grid_search_clone_pickle(problem):
    X, y = problem
    search = GridSearchCV(ElasticNetClassifier(passes=3), {"l1": [1e-4, 1e-1]}, cv=3).fit(X, y)
    assert search.best_params_ == {"l1": 1e-4}
    pipe = make_pipeline(StandardScaler(with_mean=False), ElasticNetClassifier(passes=3)).fit(X, y)
    assert pipe.score(X, y) > 0.8
    model = clone(search.best_estimator_).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.coef_, model.coef_)
    assert np.array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


def test_save_and_load_continue_with_the_same_bits(problem, tmp_path):
    X, y = problem
    names = np.array(["ham", "spam"])[y]
    model = ElasticNetClassifier(l1=1e-3, passes=2).fit(X, names)
    model.save(tmp_path / "m.riata")
    again = riata.load(tmp_path / "m.riata")
    assert isinstance(again, ElasticNetClassifier)
    assert again.l1 == 1e-3
    assert again.classes_.tolist() == ["ham", "spam"]
    assert (again.predict(X) == model.predict(X)).all()
    model.partial_fit(X, names)
    again.partial_fit(X, names)
    assert np.array_equal(again.coef_, model.coef_)
    assert again.intercept_ == model.intercept_


def test_weights_of_classes_multiply_the_loss(problem):
    X, y = problem
    weights = np.where(y == 1, 3.0, 0.5)
    by_class = ElasticNetClassifier(class_weight={0: 0.5, 1: 3.0}, random_state=0).fit(X, y)
    by_sample = ElasticNetClassifier(random_state=0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(by_class.coef_, by_sample.coef_, rtol=1e-12)
    balanced = ElasticNetClassifier(class_weight="balanced", random_state=0).fit(X, y)
    counts = np.bincount(y)
    by_sample.fit(X, y, sample_weight=(len(y) / (2 * counts))[y])
    np.testing.assert_allclose(balanced.coef_, by_sample.coef_, rtol=1e-12)
    streamed = ElasticNetClassifier(class_weight={0: 0.5, 1: 3.0}).partial_fit(X, y, [0, 1])
    expected = ElasticNetClassifier().partial_fit(X, y, [0, 1], sample_weight=weights)
    assert np.array_equal(streamed.coef_, expected.coef_)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
def test_regression(loss):
    X, y = make_regression(2000, 10, noise=0.1, random_state=0)
    y = (y - y.mean()) / y.std()
    model = ElasticNetRegressor(loss=loss, eta0=0.05).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.coef_.shape == (10,)
    clipped = ElasticNetRegressor(clip=(-0.5, 0.5)).fit(X, y).predict(X)
    assert np.abs(clipped).max() <= 0.5


def test_quantile_loss_finds_the_quantile():
    y = np.random.default_rng(0).normal(size=20_000)
    model = ElasticNetRegressor(loss="quantile", quantile=0.9, eta0=0.1, power_t=0.5).fit(
        np.zeros((20_000, 1)), y
    )
    assert model.intercept_[0] == pytest.approx(np.quantile(y, 0.9), abs=0.05)


def test_learning_from_a_file_equals_the_matrix(problem, tmp_path):
    from sklearn.datasets import dump_svmlight_file

    X, y = problem
    dump_svmlight_file(X.astype(np.float32), y, str(tmp_path / "data.svm"), zero_based=False)
    text = ElasticNetClassifier(l1=1e-3).learn(tmp_path / "data.svm")
    matrix = ElasticNetClassifier(l1=1e-3, passes=1, shuffle=False).fit(X, y)
    assert np.array_equal(text.sparse_coef_.toarray()[0], matrix.coef_[0, : text.n_features_in_])
    assert text.classes_.tolist() == [0, 1]


def test_early_stop_on_a_holdout(problem):
    X, y = problem
    model = ElasticNetClassifier(passes=200, holdout=0.2, patience=2, random_state=0).fit(X, y)
    assert model.n_iter_ < 200


class TestBadInput:
    def test_before_fit(self, problem):
        X, _ = problem
        for read in (lambda m: m.predict(X), lambda m: m.coef_, lambda m: m.save("x")):
            with pytest.raises(NotFittedError, match="not fitted"):
                read(ElasticNetClassifier())

    def test_lengths_and_shapes(self, problem):
        X, y = problem
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            ElasticNetClassifier().fit(X, y[:-1])
        model = ElasticNetClassifier().fit(X, y)
        with pytest.raises(
            ValueError, match="X has 59 features, but ElasticNetClassifier is expecting 60"
        ):
            model.predict(X[:, :59])
        with pytest.raises(ValueError, match="X has 59 features"):
            model.partial_fit(X[:, :59], y)
        with pytest.raises(ValueError, match="label 7"):
            model.partial_fit(X[:2], [0, 7])

    def test_values(self, problem):
        X, y = problem
        for bad, message in ((np.nan, "NaN"), (np.inf, "inf"), (1e300, "beyond a 32-bit float")):
            X.data[17] = bad
            with pytest.raises(DataError, match=message):
                ElasticNetClassifier().fit(X, y)

    def test_labels_and_weights(self, problem):
        X, y = problem
        with pytest.raises(ValueError, match="one class only"):
            ElasticNetClassifier().fit(X, np.ones(400))
        with pytest.raises(ValueError, match="one class only, 'a': a classifier"):
            ElasticNetClassifier().fit(X, np.full(400, "a"))
        with pytest.raises(ValueError, match="classes must be passed"):
            ElasticNetClassifier().partial_fit(X, y)
        with pytest.raises(ValueError, match="not the same as on the first call"):
            ElasticNetClassifier().partial_fit(X, y, [0, 1]).partial_fit(X, y, [0, 1, 2])
        with pytest.raises(ValueError, match="balanced"):
            ElasticNetClassifier(class_weight="balanced").partial_fit(X, y, [0, 1])
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            ElasticNetClassifier().fit(X, y, sample_weight=-np.ones(400))

    def test_no_probabilities(self, problem):
        X, y = problem
        model = ElasticNetClassifier(loss="hinge").fit(X, y)
        assert not hasattr(model, "predict_proba")
        assert hasattr(ElasticNetClassifier(loss="modified_huber").fit(X, y), "predict_proba")
