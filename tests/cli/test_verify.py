from __future__ import annotations

import json
from pathlib import Path

from tests.cli.helpers import riata, write_problem
from tests.fuzz_models import signed
from tests.test_model_fuzz import parts


def test_a_whole_model(tmp_path: Path) -> None:
    write_problem(tmp_path / "d.svm")
    riata("train", tmp_path / "d.svm", "-o", tmp_path / "m.riata", "--progress", "none")
    shown = riata("verify", tmp_path / "m.riata")
    assert "whole" in shown.out
    assert "400 examples" in shown.out
    told = json.loads(riata("verify", tmp_path / "m.riata", tmp_path / "d.svm", "--json").out)
    assert told["good"]
    assert told["loss"] > 0


def test_a_damaged_model(tmp_path: Path) -> None:
    write_problem(tmp_path / "d.svm")
    path = tmp_path / "m.riata"
    riata("train", tmp_path / "d.svm", "-o", path, "--progress", "none")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "checksum" in riata("verify", path, code=1).err
    path.write_bytes(b"")
    assert "empty" in riata("verify", path, code=1).err


def test_the_proof_of_a_sketch(tmp_path: Path) -> None:
    write_problem(tmp_path / "d.svm")
    write_problem(tmp_path / "other.svm", seed=1)
    path = tmp_path / "m.riata"
    riata("train", tmp_path / "d.svm", "-o", path, "--method", "sketch", "--progress", "none")
    told = json.loads(riata("verify", path, tmp_path / "d.svm", "--json").out)
    assert told["good"]
    assert told["outputs"][0]["gap"] <= 1e-6 * told["outputs"][0]["objective"]
    assert "NOT within" in riata("verify", path, tmp_path / "other.svm", code=1).out
    header, tensors = parts(path)
    tensors["0.accepted"] = tensors["0.accepted"] * 1.01  # signed, but not the optimum
    path.write_bytes(signed(header, tensors))
    assert "NOT within" in riata("verify", path, tmp_path / "d.svm", code=1).out
