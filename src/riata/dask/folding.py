"""Sums of what tasks make, in the order of the tasks, begun while later ones are still at work.

Neighbours are added one after another, however many of them at a time: the bits are those of `riata.shards.merge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from riata.dask.cluster import Cluster, Slot
from riata.shards.summary import Summary
from riata.shards.sums import FAN_IN, add_up

TOGETHER = 4
"""So many neighbours are waited for before they are added to the sum of those before them, unless they are the last."""


def folded(
    cluster: Cluster, calls: Sequence[tuple[Any, ...]], how: Sequence[dict[str, Any]]
) -> Summary:
    """The sum of what these calls make, where `how` is what Dask is told of each; only the end of it comes here."""
    level = [
        Slot(cluster, call, priority=-k, **own)  # in their order: Dask would begin with the last
        for k, (call, own) in enumerate(zip(calls, how, strict=True))
    ]
    while True:
        groups = [_Group(cluster, level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
        cluster.finish(level, lambda groups=groups: [s for g in groups for s in g.added()])  # type: ignore[misc]
        level = [group.sum for group in groups]
        if len(level) == 1:
            result: Summary = cluster.result(level[0].done)
            return result


class _Group:
    """Neighbours whose sum one node of the tree is."""

    def __init__(self, cluster: Cluster, slots: list[Slot]) -> None:
        self._cluster, self.waiting = cluster, slots
        self._inside: list[Slot] = []
        self._sum: Slot | None = None

    @property
    def sum(self) -> Slot:
        assert self._sum is not None
        return self._sum

    def added(self) -> list[Slot]:
        """The task that adds up what is done of the next neighbours, if it is time for one."""
        if self._sum is not None:
            if self._sum.done is None:
                return []
            for slot in self._inside:
                slot.release()
            self._inside = []
        ready = 0
        while ready < len(self.waiting) and self.waiting[ready].done is not None:
            ready += 1
        if not ready or (ready < TOGETHER and ready < len(self.waiting)):
            return []
        some, self.waiting = self.waiting[:ready], self.waiting[ready:]
        self._inside = some if self._sum is None else [self._sum, *some]
        call = (_added, [slot.done for slot in self._inside])
        self._sum = Slot(self._cluster, call, priority=1)
        return [self._sum]


def _added(summaries: Sequence[Summary]) -> Summary:
    return add_up(summaries)
