from __future__ import annotations

import contextlib
import gzip
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from riata.learners import FAMILIES, ElasticNet
from riata.sources import open_source
from riata.training import train
from tests.cli.helpers import RIATA, many_rows, riata, riata_process, typed, write_problem

ELASTIC = ("--method", "elastic-net", "--l1", "1e-3")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_problem(tmp_path / "d.svm")
    return tmp_path / "d.svm"


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


# Going on


def test_a_complete_run_is_not_resumed(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    riata("train", data, "-o", model, "--passes", 2, "--shuffle", 10)
    done = riata("train", data, "-o", model, "--resume", model, code=2)
    assert "came to its end after 2 passes" in done.err
    riata("train", data, "-o", model, "--resume", model, "--passes", 4)
    riata("train", data, "-o", tmp_path / "whole", "--passes", 4, "--shuffle", 10)
    assert model.read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("method", ["auto", "elastic-net", "ftrl", "bayesian", "interior"])
def test_what_was_learned_before_is_not_forgotten(method: str, tmp_path: Path) -> None:
    """Two files without a feature in common, one after the other."""
    rng = np.random.default_rng(0)
    for name, first in (("a", 1), ("b", 60)):
        lines = []
        for _ in range(400):
            seen = sorted({first + int(k) for k in rng.integers(0, 30, 5)})
            label = int(sum(k % 2 for k in seen) > len(seen) / 2)
            lines.append(f"{label} " + " ".join(f"{k}:1" for k in seen))
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    riata("train", tmp_path / "a", "-o", tmp_path / "m", "--method", method, "-q")
    said = riata("train", tmp_path / "b", "-o", tmp_path / "m", "--initial", tmp_path / "m").out
    assert "proof" not in said  # of b alone, it would say nothing of the model
    for name in ("a", "b"):
        found = json.loads(riata("evaluate", tmp_path / "m", tmp_path / name, "--json").out)
        assert found["accuracy"] > 0.85, name


def test_a_complete_sketch_takes_no_more(data: Path, tmp_path: Path) -> None:
    riata("train", data, "-o", tmp_path / "m", "--method", "sketch", "-q")
    words = ["train", data, "-o", tmp_path / "more", "--initial", tmp_path / "m"]
    assert "this sketch is complete" in riata(*words, code=2).err
    assert not (tmp_path / "more").exists()


def test_initial(data: Path, tmp_path: Path) -> None:
    lines = data.read_text().splitlines(keepends=True)
    (tmp_path / "one").write_text("".join(lines[:200]))
    (tmp_path / "two").write_text("".join(lines[200:]))
    riata("train", tmp_path / "one", "-o", tmp_path / "m", *ELASTIC)
    riata("train", tmp_path / "two", "-o", tmp_path / "m", "--initial", tmp_path / "m")
    riata("train", data, "-o", tmp_path / "whole", *ELASTIC)
    both, whole = model_file.load(tmp_path / "m"), model_file.load(tmp_path / "whole")
    assert both.record.earlier == [
        {
            "data": [str(tmp_path / "one")],
            "examples": 200,
            "passes": 1,
            "progressive_loss": both.record.earlier[0]["progressive_loss"],
        }
    ]
    old, new = whole.learner.state(), both.learner.state()
    assert {k: v.tobytes() for k, v in old.items()} == {k: v.tobytes() for k, v in new.items()}


def test_a_broken_line_keeps_what_was_learned(tmp_path: Path) -> None:
    """A million bytes in, a bad line: the model so far is saved beside, and goes on once mended."""
    many_rows(tmp_path / "good", 60_000)
    lines = (tmp_path / "good").read_text().splitlines(keepends=True)
    lines[59_000] = "1 1:what\n"
    (tmp_path / "d").write_text("".join(lines))
    output = tmp_path / "m"
    output.write_text("before")
    done = riata("train", tmp_path / "d", "-o", output, "--shuffle", 1000, code=1)
    assert f"{tmp_path / 'd'}:59001:5" in done.err
    assert output.read_text() == "before"
    assert f"saved to {output}.partial" in done.err
    learned = model_file.load(f"{output}.partial").record.examples
    assert 0 < learned <= 59_000
    (tmp_path / "d").write_text((tmp_path / "good").read_text())
    resume_as_told(done.err)
    riata("train", tmp_path / "d", "-o", tmp_path / "whole", "--shuffle", 1000)
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()


def test_the_command_to_go_on_has_what_was_given_and_no_more(tmp_path: Path) -> None:
    """Neither defaults, nor what the model knows (method, parameters, hash key); paths as a shell wants them."""
    data, output = tmp_path / "my data.csv", tmp_path / "a model"
    rows = [f"{i % 2},{i % 7},word{i % 11} other{i % 3} third" for i in range(3000)]
    rows[2500] = "1,2,a,b,c,d"
    data.write_text("\n".join(["y,n,body", *rows]) + "\n")
    reading = ["--label", "y", "--text", "body", "--numeric", "n"]
    saving = ["--checkpoint", str(tmp_path / "c p"), "--every", "1000", "--max-memory", "64G"]
    method = ["--method", "ftrl", "--l1", "0.1", "--shuffle", "100", "--hash-key", "random"]
    done = riata("train", data, "-o", output, *method, *saving, *reading, code=1)
    told = re.search(r"to go on: (.*)", done.err)
    assert told is not None
    expected = ["riata", "train", str(data), "-o", str(output), "--resume", f"{output}.partial"]
    assert shlex.split(told[1])[: len(expected)] == expected
    assert set(shlex.split(told[1])[len(expected) :]) == {*reading, *saving}
    rows[2500] = "1,2,a b"
    data.write_text("\n".join(["y,n,body", *rows]) + "\n")
    resume_as_told(done.err)
    key = model_file.load(output).schema.hash_key  # type: ignore[union-attr]
    again = ["train", data, "-o", tmp_path / "whole", *method[:-1], key, *reading]
    riata(*again)
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()
    (tmp_path / "d").write_text("1 1:1\n1 1:what\n")
    done = riata(
        "train", tmp_path / "d", "-o", output, "--bad-lines", tmp_path / "b", "--max-bad", 0, code=1
    )
    assert "--scale" not in done.err
    assert "--on-error" not in done.err


def resume_as_told(message: str) -> None:
    """Type what the message says."""
    command = re.search(r"to go on: riata (.*)", message)
    assert command is not None
    riata(*shlex.split(command[1]))


@pytest.mark.parametrize("when", [2, 5, 9])
def test_ctrl_c_then_resume_equals_never_stopping(tmp_path: Path, when: int) -> None:
    data, output = tmp_path / "d", tmp_path / "m"
    many_rows(data, 60_000)
    options = ["--passes", "500", "--shuffle", "5000", "--holdout", "0.1", "--progress", "lines"]
    words = [*RIATA, "train", str(data), "-o", str(output), *options]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for _ in range(when):
            process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130, rest
    assert "Traceback" not in rest
    record = model_file.load(output).record
    assert record.interrupted
    passes = record.passes + 2
    command = re.search(r"to go on: riata (.*)", rest)
    assert command is not None
    riata(*shlex.split(command[1]), "--passes", passes)
    options[1] = str(passes)
    riata("train", data, "-o", tmp_path / "whole", *options)
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()


def test_ctrl_c_before_anything_was_learned(tmp_path: Path) -> None:
    started = []
    for name, format in (("a", ["--format", "svmlight"]), ("b", [])):
        output = tmp_path / name
        output.write_text("before")
        words = [*RIATA, "train", "-", "-o", str(output), *format]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append((process, output))
    time.sleep(3)  # they wait for input now
    for process, output in started:
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate()
        assert process.returncode == 130
        assert "Traceback" not in rest
        assert output.read_text() == "before"
