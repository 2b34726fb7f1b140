"""Caches: the same Blocks, never a stale or damaged one, several processes at once."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.cache import writer as cache_writer
from riata.sources.cache.arrow_file import HEAD
from riata.sources.cache.file import CacheReader
from riata.sources.cache.writer import CacheWriter
from riata.sources.text.svmlight import SvmlightSource

SVM = "".join(f"{i % 2} {i + 1}:{i % 17}.5 {i + 9}:1\n" for i in range(30_000))
VW = "".join(
    f"{i % 2 * 2 - 1} {i % 3 + 0.5} |w word{i % 100} x:{i % 7 + 0.25} |u user{i}\n"
    for i in range(9000)
)


def assert_same(a: Block, b: Block) -> None:
    for name in Block.__slots__:
        x, y = getattr(a, name), getattr(b, name)
        if isinstance(y, np.ndarray):
            np.testing.assert_array_equal(x, y, err_msg=name)
            assert x.dtype == y.dtype
        else:
            assert x == y, name


def take(source: Any) -> Block:
    return concatenate(list(source))


class Spy:
    """Counts how often text is parsed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passes = 0
        begin = SvmlightSource._blocks

        def spy(source: Any) -> Any:
            self.passes += 1
            return begin(source)

        monkeypatch.setattr(SvmlightSource, "_blocks", spy)


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    return Spy(monkeypatch)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "x.svm"
    path.write_text(SVM)
    return path


@pytest.mark.parametrize("form", ["x.svm", "x.svm.gz", "x.vw"])
def test_same_blocks(tmp_path: Path, form: str) -> None:
    path = tmp_path / form
    data = (VW if ".vw" in form else SVM).encode()
    path.write_bytes(gzip.compress(data) if form.endswith(".gz") else data)
    plain = take(open_source(path))
    source = open_source(path, cache=True)
    for _ in range(3):
        assert_same(take(source), plain)
        assert source.bytes_read == source.n_bytes == path.stat().st_size
    cache = tmp_path / f"{form}.riata-cache"
    assert cache.exists()
    direct = open_source(cache)
    assert_same(take(direct), plain)
    assert direct.n_rows == len(plain)
    assert direct.bytes_read == direct.n_bytes == cache.stat().st_size
    assert max(map(len, open_source(cache, block_rows=100))) == 100
    assert max(map(len, open_source(path, cache=True, block_rows=100))) == 100


def test_odd_blocks(tmp_path: Path) -> None:
    empty_row = Block(
        np.array([0, 0, 1]),
        np.array([2**40]),
        np.array([2], np.float32),
        None,
        np.array([1.0, 2.0]),
    )
    sliced = take(open_source(_write(tmp_path / "x.vw", VW)))[17:40]
    with open(tmp_path / "c", "wb") as file:
        writer = CacheWriter(file)
        for block in (empty_row, sliced):
            writer.write(block)
        writer.finish({"skipped": 0})
    with open(tmp_path / "c", "rb") as file:
        back = [block for block, _ in CacheReader(file, "c").blocks()]
    assert_same(back[0], empty_row)
    assert_same(back[1], concatenate([sliced[:5], sliced[5:]]))


def test_small_blocks_of_a_kind_are_gathered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_writer, "ENOUGH", 1000)
    whole = take(open_source(_write(tmp_path / "x.vw", VW)))
    numbered = take(open_source(_write(tmp_path / "x.svm", SVM)))
    other = replace(numbered, path="elsewhere")
    blocks = [whole[i : i + 1] for i in range(200)] + [numbered[:1], other[:1], other[1:3]]
    with open(tmp_path / "c", "wb") as file:
        writer = CacheWriter(file)
        for block in blocks:
            writer.write(block)
        writer.finish({"skipped": 0})
    with open(tmp_path / "c", "rb") as file:
        back = [block for block, _ in CacheReader(file, "c").blocks()]
    assert_same(concatenate(back[:-2]), concatenate(blocks[:200]))
    assert_same(back[-2], numbered[:1])
    assert_same(back[-1], other[:3])
    whole = concatenate(back[:-2])  # 64-bit keys and floats; rows with label, weight and line
    most = -(-(whole.nnz * 12 + len(whole) * 36) // 1000)
    assert most / 2 < len(back) - 2 <= most


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_text_is_parsed_once(text: Path, spy: Spy) -> None:
    for _ in range(3):
        source = open_source(text, cache=True)
        assert len(take(source)) == len(take(source)) == 30_000
    assert spy.passes == 1


def test_stale_by_content_time_or_options(text: Path, spy: Spy) -> None:
    take(open_source(text, cache=True))
    text.write_text("5 1:1\n")  # another size
    assert take(open_source(text, cache=True)).labels == [5]
    text.write_text("6 1:1\n")  # the same size, another time
    assert take(open_source(text, cache=True)).labels == [6]
    assert take(open_source(text, cache=True, zero_based=True)).indices == [1]
    assert take(open_source(text, cache=True)).indices == [0]
    assert spy.passes == 5
    take(open_source(text, cache=True, threads=1, block_rows=7))  # these change nothing
    assert spy.passes == 5


def test_changed_between_passes(text: Path) -> None:
    source = open_source(text, cache=True)
    take(source)
    text.write_text("5 1:1\n")
    assert take(source).labels == [5]


def test_changed_while_it_was_read(tmp_path: Path, text: Path) -> None:
    blocks = iter(open_source(text, cache=True))
    next(blocks)
    os.utime(text, ns=(1, 1))
    list(blocks)
    assert not (tmp_path / "x.svm.riata-cache").exists()


@pytest.mark.parametrize("seed", range(12))
def test_damage_is_found_and_mended(tmp_path: Path, text: Path, spy: Spy, seed: int) -> None:
    plain = take(open_source(text))
    source = open_source(text, cache=True)
    take(source)
    path = tmp_path / "x.svm.riata-cache"
    good = path.read_bytes()
    bad = bytearray(good)
    random = np.random.default_rng(seed)
    if seed % 3 == 0:
        del bad[int(random.integers(len(bad))) :]
    else:
        bad[int(random.integers(len(bad)))] ^= 1 << int(random.integers(8))
    path.write_bytes(bad)
    assert_same(take(source), plain)  # an alignment byte may be anything, all else is noticed
    assert spy.passes in (2, 3)
    if spy.passes == 3:
        assert path.read_bytes() == good


def test_damage_after_a_pass_that_found_none(tmp_path: Path, text: Path, spy: Spy) -> None:
    plain = take(open_source(text))
    path = tmp_path / "x.svm.riata-cache"
    source = open_source(text, cache=True)
    for _ in range(3):  # made, checked, trusted
        assert_same(take(source), plain)
    direct = open_source(path)
    assert_same(take(direct), plain)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="checksum"):
        take(direct)
    assert_same(take(source), plain)
    assert spy.passes == 3


def test_damage_far_behind(tmp_path: Path, spy: Spy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows before the damage come from the cache, those behind it from the text; none twice."""
    monkeypatch.setattr(cache_writer, "ENOUGH", 20_000)
    path = _write(tmp_path / "x.svm", SVM)
    source = open_source(path, cache=True)
    source.source._chunk_bytes = 20_000  # type: ignore[attr-defined]
    plain = take(source)
    cache = tmp_path / "x.svm.riata-cache"
    data = bytearray(cache.read_bytes())
    data[len(data) // 2] ^= 1
    cache.write_bytes(data)
    assert_same(take(source), plain)
    assert spy.passes == 2
    assert_same(take(source), plain)
    assert spy.passes == 2


def test_unfinished_pass_leaves_nothing(tmp_path: Path, text: Path) -> None:
    blocks = iter(open_source(text, cache=True, block_rows=10))
    next(blocks)
    blocks.close()  # type: ignore[attr-defined]
    assert [p.name for p in tmp_path.iterdir()] == ["x.svm"]


def test_bad_data_leaves_nothing(tmp_path: Path) -> None:
    path = _write(tmp_path / "x.svm", "1 1:1\n1 2:x\n")
    with pytest.raises(DataError, match="x.svm:2:5"):
        list(open_source(path, cache=True))
    assert [p.name for p in tmp_path.iterdir()] == ["x.svm"]


def test_skipped_lines_are_remembered(tmp_path: Path, spy: Spy) -> None:
    path = _write(tmp_path / "x.svm", "1 1:1\nbad\n" * 5)
    for _ in range(2):
        source: Any = open_source(path, cache=True, on_error="skip")
        assert len(take(source)) == 5
        assert source.skipped == 5
    assert spy.passes == 1
    keep = tmp_path / "bad"
    source = open_source(path, cache=True, on_error="skip", bad_lines=keep)
    for _ in range(2):
        assert len(take(source)) == 5
        assert source.skipped == 5
    assert spy.passes == 2  # the lines themselves are only in the text
    assert keep.read_text().count("\n") == 5


def test_never_in_the_place_of_another_file(tmp_path: Path, text: Path) -> None:
    other = _write(tmp_path / "precious.txt", "do not lose me")
    with pytest.raises(DataError, match="precious.txt: this file is no cache"):
        open_source(text, cache=other)
    assert other.read_text() == "do not lose me"
    with pytest.raises(DataError, match="cannot make a cache there"):
        open_source(text, cache=tmp_path / "none" / "x")


def test_a_full_disk_costs_only_the_cache(
    tmp_path: Path, text: Path, spy: Spy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(CacheWriter, "write", full)
    source: Any = open_source(text, cache=True)
    assert len(take(source)) == len(take(source)) == 30_000
    assert spy.passes == 2
    assert source.note == "no cache was made: No space left on device"
    assert [p.name for p in tmp_path.iterdir()] == ["x.svm"]


def test_automatic_for_compressed_text(tmp_path: Path, text: Path, spy: Spy) -> None:
    packed = tmp_path / "x.svm.gz"
    packed.write_bytes(gzip.compress(SVM.encode()))
    for path, passes in ((packed, 1), (text, 3)):
        source = open_source(path, cache="auto")
        for _ in range(3):
            assert len(take(source)) == 30_000
        assert spy.passes == passes
        spy.passes = 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.svm", "x.svm.gz"]


def test_several_files(tmp_path: Path, spy: Spy) -> None:
    for name in "ab":
        _write(tmp_path / f"{name}.svm", f"{ord(name)} 1:1\n")
    for _ in range(2):
        block = take(open_source(str(tmp_path / "*.svm"), cache=True))
        assert block.labels is not None
        assert block.labels.tolist() == [97, 98]
    assert (tmp_path / "a.svm+1.riata-cache").exists()
    assert spy.passes == 1


@pytest.mark.parametrize("where", ["True", "'kept'"])
def test_a_pipe_can_be_gone_over_again(tmp_path: Path, where: str) -> None:
    code = (
        "from riata.sources import open_source\n"
        f"source = open_source('-', cache={where})\n"
        "print([sum(len(b) for b in source) for _ in range(3)])\n"
    )
    for run in range(2):  # the second program must not take the first one's for its own
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=SVM if run == 0 else SVM[: SVM.index("\n", len(SVM) // 2)],
            text=True,
            capture_output=True,
            cwd=tmp_path,
        )
        counts = set(map(int, done.stdout.strip("[]\n").split(",")))
        assert len(counts) == 1, done.stderr
        assert (counts == {30_000}) == (run == 0)


def test_two_processes_at_once(tmp_path: Path, text: Path) -> None:
    code = (
        "import sys, time\n"
        "from riata.sources import open_source\n"
        "source = open_source(sys.argv[1], cache=True)\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "print([sum(float(b.values.sum()) for b in source) for _ in range(5)], flush=True)\n"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(text)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    outputs = {process.communicate("go\n", timeout=60)[0] for process in both}
    assert len(outputs) == 1
    wanted = take(open_source(text))
    assert_same(take(open_source(tmp_path / "x.svm.riata-cache")), wanted)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.svm", "x.svm.riata-cache"]


def test_not_for_matrices() -> None:
    with pytest.raises(ValueError, match="a cache is for files"):
        open_source(np.eye(3), [1, 2, 3], cache=True)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        HEAD,
        HEAD * 5,
        HEAD[:100],
        HEAD + bytes(100),
        b"ARROW1",
        b"riata-cache-2\n\0\0" * 9,
        b"1 1:1\n" * 100,
    ],
)
def test_other_files_as_caches(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.riata-cache").write_bytes(data)
    with pytest.raises(DataError, match="x.riata-cache: "):
        open_source(tmp_path / "x.riata-cache")
