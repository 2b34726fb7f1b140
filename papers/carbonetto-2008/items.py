"""Experiments 1 to 4 as items of `python -m papers`."""

from __future__ import annotations

from typing import Any

import numpy as np
import simulated as s

OURS = "interior point"


def experiments(quick: bool) -> dict[str, Any]:
    """Who is closest in each setting; the paper shows curves without numbers."""
    variances = [nu / 1.5 for nu in s.SCALES]
    tables = {
        "1, by k0": (s.STEPS, s.experiment_1()),
        "2, by the variance": (variances, s.experiment_2()),
        "3, by the penalty": (s.PENALTIES, s.experiment_3()),
    }
    rows = []
    for name, (_, table) in tables.items():
        rivals = np.min([errors for method, errors in table.items() if method != OURS], axis=0)
        won = int((np.array(table[OURS]) <= rivals).sum())
        worst = float(np.max(np.array(table[OURS]) - rivals))
        shown = f"closest in {won} of {len(rivals)} settings"
        shown += f", elsewhere behind by at most {worst:.3f}" if worst > 0 else ""
        claim = "always closest"
        if not name.startswith("3"):  # there, every method has its best step size
            claim += ", least sensitive"
            spread = [max(errors) / min(errors) for errors in table.values()]
            shown += f"; its error varies by a factor of {spread[0]:.1f}, a rival's by {min(spread[1:]):.3g} or more"
        verdict = "reproduced" if won == len(rivals) else "comparable"
        rows.append([f"experiment {name}", claim, shown, verdict])
    s.draw(
        [("k0", s.STEPS, tables["1, by k0"][1]),
         ("E(σ²), k0 = 50", variances, tables["2, by the variance"][1]),
         ("λ/n, best k0", s.PENALTIES, tables["3, by the penalty"][1])],
        s.HERE / "experiments.png",
    )  # fmt: skip
    note = 'The mean of 1/n |exact - online|_1 over twenty data sets; `update="paper"`.'
    return {"rows": rows, "note": note, "picture": "experiments.png"}


def shrinkage(quick: bool) -> dict[str, Any]:
    penalties, found = s.experiment_4()
    s.draw_shrinkage(penalties, found, s.HERE / "shrinkage.png")
    apart = {
        name: float(np.abs(found[name] - found["exact"]).mean()) for name in ("1 pass", "10 passes")
    }
    better = apart["10 passes"] < apart["1 pass"]
    rows = [
        ["mean distance from the exact path", "irrelevant features shrink; 10 passes are close to exact",
         "; ".join(f"{name} {value:.3f}" for name, value in apart.items()),
         "reproduced" if better and apart["10 passes"] < 0.1 else "not: ten passes are not close"],
    ]  # fmt: skip
    exact = np.mean([np.mean(s.exact(*s.data_set(seed), s.PENALTY) == 0) for seed in s.SHOWN])
    rows.append(
        ["share of zeros in the exact solution at λ/n = 1.25", "about 30 %", f"{100 * exact:.1f} %",
         "reproduced" if abs(exact - 0.30) < 0.03 else "comparable"]
    )  # fmt: skip
    return {"rows": rows, "note": "", "picture": "shrinkage.png"}
