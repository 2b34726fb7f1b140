"""A learner as a page has it: what scores a row there, exactly where it fits, and a note where it does not."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.errors import SettingsError
from riata.learners import Learner
from riata.learners.bayesian_parameters import parsed as parsed_prior

Floats = NDArray[np.float64]

BUDGET = 9_000_000
"""Characters that the packed model may take in a page."""
LONGEST_NAME = 4096
"""Bytes. Features with longer names are not in a page."""
_NO_EVIDENCE = 1e-30
"""A component with less than this share of the average is left out."""


@dataclass
class Parts:
    """What the page needs to score with a model, before it is packed."""

    about: dict[str, Any]
    keys: NDArray[np.int64]
    arrays: dict[str, Floats]
    """One column a feature: (rows, features)."""
    shown: Floats
    """(outputs, features): the weights of one linear model, which the page shows and explains with."""
    std: Floats | None = None

    def take(self, kept: NDArray[Any]) -> Parts:
        arrays = {name: array[:, kept] for name, array in self.arrays.items()}
        std = None if self.std is None else self.std[:, kept]
        return Parts(self.about, self.keys[kept], arrays, self.shown[:, kept], std)


@dataclass
class Packed:
    """A model in a page: what to say of it, its arrays as text, and what a reader must know."""

    about: dict[str, Any]
    text: str
    notes: list[str] = field(default_factory=list)
    n_features: int = 0
    """In the page."""


def linear_parts(learner: Learner) -> Parts:
    keys, weights = learner.coef()
    parameters = learner.parameters()
    scaled = parameters.get("feature_scale", "none") == "rms"
    if scaled and parameters.get("normalize") == "l2":
        raise SettingsError(
            "a page cannot score rows that are divided by their length after their features were "
            "(feature_scale='rms' with normalize='l2')"
        )
    link = parameters.get("link")
    loss = link if link is not None else parameters.get("loss", "logistic")
    has = learner.probability(np.zeros((1, learner.outputs))) is not None
    about = {
        "kind": "linear",
        "intercept": learner.intercept.tolist(),
        "normalize": parameters.get("normalize", "none"),
        "clip": parameters.get("clip"),
        "probability": (loss if loss in ("probit", "modified_huber") else "logistic")
        if has
        else None,
    }
    shown = np.ascontiguousarray(weights.T)
    return Parts(about, keys, {"weights": shown}, shown)


def single_parts(learner: Any) -> Parts:
    """The one linear model of `coef` in place of an average, which is another model."""
    parts = linear_parts(learner)
    parts.about |= {"normalize": "none", "probability": "logistic"}
    return parts


def bayesian_parts(learner: Any) -> Parts:
    with learner.lock:
        keys, means, variances = learner.posterior()
        first_means, first_variances = learner.intercept_posterior()
        evidence = learner.evidence
        correction = learner.correction.tolist() if learner.calibrates else None
        log_evidence = np.array(learner._core.log_evidence).reshape(learner.outputs, -1)
    kept = np.flatnonzero((evidence > _NO_EVIDENCE).any(axis=0))
    average = (evidence * means).sum(axis=-1)
    around = variances + (means - average[..., None]) ** 2
    std = np.sqrt((evidence * around).sum(axis=-1))
    prior = parsed_prior(learner.prior_variance)
    named = {k: v for k, v in prior.items() if k != "*"} if isinstance(prior, dict) else {}
    about = {
        "kind": "bayesian",
        "components": [
            {"view": view, "variance": variance}
            for i, (view, variance) in enumerate(learner.components)
            if i in kept
        ],
        "log_evidence": log_evidence[:, kept].tolist(),
        "intercept_means": first_means[:, kept].tolist(),
        "intercept_variances": first_variances[:, kept].tolist(),
        "prior_mean": float(learner.prior_mean),
        "named_variances": named,
        "unseen": learner.unseen,
        "scaled": learner.feature_scale == "rms",
        "link": learner.link,
        "correction": correction,
        "probability": "logistic",
        "shown_intercept": learner.intercept.tolist(),
    }
    columns = {
        "means": _flat(means[..., kept]).T,
        "variances": _flat(variances[..., kept]).T,
    }
    return Parts(about, keys, columns, average.T, std.T)


def _flat(values: Floats) -> Floats:
    """A row a feature, also where there is none."""
    return values.reshape(len(values), math.prod(values.shape[1:]))


def auto_parts(learner: Any) -> Parts:
    from riata.explain.settings import settings_of
    from riata.learners.portfolio import whole_rows
    from riata.learners.portfolio_settings import SETTINGS

    with learner.lock:
        parts, state = settings_of(learner), learner.state()
    assert parts is not None
    members = [
        {"rule": rule, "view": view, "parameter": parameter}
        for rule, view, parameter in (SETTINGS[k] for k in parts.settings)
    ]
    rows = whole_rows(state, state["rows"], state["keys"])
    many = len(parts.keys)  # behind all, one that was never seen: the page knows
    means, variances = parts.features.means[:many], parts.features.variances[:many]
    about = {
        "kind": "auto",
        "factors": parts.factors.tolist(),
        "constants": parts.constants.tolist(),
        "members": members,
        "log_evidence": parts.log_weights.tolist(),
        "intercept_means": parts.intercept.means[0].tolist(),
        "intercept_variances": parts.intercept.variances[0].tolist(),
        "correction": _core.recalibration(state["calibration"]) if learner.calibrates else None,
        "probability": "shared" if parts.shares else "logistic",
        "shown_intercept": learner.intercept.tolist(),
    }
    columns = {
        "counts": rows[:, :1].T,
        "squares": rows[:, 1:2].T,
        "means": _flat(means).T,
        "variances": _flat(variances).T,
    }
    sizes = np.sqrt(np.divide(rows[:, 1], rows[:, 0], out=np.ones(len(rows)), where=rows[:, 0] > 0))
    shown = learner._blended(state, rows, np.where(sizes > 0, sizes, 1))
    return Parts(about, state["keys"], columns, shown.T)
