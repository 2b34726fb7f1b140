"""`riata train --watch`: served on this machine alone, and only while it trains."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import time
from pathlib import Path

import numpy as np

from riata.cli.watch import Watch
from riata.learners import FTRL
from riata.record import Model, Progress, Record, Settings
from riata.sources import open_source
from tests.cli.helpers import RIATA, riata, write_problem


def get(port: int, path: str, host: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def progress(learner: FTRL, examples: int) -> Progress:
    model = Model(learner, np.array([0.0, 1.0]), Record(["made"], Settings()))
    return Progress(
        1, 1, examples, 0, None, 1.0, 2.0, None, 0.1, examples, learner.n_live, model=lambda: model
    )


def test_the_page_follows_the_training() -> None:
    learner = FTRL()
    watch = Watch(0, "m.riata")
    try:
        port = watch.server.server_port
        assert get(port, "/")[0] == 200  # before anything was learned
        assert json.loads(get(port, "/state")[1]) == {"examples": 0}
        x = np.eye(4)[np.arange(256) % 4]
        for block in open_source(x, np.arange(256) % 2):
            learner.learn(block)
        watch.show(progress(learner, 256))
        code, page = get(port, "/")
        assert code == 200
        assert "m.riata, so far" in page
        assert "4 features" in page or 'id="features"' in page
        assert json.loads(get(port, "/state")[1]) == {"examples": 256}
        assert get(port, "/etc/passwd")[0] == 404
        assert get(port, "/", host="evil.example")[0] == 403
    finally:
        watch.close()
    with socket.socket() as free:
        assert free.connect_ex(("127.0.0.1", port)) != 0


def test_it_ends_with_the_training(tmp_path: Path) -> None:
    write_problem(tmp_path / "x.svm", n=500)
    words = [
        *RIATA,
        "train",
        "-",
        "-o",
        str(tmp_path / "m.riata"),
        "--format",
        "svmlight",
        "--watch",
        "0",
    ]
    run = subprocess.Popen(
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert run.stdin is not None
    assert run.stderr is not None
    content = (tmp_path / "x.svm").read_text()
    run.stdin.write(content)
    run.stdin.flush()
    said = run.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
    assert found, said
    port = int(found[1])
    for _ in range(100):
        if get(port, "/")[0] == 200:
            break
        time.sleep(0.1)
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 0
    assert "learned" in out
    with socket.socket() as free:
        assert free.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_in_use_is_said_before_anything_is_done(tmp_path: Path) -> None:
    write_problem(tmp_path / "x.svm")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        wrong = riata("train", tmp_path / "x.svm", "-o", tmp_path / "m.riata", "--watch", port, "--log",
                      tmp_path / "log.jsonl", code=1)  # fmt: skip
    assert f"port {port} of 127.0.0.1 cannot be used" in wrong.err
    assert not (tmp_path / "m.riata").exists()
    assert not (tmp_path / "log.jsonl").exists()
    assert (
        "70000"
        in riata(
            "train", tmp_path / "x.svm", "-o", tmp_path / "m.riata", "--watch", 70000, code=2
        ).err
    )
