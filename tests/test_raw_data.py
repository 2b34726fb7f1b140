"""Raw numbers, and nothing tuned: no method does worse than always predicting the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import riata
from tests.data import DATA

Floats = NDArray[np.float64]
SCALES = np.array([1e-4, 6e4, 1.0, 300.0, 1e-2, 5e3])

CLASSIFIERS: dict[str, Callable[..., Any]] = {
    "auto": riata.AutoClassifier,
    "elastic-net": riata.ElasticNetClassifier,
    "truncated": riata.TruncatedGradientClassifier,
    "ftrl": riata.FTRLClassifier,
    "bayesian": partial(riata.BayesianClassifier, feature_scale="rms"),  # not its default
}
REGRESSORS: dict[str, Callable[..., Any]] = {
    "auto": riata.AutoRegressor,
    "bayesian": riata.BayesianRegressor,
    "elastic-net": riata.ElasticNetRegressor,
    "truncated": riata.TruncatedGradientRegressor,
}


def numbers(seed: int) -> Floats:
    """Columns of quite different units and shapes, some far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 6))
    X[:, 1] = np.exp(X[:, 1])
    X[:, 3] += 5
    X[:, 4] = rng.poisson(2, 2000)
    return np.asarray(X * SCALES)


def made_classes(seed: int) -> tuple[Floats, NDArray[Any]]:
    X = numbers(seed)
    rng = np.random.default_rng(100 + seed)
    z = (X / SCALES) @ np.array([1.0, -0.7, 0.5, 0.0, 0.3, 0.0]) - 0.5
    return X, rng.random(len(X)) < 1 / (1 + np.exp(-z))


def noise(seed: int) -> tuple[Floats, NDArray[Any]]:
    """Nothing to learn but the share of the classes."""
    return numbers(seed), np.random.default_rng(200 + seed).random(2000) < 0.2


def spambase() -> tuple[Floats, NDArray[Any]]:
    path = DATA / "uci/spambase.data"
    if not path.exists():
        pytest.skip("uci/spambase.data is not under $RIATA_DATA")
    table = np.loadtxt(path, delimiter=",")
    table = table[np.random.default_rng(0).permutation(len(table))]
    return table[:, :-1], table[:, -1] > 0


def wdbc() -> tuple[Floats, NDArray[Any]]:
    path = DATA / "uci/wdbc.data"
    if not path.exists():
        pytest.skip("uci/wdbc.data is not under $RIATA_DATA")
    rows = [line.split(",") for line in path.read_text().split()]
    return np.array([row[2:] for row in rows], dtype=float), np.array([r[1] == "M" for r in rows])


CLASSES: dict[str, Callable[[], tuple[Floats, NDArray[Any]]]] = {
    "made": lambda: made_classes(0),
    "made again": lambda: made_classes(1),
    "noise": lambda: noise(0),
    "spambase": spambase,
    "wdbc": wdbc,
}


def of_constant(y: NDArray[Any]) -> float:
    """The log loss of the running share of labels, as a constant prediction that is learned on the way."""
    before = np.concatenate([[0.0], np.cumsum(y)[:-1]])
    p = (before + 0.5) / (np.arange(len(y)) + 1)
    return float(-np.mean(np.where(y, np.log(p), np.log1p(-p))))


@pytest.mark.parametrize("method", CLASSIFIERS)
@pytest.mark.parametrize("data", CLASSES)
def test_no_classifier_is_worse_than_a_constant(method: str, data: str) -> None:
    X, y = CLASSES[data]()
    model = CLASSIFIERS[method](passes=1, shuffle=False).fit(X, y)
    loss = model.model_.record.progressive_loss
    slack = 1.05 if data == "noise" else 1.0  # nothing can be better than the constant there
    assert loss < slack * of_constant(y), (method, data)


@pytest.mark.parametrize("method", REGRESSORS)
@pytest.mark.parametrize("unit", [1e-4, 1.0, 6e4])
@pytest.mark.parametrize("origin", [0.0, 1e3])
def test_no_regressor_is_worse_than_a_constant(method: str, unit: float, origin: float) -> None:
    X = numbers(3)
    rng = np.random.default_rng(4)
    truth = (X / SCALES) @ np.array([1.0, -0.7, 0.5, 0.0, 0.3, 0.0])
    y = unit * (truth + rng.normal(size=len(X)) + origin)
    model = REGRESSORS[method](passes=1, shuffle=False).fit(X[:1500], y[:1500])
    rest = model.predict(X[1500:]) - y[1500:]
    assert np.mean(rest**2) < 0.8 * np.var(y[1500:]), (method, unit, origin)


@pytest.mark.parametrize("method", [*CLASSIFIERS, "sketch"])
@pytest.mark.parametrize("data", [name for name in CLASSES if name != "noise"])
def test_fit_is_better_than_a_constant_on_rows_held_out(method: str, data: str) -> None:
    more = {"sketch": riata.SketchClassifier}
    X, y = CLASSES[data]()
    cut = len(y) * 3 // 4
    model = (CLASSIFIERS | more)[method]().fit(X[:cut], y[:cut])
    p = np.clip(model.predict_proba(X[cut:])[:, 1], 1e-12, 1 - 1e-12)
    share = y[cut:].mean()
    constant = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert -np.mean(np.where(y[cut:], np.log(p), np.log(1 - p))) < constant
