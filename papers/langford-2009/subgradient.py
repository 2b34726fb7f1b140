"""The subgradient rule (equation 5) with the period K of section 6.4, for many settings side by side.

Every K-th step pulls every weight by K times the gravity, towards zero and past it; Riata's own
`update="subgradient"` pulls at every step, K = 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
PERIOD = 10


def passes(
    X: sparse.csr_matrix, y: Floats, eta: Floats, decay: Floats, gravity: Floats, stops: tuple[int, ...],
    period: int = PERIOD,
) -> dict[int, Floats]:  # fmt: skip
    '""Weights (features, settings) after each of these numbers of passes; predictions are kept within 0 and 1.""'
    step, w, taken = eta.copy(), np.zeros((X.shape[1], len(eta))), 0
    found = {}
    for done in range(1, max(stops) + 1):
        for i in range(len(y)):
            span = slice(X.indptr[i], X.indptr[i + 1])
            seen, x = X.indices[span], X.data[span].astype(np.float64)
            rows = w[seen]
            taken += 1
            pulled = np.sign(w) if taken % period == 0 else None
            w[seen] = rows + x[:, None] * (2 * step * (y[i] - np.clip(x @ rows, 0.0, 1.0)))
            if pulled is not None:
                w -= pulled * (step * period * gravity)
        step *= decay
        if done in stops:
            found[done] = w.copy()
    return found
