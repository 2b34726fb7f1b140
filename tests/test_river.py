"""Riata's estimators inside river."""

from __future__ import annotations

import pytest

river = pytest.importorskip("river")

from river import compose, datasets, evaluate, metrics, preprocessing  # noqa: E402

import riata  # noqa: E402
from riata.estimators import ESTIMATORS  # noqa: E402
from riata.river import Classifier, Regressor  # noqa: E402


@pytest.mark.parametrize(
    "make", [e for e in ESTIMATORS if hasattr(e, "predict_proba_one") and hasattr(e(), "learn_one")]
)
def test_progressive_validation_of_classifiers(make):
    model = Classifier(make())
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.LogLoss()).get()
    assert score < 0.5


def test_multi_class_in_a_pipeline():
    model = compose.Pipeline(
        preprocessing.StandardScaler(), Classifier(riata.ElasticNetClassifier(eta0=0.2))
    )
    data = datasets.ImageSegments().take(800)
    assert evaluate.progressive_val_score(data, model, metrics.Accuracy()).get() > 0.7


@pytest.mark.parametrize("make", [e for e in ESTIMATORS if not hasattr(e, "predict_proba_one")])
def test_progressive_validation_of_regressors(make):
    rates = {"eta0": 0.05, "alpha": 1.0}
    if make is riata.InteriorPointRegressor:  # a rate a feature: another scale
        rates["eta0"] = 5.0
    rate = {name: value for name, value in rates.items() if hasattr(make(), name)}
    model = compose.Pipeline(preprocessing.StandardScaler(), Regressor(make(**rate)))
    score = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE()).get()
    assert score < 10


def test_a_clone_has_learned_nothing():
    model = Classifier(riata.FTRLClassifier(alpha=0.3))
    model.learn_one({"a": 1.0}, True)
    fresh = model.clone()
    assert fresh.estimator.alpha == 0.3
    assert fresh.predict_one({"a": 1.0}) is None
    assert model.predict_one({"a": 1.0}) is True
