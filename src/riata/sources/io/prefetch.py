"""Work ahead of the consumer in threads, and hand over the results in order."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_running: weakref.WeakSet[_Team[object, object]] = weakref.WeakSet()


def usable_cores(cgroup: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """The processors that this process may use: those it may run on, or fewer where a container limits them."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):  # no control groups, or no limit ("max")
        quota, period = cgroup.read_text().split()
        cores = min(cores, -(-int(quota) // int(period)))
    return max(1, cores)


def threads_beside(helped: bool) -> int:
    """How many threads should parse beside the consumer, who helps them if `helped`."""
    cores = usable_cores()
    return max(1, min(2, cores - 1 if helped else cores))


def ordered_map(
    work: Callable[[Item], Result],
    items: Iterator[Item],
    *,
    threads: int,
    ahead: int | None = None,
    helping: bool = False,
    cancel: Callable[[], None] | None = None,
) -> Generator[Result, None, None]:
    """Like `map(work, items)`, with `threads` threads that run ahead of the consumer.

    `items` is advanced by one thread at a time. At most `ahead` results wait or are being made;
    once there are so many, the threads rest until there is work for all of them. Waking one for
    every result would displace a consumer that keeps all processors busy each time.
    With `helping` a consumer that would have to wait works too: as many threads as there are
    processors then never leave one idle. Only for items that do not make anyone wait.
    An exception, of `work` or of `items`, is raised after all results before it were handed over.
    Closing the generator stops the threads and waits for them; `cancel` is called first and should
    wake `items` if it can be waiting for something.

    >>> list(ordered_map(lambda x: x * x, iter(range(5)), threads=2))
    [0, 1, 4, 9, 16]
    """
    team: _Team[Item, Result] = _Team(work, items, ahead or threads + 2, helping, cancel)
    try:
        team.start(threads)
        yield from team.results()
    finally:
        team.stop()


class _Team(Generic[Item, Result]):
    def __init__(
        self,
        work: Callable[[Item], Result],
        items: Iterator[Item],
        ahead: int,
        helping: bool,
        cancel: Callable[[], None] | None,
    ) -> None:
        self._work = work
        self._items = items
        self._ahead = ahead
        self._enough = ahead - 1  # results that end the threads' rest
        self._helping = helping
        self._cancel = cancel
        self._reading = threading.Lock()  # held by the thread that advances `items`
        self._changed = threading.Condition()  # guards everything below
        self._outcomes: dict[int, Callable[[], Result]] = {}
        self._in_flight = 0
        self._tickets = 0  # handed out, in the order of `items`
        self._resting = False
        self._no_more = False
        self._forked = False
        self._threads: list[threading.Thread] = []

    def start(self, threads: int) -> None:
        # Daemons, so that a pass nobody finished cannot hold up the end of the program; but none
        # may be inside the core while the interpreter goes down, so they are stopped at exit.
        _running.add(self)  # type: ignore[arg-type]
        self._enough = max(self._ahead // 2, self._ahead - threads)
        for i in range(threads):
            thread = threading.Thread(target=self._run, name=f"riata-source-{i}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def orphan(self) -> None:
        """In a forked child: the threads live in the parent alone, and with them what they had locked."""
        self._forked = self._no_more = True
        self._reading, self._changed = threading.Lock(), threading.Condition()
        self._threads.clear()
        self._outcomes.clear()
        _running.discard(self)  # type: ignore[arg-type]

    def stop(self) -> None:
        if self._forked:
            return
        with self._changed:
            self._no_more = True
            self._changed.notify_all()
        if self._cancel is not None:
            self._cancel()
        for thread in self._threads:
            thread.join()
        self._outcomes.clear()
        if isinstance(self._items, Generator):
            self._items.close()
        _running.discard(self)  # type: ignore[arg-type]

    def results(self) -> Iterator[Result]:
        ticket = 0
        while True:
            if self._forked:
                raise RuntimeError(
                    "this process was forked while threads were reading this source: open it again in the child"
                )
            if self._helping:
                while ticket not in self._outcomes and self._step(helping=True):
                    pass
            with self._changed:
                while ticket not in self._outcomes:
                    self._changed.wait()
                outcome = self._outcomes.pop(ticket)
                self._in_flight -= 1
                if self._in_flight <= self._enough:
                    self._resting = False
                self._changed.notify_all()
            try:
                result = outcome()
            except _EndOfItems:
                return
            yield result
            del result, outcome  # not alive while waiting for the next one
            ticket += 1

    def _run(self) -> None:
        while self._step():
            pass

    def _step(self, helping: bool = False) -> bool:
        """Make one result; False if there is nothing to do, or for a helper: nothing just now."""
        if not self._reserve(helping):
            return False
        with (
            self._reading
        ):  # nobody waits for the consumer in here, or a helper would wait for itself
            with self._changed:
                if self._no_more:
                    self._in_flight -= 1
                    return False
                ticket = self._tickets
                self._tickets += 1
            try:
                item = next(self._items)
            except StopIteration:
                return self._deliver(ticket, _raiser(_EndOfItems()), last=True)
            except BaseException as error:
                return self._deliver_error(ticket, error, helping)
        try:
            result = self._work(item)
        except BaseException as error:
            return self._deliver_error(ticket, error, helping)
        return self._deliver(ticket, _returner(result))

    def _reserve(self, helping: bool) -> bool:
        """Be one of those in flight, as soon as that may be."""
        with self._changed:
            while self._resting and not self._no_more:
                if helping:
                    return False
                self._changed.wait()
            if not self._no_more:
                self._in_flight += 1
                self._resting = self._in_flight >= self._ahead
            return not self._no_more

    def _deliver_error(self, ticket: int, error: BaseException, helping: bool) -> bool:
        if helping and not isinstance(error, Exception):
            raise error  # Ctrl-C, which is for the consumer and at once
        return self._deliver(ticket, _raiser(error), last=True)

    def _deliver(self, ticket: int, outcome: Callable[[], Result], last: bool = False) -> bool:
        with self._changed:
            self._outcomes[ticket] = outcome
            self._no_more = self._no_more or last
            self._changed.notify_all()
        return not last


class _EndOfItems(Exception):
    pass


def _raiser(error: BaseException) -> Callable[[], NoReturn]:
    def outcome() -> NoReturn:
        raise error

    return outcome


def _returner(result: Result) -> Callable[[], Result]:
    return lambda: result


def _after_fork() -> None:
    for team in list(_running):
        team.orphan()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _stop_all() -> None:
    for team in list(_running):
        with contextlib.suppress(Exception):
            team.stop()
