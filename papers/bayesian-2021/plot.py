"""The figures from results.json: python plot.py (needs matplotlib)."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
TITLES = {
    "random 20": "d = 200, 20 present on average, std 1",
    "random 40": "d = 200, 40 present on average, std 1",
    "long tail": "18 categories of 2 to 262,144 features, Zipf, std 2",
}


def main() -> None:
    results = json.loads((HERE / "results.json").read_text())["results"]
    figure, axes = plt.subplots(1, len(results), figsize=(5.2 * len(results), 4.4))
    for axis, (name, algorithms) in zip(axes, results.items(), strict=True):
        for label, result in algorithms.items():
            times, values = zip(*result["curve"], strict=True)
            text = f"{label} ({result['setting']})" if result["setting"] else label
            style = {"linewidth": 2.4} if label.startswith("ApproxG, curv") else {"linewidth": 1.2}
            axis.plot(times, values, label=text, **style)
        axis.set_xscale("log")
        axis.set_ylim(bottom=0)
        axis.set_title(TITLES[name], fontsize=10)
        axis.set_xlabel("examples t")
        axis.legend(fontsize=7)
    axes[0].set_ylabel("regret / ln t, first draw")
    figure.tight_layout()
    figure.savefig(HERE / "regret.png", dpi=110)


if __name__ == "__main__":
    main()
