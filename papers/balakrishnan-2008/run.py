"""Regenerate what can be of Balakrishnan & Madigan 2008.

    python papers/balakrishnan-2008/run.py [simulated] [modapte-unit] [modapte-long]

Each part may be run by itself: what the others found stays in results.json.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from typing import Any

import modapte
import reuters
import simulated
import sklearn
from common import HERE

import riata

sys.path.append(str(HERE.parent))

from page import filled

Parts = dict[str, Any]
ROWS = {"UNIT": "rows of length 1", "LONG": "rows of length 8"}


def run_simulated() -> Parts:
    simulated.figures()
    parts = {"EVIDENCE": simulated.evidence()}
    for name, variance in simulated.VARIANCES.items():
        parts[f"TABLE_1_{name}"] = simulated.table_1(variance)
        parts[f"TABLE_2_{name}"] = simulated.table_2(variance)
    return parts


def run_modapte(name: str) -> Parts:
    if not reuters.ARCHIVE.exists():
        print(f"{reuters.ARCHIVE} is not there: tables 3 and 4 stay as they are", file=sys.stderr)
        return {}
    train, _ = reuters.load()
    X = train.X if name == "UNIT" else modapte.unscaled(train)
    needed, curves = modapte.passes_needed(X, train.y)
    return {
        f"TABLE_3_{name}": modapte.table_3(X, train.y, train.words),
        f"TABLE_4_{name}": modapte.table_4(X, train.y, train.words),
        f"PASSES_{name}": needed,
        f"CURVES_{name}": curves,
        "SHAPE": f"{X.shape[0]:,} x {X.shape[1]:,}, {int((train.y > 0).sum()):,} positive",
    }


WORK: dict[str, Callable[[], Parts]] = {
    "simulated": run_simulated,
    "modapte-unit": lambda: run_modapte("UNIT"),
    "modapte-long": lambda: run_modapte("LONG"),
}


def main() -> None:
    stored = HERE / "results.json"
    parts = json.loads(stored.read_text()) if stored.exists() else {}
    wanted = sys.argv[1:] or list(WORK)
    parts["VERSIONS"] = (
        f"riata {riata.__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}"
    )
    for name in wanted:
        parts |= WORK[name]()
    if all(f"CURVES_{name}" in parts for name in ROWS):
        modapte.figure({title: parts[f"CURVES_{name}"] for name, title in ROWS.items()})
    stored.write_text(json.dumps(parts, indent=1) + "\n")
    texts = {name: part.strip() for name, part in parts.items() if isinstance(part, str)}
    (HERE / "RESULTS.md").write_text(filled(HERE, texts))


if __name__ == "__main__":
    main()
