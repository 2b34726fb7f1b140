"""RESULTS.md and the figure from results.json: python report.py"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from page import filled  # noqa: E402

# Table 1 of the paper: seconds an example.
THEIRS = {"sgd": (0.0102, 21.377, 14.381), "fobos": (0.0120, 22.511, 16.785)}
THEIR_D, THEIR_P = 260_941, 88.54
WAYS = (
    "Python, lazy",
    "Python, dense",
    "Python, sparse predictions",
    "NumPy, dense",
    "NumPy, sparse predictions",
    "Riata, lazy",
)


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def duration(s: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if s >= size:
            return f"{s / size:.3g} {unit}"
    return f"{s / 1e-9:.0f} ns"


def name_of(update: str) -> str:
    return {"sgd": "SGD", "fobos": "FoBoS"}[update]


def shapes(results: dict[str, Any]) -> str:
    rows = [
        [
            "Medline, the paper's",
            "1,000,000",
            f"{THEIR_D:,}",
            f"{THEIR_P}",
            f"{THEIR_D / THEIR_P:,.0f}",
        ]
    ]
    for name, r in results["table"].items():
        rows.append([name, f"{r['rows']:,}", f"{r['d']:,}", f"{r['p']:.1f}", f"{r['d'] / r['p']:,.0f}"])  # fmt: skip
    return table(["set", "examples", "features d", "non-zeros a row p", "d / p"], rows)


def times(results: dict[str, Any]) -> str:
    rows = []
    for update, (lazy, dense, predicted) in THEIRS.items():
        cells = [duration(v) for v in (lazy, dense, predicted)]
        rows.append([f"Medline, the paper's, {name_of(update)}", *cells, "", "", ""])
    for name, r in results["table"].items():
        rows += [[f"{name}, {name_of(u)}", *(duration(r[u][way]) for way in WAYS)] for u in THEIRS]
    return table(["set", *WAYS], rows)


def ratios(results: dict[str, Any]) -> str:
    rows = []
    for update, (lazy, dense, predicted) in THEIRS.items():
        rows.append([
            f"Medline, the paper's, {name_of(update)}", f"{THEIR_D / THEIR_P:,.0f}",
            f"{dense / lazy:,.0f}", f"{predicted / lazy:,.0f}", "", "",
        ])  # fmt: skip
    for name, r in results["table"].items():
        for u in THEIRS:
            t = r[u]
            rows.append([
                f"{name}, {name_of(u)}", f"{r['d'] / r['p']:,.0f}",
                f"{t['Python, dense'] / t['Python, lazy']:,.0f}",
                f"{t['Python, sparse predictions'] / t['Python, lazy']:,.0f}",
                f"{t['NumPy, dense'] / t['Riata, lazy']:,.0f}",
                f"{t['NumPy, sparse predictions'] / t['Riata, lazy']:,.0f}",
            ])  # fmt: skip
    head = ["set", "d / p", "dense / lazy, both Python", "sparse predictions / lazy, both Python"]
    return table([*head, "NumPy dense / Riata", "NumPy with sparse predictions / Riata"], rows)


def equal(results: dict[str, Any]) -> str:
    rows = [
        [*key.split(", "), f"{r['live']:,}", *(f"{r[way]:.0e}" for way in ("Riata", "Python", "printed"))]
        for key, r in results["equality"].items()
    ]  # fmt: skip
    head = ["update", "learning rate", "", "", "weights not zero"]
    return table([*head, "Riata", "lazy Python", "lazy Python, B as printed"], rows)


def swept(results: dict[str, Any]) -> str:
    rows = [
        [
            f"{r['d']:,}",
            f"{r['p']:.0f}",
            f"{r['d'] / r['p']:,.0f}",
            duration(r["Python, lazy"]),
            duration(r["Riata, lazy"]),
            f"{r['Python, dense'] / r['Python, lazy']:,.0f}",
            f"{r['NumPy, dense'] / r['Riata, lazy']:,.0f}",
        ]
        for r in results["sweep"]
    ]
    head = ["d", "p", "d / p", "lazy Python", "Riata"]
    return table([*head, "dense / lazy, both Python", "NumPy / Riata"], rows)


def quoted(results: dict[str, Any]) -> dict[str, str]:
    wrong = [r["printed"] for key, r in results["equality"].items() if r["printed"] > 1e-9]
    assert all(k.startswith("sgd") for k, r in results["equality"].items() if r["printed"] > 1e-9)
    near = [max(r["Riata"], r["Python"]) for r in results["equality"].values()]
    wide = [r for r in results["sweep"] if r["d"] >= 64_000]
    share = [r["Python, dense"] / r["Python, lazy"] / (r["d"] / r["p"]) for r in wide]
    made = results["table"]["made in Medline's shape"]
    return {
        "APART": f"{max(near):.0e}",
        "WRONG_LEAST": f"{min(wrong):.0e}",
        "WRONG_MOST": f"{max(wrong):.0e}",
        "WRONG_CASES": str(len(wrong)),
        "SHARE_LEAST": f"{min(share):.2f}",
        "SHARE_MOST": f"{max(share):.2f}",
        "OURS_SGD": f"{made['sgd']['Python, dense'] / made['sgd']['Python, lazy']:,.0f}",
        "OURS_FOBOS": f"{made['fobos']['Python, dense'] / made['fobos']['Python, lazy']:,.0f}",
        "OURS_PREDICTED_SGD": f"{made['sgd']['Python, sparse predictions'] / made['sgd']['Python, lazy']:,.0f}",
        "OURS_PREDICTED_FOBOS": f"{made['fobos']['Python, sparse predictions'] / made['fobos']['Python, lazy']:,.0f}",
        "OURS_RATIO": f"{made['d'] / made['p']:,.0f}",
        "LAZY_PYTHON": duration(made["fobos"]["Python, lazy"]),
        "LAZY_RIATA": duration(made["fobos"]["Riata, lazy"]),
        "RIATA_TIMES": f"{made['fobos']['Python, lazy'] / made['fobos']['Riata, lazy']:,.0f}",
        "VERSIONS": results["versions"],
    }


def figure(results: dict[str, Any]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    drawn, axis = plt.subplots(figsize=(6.4, 4.6))
    points = results["sweep"]
    ends = [min(r["d"] / r["p"] for r in points), max(r["d"] / r["p"] for r in points)]
    axis.plot(ends, ends, color="grey", linewidth=0.8, label="d / p")
    for top, bottom, color in (
        ("Python, dense", "Python, lazy", "C0"),
        ("NumPy, dense", "Riata, lazy", "C1"),
    ):
        for group, marker in ((8, "o"), (88, "s"), (880, "^")):
            found = [r for r in points if abs(r["p"] - group) < group / 2]
            x = [r["d"] / r["p"] for r in found]
            y = [r[top] / r[bottom] for r in found]
            axis.plot(
                x,
                y,
                marker=marker,
                color=color,
                linewidth=1,
                label=f"{top} / {bottom}, p = {group}",
            )
    paper = [THEIRS[u][1] / THEIRS[u][0] for u in THEIRS]
    axis.plot([THEIR_D / THEIR_P] * 2, paper, "k*", markersize=10, label="the paper, dense / lazy")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("features d / non-zeros a row p")
    axis.set_ylabel("time an example, dense / lazy")
    axis.legend(fontsize=7)
    drawn.tight_layout()
    drawn.savefig(HERE / "speed-up.png", dpi=110)


def text(results: dict[str, Any]) -> str:
    """RESULTS.md."""
    parts = quoted(results) | {
        "SHAPES": shapes(results), "TIMES": times(results), "RATIOS": ratios(results),
        "EQUAL": equal(results), "SWEEP": swept(results),
    }  # fmt: skip
    return filled(HERE, parts)


def write(results: dict[str, Any]) -> None:
    figure(results)
    (HERE / "RESULTS.md").write_text(text(results))


if __name__ == "__main__":
    write(json.loads((HERE / "results.json").read_text()))
