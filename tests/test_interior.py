"""riata.interior: the general method, its constraints, and that the delta rule is a special case of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize

from riata.errors import RiataError
from riata.interior import (
    All,
    Box,
    ConstraintsError,
    L1Ball,
    Linear,
    Simplex,
    StoppedError,
    harmonic,
    minimize,
)
from riata.learners import InteriorPoint
from riata.reference.linear import loss_slope
from tests.problems import block_of, dense_rows, labels_for


class Disc:
    """sum x^2 < 1: a curved constraint."""

    def values(self, x):
        return np.array([x @ x - 1])

    def jacobian(self, x):
        return 2 * x[None, :]

    def curvature(self, x, z):
        return 2 * z[0] * np.eye(len(x))


def polygon(thin=False):
    A = np.array([[1.0, 2, 0], [-1, 0, 1], [0, -1, -1], [0, 0, 1], [0, -3, 0.5]])
    return Linear(sparse.csr_array(A) if thin else A, np.array([2.0, 1, 1, 1.5, 2]))


MANY = {
    "box": (Box([-1, 0, -np.inf], [2, np.inf, 0.5]), None),
    "simplex": (Simplex(3, total=2.0), None),
    "l1 ball": (L1Ball(3, radius=1.5), np.array([0.2, -0.3, 0.1])),
    "linear": (polygon(), None),
    "sparse linear": (polygon(thin=True), None),
    "disc": (Disc(), np.zeros(3)),
    "box and disc": (All(Box(-0.5, 0.9, n=3), Disc()), np.zeros(3)),
}


def inside(name, x):
    if name == "simplex":
        return (x > 0).all() and x.sum() == pytest.approx(2.0, abs=1e-9)
    if name == "l1 ball":
        return np.abs(x).sum() < 1.5
    return (MANY[name][0].values(x) < 0).all()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_delta_rule_is_minimize_on_two_halves(loss, fit_intercept):
    """The kernel that costs the features seen takes the steps of the general method, with the same gradients."""
    d, n, l1 = 12, 80, 0.05
    X = dense_rows(n, d, density=0.6, rare=False)
    y = labels_for(X, 2 if loss == "logistic" else 0)
    learner = InteriorPoint(
        loss=loss,
        l1=l1,
        update="paper",
        sigma=0.3,
        k0=2,
        start=1,
        dual=1,
        dimension=d,
        fit_intercept=fit_intercept,
    )
    before = learner.learn(block_of(X, y))[:, 0]
    rows = iter(range(n))
    seen = []

    def gradient(x, rng):
        i = next(rows)
        p = X[i] @ (x[:d] - x[d : 2 * d]) + (x[-1] if fit_intercept else 0)
        seen.append(p)
        slope = loss_slope(loss, p, 2 * y[i] - 1 if loss == "logistic" else y[i])
        return np.concatenate([l1 + slope * X[i], l1 - slope * X[i], [slope] * fit_intercept])

    free = [-np.inf] * fit_intercept
    found = minimize(
        gradient, Box([0.0] * (2 * d) + free, np.inf), np.append(np.ones(2 * d), [0.0] * fit_intercept),
        sigma=0.3, step=harmonic(2), steps=n,
    )  # fmt: skip
    np.testing.assert_allclose(before, seen, rtol=1e-10, atol=1e-12)
    keys, weights = learner.coef()
    np.testing.assert_allclose(
        weights[:, 0], (found.x[:d] - found.x[d : 2 * d])[keys], rtol=1e-10, atol=1e-12
    )
    assert learner.step[0] == pytest.approx(found.step, rel=1e-10)
    if fit_intercept:
        assert learner.intercept[0] == pytest.approx(found.x[-1], rel=1e-10)


@pytest.mark.parametrize("name", [n for n in MANY if n not in ("simplex", "l1 ball")])
def test_a_step_solves_the_primal_dual_equations(name):
    constraints, x0 = MANY[name]
    x = np.asarray(constraints.start() if x0 is None else x0) + 0.01
    c, J = constraints.values(x), constraints.jacobian(x)
    J = J.toarray() if sparse.issparse(J) else J
    z = np.linspace(0.3, 1.7, len(c))
    g = np.array([0.2, -1.0, 0.7])
    H = np.array([[2.0, 0.3, 0], [0.3, 1, 0], [0, 0, 0.5]])
    after = minimize(
        lambda x, rng: g, constraints, x, z0=z, sigma=0.4, step=1e-3, steps=1, hessian=H
    )
    assert after.step == 1e-3
    dx, dz = (after.x - x) / 1e-3, (after.z - z) / 1e-3
    mu = -0.4 * z @ c / len(c)
    assert after.mu == pytest.approx(mu)
    curvature = constraints.curvature(x, z) if hasattr(constraints, "curvature") else None
    W = H if curvature is None else H + curvature
    np.testing.assert_allclose(W @ dx + J.T @ dz, -(g + J.T @ z), atol=1e-9)  # eq. 5
    np.testing.assert_allclose(z * (J @ dx) + c * dz, -(c * z + mu), atol=1e-9)


@pytest.mark.parametrize("name", list(MANY))
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-3, 1.0, 1e5]),
    sigma=st.sampled_from([1e-3, 0.5, 1.0]),
    step=st.sampled_from([0.1, 1.0, 1e3]),
)
def test_strictly_feasible_after_every_step_on_adversarial_gradients(
    name, seed, scale, sigma, step
):
    constraints, x0 = MANY[name]
    visited = []

    def check(iterate):
        visited.append(iterate.k)
        assert inside(name, iterate.x), iterate
        assert (iterate.z > 0).all()
        assert np.isfinite(iterate.z).all()

    minimize(
        lambda x, rng: scale * rng.normal(size=3) * rng.choice([1e-3, 1, 1e3]),
        constraints, x0, sigma=sigma, step=step, steps=40, rng=seed, callback=check,
    )  # fmt: skip
    assert visited == list(range(1, 41))


@pytest.mark.parametrize("name", list(MANY))
def test_converges_to_the_constrained_minimum(name):
    constraints, x0 = MANY[name]
    target = np.array([1.5, -0.7, 1.1])
    found = minimize(
        lambda x, rng: x - target + 0.3 * rng.normal(size=3),
        constraints, x0, sigma=0.1, step=harmonic(1), steps=4000, rng=1,
    )  # fmt: skip
    if name == "l1 ball":
        within = {"type": "ineq", "fun": lambda x: 1.5 - np.abs(x).sum()}
    elif name == "simplex":
        within = {"type": "eq", "fun": lambda x: x.sum() - 2.0}
    else:
        within = {"type": "ineq", "fun": lambda x: -constraints.values(x)}
    bounds = [(0, None)] * 3 if name == "simplex" else None
    exact = scipy_minimize(
        lambda x: ((x - target) ** 2).sum() / 2, np.full(3, 0.1), constraints=within, bounds=bounds
    ).x
    np.testing.assert_allclose(found.x, exact, atol=0.03)


def test_sparse_and_dense_jacobians_agree():
    runs = [
        minimize(
            lambda x, rng: x - 2 + rng.normal(size=3), polygon(thin), steps=200, rng=0,
            hessian=np.diag([1.0, 2, 3]) + 0.1,
        )
        for thin in (False, True)
    ]  # fmt: skip
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-9)
    np.testing.assert_allclose(runs[0].z, runs[1].z, rtol=1e-9)


def test_a_large_sparse_problem_is_solved_sparsely():
    n = 3000
    smooth = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n))
    slopes = Linear(sparse.vstack([smooth, -smooth], format="csr"), np.full(2 * n - 2, 0.01))
    target = np.sin(np.arange(n) / 50)
    found = minimize(lambda x, rng: x - target, slopes, np.zeros(n), sigma=0.1, step=0.9, steps=40)
    assert (np.abs(np.diff(found.x)) < 0.01).all()
    assert found.x.max() > 0.2


@pytest.mark.parametrize("make", [lambda n: Box(0, 1, n), lambda n: Simplex(n, total=n / 2)])
def test_wide_constraints_are_sparse_and_agree_with_dense_ones(make):
    n = 100
    wide = make(n)
    assert sparse.issparse(wide.jacobian(None))
    target = np.linspace(-0.5, 1.5, n)

    class Dense:
        values, start, equalities = wide.values, wide.start, getattr(wide, "equalities", None)

        def jacobian(self, x):
            return wide.jacobian(x).toarray()

    if Dense.equalities is None:
        del Dense.equalities
    runs = [
        minimize(lambda x, rng: x - target, c, sigma=0.1, step=0.5, steps=15)
        for c in (wide, Dense())
    ]
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-9)
    assert (wide.values(runs[0].x) < 0).all()


def test_schedules_and_callback():
    sigmas, steps = [], []
    found = minimize(
        lambda x, rng: x,
        Box(-1, 1, n=2),
        sigma=lambda k: sigmas.append(k) or 0.5 / k,
        step=lambda k: steps.append(k) or 0.1,
        steps=50,
        callback=lambda it: it.k == 7,
    )
    assert found.k == 7
    assert sigmas == steps == list(range(1, 8))


def test_the_same_seed_gives_the_same_bits():
    run = [
        minimize(lambda x, rng: rng.normal(size=3), Simplex(3), steps=50, rng=seed)
        for seed in (3, 3, 4)
    ]
    assert np.array_equal(run[0].x, run[1].x)
    assert not np.array_equal(run[0].x, run[2].x)


@pytest.mark.parametrize("sigma", [0, -0.5, 1.01, float("nan"), lambda k: 2.0])
def test_sigma_outside_its_range(sigma):
    with pytest.raises(ValueError, match="must be above 0 and at most 1"):
        minimize(lambda x, rng: x, Box(-1, 1), sigma=sigma)


@pytest.mark.parametrize("step", [0, -1, float("inf"), float("nan"), lambda k: 0.0])
def test_steps_must_be_positive(step):
    with pytest.raises(ValueError, match="step=.* must be above 0 and finite"):
        minimize(lambda x, rng: x, Box(-1, 1), step=step)


@pytest.mark.parametrize(
    ("constraints", "x0", "message"),
    [
        (Box(0, 2), [3.0], r"violates x\[0\] < 2: it is out by 1"),
        (Box([0, 0], 1), [0.5, 0.0], r"violates x\[1\] > 0"),
        (Box(0, 2), [np.nan], r"violates x\[0\] > 0"),
        (polygon(), [9.0, 9.0, 9.0], "violates row 0 of A x < b"),
        (Disc(), [1.0, 1.0, 0.0], "violates constraint 0"),
        (All(Box(0, 1, n=3), polygon()), [0.5, 0.9, 0.5], "violates row 0 of A x < b"),
        (Simplex(3), [0.5, 0.5, 0.5], "adds up to 1.5, not to 1"),
        (Simplex(2), [1.5, -0.5], r"violates x\[1\] > 0"),
        (L1Ball(2), [0.6, -0.7], r"violates sum abs\(x\) < 1: it is 1.3"),
    ],
)
def test_a_start_outside_names_the_constraint(constraints, x0, message):
    with pytest.raises(ConstraintsError, match=message):
        minimize(lambda x, rng: x, constraints, x0)


def test_contradictory_constraints():
    with pytest.raises(ConstraintsError, match=r"bounds of x\[1\] contradict each other"):
        Box([0, 3], [1, 2])
    with pytest.raises(ConstraintsError, match="no number lies strictly between 1 and 1"):
        Box(1, 1)
    wedge = Linear([[1.0, 0], [-1, 0]], [0.0, -1])  # x < 0 and x > 1
    for x0 in (None, [0.5, 0.0]):
        with pytest.raises(ConstraintsError, match="contradict each other: no point"):
            minimize(lambda x, rng: x, wedge, x0)
    with pytest.raises(ConstraintsError, match="contradict each other"):
        All(Box(0, 1, n=2), Linear([[1.0, 1.0]], [-1.0])).start()
    with pytest.raises(ConstraintsError, match="has no inside"):
        Simplex(3, total=0)
    with pytest.raises(ConstraintsError, match="has no inside"):
        L1Ball(3, radius=-1)
    with pytest.raises(ConstraintsError, match="cannot be combined"):
        All(Simplex(3), Disc())
    with pytest.raises(ConstraintsError, match="must be finite"):
        Linear([[np.inf]], [0.0])
    with pytest.raises(ConstraintsError, match="a row for each constraint"):
        Linear([[1.0, 2.0]], [0.0, 1.0])
    assert issubclass(ConstraintsError, RiataError)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_gradients_stop_and_keep_the_last_feasible_iterate(bad):
    count = iter(range(100))

    def gradient(x, rng):
        return x - 5 if next(count) < 9 else np.array([0.0, bad])

    with pytest.raises(StoppedError, match="step 10: entry 1 of the gradient is") as stopped:
        minimize(gradient, Box(-1, 1, n=2))
    last = stopped.value.last
    assert last.k == 9
    count = iter(range(9))
    same = minimize(lambda x, rng: x - 5, Box(-1, 1, n=2), steps=9)
    assert np.array_equal(last.x, same.x)
    assert np.array_equal(last.z, same.z)


@pytest.mark.parametrize("thin", [True, False])
def test_a_singular_system_stops_and_keeps_the_iterate(thin):
    A = np.array([[1.0, 1.0, 0.0]])
    one = Linear(sparse.csr_array(A) if thin else A, [1.0])
    for hessian in (np.zeros((3, 3)), -np.eye(3)):
        H = sparse.csr_array(hessian) if thin else hessian
        with pytest.raises(StoppedError, match="step 1: the Newton system is singular") as stopped:
            minimize(lambda x, rng: x, one, np.zeros(3), hessian=H)
        assert np.array_equal(stopped.value.last.x, np.zeros(3))


def test_a_singular_diagonal_system_stops():
    with pytest.raises(StoppedError, match="singular"):
        minimize(lambda x, rng: x, Box([0, -np.inf], [1, np.inf]), [0.5, 0.0],
                 hessian=sparse.csr_array((2, 2)))  # fmt: skip


def test_other_bad_input():
    with pytest.raises(ValueError, match="z0 must be above 0"):
        minimize(lambda x, rng: x, Box(0, 1), [0.5], z0=-1.0)
    with pytest.raises(ValueError, match=r"the gradient has shape \(2,\), the variables \(1,\)"):
        minimize(lambda x, rng: np.zeros(2), Box(0, 1), [0.5])
    with pytest.raises(ConstraintsError, match="give x0"):
        minimize(lambda x, rng: x, Disc())
    with pytest.raises(ConstraintsError, match="not all linear"):
        minimize(lambda x, rng: x, All(Box(0, 1), Disc()))
