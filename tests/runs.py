"""Learners for training runs, labels for their Blocks, and when two runs are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from riata.block import Block
from riata.learners import ElasticNet
from riata.record import Model


def make(outputs: int, **parameters: Any) -> ElasticNet:
    return ElasticNet(outputs=outputs, **({"l1": 1e-3} | parameters))


def same(one: Model, other: Model) -> bool:
    """Equal bits, and an equal account of how they came about."""
    a, b = one.learner.state(), other.learner.state()
    return (
        a.keys() == b.keys()
        and all(a[k].tobytes() == b[k].tobytes() and a[k].shape == b[k].shape for k in a)
        and one.learner.parameters() == other.learner.parameters()
        and np.array_equal(one.classes, other.classes)  # type: ignore[arg-type]
        and one.record == other.record
    )


def with_labels(block: Block, labels: Any) -> Block:
    return replace(block, labels=np.asarray(labels, dtype=float))
