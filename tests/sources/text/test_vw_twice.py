"""The fast reader of Vowpal Wabbit text against a slow one, and against Vowpal Wabbit, on its own test inputs."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata import _core
from riata.block import Block, concatenate
from riata.sources.options import ReadOptions
from riata.sources.text.vw import VwSource
from tests.sources.named import drain
from tests.sources.text.slow_vw import Example, example, examples
from tests.sources.text.test_vw import vw_inputs  # noqa: F401
from tests.sources.text.vw_files import FILES

LARGE = 1 << 20
READ = [name for name, rows, _ in FILES if isinstance(rows, int)]
UNLABELLED = [name for name, _, why in FILES if why == "label is missing"]
CUT_SHORT = [name for name, where, _ in FILES if isinstance(where, str) and where[:3] != ":1:"]


def text_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def assert_block_is(block: Block, expected: list[tuple[int, Example]]) -> None:
    """The same labels, weights, offsets, lines, names, keys and values, all of them to the bit."""
    merged = [one.merged() for _, one in expected]
    names = [name for features in merged for name in features]
    values = [value for features in merged for value in features.values()]
    assert block.names is not None
    assert block.lines is not None
    assert block.lines.tolist() == [line for line, _ in expected]
    np.testing.assert_array_equal(block.labels, [one.label for _, one in expected])
    np.testing.assert_array_equal(block.weights, [one.weight for _, one in expected])
    initial = [one.initial for _, one in expected]
    if block.offsets is None:
        assert not any(initial)
    else:
        np.testing.assert_array_equal(block.offsets, initial)
    np.testing.assert_array_equal(np.diff(block.indptr), [len(features) for features in merged])
    assert block.names.tobytes() == b"".join(names)
    np.testing.assert_array_equal(np.diff(block.name_offsets), [len(name) for name in names])
    bits = block.values.view(np.uint32)
    np.testing.assert_array_equal(bits, np.array(values, np.float32).view(np.uint32))
    keys = {name: _core.key_of_name(name) for name in set(names)}
    np.testing.assert_array_equal(block.indices, [keys[name] for name in names])


@pytest.mark.parametrize("name", READ)
def test_files_that_are_read(vw_inputs: Path, tmp_path: Path, name: str) -> None:  # noqa: F811
    path = vw_inputs / name
    text = text_of(path)
    if len(text) > LARGE:  # its first lines and its last: the slow reader is slow
        text = text[: LARGE // 2].rpartition(b"\n")[0] + text[-LARGE // 2 :]
        path = tmp_path / "part.vw"
        path.write_bytes(text)
    expected = examples(text)
    assert_block_is(concatenate(list(VwSource([str(path)]))), expected)
    small = VwSource([str(path)], ReadOptions(threads=3), _chunk_bytes=1 << 10)
    assert_block_is(concatenate(list(small)), expected)


@pytest.mark.parametrize("name", UNLABELLED)
def test_files_whose_labels_nobody_needs(vw_inputs: Path, name: str) -> None:  # noqa: F811
    path = vw_inputs / name
    source = VwSource([str(path)], ReadOptions(labelled=False))
    assert_block_is(concatenate(list(source)), examples(text_of(path)))


@pytest.mark.parametrize("name", CUT_SHORT)
def test_files_that_are_refused_further_on(vw_inputs: Path, name: str) -> None:  # noqa: F811
    """What stands before the line that is refused is read, and read right."""
    path = vw_inputs / name
    blocks, error = drain(VwSource([str(path)]))
    line = int(str(error).removeprefix(f"{path}:").split(":")[0])
    before = b"\n".join(text_of(path).split(b"\n")[: line - 1])
    assert_block_is(concatenate(blocks), examples(before))


@pytest.mark.parametrize("name", READ + UNLABELLED)
def test_vowpal_wabbit_reads_the_same(vw_inputs: Path, name: str, rival: Any) -> None:  # noqa: F811
    """Labels, weights and values of some lines of each file, as its own parser has them."""
    lines = [line for line in text_of(vw_inputs / name).split(b"\n") if line.strip()]
    for line in lines[:: max(1, len(lines) // 25)]:
        ours, theirs = example(line), rival.example(line.decode())
        found = sorted(value for _, value in theirs.iter_features())
        assert found == pytest.approx(sorted(float(v) for _, v in ours.features), rel=1e-6)
        if not np.isnan(ours.label):
            assert theirs.get_simplelabel_label() == pytest.approx(ours.label, rel=1e-6)
            assert theirs.get_simplelabel_weight() == pytest.approx(ours.weight, rel=1e-6)
            assert theirs.get_simplelabel_initial() == pytest.approx(ours.initial, rel=1e-6)
        rival.finish_example(theirs)


@pytest.fixture(scope="module")
def rival() -> Any:
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    workspace = vowpalwabbit.Workspace(quiet=True, noconstant=True)
    yield workspace
    workspace.finish()


SPACES = ["", "a", "b:0.5", "user:-3e2", "a^b", "\u00e9", "long-name-of-a-namespace", "x:0"]
NAMES = ["x", "", "=", "^", "w7", "\u00e9t\u00e9", "n" * 15, "n" * 16, "n" * 40, "'q'", "%20", "-1"]
VALUES = ["", ":1", ":0", ":-0.0", ":7", ":0.0371", ":1e-46", ":-.5", ":16777217", ":1.17549e-38"]
VALUES += [":0.1234567890123456789", ":+3", ":1e35", ":00012", ":1e-3", ":5e-324"]
BLANKS = [" ", " ", " ", "  ", "\t", " \t "]
LABELS = [
    "1 ",
    "-1 0.5 ",
    "+2.5 1 0 ",
    "1 't ",
    "0 tag-7",
    "3 2 'x y"[:6],
    "1e3 2e-1 tag",
    "1 1 -0.25 ",
    "-1 0 3.5e1 't ",
    "0 2 1 tag",
    " -1  4 ",
]


def odd_text(rng: np.random.Generator, lines: int) -> str:
    """Lines that use whatever the format allows, often."""

    def one_of(choices: list[str]) -> str:
        return choices[rng.integers(len(choices))]

    text = []
    for _ in range(lines):
        line = one_of(LABELS)
        for _ in range(rng.integers(1, 4)):
            line += "|" + one_of(SPACES)
            for _ in range(rng.integers(0, 30)):
                name, value = one_of(NAMES), one_of(VALUES if rng.random() < 0.7 else [":1", ""])
                line += one_of(BLANKS) + (name + value if name or value else "")
            line += one_of(["", " ", "\t"])
        text.append(line + one_of(["\n", "\n", "\r\n", " \n", "\n\n", "\n \r\n"]))
    return "".join(text)


@pytest.mark.parametrize("seed", range(12))
def test_odd_lines(tmp_path: Path, seed: int) -> None:
    text = odd_text(np.random.default_rng(seed), 200).encode()
    path = tmp_path / "x.vw"
    path.write_bytes(text)
    expected = examples(text)
    for size, threads in ((None, None), (1, None), (700, 3)):
        source = VwSource([str(path)], ReadOptions(threads=threads), _chunk_bytes=size)
        blocks, error = drain(source)
        assert error is None
        assert_block_is(concatenate(blocks), expected)
