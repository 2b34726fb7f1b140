"""Numbers of columns are measured by what the first rows show, alike in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riata
from riata.schema import Schema
from riata.sources import open_source
from riata.sources.numbers import centre_and_scale
from tests.cli.helpers import riata as run
from tests.sources.every_format import FORMS, READING, make_table

SCALES = ["standard", "max"]


def schema_of(source: Any) -> Schema:
    list(source)
    found: Schema = source.schema
    return found


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_finds_the_same(tmp_path: Path, form: str, scale: str) -> None:
    table = make_table(4, 120, tame=True)
    source = open_source(FORMS[form].put(table, tmp_path), **READING, scale=scale)
    blocks = list(source)
    found = source.schema.by_name  # type: ignore[attr-defined]
    for name in ("number", "two words", "whole", "small"):
        numbers = np.array([row[name] for row in table if row[name] is not None], float)
        assert (found[name].centre, found[name].scale) == centre_and_scale(numbers, scale)
    expected = []
    for row in table:
        for name in ("number", "two words", "whole", "small"):
            if row[name] is not None:
                column = found[name]
                value = np.float32((float(np.float32(row[name])) - column.centre) / column.scale)
                expected += [value] if value != 0 else []
        expected += [np.float32(1) for name in ("text", "\u00fcber:a|b") if row[name] is not None]
    values = np.concatenate([block.values for block in blocks])
    np.testing.assert_array_equal(np.sort(values), np.sort(np.array(expected)))


def write(path: Path, factor: float = 1.0, rows: int = 400) -> Path:
    rng = np.random.default_rng(0)
    lines = ["y,size,city"]
    for _ in range(rows):
        size, city = rng.normal(50, 9), rng.choice(["Rome", "Oslo"])
        y = int(size / 9 + (city == "Rome") + rng.normal() > 6)
        lines.append(f"{y},{size * factor!r},{city}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("scale", ["auto", *SCALES, "none"])
def test_weights_are_given_back_for_the_numbers_of_the_data(tmp_path: Path, scale: str) -> None:
    path = write(tmp_path / "x.csv")
    model = riata.FTRLClassifier(alpha=0.1).learn(path, label="y", scale=scale)
    weights, intercept = model.named_coef_, model.intercept_[0]
    row = {"y": 0, "size": 47.25, "city": "Rome"}
    expected = intercept + 47.25 * weights["size"] + weights["city=Rome"]
    assert model.decision_function([row])[0] == pytest.approx(expected, abs=1e-5)
    names = model.get_feature_names_out().tolist()
    assert dict(zip(names, model.coef_[0], strict=True))["size"] == weights["size"]
    model.save(tmp_path / "m")
    shown = json.loads(run("inspect", tmp_path / "m", "--json").out)
    assert shown["intercept"] == [intercept]
    assert {e["feature"]: e["weights"][0] for e in shown["strongest"]} == weights
    said = "number, scaled by the first rows: size" in run("inspect", tmp_path / "m").out
    assert said == (scale != "none")


def test_of_a_bayesian_model(tmp_path: Path) -> None:
    model = riata.BayesianClassifier().learn(write(tmp_path / "x.csv"), label="y")
    raw = model.model_.learner.coef_std()
    scale = model.model_.schema.by_name["size"].scale
    names = model.model_.learner.names(model.model_.learner.coef()[0])
    assert model.named_coef_std_["size"] == pytest.approx(raw[names.index("size"), 0] / scale)
    weights, _ = model.sample_coef(400)
    column = model.get_feature_names_out().tolist().index("size")
    assert weights[:, column].mean() == pytest.approx(model.named_coef_["size"], rel=0.2)


def test_units_do_not_matter(tmp_path: Path) -> None:
    first, other = write(tmp_path / "m.csv"), write(tmp_path / "mm.csv", 1024.0)
    scores = []
    for path in (first, other):
        run("train", path, "-o", tmp_path / "m", "--label", "y", "-q")
        scores.append(np.array(run("predict", tmp_path / "m", path, "--score").lines, float))
    np.testing.assert_allclose(*scores, rtol=1e-5)
    run("train", first, "-o", tmp_path / "m", "--label", "y", "-q", "--scale", "none")
    raw = np.array(run("predict", tmp_path / "m", first, "--score").lines, float)
    assert not np.allclose(raw, scores[0], rtol=0.01)


def test_columns_that_stay_as_they_are(tmp_path: Path) -> None:
    """Matrices, svmlight, Vowpal Wabbit text, what is crossed, changed otherwise, or constant."""
    path = write(tmp_path / "x.csv")
    crossed = schema_of(open_source(path, label="y", scale="standard", crosses=["size:city"]))
    assert not crossed.by_name["size"].is_changed
    logs = schema_of(open_source(path, label="y", scale="standard", log1p=["size"]))
    assert (logs.by_name["size"].centre, logs.by_name["size"].scale) == (0, 1)
    assert centre_and_scale(np.array([5.0, 5.0]), "standard") == (5.0, 1.0)
    assert centre_and_scale(np.array([]), "standard") == (0.0, 1.0)
    assert centre_and_scale(np.zeros(3), "max") == (0.0, 1.0)
    (tmp_path / "x.svm").write_text("1 1:5\n0 1:7\n" * 9)
    run("train", tmp_path / "x.svm", "-o", tmp_path / "m", "-q")
    said = run("train", tmp_path / "x.svm", "-o", tmp_path / "m", "--scale", "max", code=2).err
    assert "scale is for columns of numbers; svmlight has none" in said


def test_a_number_beyond_what_the_scale_bears(tmp_path: Path) -> None:
    lines = [f"{i % 2},{i / 1e6}" for i in range(1200)]
    table = "y,a\n" + "\n".join(lines) + "\n1,3e38\n"
    (tmp_path / "x.csv").write_text(table)
    with pytest.raises(riata.errors.DataError, match="x.csv:1202:3: .*3e38"):
        list(open_source(tmp_path / "x.csv", label="y", scale="standard"))
    frame = pytest.importorskip("pandas").read_csv(tmp_path / "x.csv")
    with pytest.raises(riata.errors.DataError, match="row 1200.*rescale"):
        list(open_source(frame, label="y", scale="standard"))


@pytest.mark.parametrize("token", ["NA", "NaN", "nan", "null", "NULL", "?", ""])
def test_what_means_a_missing_number(tmp_path: Path, token: str) -> None:
    """A column one third NA holds numbers."""
    lines = [f"{i % 2},{token if i % 3 == 0 else i},{'NA' if i % 4 else 'x'}" for i in range(30)]
    path = tmp_path / "x.csv"
    path.write_text("y,a,b\n" + "\n".join(lines) + "\n")
    source = open_source(path, label="y")
    [block] = source
    kinds = {c.name: c.kind for c in source.schema.features}  # type: ignore[attr-defined]
    assert kinds == {"a": "number", "b": "category"}
    names = [block.name_of(i) for i in range(block.nnz)]
    assert names.count("a") == 20
    assert names.count("b=NA") == 22  # a name is a name
    told = open_source(path, label="y", missing="feature")
    [block] = told
    assert [block.name_of(i) for i in range(block.nnz)].count("a=?") == 10
    rows = [dict(zip("yab", line.split(","), strict=True)) for line in lines]
    [same] = open_source(
        [row | {"y": int(row["y"])} for row in rows], schema=told.schema, labelled=False
    )  # type: ignore[attr-defined]
    np.testing.assert_array_equal(same.indices, block.indices)


def test_a_holdout_of_its_own_is_read_as_the_training_data(tmp_path: Path) -> None:
    """Its own first rows would give another scale."""
    data = write(tmp_path / "x.csv")
    lines = data.read_text().splitlines()
    few = [line for line in lines[1:] if float(line.split(",")[1]) > 55]
    (tmp_path / "few.csv").write_text("\n".join([lines[0], *few]) + "\n")
    words = ("-o", tmp_path / "m", "--label", "y", "-q", "--holdout", tmp_path / "few.csv")
    run("train", data, *words)
    shown = json.loads(run("inspect", tmp_path / "m", "--json").out)["holdout"]
    found = json.loads(run("evaluate", tmp_path / "m", tmp_path / "few.csv", "--json").out)
    assert shown["loss"] == pytest.approx(found["loss"], rel=1e-12)


@pytest.mark.parametrize("form", ["csv", "jsonl", "frame"])
def test_a_value_that_is_too_large_once_it_is_scaled_is_said_to_be(
    tmp_path: Path, form: str
) -> None:
    rng = np.random.default_rng(0)
    sizes = [*(rng.normal(size=1200) * 1e-10).tolist(), 3e35, 1e-10, -1e-10]
    rows = [{"y": i % 2, "size": size} for i, size in enumerate(sizes)]
    data: Any = tmp_path / f"data.{form}"
    if form == "csv":
        data.write_text("y,size\n" + "".join(f"{row['y']},{row['size']!r}\n" for row in rows))
    elif form == "jsonl":
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        data = pytest.importorskip("pandas").DataFrame(rows)
    for learn in (
        lambda: riata.AutoClassifier().learn(data, label="y"),
        lambda: riata.sweep(data, {"l1": [1e-5, 1e-4]}, label="y"),
    ):
        with pytest.raises(riata.errors.DataError, match="scaled by what the first rows were"):
            learn()
    with pytest.raises(riata.errors.DataError, match="120[12]|row 1200"):
        riata.AutoClassifier().learn(data, label="y")
