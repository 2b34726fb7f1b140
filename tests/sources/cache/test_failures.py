"""What can happen to a process that makes a cache: the disk is full, somebody kills it, Riata is renewed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from riata.block import Block
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.cache import source as cached
from riata.sources.cache.file import CacheReader
from riata.sources.cache.writer import CacheWriter
from tests.sources.cache.test_source import SVM, VW, Spy, assert_same, take


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "x.svm"
    path.write_text(SVM)
    return path


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    return Spy(monkeypatch)


def run(code: str, *words: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, text=True, capture_output=True, timeout=120, **options)


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("room", [0, 100, 50_000, 200_000])
def test_a_file_that_may_not_grow(tmp_path: Path, text: Path, room: int) -> None:
    """As a full disk or a quota has it: the pass goes on, and says that there is no cache."""
    code = (
        "import resource, sys\n"
        "from riata.sources import open_source\n"
        "source = open_source(sys.argv[1], cache=True)\n"
        "room = int(sys.argv[2])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))\n"
        "print([sum(len(block) for block in source) for _ in range(2)], source.note)\n"
    )
    done = run(code, text, room)
    assert done.stdout == "[30000, 30000] no cache was made: File too large\n", done.stderr
    assert listing(tmp_path) == ["x.svm"]


def test_a_full_disk_and_the_command_line(tmp_path: Path, text: Path) -> None:
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from riata.cli import main\n"
        "main()\n"
    )
    words = ["train", text, "--passes", 2, "--method", "elastic-net", "--l1", "0.1",
             "--learning-rate", "inv_sqrt", "--feature-scale", "none"]  # fmt: skip
    done = run(code, *words, "--cache", "-o", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    assert "no cache was made: File too large" in done.stdout
    assert listing(tmp_path) == ["m", "x.svm"]


@pytest.mark.parametrize("blocks", [1, 3])
def test_killed_in_the_middle(tmp_path: Path, blocks: int) -> None:
    """No half cache, and nothing left behind."""
    path = tmp_path / "x.vw"
    path.write_text(VW * 4)
    code = (
        "import os, signal, sys\n"
        "from riata.sources import open_source\n"
        "source = open_source(sys.argv[1], cache=True)\n"
        "source.source._chunk_bytes = 100_000\n"
        "for i, block in enumerate(source):\n"
        "    if i == int(sys.argv[2]):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert run(code, path, blocks).returncode == -signal.SIGKILL
    assert listing(tmp_path) == ["x.vw"]
    plain = take(open_source(path))
    assert_same(take(open_source(path, cache=True)), plain)
    assert listing(tmp_path) == ["x.vw", "x.vw.riata-cache"]


def test_an_error_in_the_thread_is_raised(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(CacheWriter, "write", fail)
    with pytest.raises(ZeroDivisionError):
        take(open_source(text, cache=True))
    assert listing(tmp_path) == ["x.svm"]


def test_no_memory_costs_only_the_cache(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(CacheWriter, "write", fail)
    source: Any = open_source(text, cache=True)
    assert len(take(source)) == 30_000
    assert source.note == "no cache was made: memory is exhausted"


def test_no_thread_stays(text: Path) -> None:
    before = threading.active_count()
    blocks = iter(open_source(text, cache=True, block_rows=10))
    next(blocks)
    assert threading.active_count() > before
    blocks.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_a_program_that_ends_in_the_middle_of_a_pass(tmp_path: Path, text: Path) -> None:
    code = (
        "import sys\n"
        "from riata.sources import open_source\n"
        "blocks = iter(open_source(sys.argv[1], cache=True, block_rows=10))\n"
        "next(blocks)\n"
        "sys.exit(7)\n"
    )
    done = run(code, text)
    assert (done.returncode, done.stderr) == (7, "")
    assert listing(tmp_path) == ["x.svm"]


def test_another_version_of_riata_reads_anew(
    text: Path, spy: Spy, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(open_source(text, cache=True))
    take(open_source(text, cache=True))
    assert spy.passes == 1
    monkeypatch.setattr(cached, "__version__", "99")
    take(open_source(text, cache=True))
    take(open_source(text, cache=True))
    assert spy.passes == 2


def test_what_was_just_written_is_not_checked_again(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But whatever somebody wrote to since is, as is a cache that was found."""
    checked = []
    section = CacheReader._section

    def spy(reader: CacheReader, *where: int) -> Any:
        checked.append(not reader._checked)
        return section(reader, *where)

    monkeypatch.setattr(CacheReader, "_section", spy)
    source = open_source(text, cache=True)
    take(source)
    take(source)
    assert checked
    assert not any(checked)
    checked.clear()
    os.utime(tmp_path / "x.svm.riata-cache", ns=(1, 1))
    take(source)
    assert all(checked)
    checked.clear()
    take(open_source(text, cache=True))
    assert all(checked)


def test_a_place_that_cannot_be_written(tmp_path: Path, text: Path) -> None:
    with pytest.raises(DataError, match="cannot make a cache there: .*another place"):
        open_source(text, cache=tmp_path / "none" / "x")


def test_blocks_are_taken_while_they_are_written(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow disk holds up the pass, and does not fill the memory."""
    waiting = most = 0
    write = CacheWriter.write

    def slow(writer: CacheWriter, block: Block) -> None:
        nonlocal waiting
        threading.Event().wait(0.01)
        write(writer, block)
        waiting -= 1

    monkeypatch.setattr(CacheWriter, "write", slow)
    source: Any = open_source(text, cache=True)
    source.source._chunk_bytes = 10_000
    for _ in source:
        waiting += 1
        most = max(most, waiting)
    assert 2 <= most <= 8
