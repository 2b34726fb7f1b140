"""RiataSearchCV: a grid search whose fits all read the data together."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from riata.errors import SettingsError
from riata.estimators.base import LinearEstimator
from riata.learners import Learner
from riata.record import Model
from riata.sources import Source
from riata.sweeping import Job, settings_of
from riata.sweeping.unit_sets import Unit


def _has(name: str) -> Any:
    def check(search: RiataSearchCV) -> bool:
        getattr(
            search.best_estimator_ if hasattr(search, "best_estimator_") else search.estimator, name
        )
        return True

    return available_if(check)


@dataclass
class _Found:
    """What one read of the data has left: the settings, and who has learned what."""

    job: Job
    places: list[int]
    """Of each combination of the grid, the setting that it is: two may come to the same."""

    def learner(self, i: int, fold: int | None) -> Learner | None:
        columns, setting = self.job.columns, self.places[i]
        assert columns is not None
        if not columns.alive[setting]:
            return None
        unit = Unit(setting, fold)
        return columns._home[unit].learner(unit)


class RiataSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Grid search with cross-validation over one of Riata's estimators: scikit-learn's `GridSearchCV`, in the passes
    of a single fit.

    Every combination of parameters, without each fold and with all rows, learns while the rows go by once a pass. The
    best estimator has the bits that `fit` alone gives it, so nothing is fitted again.

    Parameters
    ----------
    estimator : an estimator of Riata's that learns example by example (not a sketch: SketchClassifierCV)
    param_grid : a dict of lists, or a list of such dicts, of the learner's parameters
    cv : a number of folds, a splitter, or pairs of indices; every row is tested once
    scoring : as scikit-learn has it; None for the estimator's own score
    threads : None for as many as there are processors

    >>> import numpy as np
    >>> from riata import ElasticNetClassifier, RiataSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 10))
    >>> y = X[:, 0] > 0.2 * rng.normal(size=500)
    >>> search = RiataSearchCV(ElasticNetClassifier(random_state=0), {"l1": [1e-4, 0.5]}, cv=3).fit(X, y)
    >>> search.best_params_, search.best_score_ > 0.9
    ({'l1': 0.0001}, True)
    """

    def __init__(
        self,
        estimator: LinearEstimator,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        cv: Any = 5,
        scoring: Any = None,
        threads: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Search, and keep the best. `groups` goes to the splitter."""
        started = time.perf_counter()
        splits = list(
            check_cv(self.cv, y, classifier=is_classifier(self.estimator)).split(X, y, groups)
        )
        folds = _fold_of_rows(splits, len(y))
        grid = list(ParameterGrid(self.param_grid))
        if not grid:
            raise SettingsError("the grid is empty: name at least one parameter and a value for it")
        fitted, found = self._learn(X, y, sample_weight, grid, folds, len(splits))
        seconds = time.perf_counter() - started
        scores, times = self._scores(fitted, found, grid, splits, X, y)
        self.cv_results_ = _results(grid, scores, seconds, times)
        self.n_splits_ = len(splits)
        means = self.cv_results_["mean_test_score"]
        if not np.isfinite(means).any():
            raise SettingsError(
                "every setting has diverged: lower the learning rates, or scale the features"
            )
        self.best_index_ = int(np.nanargmax(means))
        self.best_score_ = float(means[self.best_index_])
        self.best_params_ = dict(grid[self.best_index_])
        learner = found.learner(self.best_index_, None)
        assert learner is not None
        self.best_estimator_ = _with_learner(fitted, learner).set_params(**self.best_params_)
        columns = found.job.columns
        assert columns is not None
        loss = columns.losses_of[found.places[self.best_index_]]
        model = self.best_estimator_.model_
        record = model.record.with_loss(loss)
        self.best_estimator_.model_ = Model(learner, model.classes, record)
        self.scorer_ = check_scoring(self.best_estimator_, scoring=self.scoring)
        return self

    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        grid: Sequence[Mapping[str, Any]],
        folds: NDArray[np.int64],
        k: int,
    ) -> tuple[Any, _Found]:
        """All settings and folds, by the estimator's own way from X and y to Blocks."""
        fitted: Any = clone(self.estimator)
        if not isinstance(fitted, LinearEstimator) or fitted._learner.family == "sketch":
            raise SettingsError(
                f"{type(fitted).__name__} cannot be searched in shared passes: give an estimator of Riata's that "
                f"learns example by example (for the sketch there is SketchClassifierCV)"
            )
        if fitted.holdout or fitted.patience:
            raise SettingsError("folds take the place of a holdout: leave holdout and patience out")
        own = fitted._learner_parameters()
        base = {name: [value] for name, value in own.items() if name != "seed"}
        settings = [{**base, **{n: [v] for n, v in given.items()}} for given in grid]
        for given in grid:
            for name in given:
                if name not in base:
                    raise SettingsError(
                        f"{name!r} is not a parameter of the learner, which has {', '.join(sorted(base))}"
                    )
        job = Job(
            settings, fitted._learner.family, folds=k, given_folds=folds,
            random_state=fitted._seed(), threads=self.threads,
        )  # fmt: skip
        kept: list[_Found] = []

        def learn(source: Source, classes: Any, class_weight: Any) -> Model:
            found = job.run(
                source,
                passes=fitted.passes,
                shuffle=(source.n_rows or 0) if fitted.shuffle else 0,
                classes=classes,
                class_weight=class_weight,
            )
            model = found.model()
            of = {repr(setting): place for place, setting in enumerate(job.settings)}
            same = [of[repr(settings_of(one, fitted._learner.family)[0])] for one in settings]
            kept.append(_Found(job, same))
            return model

        fitted._fit = learn  # type: ignore[method-assign]
        try:
            fitted.fit(X, y, sample_weight)
        finally:
            del fitted._fit
        return fitted, kept[0]

    def _scores(
        self,
        fitted: Any,
        found: _Found,
        grid: Sequence[Mapping[str, Any]],
        splits: Sequence[Any],
        X: Any,
        y: Any,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(settings, folds), of rows that the fold's own model was not shown; and the seconds that each took."""
        scorer = check_scoring(fitted, scoring=self.scoring)
        scores = np.full((len(grid), len(splits)), np.nan)
        times = np.zeros_like(scores)
        for f, (_, test) in enumerate(splits):
            rows, labels = _safe_indexing(X, test), _safe_indexing(y, test)
            for s in range(len(grid)):
                started = time.perf_counter()
                learner = found.learner(s, f)
                if learner is not None:
                    scores[s, f] = scorer(_with_learner(fitted, learner), rows, labels)
                times[s, f] = time.perf_counter() - started
        return scores, times

    # As the best estimator

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the best estimator."""
        check_is_fitted(self, "best_estimator_")
        classes: NDArray[Any] = self.best_estimator_.classes_
        return classes

    @_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """By the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """By the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """By the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    def score(self, X: Any, y: Any) -> float:
        """By `scoring`."""
        check_is_fitted(self, "best_estimator_")
        return float(self.scorer_(self.best_estimator_, X, y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.input_tags.sparse = True
        return tags


def _with_learner(fitted: Any, learner: Learner) -> Any:
    """The same estimator with another model inside."""
    other = copy.copy(fitted)
    other.model_ = Model(learner, fitted.model_.classes, fitted.model_.record)
    return other


def _fold_of_rows(splits: Sequence[Any], rows: int) -> NDArray[np.int64]:
    """The fold that tests each row. Every row is tested once, and learned by all others."""
    if len(splits) < 2:
        raise SettingsError(f"cv gives {len(splits)} split: at least two folds are needed")
    folds = np.full(rows, -1, dtype=np.int64)
    for f, (train, test) in enumerate(splits):
        test = np.flatnonzero(test) if np.asarray(test).dtype == bool else np.asarray(test)
        if (folds[test] >= 0).any() or len(np.unique(test)) + len(np.unique(train)) != rows:
            raise SettingsError(
                "folds that share passes must part the rows: each tested once, and learned by all other folds; "
                "for other splitters (shuffled or growing splits) use scikit-learn's GridSearchCV"
            )
        folds[test] = f
    if (folds < 0).any():
        raise SettingsError(f"{int((folds < 0).sum()):,} rows are in no test fold")
    return folds


def _results(
    grid: Sequence[Mapping[str, Any]],
    scores: NDArray[np.float64],
    seconds: float,
    times: NDArray[np.float64],
) -> dict[str, Any]:
    """As scikit-learn's searches have it. Fits share their passes: each has an equal part of the time."""
    results: dict[str, Any] = {
        "mean_fit_time": np.full(len(grid), seconds / scores.size),
        "std_fit_time": np.zeros(len(grid)),
        "mean_score_time": times.mean(axis=1),
        "std_score_time": times.std(axis=1),
        "params": [dict(given) for given in grid],
    }
    for name in dict.fromkeys(name for given in grid for name in given):
        values = np.ma.masked_all(len(grid), dtype=object)  # type: ignore[no-untyped-call]
        for i, given in enumerate(grid):
            if name in given:
                values[i] = given[name]
        results[f"param_{name}"] = values
    for f in range(scores.shape[1]):
        results[f"split{f}_test_score"] = scores[:, f]
    mean = scores.mean(axis=1)
    results |= {"mean_test_score": mean, "std_test_score": scores.std(axis=1)}
    order = np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")
    rank = np.empty(len(grid), dtype=np.int32)
    for place, i in enumerate(order):
        tied = place > 0 and mean[i] == mean[order[place - 1]]
        rank[i] = rank[order[place - 1]] if tied else place + 1
    return results | {"rank_test_score": rank}
