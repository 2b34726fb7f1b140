"""ARFF: dense and sparse rows, what the header says, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riata.block import concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.options import ReadOptions
from riata.sources.text.arff import ArffSource
from tests.sources.named import assert_same, read, rows, write

HEAD = """% a comment
@RELATION 'some thing'

@attribute size NUMERIC
@attribute 'the colour' {red, 'dark blue', "gr\\"een"}
@Attribute word string   % trailing
@attribute class {no,yes}
@data
"""


def test_dense_rows(tmp_path: Path) -> None:
    text = (
        HEAD + "2.5, red, hello, yes\n% between\n\n?, 'dark blue', 'a, b', no\n0,\"gr\\\"een\",?,no"
    )
    block = read(write(tmp_path, text, "x.arff"))
    np.testing.assert_array_equal(block.labels, [1, 0, 0])
    np.testing.assert_array_equal(block.lines, [9, 12, 13])
    assert rows(block) == [
        [("size", 2.5), ("the colour=red", 1), ("word=hello", 1)],
        [("the colour=dark blue", 1), ("word=a, b", 1)],
        [('the colour=gr"een', 1)],
    ]


def test_sparse_rows_mean_the_same(tmp_path: Path) -> None:
    dense = HEAD + "2.5,red,a,yes\n0,'dark blue',b,no\n"
    sparse = HEAD + "{0 2.5, 2 a, 3 yes}\n{ 1 'dark blue' , 2 b }\n"
    one = read(write(tmp_path, dense, "d.arff"))
    two = read(write(tmp_path, sparse, "s.arff"))
    np.testing.assert_array_equal(one.labels, two.labels)
    assert [sorted(row) for row in rows(one)] == [sorted(row) for row in rows(two)]


def test_labels(tmp_path: Path) -> None:
    numbers = "@relation r\n@attribute a real\n@attribute y {-1,1}\n@data\n3,-1\n4,1\n{0 5}\n"
    block = read(write(tmp_path, numbers, "x.arff"))
    np.testing.assert_array_equal(block.labels[:2], [-1, 1])  # type: ignore[index]
    named = read(write(tmp_path, HEAD + "1,red,a,yes\n", "y.arff"), label="size")
    np.testing.assert_array_equal(named.labels, [1])
    assert rows(named) == [[("the colour=red", 1), ("word=a", 1), ("class=yes", 1)]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute a real\n1\n", "x.arff:3:1: expected @relation"),
        ("@relation r\n@attribute a real\n", "no line @data"),
        ("@relation r\n@data\n1\n", "no @attribute"),
        ("@relation r\n@attribute d date\n@data\n", "x.arff:2:1: attributes of type date"),
        ("@relation r\n@attribute d {a,b\n@data\n", "x.arff:2:1: the list of values"),
        ("@relation r\n@attribute d\n@data\n", "x.arff:2:1: expected numeric, string"),
    ],
)
def test_refuses_headers(tmp_path: Path, text: str, message: str) -> None:
    text = text if "@data" in text or "no line" in message else text + "@data\n"
    with pytest.raises(DataError) as error:
        read(write(tmp_path, text, "x.arff"))
    assert message in str(error.value)


def test_chunks_and_threads_change_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = [f"{rng.normal():.4f},red,w{rng.integers(50)},yes" for _ in range(300)]
    path = write(tmp_path, HEAD + "\n".join(lines), "x.arff")
    once = read(path, threads=1, crosses=["size:word"])
    for chunk_bytes in (1, 700):
        source = ArffSource(
            [path], ReadOptions(crosses=["size:word"], threads=3), _chunk_bytes=chunk_bytes
        )
        assert_same(concatenate(list(source)), once)


def test_several_files(tmp_path: Path) -> None:
    one = write(tmp_path, HEAD + "1,red,a,yes\n", "1.arff")
    two = write(tmp_path, HEAD + "2,red,b,no\n", "2.arff")
    other = write(tmp_path, HEAD.replace("size", "length") + "2,red,b,no\n", "3.arff")
    assert len(concatenate(list(open_source([one, two])))) == 2
    with pytest.raises(DataError, match="attributes differ"):
        list(open_source([one, other]))


@pytest.mark.parametrize("values", ["-1,1", "1,-1", "5,3,7", "'2',1", "0.5, 1"])
def test_a_sparse_row_without_its_label_has_the_first_one(tmp_path: Path, values: str) -> None:
    path = tmp_path / "x.arff"
    path.write_text(
        f"@relation r\n@attribute a numeric\n@attribute y {{{values}}}\n@data\n{{0 2}}\n{{}}\n"
    )
    [block] = open_source(path)
    first = float(values.split(",")[0].strip("'"))
    assert block.labels is not None
    assert block.labels.tolist() == [first, first]


def test_a_number_that_is_a_name_is_zero_where_a_sparse_row_leaves_it_out(tmp_path: Path) -> None:
    head = "@relation r\n@attribute hour numeric\n@attribute y numeric\n@data\n"
    path = write(tmp_path, head + "{0 7, 1 1}\n{1 2}\n0,3\n", "x.arff")
    block = read(path, categorical=["hour"])
    assert rows(block) == [[("hour=7", 1)], [("hour=0", 1)], [("hour=0", 1)]]
