"""Riata: sparse linear models from streams.

Public names are imported when they are first used, so that `import riata` and the command line start fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from riata.block import Block as Block
    from riata.errors import DataError as DataError
    from riata.errors import DivergenceError as DivergenceError
    from riata.errors import ModelError as ModelError
    from riata.errors import RiataError as RiataError
    from riata.errors import SettingsError as SettingsError
    from riata.estimators import AutoClassifier as AutoClassifier
    from riata.estimators import AutoRegressor as AutoRegressor
    from riata.estimators import BayesianClassifier as BayesianClassifier
    from riata.estimators import BayesianRegressor as BayesianRegressor
    from riata.estimators import ElasticNetClassifier as ElasticNetClassifier
    from riata.estimators import ElasticNetRegressor as ElasticNetRegressor
    from riata.estimators import FTRLClassifier as FTRLClassifier
    from riata.estimators import FTRLRegressor as FTRLRegressor
    from riata.estimators import InteriorPointClassifier as InteriorPointClassifier
    from riata.estimators import InteriorPointRegressor as InteriorPointRegressor
    from riata.estimators import RiataSearchCV as RiataSearchCV
    from riata.estimators import SketchClassifier as SketchClassifier
    from riata.estimators import SketchClassifierCV as SketchClassifierCV
    from riata.estimators import SweepResult as SweepResult
    from riata.estimators import TextFeatures as TextFeatures
    from riata.estimators import TruncatedGradientClassifier as TruncatedGradientClassifier
    from riata.estimators import TruncatedGradientRegressor as TruncatedGradientRegressor
    from riata.estimators import diff as diff
    from riata.estimators import load as load
    from riata.estimators import sweep as sweep
    from riata.sources import ReadOptions as ReadOptions
    from riata.sources import open_source as open_source
    from riata.training import train as train

_HOMES = {
    "AutoClassifier": "estimators",
    "AutoRegressor": "estimators",
    "BayesianClassifier": "estimators",
    "BayesianRegressor": "estimators",
    "Block": "block",
    "DataError": "errors",
    "DivergenceError": "errors",
    "ElasticNetClassifier": "estimators",
    "ElasticNetRegressor": "estimators",
    "FTRLClassifier": "estimators",
    "FTRLRegressor": "estimators",
    "InteriorPointClassifier": "estimators",
    "InteriorPointRegressor": "estimators",
    "ModelError": "errors",
    "ReadOptions": "sources",
    "RiataError": "errors",
    "SettingsError": "errors",
    "TruncatedGradientClassifier": "estimators",
    "TruncatedGradientRegressor": "estimators",
    "RiataSearchCV": "estimators",
    "SketchClassifier": "estimators",
    "SketchClassifierCV": "estimators",
    "SweepResult": "estimators",
    "TextFeatures": "estimators",
    "diff": "estimators",
    "load": "estimators",
    "open_source": "sources",
    "sweep": "estimators",
    "train": "training",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'riata' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"riata.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
