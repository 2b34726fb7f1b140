"""The shrinkage as the paper's program computed it (section 5), which is not quite its equation 6.

Each feature has a time stamp, which starts at the first example that has the feature. When it occurs, the step is made
first, and then weight and step together are shrunk by all the gravity that is due since the stamp. A feature that
occurs once in twenty examples is so truncated once in twenty examples, with twenty times the gravity, right after its
step: much harder than equation 6 does it with K = 1.
Riata does not compute that; here it is in NumPy, for many settings side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


def passes(
    X: sparse.csr_matrix, y: Floats, eta: Floats, decay: Floats, gravity: Floats, stops: tuple[int, ...],
    from_first: bool = True,
) -> dict[int, Floats]:  # fmt: skip
    """Weights (features, settings) after each of these numbers of passes; K = 1, theta infinite.

    Without `from_first` all stamps start at zero: for a feature of every row that is equation 6.
    """
    d, step = X.shape[1], eta.copy()
    w, stamp, due = np.zeros((d, len(eta))), np.zeros((d, len(eta))), np.zeros(len(eta))
    unseen = np.full(d, from_first)
    found = {}
    for done in range(1, max(stops) + 1):
        for i in range(len(y)):
            span = slice(X.indptr[i], X.indptr[i + 1])
            seen, x = X.indices[span], X.data[span].astype(np.float64)
            due += step * gravity  # the sum of eta g up to this example
            stamp[seen[unseen[seen]]] = due
            unseen[seen] = False
            rows = w[seen]
            error = y[i] - np.clip(x @ rows, 0.0, 1.0)
            rows += x[:, None] * (2 * step * error)
            w[seen] = shrunk(rows, due - stamp[seen])
            stamp[seen] = due
        step *= decay
        if done in stops:
            found[done] = shrunk(w, due - stamp)
    return found


def shrunk(w: Floats, by: Floats) -> Floats:
    return np.sign(w) * np.maximum(np.abs(w) - by, 0.0)
