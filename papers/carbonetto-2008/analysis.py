"""The proposition of section 4.1, and the noisy central path and the stability of section 4.2, in numbers.

Appendix B, which has the details of the latter, is not at hand: what section 4.2 says of it is looked at.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
import simulated as s

DIGITS = 60
SIZE = 8
AHEAD = ("0.5", "0.1", "0.01")
"""By what part the barrier falls in a step along the central path."""


def distances(passes: tuple[int, ...], seeds: int) -> list[list[float]]:
    """By number of passes and data set: the distance of the iterate from the optimum, as a share of the optimum."""
    found: list[list[float]] = [[] for _ in passes]
    for seed in range(seeds):
        X, y = s.data_set(seed)
        exact = s.exact(X, y, s.PENALTY)
        for row, count in zip(found, passes, strict=True):
            ours = s.interior_point(X, y, s.PENALTY, 50, passes=count)
            row.append(float(np.linalg.norm(ours - exact) / np.linalg.norm(exact)))
    return found


def path_point(Q: Any, q: Any, mu: Any, near: Any = None) -> Any:
    """The point of the central path of 1/2 x'Qx - q'x, x >= 0: x_i (Qx - q)_i = mu, by damped Newton steps.

    Noise in the gradient is a part of q. `near` is where to begin, if a point close by is known.
    """
    n = len(q)
    x = mp.matrix([mp.mpf(1)] * n) if near is None else near.copy()
    levels = range(60, -1, -1) if near is None else (0,)
    for level in [mu * mp.mpf(4) ** k for k in levels]:
        for _ in range(200):
            g = Q * x - q
            residual = mp.matrix([g[i] - level / x[i] for i in range(n)])
            if mp.norm(residual) < mp.mpf(10) ** (-DIGITS // 2):
                break
            H = Q.copy()
            for i in range(n):
                H[i, i] += level / x[i] ** 2
            step = mp.lu_solve(H, -residual)
            length = mp.mpf(1)
            while any(x[i] + length * step[i] <= 0 for i in range(n)):
                length /= 2
            x += length * step
    return x


def newton_step(Q: Any, x: Any, z: Any, y: Any, mu: Any) -> tuple[Any, Any]:
    """Equations 6 and 7 with c(x) = -x and the gradient estimate y, in float64."""
    matrix = Q + np.diag(z / x)
    step = np.linalg.solve(matrix, -(y - mu / x))
    return step, -(z - mu / x + z / x * step)


def exact_step(Q: Any, x: Any, z: Any, y: Any, mu: Any) -> tuple[Any, Any]:
    """The same in many digits."""
    n = len(x)
    matrix = Q.copy()
    for i in range(n):
        matrix[i, i] += z[i] / x[i]
    step = mp.lu_solve(matrix, -mp.matrix([y[i] - mu / x[i] for i in range(n)]))
    return step, -mp.matrix([z[i] - mu / x[i] + z[i] / x[i] * step[i] for i in range(n)])


def problem(seed: int = 0) -> tuple[Any, Any, Any]:
    """A quadratic objective with half of its variables at zero in the optimum, and noise for its gradient."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(SIZE, SIZE))
    return A @ A.T / SIZE + np.eye(SIZE), rng.normal(size=SIZE), 0.1 * rng.normal(size=SIZE)


def tangents(levels: tuple[float, ...], seed: int = 0) -> list[list[Any]]:
    """At points of the noisy central path, in 60 digits: how far equation 9 is from its derivative by differences, as a
    share of it; and what is left of the way to a further point after the Newton step of equation 10 towards it."""
    Q, q, noise = problem(seed)
    rows = []
    with mp.workdps(DIGITS):
        Qm, qm, em = mp.matrix(Q.tolist()), mp.matrix(q.tolist()), mp.matrix(noise.tolist())
        near = None
        for level in levels:
            mu = mp.mpf(level)
            x = near = path_point(Qm, qm - mu * em, mu, near)
            z = mp.matrix([mu / v for v in x])

            def further(h: Any, mu: Any = mu, x: Any = x) -> Any:
                """The point with a barrier smaller by h, and half as much noise again by h, relative to mu."""
                there = mu * (1 - h)
                found = path_point(Qm, qm - mu * (1 + h / 2) * em, there, x)
                return mp.matrix([*found, *(there / v for v in found)])

            def step(h: Any, mu: Any = mu, x: Any = x, z: Any = z) -> Any:
                """Equation 10, without elimination: H dx - dz = -(y* - y), z dx + x dz = mu* - mu."""
                whole = mp.zeros(2 * SIZE)
                for i in range(SIZE):
                    for j in range(SIZE):
                        whole[i, j] = Qm[i, j]
                    whole[i, SIZE + i], whole[SIZE + i, i], whole[SIZE + i, SIZE + i] = (
                        -1,
                        z[i],
                        x[i],
                    )
                right = mp.matrix([*(-mu * h / 2 * e for e in em), *([-mu * h] * SIZE)])
                return mp.lu_solve(whole, right)

            tiny, here = mp.mpf(10) ** -12, mp.matrix([*x, *z])
            slope = (further(tiny) - further(-tiny)) / (2 * tiny)
            off = mp.norm(step(mp.mpf(1)) - slope) / mp.norm(slope)
            left = [
                mp.norm(further(h) - here - step(h)) / mp.norm(further(h) - here)
                for h in map(mp.mpf, AHEAD)
            ]
            rows.append([level, float(off), *map(float, left)])
    return rows


def stability(levels: tuple[float, ...], seed: int = 0) -> list[list[float]]:
    """At points of the noisy central path: the condition number; how wrong the step is in float64, dx as a share of
    itself, dz as a share of z and of itself; how far noise of size 1 in the gradient moves x where a bound is active, x
    elsewhere, and z."""
    Q, q, noise = problem(seed)
    rows = []
    with mp.workdps(DIGITS):
        Qm, qm = mp.matrix(Q.tolist()), mp.matrix(q.tolist())
        x = None
        for mu in levels:
            x = path_point(Qm, qm, mp.mpf(mu), x)
            z = mp.matrix([mp.mpf(mu) / x[i] for i in range(SIZE)])
            y = Qm * x - qm + mp.matrix((noise * np.sqrt(mu)).tolist())
            xs, zs, ys = (np.array([float(v) for v in a]) for a in (x, z, y))
            # What float64 holds is the point: the steps are compared there, not at the point with all digits.
            xm, zm, ym = (mp.matrix(a.tolist()) for a in (xs, zs, ys))
            dx, dz = exact_step(Qm, xm, zm, ym, mp.mpf(0.1 * mu))
            fx, fz = newton_step(Q, xs, zs, ys, 0.1 * mu)
            wrong = [
                float(mp.norm(mp.matrix(f.tolist()) - d) / size)
                for f, d, size in (
                    (fx, dx, mp.norm(dx)),
                    (fz, dz, mp.norm(zm)),
                    (fz, dz, mp.norm(dz)),
                )
            ]
            matrix = Q + np.diag(zs / xs)
            moves = np.linalg.inv(matrix)
            active = xs < zs
            by_noise = [
                float(np.linalg.norm(m, 2))
                for m in (moves[active], moves[~active], moves * (zs / xs)[:, None])
            ]
            rows.append([mu, float(np.linalg.cond(matrix)), *wrong, *by_noise])
    return rows


def item(quick: bool) -> dict[str, Any]:
    passes = (1, 10, 100, 1000) if quick else (1, 10, 100, 1000, 10_000)
    found = distances(passes, 3 if quick else 10)
    falls = all(max(b) < max(a) for a, b in pairwise(found))
    ours = "; ".join(
        f"{n} passes {np.mean(d):.3f} (at most {max(d):.3f})" for n, d in zip(passes, found, strict=True)
    )  # fmt: skip
    levels = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
    steps, ahead = stability(levels), tangents(levels)
    worst, itself = max(max(row[2:4]) for row in steps), max(row[4] for row in steps)
    off = max(row[1] for row in ahead)
    left = [max(row[2 + k] for row in ahead) for k in range(len(AHEAD))]
    by_noise = [max(row[k] for row in steps) for k in (6, 7)]
    bound = max(row[5] / row[0] for row in steps)
    rows = [
        ["proposition: distance from the optimum, relative", "goes to zero", ours,
         "reproduced" if falls and np.mean(found[-1]) < 0.1 else "comparable: it falls slowly" if falls else "not"],
        ["equations 8 to 10: the Newton step is the tangent of the noisy central path", "equal",
         f"apart by at most {off:.0e} of it", "reproduced" if off < 1e-9 else "not"],
        ["section 4.2: what is left of the way along the path after one step", "good progress",
         "; ".join(f"{n:.1%} where μ falls by {float(h):.0%}" for n, h in zip(left, AHEAD, strict=True)),
         "reproduced" if max(left) < 0.5 else "not"],
        ["section 4.2, appendix B: error of the Newton step in float64", "ill-conditioned, but harmless",
         f"at most {worst:.0e} of Δx and of z, {itself:.0e} of Δz, with condition numbers up to {steps[-1][1]:.1e}",
         "reproduced" if worst < 1e-12 else "not"],
        ["appendix B: noise in the gradient in the place of round-off", "perturbs the step no more than that does",
         f"of size 1, it moves x by at most {by_noise[0]:.1f}, by at most {bound:.1f} μ where a bound is active, and z "
         f"by at most {by_noise[1]:.1f}, at every condition number", "reproduced" if max(by_noise) < 10 else "not"],
    ]  # fmt: skip
    tables = [
        {
            "title": "Newton steps (6, 7) in float64 at points of the noisy central path, against 60 digits; and how "
            "far noise of size 1 in the gradient moves x and z at most",
            "head": ["μ", "condition number", "error of Δx, as a share of it", "of Δz, as a share of z", "of itself",
                     "noise moves x at a bound", "other x", "z"],
            "rows": [[f"{r[0]:.0e}", f"{r[1]:.1e}", *(f"{v:.0e}" for v in r[2:5]), f"{r[5]:.1e}", f"{r[6]:.2f}",
                      f"{r[7]:.2f}"] for r in steps],
        },
        {
            "title": "The tangent of the noisy central path by equation 9 against differences; what is left of the way "
            "after one step, by how much μ falls (noise grows by half of that)",
            "head": ["μ", "apart", *(f"{float(h):.0%}" for h in AHEAD)],
            "rows": [[f"{r[0]:.0e}", f"{r[1]:.0e}", *(f"{v:.1e}" for v in r[2:])] for r in ahead],
        },
    ]  # fmt: skip
    note = (
        "The first by the paper's steps on its simulated data, λ/n = 1.25, k0 = 50; the others on a quadratic "
        "objective of 8 variables that must not be negative. The appendices are not at hand: of B, what section 4.2 "
        "says it has."
    )
    return {"rows": rows, "tables": tables, "note": note, "picture": None}
