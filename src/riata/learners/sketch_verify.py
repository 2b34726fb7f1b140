"""The certificate of a sketch, found again: one pass over the data at the weights that the model has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from riata.block import Block
from riata.learners.sketch_passes import Passes
from riata.learners.sketch_points import Certificate

if TYPE_CHECKING:
    from riata.learners.sketch import Sketch


def certificates(learner: Sketch, blocks: Iterable[Block]) -> list[Certificate]:
    """For every output, what these examples (class codes for labels) prove of the weights.

    >>> import numpy as np
    >>> from riata.learners import Sketch
    >>> x = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    >>> rows = Block(np.arange(0, 401, 2), np.tile(np.arange(2, dtype=np.int32), 200), x.ravel(),
    ...              labels=(x[:, 0] > 0.1 * x[:, 1]).astype(float))
    >>> learner = Sketch(gamma=5.0)
    >>> while not learner.complete:
    ...     _ = learner.learn(rows)
    ...     learner.end_pass()
    >>> [found] = certificates(learner, [rows])
    >>> found.gap <= 1e-6 * found.objective
    True
    """
    runs = []
    for done in learner._passes:
        if done.accepted is None or not done.gammas:
            raise ValueError(
                "this sketch has not come to any weights yet: there is nothing to prove"
            )
        run = Passes(learner, [done.gamma], limits=done.limits)
        run.core.begin(done.accepted.keys, done.accepted.weights, done.accepted.intercept)
        runs.append(run)
    for block in blocks:
        rows = learner._numbered(block, join=False)
        if rows.labels is None:
            raise ValueError("a certificate takes blocks with labels")
        for c, run in enumerate(runs):
            run.accumulate(rows, rows.labels, learner._positive(c), learner.n_jobs)
    return [run._certify(run.point, run.gamma) for run in runs]
