"""The sketch again, dense, as Balakrishnan & Madigan 2008 state it, and what it is measured against.

Their letters: the log-likelihood is about beta' Psi beta + beta' theta, labels y are 0 and 1 there, -1 and +1 here.
All weights are penalised alike: an intercept is a column of ones in X. Offsets, which the paper has not, are added
to margins: the quadratic of an example is in beta'x, and its derivatives are taken at beta'x + offset.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr

Floats = NDArray[np.float64]


def log_likelihood(link: str, margins: Floats, y: Floats) -> Floats:
    """log P(y | margin) of each example.

    >>> log_likelihood("probit", np.zeros(1), np.ones(1)).round(4)
    array([-0.6931])
    """
    z = y * margins
    return np.asarray(-np.logaddexp(0, -z) if link == "logit" else log_ndtr(z), dtype=np.float64)


def derivatives(link: str, margins: Floats, y: Floats) -> tuple[Floats, Floats]:
    """First and second derivative of `log_likelihood` in the margin.

    >>> slope, curvature = derivatives("logit", np.zeros(1), np.ones(1))
    >>> slope, curvature
    (array([0.5]), array([-0.25]))
    """
    z = y * margins
    if link == "logit":
        return y * expit(-z), -expit(z) * expit(-z)
    ratio = np.exp(-(z**2) / 2 - np.log(2 * np.pi) / 2 - log_ndtr(z))
    return y * ratio, -ratio * (z + ratio)


def terms(
    link: str, margins: Floats, y: Floats, offsets: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """a_i and b_i of the quadratic a (beta'x)^2 + b (beta'x) + c at the given margins (appendix A).

    Not in the paper: more than 8 on the wrong side a logistic loss is nearly a line, and the minimum of its parabola
    far beyond where it turns. There it is the one that touches the loss and is nowhere below it.
    """
    slope, curvature = derivatives(link, margins + offsets, y)
    wrong = -y * (margins + offsets)
    curvature = np.where(wrong > 8, np.minimum(curvature, -0.5 / np.maximum(wrong, 8)), curvature)
    return curvature / 2, slope - margins * curvature


def objective(
    X: Floats,
    y: Floats,
    beta: Floats,
    gamma: float,
    link: str = "logit",
    offsets: Floats | float = 0.0,
) -> float:
    """What is minimised: minus eq. 3."""
    return float(gamma * np.abs(beta).sum() - log_likelihood(link, X @ beta + offsets, y).sum())


def shooting(psi: Floats, theta: Floats, beta: Floats, gamma: float, tol: float = 1e-6) -> Floats:
    """Algorithm 1: maximise beta' Psi beta + beta' theta - gamma |beta|, coordinate by coordinate.

    >>> shooting(-np.eye(2), np.array([4.0, 0.5]), np.zeros(2), gamma=1.0)
    array([1.5, 0. ])
    """
    beta = beta.copy()
    for _ in range(100_000):
        before = beta.copy()
        for j in range(len(beta)):
            if psi[j, j] == 0:
                continue
            omega = 2 * (psi[j] @ beta - psi[j, j] * beta[j]) + theta[j]
            if abs(omega) <= gamma:
                beta[j] = 0
            else:
                beta[j] = (np.sign(omega) * gamma - omega) / (2 * psi[j, j])
        if np.linalg.norm(beta - before) <= tol * np.linalg.norm(before):
            break
    return beta


def online(
    X: Floats,
    y: Floats,
    gamma: float,
    link: str = "logit",
    tol: float = 1e-6,
    horizon: int = 0,
    offsets: Floats | None = None,
) -> Floats:
    """Algorithm 2: the weights after each example, one row each.

    Not in the paper: an example far on the wrong side has next to no curvature under the logit link, so its model
    would send the weights to infinity; its curvature is at least |slope| / (8 + 4 |margin|).
    """
    d = X.shape[1]
    psi, theta, beta = np.zeros((d, d)), np.zeros(d), np.zeros(d)
    path = np.empty(X.shape)
    for i, x in enumerate(X):
        margin = float(x @ beta)
        score = margin + (0.0 if offsets is None else offsets[i])
        slope, curvature = (float(v[0]) for v in derivatives(link, np.array([score]), y[i : i + 1]))
        curvature = min(curvature, -abs(slope) / (8 + 4 * abs(score)))
        psi += curvature / 2 * np.outer(x, x)
        theta += (slope - margin * curvature) * x
        now = gamma * min(1.0, (i + 1) / horizon) if horizon else gamma
        beta = shooting(psi, theta, beta, now, tol)
        path[i] = beta
    return path


def multipass(
    X: Floats,
    y: Floats,
    gamma: float,
    passes: int,
    link: str = "logit",
    tol: float = 1e-10,
    offsets: Floats | float = 0.0,
) -> Floats:
    """The MP algorithm of section 5: the weights after each pass, one row each."""
    beta = np.zeros(X.shape[1])
    path = np.empty((passes, X.shape[1]))
    for z in range(passes):
        a, b = terms(link, X @ beta, y, offsets)
        beta = shooting((X.T * a) @ X, X.T @ b, beta, gamma, tol)
        path[z] = beta
    return path


def reduced(
    X: Floats, y: Floats, gamma: float, passes: int, link: str = "logit", tau: float = 0.8
) -> Floats:
    """The RMMP algorithm, Algorithm 3 with the margin tau of section 5.1: the weights after each pass."""
    beta = np.zeros(X.shape[1])
    active = np.zeros(X.shape[1], dtype=bool)
    path = np.empty((passes, X.shape[1]))
    for z in range(passes):
        a, b = terms(link, X @ beta, y)
        theta = X.T @ b
        # appendix B: Omega of all features without Psi
        omega = 2 * (X.T @ (a * (X @ beta))) - 2 * (a @ X**2) * beta + theta
        S = np.flatnonzero(active)
        XS = X[:, S]
        beta[S] = shooting((XS.T * a) @ XS, theta[S], beta[S], gamma, 1e-10)
        active = np.abs(omega) >= tau * gamma
        path[z] = beta
    return path


def hard_model(
    X: Floats, y: Floats, at: Floats, hard: NDArray[np.bool_], beta: Floats, link: str = "logit"
) -> tuple[float, Floats]:
    """Value and gradient at `beta` of a loss: hard examples as they are, others by their quadratic model at `at`.

    Not in the paper, whose model is quadratic in all of them.

    >>> X, y, none = np.eye(2), np.ones(2), np.zeros(2, dtype=bool)
    >>> value, slope = hard_model(X, y, np.zeros(2), none, np.array([1.0, 0.0]))
    >>> round(value, 4), slope
    (1.0113, array([-0.25, -0.5 ]))
    """
    slope, curvature = derivatives(link, X @ at, y)
    moved = X @ (beta - at)
    parabola = -log_likelihood(link, X @ at, y) - slope * moved - curvature * moved**2 / 2
    here, _ = derivatives(link, X @ beta, y)
    value = np.where(hard, -log_likelihood(link, X @ beta, y), parabola).sum()
    gradient = -X.T @ np.where(hard, here, slope + curvature * moved)
    return float(value), np.asarray(gradient, dtype=np.float64)


def probit_em(
    X: Floats, y: Floats, gamma: float, steps: int = 20_000, tol: float = 1e-12
) -> Floats:
    """L1 probit regression by the EM algorithm of Figueiredo & Jain 2001.

    A weight is normal with a variance that is exponentially distributed, a label is the sign of a normal variable
    around the margin: both are hidden. E: 1 / variance is gamma / |beta| in the mean, the normal variable is
    margin + slope. M: a ridge regression of the latter.
    """
    beta: Floats = np.asarray(np.linalg.lstsq(X, y, rcond=None)[0], dtype=np.float64)
    gram = X.T @ X
    for _ in range(steps):
        slope, _ = derivatives("probit", X @ beta, y)
        hidden = X @ beta + slope
        u = np.sqrt(
            np.abs(beta) / gamma
        )  # the ridge as U (I + U X'X U)^-1 U X'v, so that beta_j = 0 is no division
        new: Floats = u * np.linalg.solve(
            np.eye(len(u)) + u[:, None] * gram * u, u * (X.T @ hidden)
        )
        if np.abs(new - beta).max() < tol:
            return new
        beta = new
    return beta
