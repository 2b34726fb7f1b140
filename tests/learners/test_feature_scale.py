"""Values divided by their feature's running root mean square: exact, by the reference, and whatever the units."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import riata
from riata.block import Block
from riata.learners import FTRL, ElasticNet, TruncatedGradient
from riata.reference.portfolio import RunningScale
from riata.sources import open_source
from tests.cli.helpers import riata as command

MAKERS = [
    lambda **p: ElasticNet(l1=1e-4, **p),
    lambda **p: ElasticNet(l1=1e-4, learning_rate="adagrad", **p),
    lambda **p: TruncatedGradient(gravity=0.01, **p),
    lambda **p: FTRL(l1=0.1, **p),
]


def rows(n: int = 300, d: int = 20, seed: int = 0) -> Block:
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.3, format="csr", random_state=rng, dtype=np.float32)
    X.data[:] = rng.normal(size=X.nnz)
    y = (X @ rng.normal(size=d) > 0).astype(float)
    block = next(iter(open_source(X, y)))
    return block.with_labels(y, rng.choice([0.0, 0.5, 1.0], n))


def scaled_by_reference(block: Block, order: Any) -> Block:
    scale, values = RunningScale(20), block.values.copy()
    assert block.weights is not None
    for r in order:
        cells = slice(int(block.indptr[r]), int(block.indptr[r + 1]))
        x = np.zeros(20)
        x[block.indices[cells]] = block.values[cells]
        state = scale.count.copy(), scale.squares.copy()
        values[cells] = scale.learn(x)[block.indices[cells]]
        if block.weights[r] == 0:
            scale.count, scale.squares = state
    return replace(block, values=values)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("store", ["dense", "table"])
def test_a_learner_of_scaled_values(make: Any, store: str) -> None:
    block, order = rows(), np.random.default_rng(1).permutation(300)
    learner, plain = make(feature_scale="rms", store=store), make(store=store)
    learned = learner.learn(block, order)
    wanted = plain.learn(scaled_by_reference(block, order), order)
    np.testing.assert_allclose(learned, wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**30, 3.7e-5, 8.1e6])
def test_the_unit_of_a_feature_does_not_matter(make: Any, unit: float) -> None:
    block = rows()
    other = replace(
        block, values=np.where(block.indices == 7, block.values * np.float32(unit), block.values)
    )
    assert other.values.dtype == np.float32
    exact = np.log2(unit) % 1 == 0
    for parameters in ({}, {"normalize": "l2"}):
        one, two = (make(feature_scale="rms", **parameters) for _ in range(2))
        learned, again = one.learn(block), two.learn(other)
        scored, rescored = one.score(block), two.score(other)
        if exact:
            assert np.array_equal(learned, again)
            assert np.array_equal(scored, rescored)
        np.testing.assert_allclose(again, learned, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(rescored, scored, rtol=1e-3, atol=1e-4)


def test_one_hot_features_stay_as_they_are() -> None:
    block = rows()
    ones = replace(block, values=np.ones_like(block.values))
    one, two = ElasticNet(feature_scale="rms"), ElasticNet()
    assert np.array_equal(one.learn(ones), two.learn(ones))
    assert np.array_equal(one.coef()[1], two.coef()[1])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("store", ["auto", "table", "hashed"])
def test_saved_and_gone_on(make: Any, store: str) -> None:
    block = rows()
    whole, part = (make(feature_scale="rms", store=store, bits=18) for _ in range(2))
    scores = whole.learn(block)
    first = part.learn(block[:100])
    again = pickle.loads(pickle.dumps(part))
    assert np.array_equal(np.vstack([first, again.learn(block[100:])]), scores)
    keys, _ = whole.coef()
    assert len(keys) > 5
    more = whole.with_outputs(3)
    assert more.outputs == 3
    assert np.isfinite(more.learn(block)).all()
    bad = part.state() | {"scale_sums": -part.state()["scale_sums"]}
    with pytest.raises(ValueError, match="scale_sums"):
        type(part).from_state(part.parameters(), bad)


def test_weights_are_for_values_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) * [1000.0, 0.01]
    y = rng.random(3000) < 1 / (1 + np.exp(-X @ [0.001, -100.0]))
    model = riata.ElasticNetClassifier(feature_scale="rms", random_state=0).fit(X, y)
    scaled = model.coef_[0] * [1000.0, 0.01]
    assert scaled[0] == pytest.approx(1, abs=0.3)
    assert scaled[1] == pytest.approx(-1, abs=0.3)
    inner = X @ model.coef_[0] + model.intercept_
    assert np.corrcoef(inner, model.decision_function(X))[0, 1] > 0.999


def test_events_and_the_command_line(tmp_path: Path) -> None:
    model = riata.FTRLClassifier(feature_scale="rms")
    for i in range(60):
        model.learn_one({"size": 1e6 * (1 + i % 3), "kind": "a" if i % 2 else "b"}, i % 2 == 1)
    assert model.predict_one({"size": 1e6, "kind": "a"})
    assert not model.predict_one({"size": 1e6, "kind": "b"})
    (tmp_path / "d.svm").write_text("1 1:5e6 2:1\n0 1:-3e6 2:1\n" * 200)
    words = ("--method", "elastic-net", "--feature-scale", "rms")
    done = command("train", tmp_path / "d.svm", "-o", tmp_path / "m", *words)
    assert "WORSE" not in done.out
    assert riata.load(tmp_path / "m").score(str(tmp_path / "d.svm")) == 1
