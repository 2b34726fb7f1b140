"""Streams and tables with labels, and their models, for the tests of labels."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd

from riata.learners import ElasticNet
from riata.training import train
from tests.frames import labelled_frame

WORDS = ["ham", "spam"]


def table(n: int = 60, labels: Any = WORDS, seed: int = 0) -> pd.DataFrame:
    return labelled_frame(n, labels, seed, noise=0.3)


def make(outputs: int) -> ElasticNet:
    return ElasticNet(outputs=outputs, l1=0.0, l2=0.0, eta0=0.5)


def bits(model: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model.learner.state().items()}


def quietly(*args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(*args, **options)
