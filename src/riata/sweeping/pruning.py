"""Which settings can be left out of the rest of a sweep: an anytime-valid test of paired losses.

For settings i and j, d is the loss of i less that of j on one example, each loss cut off at a bound B. If i were
at least as good as j on average, that is if the sum of the expected d up to now were never above zero, then for
every lambda in (0, 1)

    exp(lambda * sum d / B - psi(lambda) * sum (d / B)^2),    psi(lambda) = -log(1 - lambda) - lambda,

would stay below a non-negative supermartingale that starts at 1 (Fan, Grama & Liu 2015, Lemma 4.1; Howard et al.
2021; for forecasts Choe & Ramdas 2024), and so would the mean of it over several lambdas. By Ville's inequality the
chance that it *ever* reaches 1 / alpha is at most alpha. A setting is left out once that has happened against some
other, with alpha divided by the number of all pairs: so the chance that a sweep ever leaves out a setting that is as
good as the one it lost to is at most alpha, however often and whenever one looks.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ALPHA = 0.01
"""The chance of an unjust pruning, over all settings and all times."""
LOSS_BOUND = 5.0
"""Nats: more than that counts as that much. A probability of 0.7 % for what then happened."""
_LAMBDAS = 0.5 ** np.arange(1, 13)


class Pruning:
    """Sums over examples of the capped losses of every setting and of the products of every two."""

    def __init__(self, settings: int, bound: float = LOSS_BOUND, alpha: float = ALPHA) -> None:
        self.bound, self.alpha = bound, alpha
        self.examples = 0
        self._sum = np.zeros(settings)
        self._products = np.zeros((settings, settings))

    def add(self, losses: Floats) -> None:
        """Of the next examples, weighted, (settings, n)."""
        capped = np.nan_to_num(np.minimum(losses, self.bound), nan=self.bound) / self.bound
        # differences are all that counts: without what all have in common there is less to round away
        capped = capped - capped.min(axis=0)
        self._sum += capped.sum(axis=1)
        self._products += capped @ capped.T
        self.examples += losses.shape[1]

    def lost(self, among: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Those that are worse than another, among the settings that are still there."""
        alive = np.flatnonzero(among)
        n = len(self._sum)
        if len(alive) < 2 or self.examples == 0:
            return np.zeros(0, dtype=np.intp)
        log_needed = math.log(n * (n - 1) / self.alpha)
        total = self._sum[alive]
        squares = np.diag(self._products)[alive]
        best = int(np.argmin(total))  # any comparison is covered: this one is the most telling
        way = total - total[best]
        energy = squares + squares[best] - 2 * self._products[np.ix_(alive, alive[[best]])][:, 0]
        psi = -np.log1p(-_LAMBDAS) - _LAMBDAS
        exponents = way[:, None] * _LAMBDAS - np.maximum(energy, 0)[:, None] * psi
        top = exponents.max(axis=1)
        evidence = top + np.log(np.exp(exponents - top[:, None]).mean(axis=1))
        found: NDArray[np.intp] = alive[evidence >= log_needed]
        return found
