"""Every public method of an estimator against every other, in threads: `python stress.py SECONDS NAME...`.

A program of its own: what breaks here may take the process with it. Each of the models named has so many seconds, and a
line: its name, and once it is done how often each method was called.
"""

from __future__ import annotations

import copy
import faulthandler
import os
import pickle
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import riata
from riata import _core
from riata.block import Block
from riata.learners import Sketch

MODELS: dict[str, Callable[[], Any]] = {
    "elastic-net dense": lambda: riata.ElasticNetClassifier(),
    "elastic-net table": lambda: riata.ElasticNetClassifier(store="table"),
    "truncated table": lambda: riata.TruncatedGradientClassifier(store="table"),
    "ftrl table": lambda: riata.FTRLClassifier(store="table"),
    "ftrl hashed": lambda: riata.FTRLClassifier(store="hashed", bits=12),
    "bayesian table": lambda: riata.BayesianClassifier(store="table"),
    "bayesian forgetting": lambda: riata.BayesianClassifier(store="table", half_life=500.0),
    "bayesian full": lambda: riata.BayesianClassifier(update="joint", covariance="full"),
    "sketch online": lambda: riata.SketchClassifier(algorithm="online"),
    "auto table": lambda: riata.AutoClassifier(store="table"),
    "auto hashed": lambda: riata.AutoClassifier(store="hashed", bits=12),
    "interior": lambda: riata.InteriorPointClassifier(prune=0.01),
}
EVENTS: dict[str, Callable[[], Any]] = {
    "events auto": lambda: riata.AutoClassifier(),
    "events ftrl": lambda: riata.FTRLClassifier(),
    "events elastic-net": lambda: riata.ElasticNetClassifier(),
    "events bayesian": lambda: riata.BayesianClassifier(),
    "events interior": lambda: riata.InteriorPointClassifier(),
    "events truncated": lambda: riata.TruncatedGradientClassifier(),
}


PASSES = {
    "passes reduced": {"algorithm": "reduced"},
    "passes multipass": {"algorithm": "multipass"},
    "passes path": {"gamma": "path", "path_length": 6},
    "passes of three classes": {"outputs": 3},
}


def run(actions: dict[str, Callable[[int], object]], seconds: float) -> Counter[str]:
    """Each action again and again in a thread of its own; the first error ends all."""
    end, errors, counts = time.monotonic() + seconds, [], Counter[str]()

    def go(name: str, action: Callable[[int], object]) -> None:
        i = 0
        while time.monotonic() < end and not errors:
            try:
                action(i)
            except BaseException as error:
                errors.append((name, error))
            i += 1
        counts[name] = i

    threads = [threading.Thread(target=go, args=item) for item in actions.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, error in errors:
        raise RuntimeError(f"{name}: {error!r}") from error
    return counts


def save_and_check(model: Any, path: str) -> None:
    model.save(path)
    back = riata.load(path)
    assert back.t_ == back.model_.record.examples, (back.t_, back.model_.record.examples)


def rows_against_rows(model: Any, folder: str, seconds: float) -> Counter[str]:
    small = isinstance(model, riata.SketchClassifier | riata.InteriorPointClassifier)
    small = small or getattr(model, "covariance", "") == "full"
    n, d, k = (40, 60, 4) if small else (500, 1 << 20, 12)
    rng = np.random.default_rng(0)
    data = []
    for _ in range(20):
        columns = np.sort(rng.integers(0, d, (n, k)), axis=1).ravel().astype(np.int32)
        x = sp.csr_matrix((np.ones(n * k, np.float32), columns, np.arange(0, n * k + 1, k)), (n, d))
        x.sum_duplicates()
        data.append(x)
    y = rng.integers(0, 2, n)
    model.partial_fit(data[0], y, classes=[0, 1])
    actions: dict[str, Callable[[int], object]] = {
        "learn": lambda i: model.partial_fit(data[i % 20], y),
        "learn too": lambda i: model.partial_fit(data[(i + 7) % 20][:30], y[:30]),
        "predict": lambda i: model.predict(data[i % 20]),
        "probability": lambda i: model.predict_proba(data[i % 20][:50]),
        "weights": lambda i: (model.sparse_coef_, model.intercept_, model.t_, model.classes_),
        "scores": lambda i: model.decision_function(data[i % 20][:20]),
        "copy": lambda i: copy.deepcopy(model).predict(data[0][:5]),
        "live": lambda i: (model.model_.learner.n_live(), model.model_.learner.n_features),
        "save": lambda i: save_and_check(model, f"{folder}/rows.riata"),
        "pickle": lambda i: pickle.loads(pickle.dumps(model)).predict(data[0][:5]),
    }
    if isinstance(model, riata.BayesianClassifier):
        actions["interval"] = lambda i: model.predict_proba(data[0][:5], interval=0.9)
        if model.covariance == "diagonal":
            actions["collapse"] = lambda i: model.collapse().predict(data[0][:5])
    return run(actions, seconds)


def events_against_events(model: Any, folder: str, seconds: float) -> Counter[str]:
    def event(i: int) -> dict[str, Any]:
        return {"w": f"x{i * 7 % 50}", "v": ["a", "b", f"c{i % 900}"], "n": i % 5}

    model.learn_one(event(0), "c0")
    learned = Counter[str]()

    def learn(i: int, who: str) -> None:
        model.learn_one(event(i), f"c{i // 20 % 6}")
        learned[who] += 1

    counts = run(
        {
            "learn": lambda i: learn(i, "learn"),
            "learn too": lambda i: learn(i, "learn too"),
            "predict": lambda i: model.predict_one(event(i)),
            "probability": lambda i: model.predict_proba_one(event(i)),
            "weights": lambda i: (model.named_coef_, model.intercept_),
            "save": lambda i: save_and_check(model, f"{folder}/events.riata"),
            "pickle": lambda i: pickle.loads(pickle.dumps(model)).predict_one(event(i)),
        },
        seconds,
    )
    total = 1 + sum(learned.values())
    assert (model.t_, model.model_.record.examples) == (total, total), "events were lost"
    return counts


def passes_against_reading(parameters: dict[str, Any], seconds: float) -> Counter[str]:
    """A sketch of several passes, of named features: a reader sees the end of some pass, whole."""
    rng = np.random.default_rng(0)
    outputs = parameters.get("outputs", 1)
    blocks = []
    for start in (0, 20, 40):
        names = [f"f{start + j}".encode() for _ in range(60) for j in rng.permutation(40)[:5]]
        blocks.append(
            Block(
                np.arange(0, 301, 5),
                np.array([_core.key_of_name(name) for name in names]),
                rng.normal(size=300).astype(np.float32),
                rng.integers(0, max(2, outputs), 60).astype(np.float64),
                names=np.frombuffer(b"".join(names), dtype=np.uint8),
                name_offsets=np.cumsum([0, *map(len, names)]).astype(np.int64),
            )
        )
    learners = [Sketch(**{"gamma": 2.0, **parameters})]

    def learn(i: int) -> None:
        learner = learners[0]
        if learner.complete:
            learners[0] = learner = Sketch(**{"gamma": 2.0, **parameters})
        for block in blocks:
            learner.learn(block)
        learner.end_pass()

    def look(learner: Any) -> object:
        learner.losses(learner.score(blocks[0]), blocks[0].labels)
        return learner.history, learner.path, learner.converged, learner.planned_passes

    def back(learner: Any) -> None:
        state = learner.state()
        after = Sketch.from_state(learner.parameters(), state).state()
        for name, array in state.items():
            assert np.array_equal(array, after[name], equal_nan=array.dtype.kind == "f"), name

    return run(
        {
            "learn": learn,
            "score": lambda i: learners[0].score(blocks[i % 3]),
            "weights": lambda i: (learners[0].coef(), learners[0].intercept, learners[0].n_live()),
            "names": lambda i: learners[0].names(learners[0].coef()[0]),
            "look": lambda i: look(learners[0]),
            "state": lambda i: back(learners[0]),
            "pickle": lambda i: pickle.loads(pickle.dumps(learners[0])).coef(),
        },
        seconds,
    )


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("ignore")
    sys.setswitchinterval(1e-4)
    seconds, names = float(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    ) as place:
        for name in names:
            print(name, end=": ", flush=True)
            if name in MODELS:
                print(dict(rows_against_rows(MODELS[name](), place, seconds)))
            elif name in PASSES:
                print(dict(passes_against_reading(PASSES[name], seconds)))
            else:
                print(dict(events_against_events(EVENTS[name](), place, seconds)))
