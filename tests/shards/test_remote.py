"""Shards that lie elsewhere: on a server that speaks S3's protocol, and over HTTP, both on this machine."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from riata import model_file
from riata.errors import DataError
from riata.learners import Sketch
from riata.shards import split, train_shards
from riata.sources import ReadOptions, open_source
from riata.sources.io import remote
from tests.shards.problems import table, write_vw

pytest.importorskip("pyarrow")
fsspec = pytest.importorskip("fsspec")

OPTIONS = ReadOptions(label="clicked", categorical=["hour"], ignore=["noise"], scale="auto")


def make(outputs: int) -> Sketch:
    return Sketch(outputs=outputs, gamma=1.0)


def bytes_of(model) -> bytes:
    model.record.data = ["data"]
    return b"".join(bytes(part) for part in model_file._to_parts(model))


def write_parquet(path: Path, rows: int = 6000) -> Path:
    import numpy as np

    frame = table(rows)
    rng = np.random.default_rng(0)
    frame["noise"] = [rng.bytes(200).hex() for _ in range(rows)]
    frame.to_parquet(path, row_group_size=1000, compression=None)
    return path


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    server_of = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    keep = dict(fsspec.config.conf)
    where = {"endpoint_url": f"http://{host}:{port}", "key": "key", "secret": "secret"}
    fsspec.config.conf["s3"] = where
    s3fs.S3FileSystem.clear_instance_cache()
    files = fsspec.filesystem("s3")
    files.mkdir("bucket")
    yield files
    server.stop()
    fsspec.config.conf.clear()
    fsspec.config.conf.update(keep)
    s3fs.S3FileSystem.clear_instance_cache()


def test_s3(s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Parquet, footers and the columns that are needed are read, and nothing else."""
    import s3fs

    path = write_parquet(tmp_path / "x.parquet")
    s3.put(str(path), "bucket/data/x.parquet")
    read: list[int] = []
    real = s3fs.core.S3File._fetch_range

    def fetch(self: Any, start: int, end: int) -> bytes:
        read.append(end - start)
        return real(self, start, end)

    monkeypatch.setattr(s3fs.core.S3File, "_fetch_range", fetch)
    shards = split("s3://bucket/data/*.parquet", count=3)
    assert [shard.rows for shard in shards] == [2000, 2000, 2000]
    assert sum(read) < 200_000
    read.clear()
    there = train_shards("s3://bucket/data/*.parquet", make, options=OPTIONS, shards=3)
    passes = there.record.passes
    assert sum(read) < (passes + 2) * 0.4 * path.stat().st_size
    here = train_shards(str(path), make, options=OPTIONS, shards=3)
    assert bytes_of(there) == bytes_of(here)


def test_text_on_s3_by_ranges(s3: Any, tmp_path: Path) -> None:
    path = write_vw(tmp_path / "x.vw", n=3000)
    s3.put(str(path), "bucket/x.vw")
    assert len(split("s3://bucket/x.vw", count=4)) == 4
    there = train_shards("s3://bucket/x.vw", make, shards=4)
    assert bytes_of(there) == bytes_of(train_shards(str(path), make, shards=4))
    with pytest.raises(DataError, match="no such file"):
        split("s3://bucket/nothing.vw")


def test_a_file_on_s3_that_changes(s3: Any, tmp_path: Path) -> None:
    s3.put(str(write_vw(tmp_path / "x.vw", n=500)), "bucket/y.vw")
    [shard] = split("s3://bucket/y.vw", shard_bytes=1 << 30)
    shard.check()
    s3.put(str(write_vw(tmp_path / "x.vw", n=500, seed=1)), "bucket/y.vw")
    with pytest.raises(DataError, match="has changed since the training"):
        shard.check()


def test_on_workers(s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from riata.dask import cluster_of, train

    for name, value in fsspec.config.conf["s3"].items():
        monkeypatch.setenv(f"FSSPEC_S3_{name.upper()}", value)
    s3.put(str(write_vw(tmp_path / "x.vw", n=1000)), "bucket/z.vw")
    here = train_shards("s3://bucket/z.vw", make, shards=3)
    with cluster_of("local:2") as client:
        there = train(client, "s3://bucket/z.vw", make, shards=3, scale="none")
    assert bytes_of(there) == bytes_of(here)


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Files by ranges; every third request fails."""

    fail: ClassVar[bool] = False
    count: ClassVar[int] = 0
    sent: ClassVar[int] = 0

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        type(self).count += 1
        if self.fail and self.count % 3 == 0:
            self.send_error(503)
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        content = Path(self.translate_path(self.path)).read_bytes()
        self.send_response(206 if asked else 200)
        if asked:
            start, stop = int(asked[1]), int(asked[2]) + 1
            self.send_header(
                "Content-Range", f"bytes {start}-{min(stop, len(content)) - 1}/{len(content)}"
            )
            content = content[start:stop]
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        type(self).sent += len(content)

    def end_headers(self) -> None:
        if self.command == "HEAD":
            self.send_header("Accept-Ranges", "bytes")
        super().end_headers()


def test_http_with_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(remote, "PAUSE", 0.01)
    path = write_parquet(tmp_path / "x.parquet", 2000)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Ranges, directory=str(tmp_path))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/x.parquet"
        here = train_shards(str(path), make, options=OPTIONS, shards=2)
        assert [shard.rows for shard in split(address, count=2)] == [1000, 1000]
        assert 0 < Ranges.sent < 0.3 * path.stat().st_size  # footers alone
        for fail in (False, True):
            monkeypatch.setattr(Ranges, "fail", fail)
            monkeypatch.setattr(Ranges, "sent", 0)
            there = train_shards(address, make, options=OPTIONS, shards=2)
            assert bytes_of(there) == bytes_of(here)
            # A column of noise is most of the file, and stays where it is.
            assert Ranges.sent < (there.record.passes + 2) * 0.4 * path.stat().st_size
        assert sum(map(len, open_source(address, label="clicked", ignore=["noise"]))) == 2000
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_what_is_tried_again() -> None:
    calls: list[int] = []

    def fails(times: int, error: type[Exception]) -> int:
        calls.append(1)
        if len(calls) <= times:
            raise error("no")
        return 7

    assert remote.again(lambda: fails(2, OSError)) == 7
    calls.clear()
    with pytest.raises(FileNotFoundError):
        remote.again(lambda: fails(9, FileNotFoundError))
    assert len(calls) == 1
