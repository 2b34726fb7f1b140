"""A cache that is cut short, changed or replaced while it is read, and how much of it is in memory."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from riata import _core
from riata.convert import convert
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.cache import writer as cache_writer
from tests.sources.cache.test_source import SVM, VW, assert_same, take

MANY = "".join(
    f"{i % 2 * 2 - 1} |w " + " ".join(f"word{(i * k) % 3000}:{k}.5" for k in range(1, 21)) + "\n"
    for i in range(4000)
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of many Blocks."""
    monkeypatch.setattr(cache_writer, "ENOUGH", 20_000)
    (tmp_path / "x.vw").write_text(MANY)
    path = tmp_path / "x.riata-cache"
    convert(open_source(tmp_path / "x.vw", block_rows=50), path)
    return path


def run(code: str, *words: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "faulthandler", "-c", code, *map(str, words)]
    return subprocess.run(command, text=True, capture_output=True, timeout=120)


CUT = """
import os, sys
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.cache import writer as cache_writer
path, size, after, checked = sys.argv[1], *map(int, sys.argv[2:])
source = open_source(path)
if checked:
    list(source)
seen, kept = 0, []
try:
    for block in source:
        kept.append(block)
        if seen == after:
            os.truncate(path, size)
        seen += 1
        total = float(block.values.sum()) + float(block.indices.sum()) + len(block.names)
except DataError as error:
    print(type(error).__name__, error)
else:
    print("nothing noticed")
print(sum(float(block.values.sum()) for block in kept) >= 0)
"""


@pytest.mark.parametrize("checked", [0, 1])
@pytest.mark.parametrize("after", [0, 10])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.999])
def test_cut_short_in_the_middle_of_a_pass(
    cache: Path, share: float, after: int, checked: int
) -> None:
    done = run(CUT, cache, int(share * cache.stat().st_size), after, checked)
    assert done.returncode == 0, done.stderr
    assert "LostData" in done.stdout
    assert (
        f"{cache}: somebody cut this cache short, or wrote to it, while it was read" in done.stdout
    )
    assert done.stdout.endswith("True\n")
    assert not done.stderr


LEARN = """
import os, sys
from riata.sources.cache import file as cache_file
begin, path = cache_file.CacheReader._block, sys.argv.pop(1)

def cutting(reader, where):
    block = begin(reader, where)
    if where is reader._blocks[12]:
        os.truncate(path, 5000)
    return block

cache_file.CacheReader._block = cutting
from riata.cli import main
main()
"""


@pytest.mark.parametrize(
    "how",
    [
        ["--method", "elastic-net"],
        ["--store", "hashed"],
        ["--store", "dense"],
        ["--shuffle", "300"],
        ["--method", "ftrl"],
        ["--method", "truncated"],
        ["--method", "bayesian"],
        ["--method", "sketch"],
        ["--method", "interior"],
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_no_model_from_what_was_lost(
    tmp_path: Path, cache: Path, how: list[str], named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not named:
        (tmp_path / "y.svm").write_text(SVM)
        convert(open_source(tmp_path / "y.svm", block_rows=500), cache)
    elif "dense" in how:
        pytest.skip("names are for a table")
    model = tmp_path / "model"
    done = run(LEARN, cache, "train", cache, *how, "-o", model)
    assert done.returncode not in (0, -7, -11), done.stderr
    assert "while it was read" in done.stderr + done.stdout, done.stderr
    assert not list(tmp_path.glob("model*"))  # nor a part of one


def test_blocks_outlive_the_file(cache: Path) -> None:
    wanted = take(open_source(cache.parent / "x.vw"))
    kept = list(open_source(cache))
    cache.unlink()
    source = open_source(cache.parent / "x.vw")
    assert_same(take(kept), wanted)
    del source


def test_another_cache_in_its_place(cache: Path) -> None:
    """As somebody makes it who writes beside it and renames, or unlinks: the old one is read to its end."""
    plain = take(open_source(cache.parent / "x.vw"))
    blocks = iter(open_source(cache))
    some = [next(blocks)]
    (cache.parent / "y.vw").write_text(VW)
    convert(open_source(cache.parent / "y.vw"), cache)
    assert_same(take(some + list(blocks)), plain)
    assert len(take(open_source(cache))) == 9000


def test_written_to_in_the_middle_of_a_pass(cache: Path) -> None:
    source = open_source(cache)
    list(source)
    blocks = iter(source)
    next(blocks)
    with open(cache, "r+b") as file:
        file.seek(cache.stat().st_size // 2)
        file.write(b"x" * 100)
    os.utime(cache, ns=(1, 1))  # clocks of file systems are slow
    with pytest.raises(DataError, match="wrote to it, while it was read"):
        list(blocks)
    with pytest.raises(DataError, match="make it anew"):
        list(source)


MEMORY = """
import sys
from riata.sources import open_source
from riata.sources.cache import file as cache_file

def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1000

cache_file.SMALL = int(sys.argv[2])
source = open_source(sys.argv[1])
before = resident()
for _ in range(3):
    most = max([(float(block.values.sum()), resident())[1] for block in source])
    print(most - before, resident() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_little_of_a_large_file_is_in_memory(tmp_path: Path) -> None:
    from tests.sources.cache.test_file import write

    (tmp_path / "x.svm").write_text(SVM)
    some = take(open_source(tmp_path / "x.svm"))
    path = write(tmp_path / "c.riata-cache", [some] * 60)
    size = path.stat().st_size / 1e6
    assert size > 40
    for small, stays in ((0, False), (1 << 40, True)):
        done = run(MEMORY, path, small)
        assert done.returncode == 0, done.stderr
        for line in done.stdout.splitlines():
            most, after = map(float, line.split())
            assert (most > 0.9 * size) == stays, done.stdout
            assert (after > 0.9 * size) == stays, done.stdout
            assert stays or most < 0.6 * size


def test_a_disk_that_fails(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source(cache)
    read = _core.read_at

    def fail(descriptor: int, start: int, size: int) -> Any:
        if start > cache.stat().st_size // 2:
            raise OSError(errno.EIO, "Input/output error")
        return read(descriptor, start, size)

    blocks = iter(source)
    next(blocks)
    monkeypatch.setattr(_core, "read_at", fail)
    with pytest.raises(DataError, match=f"{cache}: cannot be read: Input/output error"):
        list(blocks)
    monkeypatch.undo()
    assert_same(take(source), take(open_source(cache.parent / "x.vw")))


def test_blocks_are_not_to_be_written_to(cache: Path) -> None:
    block = next(iter(open_source(cache)))
    with pytest.raises(ValueError, match="read-only"):
        block.values[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        block.indices[0] = 1


def test_reading_at_a_place(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(range(100)) * 10_000)
    with open(path, "rb") as file:
        number = file.fileno()
        assert _core.read_at(number, 3, 5).tolist() == [3, 4, 5, 6, 7]
        assert _core.read_at(number, 0, 1_000_000).tobytes() == path.read_bytes()
        assert _core.read_at(number, 999_998, 5).tolist() == [98, 99]  # no more is there
        assert _core.read_at(number, 2_000_000, 5).tolist() == []
        assert _core.read_at(number, 5, 0).tolist() == []
        with pytest.raises(ValueError, match="no file is that large"):
            _core.read_at(number, 2**63 - 4, 5)
    with pytest.raises(OSError, match="Bad file descriptor"):
        _core.read_at(-1, 0, 100)
