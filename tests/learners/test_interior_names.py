"""Interior point over named features: classes that join, bounds of names and of namespaces."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from riata import _core
from tests.learners.interiors import (
    InteriorPoint,
    dense,
)
from tests.problems import block_of, dense_rows, labels_for


def named(block, names):
    """The same rows with named features."""
    text = [names[i].encode() for i in block.indices]
    keys = np.array([_core.key_of_name(name) for name in text], dtype=np.int64)
    return replace(
        block,
        indices=keys,
        names=np.frombuffer(b"".join(text), dtype=np.uint8),
        name_offsets=np.cumsum([0] + [len(name) for name in text]),
    )


NAMES = [*(f"price^{i}" for i in range(10)), *(f"city={i}" for i in range(10)),
         *(f"prices{i}" for i in range(9)), "price^special"]  # fmt: skip


def weights_by_name(learner):
    keys, weights = learner.coef()
    return dict(zip(learner.names(keys), weights[:, 0].tolist(), strict=True))


def test_named_features_learn_as_numbered_ones():
    X = dense_rows(200, 30, seed=11)
    y = labels_for(X, 2)
    numbers, words = InteriorPoint(l1=0.003, prune=0.1), InteriorPoint(l1=0.003, prune=0.1)
    rows = named(block_of(X, y), NAMES)
    assert np.array_equal(numbers.learn(block_of(X, y)), words.learn(rows))
    keys, weights = numbers.coef()
    assert weights_by_name(words) == {NAMES[k]: w for k, w in zip(keys, weights[:, 0], strict=True)}
    assert words.n_features == words.n_live()
    assert np.array_equal(numbers.score(block_of(X)), words.score(rows))
    again = InteriorPoint.from_state(words.parameters(), words.state())
    assert weights_by_name(again) == weights_by_name(words)
    for learner, other in ((words, block_of(X, y)), (numbers, rows)):
        with pytest.raises(ValueError, match="numbered and named features cannot share a model"):
            learner.learn(other)


def test_more_classes_may_join_later():
    one = InteriorPoint(l1=0.001)
    for i in range(60):
        one.learn_one({"w": str(i % 7), "x": 0.3}, float(i % 2))
    three = one.with_outputs(3)
    for i in range(9):
        old, new = one.score_one({"w": str(i)})[0], three.score_one({"w": str(i)})
        assert new == pytest.approx([-old, old, 0.0], abs=1e-15)
    three.learn_one({"w": "1"}, 2.0)
    one.learn_one({"w": "1"}, 0.0)
    assert three.score_one({"w": "1"})[1] == one.score_one({"w": "1"})[0]
    with pytest.raises(ValueError, match="not more"):
        three.with_outputs(3)
    with pytest.raises(ValueError, match="with bounds cannot take more classes"):
        InteriorPoint(bounds=(0, None)).with_outputs(3)


def test_bounds_of_names_and_namespaces():
    X = dense_rows(300, 30, seed=4)
    y = labels_for(X, 2)
    bounds = {"price": (0, None), "city": (-0.1, 0.2), "price^special": (None, 0), "*": (-5, 5)}
    learner = InteriorPoint(l1=0.003, k0=5, bounds=bounds)
    # as the kernel sorts them: all others, city, price, price^special
    low = np.array([0.0] * 10 + [-0.1] * 10 + [-5.0] * 9 + [-np.inf] + [-5, -0.1, 0, -np.inf])
    high = np.array([np.inf] * 10 + [0.2] * 10 + [5.0] * 9 + [0.0] + [5, 0.2, np.inf, 0])
    model = dense(learner, 30, low=low, high=high, stand_ins=4)
    half = named(block_of(X[:150], y[:150]), NAMES)
    before = [learner.learn(half)]
    parameters = json.loads(json.dumps(learner.parameters()))
    learner = InteriorPoint.from_state(parameters, learner.state())
    before.append(learner.learn(named(block_of(X[150:], y[150:]), NAMES)))
    expected = model.learn(X, 2 * y - 1)
    np.testing.assert_allclose(np.concatenate(before)[:, 0], expected, rtol=1e-10, atol=1e-12)
    found = weights_by_name(learner)
    seen = np.flatnonzero(model.seen)
    assert (
        set(found) == {NAMES[i] for i in seen} >= {"price^special", "price^0", "city=1", "prices0"}
    )
    np.testing.assert_allclose([found[NAMES[i]] for i in seen], model.w[seen], rtol=1e-10)
    assert all(low[i] < found[NAMES[i]] < high[i] for i in seen)
