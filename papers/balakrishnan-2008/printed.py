"""MP and RMMP as the paper prints them: Shooting to its end after every pass, and no step is ever shortened.

Riata solves a pass only as exactly as its model deserves, and shortens a step that raised the objective: that costs no
more passes to the optimum, but other distances on the way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from riata.reference.sketch import terms

Floats = NDArray[np.float64]
TAU = 0.8
SWEEPS = 400


def shooting(psi: Floats, theta: Floats, beta: Floats, gamma: float) -> Floats:
    """Algorithm 1; between sweeps over all weights those that are not zero are swept alone."""
    beta, pull, diagonal = beta.copy(), 2 * (psi @ beta), np.diag(psi).copy()
    for sweep in range(SWEEPS):
        moved, everyone = 0.0, sweep % 10 == 0
        chosen = np.flatnonzero(diagonal < 0) if everyone else np.flatnonzero(beta)
        for j in chosen.tolist():
            omega = pull[j] - 2 * diagonal[j] * beta[j] + theta[j]
            new = (
                0.0 if abs(omega) <= gamma else (np.sign(omega) * gamma - omega) / (2 * diagonal[j])
            )
            if new != beta[j]:
                pull += 2 * (new - beta[j]) * psi[j]
                moved = max(moved, abs(new - beta[j]))
                beta[j] = new
        if moved < 1e-9 and everyone:
            break
    return beta


def passes(
    X: sparse.csr_matrix, y: Floats, gamma: float, most: int, k: int | None = None, reduced: bool = True
) -> tuple[list[Floats], int]:  # fmt: skip
    """Weights after each pass, the intercept last and penalised like the others; how many were active after the first.

    MP solves the model of a pass for all features: those that violate its optimum are added until none does. RMMP has
    room for k features, those that are not zero first, then those with the largest |Omega|.
    """
    wide = sparse.hstack([X.astype(np.float64), np.ones((X.shape[0], 1))]).tocsc()
    squares = wide.multiply(wide).T.tocsr()
    beta, active, first, found = np.zeros(wide.shape[1]), np.zeros(0, dtype=np.intp), 0, []
    for _ in range(most):
        margins = wide @ beta
        a, b = terms("logit", margins, y)
        theta = wide.T @ b
        omega = 2 * (wide.T @ (a * margins)) - 2 * (squares @ a) * beta + theta
        pulls, live = np.abs(omega), np.flatnonzero(beta)
        near = np.flatnonzero(pulls >= (gamma if k is None else TAU * gamma))
        others = np.setdiff1d(near, live)
        others = others[np.argsort(-pulls[others], kind="stable")]
        room = len(others) if k is None else max(0, k - len(live))
        following = np.sort(np.concatenate([live, others[:room]]))
        first = first or int((pulls >= gamma).sum())
        active = active if reduced else following
        while len(active):
            part = wide[:, active].tocsr()
            psi = (part.multiply(a[:, None]).T @ part).toarray()
            beta = beta.copy()
            beta[active] = shooting(psi, theta[active], beta[active], gamma)
            violated = np.abs(2 * (wide.T @ (a * (wide @ beta))) + theta) > gamma * (1 + 1e-9)
            missing = np.setdiff1d(np.flatnonzero(violated & (beta == 0)), active)
            if reduced or len(missing) == 0:
                break
            active = np.union1d(active, missing)
        active = following
        found.append(beta)
    return found, first
