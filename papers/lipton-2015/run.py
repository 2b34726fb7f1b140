"""Regenerate the experiment of Lipton & Elkan 2015: python run.py [table] [equality] [sweep]

Each part may be run by itself: what the others found stays in results.json. Needs no data for the first set of the
table, $RIATA_DATA for the others; matplotlib for the figure.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import report
from benchmarks.problems import Absent
from sets import SETS, Data, made
from updates import NUMPY, PYTHON, Clock, Learn, Net, block_of, lazy_python, lazy_riata, riata_net

import riata

HERE = Path(__file__).resolve().parent
UPDATES = ("sgd", "fobos")


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Processor time of the calling thread, best of a few."""
    times = []
    for _ in range(repeats):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def per_example(learn: Learn, data: Data, net: Net, rows: int, repeats: int) -> float:
    """The loop over the first rows, best of a few runs."""
    X, y = data[0][:rows], data[1][:rows]
    clocks = [Clock() for _ in range(repeats)]
    for clock in clocks:
        learn(X, y, net, clock)
    return min(clock.seconds for clock in clocks) / len(y)


def riata_per_example(data: Data, net: Net, rows: int) -> float:
    """The kernel's, from a Block, in the passes after the first, which makes room for the weights."""
    X, y = data[0][:rows], data[1][:rows]
    block, learner = block_of(X, y), riata_net(net)
    learner.learn(block)
    return seconds(lambda: learner.learn(block), 5) / len(y)


def timed(data: Data, net: Net) -> dict[str, float]:
    d = data[0].shape[1]
    few = max(2, 600_000 // d)  # dense loops take 0.1 us a weight and more
    found = {
        "Python, lazy": per_example(PYTHON["lazy"], data, net, 2000, 1),
        "Python, dense": per_example(PYTHON["dense"], data, net, few, 1),
        "Python, sparse predictions": per_example(PYTHON["dense, sparse predictions"], data, net, few, 1),
        "NumPy, dense": per_example(NUMPY["dense"], data, net, 50 * few, 2),
        "NumPy, sparse predictions": per_example(NUMPY["dense, sparse predictions"], data, net, 50 * few, 2),
    }  # fmt: skip
    return found | {"Riata, lazy": riata_per_example(data, net, 200_000)}


def table() -> dict[str, Any]:
    results = {}
    for name, load in SETS.items():
        try:
            X, y = load()
        except Absent as reason:
            print(f"  {name}: skipped, {reason}", file=sys.stderr)
            continue
        results[name] = {
            "rows": X.shape[0], "d": X.shape[1], "p": X.nnz / X.shape[0],
            **{update: timed((X, y), Net(update=update)) for update in UPDATES},
        }  # fmt: skip
        fast = results[name]["fobos"]["Riata, lazy"]
        print(f"  {name}: {X.shape[0]} x {X.shape[1]}, {1e6 * fast:.2f} us an example", flush=True)
    return results


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, relative to the largest weight."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def equality() -> dict[str, Any]:
    """How far lazy weights are from dense ones, on rows made so that every feature misses many steps."""
    X, y = made(2000, 5000, 20)
    block, results = block_of(X, y), {}
    for update in UPDATES:
        for rate, eta0 in (("constant", 0.5), ("inv_sqrt", 5.0), ("inv_t", 50.0)):
            for l1, l2 in ((1e-3, 0.0), (0.0, 1e-2), (1e-3, 1e-2)):
                net = Net(update, eta0, rate, l1, l2)
                dense = NUMPY["dense, sparse predictions"](X, y, net, Clock())
                results[f"{update}, {rate}, l1 = {l1:g}, l2 = {l2:g}"] = {
                    "Riata": apart(lazy_riata(block, X.shape[1], net), dense),
                    "Python": apart(lazy_python(X, y, net, Clock()), dense),
                    "printed": apart(lazy_python(X, y, net, Clock(), printed=True), dense),
                    "live": int(np.count_nonzero(dense)),
                }
    return results


def sweep() -> list[dict[str, float]]:
    """The speed-up by d / p."""
    points = []
    for p in (8, 88, 880):
        for d in (1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000):
            if d < 4 * p:
                continue
            data, net = made(3000 if p < 500 else 600, d, p), Net()
            X = data[0]
            few = max(2, 400_000 // d)
            points.append({
                "d": d, "p": X.nnz / X.shape[0],
                "Python, lazy": per_example(PYTHON["lazy"], data, net, 300, 2),
                "Python, dense": per_example(PYTHON["dense"], data, net, few, 1),
                "NumPy, dense": per_example(NUMPY["dense, sparse predictions"], data, net, 40 * few, 1),
                "Riata, lazy": riata_per_example(data, net, len(data[1])),
            })  # fmt: skip
    return points


WORK: dict[str, Callable[[], Any]] = {"table": table, "equality": equality, "sweep": sweep}


def main() -> None:
    stored = HERE / "results.json"
    results = json.loads(stored.read_text()) if stored.exists() else {}
    for part in sys.argv[1:] or WORK:
        if part not in WORK:
            sys.exit(f"{part!r} is not one of {', '.join(WORK)}")
        print(part, flush=True)
        began = time.perf_counter()
        found = WORK[part]()
        results[part] = (results.get(part, {}) | found) if isinstance(found, dict) else found
        print(f"  {time.perf_counter() - began:.0f} s", flush=True)
    results["versions"] = (
        f"Riata {riata.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    )
    stored.write_text(json.dumps(results, indent=1) + "\n")
    if all(part in results for part in WORK):
        report.write(results)


if __name__ == "__main__":
    main()
