"""riata shards, riata train --shard, riata merge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import riata
from riata import model_file
from riata.cli import run
from tests.cli.helpers import says
from tests.shards.problems import write_svm, write_vw


def train_parts(path: Path, folder: Path, *words: str, count: int = 3) -> list[str]:
    parts = [str(folder / f"part{k}.riata") for k in range(1, count + 1)]
    for k, part in enumerate(parts, 1):
        assert run(["train", str(path), "--shard", f"{k}/{count}", "-o", part, "-q", *words]) == 0
    return parts


def test_shards_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_svm(tmp_path / "x.svm")
    assert run(["shards", str(path), "--shards", "4"]) == 0
    out = capsys.readouterr().out
    assert out.count("x.svm[") == 4
    assert "4 shards" in out
    assert run(["shards", str(path), "--size", "10k", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(shard["bytes"] for shard in found) == path.stat().st_size
    assert run(["shards", str(path), "--size", "1k", "--shards", "2"]) == 2
    assert run(["shards", str(path), "--shards", "100000"]) == 2
    assert "ask for" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["sketch", "bayesian", "auto", "ftrl"])
def test_rounds_by_hand(tmp_path: Path, method: str) -> None:
    """On the command line, in any order of parts: the same model as in one process."""
    from riata.learners import FAMILIES
    from riata.shards import train_shards

    path = write_vw(tmp_path / "x.vw")
    first, second = str(tmp_path / "m1"), str(tmp_path / "m2")
    parts = train_parts(path, tmp_path, "--method", method)
    assert run(["merge", *reversed(parts), "-o", first, "-q"]) == 0
    parts = train_parts(path, tmp_path, "--resume", first)
    assert run(["merge", parts[1], parts[0], parts[2], "-o", second, "--resume", first, "-q"]) == 0
    made = model_file.load(second)
    whole = train_shards(str(path), lambda m: FAMILIES[method](outputs=m), shards=3, rounds=2)
    assert made.record.passes == 2
    for name, array in whole.learner.state().items():
        assert made.learner.state()[name].tobytes() == array.tobytes(), name
    assert run(["evaluate", second, str(path)]) == 0


def test_mistakes(tmp_path: Path) -> None:
    path, model = write_svm(tmp_path / "x.svm"), str(tmp_path / "m")
    parts = train_parts(path, tmp_path, "--method", "bayesian")

    says(["merge", *parts[:2], "-o", model], 1, "1 of 3 shards are missing: 3", "--shard 3/3")
    says(["merge", *parts, parts[0], "-o", model], 1, "shard 1 is there twice")
    says(["merge", *parts, "-o", parts[0]], 2, "is one of the parts")
    says(["merge", str(path), "-o", model], 1, "not a model of Riata's")
    says(["shards", str(path), "--size", "abc"], 2, "--size is a size such as 512M")
    says(["predict", parts[0], str(path)], 1, "riata merge puts all of them together")
    other = str(tmp_path / "other")
    assert run(["train", str(path), "--shard", "2/3", "-o", other, "-q", "--method", "ftrl"]) == 0
    says(["merge", parts[0], other, parts[2], "-o", model], 1, "different methods")
    words = ["--method", "bayesian", "--prior-variance", "2"]
    assert run(["train", str(path), "--shard", "2/3", "-o", other, "-q", *words]) == 0
    says(["merge", parts[0], other, parts[2], "-o", model], 1, "parameters", "prior_variance")
    assert not Path(model).exists()
    for words, said in (
        (["--shard", "4/3"], "such as 3/64"),
        (["--shard", "x"], "such as 3/64"),
        (["--shard", "1/3", "--passes", "2"], "--passes does not go with shards"),
        (["--shard", "1/3", "--classes", "scan"], "take a pass over all shards"),
        (["--rounds", "2"], "for training by shards"),
        (["--shard", "1/3", "--dask", "local:2"], "choose one"),
        (["--shard", "1/3", "--method", "interior"], "cannot be trained by shards"),
    ):
        says(["train", str(path), "-o", model, *words], 2, said)
    assert run(["merge", *parts, "-o", model, "-q"]) == 0
    says(["train", str(path), "-o", other, "--resume", model], 2, "was trained by shards")
    assert run(["train", str(path), "-o", other, "--initial", model, "-q"]) == 0
    says(["merge", *parts, "-o", other, "--resume", model], 2, "of a first round")
    later = train_parts(path, tmp_path, "--resume", model)
    says(["merge", *later, "-o", other], 2, "of round 2", "--resume")


def test_rounds_of_a_table(tmp_path: Path) -> None:
    """A later round is read by the model's schema: what was said of columns is not said again."""
    columns = [
        "--label",
        "y",
        "--ignore",
        "id",
        "--date",
        "day",
        "--text",
        "body",
        "--scale",
        "max",
    ]
    rows = [
        f"{i},{'free entry now' if i % 3 else 'see you home'},2024-03-{i % 28 + 1:02},{i % 7},"
        f"{'spam' if i % 3 else 'ham'}\n"
        for i in range(300)
    ]
    path = tmp_path / "x.csv"
    path.write_text("id,body,day,size,y\n" + "".join(rows))
    first, second, again = (str(tmp_path / name) for name in ("m1", "m2", "m3"))
    parts = train_parts(path, tmp_path, "--method", "bayesian", *columns)
    assert run(["merge", *parts, "-o", first, "-q"]) == 0
    for words, model in (([], second), (columns, again)):
        parts = train_parts(path, tmp_path, "--resume", first, *words)
        assert run(["merge", *parts, "-o", model, "--resume", first, "-q"]) == 0
    made = model_file.load(second)
    assert made.schema == model_file.load(first).schema == model_file.load(again).schema
    assert riata.load(second).named_coef_ == riata.load(again).named_coef_
    assert run(["evaluate", second, str(path)]) == 0
