"""Comma and tab separated text: what is read, what is refused, what is found out about columns."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata.block import concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.bad_lines import BadLineFile, Skipping
from riata.sources.options import ReadOptions
from riata.sources.text.csv import CsvSource
from tests.sources.named import assert_same, drain, read, rows, write


def test_reads_what_people_write(tmp_path: Path) -> None:
    text = (
        "\ufeffclick,city,age,note\r\n"
        '1,Rome,30,"a ""b"", c"\r\n'
        "\r\n"
        '0,,41.5,"two\nlines"\r\n'
        "-1,Ulm, -0.5 ,"
    )
    block = read(write(tmp_path, text, "x.csv"), label="click")
    np.testing.assert_array_equal(block.labels, [1, 0, -1])
    np.testing.assert_array_equal(block.lines, [2, 4, 6])
    assert rows(block) == [
        [("city=Rome", 1), ("age", 30), ('note=a "b", c', 1)],
        [("age", 41.5), ("note=two\nlines", 1)],
        [("city=Ulm", 1), ("age", -0.5)],
    ]


def test_tabs_without_header(tmp_path: Path) -> None:
    path = write(tmp_path, '1\t2.5\t68fd1e64\t5" pipe\n0\t\t\t\n', "x.tsv")
    block = read(path, label="1", missing="feature")
    assert rows(block) == [
        [("2", 2.5), ("3=68fd1e64", 1), ('4=5" pipe', 1)],
        [("2=?", 1), ("3=?", 1), ("4=?", 1)],
    ]


def test_other_signs(tmp_path: Path) -> None:
    path = write(tmp_path, "label;a;b\n1;'x;y';2\n", "x.csv")
    assert rows(read(path, quote="'")) == [[("a=x;y", 1), ("b", 2)]]
    path = write(tmp_path, "label|a\n1|x\n", "y.csv")
    assert rows(read(path, delimiter="|")) == [[("a=x", 1)]]
    for bad in ("ab", "5", "\u00e9", "-", ""):
        with pytest.raises(ValueError, match="delimiter"):
            read(path, delimiter=bad)


def test_roles(tmp_path: Path) -> None:
    text = "id,y,hour,size,w\n7,1,17,3,0.5\n8,0,18,x,2\n"
    options: dict[str, Any] = {"label": "y", "weight": "w", "ignore": ["id"]}
    block = read(write(tmp_path, text, "x.csv"), categorical=["hour", "4"], **options)
    assert rows(block) == [[("hour=17", 1), ("size=3", 1)], [("hour=18", 1), ("size=x", 1)]]
    np.testing.assert_array_equal(block.weights, [0.5, 2])
    offsets = read(str(tmp_path / "x.csv"), offset="3", **options)
    np.testing.assert_array_equal(offsets.offsets, [17, 18])
    assert rows(offsets) == [[("size=3", 1)], [("size=x", 1)]]
    with pytest.raises(DataError, match="x.csv: column 'y' cannot be both label and offset"):
        read(str(tmp_path / "x.csv"), offset="2", **options)
    with pytest.raises(DataError, match="x.csv:3:8: column 'size' holds numbers, but here is 'x'"):
        read(str(tmp_path / "x.csv"), numeric=["size"], **options)
    with pytest.raises(DataError, match="names a column 'colour'"):
        read(str(tmp_path / "x.csv"), numeric=["colour"], **options)
    with pytest.raises(DataError, match="which column is the label"):
        read(str(tmp_path / "x.csv"))


def test_absent_texts(tmp_path: Path) -> None:
    path = write(tmp_path, "label,a,b\n1,?,NA\n0,3,x\n", "x.csv")
    assert rows(read(path, absent=["?", "NA"])) == [[], [("a", 3), ("b=x", 1)]]


def test_labels_that_are_words(tmp_path: Path) -> None:
    path = write(tmp_path, "text,label\na,spam\nb,ham\nc,spam\n", "x.csv")
    source = open_source(path)
    block = concatenate(list(source))
    np.testing.assert_array_equal(block.labels, [1, 0, 1])
    assert source.label_names == ["ham", "spam"]  # type: ignore[attr-defined]
    late = write(tmp_path, "label,n\n" + "ham,1\n" * 1000 + "spam,1\n", "y.csv")
    source = open_source(late)
    assert concatenate(list(source)).labels.tolist() == [0] * 1000 + [1]  # type: ignore[union-attr]
    assert source.label_names == ["ham", "spam"]  # type: ignore[attr-defined]


def test_transforms(tmp_path: Path) -> None:
    values = list(range(100))
    path = write(tmp_path, "label,a,b\n" + "".join(f"1,{v},{v - 50}\n" for v in values), "x.csv")
    block = read(path, buckets={"a": 4}, log1p=["b"])
    features = rows(block)
    assert features[0] == [("a=[-inf,24)", 1), ("b", float(np.float32(-np.log1p(50))))]
    assert [row[0][0] for row in features[::25]] == [
        "a=[-inf,24)",
        "a=[24,49)",
        "a=[49,74)",
        "a=[74,inf)",
    ]
    with pytest.raises(DataError, match="no numbers"):
        read(write(tmp_path, "label,a\n1,x\n", "y.csv"), buckets={"a": 3})
    with pytest.raises(ValueError, match="at least 2"):
        read(path, buckets={"a": 1})


def test_what_was_fitted_is_kept(tmp_path: Path) -> None:
    first = open_source(write(tmp_path, "label,a,b\nyes,1,2\nno,5,x\n", "x.csv"), buckets={"a": 2})
    _ = list(first)
    schema = first.schema  # type: ignore[attr-defined]
    other = write(tmp_path, "b,a,label\n7,9,yes\n", "y.csv")
    block = read(other, schema=schema)
    assert rows(block) == [[("b=7", 1), ("a=[1,inf)", 1)]]
    np.testing.assert_array_equal(block.labels, [1])
    unlabelled = write(tmp_path, "a,b\n0,q\n", "z.csv")
    assert rows(read(unlabelled, schema=schema, labelled=False)) == [
        [("a=[-inf,1)", 1), ("b=q", 1)]
    ]
    with pytest.raises(DataError, match="column 'b' is missing"):
        read(write(tmp_path, "a,label\n1,yes\n", "v.csv"), schema=schema)
    with pytest.raises(DataError, match="'c' was not there before"):
        read(write(tmp_path, "a,b,c,label\n1,2,3,yes\n", "w.csv"), schema=schema)


@pytest.mark.parametrize(
    ("text", "options", "header"),
    [
        ("label,a\n1,2\n", {}, True),
        ("x,y\n1,2\n", {"label": "y"}, True),
        ("x,y\n1,2\n", {"label": "2"}, True),
        ("1,2\n3,4\n", {"label": "1"}, False),
        ("a,,2\n1,2,3\n", {"label": "3"}, False),
        ("a,b\nc,d\n", {"label": "1"}, None),
        ("a,NA\n1,2\n", {"label": "1"}, False),
        ("a,a\n1,2\n", {"label": "1"}, None),
        ("kind,body\n" + "ham,hello\nspam,win\n" * 30, {"label": "kind"}, True),
        ("kind,body\n" + "ham,hello\nspam,win\n" * 30, {"label": "1"}, True),
        ("kind,body\n" + "ham,hello\nspam,win\n" * 3, {"label": "1"}, None),
        ("ham,hey\n" + "ham,hello\nspam,win\n" * 30, {"label": "1"}, None),
        ("ham,hello\n" + "ham,hello\nspam,win\n" * 3, {"label": "1"}, False),
    ],
)
def test_header(tmp_path: Path, text: str, options: Any, header: bool | None) -> None:
    path = write(tmp_path, text, "x.csv")
    if header is None:
        with pytest.raises(DataError, match="is the first line a header"):
            read(path, **options)
    else:
        assert len(read(path, **options)) == len(text.splitlines()) - header


def test_files_share_a_header(tmp_path: Path) -> None:
    one = write(tmp_path, "label,a\n1,2\n", "1.csv")
    two = write(tmp_path, "label,a\n0,3\n", "2.csv")
    other = write(tmp_path, "label,b\n0,3\n", "3.csv")
    assert len(concatenate(list(open_source([one, two])))) == 2
    blocks, error = drain(open_source([one, two, other]))
    assert sum(map(len, blocks)) == 2
    assert "3.csv:1:1: the columns differ" in str(error)


cells = st.one_of(
    st.text(
        st.characters(blacklist_categories=("Cs",), blacklist_characters="\r\x00"), max_size=20
    ),
    st.floats(-1e6, 1e6, width=32).map(repr),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), cells, cells), min_size=1, max_size=8))
def test_text_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[int, str, str]]
) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["label", "a", "b"])
    writer.writerows(table)
    path = write(tmp_path_factory.mktemp("p"), stream.getvalue(), "x.csv")
    block = read(path, categorical=["a", "b"])
    truths = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}
    expected = [
        [
            (f"{name}={truths.get(cell, cell)}", 1.0)
            for name, cell in zip("ab", row[1:], strict=True)
            if cell
        ]
        for row in table
    ]
    assert rows(block) == expected
    assert block.labels is not None
    assert block.labels.tolist() == [row[0] for row in table]


def test_chunks_and_threads_change_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    lines = [
        f'{rng.integers(2)},{rng.normal():.3f},{rng.choice(["a", "b c", ""])},"x\n""{i}"""'
        for i in range(1500)
    ]
    path = write(tmp_path, "label,u,v,w\n" + "\n".join(lines) + "\n", "x.csv")
    options: dict[str, Any] = {"crosses": ["u:v", "v:w"], "missing": "feature"}
    once = read(path, threads=1, buckets={"u": 5}, **options)
    for chunk_bytes in (1, 1000, 20_000):
        for threads in (1, 3):
            source = CsvSource(
                [path],
                ReadOptions(
                    missing="feature", crosses=options["crosses"], buckets={"u": 5}, threads=threads
                ),
                _chunk_bytes=chunk_bytes,
            )
            assert_same(concatenate(list(source)), once)


@pytest.mark.parametrize("chunk_bytes", [1, 1 << 20])
def test_bad_records_can_be_skipped(tmp_path: Path, chunk_bytes: int) -> None:
    text = (
        "label,a,b\n1,2,x\n"
        '1,two,"a\n0,7,b\n"\n'  # the lines within quotes are not examples
        '0,3,"y\nz"\n'
        "0,4\n1,5,w\n"
    )
    path = write(tmp_path, text, "x.csv")
    kept = tmp_path / "bad"
    source = CsvSource(
        [path],
        ReadOptions(numeric=("a",)),
        skipping=Skipping(keep=BadLineFile(kept)),
        _chunk_bytes=chunk_bytes,
    )
    block = concatenate(list(source))
    np.testing.assert_array_equal(block.labels, [1, 0, 1])
    np.testing.assert_array_equal(block.lines, [2, 6, 9])
    assert source.skipped == 2
    assert kept.read_text().startswith(f"{path}:3:3: column 'a' holds numbers")
    assert f"{path}:8:4: the line ends before" in kept.read_text()


def test_stray_quotes_can_be_skipped(tmp_path: Path) -> None:
    path = write(tmp_path, 'label,b\n1,x\n0,5" pipe\n1,y\n0,"open\n1,z\n', "x.csv")
    block = read(path, on_error="skip", max_bad=5)
    np.testing.assert_array_equal(block.lines, [2, 4, 6])
