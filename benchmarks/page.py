"""The page: results as one table of ratios, with machine and versions, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

QUIET = 0.15
"""More cores than this in use by others, and the numbers of a task are marked as disturbed."""
HELD = 0.9
"""A ratio holds if it is at least this part of the one before; runs of the same code differ by about so much."""

Results = list[dict[str, Any]]
PROSE = Path(__file__).with_name("page.template.md")


def number(value: float | None, unit: str = "x") -> str:
    """
    >>> number(3.972), number(54.3), number(2174.4), number(973.2, " MB/s"), number(1.0, "")
    ('3.97x', '54.3x', '2,174x', '973 MB/s', 'yes')
    """
    if value is None:
        return ""
    if unit == "":
        return "yes"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}{unit}"


def target(row: dict[str, Any]) -> str:
    least, most, unit = row.get("least"), row.get("most"), row.get("unit", "x")
    if unit == "":
        return ""
    said = [] if least is None else [f"≥ {least:,g}{unit}"]
    said += [] if most is None else [f"≤ {most:,g}{unit}"]
    return " ".join(said)


def verdict(row: dict[str, Any], old: dict[str, Any] | None) -> str:
    words = []
    if row["reached"] is not None:
        words.append("reached" if row["reached"] else "**missed**")
    if old is not None and old.get("value") and row["value"] and aimed(row) and row.get("unit"):
        up, down = row["value"] / old["value"], old["value"] / row["value"]
        gain = up if row.get("most") is None else down
        words.append("holds" if gain >= HELD else "**fell**")
    return ", ".join(words)


def aimed(row: dict[str, Any]) -> bool:
    return row.get("least") is not None or row.get("most") is not None


def rows(task: dict[str, Any], before: dict[str, Any] | None, show_before: bool) -> list[str]:
    old = {row["what"]: row for row in (before or {}).get("ratios", ())}
    out = []
    for row in task["ratios"]:
        known = old.get(row["what"])
        unit = row.get("unit", "x")
        cells = [f"`{task['task']}`", row["what"], target(row)]
        if show_before:
            cells.append(number(known["value"], unit) if known else "")
        cells.append(number(row["value"], unit))
        cells.append(number(row.get("median"), unit))
        cells.append(row["why"] if row["value"] is None else row.get("detail", ""))
        said = verdict(row, known)
        busy = task.get("others") is not None and task["others"] > QUIET
        cells.append(f"{said} (disturbed)" if said and busy else said)
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return out


def table(results: Results, before: Results | None = None) -> str:
    """All ratios, with those of another run beside them where it is given."""
    head = ["task", "what", "target", *(["before"] if before else []), "now", "of medians", "", ""]
    out = ["| " + " | ".join(head) + " |", "|---|---|" + "---:|" * (len(head) - 4) + "---|---|"]
    known = {task["task"]: task for task in before or ()}
    for task in results:
        out += rows(task, known.get(task["task"]), bool(before))
    return "\n".join(out) + "\n"


def machine(results: Results) -> str:
    """What the numbers were measured on."""
    measured = [task for task in results if "machine" in task]
    if not measured:
        return "Nothing was measured.\n"
    described: dict[str, str] = measured[0]["machine"]
    versions: dict[str, str] = {}
    for task in measured:
        versions |= task["versions"]
    minutes = sum(task["seconds"] for task in measured) / 60
    turns = sorted({task["repeat"] for task in measured})
    commits = sorted({task["commit"] for task in measured if task["commit"]})
    out = ["Machine: " + "; ".join(f"{k} {v}" for k, v in described.items()) + ".", ""]
    out.append("Versions: " + ", ".join(f"{k} {v}" for k, v in versions.items()) + ".")
    quick = ", --quick" if all(task["quick"] for task in measured) else ""
    out.append(
        f"Riata {measured[0]['riata']} at {', '.join(commits) or 'an unknown commit'}; "
        f"{'/'.join(map(str, turns))} turns{quick}; {minutes:.1f} minutes in all."
    )
    return "\n".join(out) + "\n"


def disturbed(results: Results) -> str:
    """Which tasks had company."""
    busy = [t for t in results if t.get("others") is not None and t["others"] > QUIET]
    if not busy:
        return f"No other process used more than {QUIET} cores during any task.\n"
    named = ", ".join(f"`{t['task']}` ({t['others']:.1f} cores)" for t in busy)
    return f"**Disturbed** by other processes, so measure again before you believe them: {named}.\n"


def summary(results: Results, before: Results | None) -> str:
    every = [row for task in results for row in task["ratios"]]
    reached = sum(row["reached"] is True for row in every)
    missed = sum(row["reached"] is False for row in every)
    silent = sum(row["value"] is None for row in every)
    out = f"{reached} targets reached, {missed} missed; {silent} rows without a number.\n"
    if not before:
        return out
    old = {(t["task"], row["what"]): row for t in before for row in t["ratios"]}
    said = [verdict(row, old.get((t["task"], row["what"]))) for t in results for row in t["ratios"]]
    fell, held = sum("fell" in s for s in said), sum("holds" in s for s in said)
    commits = ", ".join(sorted({t["commit"] for t in before if t.get("commit")})) or "another run"
    return out + (
        f"*Before* is {commits}: {held} ratios with a target hold (at least {HELD:g} of what they were, "
        f"or better), {fell} fell.\n"
    )


def whole(results: Results, before: Results | None = None) -> str:
    """The page has the rows with a target; all others are in the results file."""
    text = PROSE.read_text()
    shown = [task | {"ratios": [row for row in task["ratios"] if aimed(row)]} for task in results]
    parts = {
        "machine": machine(results),
        "disturbed": disturbed(results),
        "summary": summary(results, before),
        "table": table(shown, before),
    }
    for name, part in parts.items():
        text = text.replace(f"<!-- {name} -->\n", part)
    return text
