"""Which worker reads which shard: in every round the same one, which has kept its rows in memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from riata.dask.cluster import threads_of
from riata.shards.kept import forget
from riata.shards.rounds import Task, partial
from riata.shards.split import Shard
from riata.shards.summary import Summary

SHARE = 0.25
"""Of the memory that Dask gives a worker, what is for rows, unless somebody says otherwise."""


class Homes:
    """Shards are dealt out evenly, by threads, and again where a worker leaves or joins.

    It is a wish: Dask may give a task to another worker, which reads the shard anew.

    >>> homes = Homes()
    >>> homes.of(5, {"a": 1, "b": 1}), homes.of(5, {"b": 1, "c": 1})
    (['a', 'b', 'a', 'b', 'a'], ['c', 'b', 'c', 'b', 'b'])
    """

    def __init__(self) -> None:
        self._of: list[str | None] = []

    def of(self, shards: int, threads: Mapping[str, int]) -> list[str]:
        """The worker of each shard, where each of these workers has so many threads."""
        before = self._of or [None] * shards
        share = shards / sum(threads.values())
        room = {name: math.ceil(count * share) for name, count in threads.items()}
        after: list[str | None] = [None] * shards
        for k, name in enumerate(before):
            if name is not None and room.get(name, 0) > 0:
                after[k] = name
                room[name] -= 1
        for k, name in enumerate(after):
            if name is None:
                after[k] = name = max(room, key=lambda worker: room[worker] / threads[worker])
                room[name] -= 1
        self._of = after
        return [name for name in after if name is not None]


def partial_keeping(task: Task, shard: Shard, keep: int | None, data: Any = None) -> Summary:
    """The sums of a shard, on a worker; None: its part of the worker's memory may be taken by rows."""
    return partial(task, shard, data, _share() if keep is None else keep)


def _share() -> int:
    """Nothing where Dask sets no limit: then nobody has said how much there is."""
    from distributed import get_worker

    limit = get_worker().memory_manager.memory_limit
    return 0 if limit is None else int(SHARE * limit)


def leave(client: Any) -> None:
    """Workers need keep no rows any more; those who do not hear of it do so until the next training."""
    with suppress(Exception):  # what became of the training is what counts
        if client.status == "running":
            client.run(_forget, wait=False, on_error="ignore")


async def _forget() -> None:
    forget()


def wished(homes: Homes, client: Any, shards: Sequence[Shard]) -> list[dict[str, Any]]:
    """For each shard, how its task is submitted."""
    threads = threads_of(client)
    if not threads:
        return [{} for _ in shards]
    return [
        {"workers": [name], "allow_other_workers": True} for name in homes.of(len(shards), threads)
    ]
