"""A sweep over a source, in one call."""

from __future__ import annotations

import inspect
from typing import Any

from riata.sources import Source
from riata.sweeping import Job, Sweep
from riata.sweeping.grid import DEFAULT_METHOD

_OF_JOB = set(inspect.signature(Job).parameters)


def sweep_source(source: Source, grid: Any, method: Any = DEFAULT_METHOD, **options: Any) -> Sweep:
    """`options` are those of `Job`, and of `train`."""
    job = Job(grid, method, **{k: v for k, v in options.items() if k in _OF_JOB})
    training = {k: v for k, v in options.items() if k not in _OF_JOB}
    job.estimate(source, training.get("max_memory"))
    return job.run(source, **training)
