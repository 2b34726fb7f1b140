"""RESULTS.md, from the results files alone."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from papers.data import HERE
from papers.items import GAPS, ITEMS, PAPERS, Item

FOLDER = HERE
"""Where results are kept and the page is written."""
HEAD = """# The papers, theirs and ours

Made by `python -m papers` from `papers/results/`, which its scripts write; nothing here is typed by hand. A verdict is
*reproduced* (the same within what another draw explains), *comparable* (the same finding, other numbers) or *not*.
"""


def page() -> Path:
    return FOLDER / "RESULTS.md"


def stored(item: Item) -> Path:
    return FOLDER / "results" / item.paper / f"{item.name}.json"


def read(item: Item) -> dict[str, Any] | None:
    path = stored(item)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def text() -> str:
    """The whole page."""
    parts = [HEAD, _times()]
    for paper, title in PAPERS.items():
        parts.append(f"## {title}\n")
        parts += [_item(item, read(item)) for item in ITEMS if item.paper == paper]
        gaps = [gap for gap in GAPS if gap.paper == paper]
        if gaps:
            parts.append("Not here:\n")
            parts.append("".join(f"- {gap.title}: {gap.why}.\n" for gap in gaps))
    return "\n".join(parts)


def _times() -> str:
    """What is of full runs and what of quick ones, and the processor time of both."""
    told = []
    for quick, kind in ((False, "full"), (True, "quick")):
        found = [
            (item, r)
            for item in ITEMS
            if (r := read(item)) and r["quick"] == quick and not r.get("absent")
        ]
        if found:
            spent = sum(r.get("processor_seconds") or 0.0 for _, r in found)
            names = "" if not quick else ": " + ", ".join(item.key for item, _ in found)
            told.append(
                f"{len(found)} of {len(ITEMS)} items are of {kind} runs, which took {spent / 60:.1f} minutes of "
                f"processor time{names}."
            )
    return " ".join(told or ["Nothing has been made yet."]) + "\n"


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    """With an empty line behind it."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in row) + " |" for row in lines] + [""]


def _processor(found: dict[str, Any]) -> str:
    """Of the processor; files from before this was measured say nothing."""
    used = found.get("processor_seconds")
    return "" if used is None else f" ({used:.0f} s of the processor)"


def _item(item: Item, found: dict[str, Any] | None) -> str:
    lines = [f"### {item.title}\n"]
    if found is None:
        return "\n".join([*lines, "Not made yet: `python -m papers " + item.key + "`\n"])
    if found.get("absent"):
        lines.append(f"**Gap**: {', '.join(found['absent'])} is not under $RIATA_DATA.\n")
        return "\n".join(lines)
    lines += _table(["item", "theirs", "ours", "verdict"], found["rows"])
    if found.get("note"):
        lines.append(found["note"] + "\n")
    for table in found.get("tables", []):
        lines += [f"{table['title']}:\n", *_table(table["head"], table["rows"])]
    if found.get("picture"):
        lines.append(f"![{item.title}]({item.paper}/{found['picture']})\n")
    folders = Counter(name.split("/")[0] for name in item.data)
    several = [f"{count} files of {name}/" for name, count in folders.items() if count > 1]
    single = [name for name in item.data if folders[name.split("/")[0]] == 1]
    data = ", ".join(several + single) or "made by the script"
    kind = "quick" if found["quick"] else "full"
    lines.append(
        f"Data: {data}. Seed: {item.seed}. Commit {found['commit']}, {found['processor']}, "
        f"{found['seconds']:.0f} s{_processor(found)}, {kind} run.\n"
    )
    return "\n".join(lines)
