"""Learners: one file a family. Frozen parameters, explicit state, `learn` and `score` on Blocks."""

from riata.learners.base import Learner
from riata.learners.elastic_net import ElasticNet

FAMILIES: dict[str, type[Learner]] = {learner.family: learner for learner in (ElasticNet,)}
"""Every family by the name that the command line and model files know it by."""

__all__ = ["FAMILIES", "ElasticNet", "Learner"]
