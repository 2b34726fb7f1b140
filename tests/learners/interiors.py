"""Interior-point learners and their dense reference, for the tests of the family."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from riata import _core, learners
from riata.reference import interior as reference
from tests.problems import block_of


@dataclass(frozen=True, kw_only=True)
class InteriorPoint(learners.InteriorPoint):
    """With the paper's update; test_interior_averaged has the other."""

    update: str = "paper"


CLASSIFIES = {name: classification for name, classification, *_ in _core.losses()}


def bounded_or_not(test):
    """Without bounds and with some, of one output and of several."""
    test = pytest.mark.parametrize("outputs", [1, 3])(test)
    return pytest.mark.parametrize("bounds", [None, {"*": (-0.5, None), 3: (0.1, 2)}])(test)


def coefficients(learner, d):
    keys, weights = learner.coef()
    w = np.zeros((d, learner.outputs))
    w[keys] = weights
    return w


def dense(learner: InteriorPoint, d: int, **bounds) -> reference.InteriorPoint:
    parameter = {"huber": learner.epsilon, "quantile": learner.quantile}.get(learner.loss, 0.0)
    return reference.InteriorPoint(
        d=d, loss=learner.loss, parameter=parameter, l1=learner.l1, sigma=learner.sigma, k0=learner.k0,
        start=learner.start, dual=learner.dual, fit_intercept=learner.fit_intercept,
        dimension=learner.dimension, **bounds,
    )  # fmt: skip


def assert_agrees(learner, X, y, weights=None, index=np.int32, offsets=None, **bounds):
    model = dense(learner, X.shape[1], **bounds)
    before = learner.learn(block_of(X, y, weights, index, offsets))
    signs = 2 * y - 1 if CLASSIFIES[learner.loss] else y
    expected = model.learn(X, signs, weights, offsets)
    np.testing.assert_allclose(before[:, 0], expected, rtol=1e-10, atol=1e-12)
    seen = model.seen
    np.testing.assert_allclose(
        coefficients(learner, X.shape[1])[seen, 0], model.w[seen], rtol=1e-10, atol=1e-13
    )
    np.testing.assert_allclose(learner.intercept[0], model.intercept, rtol=1e-10, atol=1e-13)
    assert learner.step[0] == pytest.approx(model.step, rel=1e-10)
    return model
