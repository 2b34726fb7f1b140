"""What learns side by side in `auto`: which settings, in which order, and what a model file may say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from riata.learners import bayesian_calibration as calibration
from riata.learners.joint import joint_tensors
from riata.learners.state_check import NAMES, Arrays, Tensor, check_known, check_state

Setting = tuple[str, str, float]
"""Rule, what it sees of the values, and its prior variance or rate."""

PRIORS = tuple(0.001 * 4.0**k for k in range(8))
RATES = tuple(0.125 * 2.0**k for k in range(8))
GROUPS = (("bayesian", "raw"), ("bayesian", "rms"), ("adagrad", "unit"), ("adagrad", "unit-rms"))
JOINT = tuple(4.0**k for k in (-3, -1, 1, 3))
"""Prior variances of those that learn all weights together."""
VIEWS = ("raw", "rms", "unit", "unit-rms")
"""What a setting may see of the values; the core counts them in this order."""
SETTINGS: tuple[Setting, ...] = tuple(
    (rule, view, parameter)
    for rule, view in GROUPS
    for parameter in (PRIORS if rule == "bayesian" else RATES)
) + tuple(("joint", "raw", variance) for variance in JOINT)
"""All there are. Model files know them by their place here: it must not change."""
SEPARATE = len(SETTINGS) - len(JOINT)
"""So many learn one weight at a time, and have numbers in each feature's row; those that learn jointly have none."""

_STEPS = {8: range(8), 4: (1, 3, 5, 7), 2: (2, 5), 1: (4,)}
"""Which steps of a ladder of eight are taken when so many are."""
NUMBERS = 64
"""A feature has about so many numbers, two for each setting and class."""


def plan(outputs: int, joint: bool = False) -> tuple[int, ...]:
    """The settings of a model of so many outputs: all, or fewer where classes take the room; and four joint ones.

    >>> [len(plan(outputs)) for outputs in (1, 3, 5, 8, 9, 100)], len(plan(1, joint=True))
    ([32, 8, 4, 4, 2, 2], 36)
    """
    room = NUMBERS // (2 * outputs)
    groups = range(4) if room >= 4 else (1, 3)  # the scale-free ones have to do
    each = next(n for n in (8, 4, 2, 1) if n * len(groups) <= room or n == 1)
    separate = tuple(8 * group + step for group in groups for step in _STEPS[each])
    return separate + (tuple(range(SEPARATE, len(SETTINGS))) if joint else ())


def separate(settings: tuple[int, ...]) -> tuple[int, ...]:
    """Those that have numbers in rows.

    >>> separate((0, 31, 33))
    (0, 31)
    """
    return tuple(k for k in settings if k < SEPARATE)


def groups_of(settings: tuple[int, ...]) -> list[tuple[str, str, int, int]]:
    """Neighbours of one rule and view: both, and from where to where they stand.

    >>> groups_of((0, 5, 9, 31))
    [('bayesian', 'raw', 0, 2), ('bayesian', 'rms', 2, 3), ('adagrad', 'unit-rms', 3, 4)]
    """
    out: list[tuple[str, str, int, int]] = []
    for place, setting in enumerate(settings):
        rule, view, _ = SETTINGS[setting]
        if out and out[-1][:2] == (rule, view):
            out[-1] = (rule, view, out[-1][2], place + 1)
        else:
            out.append((rule, view, place, place + 1))
    return out


def tensors(outputs: int, members: int, in_rows: int, calibrates: bool) -> dict[str, Tensor]:
    """The tensors of a model with so many members, and so many of them with numbers in rows."""
    each = Tensor("float64", (outputs, members))
    width = 2 + 2 * outputs * in_rows
    own = {
        "keys": Tensor("int64", ("n",), least=0),
        "rows": Tensor("float64", ("n", width)),
        "intercept": Tensor("float64", (width,)),
        "settings": Tensor("int64", (members,), least=0),
        "weights": each,
        "losses": each,
        "recent_losses": each,
        "claims": each,
        "worth": each,
        "gaps": each,
        "totals": Tensor("float64", (outputs, 2)),
        "corrections": Tensor("float64", (outputs * members, 6)),
        "single": Tensor("float64", ((1 + len(VIEWS)) * outputs, 6)),
        "corrected_loss": Tensor("float64", (1,), least=0),
        "lengths": Tensor("float64", (4,), least=0),
        "seen": Tensor("int64", (2,), least=0),
    }
    if calibrates:
        own["calibration"] = Tensor("float64", calibration.blank(outputs).shape)
    return own | NAMES


def check_tensors(learner: Any, state: Arrays) -> None:
    """Raise a ValueError for the first tensor that cannot be of this learner."""
    settings = state.get("settings", np.empty(0))
    if settings.size and not (settings >= 0).all() & (settings < len(SETTINGS)).all():
        raise ValueError(f"tensor 'settings' must stay below {len(SETTINGS)}")
    in_rows = int((settings < SEPARATE).sum())
    own = tensors(learner.outputs, settings.size, in_rows, learner.calibrates)
    check_state(state, own | joint_tensors(state, learner.outputs))
    if not len(settings) or (len(settings) > 1 and np.diff(settings).min() <= 0):
        raise ValueError("tensor 'settings' must ascend, with one at least")
    if (in_rows < len(settings)) != ("joint_keys" in state) or not in_rows:
        raise ValueError("tensor 'settings' and those of joint settings do not go together")
    weights = state["weights"]
    if weights.min() < 0 or np.abs(weights.sum(axis=1) - 1).max() > 1e-6:
        raise ValueError("tensor 'weights' holds numbers that are not shares of one")
    if "names" not in state and learner.store != "hashed":
        check_known(state["keys"], int(state["seen"][1]))
