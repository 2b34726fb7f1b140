"""From no feature to many: the exact L1 path, each solution with a proof of how good it is.

    python examples/exact_path.py

The sketch minimises the sum of the losses + gamma * sum |w|. Every solution comes with a duality
gap: no weights whatsoever can have an objective that is lower by more than that. scikit-learn's
solver confirms one of them.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from riata import SketchClassifier

ROWS, FEATURES, TELLING = 5_000, 400, 12


def problem(seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = sparse.random(ROWS, FEATURES, density=0.05, format="csr", random_state=rng)
    w = np.zeros(FEATURES)
    w[:TELLING] = np.linspace(3, -3, TELLING)
    y = rng.random(ROWS) < 1 / (1 + np.exp(-(X @ w)))
    return X, y


def main() -> None:
    X, y = problem()
    model = SketchClassifier(gamma="path", path_length=8, path_ratio=0.03, tol=1e-8)
    model.fit(X, y)
    print(f"{ROWS:,} examples, {FEATURES} features of which the first {TELLING} matter\n")
    print("  gamma   weights   of the telling   objective   gap, relative")
    for solution in model.path_:
        live = np.flatnonzero(solution.coef)
        right = int((live < TELLING).sum())
        objective, gap = float(solution.objective[0]), float(solution.gap[0])
        print(
            f"{solution.gamma:7.2f}   {len(live):7}   {right:14}   {objective:9.2f}   {gap / objective:.1e}"
        )
    print(f"\n{model.n_iter_} passes over the data for all of them together.")

    gamma = model.path_[4].gamma
    ours = SketchClassifier(gamma, penalize_intercept=True, tol=1e-8).fit(X, y)
    theirs = LogisticRegression(
        solver="liblinear", l1_ratio=1, C=1 / gamma, tol=1e-8, max_iter=10_000, random_state=0
    ).fit(X, y)
    apart = np.abs(ours.coef_ - theirs.coef_).max()
    print(f"At gamma {gamma:.2f} no weight differs from liblinear's by more than {apart:.0e}.")


if __name__ == "__main__":
    main()
