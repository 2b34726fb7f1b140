"""The sketch as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from riata.estimators.classifier import LinearClassifier
from riata.estimators.parameters import Classification
from riata.learners import Learner, Sketch
from riata.learners.sketch_folds import Curve
from riata.sources import Source
from riata.training import Model, train


@dataclass(frozen=True)
class Solution:
    """One point of a regularisation path; arrays have a row an output."""

    gamma: float
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    objective: NDArray[np.float64]
    gap: NDArray[np.float64]


def _is_online(estimator: SketchClassifier) -> bool:
    if estimator.algorithm != "online":
        raise AttributeError(
            f"algorithm={estimator.algorithm!r} goes over all examples several times: call fit or learn, "
            "or use algorithm='online'"
        )
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class SketchClassifier(Classification, LinearClassifier):
    """L1 logistic or probit regression, exact, with a certificate (Balakrishnan & Madigan 2008).

    Minimises the sum of the losses + gamma * sum abs(b) in a handful of passes over a source of any size, in
    memory that depends on the features alone. `history_` says, pass by pass, how far the optimum can be.

    Parameters
    ----------
    gamma : the penalty, several (a path of solutions, each from the one before), or "path": `path_length` values
        from the smallest that leaves nothing but the intercept down to `path_ratio` times it. `coef_` is the
        solution of the smallest gamma, `path_` has all
    algorithm : "reduced" (curvature of the active features alone), "multipass" (of all features), "online" (one
        pass; `partial_fit` and single examples work)
    link : "logit" or "probit"
    bounds : (low, high) for all weights, None for no bound: (0, None) makes them non-negative. Or a mapping of
        feature indices, names, namespaces or columns to such pairs, with "*" for all others. The optimum is that
        inside the bounds, and so is the certificate
    fit_intercept, penalize_intercept : learn an intercept; let the penalty count it (as liblinear does)
    capacity : most features that are active at once, in "reduced"; None for as many as it takes
    tau : features with a gradient of at least tau * gamma are active
    tol, max_passes : stop when the duality gap is below tol times the objective, or after so many passes, with a
        ConvergenceWarning
    gamma_schedule, horizon, block_size, shooting_tol : for "online": "constant", or "linear" up to `horizon`
        examples (None: all rows of `fit`); examples that are taken together; the relative change that ends Shooting
    folds, select : cross-validate the penalties in the same passes; `coef_` is then the solution at the penalty of the
        least loss ("min"), or the largest within one standard error of it ("1se"). See SketchClassifierCV
    sample : non-zeros of examples kept in memory from the first pass: the other passes start at their solution, and
        steps follow the examples with the largest losses; None for all examples where they have at most 2^24, which
        are solved in memory, and 2^20 of more; 0 for none, as in the paper
    n_jobs : threads that make a pass; the result has the same bits for any number
    random_state : for the interface only; there is nothing random
    class_weight : a dict or "balanced"

    >>> import numpy as np
    >>> from riata import SketchClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = X[:, 0] - X[:, 3] + rng.logistic(size=2000) > 0
    >>> model = SketchClassifier(gamma=30).fit(X, y)
    >>> np.flatnonzero(model.coef_).tolist()
    [0, 3]
    >>> last = model.history_[-1]
    >>> last["gap"] <= 1e-6 * last["objective"], model.n_iter_ < 10
    (True, True)
    """

    _learner = Sketch

    gamma: float | str | Sequence[float] = field(default=1.0, kw_only=False)
    algorithm: str = "reduced"
    link: str = "logit"
    bounds: Any = None
    fit_intercept: bool = True
    penalize_intercept: bool = False
    capacity: int | None = None
    tau: float = 0.8
    tol: float = 1e-6
    max_passes: int = 50
    gamma_schedule: str = "constant"
    horizon: int | None = None
    block_size: int = 1
    shooting_tol: float = 1e-6
    path_length: int = 20
    path_ratio: float = 0.01
    folds: int = 0
    select: str = "min"
    sample: int | None = None
    n_jobs: int = 2
    random_state: Any = None

    def _learner_parameters(self, rows: int | None = None) -> dict[str, Any]:
        given = super()._learner_parameters()
        if not isinstance(self.gamma, int | float | str):
            given["gamma"] = tuple(float(g) for g in self.gamma)
        if self.gamma_schedule == "linear" and self.horizon is None and rows is not None:
            given["horizon"] = rows
        return given

    def _fit(self, source: Source, classes: Any, class_weight: Any) -> Model:
        def make(outputs: int) -> Learner:
            return Sketch(**self._learner_parameters(source.n_rows), outputs=outputs)

        return train(source, make, classes=classes, class_weight=class_weight)

    @available_if(_is_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning, one pass over the rows of X in their order. The first call names all `classes`."""
        return super().partial_fit(X, y, classes, sample_weight)

    @available_if(_is_online)  # type: ignore[untyped-decorator]
    def learn_one(self, x: Mapping[str, Any], y: Any, sample_weight: float = 1.0) -> Self:
        """Learn one event of named features."""
        return super().learn_one(x, y, sample_weight)

    def _class_code(self, y: Any) -> float:
        known = self.model_.classes if hasattr(self, "model_") else None
        if known is not None and len(known) >= 2 and y not in known.tolist():
            raise ValueError(
                f"{y!r} would be a third class, and a sketch cannot grow outputs: name all classes in a first "
                "partial_fit"
            )
        return super()._class_code(y)

    def _sketch(self) -> Sketch:
        return cast(Sketch, self._fitted())

    @property
    def history_(self) -> list[dict[str, float]]:
        """After every pass: pass, gamma, objective, gap, violation, active, support, step (and output)."""
        return self._sketch().history

    @property
    def converged_(self) -> bool:
        """The certificate says that the solution is within `tol`."""
        return self._sketch().converged

    @property
    def path_(self) -> list[Solution]:
        """A solution for each gamma, gamma falling."""
        learner = self._sketch()
        solutions = []
        for points in zip(*learner.path, strict=False):  # as far as all outputs have got
            coef = np.zeros((learner.outputs, max(self.n_features_in_, learner.n_features)))
            for row, point in enumerate(points):
                coef[row, point.keys] = point.weights
            numbers = (
                np.array([getattr(p, name) for p in points])
                for name in ("intercept", "objective", "gap")
            )
            solutions.append(Solution(points[0].gamma, coef, *numbers))
        return solutions


@dataclass(kw_only=True, eq=False, repr=False)
class SketchClassifierCV(SketchClassifier):
    """The exact L1 path with cross-validation: all folds and penalties share the passes over the data.

    `gammas_` are the penalties, falling; `loss_path_` the mean log loss of the examples of each fold, at each of them,
    by the solution without that fold, (folds, gammas); `mean_loss_` and `se_loss_` over the folds; `gaps_` how
    far each solution of all examples can be from the optimum. `coef_` is the solution of all examples at
    `gamma_`, which is `gamma_min_` or `gamma_1se_` as `select` says.

    Parameters
    ----------
    gamma : "path", or the penalties
    folds : how many; equal examples share a fold, whatever their order
    cv : instead, a splitter of scikit-learn's or pairs of indices, for rows of a matrix; every row is tested once
    select : "min" or "1se"

    The rest is as for `SketchClassifier`; there are two classes.

    >>> import numpy as np
    >>> from riata import SketchClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 20))
    >>> y = X[:, 0] - X[:, 3] + rng.logistic(size=1000) > 0
    >>> model = SketchClassifierCV(folds=5, select="1se", path_length=12).fit(X, y)
    >>> np.flatnonzero(model.coef_).tolist()
    [0, 3]
    >>> model.gamma_1se_ >= model.gamma_min_, len(model.gammas_), model.loss_path_.shape
    (True, 12, (5, 12))
    """

    gamma: float | str | Sequence[float] = field(default="path", kw_only=False)
    folds: int = 10
    cv: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **reading: Any) -> Self:
        """Learn the rows of X from the start; see `SketchClassifier.fit`."""
        self.__dict__.pop("_given", None)
        if self.cv is not None:
            if y is None:
                raise ValueError(
                    "cv splits rows of a matrix with their y; for files there is folds"
                )
            from sklearn.model_selection import check_cv

            from riata.estimators.search import _fold_of_rows

            splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
            self._given = _fold_of_rows(splits, len(y)), len(splits)
        return super().fit(X, y, sample_weight, **reading)

    def _fit(self, source: Source, classes: Any, class_weight: Any) -> Model:
        given = self.__dict__.pop("_given", None)

        def make(outputs: int) -> Learner:
            parameters = self._learner_parameters(source.n_rows)
            if given is not None:
                parameters["folds"] = given[1]
            learner = Sketch(**parameters, outputs=outputs)
            if given is not None and learner._folds is not None:
                learner._folds.given = given[0]
            return learner

        return train(source, make, classes=classes, class_weight=class_weight)

    def _curve(self) -> Curve:
        curve = self._sketch().curve
        if curve is None:
            raise AttributeError("this model was trained without folds")
        return curve

    @property
    def gammas_(self) -> NDArray[np.float64]:
        """The penalties, falling."""
        return self._curve().gammas

    @property
    def loss_path_(self) -> NDArray[np.float64]:
        """The loss of each penalty in each fold."""
        return self._curve().losses

    @property
    def mean_loss_(self) -> NDArray[np.float64]:
        """The loss of each penalty, over the folds."""
        return self._curve().mean

    @property
    def se_loss_(self) -> NDArray[np.float64]:
        """The standard error of `mean_loss_`, over the folds."""
        return self._curve().se

    @property
    def gamma_min_(self) -> float:
        """The penalty with the least loss."""
        return float(self.gammas_[self._curve().at_min])

    @property
    def gamma_1se_(self) -> float:
        """The largest penalty whose loss is within a standard error of the least."""
        return float(self.gammas_[self._curve().at_1se])

    @property
    def gamma_(self) -> float:
        """The penalty that was chosen, by `select`."""
        return self.gamma_min_ if self.select == "min" else self.gamma_1se_

    @property
    def gaps_(self) -> NDArray[np.float64]:
        """The duality gap of each solution of all examples, relative to its objective."""
        return np.array([float(s.gap[0] / s.objective[0]) for s in self.path_])
