"""Frames with labels, and the files that hold them."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def labelled_frame(n: int, labels: Sequence[Any], seed: int, noise: float) -> pd.DataFrame:
    """Labels `y`, a number `a` that tells them apart but for the noise, and a word `b` that does not."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(len(labels), size=n)
    return pd.DataFrame(
        {
            "y": [labels[code] for code in codes],
            "a": (codes + rng.normal(0, noise, n)).round(3),
            "b": rng.choice(["red", "blue"], n),
        }
    )


def write_frame(frame: pd.DataFrame, path: Path) -> Path:
    """In the format that the suffix says."""
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".feather":
        frame.to_feather(path)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path
