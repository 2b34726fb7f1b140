"""Random valid problems over every family, update, store, index width, kind of names and number of classes.

Whole Blocks, single rows and a learner that was saved and put back in the middle give the same bits; named features
give what numbered ones do. `test_random_problems` compares stores.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from riata import _core
from riata.block import Block
from riata.learners import (
    FTRL,
    Bayesian,
    ElasticNet,
    InteriorPoint,
    Portfolio,
    Sketch,
    TruncatedGradient,
)
from riata.learners.base import Learner

Make = Callable[[int], Learner]


def made(family: Any, **parameters: Any) -> Make:
    return lambda outputs: family(outputs=outputs, **parameters)


STORED: dict[str, Make] = {
    f"{name} {store}": made(family, store=store, bits=7, **parameters)
    for store in ("auto", "table", "hashed")
    for name, family, parameters in (
        ("fobos", ElasticNet, {"l1": 0.003, "l2": 0.01}),
        ("sgd", ElasticNet, {"update": "sgd", "l1": 0.003, "loss": "hinge"}),
        ("adagrad", ElasticNet, {"learning_rate": "adagrad", "l1": 0.003, "normalize": "l2"}),
        ("truncate", TruncatedGradient, {"gravity": 0.01, "period": 5}),
        ("round", TruncatedGradient, {"update": "round", "theta": 0.05, "period": 3}),
        ("subgradient", TruncatedGradient, {"update": "subgradient", "gravity": 0.01}),
        ("ftrl", FTRL, {"l1": 0.3}),
        ("bayesian", Bayesian, {}),
        ("auto", Portfolio, {}),
        ("views", Bayesian, {"value": ("raw", "binary"), "prior_variance": 1.0}),
        ("forgetting", Bayesian, {"half_life": 20.0}),
        ("joint", Bayesian, {"update": "joint", "mean": "newton", "prior_variance": 2.0}),
        ("adf", Bayesian, {"update": "adf", "prior_variance": 1.0}),
        ("vb", Bayesian, {"update": "vb", "prior_variance": 1.0}),
        ("probit", Bayesian, {"link": "probit", "variance": "height", "prior_variance": 1.0}),
    )
}
OTHER: dict[str, Make] = {
    "full": made(Bayesian, update="joint", covariance="full", prior_variance=1.0),
    "named prior": made(Bayesian, prior_variance={"f": 0.5, "*": 1.0}),
    "interior": made(InteriorPoint),
    "pruned": made(InteriorPoint, prune=0.05, normalize="l1"),
    "bounded": made(InteriorPoint, bounds=(0, None)),
    "online": made(Sketch, algorithm="online", gamma=0.5),
    "online blocks": made(Sketch, algorithm="online", gamma=0.5, block_size=4, link="probit"),
    "reduced": made(Sketch, gamma=0.5, max_passes=4),
    "multipass": made(Sketch, algorithm="multipass", gamma=0.5, max_passes=4),
    "path": made(Sketch, gamma="path", path_length=4, max_passes=5),
}
CASES = STORED | OTHER


def problem(seed: int, index: type, classes: int, top: float) -> Block:
    rng = np.random.default_rng(seed)
    rows, most = int(rng.integers(classes, 30)), int(rng.integers(1, 8))
    highest = int(10 ** rng.uniform(0.5, top))
    chosen = [
        np.unique(rng.integers(0, highest, size=rng.integers(0, most + 1))) for _ in range(rows)
    ]
    indices = np.concatenate([*chosen, np.empty(0, np.int64)])
    labels = rng.integers(0, classes, rows).astype(np.float64)
    labels[:classes] = np.arange(classes)  # all of them are there
    return Block(
        np.cumsum([0, *map(len, chosen)]).astype(np.int64),
        indices.astype(index),
        rng.normal(size=len(indices)).astype(np.float32),
        labels,
        weights=rng.random(rows) if seed % 3 == 0 else None,
    )


def named(block: Block) -> Block:
    texts = [f"f{i}".encode() for i in block.indices.tolist()]
    return Block(
        block.indptr,
        np.array([_core.key_of_name(text) for text in texts], dtype=np.int64),
        block.values,
        block.labels,
        weights=block.weights,
        names=np.frombuffer(b"".join(texts), dtype=np.uint8),
        name_offsets=np.cumsum([0, *map(len, texts)]).astype(np.int64),
    )


def passes_of(learner: Learner) -> int:
    return 3 if learner.planned_passes else 2


def learned(learner: Learner, blocks: list[Block], put_back: bool = False) -> tuple[Learner, Any]:
    """The learner after its passes, and all scores on the way."""
    scores = []
    for _ in range(passes_of(learner)):
        for block in blocks:
            if learner.complete:
                break
            scores.append(learner.learn(block))
            if put_back:
                learner = type(learner).from_state(learner.parameters(), learner.state())
        learner.end_pass()
    return learner, np.concatenate(scores)


def same(one: tuple[Learner, Any], two: tuple[Learner, Any], block: Block, seed: int) -> None:
    assert np.array_equal(one[1], two[1]), seed
    assert np.array_equal(one[0].score(block), two[0].score(block)), seed
    assert np.array_equal(one[0].coef()[1], two[0].coef()[1]), seed
    assert (one[0].t, one[0].n_live()) == (two[0].t, two[0].n_live()), seed


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_blocks_rows_and_what_was_put_back(name: str, classes: int, index: type) -> None:
    make = CASES[name]
    small = isinstance(make(1), Sketch | InteriorPoint)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(int(index is np.int64), 12, 2):
            block = problem(seed, index, classes, 4 if small else 7 if index is np.int32 else 18.9)
            outputs = 1 if classes == 2 else classes
            rows = [block.take(np.array([i])) for i in range(len(block))]
            whole = learned(make(outputs), [block])
            assert np.isfinite(whole[1]).all(), seed
            same(whole, learned(make(outputs), rows), block, seed)
            same(whole, learned(make(outputs), [block], put_back=True), block, seed)


@pytest.mark.parametrize(
    "name", [n for n in CASES if "hashed" not in n and n not in ("full", "named prior")]
)
def test_named_features_learn_what_numbered_ones_do(name: str) -> None:
    make = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(15):
            block = problem(seed, np.int32, 2, 3)
            numbered, by_name = learned(make(1), [block]), learned(make(1), [named(block)])
            exact = not isinstance(numbered[0], Sketch)  # which orders features by their numbers
            if exact:
                assert np.array_equal(numbered[1], by_name[1]), seed
            else:
                assert np.allclose(numbered[1], by_name[1], rtol=1e-4, atol=1e-4), seed
            assert numbered[0].t == by_name[0].t
