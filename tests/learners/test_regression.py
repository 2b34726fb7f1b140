"""Bayesian regressions: against the reference, whatever the units, and never out of range."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import arff
from sklearn.linear_model import Ridge

import riata
from riata import AutoRegressor, BayesianRegressor
from riata.learners import AutoRegression, BayesianRegression
from riata.reference.regression import Regressions
from riata.sources import open_source
from tests.cli.helpers import riata as command
from tests.data import DATA

Floats = NDArray[np.float64]


def problem(n: int = 300, d: int = 12, seed: int = 0) -> tuple[Any, Floats, Floats]:
    """A sparse matrix, labels with outliers, and weights of examples."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.4, format="csr", random_state=rng, dtype=np.float32)
    X.data[:] = rng.normal(size=X.nnz) * 3
    w = rng.normal(size=d)
    y = X @ w + 7 + rng.normal(size=n)
    y[::37] += 40
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], n)


def learners() -> list[Any]:
    return [
        AutoRegression(),
        BayesianRegression(),
        BayesianRegression(prior_variance=0.3, feature_scale="none", fit_intercept=False),
        BayesianRegression(freedom=4.0),
    ]


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
@pytest.mark.parametrize("which", range(4))
def test_agrees_with_the_reference(which: int, store: str) -> None:
    X, y, weights = problem()
    like = learners()[which]
    learner = type(like)(**like.parameters() | {"store": store, "bits": 18})
    reference = Regressions(
        list(learner.settings),
        X.shape[1],
        fit_intercept=like.fit_intercept,
        joint=learner.joint_priors,
    )
    block = next(iter(open_source(X, y))).with_labels(y, weights)
    scores = learner.learn(block)[:, 0]
    expected = []
    for row, label, weight in zip(X.toarray().astype(float), y, weights, strict=True):
        if weight > 0:
            expected.append(reference.learn(row, label, weight))
        else:
            reference.t += 1
    np.testing.assert_allclose(scores[weights > 0], expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        learner._core.snapshot(rows=False)["weights"], reference.weights, rtol=1e-3, atol=1e-6
    )


@pytest.mark.parametrize("make", [AutoRegression, BayesianRegression])
def test_same_bits_however_it_is_cut(make: Any) -> None:
    X, y, weights = problem()
    block = next(iter(open_source(X, y))).with_labels(y, weights)
    whole, parts = make(), make(store="table")
    scores = whole.learn(block)
    pieces = [parts.learn(block[a : a + 70]) for a in range(0, 300, 70)]
    assert np.array_equal(scores, np.vstack(pieces))
    again = pickle.loads(pickle.dumps(whole))
    assert np.array_equal(again.learn(block), whole.learn(block))
    one = make()
    one.learn(block, np.arange(300)[::-1].copy())
    turned = make()
    turned.learn(block.take(np.arange(300)[::-1]))
    assert {k: v.tobytes() for k, v in one.state().items()} == {
        k: v.tobytes() for k, v in turned.state().items()
    }


def test_units_do_not_matter() -> None:
    X, y, _ = problem()
    units = 2.0 ** np.arange(-6, 6)  # powers of two are exact
    model = BayesianRegressor(shuffle=False).fit(X, y)
    other = BayesianRegressor(shuffle=False).fit(X.multiply(units).tocsr(), 1024 * y)
    np.testing.assert_allclose(
        other.predict(X.multiply(units).tocsr()), 1024 * model.predict(X), rtol=1e-9
    )
    np.testing.assert_allclose(other.coef_ * units, 1024 * model.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "labels",
    [
        lambda x: 0 * x,
        lambda x: 0 * x + 1e300,
        lambda x: 1e-300 * x,
        lambda x: np.where(np.arange(len(x)) % 50 == 0, 1e250, x),
        lambda x: 1e9 + x,
    ],
)
@pytest.mark.parametrize("values", [1e-30, 1.0, 1e30])
def test_nothing_diverges(labels: Any, values: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1, values, 1]
    y = labels(X[:, 0] - X[:, 2])
    model = AutoRegressor().fit(X, y)
    mean, deviation = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(deviation).all()


def test_outliers_count_for_little() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    w = np.array([1.0, -2, 3, 0, 0.5])
    y = X @ w + rng.normal(size=2000)
    y += np.where(rng.random(2000) < 0.05, rng.choice([-300, 300], 2000), 0)
    gaussian = BayesianRegressor(random_state=0).fit(X, y)
    student = BayesianRegressor(freedom=4.0, random_state=0).fit(X, y)
    auto = AutoRegressor(random_state=0).fit(X, y)
    off = [np.abs(model.coef_ - w).max() for model in (student, auto, gaussian)]
    assert off[0] < 0.15
    assert off[1] < off[2]


def table(name: str) -> tuple[Floats, Floats]:
    path = DATA / "uci" / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    data, meta = arff.loadarff(path)
    columns = [
        data[c].astype(float) if meta[c][0] == "numeric" else np.unique(data[c], return_inverse=True)[1]
        for c in meta.names()
    ]  # fmt: skip
    found = np.array(columns, dtype=float).T
    found = found[~np.isnan(found).any(axis=1)]
    found = found[np.random.default_rng(0).permutation(len(found))]
    return found[:, :-1], found[:, -1]


@pytest.mark.parametrize("name", ["housing.arff", "magic.arff", "breast.w.arff"])
def test_as_good_as_ridge_after_one_pass(name: str) -> None:
    X, y = table(name)
    n = len(y) * 4 // 5
    centre, scale = X[:1000].mean(axis=0), X[:1000].std(axis=0)
    X = (X - centre) / np.where(scale > 0, scale, 1)
    ridge = Ridge().fit(X[:n], y[:n]).score(X[n:], y[n:])
    assert AutoRegressor(random_state=0).fit(X[:n], y[:n]).score(X[n:], y[n:]) > ridge - 0.006


def test_from_the_command_line_and_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = rng.normal(size=400)
    rows = [f"{20 + 3 * x + rng.normal():.3f},{x},{'ab'[i % 2]}" for i, x in enumerate(sizes)]
    (tmp_path / "d.csv").write_text("\n".join(["price,size,kind", *rows]) + "\n")
    words = ("--label", "price", "--loss", "squared", "--holdout", tmp_path / "d.csv")
    done = command("train", tmp_path / "d.csv", "-o", tmp_path / "m", *words)
    assert "WORSE" not in done.out
    model = riata.load(tmp_path / "m")
    assert isinstance(model, AutoRegressor)
    assert model.score(str(tmp_path / "d.csv")) > 0.8
    assert model.predict_one({"size": 1.0, "kind": "a"}) == pytest.approx(23, abs=0.5)
    predicted = command("predict", tmp_path / "m", tmp_path / "d.csv").lines
    assert float(predicted[0]) == pytest.approx(model.predict(str(tmp_path / "d.csv"))[0])
    assert "auto-regression" in command("inspect", tmp_path / "m").out
    words = ("--label", "price", "--method", "bayesian", "--loss", "squared", "--freedom", 4, "-q")
    command("train", tmp_path / "d.csv", "-o", tmp_path / "b", *words)
    assert isinstance(riata.load(tmp_path / "b"), BayesianRegressor)
    go_on = ("-o", tmp_path / "m", "--initial", tmp_path / "m", "-q")
    command("train", tmp_path / "d.csv", *go_on)
    assert riata.load(tmp_path / "m").t_ == 800


def noisy(kind: str, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 8))
    if kind == "correlated":
        X += 2 * rng.normal(size=(4000, 1))
    w = rng.normal(size=8)
    noise = rng.standard_t(4, 4000) if kind == "heavy tails" else rng.normal(size=4000)
    return X * 10.0 ** np.arange(-4, 4), X @ w + 50 + 0.1 * noise


@pytest.mark.parametrize("make", [AutoRegressor, BayesianRegressor])
@pytest.mark.parametrize("kind", ["plain", "correlated", "heavy tails"])
def test_intervals_hold_as_many_labels_as_they_should(make: Any, kind: str) -> None:
    X, y = noisy(kind)
    model = make(random_state=0).fit(X[:2000], y[:2000])
    mean, deviation = model.predict(X[2000:], return_std=True)
    inside = np.abs(y[2000:] - mean) < 1.645 * deviation
    assert (
        0.87 < inside.mean() < 0.945
    )  # three deviations of the count, and the tails of Student's t
    assert deviation.mean() == pytest.approx(np.sqrt(np.mean((y[2000:] - mean) ** 2)), rel=0.15)


def test_two_values_as_labels_are_no_outliers_of_each_other() -> None:
    """Student's t would fit the more frequent value exactly, and take the other for noise."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(600, 9)) + 0.5
        y = (X.sum(axis=1) + rng.normal(size=600) > 6).astype(float)
        score = AutoRegressor(shuffle=False).fit(X[:480], y[:480]).score(X[480:], y[480:])
        assert score > Ridge().fit(X[:480], y[:480]).score(X[480:], y[480:]) - 0.06
