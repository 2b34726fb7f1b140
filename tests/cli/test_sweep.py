"""riata sweep: what it prints, what it saves, and what it says when something is wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from riata import model_file
from riata.sweeping import Sweep
from tests.cli.helpers import RIATA, many_rows, riata, write_problem


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "train.svm"
    write_problem(path, 600)
    return path


def test_a_sweep_saves_the_best_as_any_model(tmp_path: Path, data: Path) -> None:
    best, log, results = tmp_path / "best.riata", tmp_path / "log.jsonl", tmp_path / "r.json"
    done = riata(
        "sweep", data, "-o", best, "--grid", "l1=1e-6:1e-2:3", "--grid", "eta0=0.1,0.5", "--method",
        "elastic-net,ftrl", "--folds", 4, "--log", log, "--results", results, "--top", 3,
    )  # fmt: skip
    assert "swept     9 settings in 1 pass" in done.out
    assert "in 4-fold cross-validation" in done.out
    assert "->" in done.out
    assert "settings that none beats in both" in done.out
    assert "45 columns of weights" in done.err
    found = Sweep.load(results)
    loaded = model_file.load(best)
    assert loaded.learner.family == found.best_["method"]
    for name, value in found.best_params_.items():
        assert getattr(loaded.learner, name) == value
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert entries[-1]["event"] == "saved"
    assert entries[-1]["best"] == found.best_index_
    assert {"event", "leaders", "examples"} <= entries[0].keys()
    riata("evaluate", best, data)
    riata("inspect", best)
    assert len(riata("predict", best, data).lines) == 600


def test_the_winner_is_what_train_makes_of_the_same_setting(tmp_path: Path, data: Path) -> None:
    best, single = tmp_path / "best.riata", tmp_path / "single.riata"
    riata("sweep", data, "-o", best, "--grid", "l1=0.001", "--passes", 2, "--shuffle", 100, "-q")
    riata("train", data, "-o", single, "--method", "elastic-net", "--l1", 0.001, "--passes", 2,
          "--shuffle", 100, "-q")  # fmt: skip
    a, b = model_file.load(best), model_file.load(single)
    assert a.learner.parameters() == b.learner.parameters()
    assert a.record.progressive_loss == b.record.progressive_loss
    assert (a.learner.coef()[1] == b.learner.coef()[1]).all()


def test_json_is_all_that_is_printed(tmp_path: Path, data: Path) -> None:
    done = riata("sweep", data, "-o", tmp_path / "b", "--grid", "l1=0,1e-3", "--json")
    values = json.loads(done.out)
    assert values["format"] == "riata-sweep"
    assert len(values["settings"]) == 2
    assert done.err == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--grid", "l1"], "is not NAME=VALUES"),
        (["--grid", "l1="], "is not NAME=VALUES"),
        (["--grid", "l1=1:2"], "FROM:TO:COUNT"),
        (["--grid", "l1=1e-3:1:1000000"], "1 to 100,000 values"),
        (["--grid", "l1=1", "--grid", "l1=2"], "names l1 twice"),
        (["--grid", "lr=1"], "no parameter 'lr'"),
        (["--grid", "l1=1", "--method", "elastik"], "not one of the methods"),
        (["--grid", "l1=1", "--group", "user"], "name the number of folds"),
        (["--grid", "l1=0", "--folds", "1000"], "folds have no example"),
        (["--grid", "l1=0,1", "--max-memory", "10"], "fewer settings or folds"),
        (["--grid", "l1=0,1", "--folds", "3", "--group", "user"], "features have numbers"),
        ([], "Missing option '--grid'"),
    ],
)
def test_mistakes(tmp_path: Path, data: Path, words: list[str], says: str) -> None:
    done = None
    for code in (1, 2):
        try:
            done = riata("sweep", data, "-o", tmp_path / "b", *words, code=code)
            break
        except AssertionError:
            continue
    assert done is not None
    assert says in done.err
    assert not (tmp_path / "b").exists()


def test_a_broken_line_leaves_the_best_so_far(tmp_path: Path, data: Path) -> None:
    with data.open("a") as file:
        file.write("1 3:x\n")
    done = riata("sweep", data, "-o", tmp_path / "b", "--grid", "l1=0,1e-3", "-q", code=1)
    assert "train.svm:601" in done.err
    assert "600 examples were compared before" in done.err
    assert model_file.load(tmp_path / "b.partial").learner.t == 600


def test_ctrl_c_shows_what_was_found_and_saves_the_best(tmp_path: Path) -> None:
    data, best, log = tmp_path / "many.svm", tmp_path / "best.riata", tmp_path / "log"
    many_rows(data, 200_000)
    words = ["sweep", data, "-o", best, "--grid", "l1=0:1e-3:16", "--passes", 50, "--log", log]
    process = subprocess.Popen(
        [*RIATA, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not log.exists() or log.read_text().count("\n") < 6):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"->" in out
    assert b"interrupted: the best so far is saved" in err
    assert b"Traceback" not in err
    assert model_file.load(best).learner.t > 0


def test_a_method_without_a_parameter_of_the_grid_is_named_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_text("1 1:1\n0 2:1\n" * 20)
    words = ("--grid", "l1=1e-4,1e-3", "--method", "elastic-net,bayesian")
    done = riata("sweep", tmp_path / "d.svm", "-o", tmp_path / "b", *words, code=2)
    assert "no parameter of bayesian" in done.err
    assert "{" not in done.err
