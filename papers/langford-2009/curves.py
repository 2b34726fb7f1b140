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
from online import auc, block_of, folds, learner, passes
from uci import Task, load

SETS = ["ad", "crx", "krvskp", "magic04", "mushroom", "spambase", "wbc", "wdbc"]
ETAS, DECAYS, STOPS = (0.1, 0.5), (0.5, 0.9), (5, 15)
GRAVITIES = [float(f"{g:.2g}") for g in np.geomspace(3e-4, 1, 14)]
THETAS = [float(f"{g:.2g}") for g in np.geomspace(3e-3, 3, 14)]
ENDS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
VALUES = {"round": THETAS, "subgradient": GRAVITIES[::2]}
PARTS = 3
Point = tuple[float, float]
Weights = list[np.ndarray]

RULES: dict[str, dict[str, Any]] = {
    "truncated gradient, K = 1": {"period": 1},
    "truncated gradient, K = 10": {"period": 10},
    "truncated gradient, K = 20": {"period": 20},
    "truncated gradient, K = 10, theta = g": {"period": 10, "theta": "g"},
    "truncated gradient, K = 10, free intercept": {"period": 10, "fit_intercept": True},
    "rounding, K = 1": {"update": "round", "period": 1},
    "rounding, K = 10": {"update": "round", "period": 10},
    "rounding, K = 20": {"update": "round", "period": 20},
    "subgradient": {"update": "subgradient"},
}
LASSO = "lasso"


def model(rule: str, value: float, eta: float, decay: float) -> Any:
    """The learner of a rule with its one parameter, gravity or threshold, set to `value`."""
    options = dict(RULES[rule])
    if options.get("update") == "round":
        return learner(eta, decay, theta=value, **options)
    if options.get("theta") == "g":
        options["theta"] = value
    return learner(eta, decay, value, **options)


def weights(task: Task, rows: Any, rule: str, value: float, eta: float, decay: float) -> Any:
    """Weights by number of passes and, for the subgradient rule, by what is rounded at the end.

    Passes are a multiple of 20 steps long, so that every K has just truncated when the weights are counted.
    """
    rows = rows[: len(rows) // 20 * 20]
    block = block_of(task.X[rows], task.y[rows])
    for done, w in passes(model(rule, value, eta, decay), block, task.features, STOPS):
        for end in ENDS if rule == "subgradient" else (0.0,):
            yield (eta, decay, done, end), np.where(np.abs(w) <= end, 0.0, w)


def one_point(name: str, rule: str, value: float) -> list[Point]:
    """(features left, AUC) on the test part, rates and passes by cross-validation; one for each rounding."""
    task = load(name, True)
    score: dict[Any, list[float]] = {}
    for others, part in folds(len(task.y))[:PARTS]:
        X, y = task.X[part], task.y[part]
        for eta, decay in product(ETAS, DECAYS):
            for key, w in weights(task, others, rule, value, eta, decay):
                score.setdefault(key, []).append(auc(X @ w, y))
    points = []
    for end in {key[3] for key in score}:
        best = max((k for k in score if k[3] == end), key=lambda k: np.mean(score[k]))
        everything = np.arange(len(task.y))
        w = dict(weights(task, everything, rule, value, *best[:2]))[best]
        points.append((float(np.count_nonzero(w)), auc(task.X_test @ w, task.y_test)))
    return points


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


def run(pool: Executor, names: list[str], rules: list[str]) -> dict[str, dict[str, list[Point]]]:
    """By set and rule, all points in order of features left."""
    results: dict[str, dict[str, list[Point]]] = {}
    for name in names:
        jobs = [
            (rule, value)
            for rule in rules
            if rule != LASSO
            for value in VALUES.get(RULES[rule].get("update", ""), GRAVITIES)
        ]
        batch = pool.submit(lasso, name) if LASSO in rules else None
        found = pool.map(one_point, [name] * len(jobs), *zip(*jobs, strict=True)) if jobs else []
        curves: dict[str, list[Point]] = {rule: [] for rule in rules}
        for (rule, _), points in zip(jobs, found, strict=True):
            curves[rule] += points
        if batch is not None:
            curves[LASSO] += batch.result()
        results[name] = {rule: sorted(points) for rule, points in curves.items()}
        print(f"  {name}", flush=True)
    return results


def best_of(points: list[Point]) -> float:
    return max(a for _, a in points)


def fewest(points: list[Point], least: float) -> float | None:
    """The fewest features with at least this AUC."""
    enough = [n for n, a in points if a >= least]
    return min(enough) if enough else None
