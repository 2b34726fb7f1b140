"""Random data, nasty where a format allows it, written in every form: the same rows, and the same bits learned."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
import pytest

from riata.block import Block, concatenate
from riata.convert import convert
from riata.learners import FAMILIES
from riata.sources import open_source
from riata.training import train
from tests.sources.every_format import (
    CROSSES,
    FORMS,
    READING,
    Table,
    expected,
    make_table,
    text_labels,
)
from tests.sources.named import rows

FORM = pytest.mark.parametrize("form", FORMS)


def opened(form: str, table: Table, folder: Path, chunk: int | None = None, **options: Any) -> Any:
    source = open_source(FORMS[form].put(table, folder), **(READING | options))
    if chunk is not None and hasattr(source, "_chunk_bytes"):
        source._chunk_bytes = chunk
    return source


def assert_holds(block: Block, table: Table, **options: Any) -> None:
    assert rows(block) == expected(table, **options)
    labels, _ = text_labels(table)
    assert block.labels is not None
    assert block.weights is not None
    assert block.labels.tobytes() == np.array(labels).tobytes()
    assert block.weights.tobytes() == np.array([row["weight"] for row in table]).tobytes()
    assert block.offsets is not None
    assert block.offsets.tobytes() == np.array([row["offset"] for row in table]).tobytes()


@FORM
@pytest.mark.parametrize("seed", range(2))
def test_the_rows_that_were_written(tmp_path: Path, form: str, seed: int) -> None:
    table = make_table(seed, 150)
    assert_holds(concatenate(list(opened(form, table, tmp_path))), table)
    blocks = list(opened(form, table, tmp_path, chunk=61, threads=3, block_rows=7))
    assert max(map(len, blocks)) <= 7
    assert_holds(concatenate(blocks), table)


@FORM
def test_missing_values_crosses_and_words(tmp_path: Path, form: str) -> None:
    table = make_table(7, 150, words=True, tame=True)
    options: dict[str, Any] = {"missing": "feature", "crosses": CROSSES}
    source = opened(form, table, tmp_path, chunk=1000, threads=2, **options)
    assert_holds(concatenate(list(source)), table, **options)
    assert source.label_names == text_labels(table)[1]
    nameless = concatenate(list(opened(form, table, tmp_path, names=False, **options)))
    keys = concatenate(list(opened("dicts", table, tmp_path, **options))).indices
    np.testing.assert_array_equal(nameless.indices, keys)


WITHOUT_OFFSETS: dict[str, Any] = {"offset": None, "ignore": ["offset"]}
"""A model of several classes has none."""


def weights_of(source: Any) -> tuple[bytes, ...]:
    net = FAMILIES["elastic-net"]
    model = train(source, lambda n: net(l1=1e-4, outputs=n, store="table"), classes=[0, 1, 2, 5])
    keys, values = model.learner.coef()
    return keys.tobytes(), values.tobytes(), model.learner.intercept.tobytes()


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, tuple[bytes, ...]]:
    table = make_table(3, 300, tame=True)
    folder = tmp_path_factory.mktemp("learned")
    return table, weights_of(opened("dicts", table, folder, crosses=CROSSES, **WITHOUT_OFFSETS))


@FORM
def test_trains_the_same_bits(tmp_path: Path, form: str, learned: Any) -> None:
    """Several classes, weights, crosses, however the data is cut."""
    table, bits = learned
    options: dict[str, Any] = {"crosses": CROSSES, **WITHOUT_OFFSETS}
    source = opened(form, table, tmp_path, chunk=333, threads=3, block_rows=11, **options)
    assert weights_of(source) == bits


def regression_of(source: Any) -> dict[str, float]:
    """The weights by name, the intercept among them, of a model that honours offsets."""
    net = FAMILIES["elastic-net"]
    made = train(source, lambda n: net(loss="squared", eta0=0.01, l1=1e-4, outputs=n)).learner
    keys, values = made.coef()
    names = made.names(keys)
    assert names is not None
    found = dict(zip(map(str, names), values[:, 0].tolist(), strict=True))
    return found | {"intercept": float(made.intercept[0])}


@pytest.fixture(scope="module")
def regressed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, dict[str, float]]:
    table = make_table(11, 300, tame=True)
    folder = tmp_path_factory.mktemp("regressed")
    found = regression_of(opened("dicts", table, folder, crosses=CROSSES))
    without = opened("dicts", table, folder, crosses=CROSSES, **WITHOUT_OFFSETS)
    assert regression_of(without) != found
    return table, found


@FORM
def test_trains_the_same_bits_with_offsets(tmp_path: Path, form: str, regressed: Any) -> None:
    table, expected = regressed
    source = opened(form, table, tmp_path, chunk=333, threads=3, block_rows=11, crosses=CROSSES)
    assert regression_of(source) == expected


@pytest.mark.parametrize("form", ["csv", "arff sparse", "jsonl", "parquet"])
def test_trains_the_same_bits_as_initial_predictions(
    tmp_path: Path, form: str, regressed: Any
) -> None:
    """Vowpal Wabbit's text has them before the bar."""
    table, expected = regressed
    convert(opened(form, table, tmp_path, crosses=CROSSES), tmp_path / "y.vw")
    first = (tmp_path / "y.vw").read_text().split("\n", 1)[0]
    assert [float(word) for word in first.split(" |")[0].split()] == [
        table[0][column] for column in ("label", "weight", "offset")
    ]
    found = regression_of(open_source(tmp_path / "y.vw"))
    assert {unquoted(name): weight for name, weight in found.items()} == expected


@pytest.mark.parametrize("form", [form for form in FORMS if FORMS[form].name])
def test_a_cache_of_it(tmp_path: Path, form: str) -> None:
    table = make_table(5, 100)
    path = FORMS[form].put(table, tmp_path)
    source = open_source(path, **READING, cache=tmp_path / "cache")
    for _ in range(2):
        assert_holds(concatenate(list(source)), table)
    again = open_source(path, **READING, cache=tmp_path / "cache", block_rows=9)
    assert_holds(concatenate(list(again)), table)


@pytest.mark.parametrize("target", ["y.parquet", "y.riata-cache", "y.vw", "y.svm"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_converted(tmp_path: Path, form: str, target: str) -> None:
    table = make_table(9, 120)
    path = tmp_path / target
    convert(opened(form, table, tmp_path, chunk=500), path)
    block = concatenate(list(open_source(path, block_rows=13)))
    if target == "y.vw":
        made = [[(unquoted(name), value) for name, value in row] for row in rows(block)]
        assert made == expected(table)
        assert block.weights is not None
        assert block.weights.tolist() == [row["weight"] for row in table]
        assert block.offsets is not None
        assert block.offsets.tolist() == [row["offset"] for row in table]
    elif target == "y.svm":
        names = Path(f"{path}.names").read_text().split("\n")
        for i, row in enumerate(expected(table)):
            one = block[i : i + 1]
            found = zip(one.indices.tolist(), one.values.tolist(), strict=True)
            assert {names[k]: value for k, value in found} == dict(row)
    else:
        assert_holds(block, table)
    assert block.labels is not None
    assert block.labels.tolist() == text_labels(table)[0]


def unquoted(name: str) -> str:
    return unquote_to_bytes(name).decode()


def test_the_same_without_newer_instructions() -> None:
    """RIATA_PLAIN turns them off. On older processors there are none, and this is the same again."""
    here = Path(__file__).parent
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0"]
    words += [
        f"{here}/text/test_vw_twice.py::test_odd_lines",
        f"{__file__}::test_trains_the_same_bits",
    ]
    words.append(f"{__file__}::test_trains_the_same_bits_with_offsets")
    plain = os.environ | {"RIATA_PLAIN": "1"}
    done = subprocess.run(words, env=plain, cwd=here.parents[1], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()
