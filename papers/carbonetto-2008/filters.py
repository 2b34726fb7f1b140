"""Filters beside the paper's: each gives the probability of spam of every message before it has learned it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from mail import lines
from numpy.typing import NDArray

from riata.block import Block
from riata.learners import FTRL, Bayesian, ElasticNet, Portfolio

Floats = NDArray[np.float64]


def of_riata(learner: Any) -> Callable[[Block], Floats]:
    def tagged(block: Block) -> Floats:
        probabilities = learner.probability(learner.learn(block))
        assert probabilities is not None
        return np.asarray(probabilities[:, 0])

    return tagged


def riata_filters() -> dict[str, Callable[[Block], Floats]]:
    return {
        "Riata, elastic net, AdaGrad": of_riata(
            ElasticNet(learning_rate="adagrad_explicit", feature_scale="none", store="table")
        ),
        "Riata, FTRL": of_riata(FTRL(feature_scale="none", store="table")),
        "Riata, Bayesian": of_riata(Bayesian(store="table")),
        "Riata, auto": of_riata(Portfolio(store="table")),
    }


def vowpal_wabbit(count: int) -> Floats:
    """Its defaults for logistic loss, 22 bits."""
    import vowpalwabbit

    learner = vowpalwabbit.Workspace("--loss_function logistic --link logistic -b 22 --quiet")
    found = []
    for line in islice(lines(), count):
        example = learner.parse(line.rstrip("\n"))
        found.append(learner.predict(example))
        learner.learn(example)
        learner.finish_example(example)
    learner.finish()
    return np.array(found)


def as_mail(line: str) -> bytes:
    """A message again: header words as its subject, body words as its text, each as often as it occurred."""
    parts: dict[str, list[str]] = {"h": [], "b": []}
    for space in line.rstrip("\n").split("|")[1:]:
        name, *words = space.split(" ")
        for word in words:
            text, _, count = word.rpartition(":")
            if text:
                parts.setdefault(name, []).extend([text] * int(float(count)))
            elif word:
                parts.setdefault(name, []).append(word)
    subject, body = " ".join(parts["h"]), " ".join(parts["b"])
    return f"Subject: {subject}\n\n{body}\n".encode()


def bogofilter(count: int) -> Floats:
    '""The program, once to tag and once to learn a message; its word list is in memory where the system has'
    'such.""'
    shared = "/dev/shm" if Path("/dev/shm").is_dir() else None
    found = []
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        # Nothing counts before each kind was seen once: half.
        ready = {"-s": False, "-n": False}
        for line in islice(lines(), count):
            message, kind = as_mail(line), "-s" if line.startswith("1") else "-n"
            found.append(bogofilter_says(folder, message) if all(ready.values()) else 0.5)
            subprocess.run(["bogofilter", kind, "-d", folder], input=message, check=True)
            ready[kind] = True
    return np.array(found)


def bogofilter_says(folder: str, message: bytes) -> float:
    done = subprocess.run(
        ["bogofilter", "-T", "-d", folder], input=message, capture_output=True, check=False
    )
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"bogofilter ended with {done.returncode}: {done.stderr.decode()}")
    return float(done.stdout.split()[1])


def has(program: str) -> bool:
    return shutil.which(program) is not None


def table(p: Floats, spam: NDArray[np.bool_], certain: float) -> tuple[int, int, int, int]:
    """Not spam and passed, spam and passed, not spam and tagged, spam and tagged."""
    tagged = p >= certain
    return (
        int(np.count_nonzero(~tagged & ~spam)),
        int(np.count_nonzero(~tagged & spam)),
        int(np.count_nonzero(tagged & ~spam)),
        int(np.count_nonzero(tagged & spam)),
    )
