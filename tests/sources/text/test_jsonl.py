"""JSON lines and dicts: what is read, what is refused, and that both are the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata.block import concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.cells import are_truths
from riata.sources.options import ReadOptions
from riata.sources.text.jsonl import JsonSource
from tests.sources.named import Row, assert_same, drain, read, rows, write


def test_reads_what_people_write(tmp_path: Path) -> None:
    text = (
        '{"label": 1, "age": 30.5, "new": true, "old": false, "gone": null, "city": "Rome"}\n'
        "\n"
        ' { "label" : -1e0 , "user" : { "id" : "u\\u00e9\\ud83d\\ude00\\n" , "n" : { } } }\r\n'
        '{"tags": ["a", "b", "a"], "vec": [0.5, 0, {"x": 2}], "none": [], "label": 0}'
    )
    block = read(write(tmp_path, text, "x.jsonl"))
    np.testing.assert_array_equal(block.labels, [1, -1, 0])
    np.testing.assert_array_equal(block.lines, [1, 3, 4])
    assert rows(block) == [
        [("age", 30.5), ("new", 1), ("city=Rome", 1)],
        [("user.id=u\u00e9\U0001f600\n", 1)],
        [("tags=a", 2), ("tags=b", 1), ("vec.0", 0.5), ("vec.2.x", 2)],
    ]


def test_roles(tmp_path: Path) -> None:
    text = (
        '{"y": {"click": true}, "hour": 17, "size": "3.5", "drop": {"a": [1, "x"]}, "w": 2}\n'
        '{"y": {"click": false}, "hour": 1.50, "size": "", "flag": null, "w": 0}\n'
    )
    block = read(
        write(tmp_path, text, "x.jsonl"),
        label="y.click",
        weight="w",
        ignore=["drop"],
        numeric=["size"],
        categorical=["hour"],
        missing="feature",
    )
    np.testing.assert_array_equal(block.labels, [1, 0])
    np.testing.assert_array_equal(block.weights, [2, 0])
    assert rows(block) == [
        [("hour=17", 1), ("size", 3.5)],
        [("hour=1.50", 1), ("size=?", 1), ("flag=?", 1)],
    ]


def test_crosses_take_whole_objects(tmp_path: Path) -> None:
    path = write(tmp_path, '{"label": 1, "user": {"id": "u", "age": 3}, "ad": "a"}', "x.jsonl")
    assert rows(read(path, crosses=["user:ad"]))[0][3:] == [
        ("user.id=u*ad=a", 1),
        ("user.age*ad=a", 3),
    ]


def test_labels_that_are_words(tmp_path: Path) -> None:
    path = write(tmp_path, '{"label": "spam"}\n{"label": "ham"}\n', "x.jsonl")
    source = open_source(path)
    np.testing.assert_array_equal(concatenate(list(source)).labels, [1, 0])
    assert source.label_names == ["ham", "spam"]  # type: ignore[attr-defined]
    assert read(path, schema=source.schema).labels.tolist() == [1, 0]  # type: ignore


keys = st.text(st.characters(blacklist_categories=("Cs",)), max_size=12).filter("label".__ne__)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**23), 2**23),
    st.floats(-1e6, 1e6, width=32),
    # Those of true and false have rules of their own: tests/sources/test_truths.py.
    st.text(st.characters(blacklist_categories=("Cs",)), max_size=12).filter(
        lambda text: not are_truths([text])
    ),
)
objects = st.dictionaries(
    keys,
    st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner)),
        max_leaves=8,
    ),
    max_size=5,
)


def flatten(value: Any, path: str, out: dict[str, np.float32]) -> None:
    """The mapping again, in Python."""
    if isinstance(value, dict):
        for key, inner in value.items():
            flatten(inner, f"{path}.{key}" if path is not None else key, out)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            flatten(inner, path if isinstance(inner, str) else f"{path}.{i}", out)
    elif isinstance(value, str):
        name = f"{path}={value}"
        out[name] = out.get(name, np.float32(0)) + np.float32(1)
    elif value:
        out[path] = out.get(path, np.float32(0)) + np.float32(value)


def expected(item: dict[str, Any]) -> Row:
    out: dict[str, np.float32] = {}
    for key, value in item.items():
        flatten(value, key, out)
    return [(name, float(value)) for name, value in out.items() if value != 0]


@settings(max_examples=200, deadline=None)
@given(st.lists(objects, min_size=1, max_size=5), st.booleans())
def test_text_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]], ascii_only: bool
) -> None:
    text = "\n".join(json.dumps({"label": 1, **x}, ensure_ascii=ascii_only) for x in items)
    block = read(write(tmp_path_factory.mktemp("p"), text, "x.jsonl"))
    assert rows(block) == [expected(item) for item in items]
    assert_same(
        block.with_labels(block.labels, block.weights),
        concatenate_with_lines([{"label": 1, **item} for item in items]),
    )


def concatenate_with_lines(items: list[dict[str, Any]]) -> Any:
    from dataclasses import replace

    block = concatenate(list(open_source(items)))
    assert block.path is None
    return replace(block, lines=np.arange(1, len(block) + 1))


def test_dicts() -> None:
    items = [{"label": 1, "n": np.float64(2.5), "s": {"b", "a"}, "v": np.array([1, 0])}] * 3
    source = open_source(items, block_rows=2)
    assert (source.repeatable, source.n_rows) == (True, 3)
    first, _ = source
    assert rows(first)[0] == [("n", 2.5), ("s=a", 1), ("s=b", 1), ("v.0", 1)]
    once = open_source(item for item in items)
    assert not once.repeatable
    assert sum(map(len, once)) == 3
    with pytest.raises(DataError, match="only once"):
        iter(once)


def test_dicts_that_are_none() -> None:
    good: dict[str, Any] = {"label": 1, "a": 1}
    for bad, message in (
        ({"label": 1, "a": object()}, "row 1: cannot be read as features: object"),
        ({"label": 1, "a": float("inf")}, "row 1: the value"),
        ({"a": 1}, "row 1: the label 'label' is missing"),
        ([1], "row 1: expected an object"),
    ):
        blocks, error = drain(open_source([good, bad]))
        assert message in str(error)
        if "cannot" not in message:
            assert sum(map(len, blocks)) == 1


def test_chunks_and_threads_change_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    lines = [
        json.dumps({"label": int(rng.integers(2)), f"k{rng.integers(9)}": {"x": [str(i), i]}})
        for i in range(1200)
    ]
    path = write(tmp_path, "\n".join(lines), "x.jsonl")
    once = read(path, threads=1)
    for chunk_bytes in (1, 500):
        source = JsonSource([path], ReadOptions(threads=3), _chunk_bytes=chunk_bytes)
        assert_same(concatenate(list(source)), once)
