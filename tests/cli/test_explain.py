"""The command explain, as people type it."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import riata as library
from tests.cli.helpers import riata, riata_process, write_problem
from tests.explained import EVIL

# explain


def test_explain_reads_standard_input(folder: Path) -> None:
    text = (folder / "two.csv").read_bytes()
    piped = riata_process(
        "explain", folder / "two.riata", "-", "--json", "--format", "csv", stdin=text
    ).lines
    whole = riata("explain", folder / "two.riata", folder / "two.csv", "--json").lines
    for one, other in zip(piped, whole, strict=True):
        assert json.loads(one)["contributions"] == json.loads(other)["contributions"]
    said = riata_process("explain", folder / "two.riata", "-", "--format", "csv", stdin=text).out
    assert said.count("= score") == 300
    assert (
        "standard input can be read only once"
        in riata("explain", folder / "two.riata", "-", "--id", "id", code=1).err
    )


def test_explain_prints_sums(folder: Path) -> None:
    said = riata("explain", folder / "two.riata", folder / "two.csv", "--top", 3, "--id", "id").out
    first = said.split("\n\n")[0].splitlines()
    scores = riata("predict", folder / "two.riata", folder / "two.csv", "--score").lines
    assert first[0].startswith("r0  ")
    assert "two.csv:2: yes" in first[0]
    assert first[-1].split()[0] == f"{float(scores[0]):+.4f}"
    parts = [float(line.split()[0]) for line in first[2:-1]]
    assert sum(parts) == pytest.approx(float(scores[0]), abs=1e-3)
    assert first[1].startswith("body: ")
    assert "\x1b" not in said
    assert said.count("= score") == 300


@pytest.mark.parametrize("model", ["two", "three", "number"])
def test_explain_as_json(folder: Path, model: str) -> None:
    data, path = folder / f"{model}.csv", folder / f"{model}.riata"
    lines = riata("explain", path, data, "--json", "--top", 1000).lines
    scores = [line.split("\t") for line in riata("predict", path, data, "--score").lines]
    expected = [one.to_dict() for one in library.load(path).explain(data)]
    assert len(lines) == len(scores) == len(expected) == 300
    for line, score, other in zip(lines, scores, expected, strict=True):
        one = json.loads(line)
        assert repr(one["score"]) in [repr(float(s)) for s in score]
        total = one["intercept"] + one["offset"] + sum(one["steps"].values())
        total += (
            sum(c["contribution"] for c in one["contributions"]) + one["others"]["contribution"]
        )
        assert total == pytest.approx(one["score"], abs=1e-9)
        assert one["contributions"] == [
            {k: pytest.approx(v) if k == "value" else v for k, v in c.items()}
            for c in other["contributions"]
        ]
        rest = {k: v for k, v in other.items() if k not in ("contributions", "where")}
        if model == "number":
            rest.pop("prediction")
        assert {k: v for k, v in one.items() if k in rest} == rest
        assert one["where"].startswith(str(data))


def test_explain_into_files(folder: Path, tmp_path: Path) -> None:
    words = ["explain", folder / "two.riata", folder / "two.csv", "--top", 2, "--id", "id"]
    riata(*words, "-o", tmp_path / "why.csv")
    table = pd.read_csv(tmp_path / "why.csv")
    assert list(table.columns[:3]) == ["id", "where", "class"]
    sums = table.groupby("id", sort=False).contribution.sum()
    scores = table.groupby("id", sort=False).score.first()
    assert np.allclose(sums, scores)
    assert set(table.kind) == {"feature", "others", "intercept"}
    riata(*words, "-o", tmp_path / "why.jsonl")
    first = json.loads((tmp_path / "why.jsonl").read_text().splitlines()[0])
    assert first["id"] == "r0"
    assert len(first["contributions"]) == 2
    assert first["others"]["features"] > 0
    assert "end its name in" in riata(*words, "-o", tmp_path / "why", code=2).err
    assert "choose one" in riata(*words, "--json", "--to", "csv", code=2).err


def test_explain_chooses_a_class(folder: Path) -> None:
    words = ["explain", folder / "three.riata", folder / "three.csv", "--json"]
    found = [json.loads(line) for line in riata(*words, "--class", "very").lines]
    assert {one["class"] for one in found} == {"very"}
    assert len({one["prediction"] for one in found}) == 3
    assert "no class 'never'" in riata(*words, "--class", "never", code=1).err
    zero = json.loads(riata(*words, "--from", "zero").lines[0])
    price = next(c for c in zero["contributions"] if c["feature"] == "price")
    assert price["contribution"] == pytest.approx(price["value"] * price["weight"], rel=1e-6)


def test_explain_other_formats(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "two.csv")
    table.to_parquet(tmp_path / "d.parquet")
    table.to_json(tmp_path / "d.jsonl", orient="records", lines=True)
    want = riata("explain", folder / "two.riata", folder / "two.csv", "--json").lines
    for name in ("d.parquet", "d.jsonl"):
        found = riata("explain", folder / "two.riata", tmp_path / name, "--json").lines
        for line, other in zip(found, want, strict=True):
            assert json.loads(line)["contributions"] == json.loads(other)["contributions"]
        said = riata("explain", folder / "two.riata", tmp_path / name).out
        assert "body: " in said
    svm = tmp_path / "d.svm"
    write_problem(svm)
    riata("train", svm, "-o", tmp_path / "m", "-q", "--method", "elastic-net")
    first = json.loads(riata("explain", tmp_path / "m", svm, "--json").lines[0])
    assert (
        str(first["contributions"][0]["feature"])
        in svm.read_text().splitlines()[0].replace(":", " ").split()
    )
    vw = tmp_path / "d.vw"
    vw.write_text("1 'one |user u17 |words cheap flights:2\n-1 'two |user u2 |words rain\n" * 20)
    riata("train", vw, "-o", tmp_path / "v", "-q", "--method", "ftrl")
    first = json.loads(riata("explain", tmp_path / "v", vw, "--json").lines[0])
    assert first["tag"] == "one"
    assert {c["feature"] for c in first["contributions"]} == {
        "user^u17",
        "words^cheap",
        "words^flights",
    }


def test_what_does_not_fit(folder: Path, tmp_path: Path) -> None:
    pd.read_csv(folder / "two.csv").drop(columns="price").to_csv(tmp_path / "d.csv", index=False)
    for command in (["explain"], ["diff", folder / "two.riata"]):
        said = riata(*command, folder / "two.riata", tmp_path / "d.csv", code=1).err
        assert "column 'price' is missing" in said
    write_problem(tmp_path / "d.svm")
    said = riata("explain", folder / "two.riata", tmp_path / "d.svm", code=1).err
    assert "numbered features" in said
    assert "not a model" in riata("explain", folder / "two.csv", folder / "two.csv", code=1).err
    newer = (folder / "two.riata").read_bytes().replace(b'\\"version\\": 1', b'\\"version\\": 9', 1)
    (tmp_path / "new.riata").write_bytes(newer)
    for command in (["inspect"], ["explain"], ["diff", folder / "two.riata"], ["evaluate"]):
        data = [] if command[0] == "inspect" else [folder / "two.csv"]
        said = riata(*command, tmp_path / "new.riata", *data, code=1).err
        assert "written by a newer Riata" in said
        assert "upgrade Riata" in said


def test_names_are_shown_as_text_on_the_command_line(tmp_path: Path) -> None:
    row = {"w": EVIL, "y": "a"}
    (tmp_path / "d.jsonl").write_text(f"{json.dumps(row)}\n" * 20 + '{"w": "ok", "y": "b"}\n' * 20)
    riata(
        "train",
        tmp_path / "d.jsonl",
        "-o",
        tmp_path / "m",
        "--label",
        "y",
        "-q",
        "--method",
        "ftrl",
    )
    for words in (["inspect"], ["explain"], ["diff", tmp_path / "m"]):
        data = [] if words[0] == "inspect" else [tmp_path / "d.jsonl"]
        said = riata(*words, tmp_path / "m", *data).out
        assert "\x1b" not in said
        assert "\u202e" not in said
    first = json.loads(riata("explain", tmp_path / "m", tmp_path / "d.jsonl", "--json").lines[0])
    assert first["contributions"][0]["feature"] == f"w={EVIL}"
    table = riata("explain", tmp_path / "m", tmp_path / "d.jsonl", "--to", "csv").out
    assert f"w={EVIL}" in next(csv.reader(io.StringIO(table.splitlines()[1])))


def test_colour_only_where_it_is_wanted(folder: Path) -> None:
    pytest.importorskip("pty")
    import pty

    def through_terminal(**more: str) -> str:
        here, there = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "riata", "explain", str(folder / "two.riata"), str(folder / "few.csv")],
            stdout=there, stderr=there, env=os.environ | {"TERM": "xterm"} | more,
        ) as process:  # fmt: skip
            os.close(there)
            found = b""
            while True:
                try:
                    part = os.read(here, 65536)
                except OSError:
                    break
                if not part:
                    break
                found += part
            process.wait()
        os.close(here)
        return found.decode()

    text = (folder / "two.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join(text[:3]) + "\n")
    coloured = through_terminal()
    assert "\x1b[" in coloured
    assert "= score" in coloured
    assert "\x1b[" not in through_terminal(NO_COLOR="1")
