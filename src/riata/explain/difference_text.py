"""A difference of two models for people."""

from __future__ import annotations

from typing import Any

from riata.show import count, html_text, number, percent, plural, printable, rows


def for_terminal(values: dict[str, Any]) -> str:
    parts = [rows(_lines(values))]
    for title, heads, cells in _tables(values):
        width = max(len(title), *(len(cell[0]) for cell in cells))
        head = f"{title:<{width}}" + "".join(f"{h:>14}" for h in heads)
        body = [f"{c[0]:<{width}}" + "".join(f"{x:>14}" for x in c[1:]) for c in cells]
        parts.append("\n".join([head, *body]))
    return "\n\n".join(parts)


def as_html(values: dict[str, Any]) -> str:
    lines = "".join(
        f"<tr><th style='text-align:left'>{html_text(label)}</th>"
        f"<td style='text-align:left'>{html_text(text, 400)}</td></tr>"
        for label, text in _lines(values)
    )
    out = f"<table>{lines}</table>"
    for title, heads, cells in _tables(values):
        head = "".join(f"<th>{html_text(h)}</th>" for h in (title, *heads))
        body = "".join(
            "<tr>" + "".join(f"<td>{html_text(x)}</td>" for x in c) + "</tr>" for c in cells
        )
        out += f"<table><tr>{head}</tr>{body}</table>"
    return out


def _lines(values: dict[str, Any]) -> list[tuple[str, str]]:
    def pair(name: str, show: Any = str) -> str:
        before, after = values[name]
        return show(before) if before == after else f"{show(before)} -> {show(after)}"

    counts = values["counts"]
    lines = [
        ("method", pair("families")),
        ("learned", f"{pair('examples', count)} examples"),
        ("loss", pair("progressive_loss", number)),
        ("weights", f"{pair('live_weights', count)} not zero"),
        ("features", f"{count(counts['gained'])} gained, {count(counts['lost'])} lost, "
                     f"{count(counts['moved'])} moved, {count(counts['same'])} the same"),
    ]  # fmt: skip
    changed = [
        f"{name}: {printable(str(a), 60)} -> {printable(str(b), 60)}"
        for name, (a, b) in values["parameters"].items()
    ]
    lines += [("changed" if i == 0 else "", text) for i, text in enumerate(changed)]
    schema = [printable(text, 200) for text in values["schema"]]
    lines += [("schema" if i == 0 else "", text) for i, text in enumerate(schema)]
    if values["classes"][0] != values["classes"][1]:
        lines.append(("classes", printable(pair("classes"), 400)))
    return lines + _prediction_lines(values.get("predictions"))


def _prediction_lines(found: dict[str, Any] | None) -> list[tuple[str, str]]:
    if found is None:
        return []
    what = found["what"]
    text = f"of {plural(found['rows'], 'row')} differ by {found['mean_difference']:.6g} in {what} on average"
    lines = [("answers", text)]
    if found["changed_decisions"] is not None:
        share = percent(found["changed_share"], 2)
        lines.append(("", f"{count(found['changed_decisions'])} decisions ({share}) are others"))
    if found["correlation"] is not None:
        lines.append(("", f"correlation {found['correlation']:.6f}"))
    return lines


def _tables(values: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    tables = []
    outputs = values["outputs"]
    for kind in ("gained", "lost", "moved"):
        if not values[kind]:
            continue
        cells = []
        for entry in values[kind]:
            changes = [abs(a - b) for a, b in zip(entry["before"], entry["after"], strict=True)]
            at = changes.index(max(changes))
            row = [
                printable(str(entry["feature"])),
                f"{entry['before'][at]:.6g}",
                f"{entry['after'][at]:.6g}",
            ]
            cells.append([*row, printable(outputs[at], 12)] if len(outputs) > 1 else row)
        heads = ["before", "after", *(["class"] if len(outputs) > 1 else [])]
        tables.append((kind, heads, cells))
    if values.get("predictions"):
        cells = [
            [printable(r["where"]), f"{r['before']:.6g}", f"{r['after']:.6g}",
             *(printable(str(p), 12) for p in r["predicted"])]
            for r in values["predictions"]["largest"]
        ]  # fmt: skip
        tables.append(("largest differences", ["before", "after", "said", "says"], cells))
    return tables
