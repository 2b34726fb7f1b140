"""The figures: bars of features left (Figures 2 and 3), AUC against features (Figures 4 to 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PANELS = {
    "period.png": [f"{rule}, K = {k}" for rule in ("truncated gradient", "rounding") for k in (1, 10, 20)],
    "four.png": ["truncated gradient, K = 10", "truncated gradient, K = 10, theta = g",
                 "truncated gradient, K = 10, free intercept", "rounding, K = 10", "subgradient", "lasso"],
}  # fmt: skip
STYLES = {
    "truncated gradient, K = 1": ("C0", ":"), "truncated gradient, K = 10": ("C0", "-"),
    "truncated gradient, K = 20": ("C0", "--"), "rounding, K = 1": ("C1", ":"), "rounding, K = 10": ("C1", "-"),
    "rounding, K = 20": ("C1", "--"), "truncated gradient, K = 10, theta = g": ("C2", "-"),
    "truncated gradient, K = 10, free intercept": ("C4", "-"), "subgradient": ("C3", "-"), "lasso": ("black", "-"),
}  # fmt: skip


def draw(results: dict[str, Any]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    bars(results)
    for file, rules in PANELS.items():
        panels(results["curves"], rules, HERE / file)


def bars(results: dict[str, Any]) -> None:
    import matplotlib.pyplot as plt

    names = list(results["sparsify"])
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2))
    kinds = [
        ("original features", "sparsify", "original", "C0"), ("with 1,000 of noise", "sparsify", "noise", "C1"),
        ("with noise, the paper's time stamps", "stamped", "noise", "C2"),
    ]  # fmt: skip
    for k, (label, part, key, color) in enumerate(kinds):
        found = [results[part].get(n, {}).get(key) for n in names]
        x = np.arange(len(names)) + 0.27 * (k - 1)
        shares = [f["sparse"]["left"] / f["features"] if f else np.nan for f in found]
        ratios = [
            f["sparse"]["auc"] / f["plain"]["auc"] if f and "auc" in f["plain"] else np.nan
            for f in found
        ]
        left.bar(x, shares, 0.27, label=label, color=color)
        right.plot(x, ratios, "o", label=label, color=color)
    left.axhline(0.1, color="grey", linewidth=0.8)
    left.set_ylabel("fraction of features left")
    right.axhline(1, color="grey", linewidth=0.8)
    right.axhline(0.98, color="grey", linewidth=0.8, linestyle=":")
    right.set_ylabel("AUC with / without sparsification")
    for axis in (left, right):
        axis.set_xticks(range(len(names)), names, rotation=40, ha="right")
        axis.set_xlim(-0.6, len(names) - 0.4)
    figure.legend(*left.get_legend_handles_labels(), fontsize=8, ncol=3, loc="upper center")
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    figure.savefig(HERE / "features-left.png", dpi=110)
    plt.close(figure)


def frontier(points: list[Any]) -> tuple[list[float], list[float]]:
    """The best AUC with at most so many features."""
    xs, ys, best = [], [], 0.0
    for n, auc in sorted(points):
        if n > 0 and auc > best:
            best = auc
            xs.append(n)
            ys.append(auc)
    return xs, ys


def panels(curves: dict[str, Any], rules: list[str], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(15, 7), squeeze=False)
    for axis, (name, found) in zip(axes.flat, curves.items(), strict=False):
        for rule in rules:
            color, line = STYLES[rule]
            # The subgradient rule has two parameters here, so its points are a cloud: its best are drawn.
            points = [p for p in found[rule] if p[0] > 0]
            x, y = frontier(points) if rule == "subgradient" else zip(*points, strict=True)
            axis.plot(
                x,
                y,
                color=color,
                linestyle=line,
                marker=".",
                markersize=4,
                linewidth=1.2,
                label=rule,
            )
        top = max(a for points in found.values() for _, a in points)
        axis.set_ylim(max(0.5, top - 0.3), top + 0.01)
        axis.set_xscale("log")
        axis.set_title(name, fontsize=10)
    for axis in axes[:, 0]:
        axis.set_ylabel("AUC on the test part")
    for axis in axes[-1]:
        axis.set_xlabel("features left")
    axes[0, 0].legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
