"""Every item of Langford, Li & Zhang 2009, for `python -m papers`."""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

import big_ads
import curves
import figures
import online
import sparsify
import theorems
from uci import SCALES, SOURCES

NEAR = 0.98
Found = dict[str, Any]
QUICK = ("crx", "spambase", "wbc", "wdbc")


def pool() -> Executor:
    return ProcessPoolExecutor(2)


def removed(found: Found, which: str = "sparse") -> float:
    return 1 - float(found[which]["left"]) / float(found["features"])


def left(found: Found) -> str:
    return f"{found['sparse']['left']:.0f} / {found['features']} ({1 - removed(found):.0%})"


def quality(found: Found) -> str:
    """Accuracy, or square loss, on the test part: before and after."""
    before, after = found["plain"], found["sparse"]
    if "loss" in before:
        return f"loss {before['loss']:.4f} → {after['loss']:.4f}"
    return f"{before['accuracy']:.1%} → {after['accuracy']:.1%}"


def figures_2_and_3(quick: bool) -> Found:
    """Features left at a cost of at most 1 %, by equation 6 and by time stamps, under three scalings."""
    names = list(QUICK if quick else SOURCES)
    if quick:
        online.FOLDS = 3
    with pool() as workers:
        equation = sparsify.run(workers, names, "equation 6", "deviation")
        stamps = {
            scale: sparsify.run(
                workers, names, "time stamps", scale, ("original", "noise") if scale == "deviation" else ("noise",)
            )
            for scale in (SCALES if not quick else ["deviation", "as they are"])
        }  # fmt: skip
        others = {
            scale: sparsify.run(workers, names, "equation 6", scale, ("noise",))
            for scale in stamps
            if scale != "deviation"
        } | {"deviation": equation}

    def over_90(results: Found) -> int:
        return sum(removed(f["noise"]) > 0.9 for f in results.values())

    best = sum(max(removed(stamps[s][n]["noise"]) for s in stamps) > 0.9 for n in names)
    ratios = [
        f[k]["sparse"]["auc"] / f[k]["plain"]["auc"]
        for f in equation.values()
        for k in f
        if "auc" in f[k]["plain"]
    ]
    high = sum(r > NEAR for r in ratios)
    by_scale = "; ".join(f"{s}: {over_90(stamps[s])}" for s in stamps)
    rows = [
        ["sets with noise that lose more than 90 % of the features", "10 of 11 (all but ad)",
         f"equation 6 {over_90(equation)} of {len(names)}; time stamps, columns divided by {by_scale}; "
         f"best of these scalings {best}", "comparable" if best > len(names) / 2 else "not"],
        ["ratio of AUC after and before", "often above 0.98",
         f"above 0.98 in {high} of {len(ratios)}, {min(ratios):.3f} to {max(ratios):.3f}",
         "reproduced" if high > len(ratios) / 2 else "not"],
    ]  # fmt: skip
    if "ad" in names:
        own, noisy = stamps["deviation"]["ad"]["original"], stamps["deviation"]["ad"]["noise"]
        for what, theirs, found, which in (
            ("ad, original features: removed", 0.834, own, "sparse"),
            ("ad with noise: removed", 0.71, noisy, "sparse"),
            ("the same at a cost of 1.3 %", 0.914, noisy, "looser"),
        ):
            ours = removed(found, which)
            near = abs(ours - theirs) < 0.05
            rows.append([what, f"{theirs:.1%}", f"{ours:.1%}", "reproduced" if near else "comparable"])  # fmt: skip
        accuracies = ", ".join(f"{noisy[k]['accuracy']:.1%}" for k in ("plain", "sparse", "looser"))
        rows.append(["ad with noise, accuracy before, at 1 %, at 1.3 %", "96.5 %, 95.9 %, 95.4 %",
                     accuracies, "comparable"])  # fmt: skip
    detail = [
        [n, left(f["original"]), quality(f["original"]), left(f["noise"]), quality(f["noise"]),
         left(stamps["deviation"][n]["noise"]), quality(stamps["deviation"][n]["noise"])]
        for n, f in equation.items()
    ]  # fmt: skip
    spambase = max(removed(stamps[s]["spambase"]["noise"]) for s in stamps)
    note = (
        "K = 1, θ = ∞, settings by cross-validation within the paper's ranges. The paper's program (its section "
        "5) is not its equation 6: a stamp starts at a feature's first occurrence, and when the feature occurs "
        "again all gravity since the stamp is applied right after the step, which cuts rare features, and so "
        "noise, harder. The paper does not say how columns are scaled, which decides as much. Of ad only 998 rows "
        "are at hand."
    )
    if spambase <= 0.9:
        note += f" Spambase stays unexplained: under no scaling here more than {spambase:.0%} of its features go."
    scaled = [
        [n, *(left(form[s][n]["noise"]) for form in (others, stamps) for s in stamps)]
        for n in names
    ]
    return {
        "rows": rows,
        "tables": [
            {"title": "Features left, test accuracy before → after", "rows": detail,
             "head": ["set", "left", "accuracy", "with noise: left", "accuracy", "time stamps: left", "accuracy"]},
            {"title": "Features left with noise, by rule and by what columns are divided by", "rows": scaled,
             "head": ["set", *(f"{f}, {s}" for f in ("equation 6", "time stamps") for s in stamps)]},
        ],
        "note": note,
        "picture": figures.features_left(equation, stamps["deviation"]),
    }  # fmt: skip


def needed(found: Found, rules: list[str]) -> list[str]:
    """By rule, the fewest features for an AUC within 2 % of the best that any rule reached."""
    best = max(curves.best_of(found[rule]) for rule in rules)
    counts = [curves.fewest(found[rule], NEAR * best) for rule in rules]
    return [f"{best:.3f}", *("none" if c is None else f"{c:.0f}" for c in counts)]


def drawn(quick: bool, rules: list[str], picture: str) -> tuple[curves.Curves, Found]:
    names = [n for n in curves.SETS if not quick or n in ("crx", "spambase", "wbc", "wdbc")]
    with pool() as workers:
        points = curves.run(workers, names, rules)
    table = {
        "title": "Fewest features for an AUC within 2 % of the best of these rules",
        "head": ["set", "best AUC", *rules],
        "rows": [[n, *needed(f, rules)] for n, f in points.items()],
    }
    return points, {"tables": [table], "picture": figures.panels(points, rules, picture)}


def counts(found: Found, rules: list[str], auc: float) -> str:
    reached = [curves.fewest(found[rule], auc) for rule in rules]
    return ", ".join("none" if c is None else f"{c:.0f}" for c in reached)


def figures_4_and_5(quick: bool) -> Found:
    tg, rounding = (
        [f"{r}, K = {k}" for k in (1, 10, 20)] for r in ("truncated gradient", "rounding")
    )
    points, found = drawn(quick, tg + rounding, "period.png")
    fewer = sum(
        (curves.fewest(f[tg[2]], limit) or 1e9) <= (curves.fewest(f[tg[0]], limit) or 1e9)
        for f in points.values()
        for limit in [NEAR * max(curves.best_of(f[r]) for r in tg)]
    )
    rows = [
        ["truncated gradient: K = 20 needs no more features than K = 1", "at least as good",
         f"on {fewer} of {len(points)} sets", "reproduced" if fewer >= len(points) - 1 else "comparable"],
        ["spambase, truncated gradient, K = 1, 10, 20: features at AUC 0.89", "76, 25, 25",
         counts(points["spambase"], tg, 0.89), "comparable"],
    ]  # fmt: skip
    if "ad" in points:
        rows.append(["ad, rounding, K = 1, 10, 20: features at AUC 0.94", "322, 13, 7",
                     counts(points["ad"], rounding, 0.94), "not: only part of ad is at hand"])  # fmt: skip
    note = (
        "With 1,000 features of noise, as the paper's counts show. Rates, decay and passes by cross-validation "
        "for every point. Passes are cut to a multiple of 20 rows: in equation 6 the weights of features that "
        "occurred after the last truncation are still there. Stars: what the paper prints."
    )
    return found | {"rows": rows, "note": note}


def figure_6(quick: bool) -> Found:
    rules = ["truncated gradient, K = 10", "truncated gradient, K = 10, theta = g", "rounding, K = 10"]  # fmt: skip
    points, found = drawn(quick, rules, "threshold.png")
    apart = [
        abs(curves.best_of(f[rules[1]]) - curves.best_of(f[rules[2]])) for f in points.values()
    ]
    ahead = sum(curves.best_of(f[rules[0]]) >= curves.best_of(f[rules[1]]) for f in points.values())
    rows = [
        ["θ = g behaves like rounding", "similar", f"best AUC apart by at most {max(apart):.3f}",
         "reproduced" if max(apart) < 0.02 else "comparable"],
        ["θ = ∞ is preferable", "it avoids local minima", f"its best AUC is at least that of θ = g on {ahead} of "
         f"{len(points)} sets", "reproduced" if ahead == len(points) else "comparable"],
    ]  # fmt: skip
    return found | {"rows": rows, "note": "K = 10; with noise."}


def figure_7(quick: bool) -> Found:
    rules = ["truncated gradient, K = 10", "truncated gradient, K = 10, free intercept", "rounding, K = 10",
             curves.SUBGRADIENT, curves.LASSO]  # fmt: skip
    points, found = drawn(quick, rules, "four.png")
    worst = max(
        max(curves.best_of(f[r]) for r in rules[2:4]) - curves.best_of(f[rules[0]])
        for f in points.values()
    )
    overfit = sum(
        curves.best_of(f[curves.LASSO]) - f[curves.LASSO][-1][1] > 0.005 for f in points.values()
    )
    spread = max(
        max(bests) - min(bests)
        for f in points.values()
        for bests in [[curves.best_of(p) for k, p in f.items() if ", order " in k]]
    )
    rows = [
        ["truncated gradient against the other online rules", "consistently competitive",
         f"its best AUC is behind by at most {worst:.3f}", "reproduced" if worst < 0.01 else "comparable"],
        ["lasso with too many weights", "overfits",
         f"loses more than 0.005 of AUC on {overfit} of {len(points)} sets",
         "reproduced" if overfit > len(points) / 2 else "comparable"],
        ["subgradient, K = 10: best AUC by order of the rows", "not stated",
         f"apart by at most {spread:.3f} over {curves.ORDERS} orders", "comparable"],
    ]  # fmt: skip
    note = (
        "The lasso is scikit-learn's path on standardised columns. The subgradient rule is rounded at the end, by "
        "six thresholds. With the constant as a feature gravity pulls the mean prediction to zero; with a free "
        "intercept, Riata's default, it does not."
    )
    return found | {"rows": rows, "note": note}


def figure_1(quick: bool) -> Found:
    rows = [["T0 and T1", "drawn", "drawn", "reproduced"]]
    return {"rows": rows, "note": None, "picture": figures.truncation()}


def bounds(quick: bool) -> Found:
    rows = []
    for name, f in theorems.checked(quick).items():
        ours = f"holds in {f['count'] - f['failed']} of {f['count']} comparisons; closest: {f['least']:.1%} to spare"
        rows.append([name, "holds for every vector", ours, "not" if f["failed"] else "reproduced"])
    note = (
        "Runs of Riata's learner: squared, logistic and hinge loss, two rates, three gravities, θ of ∞ and 0.1, K "
        "of 1 and 10, against ten vectors each. Theorem 3.2 is about a mean over draws: three standard errors are "
        "allowed."
    )
    return {"rows": rows, "note": note, "picture": None}


def big_ads_item(quick: bool) -> Found:
    rows, tables, theirs = [], [], big_ads.THEIR_FACTOR
    for found in big_ads.found(quick):
        last, power = found["runs"][-1], found["power"]
        crosses = f" and {found['crosses']} crosses" if found["crosses"] else ""
        what = f"{big_ads.A_ROW} by a power law{crosses}"
        rows += [
            [f"{what}: features seen an example", "115", f"{last['seen'] / last['count']:.0f}", "comparable"],
            [f"{what}: error without gravity", "0.329", f"{last['points'][0]['error']:.3f}", "comparable"],
            [f"{what}: features for {big_ads.COST} more of it", f"24e6 of 3e9: {theirs} times fewer",
             f"{last['left']:,.0f} of {last['seen']:,} seen: {last['factor']:.0f} times fewer after "
             f"{last['count']:,} examples; grows as t^{power:.2f}",
             "reproduced" if last["factor"] > theirs / 2 else "comparable"],
        ]  # fmt: skip
        tables.append(
            {"title": f"By examples, {what}: features seen, left at the cost, and after each gravity (error)",
             "head": ["examples", "seen", "left", "times fewer", *(f"{g:g}" for g in big_ads.GRAVITIES)],
             "rows": [[f"{r['count']:,}", f"{r['seen']:,}", f"{r['left']:,.0f}", f"{r['factor']:.1f}",
                       *(f"{p['left']:,} ({p['error']:.4f})" for p in r["points"])] for r in found["runs"]]}
        )  # fmt: skip
        if "by_weak" in found:
            tables.append(
                {"title": "By the weights of all features but the 5,000 most frequent, uniform within half of this",
                 "head": ["weights", "examples", "error without gravity", "left", "times fewer"],
                 "rows": [[f"{r['weak']:g}", f"{r['count']:,}", f"{r['points'][0]['error']:.4f}", f"{r['left']:,.0f}",
                           f"{r['factor']:.1f}"] for r in found["by_weak"]]}
            )  # fmt: skip
    note = (
        "Made in the shape of the private Big_Ads: 3e9 nominal features, of which an example shows some. Theirs has "
        "3e9 features in 26e6 examples, so 115 an example that were in none before; a power law has far fewer. "
        "Crosses, drawn evenly from all features, make up for that. How many times fewer features do depends on how "
        "many come only once, on how many examples there are, and on how much rare features tell, which is not known "
        "of theirs: by the tables below."
    )
    return {"rows": rows, "tables": tables, "note": note, "picture": None}
