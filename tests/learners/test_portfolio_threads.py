"""`auto` over threads: the same bits for any number, in every store, with drops, several classes and resumed runs."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from riata.block import Block
from riata.learners import Portfolio

ROWS, PER_ROW = 4500, 24


def block(outputs: int, features: int = 400, named: bool = False, seed: int = 0) -> Block:
    """Rows that are worth threads, some of them with a feature twice; some weigh nothing."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 2 * PER_ROW, ROWS)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = (features * rng.random(indptr[-1]) ** 3).astype(np.int32)
    values = rng.choice([1.0, 1.0, 0.0, 2.5, 30.0], indptr[-1]).astype(np.float32)
    weights = rng.choice([1.0, 1.0, 0.0, 0.5, 4.0], ROWS)
    truth = rng.normal(size=(features, max(1, outputs)))
    scores = np.add.reduceat(values[:, None] * truth[indices], indptr[:-1], axis=0)
    noisy = scores + rng.logistic(size=scores.shape) * 4
    labels = noisy.argmax(axis=1) if outputs > 1 else noisy[:, 0] > 0
    out = Block(indptr, indices, values, labels=labels.astype(float), weights=weights)
    if outputs == 1:
        out = replace(out, offsets=rng.normal(size=ROWS))
    if named:
        texts = [f"f{k}".encode() for k in indices.tolist()]
        ends = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
        out = replace(
            out,
            indices=indices.astype(np.int64) * 7919,
            names=np.frombuffer(b"".join(texts), dtype=np.uint8),
            name_offsets=ends.astype(np.int64),
        )
    return out


def assert_same(a: Portfolio, b: Portfolio) -> None:
    one, two = a.state(), b.state()
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


KINDS: list[Any] = [
    ("dense", 1, False, {}),
    ("table", 1, False, {}),
    ("table", 1, True, {"fit_intercept": False}),
    ("hashed", 1, False, {"bits": 8}),
    ("dense", 3, False, {}),
    ("hashed", 5, False, {"bits": 12, "multi_class": "ovr"}),
    ("table", 12, True, {"keep_all": True}),
]


@pytest.mark.parametrize(("store", "outputs", "named", "more"), KINDS)
def test_any_number_of_threads_gives_the_same_bits(
    store: str, outputs: int, named: bool, more: dict[str, Any]
) -> None:
    given = block(outputs, named=named)
    order = np.random.default_rng(1).permutation(ROWS)
    alone, *others = (
        Portfolio(store=store, outputs=outputs, n_jobs=n, **more) for n in (1, 2, 3, 8)
    )
    settings = alone.settings
    first, second = alone.learn(given), alone.learn(given, order)
    assert outputs > 3 or len(alone.settings) < len(settings)
    for other in others:
        np.testing.assert_array_equal(other.learn(given), first)
        np.testing.assert_array_equal(other.learn(given, order), second)
        np.testing.assert_array_equal(other.score(given), alone.score(given))
        assert_same(alone, other)


def test_blocks_of_any_size_and_resumed_runs_give_the_same_bits() -> None:
    given = block(1, features=3000)
    whole = Portfolio(n_jobs=2)
    scores = whole.learn(given)
    parts = Portfolio(n_jobs=2)
    said = []
    for at, (first, last) in enumerate([(0, 1), (1, 1024), (1024, 3000), (3000, ROWS)]):
        said.append(parts.learn(given, np.arange(first, last)))
        parameters = parts.parameters() | {"n_jobs": 1 + at % 2}
        parts = Portfolio.from_state(parameters, parts.state())
    np.testing.assert_array_equal(np.concatenate(said), scores)
    assert_same(whole, parts)


def learn_in_child(learner: Portfolio, given: Block, to: Any) -> None:
    to.send(learner.learn(given))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_fork_learns_on_with_threads_of_its_own() -> None:
    given = block(1)
    learner = Portfolio(n_jobs=2)
    learner.learn(given)
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=learn_in_child, args=(learner, given, send))
    child.start()
    assert receive.poll(60), "the child hangs"
    np.testing.assert_array_equal(receive.recv(), learner.learn(given))
    child.join(60)
    assert child.exitcode == 0


def test_models_of_different_numbers_of_threads_can_be_merged() -> None:
    given = block(1)
    one, two = Portfolio(n_jobs=1, keep_all=True), Portfolio(n_jobs=2, keep_all=True)
    for learner in (one, two):
        learner.learn(given)
    assert one.merge(two).t == 2 * ROWS


@pytest.mark.parametrize("wrong", [0, -2, "two"])
def test_a_number_of_threads_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="n_jobs"):
        Portfolio(n_jobs=wrong)
