"""Several classes: how their scores hang together, and the probability of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.learners.base import option

Floats = NDArray[np.float64]

MULTI_CLASS = ("multinomial", "ovr")


def multi_class_option(default: str) -> Any:
    """The parameter `multi_class`, which logistic models have."""
    return option(
        default,
        "three classes or more: they share one probability (multinomial), or each is against the rest (ovr)",
        MULTI_CLASS,
    )


def exactly_one(log_odds: Floats) -> Floats:
    """The probability of each class given that exactly one is right, from the log odds of each against the rest.

    Were the answers independent, class k alone would be right with p_k times all 1 - p_j of the others, which is in
    proportion to its odds p_k / (1 - p_k).

    >>> exactly_one(np.log([[6.0, 3.0, 1.0]])).round(3)
    array([[0.6, 0.3, 0.1]])
    """
    behind = log_odds - log_odds.max(axis=1, keepdims=True)
    p = logistic(behind)  # at most a half: its odds lose no digits
    odds = p / (1 - p)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def in_proportion(probabilities: Floats) -> Floats:
    """Probabilities divided by their sum; a row in which no class has any is spread evenly.

    >>> in_proportion(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])).round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.333, 0.333, 0.333]])
    """
    total = probabilities.sum(axis=1, keepdims=True)
    even = np.full_like(probabilities, 1 / probabilities.shape[1])
    return np.asarray(np.divide(probabilities, total, out=even, where=total > 0))


def logistic(log_odds: Floats) -> Floats:
    """The probabilities that log odds stand for."""
    flat = np.ascontiguousarray(log_odds).ravel()
    return _core.loss_probability("logistic", flat).reshape(log_odds.shape)


def of_log_odds(log_odds: Floats) -> Floats:
    """The probability of the second class, (n, 1), or of each of several."""
    return logistic(log_odds) if log_odds.shape[1] == 1 else exactly_one(log_odds)


def of_link(link: str, scores: Floats) -> Floats:
    """The same of scores that a logit or probit link makes probabilities of."""
    if link == "logit":
        return of_log_odds(scores)

    def chance(of: Floats) -> Floats:
        return _core.link_apply(link, of.ravel(), None).reshape(of.shape)

    if scores.shape[1] == 1:
        return chance(scores)
    least = np.finfo(np.float64).tiny
    return exactly_one(
        np.log(np.maximum(chance(scores), least)) - np.log(np.maximum(chance(-scores), least))
    )
