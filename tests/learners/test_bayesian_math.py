"""The numeric ground under the Bayesian kernels, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from riata import _core
from riata.block import Block
from riata.learners import Bayesian
from riata.learners.bayesian_mixture import quantile
from tests.problems import block_of, dense_rows, labels_for


def test_probit_ratios_are_stable_far_out():
    z = np.concatenate([np.linspace(-40, 40, 4001), [-1e3, -1e8, -10.0000001, -9.9999999]])
    slope, curvature, log_value = _core.probit_derivatives(z)
    expected = np.exp(-0.5 * z * z - 0.5 * np.log(2 * np.pi) - log_ndtr(z))
    near = z > -38
    np.testing.assert_allclose(slope[near], expected[near], rtol=1e-12, atol=1e-300)
    far = z < -5  # Mills' ratio between its bounds: x < phi / Phi < x + 1 / x
    assert ((slope[far] >= -z[far]) & (slope[far] <= -z[far] - 1 / z[far])).all()
    assert ((curvature >= 0) & (curvature <= 1)).all()
    np.testing.assert_allclose(
        curvature[near], (expected * (z + expected))[near], rtol=1e-9, atol=1e-15
    )
    np.testing.assert_allclose(log_value[:4001], log_ndtr(z[:4001]), rtol=1e-12, atol=1e-300)


def test_probit_slope_and_curvature_are_derivatives():
    z = np.linspace(-35, 8, 500)
    h = 1e-4
    up, down = _core.probit_derivatives(z + h), _core.probit_derivatives(z - h)
    slope, curvature, _ = _core.probit_derivatives(z)
    np.testing.assert_allclose((up[2] - down[2]) / (2 * h), slope, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(-(up[0] - down[0]) / (2 * h), curvature, rtol=1e-5, atol=1e-7)


def test_normals_are_normal_and_depend_on_seed_and_time_alone():
    draws = np.concatenate([_core.standard_normals(1, t, 101) for t in range(1000)])
    assert abs(draws.mean()) < 0.02
    assert abs(draws.std() - 1) < 0.02
    np.testing.assert_array_equal(_core.standard_normals(1, 5, 101), draws[505:606])
    assert not np.array_equal(_core.standard_normals(2, 5, 101), draws[505:606])


def test_quantiles_of_mixtures():
    rng = np.random.default_rng(0)
    means, variances = rng.normal(size=(4, 3)), rng.random((4, 3)) + 0.1
    weights = np.array([0.2, 0.5, 0.3])
    draws = rng.choice(3, size=200_000, p=weights)
    for level in (0.05, 0.5, 0.95):
        found = quantile(level, means, variances, weights)
        for i in range(4):
            sample = rng.normal(means[i, draws], np.sqrt(variances[i, draws]))
            assert abs((sample <= found[i]).mean() - level) < 0.005


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("b", [1e-8, 1.0, 1e4, 1e12, 1e30])
def test_newton_finds_the_peak_wherever_it_is(link, b):
    """One feature with x = 1 and prior variance b: eq. 15 must hold for the mean that comes out."""
    for mean in (-30.0, 0.0, 30.0):
        learner = Bayesian(
            link=link,
            mean="newton",
            prior_variance=min(b, 1e19),
            prior_mean=mean,
            fit_intercept=False,
        )
        variance = learner.prior_variances[0]
        learner.learn(block_of(np.ones((1, 1)), np.ones(1)))
        _, means, _ = learner.posterior()
        w = means[0, 0, 0]
        slope = (
            1 / (1 + np.exp(min(w, 700.0)))
            if link == "logit"
            else _core.probit_derivatives(np.array([w]))[0][0]
        )
        assert (w - mean) / variance == pytest.approx(slope, rel=1e-6, abs=1e-12)


EXTREME = st.sampled_from([1e-45, 1e-30, 1e-10, 1.0, 7.5, 1e6, 1e20, 1e30, 3.4e38])


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 4), EXTREME, st.booleans()), min_size=1, max_size=5,
                     unique_by=lambda e: e[0]),
            st.integers(0, 1),
            st.sampled_from([0.0, 1e-300, 1.0, 1e10, 1e300]),
        ),
        min_size=1, max_size=12,
    ),
    update=st.sampled_from(["marginal", "joint", "adf", "vb"]),
    mean=st.sampled_from(["taylor", "newton"]),
    variance=st.sampled_from(["curvature", "height"]),
    link=st.sampled_from(["logit", "probit"]),
    prior=st.sampled_from(["auto", 1e-20, 1.0, 1e20]),
    half_life=st.sampled_from([None, 1e-3, 5.0]),
)  # fmt: skip
def test_no_nan_ever_enters_the_state(rows, update, mean, variance, link, prior, half_life):
    learner = Bayesian(
        prior_variance=prior, update=update, mean=mean, variance=variance, link=link,
        half_life=half_life, samples=4, share=0.1, value=("raw", "log1p"),
    )  # fmt: skip
    for entries, label, weight in rows:
        entries = sorted(entries)
        block = Block(
            np.array([0, len(entries)]),
            np.array([e[0] for e in entries], dtype=np.int32),
            np.array([-e[1] if e[2] else e[1] for e in entries], dtype=np.float32),
            np.array([float(label)]),
            np.array([weight]),
        )
        assert np.isfinite(learner.learn(block)).all()
        assert np.isfinite(learner.score(block)).all()
        for name, array in learner.state().items():
            assert np.isfinite(array).all(), name
        _, means, variances = learner.posterior()
        assert np.isfinite(means).all()
        assert (variances > 0).all()
        assert np.isfinite(variances).all()


def test_a_huge_value_pins_its_weight():
    """Documented: a value so large that the variance would vanish leaves a weight that is sure, not NaN."""
    learner = Bayesian(prior_variance=1.0, fit_intercept=False)
    block = block_of(np.array([[1e30]]), np.ones(1))
    for _ in range(5):
        learner.learn(block)
    assert np.isfinite(learner.coef()[1]).all()
    assert 0 <= learner.coef_std()[0, 0] < 1.1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior_variance": 0}, "prior_variance=0 must be above 0"),
        ({"prior_variance": -1.0}, "prior_variance=-1.0 must be above 0"),
        ({"prior_variance": float("nan")}, "prior_variance"),
        ({"prior_variance": 1e300}, "between"),
        ({"prior_variance": "automatic"}, "prior_variance='automatic' is not a number"),
        ({"prior_variance": {}}, "names no prior"),
        ({"prior_variance": {"user": 0.0}}, r"prior_variance\['user'\]=0.0 must be above 0"),
        ({"prior_mean": float("inf")}, "prior_mean"),
        ({"intercept_variance": 0}, "intercept_variance"),
        ({"value": "cubed"}, "value='cubed'"),
        ({"value": ("raw", "raw")}, "each view once"),
        ({"link": "cloglog"}, "link"),
        ({"update": "exact"}, "update"),
        ({"mean": "mode"}, "mean"),
        ({"variance": "none"}, "variance"),
        ({"half_life": 0}, "half_life=0 must be above 0"),
        ({"share": 1.0}, "share"),
        ({"samples": 0, "update": "vb"}, "samples"),
        ({"covariance": "full"}, "update='joint'"),
        ({"store": "disk"}, "store"),
        ({"outputs": 0}, "outputs"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Bayesian(**parameters)


def test_prior_variance_reads_what_a_command_line_gives():
    assert Bayesian(prior_variance="0.5").prior_variances == (0.5,)
    learner = Bayesian(prior_variance="user=0.5, *=2")
    assert learner.parameters()["prior_variance"] == {"user": 0.5, "*": 2.0}
    assert Bayesian(value="raw, log1p").views == ("raw", "log1p")


def test_a_block_without_labels_is_refused():
    with pytest.raises(ValueError, match="without labels"):
        Bayesian().learn(block_of(dense_rows(5, 3)))


def test_parameters_and_state_survive_pickling():
    import pickle

    X = dense_rows(50, 10)
    learner = Bayesian(value=("raw", "binary"), half_life=10.0)
    learner.learn(block_of(X, labels_for(X, 2)))
    again = pickle.loads(pickle.dumps(learner))
    assert again == learner
    np.testing.assert_array_equal(again.score(block_of(X)), learner.score(block_of(X)))
