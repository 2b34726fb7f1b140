"""The scikit-learn face: flat parameters, no arithmetic."""

from __future__ import annotations

import os

from riata import model_file
from riata.estimators.auto import AutoClassifier, AutoRegressor, BayesianRegressor
from riata.estimators.base import LinearEstimator
from riata.estimators.bayesian import BayesianClassifier
from riata.estimators.classifier import LinearClassifier
from riata.estimators.compare import diff
from riata.estimators.elastic_net import ElasticNetClassifier, ElasticNetRegressor
from riata.estimators.ftrl import FTRLClassifier, FTRLRegressor
from riata.estimators.interior import InteriorPointClassifier, InteriorPointRegressor
from riata.estimators.regressor import LinearRegressor
from riata.estimators.search import RiataSearchCV
from riata.estimators.sketch import SketchClassifier, SketchClassifierCV
from riata.estimators.sweeps import SweepResult, sweep
from riata.estimators.text_features import TextFeatures
from riata.estimators.truncated import TruncatedGradientClassifier, TruncatedGradientRegressor
from riata.record import Model

ESTIMATORS: tuple[type[LinearEstimator], ...] = (
    AutoClassifier,
    AutoRegressor,
    BayesianClassifier,
    BayesianRegressor,
    ElasticNetClassifier,
    ElasticNetRegressor,
    FTRLClassifier,
    FTRLRegressor,
    TruncatedGradientClassifier,
    TruncatedGradientRegressor,
    InteriorPointClassifier,
    InteriorPointRegressor,
    SketchClassifier,
)


def load(path: str | os.PathLike[str]) -> LinearEstimator:
    """The estimator whose model was saved at `path`, by `save` or by the command line.

    >>> import tempfile, pathlib, riata
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.riata"
    >>> model = riata.ElasticNetClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    >>> model.save(path)
    >>> riata.load(path).predict([[1.0, 0.0]])
    array([1.])
    """
    return estimator_of(model_file.load(path))


def estimator_of(model: Model) -> LinearEstimator:
    """The estimator of a model that was trained elsewhere."""
    face = LinearClassifier if model.learner.task == "classification" else LinearRegressor
    for estimator in ESTIMATORS:
        if estimator._learner is type(model.learner) and issubclass(estimator, face):
            return estimator()._adopt(model)
    raise TypeError(f"no estimator for the family {model.learner.family!r}")


__all__ = [
    "ESTIMATORS",
    "AutoClassifier",
    "AutoRegressor",
    "BayesianClassifier",
    "BayesianRegressor",
    "ElasticNetClassifier",
    "ElasticNetRegressor",
    "FTRLClassifier",
    "FTRLRegressor",
    "InteriorPointClassifier",
    "InteriorPointRegressor",
    "RiataSearchCV",
    "SketchClassifier",
    "SketchClassifierCV",
    "SweepResult",
    "TextFeatures",
    "TruncatedGradientClassifier",
    "TruncatedGradientRegressor",
    "diff",
    "estimator_of",
    "load",
    "sweep",
]
