"""Compressed files: every codec, whole, in several streams, cut short, damaged, from a pipe."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.io.unpack import Unpacker
from riata.sources.text.svmlight import SvmlightSource

zstandard = pytest.importorskip("zstandard")

_random = random.Random(5)
TEXT = "".join(
    f"{i % 2} {i + 1}:{_random.random():.4f} {i + 7}:1\n" for i in range(20_000)
).encode()


def zstd(data: bytes) -> bytes:
    return bytes(zstandard.ZstdCompressor(write_checksum=True).compress(data))


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
CODECS = pytest.mark.parametrize("suffix", list(PACK))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Block:
    path = tmp_path_factory.mktemp("plain") / "x.svm"
    path.write_bytes(TEXT)
    return concatenate(list(open_source(path)))


def assert_same(a: Block, b: Block) -> None:
    for name in ("indptr", "indices", "values", "labels", "lines"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@CODECS
@pytest.mark.parametrize("by", ["suffix", "magic number"])
def test_whole(tmp_path: Path, plain: Block, suffix: str, by: str) -> None:
    path = tmp_path / (f"x.svm{suffix}" if by == "suffix" else "x")
    path.write_bytes(PACK[suffix](TEXT))
    for threads in (1, 2):
        source = open_source(path, threads=threads)
        assert_same(concatenate(list(source)), plain)
        assert source.bytes_read == source.n_bytes == path.stat().st_size


@CODECS
@pytest.mark.parametrize("chunk", [777, 1 << 16])
def test_several_streams(tmp_path: Path, plain: Block, suffix: str, chunk: int) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"".join(PACK[suffix](TEXT[i : i + 9973]) for i in range(0, len(TEXT), 9973)))
    assert_same(concatenate(list(SvmlightSource([str(path)], _chunk_bytes=chunk))), plain)


@CODECS
@pytest.mark.parametrize("cut", [0.5, 0.9, -1])
def test_cut_short(tmp_path: Path, plain: Block, suffix: str, cut: float) -> None:
    whole = PACK[suffix](TEXT)
    path = tmp_path / f"x{suffix}"
    path.write_bytes(whole[: int(len(whole) * cut)] if cut > 0 else whole[:-1])
    taken: list[Block] = []
    with pytest.raises(DataError, match=rf"x\{suffix}: the \w+ data ends early.*cut short"):
        taken.extend(SvmlightSource([str(path)], _chunk_bytes=1000))
    if taken:  # bzip2 packs 900 kB at a time: there may be nothing before the cut
        before = concatenate(taken)
        assert_same(before, plain[: len(before)])


@CODECS
@pytest.mark.parametrize("seed", range(8))
def test_damaged(tmp_path: Path, plain: Block, suffix: str, seed: int) -> None:
    data = bytearray(PACK[suffix](TEXT))
    data[random.Random(seed).randrange(20, len(data))] ^= 0x55
    path = tmp_path / f"x{suffix}"
    path.write_bytes(data)
    with pytest.raises(DataError, match=rf"x\{suffix}"):
        list(open_source(path))


@CODECS
def test_garbage_behind(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(PACK[suffix](TEXT) + b"garbage behind")
    with pytest.raises(DataError, match=rf"x\{suffix}: the \w+ data is damaged"):
        list(open_source(path))


@CODECS
def test_in_name_only(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"x{suffix}").write_bytes(TEXT)
    with pytest.raises(DataError, match=rf"ends in \{suffix}, but this is not"):
        list(open_source(tmp_path / f"x{suffix}"))


@CODECS
def test_standard_input(tmp_path: Path, suffix: str) -> None:
    code = "from riata.sources import open_source; print(sum(len(b) for b in open_source('-')))"
    packed = PACK[suffix](TEXT)
    done = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True)
    assert int(done.stdout) == 20_000, done.stderr


@CODECS
def test_a_bomb_takes_little_memory(suffix: str) -> None:
    """50 MB of the same byte in a small file: pieces stay as small as asked for."""
    packed = PACK[suffix](bytes(50_000_000))
    left = [packed]
    kind = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}[suffix]
    unpacker = Unpacker(kind, "bomb", lambda: left.pop() if left else b"")
    total = 0
    while piece := unpacker.read(1 << 16):
        assert len(piece) <= 1 << 16
        total += len(piece)
        held = getattr(unpacker._stream, "_out", b"")
        assert len(held) <= 1 << 17
    assert total == 50_000_000


def test_zstd_skippable_frames(tmp_path: Path, plain: Block) -> None:
    skippable = b"\x53\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"12345"
    path = tmp_path / "x"
    path.write_bytes(skippable + zstd(TEXT) + skippable)
    assert_same(concatenate(list(open_source(path))), plain)


def test_zstd_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.zst").write_bytes(zstd(TEXT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(DataError, match=r"pip install \"riata\[zstd\]\""):
        list(open_source(tmp_path / "x.zst"))


def test_patterns_come_sorted_in_the_place_given(tmp_path: Path) -> None:
    for name in ("b2.svm", "b10.svm", "a.svm", "[odd].svm"):
        (tmp_path / name).write_text(f"{len(name)} 1:1\n")
    os.mkdir(tmp_path / "b-directory.svm")
    source = open_source([str(tmp_path / "b*.svm"), str(tmp_path / "a.svm")])
    assert [Path(b.path or "").name for b in source] == ["b10.svm", "b2.svm", "a.svm"]
    [block] = open_source(tmp_path / "[odd].svm")  # a file with that very name
    assert block.path == str(tmp_path / "[odd].svm")
    with pytest.raises(DataError, match=r"c\*\.svm: no file matches"):
        open_source(tmp_path / "c*.svm")
