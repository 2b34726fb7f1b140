"""Writing examples in other formats, and reading the same back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from riata import _core
from riata.block import Block, concatenate
from riata.convert import convert, format_for
from riata.errors import DataError
from riata.sources import open_source
from tests.cli.helpers import riata


def take(what: Any, **options: Any) -> Block:
    return concatenate(list(open_source(what, **options)))


def assert_same(a: Block, b: Block, *names: str) -> None:
    for name in ("indptr", "indices", "values", "labels", *names):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.fixture
def numbered() -> Block:
    random = np.random.default_rng(1)
    x = sp.random_array((500, 1000), density=0.02, rng=random, dtype=np.float32, format="csr")
    return take(x, y=random.normal(size=500))


NAMES = [
    "plain",
    "ns^feature",
    "ns^other",
    "Ürümqi=ß",
    "a=b^c",
    "^odd",
    "x^",
    "12",
    "city=New York",
    "b:c|d",
]


def block_of(rows: list[dict[str, float]], weights: bool = True) -> Block:
    names = [name.encode() for row in rows for name in row]
    values = [value for row in rows for value in row.values()]
    return Block(
        np.cumsum([0] + [len(row) for row in rows]),
        np.array([_core.key_of_name(name) for name in names], dtype=np.int64),
        np.array(values, dtype=np.float32),
        np.arange(len(rows)) % 3 - 1.0,
        np.arange(len(rows)) / 4 + 0.5 if weights else None,
        names=np.frombuffer(b"".join(names), np.uint8),
        name_offsets=np.cumsum([0] + [len(name) for name in names]),
    )


@pytest.fixture
def named() -> Block:
    random = np.random.default_rng(2)
    return block_of(
        [
            {
                NAMES[i]: float(v)
                for i, v in zip(random.permutation(8)[:k], 1 + np.arange(k), strict=True)
            }
            for k in random.integers(0, 8, 200)
        ]
    )


@pytest.mark.parametrize("suffix", [".svm", ".parquet", ".riata-cache"])
def test_numbers_come_back(tmp_path: Path, numbered: Block, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    result = convert(open_source(numbered, block_rows=77), path)
    assert (result.rows, result.entries) == (500, numbered.nnz)
    assert_same(take(path), numbered)


def test_numbers_as_vw(tmp_path: Path, numbered: Block) -> None:
    convert(open_source(numbered), tmp_path / "x.vw")
    back = take(tmp_path / "x.vw")
    np.testing.assert_array_equal(back.values, numbered.values)
    assert [int(back.name_of(k) or 0) - 1 for k in range(back.nnz)] == numbered.indices.tolist()


@pytest.mark.parametrize("suffix", [".vw", ".parquet", ".riata-cache"])
def test_names_come_back(tmp_path: Path, named: Block, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    result = convert(open_source(named, block_rows=33), path)
    assert result.escaped == 0
    assert_same(take(path), named, "weights", "names", "name_offsets")


def test_names_that_vw_cannot_hold(tmp_path: Path) -> None:
    block = block_of([{"city=New York": 1.0, "b:c|d": 2.0, "fine": 1.0}])
    result = convert(open_source(block), tmp_path / "x.vw")
    assert result.escaped == 2
    assert (tmp_path / "x.vw").read_text() == "-1 0.5 | city=New%20York b%3Ac%7Cd:2 fine\n"
    odd = {"": 1.0, "a b": 1.0, "a%20b": 1.0, "100%": 1.0, "%2": 1.0}
    convert(open_source(block_of([odd])), tmp_path / "y.vw")
    assert (tmp_path / "y.vw").read_text() == "-1 0.5 | %empty a%20b a%2520b 100% %2\n"
    back = take(tmp_path / "x.vw")
    assert [back.name_of(k) for k in range(3)] == ["city=New%20York", "b%3Ac%7Cd", "fine"]


def test_names_as_svmlight(tmp_path: Path, named: Block) -> None:
    result = convert(open_source(named, block_rows=33), tmp_path / "x.svm")
    assert result.weights_lost
    assert result.names_file == f"{tmp_path}/x.svm.names"
    names = (tmp_path / "x.svm.names").read_text().splitlines()
    assert len(names) == len(set(names)) == result.numbered == 8
    back = take(tmp_path / "x.svm")
    for i in range(len(named)):
        wanted = {
            named.name_of(k): float(named.values[k])
            for k in range(named.indptr[i], named.indptr[i + 1])
        }
        got = {
            names[back.indices[k]]: float(back.values[k])
            for k in range(back.indptr[i], back.indptr[i + 1])
        }
        assert got == wanted


def test_zero_based(tmp_path: Path, numbered: Block) -> None:
    convert(open_source(numbered), tmp_path / "x.svm", zero_based=True)
    assert_same(take(tmp_path / "x.svm", zero_based=True), numbered)


def test_without_labels(tmp_path: Path) -> None:
    block = Block(np.array([0, 1]), np.array([3], np.int32), np.ones(1, np.float32))
    for suffix in (".svm", ".vw", ".parquet", ".riata-cache"):
        path = tmp_path / f"x{suffix}"
        convert(open_source(block), path)
        back = take(path, labelled=False)
        assert back.labels is None or np.isnan(back.labels).all()
        assert back.values.tolist() == [1.0]


def test_errors(tmp_path: Path, numbered: Block) -> None:
    with pytest.raises(DataError, match=r"x\.txt: in which format"):
        format_for("x.txt")
    (tmp_path / "in.svm").write_text("1 1:1\n1 2:x\n")
    (tmp_path / "out.vw").write_text("what was here before")
    with pytest.raises(DataError, match="in.svm:2:5"):
        convert(open_source(tmp_path / "in.svm"), tmp_path / "out.vw")
    assert (tmp_path / "out.vw").read_text() == "what was here before"


floats = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(lambda v: v != 0)
rows = st.lists(
    st.dictionaries(st.sampled_from(NAMES[:8]), floats, max_size=8), min_size=1, max_size=20
)


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from(["x.vw", "x.parquet", "x.riata-cache"]))
def test_any_rows_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, float]], name: str
) -> None:
    block = block_of(rows)
    path = tmp_path_factory.mktemp("any") / name
    convert(open_source(block), path)
    assert_same(take(path), block, "weights", "names", "name_offsets")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.dictionaries(st.integers(0, 2**62), floats, max_size=9),
        ),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from(["x.svm", "x.parquet", "x.riata-cache"]),
)
def test_any_numbers_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], name: str
) -> None:
    entries = [sorted(features.items()) for _, features in rows]
    block = Block(
        np.cumsum([0] + [len(row) for row in entries]),
        np.array([i for row in entries for i, _ in row], dtype=np.int64),
        np.array([v for row in entries for _, v in row], dtype=np.float32),
        np.array([label for label, _ in rows]),
    )
    path = tmp_path_factory.mktemp("any") / name
    convert(open_source(block), path)
    assert_same(take(path), block)


@pytest.mark.parametrize("suffix", [".parquet", ".riata-cache"])
def test_words_and_transforms_survive(tmp_path: Path, suffix: str) -> None:
    """What was found out from a table's first rows goes along, for those who predict with it."""
    pytest.importorskip("pyarrow")
    text = "".join(f"{'yes' if i % 3 else 'no'},{i % 10},{'ab'[i % 2]}\n" for i in range(200))
    (tmp_path / "x.csv").write_text("label,n,c\n" + text)
    source = open_source(tmp_path / "x.csv", buckets={"n": 4})
    path = tmp_path / f"x{suffix}"
    result = convert(source, path)
    again = open_source(path)
    assert_same(take(tmp_path / "x.csv", buckets={"n": 4}), concatenate(list(again)), "names")
    assert again.schema == result.schema  # type: ignore[attr-defined]
    assert again.label_names == ["no", "yes"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("suffix", [".vw", ".svm"])
def test_what_text_cannot_hold_is_said(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "x.csv").write_text("label,w,o,a\nspam,2,0,1\nham,1,-0.5,3\n")
    source = open_source(tmp_path / "x.csv", weight="w", offset="o")
    result = convert(source, tmp_path / f"x{suffix}")
    assert result.label_words == ["ham", "spam"]
    assert result.weights_lost == (suffix == ".svm")
    assert result.offsets_lost == (suffix == ".svm")
    roles = ["--weight", "w", "--offset", "o"]
    said = riata("convert", tmp_path / "x.csv", tmp_path / f"y{suffix}", *roles).err
    assert "labels    0 for ham, 1 for spam\n" in said
    assert ("lost      weights of examples" in said) == (suffix == ".svm")
    assert ("lost      initial predictions of examples" in said) == (suffix == ".svm")


def test_weights_without_labels(tmp_path: Path) -> None:
    block = block_of([{"a": 1.0}, {"b": 1.0}])
    for labels, lost in ((None, True), ([1.0, np.nan], True), ([np.nan, 1.0], False)):
        weights = np.array([1.0, 2.0])
        given = None if labels is None else np.array(labels)
        source = open_source(replace(block, labels=given, weights=weights))
        assert convert(source, tmp_path / "x.vw").weights_lost == lost


HOUSES = """0 | price:.23 sqft:.25 age:.05 2006
1 2 'second_house | price:.18 sqft:.15 age:.35 1976
0 1 0.5 'third_house | price:.53 sqft:.32 age:.87 1924
"""


@pytest.mark.parametrize("suffix", [".vw", ".parquet", ".riata-cache"])
def test_initial_predictions_come_back(tmp_path: Path, suffix: str) -> None:
    """Also where the first Blocks have none."""
    pytest.importorskip("pyarrow")
    (tmp_path / "houses").write_text(HOUSES)
    path = tmp_path / f"x{suffix}"
    result = convert(open_source(tmp_path / "houses", format="vw", block_rows=1), path)
    assert not result.offsets_lost
    back, given = take(path), take(tmp_path / "houses", format="vw")
    assert_same(back, given, "weights", "names", "name_offsets", "offsets")
    assert back.offsets is not None
    assert back.offsets.tolist() == [0.0, 0.0, 0.5]
    if suffix == ".vw":
        assert path.read_text().splitlines()[2].startswith("0 1 0.5 | price:0.53 ")


def test_initial_predictions_that_are_lost_are_mentioned(tmp_path: Path) -> None:
    (tmp_path / "houses").write_text(HOUSES)
    said = riata("convert", tmp_path / "houses", tmp_path / "x.svm", "--format", "vw").err
    assert "lost      initial predictions of examples" in said
    block = replace(block_of([{"a": 1.0}]), labels=None, weights=None, offsets=np.array([0.5]))
    assert convert(open_source(block), tmp_path / "x.vw").offsets_lost
    assert not convert(
        open_source(replace(block, offsets=np.zeros(1))), tmp_path / "x.svm"
    ).offsets_lost
    labelled = replace(block, labels=np.ones(1))
    convert(open_source(labelled), tmp_path / "y.vw")
    assert (
        tmp_path / "y.vw"
    ).read_text() == "1 1 0.5 | a\n"  # the weight, that the offset may be third


def test_damaged_offsets_are_refused(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "houses").write_text(HOUSES)
    convert(open_source(tmp_path / "houses", format="vw"), tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    place = table.schema.get_field_index("offset")
    for bad in (float("nan"), float("inf"), 1e39):
        column = [[None, bad, 0.5]]
        odd = table.set_column(place, "offset", column)
        pq.write_table(odd.replace_schema_metadata(table.schema.metadata), tmp_path / "y.parquet")
        with pytest.raises(DataError, match=r"row 1: the offset is"):
            take(tmp_path / "y.parquet")
