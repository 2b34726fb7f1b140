"""The four methods that section 5.1 compares with, each one pass of `k = 1, 2, ...` over the rows.

All minimise (11), mean (y - x'b)^2 / 2 + l1 |b|_1, with steps a_k = 1 / (k0 + k), and start at b = 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Method = Callable[[Floats, Floats, float, float], Floats]


def subgradient(X: Floats, y: Floats, l1: float, k0: float) -> Floats:
    """Descend along l1 sign(b), which is a subgradient of the penalty."""
    b = np.zeros(X.shape[1])
    for k, (x, target) in enumerate(zip(X, y, strict=True), start=1):
        b = b - (l1 * np.sign(b) - x * (target - x @ b)) / (k0 + k)
    return b


def smoothed(X: Floats, y: Floats, l1: float, k0: float, sharpness: float = 10.0) -> Floats:
    """|b| becomes (log(1 + exp(s b)) + log(1 + exp(-s b))) / s, with the derivative tanh(s b / 2)."""
    b = np.zeros(X.shape[1])
    for k, (x, target) in enumerate(zip(X, y, strict=True), start=1):
        b = b - (l1 * np.tanh(sharpness * b / 2) - x * (target - x @ b)) / (k0 + k)
    return b


def projected(X: Floats, y: Floats, l1: float, k0: float) -> Floats:
    """Two halves of b, cut off at zero after every step."""
    pos, neg = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for k, (x, target) in enumerate(zip(X, y, strict=True), start=1):
        g = -x * (target - x @ (pos - neg))
        pos = np.maximum(0, pos - (l1 + g) / (k0 + k))
        neg = np.maximum(0, neg - (l1 - g) / (k0 + k))
    return pos - neg


def augmented_lagrangian(X: Floats, y: Floats, l1: float, k0: float) -> Floats:
    """Two halves with multipliers of -half <= 0 (Wang & Spall 2003): r_k = 50 / (k0 + k)^0.1.

    The Lagrangian is f + sum (max(0, m + r c)^2 - m^2) / 2 r, and m moves to max(0, m + r c).
    """
    half, m = np.zeros((2, X.shape[1])), np.zeros((2, X.shape[1]))
    sign = np.array([[1.0], [-1.0]])
    for k, (x, target) in enumerate(zip(X, y, strict=True), start=1):
        r = 50 / (k0 + k) ** 0.1
        g = -x * (target - x @ (half[0] - half[1]))
        force = np.maximum(0, m - r * half)
        half, m = half - (l1 + sign * g - force) / (k0 + k), np.maximum(0, m - r * half)
    weights: Floats = half[0] - half[1]
    return weights


RIVALS: dict[str, Method] = {
    "subgradient": subgradient,
    "smoothed": smoothed,
    "projected gradient": projected,
    "augmented Lagrangian": augmented_lagrangian,
}
