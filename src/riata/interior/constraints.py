"""Convex constraints c(x) < 0: what a constraint is, and those that come ready made."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog

from riata.errors import RiataError

Floats = NDArray[np.float64]
Matrix = Any
"""A dense array or a scipy sparse matrix."""


class ConstraintsError(RiataError, ValueError):
    """Constraints that contradict each other, or a start that violates one of them."""


class Constraints(Protocol):
    """Convex functions c that stay below zero. Only the first two methods are needed.

    - `curvature(x, z)`: sum of z_i times the Hessian of c_i, (n, n); left out where c is linear.
    - `name(i)`: how a message calls constraint i.
    - `start()`: a point inside, used where no other is given.
    - `equalities()`: a matrix A; steps stay in the plane A x = A x0.
    - `lift(x)`, `lower(w)`, `pull(g)`: where the method works in other variables w than the x of the problem:
      there, back again, and the gradient in w for a gradient in x. All of the above are then in w.
    """

    def values(self, x: Floats) -> Floats:
        """c(x): below zero inside."""

    def jacobian(self, x: Floats) -> Matrix:
        """The derivative of c at x, (m, n)."""


def _vector(name: str, value: ArrayLike) -> Floats:
    array = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if array.ndim != 1 or np.isnan(array).any():
        raise ConstraintsError(f"{name} must be one row of numbers, without NaN")
    return array


def _compact(A: Matrix) -> Matrix:
    """Sparse only where that pays."""
    return A if A.shape[0] * A.shape[1] > 4096 else A.toarray()


class Linear:
    """A x < b, with A dense or sparse.

    >>> Linear([[1.0, 1.0]], [2.0]).values(np.array([0.5, 0.5]))
    array([-1.])
    """

    def __init__(self, A: Matrix, b: ArrayLike):
        self.A = sparse.csr_array(A) if sparse.issparse(A) else np.atleast_2d(np.asarray(A, float))
        self.b = _vector("b", b)
        finite = np.isfinite(self.A.data if sparse.issparse(self.A) else self.A).all()
        if self.A.shape[0] != len(self.b) or not finite or not np.isfinite(self.b).all():
            raise ConstraintsError(
                f"A {self.A.shape} and b ({len(self.b)},) must be finite and have a row for each constraint"
            )

    def values(self, x: Floats) -> Floats:
        values: Floats = self.A @ x - self.b
        return values

    def jacobian(self, x: Floats) -> Matrix:
        return self.A

    def name(self, i: int) -> str:
        return f"row {i} of A x < b"

    def start(self) -> Floats:
        """The centre of the largest ball that fits inside, of radius 1 at most."""
        lengths = np.sqrt(np.asarray((self.A * self.A).sum(axis=1))).ravel()
        n = self.A.shape[1]
        stack = sparse.hstack if sparse.issparse(self.A) else np.hstack
        found = linprog(
            np.append(np.zeros(n), -1.0),
            A_ub=stack([self.A, lengths[:, None]]),
            b_ub=self.b,
            bounds=[(None, None)] * n + [(None, 1.0)],
        )
        if not found.success or not found.x[-1] > 1e-12:
            raise ConstraintsError(
                "the constraints contradict each other: no point satisfies all of them strictly"
            )
        return np.asarray(found.x[:-1])


class Box(Linear):
    """low < x < high, for each entry or one pair for all; infinite where there is no bound.

    >>> Box([0, -1], [np.inf, 1]).values(np.array([2.0, 0.0]))
    array([-2., -1., -1.])
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, n: int | None = None):
        lo, hi = _vector("low", low), _vector("high", high)
        size = max(len(lo), len(hi)) if n is None else n
        self.low, self.high = np.broadcast_to(lo, size).copy(), np.broadcast_to(hi, size).copy()
        wrong = np.flatnonzero(~(self.low < self.high))
        if len(wrong):
            i = wrong[0]
            raise ConstraintsError(
                f"the bounds of x[{i}] contradict each other: no number lies strictly between "
                f"{self.low[i]:g} and {self.high[i]:g}"
            )
        below, above = np.flatnonzero(np.isfinite(self.low)), np.flatnonzero(np.isfinite(self.high))
        self.entries = np.concatenate([below, above])
        self.signs = np.concatenate([-np.ones(len(below)), np.ones(len(above))])
        rows = np.arange(len(self.entries))
        super().__init__(
            _compact(sparse.csr_array((self.signs, (rows, self.entries)), shape=(len(rows), size))),
            np.concatenate([-self.low[below], self.high[above]]),
        )

    def name(self, i: int) -> str:
        entry = self.entries[i]
        if self.signs[i] < 0:
            return f"x[{entry}] > {self.low[entry]:g}"
        return f"x[{entry}] < {self.high[entry]:g}"

    def start(self) -> Floats:
        """Zero or the middle of the bounds, at most 1 inside the nearer one."""
        low, high = np.maximum(self.low, -1e300), np.minimum(self.high, 1e300)
        reach = np.minimum(1.0, (high / 2 - low / 2))
        return np.asarray(np.clip(0.0, low + reach, high - reach))


class Simplex(Box):
    """x > 0 with a fixed sum: the entries of x are shares of `total`.

    >>> Simplex(4).start()
    array([0.25, 0.25, 0.25, 0.25])
    """

    def __init__(self, n: int, total: float = 1.0):
        if not (n >= 2 and 0 < total < np.inf):
            raise ConstraintsError(
                f"a simplex of {n} entries that add up to {total:g} has no inside"
            )
        super().__init__(0.0, np.inf, n)
        self.total = float(total)

    def start(self) -> Floats:
        return np.full(len(self.low), self.total / len(self.low))

    def equalities(self) -> Matrix:
        return np.ones((1, len(self.low)))

    def lift(self, x: Floats) -> Floats:
        if abs(x.sum() - self.total) > 1e-9 * self.total:
            raise ConstraintsError(f"the start adds up to {x.sum():g}, not to {self.total:g}")
        return x

    def lower(self, w: Floats) -> Floats:
        return w

    def pull(self, g: Floats) -> Floats:
        return g


class L1Ball(Linear):
    """sum abs(x) < radius. The method works with x = u - v, u and v > 0, sum (u + v) < radius.

    >>> ball = L1Ball(3, radius=2.0)
    >>> ball.lower(ball.start())
    array([0., 0., 0.])
    """

    def __init__(self, n: int, radius: float = 1.0):
        if not (n >= 1 and 0 < radius < np.inf):
            raise ConstraintsError(f"an L1 ball of {n} entries and radius {radius:g} has no inside")
        self.n, self.radius = n, float(radius)
        rows = [-sparse.eye_array(2 * n), sparse.csr_array(np.ones((1, 2 * n)))]
        above = np.append(np.zeros(2 * n), self.radius)
        super().__init__(_compact(sparse.vstack(rows, format="csr")), above)

    def name(self, i: int) -> str:
        return f"sum abs(x) < {self.radius:g}" if i == 2 * self.n else f"half {i} > 0"

    def start(self) -> Floats:
        return np.full(2 * self.n, self.radius / (4 * self.n))

    def lift(self, x: Floats) -> Floats:
        room = (self.radius - np.abs(x).sum()) / (4 * self.n)
        if not room > 0:
            raise ConstraintsError(
                f"the start violates sum abs(x) < {self.radius:g}: it is {np.abs(x).sum():g}"
            )
        return np.asarray(np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)]) + room)

    def lower(self, w: Floats) -> Floats:
        return w[: self.n] - w[self.n :]

    def pull(self, g: Floats) -> Floats:
        return np.concatenate([g, -g])


class All:
    """Several constraints at once, on the same variables.

    >>> both = All(Box(0, np.inf, n=2), Linear([[1.0, 1.0]], [1.0]))
    >>> both.values(np.array([0.25, 0.25])), both.name(2)
    (array([-0.25, -0.25, -0.5 ]), 'row 0 of A x < b')
    """

    def __init__(self, *parts: Constraints):
        lifted = next((p for p in parts if hasattr(p, "lift")), None)
        if lifted is not None or not parts:
            raise ConstraintsError(
                f"{type(lifted).__name__ if lifted else 'nothing'} cannot be combined: "
                "write it as Linear constraints"
            )
        self.parts = parts

    def values(self, x: Floats) -> Floats:
        return np.concatenate([part.values(x) for part in self.parts])

    def jacobian(self, x: Floats) -> Matrix:
        rows = [part.jacobian(x) for part in self.parts]
        if all(sparse.issparse(r) for r in rows):
            return sparse.vstack(rows, format="csr")
        return np.vstack([r.toarray() if sparse.issparse(r) else r for r in rows])

    def _sizes(self, x: Floats) -> list[int]:
        return [len(part.values(x)) for part in self.parts]

    def curvature(self, x: Floats, z: Floats) -> Matrix | None:
        pieces = np.split(z, np.cumsum(self._sizes(x))[:-1])
        found = [
            part.curvature(x, piece)
            for part, piece in zip(self.parts, pieces, strict=True)
            if hasattr(part, "curvature")
        ]
        found = [matrix for matrix in found if matrix is not None]
        return sum(found[1:], start=found[0]) if found else None

    def name(self, i: int) -> str:
        for part in self.parts:
            if not isinstance(part, Linear):
                break  # how many it has is known only at a point
            if i < len(part.b):
                return part.name(i)
            i -= len(part.b)
        return f"constraint {i}"

    def start(self) -> Floats:
        linear = [part for part in self.parts if isinstance(part, Linear)]
        if len(linear) < len(self.parts):
            raise ConstraintsError("give a start inside these constraints: they are not all linear")
        rows = sparse.vstack([sparse.csr_array(part.A) for part in linear], format="csr")
        return Linear(rows, np.concatenate([part.b for part in linear])).start()
