"""The ordered map behind every source that works in threads."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from riata.sources.io.prefetch import ordered_map, usable_cores


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_order_is_kept(threads: int) -> None:
    def slow(x: int) -> int:
        time.sleep(random.random() / 1000)
        return x * x

    assert list(ordered_map(slow, iter(range(100)), threads=threads)) == [x * x for x in range(100)]


def test_results_before_an_error_come_first() -> None:
    def work(x: int) -> int:
        if x == 7:
            raise ArithmeticError("seven")
        return x

    taken: list[int] = []
    with pytest.raises(ArithmeticError, match="seven"):
        taken.extend(ordered_map(work, iter(range(100)), threads=3))
    assert taken == list(range(7))


def test_an_error_of_the_items_comes_last() -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise OSError("gone")

    taken: list[int] = []
    with pytest.raises(OSError, match="gone"):
        taken.extend(ordered_map(lambda x: x, items(), threads=3))
    assert taken == list(range(5))


def test_never_further_ahead_than_asked() -> None:
    drawn = 0

    def items() -> Iterator[int]:
        nonlocal drawn
        while True:
            drawn += 1
            yield drawn

    results = ordered_map(lambda x: x, items(), threads=3, ahead=4)
    for taken in range(1, 50):
        next(results)
        time.sleep(0.001)
        assert drawn <= taken + 4
    results.close()


def test_close_stops_threads_and_closes_the_items() -> None:
    closed = threading.Event()

    def items() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    results = ordered_map(lambda x: x, items(), threads=4)
    next(results)
    results.close()
    assert closed.is_set()
    assert not [t for t in threading.enumerate() if t.name.startswith("riata-source")]


def test_cancel_wakes_items_that_wait() -> None:
    wake = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        wake.wait()

    results = ordered_map(lambda x: x, items(), threads=2, cancel=wake.set)
    assert next(results) == 1
    results.close()


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("ahead", [None, 1, 2])
def test_a_helping_consumer_keeps_the_order(threads: int, ahead: int | None) -> None:
    workers: set[int] = set()

    def work(x: int) -> int:
        workers.add(threading.get_ident())
        time.sleep(random.random() / 2000)
        return x * x

    squares = ordered_map(work, iter(range(200)), threads=threads, ahead=ahead, helping=True)
    assert list(squares) == [x * x for x in range(200)]
    if ahead is None:
        assert threading.get_ident() in workers


def test_a_helping_consumer_meets_errors_in_their_turn() -> None:
    def work(x: int) -> int:
        if x == 7:
            raise ArithmeticError("seven")
        return x

    for _ in range(20):
        taken: list[int] = []
        with pytest.raises(ArithmeticError, match="seven"):
            taken.extend(ordered_map(work, iter(range(100)), threads=1, helping=True))
        assert taken == list(range(7))


def test_a_helping_consumer_is_interrupted_at_once() -> None:
    consumer = threading.get_ident()

    def work(x: int) -> int:
        if threading.get_ident() == consumer:
            raise KeyboardInterrupt
        time.sleep(0.005)
        return x

    with pytest.raises(KeyboardInterrupt):
        list(ordered_map(work, iter(range(1000)), threads=1, helping=True))
    assert not [t for t in threading.enumerate() if t.name.startswith("riata-source")]


FORKS = """
import os, sys, threading, time
from riata.sources.io.prefetch import ordered_map

def work(x):
    time.sleep(0.0005)
    return x

for attempt in range(1, 41):
    results = ordered_map(work, iter(range(1000)), threads=3)
    for _ in range(attempt):
        next(results)
    child = os.fork()
    if child == 0:
        try:
            next(results)
        except RuntimeError as error:
            results.close()
            sys.exit(0 if "forked" in str(error) else 1)   # by way of atexit
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert next(results) == attempt
    results.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_does_not_wait_for_threads_of_its_parent() -> None:
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]


def test_cores_that_may_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "cpu.max"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert usable_cores(limit) == 8  # no control groups
    for text, cores in [("max 100000", 8), ("150000 100000", 2), ("50000 100000", 1), ("x", 8)]:
        limit.write_text(text)
        assert usable_cores(limit) == cores
    monkeypatch.delattr(os, "sched_getaffinity")  # macOS, Windows
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    limit.write_text("max 100000")
    assert usable_cores(limit) == 4
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores(limit) == 1
