"""The parts of papers/carbonetto-2008, on small problems."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

Paper = Callable[[str, str], ModuleType]
FOLDER = "carbonetto-2008"


def test_the_tangent_of_the_noisy_central_path(paper: Paper) -> None:
    """Equation 9 is its derivative, so that the rest of a step falls with its square; a wrong one would be seen."""
    analysis = paper(FOLDER, "analysis")
    [[_, off, half, tenth, hundredth]] = analysis.tangents((1e-3,))
    assert off < 1e-12
    assert 0.5 > half > 4 * tenth > 0
    assert tenth == pytest.approx(10 * hundredth, rel=0.2)
    before, analysis.mp = analysis.mp, Wrong(analysis.mp)
    try:
        [[_, off, *_]] = analysis.tangents((1e-3,))
    finally:
        analysis.mp = before
    assert off > 1e-6


class Wrong:
    """mpmath whose solutions of linear equations are wrong by a little."""

    def __init__(self, mp: ModuleType) -> None:
        self.mp = mp

    def __getattr__(self, name: str) -> object:
        return getattr(self.mp, name)

    def lu_solve(self, matrix: object, right: object) -> object:
        return self.mp.lu_solve(matrix, right) * (1 + self.mp.mpf(10) ** -5)


def test_noise_moves_no_more_than_round_off_does(paper: Paper) -> None:
    """Against a solution of the whole system of equation 5 with the noise in its gradient."""
    analysis = paper(FOLDER, "analysis")
    [row] = analysis.stability((1e-4,))
    _, condition, *wrong, active, other, dual = row
    assert condition > 1e4
    assert max(wrong[:2]) < 1e-14
    assert active < 1e-2
    assert max(other, dual) < 10
    Q, q, noise = analysis.problem()
    x = np.array([0.5, 1e-4] * (len(q) // 2))
    z = 1e-4 / x
    n = len(q)
    whole = np.block([[Q, -np.eye(n)], [np.diag(z), np.diag(x)]])
    for y in (Q @ x - q, Q @ x - q + noise):
        dx, dz = analysis.newton_step(Q, x, z, y, 1e-5)
        right = -np.concatenate([y - z, x * z - 1e-5])
        np.testing.assert_allclose(
            np.concatenate([dx, dz]), np.linalg.solve(whole, right), rtol=1e-8
        )
