"""Sweeps: many settings from one read, beside as many fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import riata
from benchmarks.problems import Absent, load
from benchmarks.ratio import Ratio, Run, Times, ratio
from benchmarks.steps import SCHEDULE
from riata.learners import ElasticNet
from riata.sources import open_source

TITLE = "Sweeps and cross-validation"
SETTINGS = 64
FEW_ROWS, FEW_FITS = 20_000, 4
PATH_ROWS = 4_000


def settings(run: Run) -> Iterator[Ratio]:
    """64 elastic-net settings over one, and as many fits of SGDClassifier over them, one pass each."""
    from sklearn.linear_model import SGDClassifier

    problem = load("medline")
    rows = FEW_ROWS if run.quick else problem.n
    X, y = problem.X[:rows], (problem.y[:rows] > 0).astype(np.float64)
    l1 = np.geomspace(1e-8, 1e-4, SETTINGS // 4)
    eta0 = {"default": 0.25, "schedule": problem.eta0}
    extra: dict[str, dict[str, Any]] = {"default": {}, "schedule": SCHEDULE}
    block = next(iter(open_source(X, y)))

    def swept(how: str) -> None:
        rates = [eta0[how] / 8, eta0[how] / 4, eta0[how] / 2, eta0[how]]
        riata.sweep(X, {"l1": l1, "eta0": rates} | extra[how], y=y)

    def one(how: str) -> None:
        ElasticNet(eta0=eta0[how], **extra[how]).learn(block)

    def fits(**stop: Any) -> None:
        for alpha in l1[:FEW_FITS]:
            SGDClassifier(
                loss="log_loss", penalty="elasticnet", alpha=alpha, l1_ratio=0.5, random_state=0,
                learning_rate="invscaling", eta0=problem.eta0, power_t=0.5, **stop,
            ).fit(X, y)  # fmt: skip

    works: dict[str, Callable[[], None]] = {
        "sweep": lambda: swept("default"),
        "one": lambda: one("default"),
        "sweep, schedule": lambda: swept("schedule"),
        "one, schedule": lambda: one("schedule"),
        "fits": fits,
        "once": lambda: fits(max_iter=1, tol=None),
    }
    found = run.turns(works, 2 if run.quick else 3)
    for name, how in (("", "default"), (", schedule", "with a schedule, values as they are")):
        what = f"{SETTINGS} elastic-net settings over one model, {how}, `medline` in memory"
        yield ratio(what, found["sweep" + name], found["one" + name], most=12)
    note = f"the fits are {FEW_FITS}, times {SETTINGS // FEW_FITS}"
    for name, how, least in (("fits", "that end by themselves", 20), ("once", "of one pass", None)):
        scaled = Times(tuple(s * SETTINGS / FEW_FITS for s in found[name].seconds))
        what = f"{SETTINGS} SGDClassifier fits {how} over a default sweep of one pass, `medline`"
        yield ratio(what, scaled, found["sweep"], least=least, note=note)


def folds(run: Run) -> Iterator[Ratio]:
    """8 settings, 10 folds, 5 passes: a grid search over SGDClassifier against a sweep, both in memory."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.model_selection import GridSearchCV

    problem = load("trec07p")
    rows = FEW_ROWS if run.quick else problem.n
    X, y = problem.X[:rows], problem.y[:rows]
    alphas = np.geomspace(1e-7, 1e-4, 8)

    def grid_search() -> None:
        model = SGDClassifier(
            loss="log_loss", penalty="elasticnet", l1_ratio=0.5, random_state=0, max_iter=5, tol=None,
            learning_rate="invscaling", eta0=problem.eta0, power_t=0.5,
        )  # fmt: skip
        GridSearchCV(model, {"alpha": alphas}, cv=10, scoring="neg_log_loss").fit(X, y)

    def swept() -> None:
        riata.sweep(X, {"l1": alphas}, y=y, folds=10, passes=5)

    found = run.turns({"sklearn": grid_search, "sweep": swept}, 1)
    what = "GridSearchCV over SGDClassifier over a default sweep, 8 settings x 10 folds x 5 passes, `trec07p`"
    yield ratio(what, found["sklearn"], found["sweep"], least=10)


def defaults(run: Run) -> Iterator[Ratio]:
    """The same 8 settings x 10 folds, each as it comes: SGDClassifier ends by itself, a sweep takes one pass, and
    RiataSearchCV as many as the estimator does."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.model_selection import GridSearchCV

    problem = load("trec07p")
    rows = FEW_ROWS if run.quick else problem.n
    X, y = problem.X[:rows], problem.y[:rows]
    alphas = np.geomspace(1e-7, 1e-4, 8)
    losses: dict[str, float] = {}

    def grid_search() -> None:
        model = SGDClassifier(loss="log_loss", penalty="elasticnet", random_state=0)
        search = GridSearchCV(model, {"alpha": alphas}, cv=10, scoring="neg_log_loss").fit(X, y)
        losses["sklearn"] = -search.best_score_

    def swept() -> None:
        losses["sweep"] = riata.sweep(X, {"l1": alphas}, y=y, folds=10).best_["loss"]

    def search() -> None:
        model = riata.ElasticNetClassifier(random_state=0)
        found = riata.RiataSearchCV(model, {"l1": alphas}, cv=10, scoring="neg_log_loss").fit(X, y)
        losses["search"] = -found.best_score_

    found = run.turns({"sklearn": grid_search, "sweep": swept, "search": search}, 1)
    for name, ours in (("sweep", "riata.sweep, one pass"), ("search", "RiataSearchCV")):
        what = f"GridSearchCV over SGDClassifier over {ours}, all by default, 8 settings x 10 folds, `trec07p`"
        note = f"held-out log loss of the best {losses['sklearn']:.4f} / {losses[name]:.4f}"
        yield ratio(what, found["sklearn"], found[name], least=10, note=note)


def path(run: Run) -> Iterator[Ratio]:
    """20 penalties, 10 folds, to the same accuracy."""
    from sklearn.linear_model import LogisticRegressionCV

    problem = load("medline")
    X, y = problem.head(1_000 if run.quick else PATH_ROWS)
    model = riata.SketchClassifier(gamma="path", path_ratio=0.05).fit(X, y)
    gammas = [solution.gamma for solution in model.path_]

    def ours() -> None:
        riata.SketchClassifierCV(gamma=gammas, folds=10, penalize_intercept=True).fit(X, y)

    def theirs() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            LogisticRegressionCV(
                Cs=[1 / gamma for gamma in gammas], penalty="l1", solver="liblinear", cv=10,
                scoring="neg_log_loss",
            ).fit(X, y)  # fmt: skip

    found = run.turns({"riata": ours, "liblinear": theirs}, 1)
    what = f"LogisticRegressionCV over SketchClassifierCV, 20 penalties x 10 folds, {len(y):,} rows of `medline`"
    yield ratio(what, found["liblinear"], found["riata"], least=5)


def ratios(run: Run) -> Iterator[Ratio]:
    for part in (settings, folds, defaults, path):
        try:
            yield from part(run)
        except Absent as absent:
            yield Ratio(part.__name__, None, why=str(absent))
