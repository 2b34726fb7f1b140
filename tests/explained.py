"""A table of words, numbers and categories, and models of every family that learned it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import riata

N = 300


def frame(classes: int = 2, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    words = ["free", "lunch", "call", "now", "entry", "me", "you"]
    table = pd.DataFrame(
        {
            "year": rng.normal(2020, 3, N),
            "price": rng.normal(20, 5, N),
            "city": rng.choice(["Rome", "Oslo", "Bern"], N),
            "body": [" ".join(rng.choice(words, 5)) for _ in range(N)],
        }
    )
    size = table.price + 6 * table.body.str.contains("free") + rng.normal(0, 4, N)
    cuts = [22.0] if classes == 2 else [19.0, 25.0]
    table["y"] = np.array(["no", "yes", "very"])[np.searchsorted(cuts, size)]
    return table


def make(name: str) -> Any:
    makers: dict[str, Callable[[], Any]] = {
        "elastic-net": lambda: riata.ElasticNetClassifier(),
        "of length one": lambda: riata.ElasticNetClassifier(normalize="l2"),
        "by their count": lambda: riata.FTRLClassifier(normalize="sqrt_nnz"),
        "hashed": lambda: riata.FTRLClassifier(store="hashed", bits=10),
        "truncated": lambda: riata.TruncatedGradientClassifier(),
        "ftrl": lambda: riata.FTRLClassifier(l1=0.5),
        "bayesian": lambda: riata.BayesianClassifier(),
        "one prior": lambda: riata.BayesianClassifier(prior_variance=1.0, prior_mean=0.1),
        "views": lambda: riata.BayesianClassifier(value=("raw", "binary", "log1p")),
        "bayesian hashed": lambda: riata.BayesianClassifier(store="hashed", bits=10),
        "sketch": lambda: riata.SketchClassifier(gamma=2.0),
        "path": lambda: riata.SketchClassifier(gamma="path", path_length=4),
        "online": lambda: riata.SketchClassifier(gamma=2.0, algorithm="online"),
        "interior": lambda: riata.InteriorPointClassifier(),
        "pruned": lambda: riata.InteriorPointClassifier(normalize="l1", prune=0.2),
        "auto": lambda: riata.AutoClassifier(),
        "auto hashed": lambda: riata.AutoClassifier(store="hashed", bits=10),
    }
    return makers[name]()


NAMES = [
    "elastic-net", "of length one", "by their count", "hashed", "truncated", "ftrl", "bayesian", "one prior",
    "views", "bayesian hashed", "sketch", "path", "online", "interior", "pruned", "auto", "auto hashed",
]  # fmt: skip
AVERAGES = ("bayesian", "one prior", "views", "bayesian hashed", "auto", "auto hashed")


def learned(name: str, classes: int = 2) -> tuple[Any, pd.DataFrame]:
    table = frame(classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(name).learn(table, label="y", text=["body"])
    rows = table.drop(columns="y")
    rows.loc[3, "price"] = np.nan
    rows.loc[4, "body"] = "words that nobody knows"
    return model, rows


EVIL = "<script>alert(1)</script>\x1b[2J\u202e"
