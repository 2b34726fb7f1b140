"""Runs that are resumed, begin with a model, or are stopped."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from tests.cli.helpers import ELASTIC, RIATA, many_rows, riata


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
