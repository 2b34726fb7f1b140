"""Tables 3 and 4: Reuters-21578, ModApte, "earn"."""

from __future__ import annotations

from typing import Any

import numpy as np
import reuters
from common import HERE, Floats, batch, l1, number, online, passes, table
from scipy import sparse


def unscaled(split: reuters.Split) -> sparse.csr_matrix:
    """Rows that are not of unit length but have values of about 1, as the paper's vectors seem to: length 8."""
    return (split.X * np.float32(8)).tocsr()


def _names(words: list[str], exact: Floats) -> list[tuple[str, int]]:
    """The five largest and the five smallest weights that are not zero."""
    live = np.flatnonzero(exact)
    order = live[np.argsort(-np.abs(exact[live]))]
    chosen = order if len(order) <= 10 else np.concatenate([order[:5], order[-5:]])
    return [("Intercept" if j == len(words) else words[j], int(j)) for j in chosen]


def table_3(X: sparse.csr_matrix, y: Floats, words: list[str]) -> str:
    """gamma = 100: BBR, Online, MP after 3 and 5 passes, RMMP with k = 300 after 3, 5 and 7."""
    exact = batch(X, y, 100.0)
    mp, _ = passes(X, y, 100.0, 5, algorithm="multipass")
    rmmp, _ = passes(X, y, 100.0, 7, capacity=300)
    columns = [exact, online(X, y, 100.0), mp[2], mp[4], rmmp[2], rmmp[4], rmmp[6]]
    head = [
        "weight",
        "batch",
        "online",
        "MP z = 3",
        "z = 5",
        "RMMP, k = 300, z = 3",
        "z = 5",
        "z = 7",
    ]
    return _weights_table(head, columns, words, exact)


def table_4(X: sparse.csr_matrix, y: Floats, words: list[str]) -> str:
    """gamma = 10: the effect of k, after 8 passes."""
    exact = batch(X, y, 10.0)
    capacities = [None, 2000, 1000, 600, 300]
    columns = [exact, online(X, y, 10.0)]
    columns += [passes(X, y, 10.0, 8, capacity=k)[0][7] for k in capacities]
    head = [
        "weight",
        "batch",
        "online",
        *(f"RMMP, k = {'not given' if k is None else k}" for k in capacities),
    ]
    return _weights_table(head, columns, words, exact)


def _weights_table(head: list[str], columns: list[Floats], words: list[str], exact: Floats) -> str:
    rows = [[name, *(number(c[j]) for c in columns)] for name, j in _names(words, exact)]
    rows.append(["**L1 distance**", "", *(f"**{l1(exact, c):.2g}**" for c in columns[1:])])
    rows.append(["non-zero", *(str(np.count_nonzero(c)) for c in columns)])
    return table(head, rows)


def passes_needed(
    X: sparse.csr_matrix, y: Floats, most: int = 25
) -> tuple[str, dict[str, list[float]]]:
    """How many passes bring the weights to within 1e-3 of the batch solution, and what the certificate says."""
    rows, curves = [], {}
    for gamma in (100.0, 10.0):
        exact = batch(X, y, gamma)
        tried: tuple[tuple[str, dict[str, Any]], ...] = (
            ("MP", {"algorithm": "multipass"}),
            ("RMMP, k not given", {}),
            ("RMMP, k = 300", {"capacity": 300}),
        )
        for label, parameters in tried:
            iterates, learner = passes(X, y, gamma, most if "k" in label else 12, **parameters)
            distances = [l1(exact, w) for w in iterates]
            reached = next((z for z, v in enumerate(distances, 1) if v <= 1e-3), None)
            curves[f"{label}, gamma = {gamma:g}"] = distances
            rows.append(
                [
                    f"{gamma:g}", label, str(np.count_nonzero(exact[:-1])), str(reached),
                    f"{min(distances):.1g}", str(max(h["active"] for h in learner.history)),
                    str(sum(h["step"] < 1 for h in learner.history)),
                ]
            )  # fmt: skip
    head = ["gamma", "algorithm", "non-zero", "passes to 1e-3", "smallest L1 distance"]
    head += ["largest active set", "halvings"]
    return table(head, rows), curves


def figure(curves: dict[str, dict[str, list[float]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, len(curves), figsize=(11, 4.2), sharey=True)
    for ax, (title, lines) in zip(axes, curves.items(), strict=True):
        for label, values in lines.items():
            style = "-" if "100" in label.split("=")[-1] else "--"
            below = {"lw": 4, "alpha": 0.5} if "not given" in label else {"marker": "."}
            z = range(1, len(values) + 1)  # the two curves of RMMP nearly coincide
            ax.semilogy(z, np.maximum(values, 1e-8), style, label=label, **below)
        ax.axhline(1e-3, color="0.6", lw=0.8)
        ax.set(xlabel="passes", title=title)
    axes[0].set_ylabel("L1 distance from the batch solution")
    axes[0].legend(fontsize=7, frameon=False)
    fig.tight_layout()
    fig.savefig(HERE / "passes.png", dpi=110)
