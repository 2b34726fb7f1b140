"""Remote paths through fsspec: in memory, and over HTTP from a server on this machine."""

from __future__ import annotations

import gzip
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from riata.errors import DataError
from riata.sources import open_source

fsspec = pytest.importorskip("fsspec")

TEXT = "".join(f"{i % 2} {i + 1}:{i}.5\n" for i in range(50_000)).encode()


def count(source: Any) -> int:
    return sum(len(block) for block in source)


@pytest.fixture
def memory() -> Iterator[Any]:
    files = fsspec.filesystem("memory")
    yield files
    for path in files.find("/"):
        files.rm(path)


def test_memory(memory: Any) -> None:
    memory.pipe("/logs/b.svm", TEXT)
    memory.pipe("/logs/a.svm.gz", gzip.compress(TEXT))
    source = open_source("memory://logs/*.svm*")
    assert source.n_bytes == len(TEXT) + len(gzip.compress(TEXT))
    assert source.repeatable
    for _ in range(2):
        blocks = list(source)
        assert sum(map(len, blocks)) == 100_000
        assert source.bytes_read == source.n_bytes
    assert blocks[0].path == "memory:///logs/a.svm.gz"
    assert blocks[-1].path == "memory:///logs/b.svm"


def test_memory_errors(memory: Any) -> None:
    with pytest.raises(DataError, match="memory://none.svm: no such file"):
        open_source("memory://none.svm")
    with pytest.raises(DataError, match=r"memory://\*\.none: no file matches"):
        open_source("memory://*.none")
    memory.pipe("/bad.svm", b"1 1:1\n1 2:x\n")
    with pytest.raises(DataError, match="memory://bad.svm:2:5: expected a number"):
        list(open_source("memory://bad.svm"))


def test_unknown_protocol() -> None:
    with pytest.raises(DataError, match=r"nowhere://x: .*[Pp]rotocol"):
        open_source("nowhere://x")


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(DataError, match=r"pip install \"riata\[remote\]\""):
        open_source("memory://x")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("aiohttp")
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    thread.join()
    http.server_close()


def test_http(tmp_path: Path, server: str) -> None:
    (tmp_path / "x.svm").write_bytes(TEXT)
    (tmp_path / "x.svm.gz").write_bytes(gzip.compress(TEXT))
    for name in ("x.svm", "x.svm.gz"):
        source = open_source(f"{server}/{name}")
        assert source.n_bytes == (tmp_path / name).stat().st_size
        assert count(source) == 50_000
        assert count(source) == 50_000


def test_http_errors(tmp_path: Path, server: str) -> None:
    with pytest.raises(DataError, match="none.svm: no such file"):
        open_source(f"{server}/none.svm")
    (tmp_path / "x.svm.gz").write_bytes(gzip.compress(TEXT)[:-100])
    with pytest.raises(DataError, match=r"http://.*x\.svm\.gz: the gzip data ends early"):
        list(open_source(f"{server}/x.svm.gz"))
