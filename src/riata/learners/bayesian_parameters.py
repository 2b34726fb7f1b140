"""The parameters of a Bayesian learner: what they are, what they mean, which go together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from riata.learners import bayesian_calibration as calibration
from riata.learners.base import STORES, check_choice, check_number, option, store_option
from riata.learners.bayesian_calibration import CalibratedLearner
from riata.learners.feature_scale import OwnScale, scale_option

LINKS = ("logit", "probit")
UPDATES = ("marginal", "joint", "adf", "vb")
MEANS = ("taylor", "newton")
VARIANCES = ("curvature", "height")
VIEWS = ("raw", "binary", "log1p")
AUTO = tuple(0.001 * 4.0**k for k in range(8))
"""The prior variances that `prior_variance="auto"` averages."""
SMALLEST, LARGEST = 1e-20, 1e20


@dataclass(frozen=True, kw_only=True)
class BayesianParameters(OwnScale, CalibratedLearner):
    """What can be chosen, and what follows from it."""

    prior_variance: str | float | Mapping[str, float] = option(
        "auto",
        "variance of a weight before its first example: auto, a number, or by namespace (user=0.5,*=1)",
    )
    prior_mean: float = option(0.0, "mean of a weight before its first example")
    intercept_variance: float = option(2 * math.pi, "variance of the intercept at the start")
    value: str | tuple[str, ...] = option(
        "raw", "what is seen of a value: raw, binary, log1p, or several of them, averaged"
    )
    feature_scale: str = scale_option("none")
    link: str = option("logit", "how a score becomes a probability", LINKS)
    update: str = option(
        "marginal", "feature by feature, all at once, by moments, or sampled", UPDATES
    )
    mean: str = option("taylor", "new means in one step, or iterated to the peak", MEANS)
    variance: str = option(
        "curvature", "new variances from the peak's curvature or height", VARIANCES
    )
    covariance: str = option(
        "diagonal", "full keeps all covariances: joint update, few features", ("diagonal", "full")
    )
    half_life: float | None = option(None, "evidence fades by half in so many examples")
    share: float = option(0.0, "part of the averaging weights spread evenly after each example")
    calibrate: str | bool = option(
        "auto",
        "correct log odds by how they did so far; auto: with prior variance auto",
        calibration.CHOICES,
    )
    samples: int = option(100, "samples of update vb")
    seed: int = option(0, "of the samples of update vb")
    unseen: str = option(
        "prior",
        "a feature without a weight adds its prior's uncertainty, or nothing",
        ("prior", "ignore"),
    )
    fit_intercept: bool = option(True, "learn an intercept")
    store: str = store_option()
    bits: int = option(22, "the hashed store has 2^bits rows")
    outputs: int = option(
        1, "columns of weights: one for two classes or a number, one a class for more"
    )

    @property
    def prior_variances(self) -> tuple[float, ...]:
        """The prior variances that learn side by side: one, unless it is "auto"."""
        prior = parsed(self.prior_variance)
        if isinstance(prior, dict):
            return (float(prior.get("*", 1.0)),)
        return AUTO if prior == "auto" else (float(prior),)

    @property
    def views(self) -> tuple[str, ...]:
        """How the components see the values of features."""
        if isinstance(self.value, str):
            return tuple(part.strip() for part in self.value.split(","))
        return tuple(self.value)

    @property
    def components(self) -> list[tuple[str, float]]:
        """View and prior variance of each component, in the order of `evidence`."""
        return [(view, variance) for view in self.views for variance in self.prior_variances]


def check(learner: BayesianParameters) -> None:
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
    if learner.feature_scale == "rms" and learner.views != ("raw",):
        raise ValueError(
            f"feature_scale='rms' is for values as they are, not for value={learner.value!r}: choose one of the two"
        )
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


def _check_full(learner: BayesianParameters) -> None:
    if learner.update != "joint":
        raise ValueError(f"covariance='full' needs update='joint', not {learner.update!r}")
    if learner.half_life is not None or isinstance(parsed(learner.prior_variance), dict):
        raise ValueError("covariance='full' knows neither half_life nor priors by name")


def check_variance(name: str, value: Any) -> None:
    """Positive, and far enough from the ends of the range of floats that no product overflows."""
    check_number(name, value, above=0)
    if not SMALLEST <= float(value) <= LARGEST:
        raise ValueError(f"{name}={value!r} must be between {SMALLEST:g} and {LARGEST:g}")


def parsed(value: str | float | Mapping[str, float]) -> str | float | dict[str, float]:
    """What prior_variance means: "auto", a number, or numbers by namespace or name.

    >>> parsed("user=0.5, *=1")
    {'user': 0.5, '*': 1.0}
    """
    if isinstance(value, str):
        if value == "auto":
            return value
        if "=" in value:
            parts = [part.rpartition("=") for part in value.split(",")]
            value = {name.strip(): number for name, _, number in parts}  # type: ignore[misc]
    if isinstance(value, Mapping):
        if not value:
            raise ValueError("prior_variance={} names no prior: give at least {'*': 1.0}")
        for name, number in value.items():
            check_variance(f"prior_variance[{name!r}]", number)
        return {str(name): float(number) for name, number in value.items()}
    check_variance("prior_variance", value)
    return float(value)
