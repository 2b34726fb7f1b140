"""How commands read DATA: bad lines, caches, tables, and conversion."""

from __future__ import annotations

import gzip
import json
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from tests.cli.helpers import RIATA, riata, riata_process, write_problem


@pytest.fixture
def spoiled(tmp_path: Path) -> Path:
    write_problem(tmp_path / "good.svm")
    lines = (tmp_path / "good.svm").read_text().splitlines()
    lines[10:10] = ["1 5:oops", "what is this"]
    path = tmp_path / "data.svm"
    path.write_text("\n".join(lines) + "\n")
    return path


def model_state(path: Path) -> list[bytes]:
    return [v.tobytes() for v in model_file.load(path).learner.state().values()]


def test_bad_lines_stop_a_run(spoiled: Path, tmp_path: Path) -> None:
    result = riata("train", spoiled, "-o", tmp_path / "m", code=1)
    assert "data.svm:11:5: expected a number after the colon, found 'oops'" in result.err


def test_bad_lines_are_skipped_counted_and_kept(spoiled: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    result = riata("train", spoiled, "-o", tmp_path / "m", "--bad-lines", bad, "--passes", 2)
    assert f"2 lines that could not be read; they are in {bad}" in result.out
    kept = bad.read_text().splitlines()
    assert [line.split("\t")[1] for line in kept] == ["1 5:oops", "what is this"]
    assert kept[0].startswith(f"{spoiled}:11:5: expected")
    riata("train", tmp_path / "good.svm", "-o", tmp_path / "clean", "--passes", 2)
    assert model_state(tmp_path / "m") == model_state(tmp_path / "clean")
    assert model_file.load(tmp_path / "m").record.skipped == 2

    result = riata("train", spoiled, "-o", tmp_path / "m", "--on-error", "skip")
    assert "2 lines that could not be read; --bad-lines FILE keeps them" in result.out
    result = riata(
        "train", spoiled, "-o", tmp_path / "m", "--on-error", "skip", "--max-bad", 1, code=1
    )
    assert "data.svm:12:1" in result.err
    assert "2 of 12 lines could not be read" in result.err
    predicted = riata("predict", tmp_path / "m", spoiled, "--on-error", "skip")
    assert "no prediction for 2 lines" in predicted.err
    measured = riata("evaluate", tmp_path / "m", spoiled, "--on-error", "skip", "--json")
    assert json.loads(measured.out)["skipped"] == 2
    assert "not measured: 2 lines" in measured.err


def test_resuming_reads_the_same_way(spoiled: Path, tmp_path: Path) -> None:
    with spoiled.open("a") as file:
        file.write("1 7:broken\n")
    result = riata(
        "train", spoiled, "-o", tmp_path / "m", "--on-error", "skip", "--max-bad", 2, code=1
    )
    assert "--resume" in result.err
    assert "--on-error skip --max-bad 2.0" in result.err


def test_cache(tmp_path: Path) -> None:
    write_problem(tmp_path / "x.svm")
    packed = tmp_path / "x.svm.gz"
    packed.write_bytes(gzip.compress((tmp_path / "x.svm").read_bytes()))
    words = ["--passes", 3, "--quiet", "-o"]
    riata("train", packed, *words, tmp_path / "auto")
    assert not list(tmp_path.glob("*.riata-cache"))
    riata("train", packed, "--no-cache", *words, tmp_path / "none")
    riata("train", packed, "--cache", *words, tmp_path / "beside")
    assert (tmp_path / "x.svm.gz.riata-cache").exists()
    riata("train", packed, "--cache", tmp_path / "kept", *words, tmp_path / "named")
    riata("train", tmp_path / "kept", *words, tmp_path / "direct")
    states = [model_state(tmp_path / m) for m in ("auto", "none", "beside", "named", "direct")]
    assert all(state == states[0] for state in states)
    riata("train", packed, "--cache", "--no-cache", *words, tmp_path / "m", code=2)
    result = riata("train", "--cache", tmp_path / "x.svm", packed, *words, tmp_path / "m", code=1)
    assert "x.svm: this file is no cache" in result.err


def test_passes_over_a_pipe(tmp_path: Path) -> None:
    write_problem(tmp_path / "x.svm")
    text = (tmp_path / "x.svm").read_bytes()
    result = riata_process("train", "-", "-o", tmp_path / "m", "--passes", 2, stdin=text, code=1)
    assert "can be read only once" in result.err
    riata_process("train", "-", "-o", tmp_path / "m", "--passes", 2, "--cache", stdin=text)
    riata("train", tmp_path / "x.svm", "-o", tmp_path / "file", "--passes", 2)
    assert model_state(tmp_path / "m") == model_state(tmp_path / "file")


def test_tables(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    n = 300
    table = pa.table(
        {
            "id": list(range(n)),
            "clicked": [i % 3 == 0 for i in range(n)],
            "city": [["Rome", "Oslo", None][i % 3] for i in range(n)],
            "hour": [i % 24 for i in range(n)],
            "price": [str(i / 7) for i in range(n)],
        }
    )
    path = tmp_path / "x.parquet"
    pq.write_table(table, path)
    reading = ["--label", "clicked", "--ignore", "id", "--categorical", "hour"]
    reading += ["--numeric", "price", "--missing", "feature", "--cross", "city:hour"]
    riata("train", path, "-o", tmp_path / "m", *reading, "--scale", "none")
    model = model_file.load(tmp_path / "m")
    keys, _ = model.learner.coef()
    names = set(model.learner.names(keys) or ())
    assert {"city=Rome", "city=?", "hour=5", "price", "city=Oslo*hour=1"} <= names
    predicted = riata("predict", tmp_path / "m", path, *reading)
    assert len(predicted.lines) == n
    riata("convert", path, tmp_path / "x.vw", *reading)
    riata("train", tmp_path / "x.vw", "-o", tmp_path / "v")
    assert model_state(tmp_path / "m") == model_state(tmp_path / "v")
    result = riata("train", path, "-o", tmp_path / "m", code=1)
    assert "which column is the label? Name it with --label" in result.err
    wrong = ["--label", "clicked", "--numeric", "hour", "--categorical", "hour"]
    assert (
        "both numeric and categorical"
        in riata("train", path, "-o", tmp_path / "m", *wrong, code=2).err
    )


def test_convert(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    block = write_problem(tmp_path / "x.svm")
    result = riata("convert", tmp_path / "x.svm", tmp_path / "x.vw")
    assert "read  " in result.err or "400 examples" in result.err
    riata("convert", tmp_path / "x.svm", tmp_path / "x.parquet", "-q")
    riata("convert", tmp_path / "x.parquet", tmp_path / "cache", "--to", "cache")
    riata("convert", tmp_path / "cache", tmp_path / "back.svm")
    riata("train", tmp_path / "x.svm", "-o", tmp_path / "a")
    riata("train", tmp_path / "back.svm", "-o", tmp_path / "b")
    assert model_state(tmp_path / "a") == model_state(tmp_path / "b")
    assert model_file.load(tmp_path / "b").record.examples == len(block)
    assert "in which format" in riata("convert", tmp_path / "x.svm", tmp_path / "x.t", code=1).err


@pytest.mark.parametrize("packed", [False, True])
def test_the_format_of_standard_input_is_told_by_its_first_lines(
    packed: bool, tmp_path: Path
) -> None:
    texts = {
        "vw": "".join(f"{1 - 2 * (i % 2)} |words w{i % 3} v{i % 2}:2\n" for i in range(3000)),
        "csv": "label,a,b\n" + "".join(f"{i % 2},{i % 5},w{i % 3}\n" for i in range(3000)),
        "jsonl": "".join(f'{{"label": {i % 2}, "w": "v{i % 2}"}}\n' for i in range(3000)),
        "svmlight": "".join(f"{i % 2} {1 + i % 5}:1\n" for i in range(3000)),
    }
    for format, text in texts.items():
        data = gzip.compress(text.encode()) if packed else text.encode()
        for name, words in (("told", []), ("named", ["--format", format])):
            riata_process("train", "-", "-o", tmp_path / name, *words, stdin=data)
        told, named = (model_file.load(tmp_path / name) for name in ("told", "named"))
        assert told.record.examples == named.record.examples == 3000
        assert told.record == named.record
        assert np.array_equal(told.learner.coef()[1], named.learner.coef()[1])


def test_the_first_line_of_a_slow_pipe_is_enough(tmp_path: Path) -> None:
    words = [*RIATA, "train", "-", "-o", str(tmp_path / "m"), "--quiet"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for line in (b"1 | a b\n", b"-1 | b c\n"):
            process.stdin.write(line)
            process.stdin.flush()
            time.sleep(0.3)
        process.stdin.close()
        assert process.wait() == 0
    learner = model_file.load(tmp_path / "m").learner
    assert set(learner.names(learner.coef()[0]) or ()) == {"a", "b", "c"}
