"""Arithmetic on mixtures of Gaussians: what the components of a Bayesian learner say together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """Columns of a model: views x outputs x priors."""

    views: int
    outputs: int
    priors: int

    @property
    def components(self) -> int:
        return self.views * self.priors

    def split(self, columns: Floats) -> Floats:
        """(n, columns) as (n, outputs, components).

        >>> Shape(2, 1, 2).split(np.arange(4.0)[None]).tolist()
        [[[0.0, 1.0, 2.0, 3.0]]]
        """
        parts = columns.reshape(-1, self.views, self.outputs, self.priors)
        return parts.transpose(0, 2, 1, 3).reshape(-1, self.outputs, self.components)

    def columns_of(self, component: int) -> NDArray[np.intp]:
        """The columns of a component, one an output."""
        view, prior = divmod(component, self.priors)
        return (view * self.outputs + np.arange(self.outputs)) * self.priors + prior


def shares(log_evidence: Floats) -> Floats:
    """Weights that sum to one along the last axis, from their logarithms up to a constant.

    >>> shares(np.log([1.0, 3.0])).round(12).tolist()
    [0.25, 0.75]
    """
    scaled = np.exp(log_evidence - log_evidence.max(axis=-1, keepdims=True))
    weights: Floats = scaled / scaled.sum(axis=-1, keepdims=True)
    return weights


def mean_and_std(means: Floats, variances: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Of a mixture of Gaussians, along the last axis."""
    mean = (weights * means).sum(axis=-1)
    around = variances + (means - mean[..., None]) ** 2
    return mean, np.sqrt((weights * around).sum(axis=-1))


def quantile(level: float, means: Floats, variances: Floats, weights: Floats) -> Floats:
    """The value below which a mixture of Gaussians is with probability `level`, along the last axis.

    >>> one = np.ones(1)
    >>> quantile(0.975, 2 * one, 4 * one, one).round(4).tolist()
    5.9199
    """
    from scipy.special import ndtr, ndtri  # the command line starts without it

    std = np.sqrt(variances)
    each = means + ndtri(level) * std
    if each.shape[-1] == 1:
        return np.asarray(each[..., 0])
    # Between the components' own quantiles; each halving gains a bit.
    low, high = each.min(axis=-1), each.max(axis=-1)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = (weights * ndtr((middle[..., None] - means) / std)).sum(axis=-1)
        high = np.where(below >= level, middle, high)
        low = np.where(below >= level, low, middle)
    return np.asarray(0.5 * (low + high))
