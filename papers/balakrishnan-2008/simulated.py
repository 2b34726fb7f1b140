"""Tables 1 and 2 and figures 3 and 4: eleven weights, rows of independent normal variables."""

from __future__ import annotations

import numpy as np
from common import HERE, Floats, batch, block_of, l1, number, online, passes, table, weights
from scipy import sparse

from riata.learners import Sketch
from riata.reference.sketch import probit_em

TRUE = np.array([0.259, 0.761, -0.360, 0.876, 0.913, -0.302, -0.820, 0, 0, 0, -0.319])
"""The paper's, in its table 1; the first is taken to be the intercept."""
VARIANCES = {"UNIT": 1.0, "SIXTH": 1 / 6}
"""Of the features: as the paper's text has it, and as its tables have it (see `evidence`)."""


def draw(t: int, link: str, seed: int, variance: float) -> tuple[sparse.csr_matrix, Floats]:
    rng = np.random.default_rng(seed)
    X = (np.sqrt(variance) * rng.normal(size=(t, 10))).astype(np.float32)
    noise = rng.logistic(size=t) if link == "logit" else rng.normal(size=t)
    y = np.where(TRUE[0] + X.astype(np.float64) @ TRUE[1:] + noise > 0, 1.0, -1.0)
    return sparse.csr_matrix(X), y


def ordered(w: Floats) -> Floats:
    """The intercept first, as in the paper."""
    return np.append(w[-1], w[:-1])


def table_1(variance: float) -> str:
    X, y = draw(100_000, "logit", 2008, variance)
    columns, head, distances = [TRUE], ["true"], [""]
    for t, theirs in ((20_000, 0.066), (60_000, 0.025), (100_000, 0.016)):
        exact, ours = batch(X[:t], y[:t], 10.0), online(X[:t], y[:t], 10.0)
        columns += [ordered(exact), ordered(ours)]
        head += [f"batch, t = {t:,}", "online"]
        distances += ["", f"**{l1(exact, ours):.3f}** (theirs {theirs})"]
    rows = [[number(c[j]) for c in columns] for j in range(11)]
    return table(head, [*rows, distances])


def _em(X: sparse.csr_matrix, y: Floats, gamma: float) -> Floats:
    dense = np.hstack([np.ones((len(y), 1)), X.toarray().astype(np.float64)])
    exact = probit_em(dense, y, gamma)
    return np.append(exact[1:], exact[0])


def table_2(variance: float) -> str:
    X, y = draw(10_000, "probit", 7, variance)
    exact = _em(X, y, 10.0)
    out = _part(
        "Probit, gamma = 10", "EM", X, y, 10.0, "probit", exact, ("0.074", "0.878", "0.050", "0")
    )
    X, y = draw(10_000, "logit", 8, variance)
    exact = batch(X, y, 100.0)
    return out + _part(
        "Logit, gamma = 100", "batch", X, y, 100.0, "logit", exact, ("0.087", "0.172", "0.003", "0")
    )


def _part(
    title: str, name: str, X: sparse.csr_matrix, y: Floats, gamma: float, link: str, exact: Floats,
    theirs: tuple[str, ...],
) -> str:  # fmt: skip
    once = online(X, y, gamma, link=link)
    growing = online(X, y, gamma, link=link, gamma_schedule="linear", horizon=len(y))
    iterates, _ = passes(X, y, gamma, 4, algorithm="multipass", link=link)
    columns = [exact, once, growing, *iterates]
    rows = [[number(ordered(c)[j]) for c in columns] for j in range(11)]
    rows.append(["**ours, L1**", *(f"**{l1(exact, c):.3f}**" for c in columns[1:])])
    rows.append(["theirs, L1", theirs[0], "", *theirs[1:], ""])
    head = [name, "online", "online, gamma growing", *(f"MP z = {z}" for z in range(1, 5))]
    return f"\n{title}\n\n" + table(head, rows)


# The paper's tables 1 and 2: batch weights, and the first iterate of MP.
THEIRS_20000 = np.array(
    [0.244, 0.700, -0.360, 0.980, 0.920, -0.275, -0.826, 0, 0.050, 0.038, -0.298]
)
THEIRS_GAMMA_100 = np.array([0.178, 0.450, -0.124, 0.713, 0.656, 0, -0.511, 0, 0, 0, -0.030])
THEIRS_EM = np.array(
    [0.252, 0.764, -0.318, 0.834, 0.894, -0.304, -0.782, -0.039, -0.036, 0, -0.327]
)
THEIRS_MP_1 = np.array(
    [0.207, 0.614, -0.263, 0.667, 0.719, -0.243, -0.627, -0.037, -0.029, 0, -0.266]
)


def evidence(draws: int = 5) -> str:
    """What the paper's tables say of the variance of its features, beside draws of ours."""
    live = np.flatnonzero(TRUE[1:]) + 1

    def scatter(w: Floats) -> float:
        return float(np.sqrt(np.mean((w - TRUE)[1:] ** 2)))

    def shrinkage(w: Floats) -> float:
        return float(np.mean(np.abs(TRUE[live]) - np.abs(w[live])))

    def share(first: Floats, last: Floats) -> float:
        return float(np.abs(first[live]).sum() / np.abs(last[live]).sum())

    ours: dict[str, list[list[float]]] = {name: [] for name in VARIANCES}
    for name, variance in VARIANCES.items():
        for seed in range(draws):
            X, y = draw(20_000, "logit", 100 + seed, variance)
            row = [scatter(ordered(batch(X, y, 10.0)))]
            X, y = draw(10_000, "logit", 200 + seed, variance)
            row.append(shrinkage(ordered(batch(X, y, 100.0))))
            X, y = draw(10_000, "probit", 300 + seed, variance)
            iterates, _ = passes(X, y, 10.0, 1, algorithm="multipass", link="probit")
            ours[name].append([*row, share(ordered(iterates[0]), ordered(_em(X, y, 10.0)))])
    theirs = (scatter(THEIRS_20000), shrinkage(THEIRS_GAMMA_100), share(THEIRS_MP_1, THEIRS_EM))
    what = (
        "table 1: root mean square error of the batch weights, t = 20,000",
        "table 2: how much nearer to zero the batch weights are than the true ones, gamma = 100",
        "table 2: part of the way to the solution that the first pass of MP goes, probit",
    )
    rows = []
    for k, label in enumerate(what):
        cells = [np.array(ours[name])[:, k] for name in VARIANCES]
        rows.append(
            [label, f"{theirs[k]:.3f}", *(f"{c.min():.3f} to {c.max():.3f}" for c in cells)]
        )
    return table(["", "theirs", "variance 1", "variance 1/6"], rows)


def figures() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    X, y = draw(100_000, "logit", 2008, VARIANCES["SIXTH"])
    times = np.unique(np.geomspace(500, 100_000, 24).astype(int))
    learner = Sketch(algorithm="online", gamma=100.0, penalize_intercept=True)
    block, start = block_of(X, y), 0
    ours, exact = np.empty((len(times), 11)), np.empty((len(times), 11))
    for i, t in enumerate(times):
        learner.learn(block[start:t])
        start = t
        ours[i] = ordered(weights(learner, 10))
        exact[i] = ordered(batch(X[:t], y[:t], 100.0))
    fig, ax = plt.subplots(figsize=(7, 4.5))
    for j in range(11):
        (line,) = ax.plot(times, ours[:, j], lw=1.5)
        ax.plot(times, exact[:, j], "--", lw=1, color=line.get_color())
    ax.plot([], [], "k-", label="online")
    ax.plot([], [], "k--", label="batch")
    ax.set(
        xlabel="examples t",
        ylabel="weight",
        title="gamma = 100: online weights approach the batch ones",
    )
    ax.legend(frameon=False, loc="center right")
    fig.tight_layout()
    fig.savefig(HERE / "figure-3.png", dpi=110)
    fig, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True)
    for ax, j in zip(axes.ravel(), (0, 1, 3, 6), strict=True):
        ax.plot(times, ours[:, j], "C0-", label="online")
        ax.plot(times, exact[:, j], "C0--", label="batch")
        right = ax.twinx()
        right.plot(times, np.abs(ours[:, j] - exact[:, j]), "C2:", label="|difference|")
        right.set_ylim(bottom=0)
        right.tick_params(axis="y", colors="C2")
        ax.set_title(f"weight {j}, true {TRUE[j]:g}", fontsize=10)
        ax.set_xlabel("examples t")
    handles = [*axes[0, 0].get_legend_handles_labels()[0], Line2D([], [], color="C2", ls=":")]
    axes[0, 0].legend(
        handles, ["online", "batch", "|difference| (right)"], frameon=False, fontsize=8
    )
    fig.tight_layout()
    fig.savefig(HERE / "figure-4.png", dpi=110)
