"""Log odds put right by how they did so far: scale and offset are learned beside the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riata import _core

Floats = NDArray[np.float64]


def blank(outputs: int) -> Floats:
    """Nothing learned: scale 1 and offset 0.

    >>> _core.recalibration(blank(2))
    [(1.0, 0.0), (1.0, 0.0)]
    """
    return np.zeros((outputs, _core.RECALIBRATION_WIDTH))


def learn(
    scores: Floats,
    state: Floats,
    labels: Floats,
    weights: Floats | None,
    order: NDArray[np.int64] | None,
    half_life: float | None,
) -> None:
    """Correct each score by the examples before it, and learn from its label."""
    if order is not None:
        labels, weights = labels[order], None if weights is None else weights[order]
    keep = 1.0 if half_life is None else 2.0 ** (-1 / half_life)
    _core.recalibrate(scores, state, labels, weights, keep)


def correct(scores: Floats, state: Floats) -> None:
    _core.recalibrate(scores, state, None, None, 1.0)


def between(low: Floats, high: Floats, correction: Floats) -> tuple[Floats, Floats]:
    """Ends of an interval of probabilities, corrected."""
    ends = []
    for p in (low, high):
        p = np.clip(p, 1e-300, 1 - 1e-16)
        odds = correction[:, 0] * (np.log(p) - np.log1p(-p)) + correction[:, 1]
        ends.append(_core.loss_probability("logistic", odds.ravel()).reshape(p.shape))
    return np.minimum(*ends), np.maximum(*ends)


def mirrored(state: Floats, outputs: int) -> Floats:
    """The state with more outputs; a single one becomes those of classes 0 and 1."""
    if len(state) == 1:
        state = np.vstack([state * [1, -1, 1, 1, -1], state])
    return np.vstack([state, blank(outputs - len(state))])
