"""Random valid problems: far-apart indices in any store give the numbers that the same features have side by side."""

from __future__ import annotations

import numpy as np
import pytest

from riata.block import Block
from riata.learners import FTRL, Bayesian, ElasticNet, TruncatedGradient

LEARNERS = [
    (Bayesian, {}),
    (Bayesian, {"prior_variance": 1.0}),
    (Bayesian, {"prior_variance": 1.0, "half_life": 20.0}),
    (Bayesian, {"update": "joint", "mean": "newton", "prior_variance": 2.0}),
    (ElasticNet, {"l1": 0.003}),
    (TruncatedGradient, {"gravity": 0.01, "period": 5}),
    (FTRL, {"l1": 0.3}),
]
IDS = [f"{c.family}-{'-'.join(map(str, p.values()))}" for c, p in LEARNERS]


def problem(seed: int, index: type) -> tuple[Block, Block]:
    """A block with indices spread over up to ten million (or nearly 2^63), and its features numbered without gaps."""
    rng = np.random.default_rng(seed)
    top = 10 ** rng.uniform(1, 7 if index is np.int32 else 18.9)
    rows, most = int(rng.integers(1, 60)), int(rng.integers(1, 12))
    chosen = [np.unique(rng.integers(0, int(top), size=most)) for _ in range(rows)]
    indices = np.concatenate(chosen)
    indptr = np.cumsum([0, *map(len, chosen)]).astype(np.int64)
    values = rng.normal(size=len(indices)).astype(np.float32)
    labels = rng.integers(0, 2, rows).astype(np.float64)
    ranks = np.unique(indices, return_inverse=True)[1]
    return (
        Block(indptr, indices.astype(index), values, labels),
        Block(indptr, ranks.astype(np.int32), values, labels),
    )


@pytest.mark.parametrize(("make", "parameters"), LEARNERS, ids=IDS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("start", range(0, 100, 20))
def test_far_apart_features_learn_what_neighbours_do(make, parameters, index, start):
    for seed in range(start, start + 20):
        far, near = problem(seed, index)
        table, dense = make(store="table", **parameters), make(store="dense", **parameters)
        for _ in range(2):
            assert np.array_equal(table.learn(far), dense.learn(near)), seed
        assert np.array_equal(table.score(far), dense.score(near)), seed
        assert table.n_live() == dense.n_live(), seed
        assert np.array_equal(table.coef()[-1], dense.coef()[-1]), seed


def test_a_table_that_leaves_its_array_form_in_the_middle_of_an_example():
    far = Block(
        np.array([0, 2, 3, 5]),
        np.array([0, 100_000, 0, 1, 2], np.int32),
        np.ones(5, np.float32),
        np.array([1.0, 0, 1]),
    )
    huge = Block(
        np.array([0, 2, 3]), np.array([0, 2**40 - 1, 0]), np.ones(3, np.float32), np.array([1.0, 0])
    )
    for block in (far, huge):
        learner = Bayesian(store="table")
        learner.learn(block)
        assert np.isfinite(learner.score(block)).all()
        assert learner.n_live() == len(np.unique(block.indices))


@pytest.mark.parametrize(("make", "parameters"), LEARNERS, ids=IDS)
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("top", [10**10, 10**11, 2**40, 2**63 - 2])
def test_auto_takes_numbers_that_no_array_reaches(make, parameters, outputs, top):
    """In the first Block, or after others that were kept in an array; and from a file."""

    def block(indices):
        indptr = np.array([0, 2, 4, 5])
        return Block(indptr, np.array(indices), np.ones(5, np.float32), np.array([0.0, 1, 1]))

    far, near = block([1, top, 0, top, 3]), block([1, 4, 0, 4, 3])
    some = block([0, 1, 2, 3, 1])
    for first in ([], [some]):
        auto, dense = (make(outputs=outputs, **parameters) for _ in range(2))
        for a, b in zip([*first, far, far], [*first, near, near], strict=True):
            assert np.array_equal(auto.learn(a), dense.learn(b))
        assert np.array_equal(auto.score(far), dense.score(near))
        assert np.array_equal(auto.score(some), dense.score(some))
        back = make.from_state(auto.parameters(), auto.state())
        assert np.array_equal(back.learn(far), dense.learn(near))


@pytest.mark.parametrize(("make", "parameters"), LEARNERS, ids=IDS)
def test_an_array_that_cannot_reach_says_what_can(make, parameters):
    far = Block(np.array([0, 1]), np.array([2**40]), np.ones(1, np.float32), np.array([1.0]))
    with pytest.raises(ValueError, match="too large.*use store='table'"):
        make(store="dense", **parameters).learn(far)


@pytest.mark.parametrize(("make", "parameters"), LEARNERS, ids=IDS)
@pytest.mark.parametrize("outputs", [1, 3])
def test_an_array_that_turns_into_pages_in_the_middle_of_an_example(make, parameters, outputs):
    """A dense store keeps its rows side by side up to 64 MB; then only the pages that hold something."""
    if make is Bayesian:
        pytest.skip("the Bayesian dense store is an array of any size")
    rng = np.random.default_rng(5)
    chosen = [np.unique(rng.integers(0, top, 8)) for top in [2000] * 40 + [2**26] * 60]
    chosen = [np.union1d(row, rng.integers(0, 2000, 4)) for row in chosen]
    indptr = np.cumsum([0, *map(len, chosen)]).astype(np.int64)
    indices = np.concatenate(chosen)
    values = rng.normal(size=len(indices)).astype(np.float32)
    labels = rng.integers(0, max(2, outputs), len(chosen)).astype(np.float64)
    far = Block(indptr, indices.astype(np.int32), values, labels)
    near = Block(
        indptr, np.unique(indices, return_inverse=True)[1].astype(np.int32), values, labels
    )
    paged, dense = (make(store="dense", outputs=outputs, **parameters) for _ in range(2))
    for _ in range(3):
        assert np.array_equal(paged.learn(far), dense.learn(near))
    assert np.array_equal(paged.score(far), dense.score(near))
    assert paged.n_live() == dense.n_live()
