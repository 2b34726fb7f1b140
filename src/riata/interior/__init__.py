"""Stochastic approximation under convex constraints: Carbonetto, Schmidt & de Freitas 2008, Fig. 1.

>>> import numpy as np
>>> from riata import interior
>>> target = np.array([0.9, 0.6, -0.5])
>>> def gradient(x, rng):                       # of |x - target|^2 / 2, seen through noise
...     return x - target + 0.1 * rng.normal(size=3)
>>> found = interior.minimize(gradient, interior.Simplex(3), steps=5000, sigma=0.1, rng=0)
>>> found.x.round(2) + 0.0                      # the nearest point whose entries are >= 0 and add up to 1
array([0.65, 0.35, 0.  ])
"""

from riata.interior.constraints import (
    All,
    Box,
    Constraints,
    ConstraintsError,
    L1Ball,
    Linear,
    Simplex,
)
from riata.interior.method import Iterate, StoppedError, harmonic, minimize

__all__ = [
    "All",
    "Box",
    "Constraints",
    "ConstraintsError",
    "Iterate",
    "L1Ball",
    "Linear",
    "Simplex",
    "StoppedError",
    "harmonic",
    "minimize",
]
