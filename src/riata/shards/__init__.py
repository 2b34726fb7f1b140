"""Training beyond one machine: shards, pure tasks, sums that add up in a fixed order. It knows no engine.

A source splits into shards that do not depend on the number of workers. `partial(task, shard)` makes the sums of one,
`merge` adds them up in the order of the shards, and `Rounds` goes on from there.
"""

from riata.shards.plan import Plan, plan_for
from riata.shards.rounds import Rounds, Task, partial, train_shards
from riata.shards.split import Piece, Shard, split
from riata.shards.summary import MergeError, Summary
from riata.shards.sums import merge

__all__ = [
    "MergeError",
    "Piece",
    "Plan",
    "Rounds",
    "Shard",
    "Summary",
    "Task",
    "merge",
    "partial",
    "plan_for",
    "split",
    "train_shards",
]
