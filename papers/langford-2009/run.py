"""Regenerate the UCI experiments of Langford, Li & Zhang 2009.

    python run.py [PART ...] [--sets NAME ...] [--rules RULE ...]

Parts: sparsify, stamped, scaling, curves; all by default. What each finds stays in results.json until it runs again;
RESULTS.md and the figures are made anew from there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import curves
import sklearn
import sparsify
import tables
from uci import DATA, SCALES, SOURCES

import riata

HERE = Path(__file__).resolve().parent
Work = Callable[[Executor, list[str], list[str]], dict[str, Any]]
METHODS = [*curves.RULES, curves.LASSO]


def scaling(pool: Executor, names: list[str], rules: list[str]) -> dict[str, Any]:
    wanted = [n for n in ("crx", "spambase", "wbc", "wdbc") if n in names]
    return {
        f"{name}, {scale}": sparsify.run(pool, [name], "equation 6", scale)[name]
        for name in wanted
        for scale in SCALES
    }


WORK: dict[str, Work] = {
    "sparsify": lambda pool, names, rules: sparsify.run(pool, names, "equation 6"),
    "stamped": lambda pool, names, rules: sparsify.run(pool, names, "time stamps"),
    "scaling": scaling,
    "curves": lambda pool, names, rules: curves.run(
        pool, [n for n in curves.SETS if n in names], rules
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *WORK], metavar="PART")
    parser.add_argument("--sets", nargs="+", default=list(SOURCES), choices=list(SOURCES))
    parser.add_argument("--rules", nargs="+", default=METHODS, choices=METHODS, help="of curves")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    stored = HERE / "results.json"
    results = json.loads(stored.read_text()) if stored.exists() else {}
    here = [n for n in given.sets if (DATA / SOURCES[n].file).exists()]
    for name in sorted(set(given.sets) - set(here)):
        print(f"{name}: skipped, {DATA / SOURCES[name].file} is not there", file=sys.stderr)
    with ProcessPoolExecutor(given.workers) as pool:
        for part in given.parts or WORK:
            print(part, flush=True)
            began = time.perf_counter()
            for name, found in WORK[part](pool, here, given.rules).items():
                results.setdefault(part, {}).setdefault(name, {}).update(found)
            print(f"  {time.perf_counter() - began:.0f} s")
    results["versions"] = (
        f"Riata {riata.__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}"
    )
    results = tables.rounded(results)
    stored.write_text(json.dumps(results) + "\n")
    if missing := set(WORK) - set(results):
        print(f"RESULTS.md stays as it is until {', '.join(sorted(missing))} ran", file=sys.stderr)
        return
    tables.write(results)


if __name__ == "__main__":
    main()
