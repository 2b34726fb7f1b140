"""svmlight text: what is read, what is refused, and that chunks and threads change nothing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.options import ReadOptions
from riata.sources.text.svmlight import SvmlightSource
from tests.sources import named
from tests.sources.named import drain


def write(folder: Path, text: str | bytes, name: str = "x.svm") -> str:
    return named.write(folder, text, name)


def read(path: str, **options: Any) -> Block:
    return concatenate(list(SvmlightSource([path], ReadOptions(**options))))


def assert_same(a: Block, b: Block) -> None:
    for name in ("indptr", "indices", "values", "labels", "lines"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def test_reads_what_people_write(tmp_path: Path) -> None:
    block = read(
        write(
            tmp_path,
            "# header\n\n1 1:2 3:0.5\n -1\tqid:7  2:-1e-1 \t 4:.5 # 9:9\r\n"
            "+2.5\r\n0 3:0 5:1#c\n1 2:3",
        )
    )
    np.testing.assert_array_equal(block.labels, [1, -1, 2.5, 0, 1])
    np.testing.assert_array_equal(block.indptr, [0, 2, 4, 4, 5, 6])
    np.testing.assert_array_equal(block.indices, [0, 2, 1, 3, 4, 1])
    np.testing.assert_array_equal(block.values, np.float32([2, 0.5, -0.1, 0.5, 1, 3]))
    np.testing.assert_array_equal(block.lines, [3, 4, 5, 6, 7])
    assert block.indices.dtype == np.int32
    assert block.values.dtype == np.float32
    assert block.weights is None
    assert block.where(4).endswith("x.svm:7")


def test_zero_based(tmp_path: Path) -> None:
    assert read(write(tmp_path, "1 0:1 5:1\n"), zero_based=True).indices.tolist() == [0, 5]


def test_large_indices_become_64_bit(tmp_path: Path) -> None:
    block = read(write(tmp_path, "1 1:1\n1 2147483649:1 9223372036854775807:1\n"))
    assert block.indices.dtype == np.int64
    assert block.indices.tolist() == [0, 2**31, 2**63 - 2]


def test_lines_may_lack_labels_when_nobody_needs_them(tmp_path: Path) -> None:
    block = read(write(tmp_path, "3:1 4:1\n1 3:1\n"), labelled=False)
    np.testing.assert_array_equal(block.labels, [np.nan, 1])


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert read(write(tmp_path, b"\xef\xbb\xbf1 3:1\n")).labels.tolist() == [1]  # type: ignore[union-attr]


def test_bytes_in_a_comment_do_not_matter(tmp_path: Path) -> None:
    assert len(read(write(tmp_path, b"1 3:1 # \xff\x00\xc3\n1 2:1\n"))) == 2


def test_text_is_the_matrix_it_was_written_from(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    matrix = sp.random(300, 5000, density=0.01, format="csr", dtype=np.float32, random_state=5)
    scale = 10.0 ** rng.integers(-30, 30, matrix.nnz)
    matrix.data = ((matrix.data - 0.5) * scale).astype(np.float32)  # 9 digits tell floats apart
    y = rng.integers(0, 3, 300)
    path = str(tmp_path / "m.svm")
    dump_svmlight_file(matrix, y, path, zero_based=False)
    text = read(path)
    [block] = open_source(matrix, y)
    for name in ("indptr", "indices", "values", "labels"):
        np.testing.assert_array_equal(getattr(text, name), getattr(block, name))


def a_file(rows: int, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(rows):
        indices = np.unique(rng.integers(1, 10**6, rng.integers(0, 40)))
        features = " ".join(
            f"{j}:{v:.6g}" for j, v in zip(indices, rng.normal(size=len(indices)), strict=True)
        )
        lines.append(f"{i % 3 - 1} {features}" + (" # note" if i % 7 == 0 else ""))
        if i % 11 == 0:
            lines.append("")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("chunk_bytes", [1, 2, 7, 64, 1000, 1 << 14])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_chunks_and_threads_change_nothing(tmp_path: Path, chunk_bytes: int, threads: int) -> None:
    path = write(tmp_path, a_file(150))
    whole = list(SvmlightSource([path], ReadOptions(threads=1)))
    assert len(whole) == 1
    source = SvmlightSource([path], ReadOptions(threads=threads), _chunk_bytes=chunk_bytes)
    for _ in range(2):
        assert_same(concatenate(list(source)), whole[0])
    assert source.bytes_read == source.n_bytes == Path(path).stat().st_size


def test_block_rows_limits_blocks(tmp_path: Path) -> None:
    path = write(tmp_path, a_file(100))
    blocks = list(open_source(path, block_rows=7))
    assert max(map(len, blocks)) == 7
    assert_same(concatenate(blocks), read(path))


LINE = st.one_of(
    st.just(""),
    st.just("# 1:2"),
    st.builds(
        lambda label, features, end: f"{label} {features}{end}",
        st.sampled_from(["1", "-1", "+1", "0.25", "1e3"]),
        st.dictionaries(st.integers(1, 2**33), st.floats(-1e6, 1e6, width=32), max_size=6).map(
            lambda d: " ".join(f"{k}:{v!r}" for k, v in sorted(d.items()))
        ),
        st.sampled_from(["", " ", "\t", "\r", " # c"]),
    ),
)


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(LINE, min_size=1, max_size=12), chunk=st.integers(1, 200), last=st.booleans())
def test_any_lines_any_cut(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], chunk: int, last: bool
) -> None:
    path = write(tmp_path_factory.mktemp("any"), "\n".join(lines) + "\n" * last)
    expected = [(i, line) for i, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]
    blocks, error = drain(iter(SvmlightSource([path], ReadOptions(threads=2), _chunk_bytes=chunk)))
    if not expected:
        assert "no examples" in str(error)
        return
    assert error is None
    block = concatenate(blocks)
    assert block.lines is not None
    assert block.lines.tolist() == [i for i, _ in expected]
    for row, (_, line) in enumerate(expected):
        features = [f.split(":") for f in line.split("#")[0].split()[1:]]
        kept = [(int(i) - 1, np.float32(v)) for i, v in features if np.float32(v) != 0]
        piece = block[row : row + 1]
        assert list(zip(piece.indices.tolist(), piece.values, strict=True)) == kept


@settings(max_examples=200, deadline=None)
@given(text=st.binary(max_size=200), chunk=st.integers(1, 64))
def test_any_bytes_give_rows_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, chunk: int
) -> None:
    path = write(tmp_path_factory.mktemp("any"), text)
    whole, error = drain(iter(SvmlightSource([path], ReadOptions(threads=1))))
    cut, same_error = drain(
        iter(SvmlightSource([path], ReadOptions(threads=2), _chunk_bytes=chunk))
    )
    assert str(error) == str(same_error)
    assert sum(map(len, whole)) == sum(map(len, cut))


def test_files_one_after_another(tmp_path: Path) -> None:
    first, second = write(tmp_path, "1 1:1\n1 2:1", "a"), write(tmp_path, "-1 3:1\n", "b")
    source = open_source([first, Path(second)])
    blocks = list(source)
    assert [b.path for b in blocks] == [first, second]
    assert [b.lines.tolist() for b in blocks] == [[1, 2], [1]]  # type: ignore[union-attr]
    assert source.name == f"{first}, {second}"
    third = write(tmp_path, "1 1:1\n1 1\n", "c")
    blocks, error = drain(iter(open_source([first, third])))
    assert str(error).startswith(f"{third}:2:3: ")
    assert sum(map(len, blocks)) == 3
    assert "and 3 more files" in open_source([first] * 4).name


def test_an_empty_file_among_others_is_fine(tmp_path: Path) -> None:
    empty, full = write(tmp_path, "", "a"), write(tmp_path, "1 1:1\n", "b")
    assert [len(b) for b in open_source([empty, full])] == [1]


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n\n", "\r\n \t"])
def test_no_examples(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=f"no examples in {path}"):
        list(open_source(path))


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riata.sources.io.lines.LONGEST_LINE", 1 << 16)
    path = write(tmp_path, b"1 1:1\n1 2:1 " + b"x" * (1 << 17) + b"\n")
    blocks, error = drain(iter(SvmlightSource([path], _chunk_bytes=1 << 12)))
    assert str(error).startswith(f"{path}:2:1: this line is longer than")
    assert sum(map(len, blocks)) == 1


def test_a_100_mb_line(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.write(b"1 1:1\n1 ")
        file.truncate(100 << 20)  # the rest is a hole: zeros, no newline
    blocks, error = drain(iter(open_source(path)))
    assert str(error).startswith(f"{path}:2:1: this line is longer than 64 MiB")
    assert sum(map(len, blocks)) == 1


def test_a_long_line_that_is_fine(tmp_path: Path) -> None:
    features = " ".join(f"{i}:1" for i in range(1, 300_000))
    block = read(write(tmp_path, f"1 {features}\n-1 7:1\n"))
    assert block.indptr.tolist() == [0, 299_999, 300_000]


def riata_threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("riata-source")]


def test_closing_early_leaves_no_thread(tmp_path: Path) -> None:
    path = write(tmp_path, a_file(500))
    blocks = iter(SvmlightSource([path], ReadOptions(threads=4), _chunk_bytes=100))
    next(blocks)
    assert riata_threads()
    blocks.close()  # type: ignore[attr-defined]
    assert not riata_threads()
    for _ in SvmlightSource([path], ReadOptions(threads=2), _chunk_bytes=100):
        break
    assert not riata_threads()


def test_a_consumer_that_fails_leaves_no_thread(tmp_path: Path) -> None:
    path = write(tmp_path, a_file(500))

    def consume() -> None:
        for _ in SvmlightSource([path], ReadOptions(threads=2), _chunk_bytes=100):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        consume()
    del caught
    assert not riata_threads()


def test_memory_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = 0
    original = SvmlightSource._parse

    def counted(self: SvmlightSource, chunk: Any) -> Any:
        nonlocal parsed
        parsed += 1
        return original(self, chunk)

    monkeypatch.setattr(SvmlightSource, "_parse", counted)
    path = write(tmp_path, a_file(2000))
    for taken, _ in enumerate(SvmlightSource([path], ReadOptions(threads=2), _chunk_bytes=500), 1):
        assert parsed <= taken + (SvmlightSource.blocks_ahead or 4)


@pytest.mark.parametrize(
    ("text", "format"),
    [("1 |a b", "vw"), ('{"a":1}', "jsonl"), ("@relation r", "arff"), ("1,2,3", "csv")],
)
def test_says_which_format_it_may_be(tmp_path: Path, text: str, format: str) -> None:
    with pytest.raises(DataError, match=f"pass --format {format}"):
        read(write(tmp_path, text))
