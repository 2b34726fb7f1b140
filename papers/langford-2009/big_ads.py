"""A stream in the shape of Big_Ads: 3e9 nominal features, of which each example shows some by a power law.

The real data was private. Here clicks depend on some thousand frequent features and, weakly, on all others, so that
about a third of the examples cannot be told, as theirs. Theirs has 3e9 features in 26e6 examples: 115 an example that
were in none before. Of a power law over 3e9 features a dozen are new, so crosses are added, drawn evenly from all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.learners import TruncatedGradient

NOMINAL = 3_000_000_000
A_ROW = 30
NEW_A_ROW = 115
"""Features an example of theirs that did not occur before: 3e9 / 26e6."""
GRAVITIES = (0.0, 5e-6, 1e-5, 1.5e-5, 2e-5, 3e-5)
COST = 0.009
THEIR_FACTOR = 125


@dataclass(frozen=True)
class Stream:
    train: list[Block]
    test: Block
    seen: int
    """How many features occur in training."""


def weight_of(keys: NDArray[np.int64], weak: float) -> NDArray[np.float64]:
    """Fixed by the key alone: strong for some of the frequent features, weak for the others."""
    mixed = (keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(11)
    uniform = mixed.astype(np.float64) / 2.0**53
    return np.where(keys < 5000, 1.6, weak) * (uniform - 0.5)


def rows(count: int, rng: np.random.Generator, crosses: int, weak: float) -> Block:
    keys = (float(NOMINAL) ** rng.random((count, A_ROW))).astype(np.int64)
    keys = np.hstack([keys, rng.integers(0, NOMINAL, (count, crosses))])
    keys.sort(axis=1)
    first = np.ones_like(keys, dtype=bool)
    first[:, 1:] = keys[:, 1:] != keys[:, :-1]
    scores = (weight_of(keys, weak) * first).sum(axis=1)
    labels = (rng.random(count) < 1 / (1 + np.exp(-scores))).astype(np.float64)
    indptr = np.concatenate([[0], np.cumsum(first.sum(axis=1))])
    values = np.repeat(1 / np.sqrt(first.sum(axis=1)), first.sum(axis=1)).astype(np.float32)
    return Block(indptr, keys[first], values, labels=labels)


def stream(count: int, crosses: int, weak: float = 0.1, seed: int = 0) -> Stream:
    rng = np.random.default_rng(seed)
    train = [rows(min(50_000, count - k), rng, crosses, weak) for k in range(0, count, 50_000)]
    seen = len(np.unique(np.concatenate([b.indices for b in train])))
    return Stream(train, rows(50_000, rng, crosses, weak), seen)


def measured(data: Stream, gravity: float) -> dict[str, float]:
    model = TruncatedGradient(
        loss="logistic", learning_rate="constant", eta0=0.5, gravity=gravity, period=1000,
        feature_scale="none", store="table", fit_intercept=False,
    )  # fmt: skip
    for block in data.train:
        model.learn(block)
    keys, _ = model.coef()
    assert data.test.labels is not None
    wrong = (model.score(data.test)[:, 0] > 0) != (data.test.labels > 0.5)
    return {"gravity": gravity, "left": len(keys), "error": float(np.mean(wrong))}


def left_at_cost(points: list[dict[str, float]]) -> float:
    """How many features are left where the error is COST above that without gravity: between two gravities, by logs."""
    costs = np.maximum.accumulate([p["error"] - points[0]["error"] for p in points])
    logs = np.log([max(1.0, p["left"]) for p in points])
    return float(np.exp(np.interp(COST, costs, logs)))


def measured_all(count: int, crosses: int, weak: float = 0.1) -> dict[str, Any]:
    """All gravities, and how many times fewer features at the cost."""
    data = stream(count, crosses, weak)
    points = [measured(data, g) for g in GRAVITIES]
    left = left_at_cost(points)
    return {"count": count, "weak": weak, "seen": data.seen, "left": left, "factor": data.seen / left,
            "points": points}  # fmt: skip


def found(quick: bool) -> list[dict[str, Any]]:
    """Without and with crosses: by number of examples; with them also by how much rare features tell."""
    results: list[dict[str, Any]] = []
    sizes = (10_000, 20_000) if quick else (25_000, 50_000, 100_000)
    for crosses in (0, NEW_A_ROW):
        runs = [measured_all(count, crosses) for count in sizes]
        counts, factors = (np.log(np.array([r[of] for r in runs])) for of in ("count", "factor"))
        power = float(np.polyfit(counts, factors, 1)[0])
        results.append({"crosses": crosses, "runs": runs, "power": power})
    fewer = [measured_all(sizes[0], NEW_A_ROW, weak) for weak in (0.05, 0.0)]
    results[-1]["by_weak"] = [results[-1]["runs"][0], *fewer]
    return results
