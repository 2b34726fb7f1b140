"""Files that are not what they seem: each is read, or refused with a message that says what to do."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import tarfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from riata.errors import DataError
from riata.sources import open_source
from riata.sources.options import ReadOptions
from riata.sources.text.csv import CsvSource
from riata.sources.text.jsonl import JsonSource
from tests.cli.helpers import RIATA, riata, riata_process
from tests.sources.named import drain, read, rows, write

TEXTS = {
    "svm": "1 1:1 3:2\n0 2:1\n",
    "vw": "1 |a b c\n-1 |a d\n",
    "csv": "label,a\n1,2\n0,3\n",
    "tsv": "label\ta\n1\t2\n0\t3\n",
    "jsonl": '{"label": 1, "a": 2}\n{"label": 0, "a": 3}\n',
    "arff": "@relation r\n@attribute a real\n@attribute label {0,1}\n@data\n2,1\n3,0\n",
}


def tar_of(text: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        about = tarfile.TarInfo("x.csv")
        about.size = len(text)
        tar.addfile(about, io.BytesIO(text))
    return stream.getvalue()


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "packed"])
def test_text_of_other_widths(tmp_path: Path, suffix: str, encoding: str, named: bool) -> None:
    text = TEXTS[suffix].encode("utf-16" if encoding == "packed" else encoding)
    packed = gzip.compress(text) if encoding == "packed" else text
    path = write(tmp_path, packed, f"x.{suffix}" if named else "x")
    with pytest.raises(DataError, match="x.*: this is UTF-16 or UTF-32 text; .*iconv"):
        read(path)


@pytest.mark.parametrize("suffix", TEXTS)
def test_marks_and_ends_of_lines_change_nothing(tmp_path: Path, suffix: str) -> None:
    text = TEXTS[suffix]
    plain = read(write(tmp_path, text, f"x.{suffix}"))
    odd = "\ufeff" + text.replace("\n", "\r\n").removesuffix("\r\n")
    for name in (f"y.{suffix}", "y"):
        same = read(write(tmp_path, odd, name))
        assert same.labels.tolist() == plain.labels.tolist()  # type: ignore[union-attr]
        assert same.indices.tolist() == plain.indices.tolist()
        assert same.values.tolist() == plain.values.tolist()


REFUSED: list[tuple[str, str | bytes, str]] = [
    ("x.tar", tar_of(b"label,a\n1,2\n"), "this is a tar archive; unpack it first"),
    ("x.tgz", gzip.compress(tar_of(b"label,a\n1,2\n")), "this is a tar archive"),
    ("x.csv", "label,a\r1,2\r0,3\r", r"carriage returns.* tr '\\r' '\\n'"),
    ("x.csv", "<!DOCTYPE html>\n<html></html>\n", "one column only, .*--delimiter"),
    ("x.tsv", "label\n1\n0\n", "one column only, .* than tabs"),
    ("x.csv", "label,weight\n1,2\n", "no column is left for the features"),
    ("x.csv", "y,a,b,c\n1,2,3\n0,1,1\n", "first line has 4 columns, all rows .* have 3; mend"),
    ("x.csv", "label,a\n1,2,3\n0,1,1\n", "first line has 2 columns, all rows .* have 3; mend"),
    ("x.json", '[{"label": 1, "a": 2}]', r"on each line, found .*jq -c '\.\[\]'"),
    ("x.json", '{\n "label": 1,\n "a": 2\n}\n', "must not go on on the next line: jq"),
    ("x.jsonl", '{"label":1,"a":' + "[" * 99_999 + "\n", "nested more than 64 deep"),
    ("x.arff", TEXTS["arff"] + "1,7\n", ":7:1: the label '7' is none of the declared .*: 0, 1"),
]


@pytest.mark.parametrize(("name", "text", "message"), REFUSED, ids=[r[2][:20] for r in REFUSED])
def test_refused(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    options: dict[str, Any] = {"weight": "weight"} if b"weight" in str(text).encode() else {}
    with pytest.raises(DataError, match=message):
        read(write(tmp_path, text, name), **options)


def test_dicts_that_hold_themselves() -> None:
    deep: dict[str, Any] = {"label": 1}
    for _ in range(10_000):
        deep = {"label": 1, "a": deep}
    with pytest.raises(DataError, match="row 0: cannot be read as features"):
        list(open_source([deep]))


@pytest.mark.parametrize("chunk_bytes", [1, 1 << 20])
@pytest.mark.parametrize("header", [None, True])
def test_empty_lines_before_the_header(
    tmp_path: Path, chunk_bytes: int, header: bool | None
) -> None:
    path = write(tmp_path, "\n  \r\n\nlabel,a\n\n1,2\n\n0,3\n", "x.csv")
    other = write(tmp_path, "\n\nlabel,a\n1,4\n", "y.csv")
    source = CsvSource([path, other], ReadOptions(header=header), _chunk_bytes=chunk_bytes)
    blocks, error = drain(source)
    assert error is None
    assert [row for block in blocks for row in rows(block)] == [[("a", n)] for n in (2, 3, 4)]
    assert [n for block in blocks for n in block.lines.tolist()] == [6, 8, 4]  # type: ignore[union-attr]


def test_bars_between_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "label|a|b\n1|2|x\n0|3|y\n", "x.csv")
    assert rows(read(path)) == [[("a", 2), ("b=x", 1)], [("a", 3), ("b=y", 1)]]


def test_texts_among_numbers_are_a_warning(tmp_path: Path) -> None:
    cells = [*map(str, range(50)), "none", " - "]
    path = write(tmp_path, "label,a\n" + "".join(f"1,{cell}\n" for cell in cells), "x.csv")
    with pytest.warns(UserWarning, match="'a' is read as names, since 2 .*--absent 'none,-'"):
        assert ("a=none", 1.0) in rows(read(path))[50]
    assert rows(read(path, absent=["none", "-"]))[49:] == [[("a", 49)], [], []]
    assert rows(read(path, categorical=["a"]))[7] == [("a=7", 1)]
    path = write(tmp_path, "label,a\n" + "1,2\n0,3\n" * 9 + "x,1\n", "y.csv")
    with pytest.warns(UserWarning, match="'label' is read as names, since 1 .*: x;"):
        read(path)


@pytest.mark.parametrize("source", [CsvSource, JsonSource])
@pytest.mark.parametrize("harm", ["cut", "long"])
def test_rows_before_a_fault_are_kept(
    tmp_path: Path, source: Any, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a fault among the first lines, which are looked at before any is read."""
    lines = ["label,a"] if source is CsvSource else []
    lines += [f"1,{i}" if lines else json.dumps({"label": 1, "a": i + 1}) for i in range(1, 300)]
    if harm == "long":
        monkeypatch.setattr("riata.sources.io.lines.LONGEST_LINE", 10_000)
        path = write(tmp_path, "\n".join([*lines, "x" * 20_000, *lines]), "x")
    else:
        text = "".join(line + "\n" for line in lines).encode()
        path = write(tmp_path, gzip.compress(text, 0)[:-300], "x.gz")
    blocks, error = drain(source([path], _chunk_bytes=100))
    assert sum(map(len, blocks)) == 299 if harm == "long" else 200 < sum(map(len, blocks)) < 299
    expected = f"x:{len(lines) + 1}:1: this line is longer" if harm == "long" else "cut short"
    assert expected in str(error)


def test_the_data_is_never_replaced(tmp_path: Path) -> None:
    text = "1 1:1\nbad\n0 2:1\n"
    path = write(tmp_path, text, "x.svm")
    model = str(tmp_path / "model")
    riata("train", path, "-o", model, "--on-error", "skip")
    pattern = str(tmp_path / "x*")
    for code, command in (
        (1, ["train", pattern, "-o", model, "--bad-lines", path]),
        (2, ["train", pattern, "-o", path, "--on-error", "skip"]),
        (2, ["convert", path, f"{tmp_path}/./x.svm", "--on-error", "skip"]),
        (2, ["predict", model, path, "-o", path, "--on-error", "skip"]),
        (2, ["predict", model, path, "-o", model, "--on-error", "skip"]),
    ):
        assert "is what is read" in riata(*command, code=code).err
        assert Path(path).read_text() == text


def test_how_to_go_on_behind_a_bad_line(tmp_path: Path) -> None:
    path = write(tmp_path, "1 1:1\n1 2:x\n", "x.svm")
    result = riata("train", path, "-o", tmp_path / "m", code=1)
    assert "to leave such lines out: --on-error skip" in result.err


def test_names_that_a_terminal_would_obey(tmp_path: Path) -> None:
    path = write(tmp_path, "1 |a \x1b[2J b" + "x" * 5000 + "\n", "x.vw")
    model = str(tmp_path / "m")
    riata("train", path, "-o", model, "--quiet")
    shown = riata("inspect", model).out
    assert "\x1b" not in shown
    assert "a^\\x1b[2J" in shown
    assert max(map(len, shown.splitlines())) < 300


def test_a_model_that_runs_away_is_noted(tmp_path: Path) -> None:
    text = "label,id,n\n" + "".join(f"{i % 2},{10**9 + 7**i % 999},1\n" for i in range(50))
    path, model = write(tmp_path, text, "x.csv"), str(tmp_path / "m")
    raw = ("-o", model, "--scale", "none")
    words = ("--method", "elastic-net", *raw)
    paper = ("--learning-rate", "inv_sqrt", "--eta0", 0.5, "--feature-scale", "none")
    assert "WORSE THAN ALWAYS" in riata("train", path, *words, *paper).out
    assert "WORSE" not in riata("train", path, *words).out
    assert "WORSE" not in riata("train", path, *raw).out
    assert "WORSE" not in riata("train", path, "-o", model).out
    assert "WORSE" not in riata("train", path, "-o", model, "--ignore", "id").out
    assert "WORSE" not in riata("train", path, "-o", model, "--categorical", "id").out


def test_a_converter_in_a_pipe(tmp_path: Path) -> None:
    path = write(tmp_path, TEXTS["csv"], "x.csv")
    result = riata_process("convert", path, "/dev/stdout", "--to", "vw", "--quiet")
    assert result.out == "1 1 | a:2\n0 1 | a:3\n"
    assert "/dev/stdout" in riata("convert", path, "-", "--to", "vw", code=2).err
    log = tmp_path / "log"
    log.write_text("before\n")
    with open(log, "ab") as out:  # as `>> log` has it
        for _ in range(2):
            words = [*RIATA, "convert", path, "/dev/stdout", "--to", "vw", "--quiet"]
            subprocess.run(words, stdout=out, check=True)
    assert log.read_text() == "before\n" + 2 * result.out


@pytest.mark.parametrize(
    ("suffix", "option"),
    [
        *product(("svm", "vw"), ("label", "weight", "offset", "categorical")),
        ("svm", "ignore"),  # of Vowpal Wabbit text, namespaces
        ("svm", "crosses"),
    ],
)
def test_what_has_no_columns_is_told_nothing_about_them(
    tmp_path: Path, suffix: str, option: str
) -> None:
    path = write(tmp_path, TEXTS[suffix], f"x.{suffix}")
    value: Any = "a" if option in ("label", "weight", "offset") else ["a:b"]
    with pytest.raises(ValueError, match=rf"{option} .*columns.*; (svmlight|vw) has none"):
        open_source(path, **{option: value})


def test_tables_in_a_pipe_are_called_what_they_are() -> None:
    result = riata_process("train", "-", "-o", "m", stdin=b"PAR1" + bytes(99), code=1)
    assert "<stdin>: this is parquet data; name the file" in result.err
