"""The papers' steps, which rivals take too: one rate for all features, and values as they are.

What an older checkout does not know is left out where that is measured (`--compare`): it had no other way.
"""

from __future__ import annotations

import inspect
from typing import Any

from riata.learners import ElasticNet


def known(learner: type[Any], **parameters: Any) -> dict[str, Any]:
    """Those of the parameters that a learner has.

    >>> known(ElasticNet, eta0=0.5, colour="red")
    {'eta0': 0.5}
    """
    has = inspect.signature(learner).parameters
    return {name: value for name, value in parameters.items() if name in has}


AS_THEY_ARE = known(ElasticNet, feature_scale="none")
SCHEDULE: dict[str, Any] = {"learning_rate": "inv_sqrt", **AS_THEY_ARE}
FLAGS = ("--learning-rate", "inv_sqrt", *(("--feature-scale", "none") if AS_THEY_ARE else ()))
"""The same on the command line."""
