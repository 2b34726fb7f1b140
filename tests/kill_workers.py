"""Kill a random Dask worker at a random moment of a training, again and again: the model must have the same bits.

`python -m tests.kill_workers 100` does it a hundred times; the suite does it a few times.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from riata import model_file
from riata.dask import cluster_of, train
from riata.learners import Bayesian, Sketch
from tests.shards.problems import write_vw

MAKERS = {
    "sketch": lambda m: Sketch(outputs=m, gamma=3.0, sample=0),
    "bayesian": lambda m: Bayesian(outputs=m),
}


def bytes_of(model: Any) -> bytes:
    return b"".join(bytes(part) for part in model_file._to_parts(model))


def train_once(client: Any, path: Path, method: str) -> tuple[bytes, float]:
    started = time.monotonic()
    model = train(client, str(path), MAKERS[method], shards=8, rounds=3)
    return bytes_of(model), time.monotonic() - started


def killable(client: Any) -> list[int]:
    """The processes of the workers; nobody else's."""
    return list(client.run(os.getpid).values())


def run(times: int, seed: int = 0, say: Any = print) -> tuple[int, int]:
    """How many of so many runs gave the bits of an undisturbed one, and how many workers were killed in all."""
    rng = random.Random(seed)
    equal, killed = 0, []
    with tempfile.TemporaryDirectory() as folder, cluster_of("local:2") as client:
        path = write_vw(Path(folder) / "x.vw", n=4000, features=400)
        wanted = {}
        for method in MAKERS:
            train_once(client, path, method)
            wanted[method] = train_once(client, path, method)
        for i in range(times):
            method = rng.choice(list(MAKERS))
            content, seconds = wanted[method]
            pids, done = killable(client), threading.Event()
            victim, after = rng.choice(pids), rng.uniform(0, seconds)

            def kill(
                victim: int = victim, after: float = after, done: threading.Event = done
            ) -> None:
                if not done.wait(after):
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)

            thread = threading.Thread(target=kill)
            thread.start()
            found, _ = train_once(client, path, method)
            done.set()
            thread.join()
            equal += found == content
            if found != content:
                say(f"run {i}: {method}, killed after {after:.2f} s: other bits")
            with suppress(TimeoutError):  # one is enough for the next run
                client.wait_for_workers(2, timeout=60)
        return equal, len(killed)


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    good, dead = run(asked)
    print(f"{good} of {asked} runs have the bits of an undisturbed one; {dead} workers were killed")
    sys.exit(good != asked)
