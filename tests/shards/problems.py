"""Small problems that can be cut into shards: the same examples in several formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def rows(n: int = 600, features: int = 60, each: int = 8, seed: int = 0, classes: int = 2):
    """Features, values and class of each example."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(features, classes)) * (rng.random((features, classes)) < 0.4)
    for _ in range(n):
        chosen = np.sort(rng.choice(features, each, replace=False))
        values = rng.normal(size=each).round(3)
        scores = 2 * values @ weights[chosen] + rng.gumbel(size=classes)
        yield chosen, values, int(scores.argmax())


def write_lines(path: Path, lines) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def write_svm(path: Path, **problem) -> Path:
    lines = (
        f"{y} " + " ".join(f"{j + 1}:{v}" for j, v in zip(chosen, values, strict=True))
        for chosen, values, y in rows(**problem)
    )
    return write_lines(path, lines)


def write_vw(path: Path, **problem) -> Path:
    lines = (
        f"{2 * y - 1} |f " + " ".join(f"x{j}:{v}" for j, v in zip(chosen, values, strict=True))
        for chosen, values, y in rows(**problem)
    )
    return write_lines(path, lines)


def table(n: int = 600, seed: int = 0):
    """A frame with numbers, names and a label of words."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    price, city = rng.gamma(2.0, 10.0, n), rng.choice(["Rome", "Oslo", "Lima, Peru", 'Pa"ris'], n)
    odds = 0.1 * (price - 20) + (city == "Oslo") - (city == "Rome")
    clicked = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return pd.DataFrame(
        {"price": price.round(3), "city": city, "hour": rng.integers(0, 24, n), "clicked": clicked}
    )
