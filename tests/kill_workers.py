"""Kill a random Dask worker at a random moment of a training, again and again: the model must have the same bits.

    python -m tests.kill_workers [TIMES [SEED]]      such as 100; a line for every tenth run, and what came of it

Exit code 1 where a run gave other bits. Workers are processes of their own and are killed with SIGKILL; their nanny
starts another one, which joins in mid-training or for the next. The suite does it a few times.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from riata import model_file
from riata.dask import cluster_of, train
from riata.learners import Bayesian, Portfolio, Sketch
from tests.shards.problems import write_vw

MAKERS = {
    "sketch": lambda m: Sketch(outputs=m, gamma=3.0, sample=0, tol=1e-4),
    "bayesian": lambda m: Bayesian(outputs=m),
    "auto": lambda m: Portfolio(outputs=m),
}
SHARDS, ROUNDS = 8, 3


def bytes_of(model: Any) -> bytes:
    return b"".join(bytes(part) for part in model_file._to_parts(model))


def train_once(client: Any, path: Path, method: str) -> tuple[bytes, float]:
    started = time.monotonic()
    model = train(client, str(path), MAKERS[method], shards=SHARDS, rounds=ROUNDS)
    return bytes_of(model), time.monotonic() - started


def killable(client: Any) -> list[int]:
    """The processes of the workers; nobody else's."""
    answers = client.run(os.getpid, on_error="return")
    return [pid for pid in answers.values() if isinstance(pid, int)]


class Killer(threading.Thread):
    """Kills a process after a while, unless it is told that there is no need."""

    def __init__(self, victim: int, after: float) -> None:
        super().__init__()
        self.victim, self.after = victim, after
        self.struck = False
        self._enough = threading.Event()

    def run(self) -> None:
        if not self._enough.wait(self.after):
            with suppress(ProcessLookupError):
                os.kill(self.victim, signal.SIGKILL)
                self.struck = True

    def end(self) -> bool:
        """Whether it has killed."""
        self._enough.set()
        self.join()
        return self.struck


def strike(client: Any, path: Path, method: str, seconds: float, rng: Any) -> tuple[bytes, bool]:
    """The bits of a training in which a worker is killed; whether that was in time."""
    killer = Killer(rng.choice(killable(client)), rng.uniform(0, 0.9 * seconds))
    killer.start()
    try:
        found, _ = train_once(client, path, method)
    finally:
        killer.end()
    return found, killer.struck


@contextmanager
def cluster() -> Iterator[Any]:
    """Three workers. Their cluster may lose track of killed ones, and closing it is then a KeyError of its own."""
    stack = ExitStack()
    client = stack.enter_context(cluster_of("local:3"))
    try:
        yield client
    finally:
        with suppress(KeyError):
            stack.close()


def enough(client: Any) -> bool:
    """Whether two workers are there, or come: a nanny that was itself held up gives up."""
    try:
        client.wait_for_workers(2, timeout=30)
    except TimeoutError:
        return False
    return True


def run(times: int, seed: int = 0, say: Any = print) -> tuple[int, int]:
    """How many of so many runs gave the bits of an undisturbed one, and how many workers were killed in all."""
    rng = random.Random(seed)
    equal = killed = done = 0
    wanted: dict[str, tuple[bytes, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = write_vw(Path(folder) / "x.vw", n=1600, features=200)
        started = time.monotonic()
        while done < times:
            with cluster() as client:
                for method in () if wanted else MAKERS:
                    train_once(client, path, method)
                    wanted[method] = train_once(client, path, method)
                while done < times and enough(client):
                    method = rng.choice(list(MAKERS))
                    content, seconds = wanted[method]
                    found, struck = strike(client, path, method, seconds, rng)
                    done, killed, equal = done + 1, killed + struck, equal + (found == content)
                    if found != content:
                        say(f"run {done}: {method}: other bits", flush=True)
                    if done % 10 == 0:
                        each = (time.monotonic() - started) / done
                        say(
                            f"{done} runs, {killed} kills, {equal} equal; {each:.1f} s each",
                            flush=True,
                        )
    return equal, killed


if __name__ == "__main__":
    if not all(word.isdigit() for word in sys.argv[1:]) or len(sys.argv) > 3:
        sys.exit(__doc__)
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    good, dead = run(asked, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(f"{good} of {asked} runs have the bits of an undisturbed one; {dead} workers were killed")
    sys.exit(good != asked)
