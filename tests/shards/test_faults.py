"""What goes wrong on a cluster, for real, with workers and schedulers that are processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from riata import model_file
from riata.dask import cluster_of, train
from riata.dask.cluster import Cluster, ClusterError
from riata.errors import DataError
from riata.learners import Sketch
from riata.shards import train_shards
from tests import kill_workers
from tests.shards.problems import table, write_vw

MAKE = kill_workers.MAKERS["sketch"]
bytes_of = kill_workers.bytes_of


def test_a_few_random_kills() -> None:
    equal, killed = kill_workers.run(4, seed=1)
    assert equal == 4
    assert killed >= 1


def test_a_worker_that_joins_late(tmp_path: Path) -> None:
    """It comes after the first round, and learns shards of the others."""
    path = write_vw(tmp_path / "x.vw", n=2000, features=200)
    whole = bytes_of(train_shards(str(path), MAKE, shards=6))
    with cluster_of("local:1") as client:

        def join(model) -> None:
            if model.record.passes == 1:
                client.cluster.scale(2)
                client.wait_for_workers(2, timeout=120)

        model = train(client, str(path), MAKE, shards=6, on_progress=join)
        assert len(kill_workers.killable(client)) == 2
    assert bytes_of(model) == whole


def test_a_damaged_row_group(tmp_path: Path) -> None:
    """The error names file and row group, it is not tried again, and no model is written."""
    pq = pytest.importorskip("pyarrow.parquet")
    path, out = tmp_path / "x.parquet", tmp_path / "m"
    table(600).to_parquet(path, row_group_size=100)
    column = pq.read_metadata(path).row_group(3).column(1)
    content = bytearray(path.read_bytes())
    at = column.dictionary_page_offset or column.data_page_offset
    content[at : at + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)
    done = riata(
        "train", str(path), "-o", str(out), "--label", "clicked", "--method", "ftrl",
        "--shards", "6", "--dask", "local:2",
    )  # fmt: skip
    _, err = done.communicate(timeout=240)
    assert done.returncode == 1, err
    assert re.search(r"x\.parquet: row group 3, column 'city'", err)
    assert "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.parquet"]


def test_a_worker_that_hangs_and_another_that_joins(tmp_path: Path) -> None:
    path = write_vw(tmp_path / "x.vw", n=4000, features=400)
    whole = bytes_of(train_shards(str(path), MAKE, shards=6))
    with cluster_of("local:2") as client:
        train(client, str(path), MAKE, shards=6)
        victim = kill_workers.killable(client)[0]
        client.cluster.scale(3)

        def stop() -> None:
            time.sleep(0.3)
            os.kill(victim, signal.SIGSTOP)

        thread = threading.Thread(target=stop)
        thread.start()
        try:
            model = train(client, str(path), MAKE, shards=6, slow=2.0)
        finally:
            thread.join()
            os.kill(victim, signal.SIGCONT)
        assert bytes_of(model) == whole


def test_a_worker_that_hangs_with_what_it_made() -> None:
    """It is done, and its result is to be fetched from there: another makes it again."""
    with cluster_of("local:2") as client:
        cluster = Cluster(client, slow=1.0)
        [done] = cluster.all_done([(os.getpid,)])
        holder = cluster.result(done)
        assert holder in kill_workers.killable(client)
        os.kill(holder, signal.SIGSTOP)
        try:
            assert cluster.result(done) not in (holder, os.getpid())
        finally:
            os.kill(holder, signal.SIGCONT)


def test_a_file_that_changes_under_way(tmp_path: Path) -> None:
    path = write_vw(tmp_path / "x.vw", n=2000)

    def change(model) -> None:
        if model.record.passes == 1:
            with path.open("a") as file:
                file.write("1 |f x1\n")

    with (
        cluster_of("local:2") as client,
        pytest.raises(DataError, match=r"shard \d\): the file has changed"),
    ):
        train(client, str(path), MAKE, shards=3, on_progress=change)


class Processes:
    """A scheduler and workers, each a process."""

    def __init__(self, folder: Path, workers: int = 1) -> None:
        self.folder = folder
        place = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                                     "--scheduler-file", str(place))  # fmt: skip
        for _ in range(300):
            if place.exists() and '"address"' in place.read_text():
                break
            time.sleep(0.1)
        self.address = re.search(r'"address": "([^"]+)"', place.read_text())[1]
        self.workers = [
            self._start(
                "worker",
                self.address,
                "--nthreads",
                "1",
                "--host",
                "127.0.0.1",
                "--no-dashboard",
                "--no-nanny",
            )
            for _ in range(workers)
        ]

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        with (self.folder / f"{words[0]}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture
def processes(tmp_path: Path):
    made = Processes(tmp_path)
    yield made
    made.close()


IMPATIENT = """
from riata.cli import main
from riata.dask import cluster
cluster.WAIT = 20.0
main()
"""
"""The command line as it is, but for how long it waits for a scheduler that has gone."""


def riata(*words: str, program: tuple[str, str] = ("-m", "riata")) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *program, *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_client_is_killed_and_goes_on(processes: Processes, tmp_path: Path) -> None:
    path, out, saved = (
        write_vw(tmp_path / "x.vw", n=8000, features=400),
        tmp_path / "m",
        tmp_path / "c",
    )
    words = [
        "train",
        str(path),
        "-o",
        str(out),
        "--dask",
        processes.address,
        "--checkpoint",
        str(saved),
    ]
    method = ["--shards", "6", "--method", "sketch", "--gamma", "3", "--sample", "0"]
    first = riata(*words, *method)
    for _ in range(2400):
        if saved.exists() or first.poll() is not None:
            break
        time.sleep(0.05)
    first.kill()
    first.communicate()
    assert saved.exists()
    assert not out.exists()
    assert model_file.load(saved).record.passes >= 1
    again = riata(*words, "--shards", "6", "--resume", str(saved))
    _, err = again.communicate(timeout=240)
    assert again.returncode == 0, err
    assert out.read_bytes() == bytes_of(
        train_shards(str(path), lambda m: Sketch(outputs=m, gamma=3.0, sample=0), shards=6)
    )


def test_the_scheduler_goes_away(processes: Processes, tmp_path: Path) -> None:
    path, out, saved = (
        write_vw(tmp_path / "x.vw", n=20000, features=400),
        tmp_path / "m",
        tmp_path / "c",
    )
    run = riata(
        "train", str(path), "-o", str(out), "--dask", processes.address, "--checkpoint", str(saved),
        "--shards", "6", "--method", "sketch", "--gamma", "3", "--sample", "0", "--tol", "1e-15",
        program=("-c", IMPATIENT),
    )  # fmt: skip
    for _ in range(24000):
        if saved.exists() or run.poll() is not None:
            break
        time.sleep(0.005)
    processes.scheduler.kill()
    _, err = run.communicate(timeout=240)
    assert run.returncode == 1, err
    assert "riata: " in err
    assert "scheduler is gone" in err
    assert "Traceback" not in err
    assert not out.exists()
    assert model_file.load(saved).record.passes >= 1


def test_all_workers_leave(processes: Processes, tmp_path: Path) -> None:
    """The one worker is killed after the first round, and nobody starts another: an error, not a wait for ever."""
    path, saved = write_vw(tmp_path / "x.vw", n=2000, features=400), tmp_path / "c"

    def leave(model) -> None:
        processes.workers[0].kill()

    left = "all workers have left the cluster, and none has come"
    with cluster_of(processes.address) as client:
        client.wait_for_workers(1, timeout=120)
        with pytest.raises(ClusterError, match=left):
            train(client, str(path), MAKE, shards=3, on_progress=leave, checkpoint=saved, wait=3)
    assert model_file.load(saved).record.passes == 1
