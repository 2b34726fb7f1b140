"""The schema: a value that is saved, refuses what does not fit, and reads what was written before it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riata
from riata import model_file
from riata.errors import DataError, ModelError
from riata.schema import Column, Schema
from riata.sources import open_source
from tests.cli.helpers import riata as run

SCHEMA = Schema(
    (
        Column("y", "label"),
        Column("id", "ignored"),
        Column("age", kind="bucket", edges=(18.0, 65.0)),
        Column("hour", kind="category"),
        Column("len", kind="number", centre=2.5, scale=0.1),
        Column("text", kind="text", tokeniser={"words": [1, 2]}),
    ),
    label_names=("no", "yes"),
    crosses=(("hour", "age"),),
    missing="feature",
    absent=("NA",),
)


def test_comes_back_from_json() -> None:
    assert Schema.from_json(json.loads(json.dumps(SCHEMA.to_json()))) == SCHEMA
    for other in (Schema(named=False, base=1), Schema(open=True), Schema(hash_key="0" * 32)):
        assert Schema.from_json(other.to_json()) == other


def test_a_newer_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"version 99, .*newer Riata.*up to version 1: upgrade"):
        Schema.from_json(SCHEMA.to_json() | {"version": 99})
    model = riata.FTRLClassifier().fit(np.eye(4), [0, 1, 0, 1]).model_
    newer = SCHEMA.to_json() | {"version": 99}
    model.record.to_json = lambda: type(model.record).to_json(model.record) | {"schema": newer}  # type: ignore
    model_file.save(model, tmp_path / "m")
    with pytest.raises(ModelError, match="m: a schema of version 99"):
        model_file.load(tmp_path / "m")
    assert "newer Riata" in run("inspect", tmp_path / "m", code=1).err


def test_of_what_0_1_saved() -> None:
    old = {
        "columns": ["y", "id", "age", "hour"],
        "kinds": ["label", "ignored", "bucket", "category"],
        "edges": {"age": [18.0]},
        "label_names": ["no", "yes"],
        "omitted": {"hour": "0"},
        "missing": "feature",
        "absent": ["NA"],
        "crosses": [["age", "hour"]],
    }
    schema = Schema.from_json(old)
    assert [column.what for column in schema.columns] == ["label", "ignored", "bucket", "category"]
    assert schema.by_name["age"].edges == (18.0,)
    assert schema.by_name["hour"].omitted == "0"
    assert (schema.missing, schema.absent, schema.crosses) == (
        "feature",
        ("NA",),
        (("age", "hour"),),
    )
    assert not schema.open
    of_json = Schema.from_json({"label_names": ["a", "b"], "missing": "drop", "offset": "o"})
    assert of_json.open
    assert of_json.of_role("offset") == "o"


def test_roles_may_move_but_features_stay() -> None:
    moved = SCHEMA.with_roles("x.csv", label="z", ignore=["time"])
    assert moved.of_role("label") == "z"
    assert moved.by_name["y"].role == "ignored"
    with pytest.raises(DataError, match="'hour' cannot be the label; it was a feature before"):
        SCHEMA.with_roles("x.csv", label="hour")
    with pytest.raises(DataError, match="'hour' cannot be ignored; the model was trained with it"):
        SCHEMA.with_roles("x.csv", ignore=["hour"])


def test_a_table_that_does_not_fit() -> None:
    with pytest.raises(DataError, match="column 'hour' is missing; there are 'y', 'age', 'len'"):
        SCHEMA.arranged(["y", "age", "len"], True, "x.csv")
    with pytest.raises(DataError, match=r"'hours' was not there before.*'hour'.* is missing"):
        SCHEMA.arranged(["y", "age", "hours", "len"], True, "x.csv")
    with pytest.raises(DataError, match="several columns are called 'age'"):
        SCHEMA.arranged(["y", "age", "age"], True, "x.csv")


ROWS = [{"y": i % 2, "hour": i % 3, "len": i / 8, "c": "ab"[i % 2]} for i in range(40)]


@pytest.mark.parametrize(
    "options",
    [
        {"categorical": ["len"]},
        {"log1p": ["len"]},
        {"numeric": ["c"]},
        {"missing": "feature"},
        {"absent": ["?"]},
        {"crosses": ["c:len"]},
        {"categorical": ["hours"]},
    ],
)
def test_other_options_than_before_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "x.csv"
    lines = [",".join(map(str, row.values())) for row in ROWS]
    path.write_text("\n".join([",".join(ROWS[0]), *lines]) + "\n")
    source = open_source(path, label="y")
    list(source)
    schema = source.schema  # type: ignore[attr-defined]
    list(open_source(path, schema=schema))
    for what in (path, ROWS):
        with pytest.raises(DataError, match=r"the model|no column"):
            list(open_source(what, schema=schema, **options))


def test_columns_that_join_an_open_schema(tmp_path: Path) -> None:
    """What JSON has not shown, the first rows of a table tell."""
    source = open_source([{"y": 1, "a": "7"}, {"y": 0, "a": "8"}], label="y")
    list(source)
    path = tmp_path / "x.csv"
    path.write_text("y,a,b\n1,7,2\n")
    [block] = open_source(path, schema=source.schema)  # type: ignore[attr-defined]
    assert [block.name_of(i) for i in range(block.nnz)] == ["a=7", "b"]


@pytest.mark.parametrize("named", [True, False])
def test_names_and_numbers_do_not_mix(tmp_path: Path, named: bool) -> None:
    (tmp_path / "x.svm").write_text("1 1:1\n0 2:1\n" * 20)
    (tmp_path / "x.vw").write_text("1 | a\n-1 | b\n" * 20)
    (tmp_path / "x.csv").write_text("label,a\n1,x\n0,y\n" * 1)
    files = {True: ["x.vw", "x.csv"], False: ["x.svm"]}
    for trained in files[named]:
        run("train", tmp_path / trained, "-o", tmp_path / "m", "-q", "--classes", "scan")
        for other in files[not named]:
            for command in (["predict"], ["evaluate"]):
                said = run(*command, tmp_path / "m", tmp_path / other, code=1).err
                assert "features with names" in said
                assert "numbered features" in said
            said = run(
                *("train", tmp_path / other, "-o", tmp_path / "n", "--initial", tmp_path / "m"),
                code=1,
            ).err
            assert "the model was trained on" in said


def test_matrices_are_numbered_too(tmp_path: Path) -> None:
    model = riata.FTRLClassifier().fit(np.eye(4), [0, 1, 0, 1])
    model.save(tmp_path / "m")
    (tmp_path / "x.csv").write_text("label,a\n1,2\n0,3\n")
    assert (
        "has features with names" in run("predict", tmp_path / "m", tmp_path / "x.csv", code=1).err
    )
    assert model_file.load(tmp_path / "m").schema == Schema(named=False)


@pytest.mark.parametrize("base", [0, 1])
def test_numbers_are_shown_as_the_file_has_them(tmp_path: Path, base: int) -> None:
    (tmp_path / "x.svm").write_text("1 5:1\n0 7:1\n" * 20)
    zero = [] if base else ["--zero-based"]
    run("train", tmp_path / "x.svm", "-o", tmp_path / "m", "-q", *zero)
    shown = json.loads(run("inspect", tmp_path / "m", "--json").out)
    assert {entry["feature"] for entry in shown["strongest"]} == {5, 7}
    assert f"numbered, counted from {base}" in run("inspect", tmp_path / "m").out
    once = run("predict", tmp_path / "m", tmp_path / "x.svm", "--proba").out
    assert run("predict", tmp_path / "m", tmp_path / "x.svm", "--proba", *zero).out == once
    if base:
        said = run("predict", tmp_path / "m", tmp_path / "x.svm", "--zero-based", code=1).err
        assert "--zero-based, but the model was trained on indices that count from 1" in said


@pytest.mark.parametrize(
    ("name", "text", "known"),
    [
        ("x.vw", "1 |user a |ad b\n-1 |user c |ad d\n", "'ad', 'user'"),
        ("x.jsonl", '{"label":1,"user":{"age":3},"ad":"b"}\n', "'user.age', 'ad'"),
        ("x.csv", "label,user,ad\n1,a,b\n0,c,d\n", "'user', 'ad'"),
    ],
)
def test_a_cross_of_what_is_not_there(tmp_path: Path, name: str, text: str, known: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    list(open_source(path, crosses=["user:ad"]))
    with pytest.raises(DataError, match=f"a cross names .*'page'.*{known}"):
        list(open_source(path, crosses=["user:page"]))
    said = run("train", path, "-o", tmp_path / "m", "--cross", "user:page", code=1).err
    assert "'page'" in said
