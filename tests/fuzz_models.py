"""Model files of every family, changed and signed again: `python -m tests.fuzz_models COUNT [SEED]`.

Each is loaded; what loads predicts, learns and is saved. Loading may say ModelError, and nothing else; learning may
also say that the model diverged. A program of its own: a finding may take the process with it, and then the last
line printed names the seed. For as long as you like: a COUNT of 0.
"""

from __future__ import annotations

import faulthandler
import hashlib
import itertools
import json
import random
import resource
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as with_tensors

import riata
from riata import model_file
from riata.errors import DataError, DivergenceError, ModelError
from riata.learners.base import Learner

NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    255,
    2**31 - 1,
    2**31,
    2**37,
    2**40,
    2**53,
    2**62,
    2**63 - 1,
    -(2**63),
    10**30,
]
VALUES: list[Any] = [*NUMBERS, 0.5, -0.5, 1e-300, 1e300, float("nan"), float("inf"), True, False, None, "", "x",
                     "auto", "path", "full", "hashed", [], [1], [1, 2], {}, {"*": 1.0}]  # fmt: skip
ALLOWED_LATER = (ModelError, DataError, DivergenceError)
MEMORY = 12 << 30
"""Of addresses: stores reserve more than they use. A model of 2147483647 outputs would take more."""


def rows(n: int = 30, d: int = 8) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, d)).astype(np.float32) * (rng.random((n, d)) < 0.6)
    return sp.csr_matrix(x), (x[:, 0] + 0.1 * rng.normal(size=n) > 0).astype(int)


def seeds() -> dict[str, bytes]:
    """A small model of each kind, as a file's bytes."""
    warnings.simplefilter("ignore")
    x, y = rows()
    three = np.arange(30) % 3
    made: dict[str, Any] = {}
    for store in ("auto", "table", "hashed"):
        more: dict[str, Any] = {"store": store, "bits": 6}
        made |= {
            f"elastic-net {store}": riata.ElasticNetClassifier(**more).fit(x, y),
            f"elastic-net sgd {store}": riata.ElasticNetClassifier(update="sgd", **more).fit(x, y),
            f"adagrad {store}": riata.ElasticNetRegressor(learning_rate="adagrad", **more).fit(
                x, y
            ),
            f"ftrl {store}": riata.FTRLClassifier(**more).fit(x, three),
            f"auto {store}": riata.AutoClassifier(**more).fit(x, y),
            f"auto of three {store}": riata.AutoClassifier(**more).fit(x, three),
            f"bayesian {store}": riata.BayesianClassifier(**more).fit(x, y),
            f"forgetting {store}": riata.BayesianClassifier(half_life=20.0, **more).fit(x, three),
        }
        for update in ("truncate", "round", "subgradient"):
            model = riata.TruncatedGradientClassifier(
                update=update, period=3, gravity=0.01, theta=0.5, **more
            )
            made[f"{update} {store}"] = model.fit(x, y)
    made |= {
        "full": riata.BayesianClassifier(update="joint", covariance="full").fit(x, y),
        "vb": riata.BayesianClassifier(update="vb", prior_variance=1.0).fit(x, y),
        "prior": riata.BayesianClassifier(prior_variance=1.0).fit(x, y).collapse(),
        "interior": riata.InteriorPointClassifier().fit(x, y),
        "bounded": riata.InteriorPointRegressor(bounds={2: (-1, 1), "*": (0, None)}).fit(x, y),
        "sketch": riata.SketchClassifier(gamma=1.0).fit(x, y),
        "sketch path": riata.SketchClassifier(gamma="path", path_length=4).fit(x, three),
        "sketch multipass": riata.SketchClassifier(algorithm="multipass").fit(x, y),
        "sketch online": riata.SketchClassifier(algorithm="online", block_size=7).fit(x, y),
        "sketch begun": riata.SketchClassifier(algorithm="online").partial_fit(x, y, [0, 1]),
    }
    for family in (
        riata.AutoClassifier,
        riata.FTRLClassifier,
        riata.BayesianClassifier,
        riata.InteriorPointClassifier,
    ):
        model = family()
        for i in range(12):
            model.learn_one({"w": f"x{i % 5}", "n": i / 10}, f"c{i % 3}")
        made[f"{family.__name__} events"] = model
    made["named sketch"] = riata.SketchClassifier(algorithm="online")
    for i in range(12):
        made["named sketch"].learn_one({"w": f"x{i % 5}"}, i % 2)
    with tempfile.TemporaryDirectory() as folder:
        out = {}
        for name, model in made.items():
            model.save(f"{folder}/m")
            out[name] = Path(folder, "m").read_bytes()
        return out


def signed(header: dict[str, Any], tensors: dict[str, Any]) -> bytes:
    header = header | {"sha256": "0" * 64}
    content = with_tensors(tensors, {"riata": json.dumps(header)})
    key = b'\\"sha256\\": \\"'
    place = content.find(key) + len(key)
    return content[:place] + hashlib.sha256(content).hexdigest().encode() + content[place + 64 :]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values of JSON."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *itertools.chain.from_iterable(_places(v, (*path, k)) for k, v in inner)]


def _change_header(header: dict[str, Any], rng: random.Random) -> None:
    places = [p for p in _places(header) if p]
    likely = [p for p in places if p[0] in ("parameters", "classes")]
    path = rng.choice(likely if rng.random() < 0.7 and likely else places)
    at: Any = header
    for key in path[:-1]:
        at = at[key]
    what = rng.random()
    if what < 0.1:
        del at[path[-1]]
    elif what < 0.15 and isinstance(at, dict):
        at["x" + str(path[-1])] = at.pop(path[-1])
    elif what < 0.3 and isinstance(at[path[-1]], int | float):
        at[path[-1]] = at[path[-1]] + rng.choice([-1, 1, 1000])
    else:
        at[path[-1]] = rng.choice(VALUES)


def _change_tensors(tensors: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice(list(tensors))
    array = tensors[name]
    what = rng.randrange(9)
    if what == 0:
        del tensors[name]
    elif what == 1:
        tensors[name + "x"] = tensors.pop(name)
    elif what == 2:
        tensors[name] = array.astype(
            rng.choice(["float32", "int32", "uint8", "int64", "float64", "bool"])
        )
    elif what == 3:
        tensors[name] = np.ascontiguousarray(array[: rng.randrange(len(array) + 1)])
    elif what == 4:
        tensors[name] = np.concatenate([array, array[:1]] if len(array) else [array])
    elif what == 5:
        tensors[name] = np.ascontiguousarray(
            array.reshape(-1) if array.ndim > 1 else array[:, None]
        )
    elif array.size:
        flat = array.reshape(-1).copy()
        for _ in range(rng.choice([1, 1, 3])):
            value = rng.choice([v for v in VALUES if isinstance(v, int | float)])
            with np.errstate(all="ignore"):
                if array.dtype.kind == "f":
                    flat[rng.randrange(flat.size)] = float(value)
                else:
                    bits = array.dtype.itemsize * 8
                    whole = int(value) if abs(value) < 1e18 else 2**62
                    flat[rng.randrange(flat.size)] = np.array(whole % 2**bits, np.uint64).astype(
                        array.dtype
                    )
        tensors[name] = flat.reshape(array.shape)


def changed(content: bytes, rng: random.Random) -> bytes:
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["riata"])
    tensors = dict(tensors_of(content))
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if rng.random() < 0.5:
            _change_header(header, rng)
        elif tensors:
            _change_tensors(tensors, rng)
    return signed(header, tensors)


def use(path: Path) -> str:
    """Load, predict, learn, save; what came of it."""
    try:
        model = model_file.load(path)
    except ModelError:
        return "refused"
    learner: Learner = model.learner
    [block] = riata.open_source(*rows(n=6))
    try:
        for _ in range(2):
            if learner.names(np.empty(0, np.int64)) is None:
                learner.score(block)
                if not learner.complete:
                    learner.learn(block)
                    learner.end_pass()
            else:
                learner.score_one({"w": "x1", "n": 1.0})
                learner.learn_one({"w": "x1", "n": 1.0}, 1.0)
        learner.coef(), learner.intercept, learner.n_live(), learner.n_features, learner.t
        model_file.save(model, path)
        model_file.load(path)
    except ALLOWED_LATER:
        return "refused later"
    return "used"


def main() -> int:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    kinds = list(seeds().items())
    findings = 0
    outcomes: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.riata")
        for seed in itertools.count(first) if count == 0 else range(first, first + count):
            rng = random.Random(seed)
            kind, content = kinds[seed % len(kinds)]
            path.write_bytes(changed(content, rng))
            print(f"\r{seed} {kind}", end="", file=sys.stderr, flush=True)
            try:
                outcome = use(path)
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
            except Exception:
                findings += 1
                print(f"\nseed {seed}, {kind}:\n{traceback.format_exc(limit=-4)}", file=sys.stderr)
    print(outcomes)
    return min(findings, 100)


if __name__ == "__main__":
    sys.exit(main())
