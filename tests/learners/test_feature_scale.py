"""Values divided by their feature's running root mean square: exact, by the reference, and whatever the units."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import riata
from riata.block import Block, event_block
from riata.learners import FTRL, Bayesian, ElasticNet, TruncatedGradient
from riata.learners.regression import BayesianRegression
from riata.reference.portfolio import RunningScale
from riata.sources import open_source
from tests.cli.helpers import riata as command

MAKERS = [
    lambda **p: ElasticNet(l1=1e-4, learning_rate="inv_sqrt", **p),
    lambda **p: ElasticNet(l1=1e-4, learning_rate="adagrad", **p),
    lambda **p: TruncatedGradient(gravity=0.01, learning_rate="inv_sqrt", **p),
    lambda **p: TruncatedGradient(gravity=0.01, learning_rate="adagrad", **p),
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
        if block.weights[r] > 0:
            seen = scale.learn(x)
        else:  # as it would be scored
            root = np.sqrt(scale.squares / np.maximum(scale.count, 1))
            seen = np.where(scale.count > 0, x / np.where(root > 0, root, 1), np.sign(x))
        values[cells] = seen[block.indices[cells]]
    return replace(block, values=values)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("store", ["dense", "table"])
def test_a_learner_of_scaled_values(make: Any, store: str) -> None:
    block, order = rows(), np.random.default_rng(1).permutation(300)
    learner = make(feature_scale="rms", store=store)
    plain = make(feature_scale="none", store=store)
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


SCALE_FREE: dict[str, Callable[[], Any]] = {
    "elastic-net": ElasticNet,
    "elastic-net, squared": lambda: ElasticNet(loss="squared"),
    "truncated": TruncatedGradient,
    "ftrl": FTRL,
    "bayesian": lambda: Bayesian(feature_scale="rms"),
    "bayesian-regression": BayesianRegression,
}


@settings(max_examples=15, deadline=None)
@given(powers=st.lists(st.integers(-40, 40), min_size=20, max_size=20), signs=st.integers(0, 2**20))
@pytest.mark.parametrize("name", SCALE_FREE)
def test_no_unit_changes_a_prediction(name: str, powers: list[int], signs: int) -> None:
    """By default, of every family. Powers of two divide without rounding: the same bits."""
    factors = np.array([(-1) ** (signs >> j & 1) * 2.0 ** powers[j] for j in range(20)])
    block = rows(120)
    other = replace(block, values=(block.values * factors[block.indices]).astype(np.float32))
    one, two = SCALE_FREE[name](), SCALE_FREE[name]()
    assert np.array_equal(one.learn(block), two.learn(other))
    assert np.array_equal(one.score(block), two.score(other))


@pytest.mark.parametrize("store", ["auto", "table", "hashed"])
def test_a_bayesian_model_of_scaled_values(store: str) -> None:
    block, order = rows(), np.arange(300)
    make = partial(Bayesian, store=store, bits=18)
    learner, plain = make(feature_scale="rms"), make(feature_scale="none")
    learned = learner.learn(block)
    wanted = plain.learn(scaled_by_reference(block, order))
    np.testing.assert_allclose(learned, wanted, rtol=1e-5, atol=1e-7)
    again = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(again.score(block), learner.score(block))
    mean, std = learner.coef()[1], learner.coef_std()
    z = plain.coef()[1] / plain.coef_std()
    np.testing.assert_allclose(mean / std, z, rtol=1e-4, atol=1e-6)
    small = learner.sparsify(1.0).learner
    assert len(small.state()["scale_keys"]) == len(small.state()["keys"]) < 20
    assert learner.with_outputs(3).outputs == 3
    assert learner.collapse().feature_scale == "rms"
    with pytest.raises(ValueError, match="cannot be merged"):
        learner.merge(again)
    with pytest.raises(ValueError, match="value='log1p'"):
        Bayesian(feature_scale="rms", value="log1p")


def test_models_of_before_are_read() -> None:
    """Without feature_scale, values are as they are; AdaGrad's steps were explicit, without sums of residuals."""
    old = ElasticNet(learning_rate="adagrad_explicit", feature_scale="none")
    block = rows()
    old.learn(block)
    parameters, state = old.parameters(), old.state()
    del parameters["feature_scale"]
    parameters["learning_rate"] = "adagrad"
    state["clock"] = state["clock"][:2]
    again = ElasticNet.from_state(parameters, state)
    assert again.learning_rate == "adagrad_explicit"
    assert again.feature_scale == "none"
    assert np.array_equal(again.score(block), old.score(block))
    assert np.array_equal(again.learn(block), old.learn(block))


def test_one_hot_features_stay_as_they_are() -> None:
    block = rows()
    ones = replace(block, values=np.ones_like(block.values))
    one, two = ElasticNet(feature_scale="rms"), ElasticNet(feature_scale="none")
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


@pytest.mark.parametrize("store", ["auto", "table", "hashed"])
def test_a_feature_that_took_no_step_keeps_what_is_known_of_it(store: str) -> None:
    """Its values count where the slope is zero, too. A file has no name for it: it comes back with the feature."""

    def learner() -> ElasticNet:
        steps: Any = {"learning_rate": "constant", "eta0": 5.0, "l1": 0.0, "l2": 0.0}
        made = ElasticNet(loss="hinge", normalize="l2", feature_scale="rms", store=store, **steps)
        made.learn_one({"a": 1.0}, 1)
        made.learn_one({"a": 2.0, "b": 7.0}, 1)  # the margin is above one
        return made

    whole, saved = learner(), learner()
    again = pickle.loads(pickle.dumps(saved))
    assert len(saved.state()["keys"]) == 1
    assert len(saved.state()["scale_keys"]) == 2
    for name in ("scale_keys", "scale_sums"):
        assert np.array_equal(again.state()[name], saved.state()[name])
    event = {"a": 1.0, "b": 3.0, "c": 1.0}
    assert again.score_one(event) == saved.score_one(event)
    assert again.learn_one(event, 0) == whole.learn_one(event, 0)
    assert again.learn_one({"b": 1.0}, 1) == whole.learn_one({"b": 1.0}, 1)
    one, two = whole.state(), again.state()
    assert one.keys() == two.keys()
    for name, array in one.items():
        assert np.array_equal(array, two[name])
    if store != "hashed":
        assert sorted(again.names(again.coef()[0]) or []) == ["a", "b", "c"]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("store", ["table", "hashed"])
def test_single_events_are_rows(make: Any, store: str) -> None:
    """Also where names share rows of a hashed store."""
    rng = np.random.default_rng(2)
    events = [
        {f"f{j}": float(rng.normal()) for j in rng.choice(40, 12, replace=False)}
        for _ in range(200)
    ]
    labels = (rng.random(200) < 0.5).astype(float)
    one, other = (make(feature_scale="rms", store=store, bits=4) for _ in range(2))
    scores = [one.learn_one(event, label) for event, label in zip(events, labels, strict=True)]
    for event, label, score in zip(events, labels, scores, strict=True):
        assert other.learn(event_block(event, label))[0].tolist() == score
    assert one.score_one(events[0]) == other.score(event_block(events[0]))[0].tolist()


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
