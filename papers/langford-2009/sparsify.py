"""Section 6.1: the fewest features that cost at most 1 % in cross-validation (Figures 2 and 3)."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import online
import stamped
from online import block_of, folds, judged, learner, passes
from uci import NOISE, Task, load

# The paper gives ranges: eta 0.1 to 0.5, g 0 to 0.3, 5 to 30 passes, decay 0.5 to 0.9.
ETAS, DECAYS = (0.1, 0.5), (0.5, 0.9)
GRAVITIES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
STOPS = {"equation 6": (5, 10, 20, 30), "time stamps": (5, 10, 20)}


def parts(form: str, rows: int) -> int:
    """How many of the ten folds: fewer do for the larger sets, and of time stamps, which are computed in NumPy."""
    if form == "time stamps":
        return min(online.FOLDS, 2 if rows > 5000 else 3 if rows > 1000 else 5)
    return min(online.FOLDS, 3 if rows > 1000 else 10)


@dataclass(frozen=True)
class Setting:
    eta: float
    decay: float
    gravity: float
    passes: int


def trained(task: Task, rows: Any, form: str, wanted: list[Setting]) -> dict[Setting, Any]:
    """The weights of every setting after these rows of the training part."""
    stops = tuple(sorted({s.passes for s in wanted}))
    grid = sorted({(s.eta, s.decay, s.gravity) for s in wanted})
    if form == "time stamps":
        eta, decay, gravity = (np.array(c) for c in zip(*grid, strict=True))
        found = stamped.passes(task.X[rows], task.y[rows], eta, decay, gravity, stops)
        return {Setting(*g, n): W[:, c] for n, W in found.items() for c, g in enumerate(grid)}
    block = block_of(task.X[rows], task.y[rows])
    return {
        Setting(*g, n): w for g in grid for n, w in passes(learner(*g), block, task.features, stops)
    }


def one_fold(name: str, noise: bool, scale: str, form: str, fold: int) -> dict[Setting, Any]:
    task = load(name, noise, scale)
    others, part = folds(len(task.y))[fold]
    X, y = task.X[part], task.y[part]
    grid = [Setting(*s) for s in product(ETAS, DECAYS, GRAVITIES, STOPS[form])]
    return {s: judged(task, X, y, w) for s, w in trained(task, others, form, grid).items()}


def cross_validated(
    pool: Executor, name: str, noise: bool, scale: str, form: str
) -> dict[Setting, dict[str, float]]:
    """The mean over the folds of what each setting did on rows it had not learned."""
    count = parts(form, len(load(name, noise, scale).y))
    jobs = [(name, noise, scale, form, k) for k in range(count)]
    per_fold = list(pool.map(one_fold, *zip(*jobs, strict=True)))
    return {
        setting: {
            m: float(np.mean([f[setting][m] for f in per_fold if m in f[setting]]))
            for m in measures
        }
        for setting, measures in per_fold[0].items()
    }


def chosen(
    means: dict[Setting, dict[str, float]], regression: bool, tolerance: float = 0.01
) -> tuple[Setting, Setting]:
    """The best without gravity, and of those hardly worse the one with the fewest features."""

    def bad(setting: Setting) -> float:
        return means[setting]["loss"] if regression else -means[setting]["accuracy"]

    plain = min((s for s in means if s.gravity == 0), key=bad)
    limit = bad(plain) * (1 + tolerance) if regression else bad(plain) + tolerance
    allowed = [s for s in means if bad(s) <= limit]
    return plain, min(allowed, key=lambda s: (means[s]["left"], bad(s)))


def on_test(name: str, noise: bool, scale: str, form: str, setting: Setting) -> dict[str, Any]:
    task = load(name, noise, scale)
    w = trained(task, np.arange(len(task.y)), form, [setting])[setting]
    return asdict(setting) | judged(task, task.X_test, task.y_test, w)


def compared(pool: Executor, name: str, noise: bool, scale: str, form: str) -> dict[str, Any]:
    """Test results with and without gravity for one set."""
    task = load(name, noise, scale)
    means = cross_validated(pool, name, noise, scale, form)
    plain, sparse = chosen(means, task.regression)
    wanted = {"plain": plain, "sparse": sparse}
    if name == "ad":  # the paper's second try
        wanted["looser"] = chosen(means, False, 0.013)[1]
    where = (name, noise, scale, form)
    jobs = {k: pool.submit(on_test, *where, setting) for k, setting in wanted.items()}
    sizes = {"features": task.features, "original": task.features - NOISE * noise}
    return sizes | {k: job.result() for k, job in jobs.items()}


KINDS = {"original": False, "noise": True}


def run(
    pool: Executor, names: list[str], form: str, scale: str, kinds: tuple[str, ...] = tuple(KINDS)
) -> dict[str, dict[str, Any]]:
    """By set and kind ("original", "noise"), what `compared` finds."""
    return {
        name: {kind: compared(pool, name, KINDS[kind], scale, form) for kind in kinds}
        for name in names
    }
