from __future__ import annotations

import contextlib
import gzip
import json
import os
import pty
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from riata.learners import FAMILIES, ElasticNet
from riata.sources import open_source
from riata.training import train
from tests.cli.helpers import ELASTIC, RIATA, riata, riata_process, typed, write_problem


def test_equals_the_library(data: Path, tmp_path: Path) -> None:
    options = typed("--eta0 0.3 --passes 3 --shuffle 50 --seed 7 --holdout 0.2")
    done = riata("train", data, "-o", tmp_path / "m", *ELASTIC, *options)
    model = train(
        open_source(str(data)),
        lambda m: ElasticNet(outputs=m, l1=1e-3, eta0=0.3),
        passes=3,
        shuffle=50,
        random_state=7,
        holdout=0.2,
    )
    model_file.save(model, tmp_path / "other")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "other").read_bytes()
    for word in (
        "960 examples in 3 passes",
        "holdout",
        "80 examples never learned",
        "saved",
        "next",
    ):
        assert word in done.out


def test_the_same_model_from_every_door(data: Path, tmp_path: Path) -> None:
    content = data.read_bytes()
    packed = tmp_path / "d.svm.gz"
    packed.write_bytes(gzip.compress(content))
    lines = content.splitlines(keepends=True)
    (tmp_path / "a.svm").write_bytes(b"".join(lines[:150]))
    (tmp_path / "b.svm").write_bytes(b"".join(lines[150:]))
    riata("train", data, "-o", tmp_path / "0")
    riata("train", packed, "-o", tmp_path / "1")
    riata("train", tmp_path / "a.svm", tmp_path / "b.svm", "-o", tmp_path / "2")
    riata_process("train", "-", "-o", tmp_path / "3", stdin=content)
    shell = f"zcat {packed} | {shlex.join(RIATA)} train - -o {tmp_path / '4'}"
    subprocess.run(shell, shell=True, check=True, capture_output=True)
    riata("train", data, "-o", tmp_path / "5", "--threads", 1, "--progress", "lines")
    whole = model_file.load(tmp_path / "0").learner.state()
    for name in "12345":
        state = model_file.load(tmp_path / name).learner.state()
        assert {k: v.tobytes() for k, v in state.items()} == {
            k: v.tobytes() for k, v in whole.items()
        }


def test_table_and_log(data: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = ["--passes", 2, "--log", log, "--holdout", 0.1]
    done = riata("train", data, "-o", tmp_path / "m", *options)
    head, *rows = done.err.splitlines()
    assert head.split() == [
        *("examples", "pass", "loss", "since", "last", "holdout", "non-zero", "read", "examples/s")
    ]
    assert [row.split()[0] for row in rows] == ["128", "256", "360", "512", "720"]
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [e["examples"] for e in entries[:-1]] == [128, 256, 360, 512, 720]
    assert [e["event"] for e in entries].count("pass") == 2
    assert entries[-1]["event"] == "saved"
    model = model_file.load(tmp_path / "m")
    assert entries[-1]["record"]["examples"] == model.record.examples
    assert entries[-2]["loss"] == model.record.progressive_loss
    weighted = [e["loss_since_last"] for e in entries[:2]]
    assert np.mean(weighted) == pytest.approx(entries[1]["loss"])


def test_quiet(data: Path, tmp_path: Path) -> None:
    done = riata("train", data, "-o", tmp_path / "m", "--quiet")
    assert (done.out, done.err) == ("", "")
    done = riata("train", data, "-o", tmp_path / "m", "--progress", "none")
    assert done.err == ""
    assert "saved" in done.out


def test_a_terminal_gets_a_bar(data: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    words = [*RIATA, "train", str(data), "-o", str(tmp_path / "m")]
    with subprocess.Popen(words, stderr=theirs, stdout=subprocess.DEVNULL) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # how Linux says that a terminal was closed
            while piece := os.read(ours, 4096):
                seen += piece
    os.close(ours)
    assert process.returncode == 0
    assert b"400" in seen
    assert "━".encode() in seen


def test_bar_where_there_is_no_terminal(data: Path, tmp_path: Path) -> None:
    done = riata("train", data, "-o", tmp_path / "m", "--progress", "bar")
    assert "400 examples" in done.err
    assert "non-zero" in done.err


def test_what_comes_next_works(data: Path, tmp_path: Path) -> None:
    done = riata("train", data, "-o", tmp_path / "my model", "--holdout", 0.1)
    commands = [line for line in done.out.splitlines() if "riata " in line]
    for line, placeholder in zip(commands, ("TEST", "NEW"), strict=True):
        words = shlex.split(line[line.index("riata ") :])
        riata(*[str(data) if word == placeholder else word for word in words[1:]])


def test_classes_and_weights(tmp_path: Path) -> None:
    write_problem(tmp_path / "d", classes=3)
    riata("train", tmp_path / "d", "-o", tmp_path / "m", "--class-weight", "balanced")
    model = model_file.load(tmp_path / "m")
    assert model.classes is not None
    assert model.classes.tolist() == [1, 2, 3]
    assert model.learner.outputs == 3
    assert model.record.settings.class_weight is not None
    words = ["--classes", "1,2,3,4", "--class-weight", "1=2,3=0.5"]
    riata("train", tmp_path / "d", "-o", tmp_path / "m", *words)
    assert model_file.load(tmp_path / "m").learner.outputs == 4
    for wrong in ("1", "1,,2", ""):
        riata("train", tmp_path / "d", "-o", tmp_path / "m", "--classes", wrong, code=2)
    riata("train", tmp_path / "d", "-o", tmp_path / "m", "--class-weight", "1:2", code=2)
    riata("train", tmp_path / "d", "-o", tmp_path / "m", "--class-weight", "9=2", code=2)


def test_regression(tmp_path: Path) -> None:
    write_problem(tmp_path / "d", classes=0)
    options = typed("--method elastic-net --loss squared --eta0 0.05 --holdout 0.1 --clip -9 9")
    done = riata("train", tmp_path / "d", "-o", tmp_path / "m", *options)
    assert "RMSE" in done.out
    assert model_file.load(tmp_path / "m").classes is None


# Methods


@pytest.mark.parametrize("family", FAMILIES)
def test_every_method_from_file_to_prediction(data: Path, tmp_path: Path, family: str) -> None:
    model, method = tmp_path / "m", family.removesuffix("-regression")
    words = ["--method", method, *(["--loss", "squared"] if method != family else [])]
    riata("train", data, "-o", model, *words, "--passes", 2, "--holdout", 0.1)
    loaded = model_file.load(model)
    assert loaded.learner.family == family
    assert loaded.record.progressive_loss is not None
    regression = loaded.learner.task == "regression"
    assert loaded.record.progressive_loss < (0.5 if regression else np.log(2))
    assert len(riata("predict", model, data, *([] if regression else ["--proba"])).lines) == 400


def test_options_of_another_method(data: Path, tmp_path: Path) -> None:
    done = riata("train", data, "-o", tmp_path / "m", "--gravity", "0.1", code=2)
    assert "--gravity belongs to --method truncated: name the method" in done.err
    assert "without --method it is auto" in done.err
    words = ["--method", "elastic-net", "--gravity", "0.1"]
    done = riata("train", data, "-o", tmp_path / "m", *words, code=2)
    assert "--gravity belongs to --method truncated, not to elastic-net" in done.err
    assert "elastic-net takes" in done.err
    done = riata("train", data, "-o", tmp_path / "m", "--method", "ftrl", "--eta0", "1", code=2)
    assert "--eta0 belongs to --method" in done.err
    done = riata(
        "train", data, "-o", tmp_path / "m", "--method", "elastic-net", "--update", "round", code=2
    )
    assert "'--update': 'round' is not one of 'fobos', 'sgd'" in done.err


def test_options_reach_the_learner(data: Path, tmp_path: Path) -> None:
    options = typed(
        "--method elastic-net --no-intercept --normalize l2 --learning-rate invscaling --power-t 0.7 --l2 0.01 "
        "--loss hinge"
    )
    riata("train", data, "-o", tmp_path / "m", *options)
    parameters = model_file.load(tmp_path / "m").learner.parameters()
    assert not parameters["fit_intercept"]
    assert (parameters["normalize"], parameters["learning_rate"]) == ("l2", "invscaling")
    assert (parameters["power_t"], parameters["l2"], parameters["loss"]) == (0.7, 0.01, "hinge")
    assert parameters["l1"] == ElasticNet().l1


# Wrong options and bad input


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "elastic-net", "--l1", "-1"], "l1=-1"),
        (["--method", "elastic-net", "--l1", "nan"], "l1=nan"),
        (["--method", "elastic-net", "--eta0", "0"], "eta0=0"),
        (
            [
                "--method",
                "elastic-net",
                "--update",
                "sgd",
                "--eta0",
                "10",
                "--l2",
                "0.2",
                "--learning-rate",
                "constant",
            ],
            "eta0 * l2",
        ),
        (["--holdout", "1.5"], "fraction"),
        (["--passes", "0"], "--passes"),
        (["--resume", "a", "--initial", "b"], "choose one"),
        (["--resume", "a", "--l1", "0.1"], "leave out --l1"),
        (["--initial", "a", "--eta0", "0.1"], "leave out --eta0"),
        (["--resume", "a", "--classes", "0,1"], "--classes"),
        (["--loss", "squared", "--class-weight", "1=2"], "class_weight"),
    ],
)
def test_wrong_usage(data: Path, tmp_path: Path, words: list[str], message: str) -> None:
    output = tmp_path / "m"
    output.write_text("before")
    done = riata("train", data, "-o", output, *words, code=2)
    assert message in done.err
    assert output.read_text() == "before"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no examples"),
        ("1 1:1\n0 2:nan\n", "d:2:"),
        ("1 1:1\n0 0:1\n", "--zero-based"),
        ("1 1:1\n0 3:1 2:1\n", "d:2:"),
        ("1 1:1\n0 3:1\n5 1:1\n", "d:3: "),
        ("1 1:1\n3:1\n", "d:2:"),
    ],
)
def test_bad_data(tmp_path: Path, content: str, message: str) -> None:
    output = tmp_path / "m"
    output.write_text("before")
    (tmp_path / "d").write_text(content)
    words = ["--classes", "0,1"] if content.count("\n") == 3 else []
    done = riata("train", tmp_path / "d", "-o", output, *words, code=1)
    assert message in done.err
    assert output.read_text() == "before"


def test_bad_paths(data: Path, tmp_path: Path) -> None:
    for call in (riata, riata_process):
        assert "no such file" in call("train", tmp_path / "x", "-o", tmp_path / "m", code=1).err
    folder = riata("train", tmp_path, "-o", tmp_path / "m", code=1).err
    assert "a folder is read as one of texts" in folder
    assert "this is a folder" in riata("train", data, "-o", tmp_path, code=1).err
    done = riata("train", data, "-o", tmp_path / "no" / "m", code=1)
    assert "there is no folder" in done.err
    done = riata("train", data, "-o", tmp_path / "m", "--resume", data, code=1)
    assert "not a model" in done.err
    assert "only once" in riata("train", "-", "-", "-o", "m", code=2).err
    done = riata_process(
        "train", "-", "-o", tmp_path / "m", "--passes", 2, stdin=b"1 1:1\n", code=1
    )
    assert "only once" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission(data: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    done = riata("train", data, "-o", tmp_path / "closed" / "m", code=1)
    assert "Permission denied" in done.err


def test_divergence(tmp_path: Path) -> None:
    write_problem(tmp_path / "d", classes=0)
    options = ["--method", "elastic-net", "--loss", "squared", "--eta0", "1e9", "--passes", 50]
    options += ["--learning-rate", "constant", "--feature-scale", "none"]
    done = riata("train", tmp_path / "d", "-o", tmp_path / "m", *options, code=1)
    assert "eta0" in done.err
    assert not (tmp_path / "m").exists()
