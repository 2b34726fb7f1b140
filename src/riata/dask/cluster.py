"""The cluster: reaching it, what its workers must be like, and tasks that are run until they are done."""

from __future__ import annotations

import logging
import re
import statistics
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import riata
from riata.errors import RiataError, SettingsError

RETRIES = 5
"""Times that a task is begun again after an error that is none of the data's."""
WAIT = 60.0
"""Seconds to wait for the first worker, or for a scheduler that does not answer."""
SLOW, TIMES_SLOWER = 60.0, 5.0
"""A task is given to another worker, too, once it takes so many seconds and so many times as long as others."""
_TICK = 0.5
RELEASED = object()
"""In the place of a future that nobody needs any more."""
_LOCAL = {
    "distributed.deploy.lost-worker-timeout": "1 day",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
}
"""How processes here differ from Dask's. A killed one is started again: Dask would give it up for good where it is away
15 s later, and end up without workers where they are killed again and again. They keep memory that they will need
again: Dask has the C library give all of it back at once, so that learning takes a quarter longer, and sums twice as
long. And they leave it to Riata to say what is wrong with the data: they would log every task that fails."""


def threads_of(client: Any) -> dict[str, int]:
    """Of each worker; none where the scheduler has just gone, which is said when tasks are waited for."""
    try:
        return dict(client.nthreads())
    except OSError:
        return {}


class ClusterError(RiataError, RuntimeError):
    """The cluster does not do what it is asked to: no workers, another Riata, or nobody there."""


def distributed() -> Any:
    """The package, where it is installed."""
    try:
        import distributed as package
    except ImportError:
        raise RiataError('training on a cluster needs dask: pip install "riata[dask]"') from None
    return package


def hush() -> None:
    """Leave it to Riata's own messages to say what is wrong: distributed logs every connection that ends."""
    distributed()  # sets levels of its own when it is imported
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def cluster_of(address: str) -> Iterator[Any]:
    """A client of the scheduler at this address, or, for `local:4`, of four processes on this machine."""
    package = distributed()
    local = re.fullmatch(r"local(?::(\d+))?", address)
    if local is not None:
        workers = int(local[1] or 2)
        if workers < 1:
            raise SettingsError("local:N has at least one worker")
        from dask import config

        with (
            config.set(_LOCAL),
            package.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0",
                host="127.0.0.1",
            ) as cluster,
            package.Client(cluster) as client,
        ):  # fmt: skip
            yield client
        return
    try:
        client = package.Client(address, timeout=WAIT / 4)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"{address}: no scheduler answers there: {error}") from None
    with client:
        yield client


def check_workers(client: Any, wait: float = WAIT) -> None:
    """A ClusterError unless there are workers, all of them with this version of Riata."""
    if not hasattr(client, "wait_for_workers"):
        raise TypeError(f"client is a dask.distributed.Client, not {type(client).__name__}")
    if not client.nthreads():
        _call_workers(client, wait)
    # A worker that dies while it is asked answers with an exception: its tasks go to others.
    answers = client.run(version_here, on_error="return")
    versions = {name: answer for name, answer in answers.items() if isinstance(answer, str)}
    others = {name: version for name, version in versions.items() if version != riata.__version__}
    if others:
        name, version = min(others.items())
        raise ClusterError(
            f"worker {name} has Riata {version}, and here is {riata.__version__}: "
            f"{len(others)} of {len(versions)} workers differ; install the same version everywhere"
        )


def _call_workers(client: Any, wait: float) -> None:
    """Wait for a first worker, with something to do for it: an adaptive cluster starts none without."""
    asked = client.submit(version_here, pure=False)
    try:
        distributed().wait([asked], timeout=wait)
    except TimeoutError:
        raise ClusterError(
            f"no workers have joined the cluster within {wait:.0f} s: start some (dask worker ADDRESS)"
        ) from None
    finally:
        asked.release()


def version_here() -> str:
    """Of a worker, where it runs."""
    try:
        import riata as there

        return there.__version__
    except ImportError:
        return "not installed"


class Cluster:
    """Runs tasks on workers until each is done once; tasks are pure, so that it does not matter where."""

    def __init__(
        self, client: Any, retries: int = RETRIES, slow: float = SLOW, wait: float = WAIT
    ) -> None:
        self.client = client
        self._retries, self._slow, self._wait = retries, slow, wait
        self._package = distributed()
        self._run = uuid.uuid4().hex[:8]
        self._submitted = 0
        self._peopled = time.monotonic()

    def submit(self, function: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
        """A future. What goes with it stays with the scheduler, so that no worker's death loses it."""
        self._submitted += 1
        key = f"riata-{function.__name__}-{self._run}-{self._submitted}"
        if not any(hasattr(argument, "__dask_graph__") for argument in arguments):
            return self.client.submit(function, *arguments, key=key, pure=False, **how)
        from dask.delayed import delayed

        call = delayed(function, pure=False)(*arguments, dask_key_name=key)
        return self.client.compute(call, **how)

    def all_done(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Futures of these calls (a function and its arguments), in order, once all are done."""
        slots = [Slot(self, call) for call in calls]
        self.finish(slots)
        return [slot.done for slot in slots]

    def result(self, future: Any) -> Any:
        """What a finished task made, brought here. Where the worker that has it hangs, others make it again."""
        seconds, self._peopled = self._slow, time.monotonic()
        while True:
            try:
                return future.result(timeout=seconds)
            except TimeoutError:
                if future.status == "error":  # made again, and the task's own
                    raise
                self._check_alive("")
                self._check_peopled()
                self._remove_silent(list(threads_of(self.client)))
                seconds *= 2

    def finish(self, slots: list[Slot], more: Callable[[], list[Slot]] = list) -> None:
        """Wait for these, and for whatever `more` adds to them whenever some are done."""
        self._peopled = time.monotonic()
        slots = slots + more()
        try:
            while waiting := [slot for slot in slots if slot.done is None]:
                for slot in waiting:
                    self._look_at(slot)
                slots += (added := more())
                waiting = [slot for slot in waiting if slot.done is None] + added
                self._look_for_slow(slots, waiting)
                if waiting:
                    self._pause([future for slot in waiting for future in slot.attempts])
        except BaseException:
            for slot in slots:
                slot.cancel()
            raise

    def _pause(self, futures: list[Any]) -> None:
        try:
            self._package.wait(futures, timeout=_TICK, return_when="FIRST_COMPLETED")
        except TimeoutError:
            pass
        except Exception as error:  # a future that was cancelled or lost; it is looked at again
            time.sleep(_TICK / 5)
            self._check_alive(str(error))
        else:
            return
        self._check_alive("")
        self._check_peopled()

    def _check_peopled(self) -> None:
        """A ClusterError once there have been no workers for a while."""
        now = time.monotonic()
        if now - self._peopled < self._wait / 10:
            return
        if threads_of(self.client):
            self._peopled = now
        elif now - self._peopled > self._wait:
            raise ClusterError(
                f"all workers have left the cluster, and none has come for {self._wait:.0f} s: start some, and go on "
                "from the last checkpoint (--resume)"
            )

    def _check_alive(self, said: str) -> None:
        """A ClusterError once the scheduler has been away for a while."""
        started = time.monotonic()
        while self.client.status != "running":
            if (
                self.client.status in ("closed", "closing")
                or time.monotonic() - started > self._wait
            ):
                raise ClusterError(
                    f"the scheduler is gone{f' ({said})' if said else ''}: start the cluster again, and go on from the "
                    "last checkpoint (--resume)"
                )
            time.sleep(_TICK)

    def _look_at(self, slot: Slot) -> None:
        for future in list(slot.attempts):
            if future.status == "finished":
                slot.done = future
                return
            if future.status == "error":
                error = future.exception()
                if isinstance(error, RiataError) or slot.failures >= self._retries:
                    raise _said(error, slot.failures + 1)
                slot.again(future)
            elif future.status in ("cancelled", "lost"):
                self._check_alive("its tasks were cancelled")
                if slot.failures >= self._retries:
                    raise ClusterError(
                        "tasks are cancelled again and again: is the scheduler alive?"
                    )
                slot.again(future)

    def _look_for_slow(self, slots: list[Slot], waiting: list[Slot]) -> None:
        """Give what takes very long to another worker as well: it may hang."""
        now = time.monotonic()
        for slot in slots:
            if slot.done is not None and slot.seconds is None:
                slot.seconds = now - slot.began
        known = [slot.seconds for slot in slots if slot.seconds is not None]
        most = max(self._slow, TIMES_SLOWER * statistics.median(known)) if known else self._slow * 5
        late = [slot for slot in waiting if now - slot.began > most * len(slot.attempts)]
        if not late:
            return
        processing = self.client.processing()
        removed = self._remove_silent(list(processing))
        for slot in late:
            keys = {future.key for future in slot.attempts}
            busy = {worker for worker, tasks in processing.items() if keys & set(tasks)}
            free = [worker for worker in processing if worker not in busy and worker not in removed]
            if busy and free and len(slot.attempts) < 3:
                slot.begin(workers=free, allow_other_workers=False)

    def _remove_silent(self, workers: list[str]) -> list[str]:
        """Workers that gave no sign of life: what they hold is made again by others."""
        removed: list[str] = self.client.run_on_scheduler(
            remove_silent, workers=workers, seconds=self._slow
        )
        return removed


async def remove_silent(
    workers: list[str], seconds: float, dask_scheduler: Any = None
) -> list[str]:
    """Runs in the scheduler."""
    silent = [
        name
        for name, worker in dask_scheduler.workers.items()
        if name in workers and time.time() - worker.last_seen > seconds
    ]
    for name in silent:
        await dask_scheduler.remove_worker(
            address=name, stimulus_id=f"riata-silent-{time.time()}", close=False
        )
    return silent


class Slot:
    """One call, and the futures that stand for it; a call with a higher priority goes before others that wait.

    `how` is what Dask is told of it at first; a call that is made again goes to whichever worker Dask likes.
    """

    def __init__(
        self, cluster: Cluster, call: tuple[Any, ...], priority: int = 0, **how: Any
    ) -> None:
        self._cluster, self._call, self._priority = cluster, call, priority
        self.attempts: list[Any] = []
        self.done: Any = None
        self.failures = 0
        self.began = time.monotonic()
        self.seconds: float | None = None
        self.begin(**how)

    def begin(self, **how: Any) -> None:
        self.attempts.append(self._cluster.submit(*self._call, priority=self._priority, **how))

    def again(self, failed: Any) -> None:
        self.failures += 1
        self.attempts.remove(failed)
        self.begin()

    def release(self) -> None:
        """What was made is in what others made of it: workers need not keep it."""
        self.attempts, self._call, self.done = [], (), RELEASED

    def cancel(self) -> None:
        for future in self.attempts:
            if future.status == "pending":
                future.cancel()


def _said(error: BaseException, times: int) -> BaseException:
    if isinstance(error, RiataError):
        return error
    name = type(error).__name__
    return ClusterError(f"a task failed {times} times, at last with {name}: {error}")
