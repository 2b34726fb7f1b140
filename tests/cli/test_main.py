from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import riata as package
from riata.cli import start_no_threads, text
from tests.cli.helpers import riata, riata_process

HEAVY = {"sklearn", "scipy", "pyarrow", "pandas", "polars", "matplotlib"}


def modules_after(*words: str) -> set[str]:
    code = (
        "import sys; from riata.cli import run; code = run(sys.argv[1:]); "
        "print(code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    number, *modules = done.stderr.split()
    assert number == "0", done.stderr
    return set(modules)


def test_version() -> None:
    assert riata_process("--version").out == f"riata {package.__version__}\n"


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["-h"]])
def test_starts_without_heavy_imports(words: list[str]) -> None:
    assert not modules_after(*words) & (HEAVY | {"numpy", "rich", "safetensors"})


def test_training_needs_no_heavy_imports(tmp_path: Path) -> None:
    for name in "de":  # to measure where it has learned is warned of
        (tmp_path / name).write_text("1 1:1\n0 2:1\n")
    words = ["train", str(tmp_path / "d"), "-o", str(tmp_path / "m"), "--progress", "none"]
    assert not modules_after(*words) & HEAVY
    assert not modules_after("evaluate", str(tmp_path / "m"), str(tmp_path / "e")) & HEAVY


def test_linear_algebra_starts_no_threads_unless_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    start_no_threads()
    assert "OPENBLAS_NUM_THREADS" not in os.environ
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "to be put back")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    start_no_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_help_names_every_command() -> None:
    listed = riata("--help").out
    for name in ("train", "predict", "evaluate", "demo"):
        assert name in listed
        assert "Usage: riata" in riata(name, "--help").out


def test_wrong_usage_is_2() -> None:
    assert "No such command" in riata_process("fly", code=2).err
    assert "No such command" in riata("fly", code=2).err
    assert "No such option" in riata("train", "x", "-o", "m", "--wings", code=2).err
    assert "Missing option" in riata("train", "x", code=2).err


def test_numbers_for_people() -> None:
    assert text.size(0) == "0 B"
    assert text.short(0) == "0"
    assert text.plural(0, "example") == "0 examples"
