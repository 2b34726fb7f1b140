"""Learners: one file a family. Frozen parameters, explicit state, `learn` and `score` on Blocks.

A family is imported when it is first used: a command that trains one of them does not wait for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from riata.learners.base import Learner

if TYPE_CHECKING:
    from riata.learners.bayesian import Bayesian as Bayesian
    from riata.learners.elastic_net import ElasticNet as ElasticNet
    from riata.learners.ftrl import FTRL as FTRL
    from riata.learners.interior import InteriorPoint as InteriorPoint
    from riata.learners.portfolio import Portfolio as Portfolio
    from riata.learners.regression import AutoRegression as AutoRegression
    from riata.learners.regression import BayesianRegression as BayesianRegression
    from riata.learners.sketch import Sketch as Sketch
    from riata.learners.truncated import TruncatedGradient as TruncatedGradient

_CLASSES = {
    "auto": ("portfolio", "Portfolio"),
    "auto-regression": ("regression", "AutoRegression"),
    "elastic-net": ("elastic_net", "ElasticNet"),
    "truncated": ("truncated", "TruncatedGradient"),
    "ftrl": ("ftrl", "FTRL"),
    "bayesian": ("bayesian", "Bayesian"),
    "bayesian-regression": ("regression", "BayesianRegression"),
    "sketch": ("sketch", "Sketch"),
    "interior": ("interior", "InteriorPoint"),
}
"""Of each family its module and its class."""


class _Families(Mapping[str, type[Learner]]):
    def __getitem__(self, family: str) -> type[Learner]:
        module, name = _CLASSES[family]
        learner: type[Learner] = getattr(import_module(f"riata.learners.{module}"), name)
        return learner

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


FAMILIES: Mapping[str, type[Learner]] = _Families()
"""Every family by the name that the command line and model files know it by."""

__all__ = [
    "FAMILIES",
    "FTRL",
    "AutoRegression",
    "Bayesian",
    "BayesianRegression",
    "ElasticNet",
    "InteriorPoint",
    "Learner",
    "Portfolio",
    "Sketch",
    "TruncatedGradient",
]


def __getattr__(name: str) -> Any:
    for family, (_, learner) in _CLASSES.items():
        if name == learner:
            return FAMILIES[family]
    raise AttributeError(f"module 'riata.learners' has no attribute {name!r}")
