"""Vowpal Wabbit text: what is read, what is refused, and that chunks and threads change nothing."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata.block import concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.options import ReadOptions
from riata.sources.recognise import recognise
from riata.sources.text.vw import VwSource
from tests.data import DATA
from tests.sources.named import Row, assert_same, drain, read, rows, write
from tests.sources.text.vw_files import FILES


def test_reads_what_people_write(tmp_path: Path) -> None:
    text = (
        "1 |h from:2 to |b offer\n"
        "\n"
        "-1 0.5 'tag-7 |b:2 hello:1.5 hello world\r\n"
        "2.5 1 0 tag| a :3 |b\n"
        "+1 |a x |a x:-1 y |b \u00e9t\u00e9"
    )
    block = read(write(tmp_path, text, "x.vw"))
    np.testing.assert_array_equal(block.labels, [1, -1, 2.5, 1])
    np.testing.assert_array_equal(block.weights, [1, 0.5, 1, 1])
    np.testing.assert_array_equal(block.lines, [1, 3, 4, 5])
    assert rows(block) == [
        [("h^from", 2), ("h^to", 1), ("b^offer", 1)],
        [("b^hello", 5), ("b^world", 2)],
        [("a", 1), ("0", 3)],
        [("a^y", 1), ("b^\u00e9t\u00e9", 1)],
    ]
    assert block.where(1).endswith("x.vw:3")


def test_lines_may_lack_labels_when_nobody_needs_them(tmp_path: Path) -> None:
    block = read(write(tmp_path, "| a\n1 | b\n'tag |c d\n", "x.vw"), labelled=False)
    np.testing.assert_array_equal(block.labels, [np.nan, 1, np.nan])


@pytest.fixture(scope="module")
def vw_inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = DATA / "vw" / "vw_test_train-sets.tar.gz"
    if not archive.exists():
        pytest.skip(f"no {archive}")
    folder = tmp_path_factory.mktemp("vw")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / "test"


@pytest.mark.parametrize("expected", FILES, ids=[row[0] for row in FILES])
def test_inputs_of_vowpal_wabbit_are_read_or_refused(
    vw_inputs: Path, expected: tuple[Any, ...]
) -> None:
    name, first, second = expected
    blocks, error = drain(VwSource([str(vw_inputs / name)]))
    if isinstance(first, int):
        assert error is None
        assert (sum(map(len, blocks)), sum(b.nnz for b in blocks)) == (first, second)
    else:
        assert error is not None
        assert str(error).startswith(f"{vw_inputs / name}{first}")
        assert second in str(error)


def test_counts_what_vowpal_wabbit_counts(vw_inputs: Path) -> None:
    """Labels, weights and values, line by line, as its own parser has them."""
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    rival = vowpalwabbit.Workspace(quiet=True, noconstant=True)
    for name in ("0002_25.dat", "er_small.vw", "big-constant.dat", "multi_namespace.dat"):
        path = vw_inputs / "train-sets" / name
        block = read(str(path), format="vw")
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        assert len(lines) == len(block)
        assert block.labels is not None
        assert block.weights is not None
        for i, line in enumerate(lines):
            example = rival.example(line)
            theirs = sorted(value for _, value in example.iter_features())
            assert theirs == pytest.approx(sorted(block[i : i + 1].values.tolist()), rel=1e-6)
            assert example.get_simplelabel_label() == pytest.approx(block.labels[i], rel=1e-6)
            assert example.get_simplelabel_weight() == block.weights[i]
            rival.finish_example(example)
    rival.finish()


names = st.text(
    st.characters(blacklist_characters=" \t\r\n:|", blacklist_categories=("Cs", "Cc")),
    min_size=1,
    max_size=24,
)
values = st.floats(-1e6, 1e6, width=32)
spaces = st.lists(st.tuples(names, st.lists(st.tuples(names, values), max_size=6)), max_size=4)


def expected_row(line: list[tuple[str, list[tuple[str, float]]]]) -> Row:
    """The same in Python: float32 sums in order of first appearance, zeros dropped."""
    sums: dict[str, np.float32] = {}
    for space, features in line:
        for name, value in features:
            if value != 0:
                key = f"{space}^{name}"
                sums[key] = sums.get(key, np.float32(0)) + np.float32(value)
    return [(name, float(value)) for name, value in sums.items() if value != 0]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e9, 1e9), spaces), min_size=1, max_size=6))
def test_text_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[float, Any]]
) -> None:
    text = "".join(
        f"{label!r} "
        + " ".join(
            f"|{space} " + " ".join(f"{name}:{value!r}" for name, value in features)
            for space, features in line
        )
        + ("\n" if line else "|\n")
        for label, line in lines
    )
    block = read(write(tmp_path_factory.mktemp("p"), text, "x.vw"))
    assert block.labels is not None
    assert block.labels.tolist() == [label for label, _ in lines]
    assert rows(block) == [expected_row(line) for _, line in lines]


def random_text(n: int, seed: int = 3) -> str:
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        words = rng.integers(0, 300, rng.integers(0, 30))
        features = " ".join(f"w{w}:{rng.integers(1, 9)}" if w % 3 else f"w{w}" for w in words)
        lines.append(f"{rng.choice([-1, 1])} {rng.integers(1, 3)} |a {features} |b x{words.sum()}")
    return "\n".join(lines) + "\n"


def test_chunks_and_threads_change_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, random_text(400), "x.vw")
    once = read(path, threads=1)
    for chunk_bytes in (1, 100, 5000):
        for threads in (1, 3):
            source = VwSource([path], ReadOptions(threads=threads), _chunk_bytes=chunk_bytes)
            assert_same(concatenate(list(source)), once)


def test_without_names_the_keys_are_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, random_text(50), "x.vw")
    nameless = read(path, names=False, crosses=["a:b"])
    assert nameless.names is None
    assert nameless.name_offsets is None
    assert_same(nameless, read(path, crosses=["a:b"]), names=False)


def test_crosses(tmp_path: Path) -> None:
    path = write(tmp_path, "1 |user u1 u2:2 |ad a1:3 |c z\n-1 |ad a1\n", "x.vw")
    block = read(path, crosses=[("user", "ad"), ("user", "ad", "c")])
    first, second = rows(block)
    assert first[:4] == [("user^u1", 1), ("user^u2", 2), ("ad^a1", 3), ("c^z", 1)]
    assert first[4:6] == [("user^u1*ad^a1", 3), ("user^u2*ad^a1", 6)]
    assert first[6:] == [("user^u1*ad^a1*c^z", 3), ("user^u2*ad^a1*c^z", 6)]
    assert second == [("ad^a1", 1)]
    with pytest.raises(ValueError, match="two or three groups"):
        read(path, crosses=[("user",)])


def test_recognised_by_name_or_content(tmp_path: Path) -> None:
    assert open_source(write(tmp_path, "1 | a\n", "x.vw")).format == "Vowpal Wabbit"  # type: ignore[attr-defined]
    assert open_source(write(tmp_path, "1 |b a\n", "x.dat")).format == "Vowpal Wabbit"  # type: ignore[attr-defined]
    assert open_source(write(tmp_path, "1 3:4\n", "y.dat")).format == "svmlight"  # type: ignore[attr-defined]
    assert recognise(b"1 | a\n-1 1.5 'x |b:2 c\n0.5 tag|b c|d") == "vw"
    with pytest.raises(DataError, match="different formats"):
        open_source([str(tmp_path / "x.vw"), str(tmp_path / "y.dat")])
    with pytest.raises(DataError, match="unknown format"):
        open_source(str(tmp_path / "x.vw"), format="vowpal")
