"""Files, gzip, pipes and standard input."""

from __future__ import annotations

import gc
import gzip
import io
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.options import ReadOptions
from riata.sources.text.svmlight import SvmlightSource

TEXT = "".join(f"{i % 2} {i + 1}:{i}.5 {i + 7}:1\n" for i in range(3000)).encode()


def rows(source: Any) -> Block:
    return concatenate(list(source))


@pytest.fixture
def plain(tmp_path: Path) -> Block:
    (tmp_path / "plain").write_bytes(TEXT)
    return rows(open_source(tmp_path / "plain"))


def assert_same(a: Block, b: Block) -> None:
    for name in ("indptr", "indices", "values", "labels", "lines"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.parametrize("name", ["x.gz", "by-magic"])
def test_gzip(tmp_path: Path, plain: Block, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(TEXT))
    source = open_source(path)
    for _ in range(2):
        assert_same(rows(source), plain)
    assert source.repeatable
    assert source.bytes_read == source.n_bytes == path.stat().st_size


@pytest.mark.parametrize("padding", [b"", b"\0" * 700])
def test_gzip_of_several_members(tmp_path: Path, plain: Block, padding: bytes) -> None:
    path = tmp_path / "x.gz"
    members = [gzip.compress(TEXT[i : i + 1000]) for i in range(0, len(TEXT), 1000)]
    path.write_bytes(padding.join(members) + padding)
    assert_same(rows(SvmlightSource([str(path)], _chunk_bytes=777)), plain)


def test_gzip_that_expands_much(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n" * 500_000))
    assert sum(len(b) for b in open_source(path)) == 500_000


@pytest.mark.parametrize("keep", [0.3, 0.9, -1])
def test_gzip_cut_short(tmp_path: Path, plain: Block, keep: float) -> None:
    whole = gzip.compress(TEXT)
    path = tmp_path / "x.gz"
    path.write_bytes(whole[: int(len(whole) * keep)] if keep > 0 else whole[:-1])
    taken: list[Block] = []
    with pytest.raises(DataError, match=r"x\.gz: the gzip data ends early.*cut short"):
        taken.extend(SvmlightSource([str(path)], _chunk_bytes=500))
    before = concatenate(taken)  # what could be read was not lost
    assert len(before) > 0.2 * len(plain)
    assert_same(before, plain[: len(before)])


def test_gzip_damaged(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(TEXT))
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "x.gz").write_bytes(data)
    with pytest.raises(DataError, match=r"x\.gz"):
        list(open_source(tmp_path / "x.gz"))


def test_gzip_in_name_only(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(TEXT)
    with pytest.raises(DataError, match=r"ends in \.gz, but this is not gzip"):
        list(open_source(tmp_path / "x.gz"))


def test_zip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"PK\x03\x04" + TEXT)
    with pytest.raises(DataError, match="this is zip.*unzip -p"):
        list(open_source(tmp_path / "x"))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.svm: no such file"):
        open_source(tmp_path / "none.svm")


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no files in this folder"):
        open_source(tmp_path)


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.write_bytes(TEXT)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything
        monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataError, match="secret: permission denied"):
        open_source(path)


def test_file_that_vanishes(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(TEXT)
    source = open_source(path)
    path.unlink()
    with pytest.raises(DataError, match="no such file"):
        list(source)


def test_file_cut_short_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(TEXT)
    blocks = iter(SvmlightSource([str(path)], ReadOptions(threads=1), _chunk_bytes=1000))
    next(blocks)
    path.write_bytes(b"")
    assert sum(len(b) for b in blocks) < 3000


SCRIPT = """
import sys
from riata.sources import open_source
source = open_source("-")
print(source.name, source.repeatable, source.n_bytes, sum(len(b) for b in source))
try:
    list(source)
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT)], ids=["plain", "gzip"])
def test_standard_input(data: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=data, capture_output=True, check=True, timeout=60
    )
    first, second = done.stdout.decode().splitlines()
    assert first == "<stdin> False None 3000"
    assert "<stdin> can be read only once" in second


def test_standard_input_without_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert sum(len(b) for b in open_source("-")) == 3000


def test_standard_input_names_itself_in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 1:1\n1 0:1\n")))
    with pytest.raises(DataError, match=r"^<stdin>:2:3: index 0"):
        list(open_source("-"))


def test_pipe_hands_over_what_came_and_stops_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)  # keeps the pipe open: no end of file
    try:
        source = open_source(path)
        assert not source.repeatable
        blocks = iter(source)
        os.write(writer, b"1 1:1\n-1 2:1\n1 3:")
        assert len(next(blocks)) == 2  # although more may come
        before = time.monotonic()
        blocks.close()  # type: ignore[attr-defined]
        assert time.monotonic() - before < 5
        assert not [t for t in threading.enumerate() if t.name.startswith("riata-source")]
    finally:
        os.close(writer)


def test_a_pass_that_nobody_finished_does_not_hold_up_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(TEXT * 20)
    script = (
        "from riata.sources.text.svmlight import SvmlightSource\n"
        f"blocks = iter(SvmlightSource([{str(path)!r}], _chunk_bytes=1000))\n"
        "next(blocks)\n"
        "print('done')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_no_file_descriptor_is_left_open(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(TEXT)
    gc.collect()  # what tests before this one have left to the collector
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        list(open_source(path))
        for _ in SvmlightSource([str(path)], _chunk_bytes=100):
            break
    assert len(os.listdir("/proc/self/fd")) == before


def test_where_there_is_neither_readv_nor_poll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows."""
    monkeypatch.delattr(os, "readv")
    monkeypatch.delattr(select, "poll")
    path = tmp_path / "x.svm"
    path.write_text("1 1:2\n-1 2:3\n" * 500)
    [block] = SvmlightSource([str(path)])
    assert len(block) == 1000
    assert block.values[:2].tolist() == [2.0, 3.0]
    reader, writer = os.pipe()
    os.write(writer, b"1 1:2\n")
    os.close(writer)
    with os.fdopen(reader) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        [block] = SvmlightSource(["-"])
    assert len(block) == 1
