"""Weights that have to obey rules: a scorecard whose points may only add up.

    python examples/scorecard.py

Each item of a checklist may raise the risk or leave it alone; a negative weight could not be
explained to anybody. Two of the items say nearly the same, and free weights put one of them on the
wrong side of zero. A sketch with bounds has the exact optimum among the weights that are not negative.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from riata import SketchClassifier

ITEMS = ["arrears", "new customer", "late twice", "late once", "no deposit", "shoe size"]
TRUE = np.array([1.5, 0.6, 1.2, 0.0, 0.8, 0.0])


def cases(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = (rng.random((n, len(ITEMS))) < 0.3).astype(float)
    X[:, 3] = np.maximum(X[:, 2], rng.random(n) < 0.05)  # who was late twice was late once
    y = rng.random(n) < 1 / (1 + np.exp(-(X @ TRUE - 2.5)))
    return X, y


def main() -> None:
    X, y = cases(1_500, seed=6)
    X_new, y_new = cases(20_000, seed=99)
    free = LogisticRegression(C=np.inf).fit(X, y)
    bound = SketchClassifier(gamma=0.15, bounds=(0, None)).fit(X, y)
    weights = bound.coef_[0]
    assert bound.converged_
    assert (weights >= 0).all()

    print("item             free   at least 0    truth")
    for item, w, v, true in zip(ITEMS, free.coef_[0], weights, TRUE, strict=True):
        print(f"{item:14} {w:+6.2f} {v:+12.3f} {true:+8.2f}")

    print("\nlog loss on cases that neither has seen")
    print(f"  free        {log_loss(y_new, free.predict_proba(X_new)):.4f}")
    print(f"  at least 0  {log_loss(y_new, bound.predict_proba(X_new)):.4f}")

    points = np.round(weights * 10).astype(int)
    card = ", ".join(f"{item} {p}" for item, p in zip(ITEMS, points, strict=True) if p)
    print(f"\nThe card, in points: {card}")


if __name__ == "__main__":
    main()
