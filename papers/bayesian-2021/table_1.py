"""Table 1 with one million examples: Algorithm 1 and its rivals, each with the best of its grid, as in the paper."""

from __future__ import annotations

from functools import partial
from typing import Any

import fixed_samples
import numpy as np
from regret import Makers, bayes, past, sgd, shown
from synthetic import random_features

EXAMPLES = 1_000_000
THEIRS = {
    "Algorithm 1 (ApproxG)": (77.66, 91.5),
    "DimGauss, eqs. 38 to 40": (78.02, 97.52),
    "ADF, normal distribution": (190.3, 178.6),
    "ADF, logistic distribution": (190.3, 178.6),
    "SGD, AdaGrad": (117.6, 246.3),
}
NOTE = (
    'Mean of the draws, smallest and largest in parentheses. DimGauss is `update="joint", mean="newton"`, '
    "eqs. 38 to 40, with the best of priors 4 to 12. The schedule of the paper's SGD is not stated; ours is "
    "AdaGrad's with the best of five rates (what would give theirs is an item of its own). Nor has it formulas "
    "for its ADF, but Minka's, to which it refers, has the normal distribution for a likelihood. These labels follow "
    "the logistic one, so that each example costs a little for ever: the regret of that ADF grows in proportion to T "
    "in the end, and theirs is {growth} times as large after ten times as many examples. With the logistic "
    "distribution ADF is as good as Algorithm 1."
)
PROBIT_ADF = "ADF, normal distribution"


def grids() -> Makers:
    return {
        "Algorithm 1 (ApproxG)": {"prior 1": bayes(prior_variance=1.0)},
        "DimGauss, eqs. 38 to 40": {
            f"prior {v}": bayes(update="joint", mean="newton", prior_variance=float(v))
            for v in (4, 5, 6, 8, 10, 12)
        },
        PROBIT_ADF: {
            f"prior {v:g}": bayes(update="adf", link="probit", prior_variance=v)
            for v in (0.2, 0.4, 1.0)
        },
        "ADF, logistic distribution": {
            f"prior {v:g}": bayes(update="adf", prior_variance=v) for v in (0.5, 1.0, 2.0)
        },
        "SGD, AdaGrad": {f"eta0 {e}": sgd(e) for e in (0.05, 0.1, 0.2, 0.4, 0.8)},
    }


def verdict(theirs: float, ours: list[float]) -> str:
    """Reproduced: theirs is among our draws, or within 5 % of their mean."""
    mean = float(np.mean(ours))
    if min(ours) <= theirs <= max(ours) or abs(mean - theirs) <= 0.05 * theirs:
        return "reproduced"
    return (
        "comparable"
        if abs(mean - theirs) <= 0.15 * theirs
        else f"not: {mean / theirs:.2f} times theirs"
    )


def item(quick: bool) -> dict[str, Any]:
    rows = []
    for column, present in enumerate((20, 40)):
        streams = [
            partial(random_features, seed, EXAMPLES, 200, present, 1.0)
            for seed in range(1 if quick else 5)
        ]
        for name, found in past(streams, grids()).items():  # type: ignore[arg-type]
            theirs = THEIRS[name][column]
            near = verdict(theirs, found["ends"])
            rows.append([f"{name}, {present} present", theirs, shown(found), near])
    return {"rows": rows, "note": NOTE.format(growth=growth()), "picture": None}


TEN_MILLION = {
    "Algorithm 1 (ApproxG)": (93.85, 144.28, 65.0),
    "DimGauss, eqs. 38 to 40": (82.54, 109.16, 61.0),
    "ADF, normal distribution": (540.3, 388.51, 45.0),
    "ADF, logistic distribution": (540.3, 388.51, 45.0),
    "SGD, AdaGrad": (135.9, 219.88, 58.0),
}
"""Regret with 20 and 40 present, and their seconds with 20."""


def growth() -> str:
    """How much the regret of the paper's ADF grows from one to ten million examples, by its tables."""
    ratio = np.log(1e7) / np.log(1e6)
    before, after = THEIRS[PROBIT_ADF], TEN_MILLION[PROBIT_ADF]
    return " and ".join(f"{ratio * a / b:.1f}" for b, a in zip(before, after, strict=False))


def ten_million(quick: bool) -> dict[str, Any]:
    """The columns with ten million examples; a quick run has Algorithm 1 alone."""
    settings = {name: dict(list(grid.items())[:4]) for name, grid in grids().items()}
    if quick:
        settings = {"Algorithm 1 (ApproxG)": settings["Algorithm 1 (ApproxG)"]}
    rows = []
    for column, present in enumerate((20, 40)):
        stream = partial(random_features, 0, 10_000_000, 200, present, 1.0)
        for name, found in past([stream], settings).items():
            theirs = TEN_MILLION[name][column]
            near = verdict(theirs, found["ends"])
            rows.append([f"{name}, {present} present", theirs, shown(found), near])
            if present == 20:
                seconds, ours = TEN_MILLION[name][2], found["seconds"]
                rows.append([f"{name}, {present} present: seconds", f"{seconds:.0f}, data and output included",
                             f"{ours:.1f}, learning alone: {seconds / ours:.0f} times less",
                             "reproduced" if ours < seconds / 10 else "comparable"])  # fmt: skip
    note = "One draw, the best of each grid; a quick run has Algorithm 1 alone."
    return {"rows": rows, "note": note, "picture": None}


def draws_of_ten_million(quick: bool) -> dict[str, Any]:
    """Algorithm 1 on other draws: how much its regret depends on the weights that happen to be drawn."""
    examples, draws = (500_000, 3) if quick else (10_000_000, 4)
    name, ends, shown = "Algorithm 1 (ApproxG)", [], []
    for seed in range(draws):
        own = {"Algorithm 1": {"": bayes(prior_variance=1.0)}}
        streams = [
            partial(random_features, seed, examples, 200, present, 1.0) for present in (20, 40)
        ]
        ends.append([past([stream], own)["Algorithm 1"]["ends"][0] for stream in streams])
        drawn = np.random.default_rng(seed).normal(size=200)  # as random_features has it
        shown.append([seed, f"{np.mean(drawn**2):.3f}", *(f"{v:.1f}" for v in ends[-1])])
    rows = []
    for column, present in enumerate((20, 40)):
        values, theirs = [row[column] for row in ends], TEN_MILLION[name][column]
        nearest = values[int(np.argmin(np.abs(np.array(values) - theirs)))]
        near = "fewer examples" if quick else verdict(theirs, [nearest])
        rows.append([f"{name}, {present} present", theirs,
                     f"{np.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})", near])  # fmt: skip
    note = (
        f"Regret / ln T after {examples:,} examples, prior 1. It depends on how far the mean square of the weights "
        "that happen to be drawn is from that prior. Theirs is one draw: the verdict is on ours that is nearest to it."
    )
    table = {
        "title": "By draw",
        "head": ["seed", "mean square of the drawn weights", "20 present", "40 present"],
        "rows": shown,
    }
    return {"rows": rows, "tables": [table], "note": note, "picture": None}


VB_100 = (144.22, 202.9)


def sampled(quick: bool) -> dict[str, Any]:
    """VB with samples, beside Algorithm 1 on the same draws."""
    examples, draws = (30_000, 2) if quick else (1_000_000, 2)
    rows = []
    for samples, theirs in ((100, VB_100), (1000, (85.07, 104.31))):
        if samples == 1000:
            examples, draws = (10_000, 1) if quick else (100_000, 2)
        for column, present in enumerate((20, 40)):
            makers: Makers = {
                "VB": {"": bayes(update="vb", samples=samples, prior_variance=1.0)},
                "Algorithm 1": {"": bayes(prior_variance=1.0)},
            }
            streams = [
                partial(random_features, s, examples, 200, present, 1.0) for s in range(draws)
            ]
            found = past(streams, makers)  # type: ignore[arg-type]
            vb, own = found["VB"]["ends"], found["Algorithm 1"]["ends"]
            paper = f"{theirs[column]} after 1,000,000; Algorithm 1 {THEIRS['Algorithm 1 (ApproxG)'][column]}"
            ours = (
                f"{np.mean(vb):.1f} ({min(vb):.1f} to {max(vb):.1f}) after {examples:,}, {draws} draws; "
                f"Algorithm 1 {np.mean(own):.1f}; {found['VB']['seconds'] / found['Algorithm 1']['seconds']:.0f} "
                "times its time"
            )
            near = abs(np.mean(vb) / np.mean(own) - 1) < 0.15
            worse = "comparable: nearer to Algorithm 1 than theirs" if near else "comparable"
            rows.append([f"VB-{samples}, {present} present", paper, ours, worse])
    rows += same_samples(20_000 if quick else EXAMPLES, quick)
    note = (
        "Ours minimises eq. 49 at every step, with new samples for every example. That is not what makes theirs worse: "
        "one Newton step does as well. Samples drawn once for all examples, of which the paper does not speak, do "
        "make it worse, and ever more with T, as theirs."
    )
    return {"rows": rows, "note": note, "picture": None}


def same_samples(examples: int, quick: bool) -> list[list[Any]]:
    """VB-100 with samples drawn once for all examples; and with new ones, but one Newton step."""
    rows = []

    def with_own(count: int, present: int, fresh: bool) -> tuple[float, float, str]:
        stream = partial(random_features, 0, count, 200, present, 1.0)
        own = past([stream], {"Algorithm 1": {"": bayes(prior_variance=1.0)}})["Algorithm 1"]
        value = fixed_samples.regret(stream, 100, seed=5, fresh=fresh)
        ratio = value / own["ends"][0]
        return value, ratio, f"{value:.1f} after {count:,}; Algorithm 1 {own['ends'][0]:.1f}"

    for present, printed in zip((20, 40), VB_100, strict=True):
        value, _, shown = with_own(examples, present, fresh=False)
        rows.append([f"VB-100, {present} present, the same samples for all examples", f"{printed} after 1,000,000",
                     shown, "fewer examples" if quick else verdict(printed, [value])])  # fmt: skip
    _, ratio, shown = with_own(examples // 10, 20, fresh=True)
    rows.append(["VB-100, 20 present, new samples, one Newton step", "not in the paper", shown,
                 f"{ratio:.2f} times Algorithm 1's"])  # fmt: skip
    return rows


def probit(quick: bool) -> dict[str, Any]:
    """Appendix B: labels drawn by the normal distribution, learned with either link, beside SGD."""
    examples, draws = (100_000, 1) if quick else (1_000_000, 3)
    makers: Makers = {
        "probit": {
            f"{mean}, {variance}": bayes(link="probit", mean=mean, variance=variance, prior_variance=1.0)
            for mean in ("taylor", "newton") for variance in ("curvature", "height")
        },
        "logit": {f"prior {v:.3g}": bayes(prior_variance=v) for v in (1.0, 8 / np.pi, 4.0)},
        "SGD, AdaGrad": {f"eta0 {e}": sgd(e) for e in (0.1, 0.2, 0.4, 0.8)},
    }  # fmt: skip
    rows = []
    for present in (5, 20, 40):
        streams = [
            partial(random_features, s, examples, 200, present, 1.0, True, "probit")
            for s in range(draws)
        ]
        found = past(streams, makers)  # type: ignore[arg-type]
        own = float(np.mean(found["probit"]["ends"]))
        best = min(float(np.mean(found[name]["ends"])) for name in ("logit", "SGD, AdaGrad"))
        rows.append([f"d = 200, {present} present, {examples:,} examples", "no numbers: formulas alone",
                     "; ".join(f"{name} {shown(f)}" for name, f in found.items()),
                     "probit is best" if own <= best else f"not: {own / best:.2f} times the best"])  # fmt: skip
    note = (
        "Regret / ln T against the true weights, whose labels follow the normal distribution, the best of each grid: "
        "for probit the two means and variances of appendix B, for logit three priors, since a logistic score is about "
        "√(8/π) times as large."
    )
    return {"rows": rows, "note": note, "picture": None}
