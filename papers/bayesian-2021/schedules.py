"""Table 1's SGD, whose schedule is not stated: rates eta / (a + sum of squared gradients)^power, many side by side.

AdaGrad's power is one half. With the sum itself rates fall as 1 / t, and so do losses above the true weights'.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from regret import Stream
from synthetic import random_features

Floats = NDArray[np.float64]
EXAMPLES, MORE = 1_000_000, 10_000_000
PRESENT = (20, 40)
THEIRS = {EXAMPLES: (117.6, 246.3), MORE: (135.9, 219.88)}
GRID = {
    0.5: list(product((0.1, 0.2, 0.4), (1e-9, 1.0, 10.0))),
    0.75: list(product((0.5, 1.0, 2.0), (1.0, 3.0, 10.0))),
    1.0: list(product((1.0, 2.0, 4.0, 8.0), (1.0, 2.0, 3.0, 5.0, 10.0, 30.0))),
}
"""By power, rates and what is added to the sum."""


def regrets(
    stream: Callable[[], Stream], settings: list[tuple[float, float, float]], d: int = 200
) -> Floats:
    """Regret / ln T of SGD with each (power, eta, a)."""
    power, eta, added = np.array(settings).T
    weights = np.zeros((d, len(settings)))
    sums, regret, t = np.tile(added, (d, 1)), np.zeros(len(settings)), 0
    for block, best in stream():
        assert block.labels is not None
        for r, sign in enumerate(2 * block.labels - 1):
            present = block.indices[block.indptr[r] : block.indptr[r + 1]]
            w = weights[present]
            margin = sign * w.sum(axis=0)
            slope = -sign / (1 + np.exp(margin))
            squares = sums[present] + slope**2
            sums[present] = squares
            weights[present] = w - eta * slope / squares**power
            regret += np.logaddexp(0, -margin) - best[r]
        t += len(block)
    return np.asarray(regret / np.log(t))


def named(setting: tuple[float, float, float]) -> str:
    return f"eta {setting[1]:g}, a {setting[2]:g}"


def item(quick: bool) -> dict[str, Any]:
    settings = [(power, *pair) for power, pairs in GRID.items() for pair in pairs]
    examples = 50_000 if quick else EXAMPLES
    streams = [partial(random_features, 0, examples, 200, present, 1.0) for present in PRESENT]
    found = np.array([regrets(stream, settings) for stream in streams])
    rows, told = [], THEIRS[EXAMPLES]
    for power in GRID:
        inside = [k for k, s in enumerate(settings) if s[0] == power]
        chosen = [inside[int(np.argmin(column[inside]))] for column in found]
        ours = [f"{found[c, k]:.1f} ({named(settings[k])})" for c, k in enumerate(chosen)]
        ratio = [
            found[c, k] / theirs for c, (k, theirs) in enumerate(zip(chosen, told, strict=True))
        ]
        verdict = "comparable" if max(ratio) <= 1.15 else f"not: {max(ratio):.2f} times theirs"
        rows.append([f"power {power:g}, the best of its grid for each: 20, 40 present", "{:g}, {:g}".format(*told),
                     "; ".join(ours), verdict if not quick else "fewer examples"])  # fmt: skip
    apart = np.abs(np.log(found / np.array(told)[:, None])).max(axis=0)
    near = int(np.argmin(apart))
    values = ", ".join(f"{v:.1f}" for v in found[:, near])
    shown = f"{values} (power {settings[near][0]:g}, {named(settings[near])})"
    rows.append(["the one setting that is nearest to both", "{:g}, {:g}".format(*told), shown,
                 "fewer examples" if quick else verdict_of(found[:, near], told)])  # fmt: skip
    if not quick:
        longer = partial(random_features, 0, MORE, 200, PRESENT[0], 1.0)
        more = regrets(longer, [settings[near]])
        rows.append([f"the same setting after {MORE:,} examples, {PRESENT[0]} present", f"{THEIRS[MORE][0]:g}",
                     f"{more[0]:.1f}", verdict_of(more, THEIRS[MORE][:1])])  # fmt: skip
    note = (
        f"Regret / ln T after {examples:,} examples, rates eta / (a + sum of squared gradients)^power, one draw. The "
        'paper says "AdaGrad scheduling" and no more. AdaGrad proper, power 0.5, cannot give what it prints with 20 '
        "present; rates that fall with the sum itself can."
    )
    return {"rows": rows, "note": note, "picture": None}


def verdict_of(ours: Floats, theirs: tuple[float, ...]) -> str:
    apart = float(np.abs(ours / np.array(theirs) - 1).max())
    return "reproduced" if apart <= 0.05 else "comparable" if apart <= 0.25 else "not"
