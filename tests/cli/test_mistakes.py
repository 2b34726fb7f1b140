"""What is said to somebody who types what cannot be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from riata import model_file
from tests.cli.helpers import riata, write_problem


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_problem(tmp_path / "d.svm")
    return tmp_path / "d.svm"


@pytest.mark.parametrize("words", [("-q", "ab"), ("-qab",), ("-q", "::")])
def test_quiet_is_not_quadratic(data: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    said = riata("train", data, "-o", tmp_path / "m", *words, code=2).err
    assert "-q is --quiet here" in said
    assert "--cross" in said
    assert not (tmp_path / "m").exists()
    riata("train", "-q", data, "-o", tmp_path / "m")  # quiet, before a file


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("--interactions", "--cross"),
        ("--quadratic", "--cross"),
        ("-l", "--eta0"),
        ("--loss_function", "--loss"),
        ("--epochs", "--passes"),
        ("--target", "--label"),
        ("--lable", "--label"),
        ("--sep", "--delimiter"),
        ("-f", "-o MODEL"),
        ("-t", "riata predict"),
        ("--oaa", "more than two classes"),
    ],
)
def test_options_of_other_programs(data: Path, tmp_path: Path, option: str, meant: str) -> None:
    assert meant in riata("train", data, "-o", tmp_path / "m", option, "1", code=2).err


@pytest.mark.parametrize("option", ["--classes", "--passes", "--l1"])
def test_options_of_train(data: Path, tmp_path: Path, option: str) -> None:
    riata("train", data, "-o", tmp_path / "m", "-q")
    said = riata("evaluate", tmp_path / "m", data, option, "1", code=2).err
    assert f"{option} is an option of riata train" in said


def test_convert_has_its_output_last(data: Path, tmp_path: Path) -> None:
    said = riata("convert", data, "-o", tmp_path / "x.vw", code=2).err
    assert "riata convert DATA... OUT" in said


def test_commands_with_a_slip() -> None:
    assert "did you mean train?" in riata("trian", code=2).err
    assert "did you mean evaluate?" in riata("test", code=2).err
    assert "there are train, " in riata("xyzzy", code=2).err


@pytest.mark.parametrize("option", ["-o", "--checkpoint", "--log", "--bad-lines", "--cache"])
def test_a_folder_that_is_not_there(data: Path, tmp_path: Path, option: str) -> None:
    output = [] if option == "-o" else ["-o", tmp_path / "m"]
    there = tmp_path / "nowhere"
    said = riata("train", data, *output, option, there / "file", code=1).err
    assert f"there is no folder {there}" in said
    assert "examples" not in said  # before training
    assert not (tmp_path / "m").exists()


def test_a_place_that_is_no_folder(data: Path, tmp_path: Path) -> None:
    assert f"{data} is not a folder" in riata("train", data, "-o", data / "m", code=1).err
    said = riata("train", data, "-o", tmp_path, code=1).err
    assert f"{tmp_path}: this is a folder: name a file in it" in said
    said = riata("convert", data, tmp_path / "nowhere/d.vw", code=1).err
    assert f"there is no folder {tmp_path / 'nowhere'}" in said


def test_spreadsheets(data: Path, tmp_path: Path) -> None:
    (tmp_path / "d.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    (tmp_path / "d.xls").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(100))
    for name in ("d.xlsx", "d.xls"):
        words = ("train", tmp_path / name, "-o", tmp_path / "m", "--label", "y")
        said = riata(*words, code=1).err
        assert "a spreadsheet" in said
        assert "read_excel" in said
    (tmp_path / "d.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    assert "unzip -p" in riata("train", tmp_path / "d.zip", "-o", tmp_path / "m", code=1).err


def test_model_and_data_in_the_wrong_order(data: Path, tmp_path: Path) -> None:
    riata("train", data, "-o", tmp_path / "m", "-q")
    said = riata("train", tmp_path / "m", "-o", tmp_path / "n", code=1).err
    assert "this is a model of Riata's, not data" in said
    for command in ("predict", "evaluate"):
        said = riata(command, data, tmp_path / "m", code=1).err
        assert "m is a model: name it first, and the data behind it" in said


def test_lists_have_commas_everywhere(tmp_path: Path) -> None:
    rows = "".join(f"{i % 2},{i % 7},{i % 5},{i},x\n" for i in range(200))
    (tmp_path / "d.csv").write_text("label,a,b,c,d\n" + rows)
    words = ("train", tmp_path / "d.csv", "-o", tmp_path / "m", "-q")
    models = []
    for lists in (
        "--ignore|c, d|--buckets|a:2, b:3|--cross|a:b, a:a",
        "--ignore|c|--ignore|d|--buckets|a:2|--buckets|b:3|--cross|a:b|--cross|a:a",
    ):
        riata(*words, *lists.split("|"))
        models.append(
            {k: v.tolist() for k, v in model_file.load(tmp_path / "m").learner.state().items()}
        )
    assert models[0] == models[1]
    clip = ("--method", "elastic-net", "--loss", "squared", "--eta0", "0.01", "--clip")
    for pair in (["-1,1"], ["-1", "1"]):
        riata(*words, *clip, *pair)
        assert model_file.load(tmp_path / "m").learner.parameters()["clip"] == [-1, 1]


def test_a_regression_of_words(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("label,a\n" + "ham,1\nspam,2\n" * 20)
    said = riata("train", tmp_path / "d.csv", "-o", tmp_path / "m", "--loss", "squared", code=1).err
    assert "the labels are words, ham, spam" in said
    assert "--loss logistic" in said
