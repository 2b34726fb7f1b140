"""Completion in shells, suggestions, and JSON from every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from riata.cli import COMMANDS
from tests.cli.helpers import riata, riata_process


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    said = riata("completion", shell).out
    assert "_RIATA_COMPLETE" in said
    assert f"{shell}_complete" in said


def complete(*words: str) -> list[str]:
    env = os.environ | {
        "_RIATA_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["riata", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "riata"], env=env, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done.stdout.split()


def test_what_is_completed() -> None:
    assert complete("ins") == ["plain,inspect"]
    assert complete("train", "--method", "b") == ["plain,bayesian"]
    assert "plain,--bootstrap" in complete("evaluate", "--boot")
    assert complete("evaluate", "mod") == ["file,mod"]
    assert "plain,--alpha" in complete("train", "--method", "ftrl", "--alp")


def test_the_nearest_is_suggested(folder: Path) -> None:
    assert "did you mean explain?" in riata("explian", code=2).err
    assert "--method" in riata("train", "x", "-o", "y", "--methd", "ftrl", code=2).err
    assert "did you mean ftrl?" in riata("train", "x", "-o", "y", "--method", "ftlr", code=2).err
    assert "--bootstrap" in riata("evaluate", "m", "d", "--bootstrp", "3", code=2).err
    assert "did you mean fish?" in riata("completion", "fsh", code=2).err


def test_json_everywhere(folder: Path, tmp_path: Path) -> None:
    model, data = folder / "two.riata", folder / "two.csv"
    rows = [json.loads(line) for line in riata("predict", model, data, "--json").lines]
    assert len(rows) == 300
    assert rows[0]["prediction"] in ("yes", "no")
    assert "choose one" in riata("predict", model, data, "--json", "--to", "csv", code=2).err
    done = json.loads(riata("convert", data, tmp_path / "d.vw", "--label", "y", "--json").out)
    assert done["rows"] == 300
    trained = json.loads(
        riata(
            "train",
            data,
            "-o",
            tmp_path / "m",
            "--label",
            "y",
            "--text",
            "body",
            "--method",
            "ftrl",
            "--json",
        ).out
    )
    assert trained["model"] == str(tmp_path / "m")
    assert trained["examples"] == 300
    assert trained["family"] == "ftrl"
    assert json.loads(riata("verify", model, "--json").out)["good"]
    for command in COMMANDS:
        if command not in ("demo", "completion", "sweep", "report"):
            assert (
                "--json"
                in riata_process(command, "--help-all" if command == "train" else "--help").out
            ), command
