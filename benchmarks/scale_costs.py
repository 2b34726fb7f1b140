"""What training by shards costs, from measured constants: `python -m benchmarks.scale_page costs`.

Constants are measured on this machine, a run on two Dask workers is predicted from them and then made, and what a
cluster would take for data of any size follows from the same formula.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import scale
from riata.dask import cluster_of
from riata.dask import train as train_on
from riata.dask.cluster import Cluster
from riata.learners import FTRL, Learner
from riata.record import Model
from riata.shards import Rounds, Summary, Task, merge, partial, plan_for
from riata.shards.sums import FAN_IN, Sums
from riata.sources import ReadOptions

ROUNDS = 3
WORKERS = 2
FEW = 320
"""Rows of a training that is all tasks."""
OPTIONS = ReadOptions(label="label", threads=1, scale="none")


@dataclass(frozen=True)
class Costs:
    """Measured: seconds, and bytes a second."""

    learn: float
    """Bytes of Parquet that a worker reads and learns a second, in the first round."""
    learn_again: float
    """The same in later rounds, which begin with a model."""
    feature: float
    """Bytes of a summary for a named feature."""
    add: float
    """Bytes of summaries that are added to a sum a second."""
    send: float
    """Bytes of summaries that go from one process to another a second."""
    hand_out: float
    """Bytes of the model that go from here to all workers a second."""
    task: float
    """Seconds that a task takes beside its work: those of a training whose shards have a few rows, by task."""
    finish: float
    """Bytes of sums that become a model, and what the next tasks begin with, a second."""


@dataclass(frozen=True)
class Work:
    """A training: bytes of data, of a shard, of its summary, and of the sums of all."""

    data: float
    shard: float
    summary: float
    model: float
    rounds: int = 1

    @property
    def shards(self) -> int:
        return max(1, round(self.data / self.shard))


def levels(shards: int) -> list[int]:
    """How many sums there are at each level of the tree.

    >>> levels(16), levels(64), levels(16_000)
    ([1], [1], [250, 4, 1])
    """
    out = []
    while True:
        shards = -(-shards // FAN_IN)
        out.append(shards)
        if shards == 1:
            return out


def parts_of(work: Work, workers: int, costs: Costs, tree: bool = True) -> dict[str, float]:
    """Seconds of one training, by what they go to. Without the tree one place adds up all summaries."""
    shards, each = work.shards, work.summary * (1 / costs.send + 1 / costs.add)
    at_once = -(-shards // workers)
    below, sums = shards, 0.0
    for groups in levels(shards) if tree else [1]:
        together = min(below, FAN_IN) if tree else below
        sums += -(-groups // workers) * together * each
        below = groups
    tasks = shards + (sum(levels(shards)) if tree else 1)
    later = work.rounds - 1
    speed = 1 / costs.learn + later / costs.learn_again
    return {
        "learning": at_once * work.shard * speed,
        "sums": work.rounds * sums,
        "scheduler": work.rounds * tasks * costs.task,
        "model": work.rounds * work.model * (1 / costs.finish + 1 / costs.send)
        + later * work.model / costs.hand_out,
    }


def seconds_of(work: Work, workers: int, costs: Costs, tree: bool = True) -> float:
    """All of them: on two cores, scheduler and workers take each other's time, and elsewhere it is a bound."""
    return sum(parts_of(work, workers, costs, tree).values())


# Measuring


def ftrl(outputs: int) -> Learner:
    return FTRL(outputs=outputs)


def timed(work: Callable[[], Any], times: int = 3) -> float:
    """The median of a few turns."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def course_of(rows: int) -> Rounds:
    path = str(scale.parquet(rows))
    plan = plan_for(path, ftrl(1), OPTIONS, count=scale.SHARDS)
    return Rounds.new(plan, ftrl, ROUNDS)


def run(client: Any, rows: int) -> Model:
    """Every round reads its shards, as it must where they are larger than the memory of the workers."""
    return train_on(
        client, str(scale.parquet(rows)), ftrl, shards=scale.SHARDS, rounds=ROUNDS, options=OPTIONS,
        keep=0,
    )  # fmt: skip


def nothing(_: Any, __: Any = None) -> None:
    pass


def learning_speed(cluster: Cluster, task: Any, course: Rounds) -> tuple[float, list[Summary]]:
    """Bytes a second of one worker while all are busy; and the summaries."""
    shards = course.plan.shards
    done = cluster.all_done([(_learned, task, shard) for shard in shards])
    seconds = sum(future.result()[0] for future in done)
    size = sum(shard.bytes for shard in shards)
    return size / seconds, [future.result()[1] for future in done]


def constants(client: Any, course: Rounds) -> Costs:
    """Each by itself, on the shards of this training."""
    cluster, task = Cluster(client), course.task()
    learning_speed(cluster, task, course)  # imports
    learn, summaries = learning_speed(cluster, task, course)
    whole = merge(summaries)
    size, bytes_ = whole.bytes, sum(s.bytes for s in summaries)
    start = time.perf_counter()
    learner, beside = course.method.finish(course.model.learner, whole.arrays, 1, 1)
    state = course.method.begin(learner, beside, 2)
    later = Task(course.plan, task.family, task.parameters, state, 2, task.digest)
    _ = later.began
    finishing = time.perf_counter() - start

    def hand_out() -> None:
        shared = cluster.submit(_copy, later)
        workers = list(client.scheduler_info()["workers"])
        futures = [cluster.submit(nothing, shared, k, workers=[w]) for k, w in enumerate(workers)]
        client.gather(futures)

    shared = cluster.submit(_copy, later)
    return Costs(
        learn=learn,
        learn_again=learning_speed(cluster, shared, course)[0],
        feature=bytes_ / sum(len(s.arrays["keys"]) for s in summaries),
        add=bytes_ / timed(lambda: _added(summaries)),
        send=size / timed(lambda: client.submit(_copy, whole, pure=False).result()) * 2,
        hand_out=size / timed(hand_out),
        task=timed(lambda: run(client, FEW)) / (ROUNDS * (scale.SHARDS + 1)),
        finish=size / finishing,
    )


def measured(few: int = 25_000, many: int = 50_000) -> tuple[Costs, dict[str, float]]:
    """The constants from a few rows, and a run on twice as many that they predict, on the same two workers."""
    with cluster_of(f"local:{WORKERS}") as client:
        costs = constants(client, course_of(few))
        course = course_of(many)
        first = partial(course.task(), course.plan.shards[0])
        data = sum(shard.bytes for shard in course.plan.shards)
        start = time.perf_counter()
        model = run(client, many)
        taken = time.perf_counter() - start
    size = costs.feature * len(model.learner.state()["keys"])
    work = Work(data, data / len(course.plan.shards), first.bytes, size, ROUNDS)
    about = {"rows": many, "bytes": data, "shards": work.shards, "summary": work.summary}
    about |= {
        f"seconds of {name}": seconds for name, seconds in parts_of(work, WORKERS, costs).items()
    }
    predicted = seconds_of(work, WORKERS, costs)
    about |= {"model": size, "rounds": ROUNDS, "predicted": predicted, "measured": taken}
    return costs, about


def _learned(task: Task, shard: Any) -> tuple[float, Summary]:
    start = time.perf_counter()
    made = partial(task, shard)
    return time.perf_counter() - start, made


def _copy(it: Any) -> Any:
    return it


def _added(summaries: Sequence[Summary]) -> None:
    sums = Sums()
    for summary in summaries:
        sums.add(summary)


# Thousands of shards, with real merges


def simulated(shards: int = 4096, rows: int = 10, seed: int = 0) -> dict[str, Any]:
    """As many small shards, learned one by one; every merge of the tree is made and timed, and then laid on workers."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.vw"
        with path.open("w") as out:
            for _ in range(shards * rows):
                words = np.unique((20_000 ** rng.random(12)).astype(int))
                label = 1 if words[0] % 2 else -1
                out.write(f"{label} | {' '.join(f'w{k}' for k in words)}\n")
        plan = plan_for(str(path), ftrl(1), count=shards)
        task = Rounds.new(plan, ftrl).task()
        made = [_learned(task, shard) for shard in plan.shards]
    parts = [summary for _, summary in made]
    learning = [seconds for seconds, _ in made]
    levels_of: list[list[float]] = []
    level = parts
    while len(level) > 1:
        groups = [level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN)]
        taken, sums = [], []
        for group in groups:
            start = time.perf_counter()
            sums.append(merge(group))
            taken.append(time.perf_counter() - start)
        levels_of.append(taken)
        level = sums
    start = time.perf_counter()
    _added(parts)
    flat = time.perf_counter() - start
    same = all(
        np.array_equal(level[0].arrays[name], array) for name, array in merge(parts).arrays.items()
    )
    workers = {}
    for count in (1, 10, 100, 1000):
        tree = sum(_makespan(taken, count) for taken in levels_of)
        workers[str(count)] = {"learning": _makespan(learning, count), "tree": tree, "flat": flat}
    return {
        "shards": shards,
        "features": len(level[0].arrays["keys"]),
        "merges": sum(map(len, levels_of)),
        "equal": same,
        "workers": workers,
    }


def _makespan(tasks: list[float], workers: int) -> float:
    """When all are done, each given to the worker that is free first.

    >>> _makespan([1.0, 1.0, 1.0], 2)
    2.0
    """
    import heapq

    free = [0.0] * min(workers, max(1, len(tasks)))
    for seconds in tasks:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def everything() -> dict[str, Any]:
    costs, run = measured()
    return {"costs": asdict(costs), "run": run, "simulation": simulated()}
