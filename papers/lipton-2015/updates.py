"""The elastic net three ways: lazy and dense loops in Python, as in the paper; dense in NumPy; lazy in Riata.

A row is a list of features and a list of values. Every learner takes (rows, labels, Net, Clock) and gives the weights.
The clock runs while examples are learned, not while arrays are made or weights are read at the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from riata.block import Block
from riata.learners import ElasticNet


class Clock:
    """Processor time of this thread, between `with` and its end."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._began = time.thread_time()

    def __exit__(self, *_: object) -> None:
        self.seconds = time.thread_time() - self._began


POWER = {"constant": 0.0, "inv_sqrt": 0.5, "inv_t": 1.0}


@dataclass(frozen=True)
class Net:
    update: str = "fobos"
    eta0: float = 20.0
    learning_rate: str = "inv_sqrt"
    l1: float = 1e-6
    l2: float = 1e-6

    def eta(self, t: int) -> float:
        return float(self.eta0 / (t + 1) ** POWER[self.learning_rate])


def slope(p: float, y: float) -> float:
    return -y / (1 + math.exp(min(y * p, 700.0)))


# Python, one weight after another.


def lazy_python(
    X: sparse.csr_matrix, y: np.ndarray, net: Net, clock: Clock, printed: bool = False
) -> np.ndarray:
    """Algorithm 1 with its tables of partial products and sums, Theorem 1 or 2.

    `printed` takes B as Theorem 1 prints it, over P(tau - 1); unrolling equation 3 gives P(tau) for SGD.
    """
    fobos, l1, l2 = net.update == "fobos", net.l1, net.l2
    w, since = [0.0] * X.shape[1], [0] * X.shape[1]
    P, B = [1.0], [0.0]  # P(-1), B(-1)

    def current(j: int, t: int) -> float:
        then = since[j]
        size = abs(w[j]) * P[t] / P[then] - P[t] * l1 * (B[t] - B[then])
        return math.copysign(size, w[j]) if size > 0 else 0.0

    indptr, indices, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    with clock:
        for t, label in enumerate(y.tolist()):
            at = indices[indptr[t] : indptr[t + 1]]
            x = values[indptr[t] : indptr[t + 1]]
            eta, p = net.eta(t), 0.0
            for j, v in zip(at, x, strict=True):
                w[j] = current(j, t)
                since[j] = t + 1
                p += w[j] * v
            factor = 1 / (1 + eta * l2) if fobos else 1 - eta * l2
            P.append(P[t] * factor)
            B.append(B[t] + eta / (P[t] if fobos or printed else P[t + 1]))
            step = eta * slope(p, label)
            for j, v in zip(at, x, strict=True):
                w[j] = stepped(w[j], step * v, eta, factor, l1, fobos)
    return np.array([current(j, len(y)) for j in range(len(w))])


def stepped(w: float, g: float, eta: float, factor: float, l1: float, fobos: bool) -> float:
    """One weight, one step; g is the gradient times eta."""
    if fobos:
        u = w - g
        return math.copysign(max(0.0, abs(u) - eta * l1) * factor, u)
    return math.copysign(max(0.0, factor * abs(w) - eta * l1), w) - g


def dense_python(
    X: sparse.csr_matrix, y: np.ndarray, net: Net, clock: Clock, sparse_sum: bool
) -> np.ndarray:
    """Every weight at every example; the prediction from all features, or from those of the row."""
    fobos, l1, d = net.update == "fobos", net.l1, X.shape[1]
    w = [0.0] * d
    with clock:
        for t, label in enumerate(y.tolist()):
            eta = net.eta(t)
            factor = 1 / (1 + eta * net.l2) if fobos else 1 - eta * net.l2
            part = slice(X.indptr[t], X.indptr[t + 1])
            row = dict(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True))
            if sparse_sum:
                p = sum(w[j] * v for j, v in row.items())
            else:
                p = 0.0
                for j in range(d):
                    p += w[j] * row.get(j, 0.0)
            step = eta * slope(p, label)
            for j in range(d):
                w[j] = stepped(w[j], step * row.get(j, 0.0), eta, factor, l1, fobos)
    return np.array(w)


# NumPy, all weights in one expression.


def dense_numpy(
    X: sparse.csr_matrix, y: np.ndarray, net: Net, clock: Clock, sparse_sum: bool
) -> np.ndarray:
    w = np.zeros(X.shape[1])
    with clock:
        for t in range(len(y)):
            eta = net.eta(t)
            part = slice(X.indptr[t], X.indptr[t + 1])
            at, x = X.indices[part], X.data[part].astype(np.float64)
            if sparse_sum:
                g = eta * slope(float(w[at] @ x), y[t]) * x
            else:
                row = np.zeros(len(w))
                row[at] = x
                at, g = slice(None), eta * slope(float(w @ row), y[t]) * row
            if net.update == "fobos":
                w[at] -= g
                w = np.sign(w) * np.maximum(0, np.abs(w) - eta * net.l1) / (1 + eta * net.l2)
            else:
                w = np.sign(w) * np.maximum(0, (1 - eta * net.l2) * np.abs(w) - eta * net.l1)
                w[at] -= g
    return w


# Riata.


def block_of(X: sparse.csr_matrix, y: np.ndarray) -> Block:
    return Block(
        X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float32),
        labels=(y > 0).astype(np.float64),
    )  # fmt: skip


def riata_net(net: Net) -> ElasticNet:
    return ElasticNet(
        update=net.update, eta0=net.eta0, learning_rate=net.learning_rate, l1=net.l1, l2=net.l2,
        fit_intercept=False, feature_scale="none", store="dense",
    )  # fmt: skip


def lazy_riata(block: Block, d: int, net: Net) -> np.ndarray:
    learner = riata_net(net)
    learner.learn(block)
    w = np.zeros(d)
    keys, values = learner.coef()
    w[keys] = values[:, 0]
    return w


Learn = Callable[[sparse.csr_matrix, np.ndarray, Net, Clock], np.ndarray]
PYTHON: dict[str, Learn] = {
    "lazy": lazy_python,
    "dense": lambda X, y, net, clock: dense_python(X, y, net, clock, False),
    "dense, sparse predictions": lambda X, y, net, clock: dense_python(X, y, net, clock, True),
}
NUMPY: dict[str, Learn] = {
    "dense": lambda X, y, net, clock: dense_numpy(X, y, net, clock, False),
    "dense, sparse predictions": lambda X, y, net, clock: dense_numpy(X, y, net, clock, True),
}
