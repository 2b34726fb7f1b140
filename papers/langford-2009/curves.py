"""Sections 6.2 to 6.4: AUC against the number of features, by rule, period K and threshold theta.

All on the sets with 1,000 features of noise, where the paper's own figures lie as well: it reports 76 features left of
spambase, which has 58.
"""

from __future__ import annotations

import warnings
from concurrent.futures import Executor
from itertools import product
from typing import Any

import numpy as np
import subgradient
from online import auc, block_of, folds, learner, passes
from uci import Task, load

SETS = ["ad", "crx", "krvskp", "magic04", "mushroom", "spambase", "wbc", "wdbc"]
ETAS, DECAYS, STOPS = (0.1, 0.5), (0.5, 0.9), (5, 15)
GRAVITIES = [float(f"{g:.2g}") for g in np.geomspace(3e-4, 1, 14)]
THETAS = [float(f"{g:.2g}") for g in np.geomspace(3e-3, 3, 14)]
ENDS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
VALUES = {"round": THETAS}
ORDERS = 3
PARTS = 3
Point = tuple[float, float]

RULES: dict[str, dict[str, Any]] = {
    "truncated gradient, K = 1": {"period": 1},
    "truncated gradient, K = 10": {"period": 10},
    "truncated gradient, K = 20": {"period": 20},
    "truncated gradient, K = 10, theta = g": {"period": 10, "theta": "g"},
    "truncated gradient, K = 10, free intercept": {"period": 10, "fit_intercept": True},
    "rounding, K = 1": {"update": "round", "period": 1},
    "rounding, K = 10": {"update": "round", "period": 10},
    "rounding, K = 20": {"update": "round", "period": 20},
}
SUBGRADIENT, LASSO = "subgradient, K = 10", "lasso"


def model(rule: str, value: float, eta: float, decay: float) -> Any:
    """The learner of a rule with its one parameter, gravity or threshold, set to `value`."""
    options = dict(RULES[rule])
    if options.get("update") == "round":
        return learner(eta, decay, theta=value, **options)
    if options.get("theta") == "g":
        options["theta"] = value
    return learner(eta, decay, value, **options)


def even(rows: Any) -> Any:
    '""Passes are a multiple of 20 steps long, so that every K has just truncated when the weights are counted.""'
    return rows[: len(rows) // 20 * 20]


def weights(task: Task, rows: Any, rule: str, value: float, eta: float, decay: float) -> Any:
    """Weights by rate, decay and number of passes."""
    rows = even(rows)
    block = block_of(task.X[rows], task.y[rows])
    for done, w in passes(model(rule, value, eta, decay), block, task.features, STOPS):
        yield (eta, decay, done), w


def one_point(name: str, rule: str, value: float) -> list[Point]:
    """(features left, AUC) on the test part, rates and passes by cross-validation."""
    task = load(name, True)
    score: dict[Any, list[float]] = {}
    for others, part in folds(len(task.y))[:PARTS]:
        X, y = task.X[part], task.y[part]
        for eta, decay in product(ETAS, DECAYS):
            for key, w in weights(task, others, rule, value, eta, decay):
                score.setdefault(key, []).append(auc(X @ w, y))
    best = max(score, key=lambda k: np.mean(score[k]))
    w = dict(weights(task, np.arange(len(task.y)), rule, value, *best[:2]))[best]
    return [(float(np.count_nonzero(w)), auc(task.X_test @ w, task.y_test))]


def subgradient_points(name: str) -> list[list[Point]]:
    """The points of the subgradient rule with small weights rounded at the end, for each order of the rows."""
    task = load(name, True)
    grid = list(product(ETAS, DECAYS, GRAVITIES[::2]))
    eta, decay, gravity = (np.array(c) for c in zip(*grid, strict=True))

    def trained(rows: Any) -> dict[Any, Any]:
        found = subgradient.passes(task.X[rows], task.y[rows], eta, decay, gravity, STOPS)
        return {
            (*setting, done, end): np.where(np.abs(W[:, c]) <= end, 0.0, W[:, c])
            for done, W in found.items()
            for c, setting in enumerate(grid)
            for end in ENDS
        }

    score: dict[Any, list[float]] = {}
    for others, part in folds(len(task.y))[:PARTS]:
        for key, w in trained(even(others)).items():
            score.setdefault(key, []).append(auc(task.X[part] @ w, task.y[part]))
    chosen = [
        max((k for k in score if k[2] == g and k[4] == end), key=lambda k: np.mean(score[k]))
        for g, end in product(GRAVITIES[::2], ENDS)
    ]
    found = []
    for order in range(ORDERS):
        rows = np.random.default_rng(order).permutation(len(task.y))
        by_key = trained(even(rows))
        found.append(
            [
                (float(np.count_nonzero(by_key[k])), auc(task.X_test @ by_key[k], task.y_test))
                for k in chosen
            ]
        )
    return found


def lasso(name: str) -> list[Point]:
    """scikit-learn's path on columns of zero mean and unit variance, in the place of Sjöstrand's program."""
    from sklearn.linear_model import lasso_path

    task = load(name, True)
    X = task.X.toarray().astype(np.float64)
    spread = X.std(axis=0)
    spread[spread < 1e-9] = np.inf
    centred = (X - X.mean(axis=0)) / spread
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, coefs, _ = lasso_path(centred, task.y - task.y.mean(), n_alphas=40, eps=1e-3, max_iter=300)  # fmt: skip
    points = []
    for w in coefs.T:
        w = w / spread
        points.append((float(np.count_nonzero(w)), auc(task.X_test @ w, task.y_test)))
    return points


Curves = dict[str, dict[str, list[Point]]]


def run(pool: Executor, names: list[str], rules: list[str]) -> Curves:
    '""By set and rule, all points in order of features left; of the subgradient rule also those of each order.""'
    results: Curves = {}
    for name in names:
        jobs = [
            (rule, value)
            for rule in rules
            if rule in RULES
            for value in VALUES.get(RULES[rule].get("update", ""), GRAVITIES)
        ]
        batch = pool.submit(lasso, name) if LASSO in rules else None
        orders = pool.submit(subgradient_points, name) if SUBGRADIENT in rules else None
        curves: dict[str, list[Point]] = {rule: [] for rule in rules}
        found = pool.map(one_point, [name] * len(jobs), *zip(*jobs, strict=True)) if jobs else []
        for (rule, _), points in zip(jobs, found, strict=True):
            curves[rule] += points
        if batch is not None:
            curves[LASSO] += batch.result()
        if orders is not None:
            for k, points in enumerate(orders.result()):
                curves[f"{SUBGRADIENT}, order {k}"] = sorted(points)
                curves[SUBGRADIENT] += points
        results[name] = {rule: sorted(points) for rule, points in curves.items()}
    return results


def best_of(points: list[Point]) -> float:
    return max(a for _, a in points)


def fewest(points: list[Point], least: float) -> float | None:
    """The fewest features with at least this AUC."""
    enough = [n for n, a in points if a >= least]
    return min(enough) if enough else None
