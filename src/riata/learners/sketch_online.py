"""The online algorithm for several outputs: one sketch each, which all learn the same examples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from riata import _core
from riata.block import Block
from riata.errors import RefusedExample
from riata.learners.base import Floats

if TYPE_CHECKING:
    from riata.learners.sketch import Sketch

SHARE = 0.8
"""Of the machine's memory, for the pairs of features, where nobody said otherwise."""


def new_online(p: Sketch, gamma: float) -> list[_core.OnlineSketch]:
    """Together they may take a share of the machine's memory, unless `limit_online` says otherwise."""
    cores = [
        _core.OnlineSketch(
            p.link, bool(p.fit_intercept), bool(p.penalize_intercept), gamma,
            float(p.horizon or 0), float(p.shooting_tol), int(p.block_size),
        )
        for _ in range(p.outputs)
    ]  # fmt: skip
    with suppress(AttributeError, ValueError, OSError):  # where the system does not say: no limit
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        limit_online(cores, int(SHARE * machine))
    return cores


def limit_online(cores: Sequence[_core.OnlineSketch], most: int) -> None:
    """So many bytes for the pairs of features of all of them."""
    for core in cores:
        core.max_bytes = most // len(cores)


def learn_online(
    cores: Sequence[_core.OnlineSketch], block: Block, positives: Sequence[float]
) -> Floats:
    """The scores of the examples: fewer than there are where one has too many features, which `refusal` tells."""
    scores = np.empty((len(block), len(cores)))
    for c, core in enumerate(cores):
        block = block[: len(scores)]
        assert block.labels is not None
        learned = core.learn(
            block.indptr, block.indices, block.values, block.labels, block.weights, positives[c],
            block.offsets,
        )  # fmt: skip
        if c > 0 and len(learned) < len(scores):  # they hold the same pairs, and so refuse the same
            raise MemoryError("the outputs of an online sketch do not take the same memory")
        scores = scores[: len(learned)]
        scores[:, c] = learned
    return scores


def refusal(core: _core.OnlineSketch, block: Block, scores: Floats) -> RefusedExample:
    features, size = core.refused
    return RefusedExample(
        f"{block.where(len(scores))}: {features} features: an online sketch keeps all pairs of features that "
        f"occur together, which would take up to {size / 1e9:.3g} GB, and {core.max_bytes / 1e9:.3g} GB are "
        "allowed: leave features out, use algorithm reduced or another method, or allow more memory",
        scores,
    )
