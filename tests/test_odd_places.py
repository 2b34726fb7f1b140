"""Models where nobody may read or write, clocks that jump, a fork while threads parse."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from riata import model_file
from riata.learners import ElasticNet
from riata.sources import open_source
from riata.training import train
from tests.cli.helpers import RIATA, riata, write_problem


def as_user(*words: object) -> subprocess.CompletedProcess[str]:
    """The command as somebody who may not read and write everywhere, as root may."""
    command = [*RIATA, *map(str, words)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may read and write anywhere, and there is no setpriv here")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    write_problem(tmp_path / "d.svm", 200)
    riata("train", tmp_path / "d.svm", "-o", tmp_path / "m.riata")
    return tmp_path


def test_a_model_that_may_not_be_read(trained: Path) -> None:
    (trained / "m.riata").chmod(0)
    done = as_user("predict", trained / "m.riata", trained / "d.svm")
    assert done.returncode == 1
    assert done.stderr == f"riata: {trained / 'm.riata'}: Permission denied\n"


def test_a_folder_that_may_not_be_entered(trained: Path) -> None:
    inner = trained / "inner"
    inner.mkdir(0o700)
    os.rename(trained / "m.riata", inner / "m.riata")
    inner.chmod(0)
    try:
        done = as_user("predict", inner / "m.riata", trained / "d.svm")
        assert done.returncode in (1, 2)  # 2: to this user there is no such file
        assert "m.riata" in done.stderr
        assert "Traceback" not in done.stderr
    finally:
        inner.chmod(0o700)


def test_a_folder_that_may_not_be_written_to(trained: Path) -> None:
    trained.chmod(0o555)
    try:
        done = as_user("train", trained / "d.svm", "-o", trained / "new.riata")
    finally:
        trained.chmod(0o755)
    assert done.returncode == 1
    assert f"{trained / 'new.riata'}: Permission denied" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(p.name for p in trained.iterdir()) == ["d.svm", "m.riata"]


def test_a_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of day decides nothing: neither checkpoints nor what is in the file."""
    data, place = tmp_path / "d.svm", tmp_path / "c"
    write_problem(data, 2000)

    def make(outputs: int) -> ElasticNet:
        return ElasticNet(outputs=outputs)

    whole = train(open_source(str(data)), make, passes=2)
    now = [4e9]

    def jump() -> float:
        now[0] = -now[0] * 1.5 % 1e10  # years ahead, years back
        return now[0]

    monkeypatch.setattr(time, "time", jump)
    monkeypatch.setattr(time, "time_ns", lambda: int(jump() * 1e9))
    again = train(open_source(str(data)), make, passes=2, checkpoint=place, every="1h")
    assert not place.exists()
    model_file.save(whole, tmp_path / "one")
    model_file.save(again, tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_files_from_the_future_and_from_before_1970(tmp_path: Path) -> None:
    data, cache = tmp_path / "d.svm", tmp_path / "c"
    words = ["train", data, "--cache", cache, "--passes", 2, "-o"]
    write_problem(data, 300)
    riata(*words, tmp_path / "m")
    for year in (2100, 1960, 1971):
        text = data.read_text()
        data.write_text(
            text.replace("\n1 ", "\n9 ").replace("\n-1 ", "\n1 ").replace("\n9 ", "\n-1 ")
        )
        os.utime(data, ((year - 1970) * 31_557_600,) * 2)
        riata(*words, tmp_path / "m")
        riata("train", data, "--passes", 2, "-o", tmp_path / "whole")
        assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


FORKS = """
import os, signal, sys, threading
from riata.sources import open_source
path, stop = sys.argv[1], threading.Event()
list(open_source(path, threads=2))  # so that all modules are there: Python's own imports do not survive a fork
def read():
    while not stop.is_set():
        rows = sum(len(block) for block in open_source(path, threads=2))
threads = [threading.Thread(target=read) for _ in range(2)]
[t.start() for t in threads]
for _ in range(40):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        rows = sum(len(block) for block in open_source(path, threads=2))
        os._exit(0 if rows == 4000 else 3)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        sys.stderr.write(f"child: {code}")
        os._exit(4)
stop.set()
[t.join() for t in threads]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("name", ["d.svm", "d.vw", "d.csv", "d.jsonl"])
def test_a_fork_while_threads_parse(name: str, tmp_path: Path) -> None:
    """The child reads the same file with threads of its own: it finds no lock that nobody will open."""
    path = tmp_path / name
    row = {
        "d.svm": "1 3:1 7:0.5",
        "d.vw": "1 | a b:0.5",
        "d.csv": "1,x,0.5",
        "d.jsonl": '{"label": 1, "a": "x"}',
    }
    head = "label,a,b\n" if name == "d.csv" else ""
    path.write_text(head + f"{row[name]}\n" * 4000)
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(path)], capture_output=True, text=True, timeout=150
    )
    assert done.returncode == 0, done.stderr[-3000:]
