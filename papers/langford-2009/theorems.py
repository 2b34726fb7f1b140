"""Theorems 3.1 and 3.2 and corollary 4.1, both sides computed on real runs of Riata's truncated gradient.

Both sides are linear in sums over the run, so every iterate is kept. The sides are compared at several vectors: zero,
the best of the penalised loss, and random ones; the theorems hold for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from online import block_of
from scipy import sparse
from scipy.optimize import minimize

from riata.learners import TruncatedGradient

Floats = NDArray[np.float64]
LENGTH = 1.0
"""C: no row is longer."""


@dataclass(frozen=True)
class Loss:
    '""phi(p, y) with the A and B of assumption 3.1, and what to multiply Riata\'s slope by to get the'

    'paper\'s.""'

    name: str
    A: float
    B: float
    slope: float

    def value(self, p: Floats, y: Floats) -> Floats:
        if self.name == "squared":
            return (p - y) ** 2
        return np.logaddexp(0, -p * y) if self.name == "logistic" else np.maximum(0.0, 1 - p * y)


LOSSES = (
    Loss("squared", 4 * LENGTH**2, 0.0, 2.0),
    Loss("logistic", 0.0, LENGTH**2, 1.0),
    Loss("hinge", 0.0, LENGTH**2, 1.0),
)


def problem(rows: int, d: int, seed: int) -> tuple[Floats, Floats]:
    """Sparse rows of at most unit length, labels -1 and 1 that a few features explain in part."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((rows, d)) < 0.3, rng.normal(size=(rows, d)), 0.0)
    X = (X / np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]).astype(np.float32).astype(float)
    scores = X[:, :4] @ np.array([3.0, -3.0, 2.0, -2.0]) + 0.5 * rng.normal(size=rows)
    return X, np.where(scores > 0, 1.0, -1.0)


def iterates(X: Floats, y: Floats, loss: Loss, eta: float, gravity: float, theta: float, K: int) -> Floats:  # fmt: skip
    """w_1 to w_{T+1} of Riata's learner."""
    model = TruncatedGradient(
        loss=loss.name, learning_rate="constant", eta0=loss.slope * eta, gravity=gravity / loss.slope,
        theta=theta, period=K, fit_intercept=False, feature_scale="none", store="dense",
    )  # fmt: skip
    W = np.zeros((len(y) + 1, X.shape[1]))
    for i in range(len(y)):
        model.learn(block_of(sparse.csr_matrix(X[i : i + 1].astype(np.float32)), y[i : i + 1]))
        keys, values = model.coef()
        W[i + 1, keys] = values[:, 0]
    return W


def candidates(X: Floats, y: Floats, loss: Loss, gravity: float, seed: int) -> list[Floats]:
    """Vectors to compare with: zero, the minimum of the penalised loss (smoothed a little), random ones."""

    def objective(w: Floats) -> float:
        penalty = gravity * float(np.sqrt(w * w + 1e-10).sum())
        return float(loss.value(X @ w, y).mean()) + penalty

    rng = np.random.default_rng(seed)
    best = minimize(objective, np.zeros(X.shape[1]), method="L-BFGS-B").x
    return [np.zeros(X.shape[1]), best, *rng.normal(size=(8, X.shape[1]))]


def gravities(T: int, gravity: float, K: int) -> Floats:
    """g_1 to g_{T+1}: K g at every K-th step."""
    steps = np.arange(1, T + 2)
    return np.where(steps % K == 0, K * gravity, 0.0)


def sides(
    X: Floats, y: Floats, W: Floats, bar: Floats, loss: Loss, eta: float, g: Floats, theta: float,
    as_corollary: bool = False,
) -> tuple[float, float]:  # fmt: skip
    """Left and right of theorem 3.1; with the indices that corollary 4.1 prints, `as_corollary`."""
    T, shrink = len(y), 1 - 0.5 * loss.A * eta
    suffered = loss.value(np.einsum("ij,ij->i", X, W[:-1]), y)
    small = np.abs(W[1:]) <= theta
    own = W[:-1] if as_corollary else W[1:]
    penalty = g[:T] * np.where(np.abs(own) <= theta, np.abs(own), 0.0).sum(axis=1)
    left = (shrink * suffered + penalty).sum() / T
    later = g[1:] if as_corollary else g[:T]
    rival = loss.value(X @ bar, y) + later * (small * np.abs(bar)).sum(axis=1)
    right = eta / 2 * loss.B + bar @ bar / (2 * eta * T) + rival.sum() / T
    return float(left), float(right)


def checked(quick: bool) -> dict[str, Any]:
    """By statement: how many comparisons, how many fail, and the smallest (right - left) / right."""
    seeds = 1 if quick else 10
    found = {
        "theorem 3.1": [0, 0, np.inf],
        "corollary 4.1": [0, 0, np.inf],
        "theorem 3.2": [0, 0, np.inf],
    }

    def note(name: str, left: float, right: float, slack: float = 0.0) -> None:
        count, failed, least = found[name]
        margin = (right + slack - left) / right
        found[name] = [
            count + 1,
            failed + (left > right + slack + 1e-12),
            min(least, margin),
        ]

    settings = list(product(LOSSES, (0.02, 0.2), (0.0, 0.01, 0.1), (np.inf, 0.1), (1, 10)))
    for seed, (loss, eta, gravity, theta, K) in product(range(seeds), settings):
        X, y = problem(300, 12, seed)
        W, g = iterates(X, y, loss, eta, gravity, theta, K), gravities(300, gravity, K)
        for bar in candidates(X, y, loss, gravity, seed):
            note("theorem 3.1", *sides(X, y, W, bar, loss, eta, g, theta))
            if loss.name == "squared":
                note("corollary 4.1", *sides(X, y, W, bar, loss, eta, g, theta, as_corollary=True))
    for loss, eta, gravity in product(LOSSES, (0.02, 0.2), (0.01, 0.1)):
        for left, right, error in drawn(loss, eta, gravity, 20 if quick else 200):
            note("theorem 3.2", left, right, slack=3 * error)
    return {
        name: {"count": c, "failed": int(f), "least": float(m)} for name, (c, f, m) in found.items()
    }


def drawn(loss: Loss, eta: float, gravity: float, draws: int) -> list[tuple[float, float, float]]:
    """The outer sides of theorem 3.2, the left one a mean over draws, and that mean's standard error."""
    X, y = problem(60, 8, 0)
    T, shrink = 200, 1 - 0.5 * loss.A * eta

    def penalised(w: Floats, g: float) -> float:
        return float(loss.value(X @ w, y).mean()) + g * float(np.abs(w).sum())

    values = []
    for draw in range(draws):
        chosen = np.random.default_rng(draw).integers(0, len(y), T)
        W = iterates(X[chosen], y[chosen], loss, eta, gravity, np.inf, 1)
        values.append(shrink * penalised(W[:T].mean(axis=0), gravity / shrink))
    left, error = float(np.mean(values)), float(np.std(values) / np.sqrt(draws))
    return [
        (left, eta / 2 * loss.B + float(bar @ bar) / (2 * eta * T) + penalised(bar, gravity), error)
        for bar in candidates(X, y, loss, gravity, 0)
    ]
