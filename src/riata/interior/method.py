"""The interior-point stochastic gradient method: Fig. 1 of Carbonetto, Schmidt & de Freitas 2008."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from riata.errors import RiataError
from riata.interior.constraints import Constraints, ConstraintsError, Matrix

Floats = NDArray[np.float64]
Schedule = float | Callable[[int], float]

FRACTION = 0.995
"""How much of the way to the nearest bound a step may go."""
TINY = 1e-60
"""No multiplier falls below this."""
HALVINGS = 60


@dataclass(frozen=True)
class Iterate:
    """Where the method is after step k: a point strictly inside, and the multipliers of the constraints."""

    x: Floats
    z: Floats
    k: int = 0
    step: float = 0.0
    """How long the last step was, of what was allowed."""
    mu: float = 0.0
    """The barrier parameter of the last step."""


class StoppedError(RiataError, ArithmeticError):
    """The method cannot go on; `last` is the last feasible iterate."""

    def __init__(self, message: str, last: Iterate):
        super().__init__(message)
        self.last = last


def harmonic(k0: float = 1.0) -> Callable[[int], float]:
    """Step sizes 1 / (k0 + k), k = 1, 2, ...

    >>> [harmonic(50)(k) for k in (1, 50)]
    [0.0196078431372549, 0.01]
    """
    return lambda k: 1.0 / (k0 + k)


def minimize(
    gradient: Callable[[Floats, np.random.Generator], ArrayLike],
    constraints: Constraints,
    x0: ArrayLike | None = None,
    *,
    z0: ArrayLike = 1.0,
    sigma: Schedule = 0.5,
    step: Schedule | None = None,
    steps: int = 1000,
    hessian: Matrix | Callable[[Floats], Matrix] | None = None,
    rng: np.random.Generator | int | None = None,
    callback: Callable[[Iterate], object] | None = None,
) -> Iterate:
    """Minimise a convex function, of which only noisy gradients are known, under convex constraints.

    Every iterate is strictly inside the constraints. `gradient(x, rng)` is one observation of the gradient at x.
    `sigma` in (0, 1] and the longest `step` are numbers or functions of k = 1, 2, ...; the default step is
    1 / (1 + k). For convergence to the solution itself sigma has to fall, or be small. `hessian` stands for that
    of the function: the identity, a matrix, or a function of x. `callback(iterate)` is told of every step and
    ends the search by returning True.

    >>> from riata.interior import Box
    >>> found = minimize(lambda x, rng: x - 3, Box(0, 2), x0=[1.0], sigma=0.1, step=0.5, steps=60)
    >>> found.x.round(6)
    array([2.])

    A start outside is an error, and so are gradients that are not numbers:

    >>> minimize(lambda x, rng: x, Box(0, 2), x0=[-1.0])
    Traceback (most recent call last):
        ...
    riata.interior.constraints.ConstraintsError: the start violates x[0] > 0: it is out by 1
    """
    sigma_of, step_of = (
        _schedule("sigma", sigma),
        _schedule("step", harmonic() if step is None else step),
    )
    random = np.random.default_rng(rng)
    now = _start(constraints, x0, z0)
    lower = getattr(constraints, "lower", lambda w: w)
    pull = getattr(constraints, "pull", lambda g: g)
    for k in range(1, steps + 1):
        shown = Iterate(lower(now.x), now.z, now.k, now.step, now.mu)
        try:
            observed = pull(np.asarray(gradient(shown.x, random), dtype=np.float64))
            now = _move(
                now, observed, constraints, _sigma(sigma_of(k)), _longest(step_of(k)), hessian
            )
        except _CannotError as problem:
            raise StoppedError(
                f"step {k}: {problem}; `last` holds the iterate before", shown
            ) from None
        if callback is not None:
            shown = Iterate(lower(now.x), now.z, now.k, now.step, now.mu)
            if callback(shown) is True:
                break
    return Iterate(lower(now.x), now.z, now.k, now.step, now.mu)


class _CannotError(Exception):
    pass


def _schedule(name: str, value: Schedule) -> Callable[[int], float]:
    if callable(value):
        return value
    number = float(value)
    (_sigma if name == "sigma" else _longest)(
        number
    )  # a wrong constant is refused before anything is done
    return lambda k: number


def _sigma(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"sigma={value!r} must be above 0 and at most 1")
    return float(value)


def _longest(value: float) -> float:
    if not 0 < value < np.inf:
        raise ValueError(f"step={value!r} must be above 0 and finite")
    return float(value)


def _start(constraints: Constraints, x0: ArrayLike | None, z0: ArrayLike) -> Iterate:
    if x0 is None:
        if not hasattr(constraints, "start"):
            raise ConstraintsError("give x0, a point inside: these constraints name none")
        x = np.asarray(constraints.start(), dtype=np.float64)
    else:
        x = np.array(np.atleast_1d(x0), dtype=np.float64)
        x = constraints.lift(x) if hasattr(constraints, "lift") else x
    c = constraints.values(x)
    if not (c < 0).all():
        i = int(np.argmax(~(c < 0)))
        name = constraints.name(i) if hasattr(constraints, "name") else f"constraint {i}"
        if hasattr(constraints, "start") and x0 is not None:
            constraints.start()  # says so where no point is inside
        raise ConstraintsError(f"the start violates {name}: it is out by {c[i]:g}")
    z = np.array(np.broadcast_to(np.asarray(z0, dtype=np.float64), c.shape))
    if not ((z > 0) & np.isfinite(z)).all():
        raise ValueError("z0 must be above 0: multipliers of inequalities are positive")
    return Iterate(x, z)


def _move(
    now: Iterate, g: Floats, constraints: Constraints, sigma: float, longest: float, hessian: Any
) -> Iterate:
    x, z = now.x, now.z
    if g.shape != x.shape:
        raise ValueError(f"the gradient has shape {g.shape}, the variables {x.shape}")
    if not np.isfinite(g).all():
        bad = int(np.argmax(~np.isfinite(g)))
        raise _CannotError(f"entry {bad} of the gradient is {g[bad]}")
    c, J = constraints.values(x), constraints.jacobian(x)
    mu = -sigma * float(z @ c) / len(c)
    W = _lagrangian(x, z, constraints, hessian, sparse.issparse(J))
    system = W - J.T @ _times_rows(z / c, J)  # eq. 6, Sigma = Z / C
    inverse = _factorise(system, rescue=hessian is None)
    dx = _direction(inverse, mu * (J.T @ (1 / c)) - g, constraints)
    Jdx = J @ dx
    dz = -(z + mu / c + z / c * Jdx)  # eq. 7
    if not (np.isfinite(dx).all() and np.isfinite(dz).all()):
        raise _CannotError("the step is not finite: the gradient is too large for the constraints")
    a = min(longest, _until(z, dz), _until(-c, -Jdx))
    for _ in range(HALVINGS):  # needed only where constraints are curved, or in rounding
        if (constraints.values(x + a * dx) < 0).all():
            return Iterate(x + a * dx, np.maximum(z + a * dz, TINY), now.k + 1, a, mu)
        a /= 2
    return Iterate(x, z, now.k + 1, 0.0, mu)


def _until(value: Floats, change: Floats) -> float:
    """The step that uses up FRACTION of the value that falls fastest."""
    fastest = float(np.max(-change / value, initial=0.0))
    return FRACTION / fastest if fastest > 0 else np.inf


def _times_rows(d: Floats, J: Matrix) -> Matrix:
    return sparse.diags_array(d) @ J if sparse.issparse(J) else d[:, None] * J


def _lagrangian(x: Floats, z: Floats, constraints: Constraints, hessian: Any, thin: bool) -> Matrix:
    """W = H + sum z_i Hessian of c_i."""
    W = hessian(x) if callable(hessian) else hessian
    if W is None:
        W = sparse.eye_array(len(x)) if thin else np.eye(len(x))
    curvature = constraints.curvature(x, z) if hasattr(constraints, "curvature") else None
    if curvature is not None:
        W = W + curvature
    if thin:
        return W if sparse.issparse(W) else np.asarray(W, dtype=np.float64)
    return W.toarray() if sparse.issparse(W) else np.asarray(W, dtype=np.float64)


def _direction(
    inverse: Callable[[Floats], Floats], right: Floats, constraints: Constraints
) -> Floats:
    """dx of eq. 6, kept in the plane A dx = 0 where there are equalities."""
    dx = inverse(right)
    if hasattr(constraints, "equalities"):
        A = constraints.equalities()
        columns = np.column_stack([inverse(row) for row in A])
        try:
            force = linalg.solve(A @ columns, A @ dx, assume_a="pos")
        except linalg.LinAlgError:
            raise _CannotError("the equalities repeat or contradict each other") from None
        dx = dx - columns @ force
    return dx


def _factorise(system: Matrix, rescue: bool) -> Callable[[Floats], Floats]:
    """The inverse of a positive definite matrix, as a function.

    With `rescue` the matrix is known to be positive definite but for rounding, close to a bound: then a little is
    added to its diagonal.
    """
    if not np.isfinite(system.data if sparse.issparse(system) else system).all():
        raise _CannotError(
            "the Newton system is not finite: the iterate has come too close to a bound"
        )
    factor = _sparse_cholesky if sparse.issparse(system) else _cholesky
    diagonal = system.diagonal()
    for shift in (0.0, 1e-14, 1e-12, 1e-10, 1e-8) if rescue else (0.0,):
        extra = shift * np.abs(diagonal)
        inverse = factor(
            system + (sparse.diags_array(extra) if sparse.issparse(system) else np.diag(extra))
            if shift
            else system
        )
        if inverse is not None:
            return inverse
    raise _CannotError(
        "the Newton system is singular or not positive definite: give another hessian"
    )


def _cholesky(system: Floats) -> Callable[[Floats], Floats] | None:
    try:
        factor = linalg.cho_factor(system)
    except linalg.LinAlgError:
        return None
    return lambda right: np.asarray(linalg.cho_solve(factor, right))


def _sparse_cholesky(system: Matrix) -> Callable[[Floats], Floats] | None:
    """A sparse LU that pivots on the diagonal: for symmetric positive definite matrices that is Cholesky's."""
    diagonal = system.diagonal()
    if system.count_nonzero() == np.count_nonzero(diagonal):
        if not (diagonal > 0).all():
            return None
        return lambda right: np.asarray(right / diagonal)
    try:
        lu = splu(
            sparse.csc_array(system),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return None
    if not (lu.U.diagonal() > 0).all():
        return None
    return lambda right: np.asarray(lu.solve(right))
