from __future__ import annotations

import json
from pathlib import Path

import pytest

import riata as library
from tests.cli.helpers import riata, write_problem


@pytest.mark.parametrize("classes", [2, 3])
def test_inspect_a_trained_model(tmp_path: Path, classes: int) -> None:
    write_problem(tmp_path / "d", classes=classes)
    words = ("--quiet", "--method", "elastic-net", "--l1", "1e-3")
    riata("train", tmp_path / "d", "-o", tmp_path / "m", *words)
    shown = json.loads(riata("inspect", tmp_path / "m", "--json", "--top", "3").out)
    assert shown["family"] == "elastic-net"
    assert shown["parameters"]["l1"] == 1e-3
    assert len(shown["strongest"]) == 3
    assert len(shown["strongest"][0]["weights"]) == (1 if classes == 2 else 3)
    sizes = [max(map(abs, entry["weights"])) for entry in shown["strongest"]]
    assert sizes == sorted(sizes, reverse=True)
    text = riata("inspect", tmp_path / "m").out
    assert "elastic-net, classification" in text
    assert f"{shown['strongest'][0]['weights'][0]:.6g}" in text
    assert "feature" not in riata("inspect", tmp_path / "m", "--top", "0").out.splitlines()[-1]


def test_names_are_shown(tmp_path: Path) -> None:
    model = library.ElasticNetClassifier()
    for _ in range(9):
        model.learn_one({"word": "money", "length": 0.1}, "spam")
        model.learn_one({"word": "lunch", "length": 0.1}, "ham")
    model.save(tmp_path / "m")
    shown = json.loads(riata("inspect", tmp_path / "m", "--json").out)
    assert {"word=money", "word=lunch"} == {e["feature"] for e in shown["strongest"][:2]}
    assert shown["classes"] == ["spam", "ham"]
    assert "word=money" in riata("inspect", tmp_path / "m").out


def test_what_is_not_a_model(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("1 1:1\n")
    assert "not a model" in riata("inspect", tmp_path / "m", code=1).err
