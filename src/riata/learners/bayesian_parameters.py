"""Which parameters of a Bayesian learner there are, and which go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riata.learners import bayesian_calibration as calibration
from riata.learners.base import check_choice, check_number
from riata.learners.bayesian_prior import LARGEST, check_variance, parsed
from riata.learners.linear import STORES

if TYPE_CHECKING:
    from riata.learners.bayesian import Bayesian

LINKS = ("logit", "probit")
UPDATES = ("marginal", "joint", "adf", "vb")
MEANS = ("taylor", "newton")
VARIANCES = ("curvature", "height")
VIEWS = ("raw", "binary", "log1p")


def check(learner: Bayesian) -> None:
    """Raise a ValueError for the first parameter that cannot be."""
    for name, choices in (
        ("link", LINKS),
        ("update", UPDATES),
        ("mean", MEANS),
        ("variance", VARIANCES),
        ("covariance", ("diagonal", "full")),
        ("unseen", ("prior", "ignore")),
        ("store", STORES),
    ):
        check_choice(name, getattr(learner, name), choices)
    calibration.wanted(learner.calibrate, "auto")
    for view in learner.views:
        check_choice("value", view, VIEWS)
    if len(set(learner.views)) < len(learner.views) or not learner.views:
        raise ValueError(f"value={learner.value!r} must name each view once")
    check_number("prior_mean", learner.prior_mean, above=-LARGEST, below=LARGEST)
    check_variance("intercept_variance", learner.intercept_variance)
    check_number("share", learner.share, least=0, below=1)
    check_number("samples", learner.samples, least=1)
    check_number("seed", learner.seed, least=0)
    check_number("bits", learner.bits, least=1, below=33)
    check_number("outputs", learner.outputs, least=1)
    if learner.half_life is not None:
        check_number("half_life", learner.half_life, above=0)
    if learner.covariance == "full":
        _check_full(learner)


def _check_full(learner: Bayesian) -> None:
    if learner.update != "joint":
        raise ValueError(f"covariance='full' needs update='joint', not {learner.update!r}")
    if learner.half_life is not None or isinstance(parsed(learner.prior_variance), dict):
        raise ValueError("covariance='full' knows neither half_life nor priors by name")
