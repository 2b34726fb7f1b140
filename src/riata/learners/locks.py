"""The lock beside each learner: learning holds it for one Block, whoever wants several things of one moment for as
long as that takes.

After a fork only the forking thread lives on. A lock that another thread held would never open in the child, and what
that thread was changing is half changed there: such a lock refuses in the child, with what to do.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any, NoReturn, Protocol


class Lock(Protocol):
    """As much of `threading.RLock` as is needed here."""

    def __enter__(self) -> bool: ...
    def __exit__(self, kind: Any, error: Any, trace: Any, /) -> None: ...


class _Refused:
    """In place of a lock that a thread which no longer lives had."""

    def __enter__(self) -> NoReturn:
        raise RuntimeError(
            "this process was forked while another thread was learning this model: it is in the middle of a "
            "step here. Fork before learning starts, or load the model from a file in the child"
        )

    def __exit__(self, kind: Any, error: Any, trace: Any, /) -> None: ...


_owners: dict[int, tuple[weakref.ref[object], str]] = {}
"""Whoever has a lock, by id, and the name of the attribute."""


def new_lock(owner: object, name: str) -> Lock:
    """A lock for this attribute of its owner. The thread that has it may take it again."""
    place = id(owner)
    _owners[place] = weakref.ref(owner, lambda _: _owners.pop(place, None)), name
    return threading.RLock()


@contextlib.contextmanager
def both_locks(one: Any, other: Any) -> Iterator[None]:
    """The locks of two learners, in an order that whoever takes them the other way round keeps to as well."""
    first, second = (one, other) if id(one) <= id(other) else (other, one)
    with first.lock, second.lock:
        yield


def _after_fork() -> None:
    for reference, name in list(_owners.values()):
        owner = reference()
        lock = getattr(owner, name, None)
        if lock is None or isinstance(lock, _Refused):
            continue
        if lock.acquire(blocking=False):
            lock.release()
        else:
            object.__setattr__(owner, name, _Refused())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
