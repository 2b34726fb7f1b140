from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from riata import metrics, model_file
from tests.cli.helpers import RIATA, many_rows, riata, riata_process, write_problem


@pytest.fixture(params=[2, 3])
def trained(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    write_problem(tmp_path / "d", classes=request.param)
    riata("train", tmp_path / "d", "-o", tmp_path / "m", "--quiet")
    return tmp_path / "m", tmp_path / "d"


def test_predictions_are_the_learners(trained: tuple[Path, Path], tmp_path: Path) -> None:
    from riata.sources import open_source

    path, data = trained
    model = model_file.load(path)
    scores = np.vstack([model.learner.score(block) for block in open_source(str(data))])
    assert model.classes is not None
    labels = model.classes[metrics.predicted_codes(scores)]
    assert riata("predict", path, data).lines == [f"{label:g}" for label in labels]
    printed = [
        [float(x) for x in line.split("\t")]
        for line in riata("predict", path, data, "--score").lines
    ]
    assert np.array_equal(np.array(printed), scores)
    probabilities = model.learner.probability(scores)
    assert probabilities is not None
    if scores.shape[1] > 1:
        probabilities = metrics.class_probabilities(probabilities)
    out = riata("predict", path, data, "--proba", "--header")
    head, *lines = out.lines
    assert head == "\t".join(["1"] if scores.shape[1] == 1 else ["1", "2", "3"])
    assert np.array_equal(
        np.array([[float(x) for x in line.split("\t")] for line in lines]), probabilities
    )
    riata("predict", path, data, "--proba", "--header", "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == out.out


def test_pipes(trained: tuple[Path, Path]) -> None:
    path, data = trained
    assert (
        riata_process("predict", path, "-", stdin=data.read_bytes()).out
        == riata("predict", path, data).out
    )


def test_rows_without_labels(trained: tuple[Path, Path], tmp_path: Path) -> None:
    path, data = trained
    bare = "\n".join(line.partition(" ")[2] for line in data.read_text().splitlines()) + "\n"
    (tmp_path / "bare").write_text(bare)
    with_labels = riata("predict", path, data, "--score").lines
    kept = [score for score, line in zip(with_labels, bare.splitlines(), strict=True) if line]
    assert riata("predict", path, tmp_path / "bare", "--no-labels", "--score").lines == kept


def test_a_reader_that_has_had_enough(tmp_path: Path) -> None:
    many_rows(tmp_path / "d", 60_000)
    riata("train", tmp_path / "d", "-o", tmp_path / "m", "--quiet")
    command = shlex.join([*RIATA, "predict", str(tmp_path / "m"), str(tmp_path / "d"), "--proba"])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -2"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""


def test_no_probabilities(tmp_path: Path) -> None:
    write_problem(tmp_path / "d")
    words = ("--method", "elastic-net")
    riata("train", tmp_path / "d", "-o", tmp_path / "m", *words, "--loss", "hinge")
    assert (
        "--loss logistic" in riata("predict", tmp_path / "m", tmp_path / "d", "--proba", code=1).err
    )
    write_problem(tmp_path / "r", classes=0)
    riata("train", tmp_path / "r", "-o", tmp_path / "m", *words, "--loss", "squared")
    assert "regression" in riata("predict", tmp_path / "m", tmp_path / "r", "--proba", code=1).err
    numbers = [float(line) for line in riata("predict", tmp_path / "m", tmp_path / "r").lines]
    assert len(numbers) == 400


def test_a_bad_line_leaves_no_half_file(trained: tuple[Path, Path], tmp_path: Path) -> None:
    path, data = trained
    (tmp_path / "bad").write_text(data.read_text() + "1 1:x\n")
    (tmp_path / "out").write_text("before")
    done = riata("predict", path, tmp_path / "bad", "-o", tmp_path / "out", code=1)
    assert ":401:5" in done.err
    assert (tmp_path / "out").read_text() == "before"


def test_bad_models(tmp_path: Path) -> None:
    write_problem(tmp_path / "d")
    assert "No such file" in riata("predict", tmp_path / "m", tmp_path / "d", code=1).err
    assert "not a model" in riata("predict", tmp_path / "d", tmp_path / "d", code=1).err
    assert "not a model" in riata("evaluate", tmp_path / "d", tmp_path / "d", code=1).err


def test_evaluate(trained: tuple[Path, Path]) -> None:
    path, data = trained
    result = json.loads(riata("evaluate", path, data, "--json").out)
    assert result["examples"] == 400
    lines = riata("predict", path, data).lines
    truth = [line.split()[0] for line in data.read_text().splitlines()]
    right = np.mean([float(a) == float(b) for a, b in zip(lines, truth, strict=True)])
    assert result["accuracy"] == pytest.approx(right)
    report = riata("evaluate", path, data).out
    for word in ("log loss", "accuracy", "weights"):
        assert word in report
    assert ("AUC" in report) == ("auc" in result)


def test_evaluate_a_regression(tmp_path: Path) -> None:
    write_problem(tmp_path / "d", classes=0)
    riata("train", tmp_path / "d", "-o", tmp_path / "m", "--loss", "squared")
    report = riata("evaluate", tmp_path / "m", tmp_path / "d").out
    for word in ("RMSE", "MAE", "R2"):
        assert word in report


def test_evaluate_with_an_unknown_label(trained: tuple[Path, Path], tmp_path: Path) -> None:
    path, _ = trained
    (tmp_path / "t").write_text("9 1:1\n")
    assert (
        "t:1: label 9 is none of the classes" in riata("evaluate", path, tmp_path / "t", code=1).err
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_labels_that_were_words_are_printed_as_words(classes: int, tmp_path: Path) -> None:
    words = ["ham", "spam", "unsure"][:classes]
    rows = "".join(f"{words[i % classes]},w{i % classes}\n" for i in range(300))
    (tmp_path / "d.csv").write_text("label,word\n" + rows)
    riata("train", tmp_path / "d.csv", "-o", tmp_path / "m", "--quiet")
    lines = riata("predict", tmp_path / "m", tmp_path / "d.csv").lines
    assert lines == [words[i % classes] for i in range(300)]
    head = riata("predict", tmp_path / "m", tmp_path / "d.csv", "--proba", "--header").lines[0]
    assert head.split("\t") == (words[1:] if classes == 2 else words)


def test_a_hashed_model_predicts_named_features_without_their_names(tmp_path: Path) -> None:
    text = "".join(f"{1 - 2 * (i % 2)} |words w{i % 3} v{i % 2}:2\n" for i in range(300))
    (tmp_path / "d.vw").write_text(text)
    riata("train", tmp_path / "d.vw", "-o", tmp_path / "m", "--quiet", "--store", "hashed")
    lines = riata("predict", tmp_path / "m", tmp_path / "d.vw").lines
    assert lines == [str(1 - 2 * (i % 2)) for i in range(300)]
