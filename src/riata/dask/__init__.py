"""Training on a Dask cluster (the extra `[dask]`): futures over pure tasks, retried; no collectives.

The result has the same bits for any number of workers, and whichever of them come and go.
"""

from __future__ import annotations

from riata.dask.cluster import cluster_of
from riata.dask.estimators import (
    DaskAutoClassifier,
    DaskAutoRegressor,
    DaskBayesianClassifier,
    DaskBayesianRegressor,
    DaskElasticNetClassifier,
    DaskElasticNetRegressor,
    DaskFTRLClassifier,
    DaskFTRLRegressor,
    DaskSketchClassifier,
    DaskTruncatedGradientClassifier,
    DaskTruncatedGradientRegressor,
)
from riata.dask.training import evaluate, predict, train

__all__ = [
    "DaskAutoClassifier",
    "DaskAutoRegressor",
    "DaskBayesianClassifier",
    "DaskBayesianRegressor",
    "DaskElasticNetClassifier",
    "DaskElasticNetRegressor",
    "DaskFTRLClassifier",
    "DaskFTRLRegressor",
    "DaskSketchClassifier",
    "DaskTruncatedGradientClassifier",
    "DaskTruncatedGradientRegressor",
    "cluster_of",
    "evaluate",
    "predict",
    "train",
]
