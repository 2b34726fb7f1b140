"""Frames with numbers, names, texts and dates, in every estimator and what scikit-learn does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

import riata

RNG = np.random.default_rng(3)
N = 240
FRAME = pd.DataFrame(
    {
        "price": RNG.normal(50, 20, N),
        "city": RNG.choice(["Rome", "Oslo", "Lima"], N),
        "open": RNG.random(N) < 0.5,
        "note": [
            f"{w} offer number {i} for you" for i, w in enumerate(RNG.choice(["free", "dull"], N))
        ],
    }
)
CODE = (
    (FRAME["price"] > 50).astype(int)
    + (FRAME["city"] == "Rome") * 2
    + FRAME["note"].str.startswith("free")
)
Y = np.where(CODE >= 2, "yes", "no")
SIZES = FRAME["price"] / 10 + 3.0 * (FRAME["city"] == "Rome")
SPLIT = 180

CLASSIFIERS = [
    riata.AutoClassifier,
    riata.BayesianClassifier,
    riata.ElasticNetClassifier,
    riata.FTRLClassifier,
    riata.InteriorPointClassifier,
    riata.SketchClassifier,
    riata.TruncatedGradientClassifier,
]
REGRESSORS = [
    getattr(riata, c.__name__.replace("Classifier", "Regressor"), None) for c in CLASSIFIERS
]
REGRESSORS = [regressor for regressor in REGRESSORS if regressor is not None]
FRAMES = {"pandas": lambda f: f, "polars": pl.from_pandas}

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("form", FRAMES)
@pytest.mark.parametrize("make", CLASSIFIERS, ids=lambda c: c.__name__)
def test_classifiers(make: Any, form: str, tmp_path: Any) -> None:
    put = FRAMES[form]
    train, test = put(FRAME[:SPLIT]), put(FRAME[SPLIT:].reset_index(drop=True))
    model = make().fit(train, Y[:SPLIT])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(test, Y[SPLIT:]) > 0.6
    assert set(model.predict(test)) <= {"no", "yes"}
    assert model.predict_proba(test).shape == (N - SPLIT, 2)
    assert model.feature_names_in_.tolist() == list(FRAME.columns)
    assert model.n_features_in_ == 4
    names = model.get_feature_names_out()
    assert "price" in names
    assert len(names) == model.coef_.shape[1]
    assert "city=Rome" in model.named_coef_
    assert any(name.startswith("note^") for name in model.named_coef_)
    if hasattr(model, "named_coef_std_"):
        assert set(model.named_coef_std_) >= {"price", "city=Rome"}
        assert all(value > 0 for value in model.named_coef_std_.values())
    single = [model.predict_one(row) for row in FRAME[SPLIT:].to_dict("records")]
    assert single == model.predict(test).tolist()
    model.save(tmp_path / "m.riata")
    loaded = riata.load(tmp_path / "m.riata")
    np.testing.assert_array_equal(loaded.predict_proba(test), model.predict_proba(test))


@pytest.mark.parametrize("form", FRAMES)
@pytest.mark.parametrize("make", REGRESSORS, ids=lambda c: c.__name__)
def test_regressors(make: Any, form: str) -> None:
    put = FRAMES[form]
    train, test = put(FRAME[:SPLIT]), put(FRAME[SPLIT:].reset_index(drop=True))
    model = make().fit(train, SIZES[:SPLIT].to_numpy())
    assert model.predict(test).shape == (N - SPLIT,)
    assert model.score(test, SIZES[SPLIT:].to_numpy()) > 0
    single = [model.predict_one(row) for row in FRAME[SPLIT:].to_dict("records")]
    np.testing.assert_allclose(single, model.predict(test), rtol=1e-12)


@pytest.mark.parametrize("make", CLASSIFIERS, ids=lambda c: c.__name__)
def test_partial_fit_goes_on_with_frames(make: Any) -> None:
    if not hasattr(make(), "partial_fit"):
        pytest.skip("learns in several passes of its own")
    model = make().partial_fit(FRAME[:90], Y[:90], classes=["no", "yes"])
    model.partial_fit(pl.from_pandas(FRAME[90:SPLIT].reset_index(drop=True)), Y[90:SPLIT])
    assert model.score(FRAME[SPLIT:], Y[SPLIT:]) > 0.6
    with pytest.raises(ValueError, match="city"):
        model.partial_fit(FRAME[:9].drop(columns="city"), Y[:9])


@pytest.mark.parametrize("make", CLASSIFIERS, ids=lambda c: c.__name__)
def test_pipelines_and_folds(make: Any) -> None:
    scores = cross_val_score(make(), FRAME, Y, cv=3)
    assert len(scores) == 3
    assert min(scores) > 0.5
    same = FunctionTransformer(lambda frame: frame.assign(price=frame["price"] / 10))
    piped = make_pipeline(same, make()).fit(FRAME[:SPLIT], Y[:SPLIT])
    assert isinstance(piped, Pipeline)
    assert piped.score(FRAME[SPLIT:], Y[SPLIT:]) > 0.6
    assert clone(piped)[-1].get_params() == piped[-1].get_params()


def test_a_search_over_frames() -> None:
    search = GridSearchCV(riata.FTRLClassifier(), {"alpha": [0.05, 0.5]}, cv=3).fit(FRAME, Y)
    assert search.best_estimator_.feature_names_in_.tolist() == list(FRAME.columns)
    assert search.score(FRAME, Y) > 0.7


@pytest.mark.parametrize("make", CLASSIFIERS, ids=lambda c: c.__name__)
def test_the_label_may_be_a_column(make: Any) -> None:
    both = FRAME.assign(bought=Y)
    named = make().fit(both, label="bought")
    apart = make().fit(FRAME, Y)
    np.testing.assert_array_equal(named.predict_proba(FRAME), apart.predict_proba(FRAME))
    assert named.score(both) == pytest.approx(apart.score(FRAME, Y))


@pytest.mark.parametrize("make", [*CLASSIFIERS, *REGRESSORS], ids=lambda c: c.__name__)
def test_dicts_with_labels_beside_them_are_the_frame(make: Any) -> None:
    rows = FRAME.to_dict("records")
    labels = SIZES.to_numpy() if make in REGRESSORS else Y
    of_frame, of_dicts = (make().fit(X, labels) for X in (FRAME, rows))
    np.testing.assert_array_equal(of_frame.predict(FRAME), of_dicts.predict(rows))
    assert of_dicts.predict_one(rows[0]) == of_dicts.predict(rows[:1])[0]
    if make is not riata.SketchClassifier:
        more = {"classes": np.unique(Y)} if make in CLASSIFIERS else {}
        parts = make().partial_fit(rows[:90], labels[:90], **more)
        parts.partial_fit(rows[90:], labels[90:])
        assert parts.t_ == N
    with pytest.raises(ValueError, match="inconsistent numbers"):
        make().fit(rows, labels[:3])
