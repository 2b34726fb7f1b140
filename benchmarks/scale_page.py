"""The measured parts of docs/scale.md.

    python -m benchmarks.scale_page near         how near methods come to one machine; takes minutes
    python -m benchmarks.scale_page costs        constants, a predicted run, a simulation; about a minute
    python -m benchmarks.scale_page              write them into the page

Numbers are kept in benchmarks/scale.json; the page has nothing that is not in there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.paths import ROOT
from benchmarks.scale_costs import Costs, Work, parts_of, seconds_of

PAGE, NUMBERS = ROOT / "docs" / "scale.md", ROOT / "benchmarks" / "scale.json"
FEATURES = 500_000
SIZES = {"1 TB": 1e12, "100 TB": 1e14}
WORKERS = (10, 100, 1000)
SHARDS = {"64 MB": 64e6, "1 GB": 1e9}


def shown(seconds: float) -> str:
    """
    >>> shown(0.0162), shown(3.21), shown(90), shown(5400), shown(400_000)
    ('16 ms', '3.2 s', '90 s', '90 min', '111 h')
    """
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:,.0f} h"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def near(found: dict[str, Any]) -> str:
    counts = list(next(iter(found.values()))["shards"])
    rows = []
    for name, one in found.items():
        by_count = one["shards"]
        cells = [", ".join(f"{loss:.4f}" for loss in by_count.get(count, ())) for count in counts]
        rows.append([name, f"{one['one']:.4f}", *cells])
    shards = [f"{count} shard{'s' if count != '1' else ''}" for count in counts]
    text = table(["", "one machine, one pass", *shards], rows)
    auto = found["auto"]
    losses = auto["shards"]["16"]
    behind = ", ".join(f"{loss / auto['one'] - 1:+.1%}" for loss in losses)
    return text + f"\n`auto` in 16 shards is {behind} from one machine after rounds 1, 2, 3.\n"


def costs(found: dict[str, Any]) -> str:
    c, run = found["costs"], found["run"]
    rows = [
        ["Parquet that a worker reads and learns", f"{c['learn'] / 1e6:.2f} MB/s"],
        ["the same in later rounds", f"{c['learn_again'] / 1e6:.2f} MB/s"],
        ["a summary, for each named feature", f"{c['feature']:.0f} bytes"],
        ["summaries added to a sum", f"{c['add'] / 1e6:.0f} MB/s"],
        ["summaries from one process to another", f"{c['send'] / 1e6:.0f} MB/s"],
        ["a model to all workers", f"{c['hand_out'] / 1e6:.0f} MB/s"],
        ["a task, beside its work", f"{c['task'] * 1e3:.1f} ms"],
        ["sums to a model and the next task", f"{c['finish'] / 1e6:.0f} MB/s"],
    ]
    off = run["predicted"] / run["measured"] - 1
    return table(["constant", "FTRL, two single-threaded workers"], rows) + (
        f"\nFrom these, {run['rounds']} rounds over {run['shards']} shards of {run['bytes'] / 1e6:.0f} MB in all, with "
        f"summaries of {run['summary'] / 1e6:.1f} MB, were predicted to take {run['predicted']:.2f} s on two workers. "
        f"They took {run['measured']:.2f} s: the prediction is {abs(off):.0%} {'more' if off > 0 else 'less'}.\n"
    )


def clusters(found: dict[str, Any]) -> str:
    """A round of data that nobody here has."""
    known = Costs(**found["costs"])
    summary = FEATURES * known.feature
    rows = []
    for size, data in SIZES.items():
        for each, shard in SHARDS.items():
            work = Work(data, shard, summary, 2 * summary)
            cells = []
            for workers in WORKERS:
                cells.append(
                    f"{shown(seconds_of(work, workers, known))} "
                    f"({shown(seconds_of(work, workers, known, tree=False))})"
                )
            rows.append([size, each, f"{work.shards:,}", *cells, first_to_break(work, known)])
    head = ["data", "a shard", "shards", *(f"{n:,} workers" for n in WORKERS)]
    return table([*head, "what breaks first"], rows) + (
        f"\nThe time of one round with summaries of {FEATURES:,} features ({summary / 1e6:.0f} MB) and a model "
        "of twice as many; in brackets without the tree. *What breaks first* is what takes longest beside learning, on "
        "1,000 workers with the tree, and its part of the whole.\n"
    )


NAMES = {
    "sums": "the sums",
    "scheduler": "the scheduler's tasks",
    "model": "the model in one place",
}


def first_to_break(work: Work, known: Costs) -> str:
    parts = parts_of(work, WORKERS[-1], known)
    worst = max(NAMES, key=lambda name: parts[name])
    return f"{NAMES[worst]}, {parts[worst] / sum(parts.values()):.0%}"


def simulation(found: dict[str, Any]) -> str:
    s = found["simulation"]
    rows = [
        [f"{int(count):,}", shown(w["learning"]), shown(w["tree"]), shown(w["flat"])]
        for count, w in s["workers"].items()
    ]
    text = table(["workers", "learning", "sums, by the tree", "sums, in one place"], rows)
    return (
        f"{s['shards']:,} shards of a few rows were learned, and their summaries ({s['features']:,} features in all) "
        f"added up by {s['merges']} merges, each timed; then tasks and merges are given to so many workers. The sums "
        f"{'have' if s['equal'] else 'DO NOT HAVE'} the bits that one process gets.\n\n" + text
    )


PARTS = {"near": near, "costs": costs, "clusters": clusters, "simulation": simulation}
SOURCE = {"near": "near", "costs": "costs", "clusters": "costs", "simulation": "costs"}


def written(page: str, numbers: dict[str, Any]) -> str:
    """The page with the numbers in their places."""
    for name, part in PARTS.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, rest = page.split(begin)
        _, after = rest.split(end)
        page = before + begin + "\n" + part(numbers[SOURCE[name]]) + "\n" + end + after
    return page


def main(argv: list[str]) -> int:
    numbers = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    if argv == ["near"]:
        from benchmarks import scale_near

        numbers["near"] = scale_near.everything()
    elif argv == ["costs"]:
        from benchmarks import scale_costs

        numbers["costs"] = scale_costs.everything() | {"machine": machine.describe()}
    elif argv:
        print(__doc__)
        return 2
    if argv:
        NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n")
    if set(SOURCE.values()) <= numbers.keys():
        Path(PAGE).write_text(written(PAGE.read_text(), numbers))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
