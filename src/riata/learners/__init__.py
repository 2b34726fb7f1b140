"""Learners: one file a family. Frozen parameters, explicit state, `learn` and `score` on Blocks."""

from riata.learners.base import Learner
from riata.learners.bayesian import Bayesian
from riata.learners.elastic_net import ElasticNet
from riata.learners.ftrl import FTRL
from riata.learners.interior import InteriorPoint
from riata.learners.sketch import Sketch
from riata.learners.truncated import TruncatedGradient

FAMILIES: dict[str, type[Learner]] = {
    learner.family: learner
    for learner in (ElasticNet, TruncatedGradient, FTRL, Bayesian, Sketch, InteriorPoint)
}
"""Every family by the name that the command line and model files know it by."""

__all__ = [
    "FAMILIES",
    "FTRL",
    "Bayesian",
    "ElasticNet",
    "InteriorPoint",
    "Learner",
    "Sketch",
    "TruncatedGradient",
]
