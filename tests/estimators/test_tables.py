"""Frames, files and dicts where scikit-learn has matrices."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import riata
from riata.errors import DataError
from tests.cli.helpers import riata as run

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

CLASSIFIERS = [
    riata.AutoClassifier(),
    riata.ElasticNetClassifier(),
    riata.TruncatedGradientClassifier(),
    riata.FTRLClassifier(),
    riata.BayesianClassifier(),
    riata.SketchClassifier(),
    riata.InteriorPointClassifier(),
]


def frame(n: int = 300, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "len": rng.normal(size=n).round(3),
            "hour": rng.integers(0, 4, n),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n),
        }
    )
    score = made["len"] + 2 * (made["city"] == "Rome") - (made["hour"] == 2)
    made["y"] = np.where(score + rng.normal(size=n) > 0.5, "yes", "no")
    return made


FEATURES = ["len", "hour", "city"]
READING: dict[str, Any] = {"label": "y", "ignore": ["id"], "categorical": ["hour"]}


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_every_family_fits_a_frame(tmp_path: Path, model: Any) -> None:
    data, test = frame(), frame(80, 1)
    model = clone(model).fit(data[FEATURES], data["y"])
    assert model.feature_names_in_.tolist() == FEATURES
    assert model.n_features_in_ == 3
    assert model.score(test[FEATURES], test["y"]) > 0.65
    assert {"city=Rome", "len"} <= set(model.named_coef_)
    names = model.get_feature_names_out().tolist()
    assert names[:2] == ["len", "hour"]
    assert model.coef_.shape == (1, len(names))
    by_name = dict(zip(names, model.coef_[0].tolist(), strict=True))
    assert {k: v for k, v in by_name.items() if v} == {
        k: v for k, v in model.named_coef_.items() if v
    }
    model.save(tmp_path / "m")
    again = riata.load(tmp_path / "m")
    assert again.feature_names_in_.tolist() == FEATURES
    expected = model.predict_proba(test[FEATURES])
    np.testing.assert_array_equal(again.predict_proba(test[FEATURES]), expected)
    test.drop(columns=["id"]).to_csv(tmp_path / "te.csv", index=False)
    lines = run("predict", tmp_path / "m", tmp_path / "te.csv", "--proba").lines
    np.testing.assert_array_equal(np.array(lines, float), expected[:, 1])


def test_every_way_to_give_it(tmp_path: Path) -> None:
    """fit and learn, with the label in the frame, and predictions of whatever holds the rows."""
    data, test = frame(), frame(80, 1)
    data.to_csv(tmp_path / "d.csv", index=False)
    test.to_csv(tmp_path / "te.csv", index=False)
    test.to_parquet(tmp_path / "te.parquet")
    test.to_json(tmp_path / "te.jsonl", orient="records", lines=True)
    one = riata.FTRLClassifier().learn(data, **READING)
    assert one.model_.schema.of_role("label") == "y"
    same = [
        riata.FTRLClassifier().learn(tmp_path / "d.csv", **READING),
        riata.FTRLClassifier().learn(pa.Table.from_pandas(data), **READING),
        riata.FTRLClassifier().learn(data.to_dict("records"), **READING),
        riata.FTRLClassifier(passes=1, shuffle=False).fit(data, **READING),
        riata.FTRLClassifier(passes=1, shuffle=False).fit(tmp_path / "d.csv", **READING),
        riata.FTRLClassifier(passes=1, shuffle=False).fit(
            data[FEATURES], data["y"], categorical=["hour"]
        ),
    ]
    expected = one.predict_proba(test)
    forms: list[Any] = [
        *(test, test[FEATURES], pa.Table.from_pandas(test), test.to_dict("records")),
        *(tmp_path / "te.csv", str(tmp_path / "te.parquet"), [tmp_path / "te.jsonl"]),
    ]
    for model in [one, *same]:
        assert model.named_coef_ == one.named_coef_
        for form in forms[1:2] if model is same[-1] else forms:
            np.testing.assert_array_equal(model.predict_proba(form), expected)
            assert model.predict(form).tolist() == one.predict(test).tolist()
            assert len(model.decision_function(form)) == 80
    share = one.score(test[FEATURES], test["y"])
    assert one.score(tmp_path / "te.csv") == one.score(test) == pytest.approx(share)
    source = riata.open_source(tmp_path / "te.csv", schema=one.model_.schema, labelled=False)
    np.testing.assert_array_equal(one.predict_proba(source), expected)


def test_partial_fit_goes_on(tmp_path: Path) -> None:
    data = frame()
    whole = riata.FTRLClassifier(passes=1, shuffle=False).fit(data[FEATURES], data["y"])
    model = riata.FTRLClassifier()
    model.partial_fit(data[FEATURES], data["y"], classes=["no", "yes"])
    assert model.named_coef_ == whole.named_coef_
    schema = model.model_.schema
    for part in (frame(50, 5), frame(70, 6)):
        model.partial_fit(part[FEATURES], part["y"])
        whole.partial_fit(part[FEATURES], part["y"])
    assert model.named_coef_ == whole.named_coef_
    assert model.t_ == 420
    assert model.model_.schema == schema
    with pytest.raises(ValueError, match="names"):
        model.partial_fit(np.eye(3), ["no", "yes", "no"])
    with pytest.raises(ValueError, match="should match those that were passed during fit"):
        model.partial_fit(data[["len", "hour"]], data["y"])


def test_regression(tmp_path: Path) -> None:
    data = frame()
    target = data["len"] * 2 + (data["city"] == "Rome")
    model = riata.ElasticNetRegressor(passes=20).fit(data[FEATURES], target)
    assert model.score(data[FEATURES], target) > 0.9
    assert model.coef_.shape == (len(model.get_feature_names_out()),)
    labelled = data.drop(columns=["y", "id"]).assign(t=target)
    again = riata.ElasticNetRegressor(passes=20).fit(labelled, label="t")
    np.testing.assert_array_equal(again.predict(labelled), model.predict(data[FEATURES]))
    assert again.score(labelled) == pytest.approx(model.score(data[FEATURES], target), abs=1e-6)


def test_scikit_learn_around_it() -> None:
    data = frame()
    model = riata.FTRLClassifier()
    assert cross_val_score(model, data[FEATURES], data["y"], cv=3).mean() > 0.7
    piped = make_pipeline(riata.FTRLClassifier())
    piped.fit(data[FEATURES], data["y"])
    assert piped.score(data[FEATURES], data["y"]) > 0.7
    polars = pytest.importorskip("polars")
    other = riata.FTRLClassifier().fit(polars.from_pandas(data[FEATURES]), data["y"])
    assert other.named_coef_ == model.fit(data[FEATURES], data["y"]).named_coef_


def test_bounds_and_priors_by_name() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(800, 4)), columns=["a1", "a2", "a3", "a4"])
    y = X @ [1.0, -1.0, 2.0, 0.0] > 0
    free = riata.InteriorPointClassifier().fit(X, y)
    bound = riata.InteriorPointClassifier(bounds={"a3": (-2, 0)}).fit(X, y)
    assert free.named_coef_["a3"] > 0.5
    assert -2 <= bound.named_coef_.get("a3", 0.0) <= 1e-6
    plain = riata.BayesianClassifier(prior_variance=1.0).fit(X, y)
    held = riata.BayesianClassifier(prior_variance={"a3": 1e-6, "*": 1.0}).fit(X, y)
    assert plain.named_coef_["a3"] > 0.5
    assert abs(held.named_coef_["a3"]) < 0.01
    assert held.named_coef_std_["a3"] < plain.named_coef_std_["a3"]


@pytest.mark.parametrize("classes", [2, 3])
def test_samples_of_named_weights(classes: int) -> None:
    data = frame()
    y = data["y"] if classes == 2 else data["hour"] % 3
    model = riata.BayesianClassifier().fit(data[FEATURES], y)
    weights, intercepts = model.sample_coef(5)
    names = model.get_feature_names_out()
    middle = () if classes == 2 else (3,)
    assert weights.shape == (5, *middle, len(names))
    assert intercepts.shape == (5, *middle)
    assert model.coef_std_.shape == model.coef_.shape
    if classes == 2:
        far = np.abs(weights.mean(axis=0) - model.coef_[0]) > 6 * model.coef_std_[0]
        assert not far.any()


def test_a_matrix_for_a_model_of_columns() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    model = riata.FTRLClassifier().fit(X, X["a"] > 0)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = model.predict_proba(X.to_numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(found, model.predict_proba(X))
    with pytest.raises(ValueError, match="knows its features by name"):
        model.predict(np.ones((2, 3)))
    data = frame()
    with pytest.raises(ValueError, match="knows its features by name"):
        riata.FTRLClassifier().fit(data[FEATURES], data["y"]).predict(np.ones((2, 3)))


def test_what_does_not_fit() -> None:
    data = frame()
    model = riata.FTRLClassifier().learn(data, **READING)
    with pytest.raises(DataError, match="column 'city' is missing"):
        model.predict(data[["len", "hour"]])
    with pytest.raises(DataError, match="'page' was not there before"):
        model.predict(data.assign(page=1))
    twice = data[["len", "hour", "city", "city"]]
    with pytest.raises(DataError, match="several columns are called 'city'"):
        model.predict(twice)
    with pytest.raises(DataError, match="several columns are called 'city'"):
        riata.FTRLClassifier().fit(twice, data["y"])
    with pytest.raises(DataError, match="expected a number, found x"):
        model.predict(data.assign(len="x"))
    with pytest.raises(ValueError, match="a column 'label', and y is given"):
        riata.FTRLClassifier().fit(data.rename(columns={"len": "label"}), data["y"])
    new = model.predict_proba(data.assign(city="Paris"))
    assert np.isfinite(new).all()
    gone = model.predict_proba(data.assign(len=np.nan))
    centre = model.model_.schema.by_name["len"].centre
    np.testing.assert_allclose(gone, model.predict_proba(data.assign(len=centre)), atol=1e-6)


def test_words_of_the_model_are_kept(tmp_path: Path) -> None:
    data = frame()
    model = riata.FTRLClassifier().fit(data[FEATURES], data["y"])
    model.save(tmp_path / "m")
    schema = json.loads(run("inspect", tmp_path / "m", "--json").out)["schema"]
    assert [c["name"] for c in schema["columns"]] == [*FEATURES, "y"]
    assert "label: y" in run("inspect", tmp_path / "m").out
