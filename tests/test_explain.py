"""Scores taken apart: the parts are what they are called, and add up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import riata
from riata import _core
from riata.explain import Explainer
from riata.show import html_text, printable
from tests.explained import AVERAGES, EVIL, NAMES, N, learned


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_parts_add_up_to_the_score(name: str, classes: int) -> None:
    model, rows = learned(name, classes)
    found = model.explain(rows)
    scores = model.decision_function(rows).reshape(N, -1)
    assert np.array_equal(found.scores, scores)
    assert len(found) == N
    for part in found._parts:
        assert np.allclose(part.sums(), part.scores, rtol=0, atol=1e-12)
        if name not in AVERAGES:  # there is nothing but the features
            assert not part.steps
    for one in found[:20]:
        assert one.total == pytest.approx(one.score, abs=1e-12)
        short = sum(t.contribution for t in one.terms)
        assert short + one.intercept + sum(one.steps.values()) == pytest.approx(
            one.score, abs=1e-12
        )
    if name not in ("of length one", "by their count", "pruned"):
        zero = model.explain(rows, origin="zero")
        for one in zero[:20]:
            assert one.total == pytest.approx(one.score, abs=1e-9)
            by_hand = [t for t in one.terms if t.feature in ("price", "year")]
            if name != "views":
                assert all(t.contribution == pytest.approx(t.value * t.weight) for t in by_hand)
        if "hashed" not in name:
            assert zero[0].intercept == pytest.approx(model.intercept_[_output(zero[0], model)])


def _output(one: Any, model: Any) -> int:
    return 0 if len(model.classes_) == 2 else list(model.classes_).index(one.target)


def _linear(model: Any, rows: pd.DataFrame, origin: str = "average") -> tuple[Any, Any]:
    """Intercept and features alone, and the Blocks."""
    explainer = Explainer(model.model_, origin)
    blocks = list(model._blocks(rows, names=True))
    parts = [explainer.of(block) for block in blocks]
    for part in parts:
        part.steps = {name: step for name, step in part.steps.items() if name == "missing numbers"}
    return np.concatenate([part.sums() for part in parts]), blocks


@pytest.mark.parametrize("name", ["bayesian", "one prior", "views", "bayesian hashed"])
def test_of_a_mixture_the_features_add_up_to_the_mean_of_its_score(name: str) -> None:
    model, rows = learned(name)
    linear, blocks = _linear(model, rows)
    learner: Any = model.model_.learner
    mean = np.concatenate([learner.moments(block)[0] for block in blocks])
    assert np.allclose(linear, mean, rtol=0, atol=1e-9)


def test_of_auto_from_zero_the_features_are_those_of_the_one_linear_model() -> None:
    model, rows = learned("auto")
    linear, blocks = _linear(model, rows, "zero")
    learner: Any = model.model_.learner
    keys, weights = learner.coef()
    by_key = dict(zip(keys.tolist(), weights[:, 0].tolist(), strict=True))
    wanted = [
        learner.intercept[0]
        + sum(
            by_key.get(int(block.indices[k]), 0.0) * float(block.values[k])
            for k in range(int(block.indptr[row]), int(block.indptr[row + 1]))
        )
        for block in blocks
        for row in range(len(block))
    ]
    assert np.allclose(linear[:, 0], wanted, rtol=0, atol=1e-6)


def test_auto_is_explained_with_the_length_of_each_row() -> None:
    """Texts of very different lengths: what is left to averaging is little, unlike with one length for all."""
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for _ in range(800):
        side = rng.integers(0, 2)
        count = rng.choice([3, 60])
        half = np.where(rng.random(count) < 0.8, side, 1 - side)
        texts.append(" ".join(f"w{20 * h + rng.integers(0, 20)}" for h in half))
        labels.append(str(side if rng.random() < 0.75 else 1 - side))  # no surer of a long text
    model = riata.AutoClassifier().learn(
        pd.DataFrame({"body": texts, "y": labels}), label="y", text=["body"]
    )
    learner: Any = model.model_.learner
    assert sum(m["weight"] for m in learner.members if m["values"].startswith("unit")) > 0.1
    rows = pd.DataFrame({"body": texts})
    left = {
        origin: np.abs(
            [one.steps["averaging"] for one in model.explain(rows, origin=origin)]
        ).mean()
        for origin in ("average", "zero")
    }
    assert left["average"] < 0.5 * left["zero"]


def test_what_auto_leaves_to_averaging_is_little_also_where_settings_are_very_sure() -> None:
    """Settings with wide priors and large rates are sure beyond measure of separable data; the average is not."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 600)
    texts = [" ".join(f"w{20 * y + k}" for k in rng.integers(0, 20, 12)) for y in labels]
    table = pd.DataFrame({"body": texts, "y": np.array(["no", "yes"])[labels]})
    model = riata.AutoClassifier().learn(table, label="y", text=["body"])
    rows = table.drop(columns="y")
    found, by_one_model = model.explain(rows), model.explain(rows, origin="zero")
    left, of_one_model = (
        np.mean([abs(one.steps["averaging"]) for one in each]) for each in (found, by_one_model)
    )
    assert left < 0.3 * np.mean([abs(one.score) for one in found])
    assert left < 0.25 * of_one_model
    assert all(one.terms[0].contribution > 0 for one in found if one.score > 3)


def test_deviations_of_features_that_stand_alone() -> None:
    """One feature a row and no intercept: its deviation is that of the score."""
    rng = np.random.default_rng(0)
    rows = [{"word": str(w)} for w in rng.choice(["a", "b", "c"], 200)]
    model = riata.BayesianClassifier(fit_intercept=False)
    for row in rows:
        model.learn_one(row, row["word"] == "a" or rng.random() < 0.3)
    found = model.explain([{"word": "a"}, {"word": "c"}, {"word": "unknown"}])
    for one in found[:2]:
        assert one.terms[0].std == pytest.approx(one.score_std)
        assert one.terms[0].std > 0
    assert found[2].terms == []
    assert found[2].n_unknown == 1
    assert found[2].score_std == pytest.approx(model._bayesian().prior_std()[0])


def test_full_covariance() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4))
    model = riata.BayesianClassifier(covariance="full", update="joint", prior_variance=1.0)
    model.fit(x, x[:, 0] + x[:, 1] > 0)
    found = model.explain(x[:10])
    mean, std = model.decision_function(x[:10], return_std=True)
    for one, m, s in zip(found, mean, std, strict=True):
        shown = one.intercept + sum(t.contribution for t in one.terms)
        assert shown == pytest.approx(m, abs=1e-9)
        assert one.score_std == pytest.approx(s)
        assert one.total == pytest.approx(one.score, abs=1e-12)


def test_regressions_offsets_and_clip(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(5, 2, 200), "off": rng.normal(0, 1, 200)})
    table["y"] = 2 * table.a + table.off
    model = riata.ElasticNetRegressor(clip=(4.0, 12.0))
    model.learn(table, label="y", offset="off")
    found = model.explain(table)
    for i in range(20):
        assert found[i].offset == pytest.approx(table.off[i], abs=1e-6)
        assert found[i].total == pytest.approx(found[i].score, abs=1e-9)
        assert found[i].target is None
    assert any(abs(one.steps["clip"]) > 0.1 for one in found)
    assert any(abs(one.steps["clip"]) < 1e-9 for one in found)


def test_every_form_of_rows_has_the_same_explanation(tmp_path: Path) -> None:
    model, rows = learned("ftrl")
    rows.to_csv(tmp_path / "d.csv", index=False)
    rows.to_json(tmp_path / "d.jsonl", orient="records", lines=True)
    rows.to_parquet(tmp_path / "d.parquet")
    model.save(tmp_path / "m.riata")
    expected = [one.contributions() for one in model.explain(rows)]
    for X in (tmp_path / "d.csv", tmp_path / "d.jsonl", tmp_path / "d.parquet"):
        found = riata.load(tmp_path / "m.riata").explain(X)
        for one, other in zip(found, expected, strict=True):
            assert one.contributions() == pytest.approx(other)
    event = dict(rows.iloc[0].items())
    assert model.explain(event).contributions() == pytest.approx(expected[0])
    assert model.explain([event])[0].contributions() == pytest.approx(expected[0])


def test_matrices_and_single_rows() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 4))
    model = riata.ElasticNetClassifier().fit(x, x[:, 0] > 0)
    one = model.explain(x[0])
    assert one.terms[0].feature in range(4)
    assert one.total == pytest.approx(model.decision_function(x[:1])[0])
    assert [t.contribution for t in one.terms] == pytest.approx(
        [float(np.float32(x[0, t.feature])) * model.coef_[0, t.feature] for t in one.terms]
    )


def test_the_class_that_is_explained() -> None:
    model, rows = learned("ftrl", 3)
    found = model.explain(rows, class_="very")
    at = list(model.classes_).index("very")
    assert [one.score for one in found] == model.decision_function(rows)[:, at].tolist()
    assert {one.target for one in found} == {"very"}
    predicted = model.explain(rows)
    assert [one.target for one in predicted] == model.predict(rows).tolist()
    assert predicted[0].probability == pytest.approx(model.predict_proba(rows)[0].max())
    with pytest.raises(ValueError, match="no class 'never'; the model knows no, very, yes"):
        model.explain(rows, class_="never")[0]
    two, rows = learned("ftrl")
    with pytest.raises(ValueError, match="one score, for 'yes'"):
        two.explain(rows, class_="no")[0]


def test_top_adds_up_the_others() -> None:
    model, rows = learned("elastic-net")
    whole, short = model.explain(rows), model.explain(rows, top=2)
    for one, other in zip(whole, short, strict=True):
        assert other.terms == one.terms[:2]
        assert other.n_others == max(0, len(one.terms) - 2)
        assert other.others == pytest.approx(sum(t.contribution for t in one.terms[2:]), abs=1e-12)
    sizes = [abs(t.contribution) for t in whole[0].terms]
    assert sizes == sorted(sizes, reverse=True)


def test_words_add_up_to_their_column() -> None:
    model, rows = learned("ftrl")
    for i in range(10):
        one = model.explain(rows)[i]
        words = [p.contribution for p in one.pieces()["body"] if p.contribution is not None]
        column = sum(t.contribution for t in one.terms if str(t.feature).startswith("body^"))
        assert sum(words) == pytest.approx(column, abs=1e-9)
        assert "".join(p.text for p in one.pieces()["body"]) == rows.body[i]


LONG = "x" * 60_000  # longer ones are refused


def test_names_are_shown_as_text() -> None:
    model = riata.FTRLClassifier()
    for _ in range(5):
        model.learn_one({"w": EVIL, LONG: 1.0}, EVIL)
        model.learn_one({"w": "ok"}, "ham")
    one = model.explain({"w": EVIL, LONG: 1.0})
    found = model.summary()
    for text in (str(one), str(found)):
        assert "\x1b" not in text
        assert "\\x1b[2J" in text
        assert "\u202e" not in text
        assert len(text) < 10_000
    for page in (one._repr_html_(), found._repr_html_(), model._repr_html_()):
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page
    assert json.loads(json.dumps(one.to_dict()))["class"] in (EVIL, "ham")


def test_ten_megabytes_are_cut_before_they_are_shown() -> None:
    assert len(printable("\x1b" * 10_000_000)) == 80
    assert len(html_text("<" * 10_000_000)) < 500


def test_an_explanation_reads_well() -> None:
    model = riata.ElasticNetClassifier(l1=0, l2=0)
    for _ in range(9):
        model.learn_one({"word": "lunch"}, "ham").learn_one({"word": "free", "n": 2.0}, "spam")
    one = model.explain({"word": "free", "n": 3.0, "other": "new"})
    text = str(one)
    assert text.startswith("row 0: spam")
    assert "n = 3" in text
    assert "word=free" in text
    assert "intercept" in text
    assert "1 feature without a weight" in text
    assert f"{one.score:+.4f}  = score" in text
    table = model.explain([{"word": "free"}] * 3).to_frame()
    assert set(table["kind"]) == {"feature", "intercept"}


def test_data_that_does_not_fit() -> None:
    model, rows = learned("ftrl")
    with pytest.raises(riata.DataError, match="price"):
        model.explain(rows.drop(columns="price"))
    with pytest.raises(ValueError, match="not one of 'average', 'zero'"):
        model.explain(rows, origin="median")
    with pytest.raises(ValueError, match="knows its features by name"):
        model.explain(np.zeros((2, 3)))


def test_the_strongest_entries() -> None:
    rng = np.random.default_rng(0)
    indptr = np.cumsum([0, *rng.integers(0, 9, 50)])
    sizes = rng.choice([-2.0, -1.0, 0.0, 1.0, 3.0], indptr[-1])
    starts, entries, live, total, shown = _core.strongest_entries(indptr, sizes, 3)
    for row in range(50):
        found = entries[starts[row] : starts[row + 1]].tolist()
        places = [k for k in range(indptr[row], indptr[row + 1]) if sizes[k] != 0]
        assert found == sorted(places, key=lambda k: (-abs(sizes[k]), k))[:3]
        assert live[row] == len(places)
        assert total[row] == sizes[places].sum()
        assert shown[row] == sizes[found].sum()
    with pytest.raises(ValueError, match="behind the entries"):
        _core.strongest_entries(np.array([0, 5]), np.zeros(3), 1)
    with pytest.raises(ValueError, match="falls"):
        _core.strongest_entries(np.array([0, 2, 1]), np.zeros(3), 1)


@pytest.mark.parametrize("spread", [1, 1000, 2**40])
def test_places_of_keys(spread: int) -> None:
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(0, 1 << 16, 500)) * spread
    places = _core.Places(keys)
    asked = np.concatenate([keys, keys + 1, [0, 2**62]]).astype(np.int64)
    expected = [int(np.flatnonzero(keys == key)[0]) if key in keys else -1 for key in asked]
    assert places.find(asked).tolist() == expected
    assert _core.Places(np.empty(0, dtype=np.int64)).find(asked).tolist() == [-1] * len(asked)
    with pytest.raises(ValueError, match="below zero"):
        _core.Places(np.array([-1]))


@pytest.mark.parametrize(
    "name", ["ftrl", "bayesian", "views", "hashed", "path", "online", "interior", "auto"]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_every_family_is_summed_up_and_compared(name: str, classes: int, tmp_path: Path) -> None:
    model, rows = learned(name, classes)
    found = model.summary(top=5)
    learner = model.model_.learner
    assert found["live_weights"] == np.count_nonzero(learner.coef()[1])
    assert found["family"] == learner.family
    assert found["constant_loss"] > 0
    assert json.loads(json.dumps(found.to_dict()))
    assert f"{learner.family}, classification" in str(found)
    assert "<table>" in found._repr_html_()
    sizes = [max(map(abs, entry["weights"])) for entry in found["strongest"]]
    assert len(sizes) == 5
    if name != "hashed":
        coef = model.named_coef_
        for entry in found["strongest"]:
            assert np.ravel(coef[entry["feature"]]).tolist() == pytest.approx(entry["weights"])
    model.save(tmp_path / "m")
    same = riata.diff(model, tmp_path / "m", rows)
    assert same["counts"] == {"gained": 0, "lost": 0, "moved": 0, "same": len(learner.coef()[0])}
    assert same["predictions"]["changed_decisions"] == 0
    assert "correlation 1.0000" in str(same)
    assert "<table>" in same._repr_html_()


def test_what_changed_is_named() -> None:
    model = riata.FTRLClassifier(l1=0.25, normalize="l2").fit(np.eye(4), [0, 1, 0, 1])
    assert model.summary()["changed"] == {"l1": 0.25, "normalize": "l2"}
    assert riata.ElasticNetRegressor().fit(np.eye(4), np.arange(4)).summary()["changed"] == {
        "loss": "squared"
    }
    model.partial_fit(np.eye(4), [0, 1, 0, 1])
    assert model.summary()["constant_loss"] == pytest.approx(np.log(2))
    with pytest.raises(ValueError, match="nothing to match"):
        model.summary(grep="a")
    with pytest.raises(TypeError, match="an estimator or the path of a file, not int"):
        riata.diff(model, 3)


def test_scaled_numbers_are_shown_as_they_stand_in_the_data() -> None:
    """Not as what 32 bits leave of them, 3.8e-09 for a zero."""
    rng = np.random.default_rng(0)
    given = [0.0, 1.0, 17.25, -3.0, 88.5, 0.01]
    rows = [
        {"a": x, "b": bool(rng.random() < 0.4), "y": int(rng.random() < 0.5)} for x in given * 9
    ]
    model = riata.FTRLClassifier().learn(rows, label="y")
    assert model.model_.schema.by_name["a"].scale != 1
    for row, explained in zip(rows, model.explain(rows), strict=True):
        shown = {term.feature: term.value for term in explained.terms}
        assert shown == {"a": row["a"], "b": row["b"]}
