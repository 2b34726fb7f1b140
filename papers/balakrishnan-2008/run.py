"""Regenerate what can be of Balakrishnan & Madigan 2008: python papers/balakrishnan-2008/run.py [simulated|modapte]"""

from __future__ import annotations

import json
import platform
import sys

import modapte
import reuters
import simulated
import sklearn
from common import HERE

import riata


def run_simulated() -> dict[str, str]:
    simulated.figures()
    return {"TABLE_1": simulated.table_1(), "TABLE_2": simulated.table_2()}


def run_modapte() -> dict[str, str]:
    parts = {}
    if reuters.ARCHIVE.exists():
        train, _ = reuters.load()
        curves = {}
        for name, X, title in (
            ("UNIT", train.X, "rows of length 1"),
            ("LONG", modapte.unscaled(train), "rows of length 8"),
        ):
            parts[f"TABLE_3_{name}"] = modapte.table_3(X, train.y, train.words)
            parts[f"TABLE_4_{name}"] = modapte.table_4(X, train.y, train.words)
            parts[f"PASSES_{name}"], curves[title] = modapte.passes_needed(X, train.y)
        parts["SHAPE"] = (
            f"{train.X.shape[0]:,} x {train.X.shape[1]:,}, {int((train.y > 0).sum()):,} positive"
        )
        modapte.figure(curves)
    else:
        print(f"{reuters.ARCHIVE} is not there: tables 3 and 4 stay as they are", file=sys.stderr)
    return parts


def main() -> None:
    stored = HERE / "results.json"
    parts = json.loads(stored.read_text()) if stored.exists() else {}
    wanted = sys.argv[1:] or ["simulated", "modapte"]
    parts["VERSIONS"] = (
        f"riata {riata.__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}"
    )
    for name in wanted:
        parts |= {"simulated": run_simulated, "modapte": run_modapte}[name]()
    stored.write_text(json.dumps(parts, indent=1) + "\n")
    text = (HERE / "results.template.md").read_text()
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part.strip())
    (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
