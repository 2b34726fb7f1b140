"""Parameters that estimators share. Each is a field: the constructors, with their signatures, come from dataclasses.

Names and defaults are those of the learners; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(kw_only=True, eq=False, repr=False)
class Fitting:
    """How `fit` goes over the rows of a matrix."""

    passes: int = 20
    shuffle: bool = True
    random_state: Any = None
    holdout: float = 0.0
    patience: int | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class Classification:
    class_weight: Mapping[Any, float] | str | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class Regression:
    """Parameters of the losses of a regression."""

    epsilon: float = 1.0
    quantile: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class Stored:
    """Where the weights of first-order learners are."""

    fit_intercept: bool = True
    normalize: str = "none"
    feature_scale: str = "rms"
    store: str = "auto"
    bits: int = 22


@dataclass(kw_only=True, eq=False, repr=False)
class Steps:
    """Learning rates. None: as `learning_rate` and the loss want it."""

    eta0: float | None = None
    learning_rate: str | None = None
    power_t: float | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class SteppedClassification(Steps, Stored, Classification, Fitting):
    """First-order classification with learning rates."""


@dataclass(kw_only=True, eq=False, repr=False)
class SteppedRegression(Regression, Steps, Stored, Fitting):
    """First-order regression with learning rates."""
