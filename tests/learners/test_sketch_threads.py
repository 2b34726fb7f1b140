"""Sketches of the core, without the learners around them, shared by threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from riata import _core
from tests.streams import problem

ROWS = 400


def together(*work: Callable[[], object], seconds: float = 1.0) -> None:
    """Each again and again, in a thread of its own, all at once."""
    errors: list[BaseException] = []
    end = threading.Event()

    def again(call: Callable[[], object]) -> None:
        try:
            while not end.is_set():
                call()
        except BaseException as error:
            errors.append(error)
            end.set()

    threads = [threading.Thread(target=again, args=(call,)) for call in work]
    for thread in threads:
        thread.start()
    end.wait(seconds)
    end.set()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("full", [False, True])
def test_a_pass(full: bool) -> None:
    block = problem(ROWS)
    labels = np.where(block.labels > 0, 1.0, -1.0)
    arrays = (block.indptr, block.indices, block.values, labels, None, 1.0, 1, None)
    keys = np.unique(block.indices).astype(np.int64)[:5]
    sketch = _core.Sketch("logit", True, full)
    sketch.begin(keys, np.zeros(5), 0.0)
    sketch.accumulate(*arrays)
    one = sketch.loss
    added = [1]

    def add() -> None:
        sketch.accumulate(*arrays)
        added[0] += 1

    def whole() -> None:
        """A pass is seen before or after a Block, never in the middle of one."""
        assert sketch.fingerprint[0] % ROWS == 0
        times = sketch.loss / one
        assert abs(times - round(times)) < 1e-6
        sums = sketch.sums()
        found, gradients = sums.keys, sums.gradients
        assert len(found) == len(gradients)

    together(
        add,
        whole,
        whole,
        lambda: sketch.curvature(),
        lambda: sketch.outside(0.0),
        lambda: sketch.active_gradient(),
        lambda: (sketch.keys, sketch.weights, sketch.features, sketch.bytes, sketch.largest),
        lambda: sketch.solve(1.0, 1.0, 1e-6, 0.0, 10),
    )
    assert sketch.fingerprint[0] == ROWS * added[0]
    np.testing.assert_array_equal(sketch.keys[:5], keys)


def test_online() -> None:
    block = problem(ROWS)
    labels = np.where(block.labels > 0, 1.0, -1.0)
    sketch = _core.OnlineSketch("logit", True, False, 0.1, 1000.0, 1e-4, 1)
    added = [0, 0]

    def learn(who: int) -> None:
        sketch.learn(block.indptr, block.indices, block.values, labels, None, 1.0, None)
        added[who] += 1

    def whole() -> None:
        assert sketch.t % ROWS == 0
        assert sketch.vectors().shape[1] == 3
        sketch.triples()
        sketch.waiting()

    together(
        lambda: learn(0),
        lambda: learn(1),
        whole,
        whole,
        sketch.flush,
        lambda: (sketch.keys, sketch.weights, sketch.features, sketch.bytes, sketch.refused),
    )
    assert sketch.t == ROWS * sum(added)


def test_two_that_are_merged_into_each_other() -> None:
    sketches = [_core.OnlineSketch("logit", True, False, 0.1, 1000.0, 1e-4, 1) for _ in range(2)]
    block = problem(20)
    labels = np.where(block.labels > 0, 1.0, -1.0)
    for sketch in sketches:
        sketch.learn(block.indptr, block.indices, block.values, labels, None, 1.0, None)
    for _ in range(20):
        pair = [
            threading.Thread(target=sketches[i].merge, args=(sketches[1 - i],)) for i in range(2)
        ]
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join(60)
            assert not thread.is_alive()
    with pytest.raises(ValueError, match="merged with itself"):
        sketches[0].merge(sketches[0])


def test_a_scorer() -> None:
    block = problem(ROWS)
    keys = np.unique(block.indices).astype(np.int64)
    scorer = _core.Scorer()
    scorer.set(keys, np.zeros((len(keys), 1)), np.zeros(1))

    def set_to(value: float, columns: int) -> None:
        scorer.set(keys, np.full((len(keys), columns), value), np.full(columns, value))

    def whole() -> None:
        scores = scorer.score(block.indptr, block.indices, block.values, None)
        assert scores.shape[0] == ROWS
        assert (scores == scores[:, :1]).all()
        zero = scores == 0
        assert zero.all() or not zero.all(axis=0).any()

    together(lambda: set_to(0.0, 3), lambda: set_to(1.0, 1), whole, whole)
