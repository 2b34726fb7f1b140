"""What somebody does with model and data that disagree: each once went wrong without a word."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import riata
from riata import DataError, open_source
from riata.errors import ModelError
from tests.cli.helpers import riata as cli
from tests.cli.helpers import riata_process

RNG = np.random.default_rng(5)
ROWS = [
    {
        "id": i,
        "hour": int(RNG.integers(0, 24)),
        "len": float(RNG.integers(1, 99)),
        "city": "Rome" if RNG.random() < 0.5 else "Oslo",
    }
    for i in range(300)
]
for row in ROWS:
    row["click"] = int(row["hour"] in (9, 17, 20) or (row["city"] == "Rome" and row["len"] > 60))  # type: ignore[operator]


def write(folder: Path, form: str, rows: list[dict[str, Any]] = ROWS) -> Path:
    path = folder / f"x.{form}"
    if form == "csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    elif form == "parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


COLUMNS = ("--label", "click", "--categorical", "hour", "--ignore", "id")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("other", ["csv", "jsonl", "parquet"])
def test_options_are_said_once(tmp_path: Path, form: str, other: str) -> None:
    """Dicts are read as tables are; JSON lines forget nothing; the label is not asked for again."""
    model = tmp_path / "m.riata"
    cli("train", write(tmp_path, form), "-o", model, "--quiet", *COLUMNS)
    data = write(tmp_path, other)
    cli("predict", model, data, "-o", tmp_path / "p.csv")
    table = pd.read_csv(tmp_path / "p.csv")["probability_1"]
    loaded = riata.load(model)
    single = [loaded.predict_proba_one(row)[1] for row in ROWS]
    np.testing.assert_allclose(single, table, rtol=1e-6)
    again = json.loads(cli("evaluate", model, data, "--json").out)
    first = json.loads(cli("evaluate", model, write(tmp_path, form), "--json").out)
    assert again["log_loss"] == first["log_loss"]


def test_names_and_numbers_are_refused(tmp_path: Path) -> None:
    cli("train", write(tmp_path, "csv"), "-o", tmp_path / "m.riata", "--quiet", *COLUMNS)
    (tmp_path / "x.svm").write_text("1 1:2 3:1\n0 2:1\n" * 20)
    assert (
        "numbered features" in cli("predict", tmp_path / "m.riata", tmp_path / "x.svm", code=1).err
    )
    cli("train", tmp_path / "x.svm", "-o", tmp_path / "n.riata", "--quiet")
    assert (
        "features with names"
        in cli("predict", tmp_path / "n.riata", write(tmp_path, "csv"), code=1).err
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_and_a_file(tmp_path: Path, frame: Any) -> None:
    table, y = frame(ROWS)[["hour", "len"]], np.array([row["click"] for row in ROWS])
    model = riata.ElasticNetClassifier().fit(table, y)
    model.save(tmp_path / "m.riata")
    loaded = riata.load(tmp_path / "m.riata")
    assert loaded.feature_names_in_.tolist() == ["hour", "len"]
    pd.DataFrame(ROWS)[["hour", "len"]].to_csv(tmp_path / "te.csv", index=False)
    lines = cli("predict", tmp_path / "m.riata", tmp_path / "te.csv", "--proba").out.split()
    np.testing.assert_allclose([float(line) for line in lines], model.predict_proba(table)[:, 1])


def test_bounds_and_priors_by_name() -> None:
    frame = pd.DataFrame(RNG.normal(size=(300, 3)), columns=["a1", "a2", "a3"])
    y = (frame["a3"] + frame["a1"] > 0).to_numpy()
    bounded = riata.InteriorPointClassifier(bounds={"a3": (-2, 0)}).fit(frame, y)
    assert bounded.named_coef_.get("a3", 0.0) <= 1e-9
    prior = riata.BayesianClassifier(prior_variance={"a3": 1e-6, "*": 1.0}).fit(frame, y)
    assert abs(prior.named_coef_["a3"]) < 0.05 < abs(prior.named_coef_["a1"])


def test_svmlight_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.svm").write_text("1 5:1\n0 2:1\n" * 50)
    cli("train", tmp_path / "x.svm", "-o", tmp_path / "m.riata", "--quiet")
    shown = json.loads(cli("inspect", tmp_path / "m.riata", "--json").out)["strongest"]
    assert {str(entry["feature"]) for entry in shown} == {"5", "2"}


def test_labels_that_are_words(tmp_path: Path) -> None:
    frame = pd.DataFrame({"links": [0, 5, 1, 7] * 30})
    model = riata.FTRLClassifier().fit(frame, ["ham", "spam"] * 60)
    model.save(tmp_path / "m.riata")
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert set(cli("predict", tmp_path / "m.riata", tmp_path / "x.csv").out.split()) == {
        "ham",
        "spam",
    }
    assert "ham, spam" in cli("inspect", tmp_path / "m.riata").out
    assert riata.load(tmp_path / "m.riata").predict_one({"links": 7}) == "spam"
    frame.assign(label=["no", "yes"] * 60).to_csv(tmp_path / "y.csv", index=False)
    cli("train", tmp_path / "y.csv", "-o", tmp_path / "y.riata", "--quiet", "--classes", "no,yes")
    assert riata.load(tmp_path / "y.riata").classes_.tolist() == ["no", "yes"]


def test_samples_of_a_named_model() -> None:
    frame = pd.DataFrame(RNG.normal(size=(100, 2)), columns=["a", "b"])
    model = riata.BayesianClassifier().fit(frame, frame["a"] > 0)
    coef, intercept = model.sample_coef(5, random_state=1)
    assert len(coef) == len(intercept) == 5


def test_predicts_whatever_it_can_read(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    model = riata.FTRLClassifier().learn(frame, label="click", ignore=["id"], categorical=["hour"])
    expected = model.predict_proba(frame)
    for what in (write(tmp_path, "csv"), str(write(tmp_path, "jsonl")), ROWS, pl.DataFrame(ROWS)):
        np.testing.assert_array_equal(model.predict_proba(what), expected)
    again = riata.FTRLClassifier().learn(
        write(tmp_path, "csv"), label="click", ignore=["id"], categorical=["hour"]
    )
    assert again.named_coef_ == model.named_coef_


def test_gaps_in_numbers_are_gaps(tmp_path: Path) -> None:
    lines = [f"{i % 2},{'NA' if i % 3 == 0 else i / 7:.4}" for i in range(90)]
    (tmp_path / "x.csv").write_text("label,a\n" + "\n".join(lines) + "\n")
    model = riata.FTRLClassifier().learn(tmp_path / "x.csv")
    assert [c.kind for c in model.model_.schema.features] == ["number"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("x.vw", "1 |a b |c d\n0 |a e |c f\n"), ("x.csv", "label,a,c\n1,2,3\n0,3,4\n"),
     ("x.jsonl", '{"label":1,"a":1,"c":2}\n')],
)  # fmt: skip
def test_crosses_of_what_is_not_there(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    error = cli("train", tmp_path / name, "-o", tmp_path / "m", "--cross", "x:y", code=1).err
    assert "'x'" in error
    assert "'a'" in error
    assert "'c'" in error


def test_data_without_labels(tmp_path: Path) -> None:
    model = tmp_path / "m.riata"
    cli("train", write(tmp_path, "csv"), "-o", model, "--quiet", *COLUMNS)
    pd.DataFrame(ROWS).drop(columns="click").to_csv(tmp_path / "new.csv", index=False)
    assert len(cli("predict", model, tmp_path / "new.csv").out.split()) == 300
    error = cli("evaluate", model, tmp_path / "new.csv", code=1).err
    assert "'click' of the label is missing" in error
    pd.DataFrame({"label": [1, 0] * 20, "a": [1.5, 2] * 20}).to_csv(
        tmp_path / "one.csv", index=False
    )
    cli("train", tmp_path / "one.csv", "-o", model, "--quiet")
    (tmp_path / "a.csv").write_text("a\n2\n3\n")
    assert (
        "'label' of the label is missing" in cli("evaluate", model, tmp_path / "a.csv", code=1).err
    )


def test_messages(tmp_path: Path) -> None:
    data, model = write(tmp_path, "csv"), tmp_path / "m.riata"
    cli("train", data, "-o", model, "--quiet", *COLUMNS)
    both = cli("predict", model, data, "--proba", "--score", code=2).err
    assert "--proba or --score" in both
    table = cli("predict", model, data, "--proba", "--score", "--to", "csv").out
    assert table.splitlines()[0] == "prediction,probability_0,probability_1,score_1"
    assert "is an option of riata predict" in cli("evaluate", model, data, "--proba", code=2).err
    for words in (("predict", model, "-"), ("evaluate", model, "-"), ("train", "-", "-o", model)):
        assert "no examples in <stdin>" in riata_process(*words, code=1).err
    (tmp_path / "small.csv").write_text("label,a\n" + "1,2\n0,3\n" * 10)
    cli("train", tmp_path / "small.csv", "-o", tmp_path / "s.riata", "--quiet")
    (tmp_path / "one.csv").write_text("label,a\n" + "1,2\n0,3\n" * 2)
    said = cli("evaluate", tmp_path / "s.riata", tmp_path / "one.csv").out
    assert "0e+00" not in said
    assert "AUC" in said
    (tmp_path / "two.csv").write_text("label,a\n1,2\n")
    assert "-0.00000" not in cli("evaluate", tmp_path / "s.riata", tmp_path / "two.csv").out


# Bad input


@pytest.fixture(scope="module")
def known() -> Any:
    return riata.FTRLClassifier().learn(ROWS, label="click", ignore=["id"], categorical=["hour"])


def test_a_column_that_changed_its_kind(known: Any, tmp_path: Path) -> None:
    rows = [{**row, "len": "long"} for row in ROWS]
    for what in (
        rows,
        pd.DataFrame(rows),
        write(tmp_path, "csv", rows),
        write(tmp_path, "jsonl", rows),
    ):
        with pytest.raises(DataError, match="len") as found:
            known.predict(what)
        assert "number" in str(found.value)
    with pytest.raises(ValueError, match="column 'len': the model was trained with numbers"):
        known.predict_one(rows[0])


def test_new_categories_are_fine(known: Any) -> None:
    assert known.predict([{**ROWS[0], "city": "Lima", "hour": 99}]).shape == (1,)


def test_a_missing_column_is_named(known: Any, tmp_path: Path) -> None:
    table = riata.FTRLClassifier().learn(pd.DataFrame(ROWS), label="click", ignore=["id"])
    rows = [{k: v for k, v in row.items() if k != "city"} for row in ROWS]
    for what in (
        rows,
        pd.DataFrame(rows),
        write(tmp_path, "csv", rows),
        write(tmp_path, "parquet", rows),
    ):
        with pytest.raises(DataError, match="'city' is missing"):
            table.predict(what)


def test_a_text_of_100_megabytes(tmp_path: Path) -> None:
    rows = [{"label": i % 2, "body": f"word{i} and others here"} for i in range(30)]
    model = riata.FTRLClassifier().learn(rows, text=["body"])
    long = "free entry " * 10_000_000
    path = tmp_path / "x.csv"
    path.write_text("label,body\n1," + long + "\n")
    with pytest.raises(DataError, match=r"x\.csv:\d+:1: this line is longer than 64 MiB"):
        model.predict(path)
    assert model.predict([{"body": long[:1_000_000]}]).shape == (1,)


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    rows = [{"label": i % 2, "body": f"word{i} and others here"} for i in range(30)]
    model = riata.FTRLClassifier().learn(rows, text=["body"])
    (tmp_path / "x.csv").write_bytes(b"label,body\n1,caf\xe9 now\n")
    (tmp_path / "x.jsonl").write_bytes(b'{"label":1,"body":"caf\xe9 now"}\n')
    for name in ("x.csv", "x.jsonl"):
        with pytest.raises(DataError, match=rf"{name}:\d:\d+: column 'body' .* no UTF-8"):
            model.predict(tmp_path / name)


def test_a_schema_of_a_newer_version() -> None:
    with pytest.raises(ModelError, match="newer Riata"):
        riata.schema.Schema.from_json({"version": 99})


def test_columns_of_one_name(known: Any) -> None:
    frame = pd.DataFrame([[1, 2.0, 3.0]], columns=["hour", "len", "len"])
    for use in (known.predict, lambda f: riata.FTRLClassifier().fit(f, [1])):
        with pytest.raises(DataError, match="several columns are called 'len'"):
            use(frame)


def test_ids_need_not_be_unique(tmp_path: Path) -> None:
    rows = [{**row, "id": 7} for row in ROWS]
    cli("train", write(tmp_path, "csv", rows), "-o", tmp_path / "m.riata", "--quiet", *COLUMNS)
    cli("predict", tmp_path / "m.riata", tmp_path / "x.csv", "--id", "id", "-o", tmp_path / "p.csv")
    assert pd.read_csv(tmp_path / "p.csv")["id"].tolist() == [7] * 300


def test_nan_in_a_column_of_numbers_is_missing(known: Any, tmp_path: Path) -> None:
    rows = [{**row, "len": None} for row in ROWS]
    expected = known.predict_proba(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nan = [{**row, "len": float("nan")} for row in ROWS]
        frame = pd.DataFrame(nan).drop(columns="click")
        np.testing.assert_array_equal(known.predict_proba(frame), expected)
        np.testing.assert_array_equal(known.predict_proba(pl.DataFrame(frame)), expected)
        np.testing.assert_array_equal(known.predict_proba(write(tmp_path, "csv", nan)), expected)
        np.testing.assert_array_equal(known.predict_proba(nan), expected)
        single = [list(known.predict_proba_one(row).values()) for row in nan]
        np.testing.assert_array_equal(single, expected)


def test_sources_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no column 'clik' .*did you mean 'click'"):
        list(open_source(write(tmp_path, "csv"), label="clik"))


DISTINCT = [{"label": f"id{i if i % 5 else 0}", "a": i} for i in range(300)]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_labels_that_are_nearly_all_different_are_asked_about(tmp_path: Path, form: str) -> None:
    data = write(tmp_path, form, DISTINCT)
    words = ("train", data, "-o", tmp_path / "m", "--method", "ftrl", "-q")
    said = cli(*words, code=1).err
    assert "241 different words among the first 300 labels: was a column of ids or texts" in said
    assert "--label COLUMN" in said
    cli(*words, "--classes", "scan")
    assert len(riata.load(tmp_path / "m").classes_) == 241
    with pytest.raises(DataError, match="241 different words"):
        riata.sweep(str(data), {"l1": [0.0, 1e-5]})
    twenty = [row | {"label": f"c{row['a'] % 20}"} for row in DISTINCT[:30]]
    cli("train", write(tmp_path, form, twenty), "-o", tmp_path / "m", "--method", "ftrl", "-q")


def test_labels_that_turn_out_to_be_all_different_are_asked_about(tmp_path: Path) -> None:
    rows = [{"label": "ab"[i % 2] if i < 1000 else f"id{i}", "a": i} for i in range(4000)]
    with pytest.raises(DataError, match="different words among the first .* ids or texts"):
        riata.FTRLClassifier().learn(str(write(tmp_path, "csv", rows)))


def test_a_word_among_numbers_is_said_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("label,a\n1,5\n0,6\n1,unknown\n0,7\n1,8\n")
    with pytest.warns(
        UserWarning, match=r"'a' is read as names.*'unknown' in row 3\).*--absent"
    ) as said:
        riata.FTRLClassifier().learn(str(path))
    assert "--categorical a" in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        riata.FTRLClassifier().learn(str(path), absent=["unknown"])
        riata.FTRLClassifier().learn(str(path), categorical=["a"])
    path.write_text("label,a\n1,5\n0,red\n1,blue\n0,green\n1,8\n")  # names for the most part
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        riata.FTRLClassifier().learn(str(path))
