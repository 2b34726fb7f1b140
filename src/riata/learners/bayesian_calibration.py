"""Log odds put right by how they did so far: beta calibration, learned beside the model.

Corrected log odds are a ln(p) - b ln(1 - p) + c (Kull, Silva Filho & Flach 2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.learners.base import check_choice

Floats = NDArray[np.float64]


CHOICES = ("auto", "on", "off")


def wanted(calibrate: str | bool, prior_variance: Any) -> bool:
    """Whether to correct: "auto" does where the prior is not chosen either.

    >>> wanted("auto", "auto"), wanted("auto", 1.0), wanted("on", 1.0), wanted(False, "auto")
    (True, False, True, False)
    """
    if isinstance(calibrate, bool | np.bool_):
        return bool(calibrate)
    check_choice("calibrate", calibrate, CHOICES)
    return prior_variance == "auto" if calibrate == "auto" else calibrate == "on"


def blank(outputs: int) -> Floats:
    """Nothing learned: a = b = 1, c = 0.

    >>> _core.recalibration(blank(2))
    [(1.0, 1.0, 0.0), (1.0, 1.0, 0.0)]
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


def restore(state: Floats, saved: Floats) -> None:
    if saved.shape != state.shape:
        raise ValueError(
            f"the calibration of this model has the shape {saved.shape}, not {state.shape}: "
            "another version of Riata has saved it"
        )
    state[:] = saved


def between(low: Floats, high: Floats, correction: Floats) -> tuple[Floats, Floats]:
    """Ends of an interval of probabilities, corrected."""
    ends = []
    for p in (low, high):
        p = np.clip(p, 1e-300, 1 - 1e-16)
        odds = correction[:, 0] * np.log(p) - correction[:, 1] * np.log1p(-p) + correction[:, 2]
        ends.append(_core.loss_probability("logistic", odds.ravel()).reshape(p.shape))
    return np.minimum(*ends), np.maximum(*ends)


def mirrored(state: Floats, outputs: int) -> Floats:
    """The state with more outputs; a single one becomes those of classes 0 and 1."""
    if len(state) == 1:  # with p and 1 - p, a and b change places
        state = np.vstack(
            [state[:, [3, 1, 4, 0, 2, 5, 7, 6, 8]] * [1, 1, -1, 1, -1, 1, 1, 1, -1], state]
        )
    return np.vstack([state, blank(outputs - len(state))])
