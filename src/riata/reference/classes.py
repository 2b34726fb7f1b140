"""The probability of each class, where each has a score of its own against the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def class_probabilities(p: Floats) -> Floats:
    """The probability of each class given that exactly one is right, (n, classes), from that of each against the rest.

    Class k alone is right with p_k times all 1 - p_j of the others.

    >>> class_probabilities(np.array([[0.9, 0.5, 0.0]])).round(3)
    array([[0.9, 0.1, 0. ]])
    """
    alone = [p[:, k] * np.delete(1 - p, k, axis=1).prod(axis=1) for k in range(p.shape[1])]
    return np.asarray(np.array(alone).T / np.sum(alone, axis=0)[:, None])


def against_others(scores: Floats) -> Floats:
    """The log odds of each class against all others, (classes, n), of probabilities in proportion to exp(scores).

    >>> np.exp(against_others(np.log([[6.0], [3.0], [1.0]])))[:, 0].round(3).tolist()  # 6/4, 3/7, 1/9
    [1.5, 0.429, 0.111]
    """
    others = [np.logaddexp.reduce(np.delete(scores, k, axis=0)) for k in range(len(scores))]
    return np.asarray(scores - np.array(others))
