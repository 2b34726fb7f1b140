"""The pictures: truncation (figure 1), features left (figures 2 and 3), AUC against features (figures 4 to 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from curves import LASSO, SUBGRADIENT, Point
from matplotlib.lines import Line2D
from papers.data import pictures

HERE = Path(__file__).resolve().parent
STYLES = {
    "truncated gradient, K = 1": ("C0", ":", "o"), "truncated gradient, K = 10": ("C0", "-", "o"),
    "truncated gradient, K = 20": ("C0", "--", "o"), "rounding, K = 1": ("C1", ":", "s"),
    "rounding, K = 10": ("C1", "-", "s"), "rounding, K = 20": ("C1", "--", "s"),
    "truncated gradient, K = 10, theta = g": ("C2", "-", "^"),
    "truncated gradient, K = 10, free intercept": ("C4", "-", "v"), SUBGRADIENT: ("C3", "-", "D"),
    LASSO: ("black", "-", "x"),
}  # fmt: skip
PRINTED = {
    ("ad", "rounding, K = 1"): (322, 0.94), ("ad", "rounding, K = 10"): (13, 0.94),
    ("ad", "rounding, K = 20"): (7, 0.94), ("spambase", "truncated gradient, K = 1"): (76, 0.89),
    ("spambase", "truncated gradient, K = 10"): (25, 0.89), ("spambase", "truncated gradient, K = 20"): (25, 0.89),
}  # fmt: skip
"""The points that the paper prints, all in its section 6.2."""


def save(figure: Any, name: str) -> str:
    figure.savefig(pictures(HERE) / name, dpi=100)
    plt.close(figure)
    return name


def truncation() -> str:
    """Figure 1."""
    v = np.linspace(-2, 2, 801)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    axes[0].plot(v, np.where(np.abs(v) <= 1, 0.0, v), "C1")
    axes[0].set_title("T0(v, θ = 1): rounding")
    shrunk = np.sign(v) * np.maximum(np.abs(v) - 0.5, 0)
    axes[1].plot(v, np.where(np.abs(v) <= 1, shrunk, v), "C0")
    axes[1].set_title("T1(v, α = 0.5, θ = 1): truncation")
    for axis in axes:
        axis.plot(v, v, color="grey", linewidth=0.7, linestyle=":")
        axis.set_xlabel("weight v before")
        axis.set_ylabel("weight after")
    figure.tight_layout()
    return save(figure, "truncation.png")


def features_left(left: dict[str, Any], stamped: dict[str, Any]) -> str:
    """Figure 2, both sides, and figure 3."""
    names = list(left)
    figure, axes = plt.subplots(1, 3, figsize=(16, 4.6))
    kinds = [
        ("original features", left, "original", "C0", "o"),
        ("with 1,000 of noise", left, "noise", "C1", "s"),
        ("with noise, the paper's time stamps", stamped, "noise", "C2", "^"),
    ]
    for k, (label, results, kind, color, marker) in enumerate(kinds):
        found = [results[n][kind] for n in names]
        x = np.arange(len(names)) + 0.27 * (k - 1)
        for axis, of in ((axes[0], "features"), (axes[1], "original")):
            axis.bar(x, [f["sparse"]["left"] / f[of] for f in found], 0.27, label=label, color=color)  # fmt: skip
        ratios = [
            f["sparse"]["auc"] / f["plain"]["auc"] if "auc" in f["plain"] else np.nan for f in found
        ]
        axes[2].plot(x, ratios, marker, label=label, color=color)
    axes[0].axhline(0.1, color="grey", linewidth=0.8)
    if "ad" in names:
        axes[0].plot([names.index("ad")], [0.29], "k*", label="the paper, with noise")
    axes[0].set_ylabel("features left / all features")
    axes[1].set_ylabel("features left / original features")
    axes[1].set_yscale("log")
    axes[2].axhline(1, color="grey", linewidth=0.8)
    axes[2].axhline(0.98, color="grey", linewidth=0.8, linestyle=":")
    axes[2].set_ylabel("AUC with / without sparsification")
    for axis in axes:
        axis.set_xticks(range(len(names)), names, rotation=40, ha="right")
        axis.set_xlabel("set")
        axis.set_xlim(-0.6, len(names) - 0.4)
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=9, ncol=4, loc="upper center")
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    return save(figure, "features-left.png")


def frontier(points: list[Any]) -> tuple[list[float], list[float]]:
    """The best AUC with at most so many features."""
    xs, ys, best = [], [], 0.0
    for n, auc in sorted(points):
        if n > 0 and auc > best:
            best = auc
            xs.append(n)
            ys.append(auc)
    return xs, ys


def panels(curves: dict[str, Any], rules: list[str], name: str) -> str:
    """AUC against features left, a panel a set; stars are points that the paper prints."""
    high = -(-len(curves) // 4)
    figure, axes = plt.subplots(high, 4, figsize=(15, 3.5 * high + 0.6), squeeze=False)
    for axis, (data, found) in zip(axes.flat, curves.items(), strict=False):
        lines = {rule: found[rule] for rule in rules if rule != SUBGRADIENT}
        orders = [k for k in found if k.startswith(f"{SUBGRADIENT}, order")]
        printed: dict[Point, list[tuple[str, str]]] = {}
        for rule, points in [*lines.items(), *((k, found[k]) for k in orders)]:
            color, line, marker = STYLES[SUBGRADIENT if rule in orders else rule]
            # The subgradient rule has two parameters, so its points are a cloud: the best of each order are drawn.
            inside = [p for p in points if p[0] > 0]
            x, y = frontier(inside) if rule in orders else zip(*inside, strict=True)
            thin = 0.6 if rule in orders else 1.2
            label = (
                rule
                if rule in lines
                else f"{SUBGRADIENT}, three orders"
                if rule == orders[0]
                else None
            )
            axis.plot(x, y, color=color, linestyle=line, marker=marker, ms=3, lw=thin, label=label)
            if (data, rule) in PRINTED:
                printed.setdefault(PRINTED[data, rule], []).append((rule, color))
        for k, (at, there) in enumerate(printed.items()):  # the paper prints some of them alike
            axis.plot(*at, "*", color=there[0][1], markersize=11, markeredgecolor="black")
            periods = ", ".join(rule.rpartition("K = ")[2] for rule, _ in there)
            where = {"xytext": (0, 8 if k % 2 == 0 else -14), "textcoords": "offset points"}
            axis.annotate(f"K = {periods}", at, ha="center", fontsize=8, **where)
        areas = [a for points in found.values() for _, a in points]
        stars = [area for (name, _), (_, area) in PRINTED.items() if name == data]
        top, middle = max(areas), float(np.median(areas))  # where most are close, look closer
        height = min(0.3, max(0.04, 4 * (top - middle), *(1.3 * (top - area) for area in stars)))
        axis.set_ylim(max(0.5, top - height), top + height / 30)
        axis.set_xscale("log")
        axis.set_title(data, fontsize=10)
        axis.set_ylabel("AUC on the test part")
        axis.set_xlabel("features left")
    for axis in axes.flat[len(curves) :]:
        axis.set_visible(False)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    star = Line2D([], [], ls="", marker="*", color="white", markeredgecolor="black", markersize=11)
    handles, labels = [*handles, star], [*labels, "the paper's points"]
    figure.legend(handles, labels, fontsize=9, ncol=4, loc="upper center")
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.6 / (3.5 * high + 0.6)))
    return save(figure, name)
