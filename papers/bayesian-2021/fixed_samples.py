"""Marginalised VB (appendix D.3) with one set of samples, drawn once and used for every example, in NumPy.

The paper says that samples are drawn, not how often. Riata draws new ones for every example.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from regret import Stream

SHRINK = np.pi / 8


def regret(
    stream: Callable[[], Stream], samples: int, seed: int, d: int = 200, fresh: bool = False
) -> float:
    """Regret / ln T with a prior variance of 1, by one Newton step of equations 50 to 54; `fresh`: with new samples."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=samples)
    mean, variance, total, t = np.zeros(d), np.ones(d), 0.0, 0
    for block, best in stream():
        assert block.labels is not None
        for r, sign in enumerate(2 * block.labels - 1):
            present = block.indices[block.indptr[r] : block.indptr[r + 1]]
            m, v = mean[present], variance[present]
            score, spread = m.sum(), v.sum()
            if fresh:
                s = rng.normal(size=samples)
            total += np.logaddexp(0, -sign * score / np.sqrt(1 + SHRINK * spread)) - best[r]
            alpha = sign / np.sqrt(1 + SHRINK * (spread - v))
            deviation = np.sqrt(v)
            z = (alpha * score)[:, None] + (alpha * deviation)[:, None] * s
            q = 1 / (1 + np.exp(z))
            bend = q * (1 - q)
            g = -alpha * q.mean(axis=1)
            h = -1 / deviation + deviation / v - alpha * (q @ s) / samples
            gg = 1 / v + alpha**2 * bend.mean(axis=1)
            gh = alpha**2 * (bend @ s) / samples
            hh = 1 / deviation**2 + 1 / v + alpha**2 * (bend @ (s * s)) / samples
            determinant = gg * hh - gh * gh
            to = m - (hh * g - gh * h) / determinant
            deviation = np.maximum(deviation - (gg * h - gh * g) / determinant, 1e-6)
            mean[present], variance[present] = to, np.minimum(deviation**2, 1.0)
        t += len(block)
    return float(total / np.log(t))
