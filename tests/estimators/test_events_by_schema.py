"""A single dict is read as the table was that the model was trained on."""

from __future__ import annotations

import copy
import math
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riata
from riata import _core
from riata.schema import Column, Schema
from tests.cli.helpers import riata as run
from tests.sources.every_format import COLUMNS, READING, make_table

FAMILIES = [
    riata.AutoClassifier,
    riata.ElasticNetClassifier,
    riata.FTRLClassifier,
    riata.BayesianClassifier,
    riata.SketchClassifier,
    riata.InteriorPointClassifier,
]


def rows(n: int = 200, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        row: dict[str, Any] = {"click": int(rng.random() < 0.4), "id": f"u{i}"}
        row["hour"] = int(rng.integers(0, 24))
        row["price"] = round(float(rng.exponential(40)), 2)
        row["age"] = int(rng.integers(18, 80))
        row["views"] = int(rng.integers(0, 1000))
        row["city"] = [None, "Rome", "Oslo"][int(rng.integers(3))]
        made.append(row)
    return made


READ: dict[str, Any] = {
    "label": "click",
    "ignore": ["id"],
    "categorical": ["hour"],
    "log1p": ["views"],
    "buckets": {"age": 4},
}


def write(table: list[dict[str, Any]], path: Path) -> Path:
    lines = [",".join("" if v is None else str(v) for v in row.values()) for row in table]
    path.write_text("\n".join([",".join(table[0]), *lines]) + "\n")
    return path


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("missing", ["drop", "feature"])
def test_as_the_command_line_predicts(tmp_path: Path, family: Any, missing: str) -> None:
    table = rows()
    path = write(table, tmp_path / "x.csv")
    model = family().learn(path, **READ, missing=missing)
    model.save(tmp_path / "m")
    lines = run("predict", tmp_path / "m", path, "--proba").lines
    loaded = riata.load(tmp_path / "m")
    for row, line in zip(table, lines, strict=True):
        label = loaded.classes_.tolist()[1]
        assert loaded.predict_proba_one(row)[label] == pytest.approx(float(line), abs=1e-12)
        without = {k: v for k, v in row.items() if k not in ("click", "id")}
        assert loaded.predict_proba_one(without) == loaded.predict_proba_one(row)


def test_crosses_too(tmp_path: Path) -> None:
    table = rows()
    model = riata.FTRLClassifier().learn(
        write(table, tmp_path / "x.csv"), label="click", ignore=["id"], crosses=["city:hour"],
        categorical=["hour"],
    )  # fmt: skip
    expected = model.decision_function(tmp_path / "x.csv")
    for row, score in zip(table, expected, strict=True):
        assert model._event_scores(row)[0] == pytest.approx(score, abs=1e-12)


def test_learning_goes_on(tmp_path: Path) -> None:
    """learn_one after a table equals the same rows as a table."""
    first, more = rows(200), rows(60, 1)
    path, other = write(first, tmp_path / "x.csv"), write(more, tmp_path / "y.csv")
    model = riata.FTRLClassifier().learn(path, **READ)
    for row in more:
        model.learn_one(row, row["click"])
    again = riata.FTRLClassifier().learn(path, **READ)
    again.save(tmp_path / "m")
    run("train", other, "-o", tmp_path / "n", "--initial", tmp_path / "m", "-q")
    assert riata.load(tmp_path / "n").named_coef_ == model.named_coef_
    model.save(tmp_path / "k")
    assert riata.load(tmp_path / "k").model_.schema == model.model_.schema


@pytest.mark.parametrize(
    "convert",
    [dict, lambda r: {k: np.float64(v) if isinstance(v, float) else v for k, v in r.items()}],
)
def test_every_kind_of_value(tmp_path: Path, convert: Any) -> None:
    """The data of every format: the same features from a single dict as from a list of dicts."""
    table = make_table(5, 60, tame=True)
    reading = READING | {"offset": None, "ignore": ["offset"], "scale": "standard"}
    source = riata.open_source(table, **reading)
    blocks = list(source)
    schema = source.schema  # type: ignore[attr-defined]
    from riata.sources.events import event_reader

    read = event_reader(schema)
    assert read is not None
    at = 0
    names = [str(b.name_of(i)) for b in blocks for i in range(b.nnz)]
    values = np.concatenate([b.values for b in blocks])
    for row in table:
        found = read(convert(row))
        there = {k: v for k, v in found.items() if v != 0}
        assert list(there) == names[at : at + len(there)]
        np.testing.assert_array_equal(
            np.array(list(there.values()), np.float32), values[at : at + len(there)]
        )
        at += len(there)
    assert at == len(names)
    assert set(COLUMNS) >= {c.name for c in schema.columns}


def test_what_does_not_fit(tmp_path: Path) -> None:
    model = riata.FTRLClassifier().learn(write(rows(), tmp_path / "x.csv"), **READ)
    row = rows()[0]
    for change, message in [
        (
            {"page": 1},
            r"'page' was not there before: the model was trained with 'click', 'id', 'hour'",
        ),
        (
            {"price": "cheap"},
            "column 'price': the model was trained with numbers there, but here is a text",
        ),
        ({"price": [1]}, "column 'price': .* here is a list"),
        ({"price": float("inf")}, "column 'price': the value is infinite"),
        ({"hour": object()}, "column 'hour': the value must be"),
        ({"hour": [1]}, "column 'hour': a list must hold strings"),
    ]:
        for use in (model.predict_one, lambda x: model.learn_one(x, 1)):
            with pytest.raises(ValueError, match=message):
                use(row | change)
    with pytest.raises(TypeError, match="must be a string"):
        model.predict_one({1: 2})
    assert model.t_ == 200
    for fine in (
        {"page": None},
        {"price": None},
        {"price": float("nan")},
        {"price": "NA"},
        {"price": " 7 "},
    ):
        model.predict_one(row | fine)
    assert model.predict_proba_one(row | {"city": "Paris"}) == model.predict_proba_one(
        row | {"city": None}
    )
    assert model.predict_proba_one(row | {"hour": 7.0}) == model.predict_proba_one(
        row | {"hour": "7"}
    )
    assert model.predict_proba_one(row | {"hour": np.int64(7)}) == model.predict_proba_one(
        row | {"hour": 7}
    )


def test_offsets_are_for_rows(tmp_path: Path) -> None:
    table = [row | {"base": 0.5} for row in rows()]
    reading = {k: v for k, v in READ.items() if k not in ("log1p", "buckets")}
    model = riata.FTRLClassifier().learn(write(table, tmp_path / "x.csv"), **reading, offset="base")
    with pytest.raises(
        ValueError, match=r"offsets, which single events do not have.*predict\(\[x\]\)"
    ):
        model.predict_one(table[0])
    assert len(model.predict(table[:1])) == 1


def test_copies_read_alike(tmp_path: Path) -> None:
    model = riata.FTRLClassifier().learn(write(rows(), tmp_path / "x.csv"), **READ)
    row = rows()[3]
    expected = model.predict_proba_one(row)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.predict_proba_one(row) == expected


def test_a_model_of_events_reads_them_as_they_are() -> None:
    model = riata.FTRLClassifier().learn_one({"a": 1.0, "b": "x"}, 1).learn_one({"a": 2}, 0)
    assert model.model_.record.schema is None
    assert set(model.named_coef_) == {"a", "b=x"}


@pytest.mark.parametrize("key", [None, bytes(range(16))])
@pytest.mark.parametrize("missing", ["drop", "feature"])
def test_what_the_core_is_given_is_what_the_dict_would_be(key: bytes | None, missing: str) -> None:
    """Rows without a dict in between: the same keys, values and names in the same order."""
    from riata.sources.events import event_reader

    columns = tuple(Column(f"n{i}", kind="number") for i in range(3)) + tuple(
        Column(f"c{i}", kind="category") for i in range(3)
    )
    schema = Schema(columns, missing=missing)
    as_dict, for_core = event_reader(schema), event_reader(schema, for_core=True)
    assert as_dict is not None
    assert for_core is not None
    values: list[Any] = [0.0, -1.5, 7, True, None, "", "NA", "3", math.nan]
    words: list[Any] = ["a", "é", "a=b", "", None, 3, 2.5, ["x", "x", "y"], "w" * 300]
    rng = random.Random(1)
    for _ in range(300):
        x = {f"n{i}": rng.choice(values) for i in range(3)} | {
            f"c{i}": rng.choice(words) for i in range(3)
        }
        x = dict(rng.sample(sorted(x.items(), key=str), rng.randint(0, 6)))
        for one, other in zip(
            _core.event(as_dict(x), key), _core.event(for_core(x), key), strict=True
        ):
            assert one.tolist() == other.tolist()  # type: ignore[attr-defined]
    assert isinstance(for_core({"n0": 1.0, "c0": "a"}), _core.ReadEvent)
    for wrong in ({"n0": "word"}, {"other": 1}, {"n0": math.inf}, {"c0": "w" * 70_000}):
        with pytest.raises(ValueError, match=r"column|not there before|64 KiB"):
            _core.event(for_core(wrong), key)
