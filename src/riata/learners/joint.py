"""Settings of `auto` that learn all weights together: their state; see cpp/riata/portfolio/joint.hpp."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.learners.base import Floats, State
from riata.learners.state_check import Arrays, Tensor

JOINT_OPTION = "fit settings that learn all weights together, while there are few features"
LANES = 4
"""There are so many, side by side."""
INTERCEPT = -1
"""Its key among theirs."""
OFF_CENTRE = 8
"""The intercept's variance has that of so many weights on top: cpp/riata/portfolio/joint.hpp says why."""


def prior_variances(
    keys: NDArray[np.int64], units: Floats, priors: tuple[float, ...], intercept: float
) -> Floats:
    """Those that weights begin with, (features, 4).

    >>> prior_variances(np.array([-1, 7]), np.array([1.0, 4.0]), (0.25, 1.0, 4.0, 16.0), 6.0).tolist()
    [[8.0, 14.0, 38.0, 134.0], [0.0625, 0.25, 1.0, 4.0]]
    """
    variances = np.array(priors) / units[:, None]
    variances[keys == INTERCEPT] = intercept + OFF_CENTRE * np.array(priors)
    return variances


def joint_tensors(state: Arrays, outputs: int) -> dict[str, Tensor]:
    """What a state says of them; nothing where there are none, or where they have ended."""
    if "joint_keys" not in state:
        return {}
    n = np.size(state["joint_keys"])
    return {
        "joint_keys": Tensor("int64", (n,), least=INTERCEPT),
        "joint_units": Tensor("float64", (n,), least=0),
        "joint_means": Tensor("float64", (outputs * n, LANES)),
        "joint_variances": Tensor("float64", (outputs * n, LANES), least=0),
        "joint_factors": Tensor("float64", (outputs * n * (n - 1) // 2 if n else 0, LANES)),
        "joint_seen": Tensor("float64", (2,), least=0),
    }


def restore_joint(core: Any, state: State) -> None:
    """Go on from a state; without these settings in it, they have ended."""
    if "joint_keys" not in state:
        core.end_joint()
        return
    core.set_joint(
        *(
            state[f"joint_{name}"]
            for name in ("keys", "units", "means", "variances", "factors", "seen")
        )
    )


def joint_means(state: State, keys: NDArray[np.int64], output: int = 0) -> Floats:
    """The means of these features' weights, (features, 4): zero where these settings know nothing.

    >>> state = {"joint_keys": np.array([-1, 7]), "joint_means": np.array([[1.0] * 4, [2.0] * 4])}
    >>> joint_means(state, np.array([5, 7])).tolist()
    [[0.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]]
    """
    out = np.zeros((len(keys), LANES))
    if "joint_keys" not in state or not len(state["joint_keys"]):
        return out
    own = state["joint_keys"]
    order = np.argsort(own, kind="stable")
    at = np.minimum(np.searchsorted(own[order], keys), len(own) - 1)
    known = own[order][at] == keys
    first = output * len(own)
    out[known] = state["joint_means"][first + order[at[known]]]
    return out


def more_outputs(
    state: State,
    before: int,
    outputs: int,
    priors: tuple[float, ...],
    intercept: float,
    part: float = 1.0,
    seldom: float = 0.0,
) -> State:
    """The tensors with more outputs; a single one becomes those of classes 0 and 1, mirrored. New ones know nothing.

    Of the means of a single one each of the two takes this part. Intercepts of new ones begin so far below zero.
    """
    if "joint_keys" not in state:
        return {}
    n = len(state["joint_keys"])
    blank = {
        "means": np.zeros((n, LANES)),
        "variances": prior_variances(state["joint_keys"], state["joint_units"], priors, intercept),
        "factors": np.zeros((n * (n - 1) // 2, LANES)),
    }
    first = state["joint_keys"] == INTERCEPT
    blank["means"][first] = -seldom
    blank["variances"][first] = 1 / (1 / blank["variances"][first] + seldom)
    found = {}
    for name, new in blank.items():
        old = state[f"joint_{name}"]
        both = [-part * old, part * old] if name == "means" else [old, old]
        parts = both if before == 1 else [old]
        known = 2 if before == 1 else before
        found[f"joint_{name}"] = np.vstack([*parts, *([new] * (outputs - known))])
    return found
