"""Commands with --offset: the same predictions from every format, and none without it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.helpers import riata

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

CITIES = ("Rome", "Oslo", "Bonn")
FORMATS = ["csv", "jsonl", "arff", "parquet", "riata.parquet", "riata-cache"]


def write_data(folder: Path, name: str, seed: int, n: int = 400) -> None:
    """Clicks whose chance is logistic(offset + what is to be learned), in every format."""
    rng = np.random.default_rng(seed)
    offset = np.round(rng.normal(0, 2, n), 3)
    size = np.round(rng.normal(0, 1, n), 2)
    city = rng.integers(3, size=n)
    score = offset + size + np.array([1, 0, -1])[city]
    click = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    columns = {
        "click": click.tolist(),
        "base": offset.tolist(),
        "size": size.tolist(),
        "city": [CITIES[c] for c in city],
    }
    lines = list(zip(*columns.values(), strict=True))
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    text = "".join(",".join(map(str, line)) + "\n" for line in lines)
    (folder / f"{name}.csv").write_text(",".join(columns) + "\n" + text)
    kinds = ["{0,1}", "numeric", "numeric", "{Rome,Oslo,Bonn}"]
    head = "".join(f"@attribute {c} {k}\n" for c, k in zip(columns, kinds, strict=True))
    (folder / f"{name}.arff").write_text(f"@relation r\n{head}@data\n{text}")
    objects = [json.dumps(dict(zip(columns, line, strict=True))) + "\n" for line in lines]
    (folder / f"{name}.jsonl").write_text("".join(objects))
    initial = [f"{y} 1 {o} | size:{s} city={c}\n" for y, o, s, c in lines]
    (folder / f"{name}.vw").write_text("".join(initial))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("train", "test")):
        write_data(folder, name, seed)
        for made in ("riata.parquet", "riata-cache"):
            words = ["--label", "click", "--offset", "base", "-q"]
            riata("convert", folder / f"{name}.csv", folder / f"{name}.{made}", *words)
    riata("train", folder / "train.vw", "-o", folder / "m.vw", "-q")
    return folder


def predicted(model: Path, *words: object) -> list[str]:
    return riata("predict", model, *words, "--score").lines


@pytest.mark.parametrize("format", FORMATS)
def test_trains_and_predicts_as_from_initial_predictions(
    data: Path, tmp_path: Path, format: str
) -> None:
    expected = predicted(data / "m.vw", data / "test.vw")
    made = "riata" in format
    roles = [] if made else ["--label", "click", "--offset", "base"]
    model = tmp_path / "m"
    scale = [] if made else ["--scale", "none"]
    riata("train", data / f"train.{format}", "-o", model, "-q", *roles, *scale)
    assert predicted(model, data / f"test.{format}", *roles) == expected
    assert predicted(model, data / "test.vw") == expected
    for other in ("csv", "parquet", "arff"):  # the model knows the column
        label = ["--label", "click"] if format == "jsonl" else []
        assert predicted(model, data / f"test.{other}", *label) == expected
    measured = [
        json.loads(riata("evaluate", m, data / f"test.{f}", *words, "--json").out)["loss"]
        for m, f, words in ((data / "m.vw", "vw", []), (model, format, roles))
    ]
    assert measured[0] == measured[1]


def test_offsets_matter(data: Path, tmp_path: Path) -> None:
    """They explain what is there to explain, and a model without them is another one."""
    roles = ["--label", "click", "--offset", "base"]
    riata("train", data / "train.csv", "-o", tmp_path / "m", "-q", *roles)
    without = ["--label", "click", "--ignore", "base"]
    linear = [
        "--method",
        "elastic-net",
    ]  # in the average of auto, an offset is added to each of the scores
    riata("train", data / "train.csv", "-o", tmp_path / "w", "-q", *linear, *without)
    losses = [
        json.loads(riata("evaluate", tmp_path / m, data / "test.csv", "--json").out)["loss"]
        for m in "mw"
    ]
    assert losses[0] < losses[1] - 0.05
    base = np.array([json.loads(line)["base"] for line in (data / "test.jsonl").open()])
    plain = np.array(predicted(tmp_path / "w", data / "test.csv"), float)
    added = np.array(predicted(tmp_path / "w", data / "test.csv", "--offset", "base"), float)
    np.testing.assert_allclose(added, plain + base, atol=1e-12)


def test_prediction_without_the_column_is_an_error(data: Path, tmp_path: Path) -> None:
    roles = ["--label", "click", "--offset", "base"]
    (tmp_path / "x.csv").write_text("size,city\n1,Rome\n")
    (tmp_path / "x.jsonl").write_text('{"size": 1, "city": "Rome"}\n')
    pq.write_table(pa.table({"size": [1.0], "city": ["Rome"]}), tmp_path / "x.parquet")
    (tmp_path / "some.csv").write_text("base,size,city\n2,1,Rome\n,1,Rome\n")
    for format in ("csv", "jsonl", "parquet"):
        riata("train", data / f"train.{format}", "-o", tmp_path / "m", "-q", *roles)
        for other in ("csv", "jsonl", "parquet"):
            words = ["predict", tmp_path / "m", tmp_path / f"x.{other}", "--no-labels"]
            said = riata(*words, code=1).err
            assert "'base'" in said
            assert "offset" in said
        words = ["predict", tmp_path / "m", tmp_path / "some.csv", "--no-labels"]
        assert "some.csv:3:1: the offset, column 'base', is missing" in riata(*words, code=1).err
        done = riata(*words, "--on-error", "skip")
        assert len(done.lines) == 1
        assert "no prediction for 1 line" in done.err


def test_usage(data: Path, tmp_path: Path) -> None:
    words = ["train", data / "train.csv", "-o", tmp_path / "m", "--label", "click"]
    said = riata(*words, "--offset", "click", code=2).err
    assert "column 'click' cannot be both label and offset" in said
    assert "did you mean 'base'" in riata(*words, "--offset", "bases", code=1).err
    said = riata("train", data / "train.vw", "-o", tmp_path / "m", "--offset", "a", code=2).err
    assert "offset is for columns; vw has none" in said


def test_several_classes_have_no_offset(data: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("label,base,a\n0,1,1\n1,2,1\n2,3,1\n")
    said = riata("train", tmp_path / "x.csv", "-o", tmp_path / "m", "--offset", "base", code=1).err
    assert "x.csv:2" in said
    assert "this model has 3 classes" in said
