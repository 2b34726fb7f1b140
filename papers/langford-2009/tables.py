"""RESULTS.md and the figures from results.json: python tables.py"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from curves import LASSO, best_of, fewest

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from page import filled  # noqa: E402

NEAR = 0.98
SHORT = {
    "truncated gradient, K = 1": "TG, K = 1",
    "truncated gradient, K = 10": "TG, K = 10",
    "truncated gradient, K = 20": "TG, K = 20",
    "truncated gradient, K = 10, theta = g": "TG, K = 10, θ = g",
    "truncated gradient, K = 10, free intercept": "TG, K = 10, free intercept",
}


def rounded(value: Any) -> Any:
    """Six digits, so that the file stays readable."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def share(result: dict[str, Any], of: str = "features") -> str:
    return f"{result['sparse']['left']:.0f} / {result[of]} ({result['sparse']['left'] / result[of]:.0%})"


def quality(result: dict[str, Any]) -> str:
    """Accuracy, or square loss, on the test part: before and after."""
    if "loss" in result["plain"]:
        return f"loss {result['plain']['loss']:.4f} → {result['sparse']['loss']:.4f}"
    return f"{result['plain']['accuracy']:.1%} → {result['sparse']['accuracy']:.1%}"


def ratio(result: dict[str, Any]) -> float | None:
    return result["sparse"]["auc"] / result["plain"]["auc"] if "auc" in result["plain"] else None


def ratio_text(result: dict[str, Any]) -> str:
    r = ratio(result)
    return "" if r is None else f"{r:.3f}"


def features_left(results: dict[str, Any]) -> str:
    rows = []
    for name, found in results["sparsify"].items():
        a, b = found["original"], found["noise"]
        stamped = results["stamped"].get(name)
        rows.append(
            [name, share(a), quality(a), ratio_text(a), share(b), quality(b), ratio_text(b)]
            + ([share(stamped["noise"]), quality(stamped["noise"])] if stamped else ["", ""])
        )
    head = ["set", "left", "test accuracy", "AUC ratio", "with noise: left", "test accuracy", "AUC ratio"]  # fmt: skip
    return table([*head, "with noise, time stamps: left", "test accuracy"], rows)


def scales(results: dict[str, Any]) -> str:
    rows = []
    for key, found in results["scaling"].items():
        a, b = found["original"], found["noise"]
        auc = f"{b['sparse']['auc']:.3f}"
        rows.append([*key.split(", "), share(a), quality(a), share(b), quality(b), auc])
    return table(
        ["set", "columns divided by", "left", "test accuracy", "with noise: left", "test accuracy", "AUC"], rows
    )  # fmt: skip


def needed(results: dict[str, Any], rules: list[str]) -> str:
    """The fewest features for an AUC within 2 % of the best that any rule reached."""
    rows = []
    for name, found in results["curves"].items():
        best = max(best_of(points) for points in found.values())
        counts = [fewest(found[rule], NEAR * best) for rule in rules]
        least = min((c for c in counts if c is not None), default=None)
        cells = [
            "none" if c is None else f"**{c:.0f}**" if c == least else f"{c:.0f}" for c in counts
        ]
        rows.append([name, f"{best:.3f}", *cells])
    return table(["set", "best AUC", *(SHORT.get(r, r) for r in rules)], rows)


def tops(results: dict[str, Any], rules: list[str]) -> str:
    """The best AUC of each rule, and its AUC where it keeps most features."""
    rows = []
    for name, found in results["curves"].items():
        cells = [f"{best_of(found[r]):.3f} / {max(found[r])[1]:.3f}" for r in rules]
        rows.append([name, *cells])
    return table(["set", *(SHORT.get(r, r) for r in rules)], rows)


def factor(curves: dict[str, Any], least: float) -> str:
    one, twenty = (fewest(curves[f"truncated gradient, K = {k}"], least) for k in (1, 20))
    return "?" if one is None or twenty is None else f"{one / twenty:.0f}"


def free_better(results: dict[str, Any]) -> str:
    """On how many sets a free intercept helps truncated gradient, by `needed`."""
    fewer = more = 0
    for found in results["curves"].values():
        best = max(best_of(points) for points in found.values())
        bound = fewest(found["truncated gradient, K = 10"], NEAR * best) or float("inf")
        free = fewest(found["truncated gradient, K = 10, free intercept"], NEAR * best) or float(
            "inf"
        )
        fewer, more = fewer + (free < bound), more + (free > bound)
    return f"it needs fewer features on {fewer} sets and more on {more}"


def summary(results: dict[str, Any]) -> dict[str, str]:
    """The figures that sentences quote."""
    plain, stamps = results["sparsify"], results["stamped"]
    removed = {n: 1 - f["noise"]["sparse"]["left"] / f["noise"]["features"] for n, f in plain.items()}  # fmt: skip
    removed_s = {n: 1 - f["noise"]["sparse"]["left"] / f["noise"]["features"] for n, f in stamps.items()}  # fmt: skip
    ratios = [r for f in plain.values() for k in f if (r := ratio(f[k])) is not None]
    ad, ad_s = plain["ad"], stamps["ad"]
    spam = results["curves"]["spambase"]
    ad_curves = results["curves"]["ad"]

    def reduction(result: dict[str, Any], which: str = "sparse") -> str:
        return f"{1 - result[which]['left'] / result['features']:.1%}"

    def reach(curves: dict[str, Any], rule: str, least: float) -> str:
        n = fewest(curves[rule], least)
        return "none" if n is None else f"{n:.0f}"

    return {
        "OVER_90": str(sum(r > 0.9 for r in removed.values())),
        "OVER_90_STAMPS": str(sum(r > 0.9 for r in removed_s.values())),
        "SETS": str(len(plain)),
        "RATIOS_98": f"{sum(r > 0.98 for r in ratios)} of {len(ratios)}",
        "RATIO_LEAST": f"{min(ratios):.3f}",
        "RATIO_MOST": f"{max(ratios):.3f}",
        "AD_ORIGINAL": reduction(ad["original"]),
        "AD_NOISE": reduction(ad["noise"]),
        "AD_ORIGINAL_STAMPS": reduction(ad_s["original"]),
        "AD_NOISE_STAMPS": reduction(ad_s["noise"]),
        "AD_LOOSER_STAMPS": reduction(ad_s["noise"], "looser"),
        "AD_LOOSER": reduction(ad["noise"], "looser"),
        "AD_ACCURACIES_PLAIN": ", ".join(
            f"{ad['noise'][k]['accuracy']:.1%}" for k in ("plain", "sparse", "looser")
        ),
        "AD_ACCURACIES": f"{ad_s['noise']['plain']['accuracy']:.1%}, {ad_s['noise']['sparse']['accuracy']:.1%}, "
        f"{ad_s['noise']['looser']['accuracy']:.1%}",
        **{f"AD_ROUND_{k}": reach(ad_curves, f"rounding, K = {k}", 0.94) for k in (1, 10, 20)},
        **{f"SPAM_TG_{k}": reach(spam, f"truncated gradient, K = {k}", 0.89) for k in (1, 10, 20)},
        "SPAM_FACTOR": factor(spam, 0.89),
        "FREE_BETTER": free_better(results),
        "STAMPS_FEWER": str(sum(removed_s[n] > removed[n] for n in removed_s)),
        "VERSIONS": results["versions"],
    }


def text(results: dict[str, Any]) -> str:
    """RESULTS.md."""
    tg, rounding = (
        [f"truncated gradient, K = {k}" for k in (1, 10, 20)],
        [f"rounding, K = {k}" for k in (1, 10, 20)],
    )
    theta = ["truncated gradient, K = 10", "truncated gradient, K = 10, theta = g", "rounding, K = 10"]  # fmt: skip
    four = [
        "truncated gradient, K = 10",
        "truncated gradient, K = 10, free intercept",
        "rounding, K = 10",
        "subgradient",
        LASSO,
    ]
    parts = summary(results) | {
        "LEFT": features_left(results), "SCALING": scales(results), "PERIODS": needed(results, tg + rounding),
        "THETAS": needed(results, theta), "FOUR": needed(results, four), "TOPS": tops(results, four),
    }  # fmt: skip
    return filled(HERE, parts)


def write(results: dict[str, Any]) -> None:
    import figures

    figures.draw(results)
    (HERE / "RESULTS.md").write_text(text(results))


if __name__ == "__main__":
    write(json.loads((HERE / "results.json").read_text()))
