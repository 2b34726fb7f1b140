"""How many threads a learner may have: `n_jobs`, as scikit-learn has it."""

from __future__ import annotations

from riata.learners.base import check_number
from riata.sources.io.prefetch import usable_cores


def check_jobs(n_jobs: int) -> None:
    if n_jobs != -1:
        check_number("n_jobs", n_jobs, least=1)


def threads_of(n_jobs: int) -> int:
    """So many threads; -1: as many as the processors that this process may use.

    >>> threads_of(3), threads_of(-1) >= 1
    (3, True)
    """
    return usable_cores() if n_jobs == -1 else int(n_jobs)
