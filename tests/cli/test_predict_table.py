"""`riata predict` as a table: what rows are called, classes, probabilities, intervals; labels or none."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from riata import _core
from tests.cli.helpers import riata, riata_process
from tests.frames import labelled_frame, write_frame

N = 120


def frame(labels: Any = ("ham", "spam"), seed: int = 0) -> pd.DataFrame:
    data = labelled_frame(N, labels, seed, noise=0.4)
    data.insert(0, "name", [f"row {i}" for i in range(N)])
    return data


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    data = write_frame(frame(), tmp_path / "train.csv")
    riata("train", data, "-o", tmp_path / "m", "--label", "y", "--ignore", "name", "-q")
    return tmp_path / "m"


def read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".jsonl":
        return pd.read_json(path, orient="records", lines=True)
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("given", ["csv", "tsv", "jsonl", "parquet", "feather", "csv.gz"])
@pytest.mark.parametrize("out", ["csv", "tsv", "jsonl", "parquet"])
def test_a_table_has_names_classes_and_probabilities(
    trained: Path, tmp_path: Path, given: str, out: str
) -> None:
    data = write_frame(frame().drop(columns="y"), tmp_path / f"new.{given}")
    riata("predict", trained, data, "-o", tmp_path / f"out.{out}", "--id", "name")
    found = read(tmp_path / f"out.{out}")
    assert list(found) == ["name", "prediction", "probability_ham", "probability_spam"]
    assert found["name"].tolist() == [f"row {i}" for i in range(N)]
    assert found["prediction"].tolist() == riata("predict", trained, data).lines
    printed = [float(line) for line in riata("predict", trained, data, "--proba").lines]
    assert found["probability_spam"].tolist() == pytest.approx(printed, rel=1e-15)
    assert np.allclose(found["probability_ham"] + found["probability_spam"], 1)


def test_without_a_table_lines_are_plain(trained: Path, tmp_path: Path) -> None:
    data = write_frame(frame(), tmp_path / "d.csv")
    lines = riata("predict", trained, data).out
    riata("predict", trained, data, "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == lines
    assert set(lines.split()) == {"ham", "spam"}
    table = riata("predict", trained, data, "--to", "csv").lines
    assert table[0] == "prediction,probability_ham,probability_spam"
    assert len(table) == N + 1
    assert "-o FILE" in riata("predict", trained, data, "--to", "parquet", code=2).err


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_labels_may_be_there_or_not(trained: Path, tmp_path: Path, suffix: str) -> None:
    """In all rows, in some, in none."""
    whole = frame()
    some = whole.assign(y=[None if i % 3 else "ham" for i in range(N)])
    outs = []
    for i, data in enumerate((whole, some, whole.assign(y=None), whole.drop(columns="y"))):
        path = write_frame(data, tmp_path / f"{i}.{suffix}")
        outs.append(riata("predict", trained, path, "--score").out)
    assert len(set(outs)) == 1
    assert len(outs[0].split()) == N


def test_tables_without_a_header_may_lack_the_column_of_the_label(tmp_path: Path) -> None:
    data = frame()[["y", "a", "b"]]
    for i, columns in enumerate((["y", "a", "b"], ["a", "y", "b"], ["a", "b", "y"])):
        data[columns].to_csv(tmp_path / "d.csv", header=False, index=False)
        data[[c for c in columns if c != "y"]].to_csv(tmp_path / "n.csv", header=False, index=False)
        words = ("--no-header-line", "-o", tmp_path / "m", "-q")
        riata("train", tmp_path / "d.csv", "--label", columns.index("y") + 1, *words)
        outs = [
            riata("predict", tmp_path / "m", tmp_path / name, "--no-header-line", "--score").out
            for name in ("d.csv", "n.csv")
        ]
        assert outs[0] == outs[1], i


def test_text_without_columns(tmp_path: Path) -> None:
    lines = [f"{1 - 2 * (i % 2)} {1 + i % 4}:1 9:0.5\n" for i in range(N)]
    (tmp_path / "d.svm").write_text("".join(lines))
    riata("train", tmp_path / "d.svm", "-o", tmp_path / "m", "-q")
    labelled = riata("predict", tmp_path / "m", tmp_path / "d.svm", "--score").out
    mixed = [line if i % 3 else line.partition(" ")[2] for i, line in enumerate(lines)]
    (tmp_path / "mixed.svm").write_text("".join(mixed))
    assert riata("predict", tmp_path / "m", tmp_path / "mixed.svm", "--score").out == labelled
    said = riata("predict", tmp_path / "m", tmp_path / "d.svm", "--id", "x", code=1).err
    assert "--id names a column of CSV" in said
    table = riata("predict", tmp_path / "m", tmp_path / "d.svm", "--to", "csv").lines
    assert table[0] == "prediction,probability_-1,probability_1"


def test_tags_of_vowpal_wabbit_text(tmp_path: Path) -> None:
    tags = [" 'a", " b", "", " 'c d"]  # the last two have none, or one that is quoted
    rows = [f"1{tags[0]} |x y", f"-1{tags[1]}|x z", "1 |x y", "|x z", "'only |x z", ""]
    (tmp_path / "d.vw").write_text("\n".join(rows * 20) + "\n")
    (tmp_path / "train.vw").write_text("1 |x y\n-1 |x z\n" * 20)
    riata("train", tmp_path / "train.vw", "-o", tmp_path / "m", "-q")
    riata("predict", tmp_path / "m", tmp_path / "d.vw", "-o", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert next(iter(found)) == "tag"
    assert found["tag"].tolist() == ["a", "b", "", "", "only"] * 20
    assert found["prediction"].tolist() == [1, -1, 1, -1, -1] * 20
    riata("predict", tmp_path / "m", tmp_path / "train.vw", "-o", tmp_path / "out.csv")
    assert next(iter(pd.read_csv(tmp_path / "out.csv"))) == "prediction"


def test_names_stay_beside_their_rows(trained: Path, tmp_path: Path) -> None:
    """Bad lines that are skipped, empty ones, newlines in quotes, several files."""
    text = (
        'name,a,b\n1,0.5,red\n\n"two\nlines",1.5,blue\nbad,x,red\n'
        '"say ""4""",2,red\n5,-1,"bl\nue"\n'
    )
    (tmp_path / "one.csv").write_text(text)
    (tmp_path / "two.csv").write_text("name,a,b\n6,0.5,red\n")
    words = ("predict", trained, tmp_path / "one.csv", tmp_path / "two.csv", "--id", "name")
    out = riata(*words, "--to", "jsonl", "--on-error", "skip").lines
    names = [json.loads(line)["name"] for line in out]
    assert names == ["1", "two\nlines", 'say "4"', "5", "6"]
    scores = [json.loads(line)["probability_spam"] for line in out]
    assert scores[0] == scores[4]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_name_that_is_no_column(trained: Path, tmp_path: Path, suffix: str) -> None:
    data = write_frame(frame(), tmp_path / f"d.{suffix}")
    words = ("predict", trained, data, "--id", "nmae", "--label", "y")
    assert "did you mean 'name'?" in riata(*words, code=1).err


def test_names_from_standard_input_are_refused(trained: Path) -> None:
    done = riata_process("predict", trained, "-", "--id", "name", stdin=b"name,a\n1,2\n", code=1)
    assert "name the file, which may be compressed" in done.err


def test_three_classes_bools_and_numbers(tmp_path: Path) -> None:
    write_frame(frame(("x", "y", "z")), tmp_path / "d.csv")
    words = ("-o", tmp_path / "m", "--label", "y", "--ignore", "name", "-q")
    riata("train", tmp_path / "d.csv", *words)
    riata("predict", tmp_path / "m", tmp_path / "d.csv", "-o", tmp_path / "out.parquet", "--score")
    found = pd.read_parquet(tmp_path / "out.parquet")
    kinds = [f"{kind}_{label}" for kind in ("probability", "score") for label in "xyz"]
    assert list(found) == ["prediction", *kinds]
    write_frame(frame((1, 5)), tmp_path / "d.csv")
    riata("train", tmp_path / "d.csv", *words, "--method", "elastic-net", "--loss", "hinge")
    head, first, *_ = riata("predict", tmp_path / "m", tmp_path / "d.csv", "--to", "csv").lines
    assert head == "prediction,score_5"
    assert first.split(",")[0] in ("1", "5")


def test_a_regression_as_a_table(tmp_path: Path) -> None:
    rows = "".join(f"{0.5 * (i % 5)} {1 + i % 5}:1\n" for i in range(N))
    (tmp_path / "d.svm").write_text(rows)
    riata("train", tmp_path / "d.svm", "-o", tmp_path / "m", "--loss", "squared", "-q")
    out = riata("predict", tmp_path / "m", tmp_path / "d.svm", "--to", "csv").lines
    assert out == ["prediction", *riata("predict", tmp_path / "m", tmp_path / "d.svm").lines]


def test_intervals(tmp_path: Path) -> None:
    data = write_frame(frame(), tmp_path / "d.csv")
    words = ("train", data, "-o", tmp_path / "m", "--label", "y", "--ignore", "name", "-q")
    riata(*words, "--method", "bayesian")
    wide, narrow = (
        pd.DataFrame([json.loads(line) for line in riata(*predict, "--interval", chance).lines])
        for predict in [("predict", tmp_path / "m", data, "--to", "jsonl")]
        for chance in (0.95, 0.5)
    )
    assert (wide["low_spam"] < narrow["low_spam"]).all()
    assert (narrow["low_spam"] <= narrow["high_spam"]).all()
    assert (wide["high_spam"] > narrow["high_spam"]).all()
    riata(*words)
    said = riata("predict", tmp_path / "m", data, "--interval", 0.9, code=1).err
    assert "--method bayesian" in said


def test_a_table_that_cannot_be_written(trained: Path, tmp_path: Path) -> None:
    data = write_frame(frame(), tmp_path / "d.csv")
    assert (
        "nowhere" in riata("predict", trained, data, "-o", tmp_path / "nowhere/o.csv", code=1).err
    )
    (tmp_path / "out.csv").write_text("before")
    (tmp_path / "bad.csv").write_text("a,b\n1,red\nx,red\n")
    riata("predict", trained, tmp_path / "bad.csv", "-o", tmp_path / "out.csv", code=1)
    assert (tmp_path / "out.csv").read_text() == "before"


def test_numbers_are_those_of_python() -> None:
    """Bit for bit what repr and csv write, whatever the number."""
    random = np.random.default_rng(1)
    wild = random.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    tame = random.normal(size=3000) * 10.0 ** random.integers(-9, 20, 3000)
    edges = [
        0.0,
        -0.0,
        1.0,
        10.0,
        1e15,
        1e16,
        123456789012345680.0,
        1e-4,
        1e-5,
        5e-324,
        np.inf,
        -np.inf,
        np.nan,
    ]
    numbers = np.concatenate([wild, tame, np.round(tame), edges])
    codes = random.integers(0, 3, len(numbers))
    texts = ["a", "", "é, with a comma"]
    text = io.StringIO()
    names = [texts[code] for code in codes]
    csv.writer(text, lineterminator="\n").writerows(
        zip(names, numbers.tolist(), names, strict=True)
    )
    cells = codes, ["a", "", '"é, with a comma"']
    assert _core.table_rows([cells, numbers, cells], ",").decode() == text.getvalue()
    assert _core.table_rows([], ",") == b""
    for wrong in (
        [numbers, codes[:5] * 1.0],
        [(codes, texts[:2])],
        [(codes - 1, texts)],
        [(codes,)],
    ):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            _core.table_rows(wrong, ",")  # type: ignore[arg-type]


def test_rows_of_a_folder_are_called_by_their_files(tmp_path: Path) -> None:
    for n in range(20):
        for label, text in (("ham", "see you at home"), ("spam", "free entry now")):
            (tmp_path / "mail" / label).mkdir(parents=True, exist_ok=True)
            (tmp_path / "mail" / label / f"{n}.txt").write_text(f"{text} {n}")
    riata("train", tmp_path / "mail", "-o", tmp_path / "m", "-q")
    riata("predict", tmp_path / "m", tmp_path / "mail", "-o", tmp_path / "out.csv")
    found = read(tmp_path / "out.csv")
    assert {*found["file"]} == {str(path) for path in tmp_path.glob("mail/*/*.txt")}
    assert [Path(file).parent.name for file in found["file"]] == found["prediction"].tolist()
    said = riata("predict", tmp_path / "m", tmp_path / "mail", "--id", "text", code=1).err
    assert "names of files are in every table" in said


@pytest.mark.parametrize("suffix", ["xlsx", "json"])
def test_a_table_that_is_not_written_is_refused(trained: Path, tmp_path: Path, suffix: str) -> None:
    data = write_frame(frame(), tmp_path / "new.csv")
    out = tmp_path / f"out.{suffix}"
    assert f"not as .{suffix}" in riata("predict", trained, data, "-o", out, code=2).err
    assert not out.exists()
    riata("predict", trained, data, "-o", out, "--to", "jsonl", "--id", "name")
    assert json.loads(out.read_text().splitlines()[0])["name"] == "row 0"
