"""A summary for people: lines and tables, as text and as HTML."""

from __future__ import annotations

from typing import Any

from riata.labels import as_text, in_words
from riata.schema import Schema, describe
from riata.show import count, first_apart, html_text, number, plural, printable, rows
from riata.words import TextOptions

Table = tuple[list[str], list[list[str]]]
"""The heads of columns, and rows of cells."""


def for_terminal(values: dict[str, Any]) -> str:
    """For a terminal or a pipe."""
    tables = [_text_table(*table) for table in _tables(values)]
    return "\n\n".join([rows(_lines(values)), *tables])


def as_html(values: dict[str, Any]) -> str:
    """For a notebook."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html_text(label)}</th>"
        f"<td style='text-align:left'>{html_text(text, 400)}</td></tr>"
        for label, text in _lines(values)
    )
    return f"<table>{cells}</table>" + "".join(map(_html_table, _tables(values)))


def _lines(values: dict[str, Any]) -> list[tuple[str, str]]:
    changed = ", ".join(f"{k}={_short(v)}" for k, v in values["changed"].items())
    lines = _about(values)
    lines += [
        ("method", f"{values['family']}, {values['task']}"),
        ("", f"{changed}; the rest as by default" if changed else "all parameters as by default"),
    ]
    if values["classes"] is not None:
        lines.append(("classes", printable(in_words(values["classes"]), 200)))
    if values["merged"]:
        lines += _merged_rows(values["merged"])
    else:
        lines.append(("data", printable(", ".join(values["data"]), 400)))
    for run in values["earlier"]:
        before = f"before: {plural(run['examples'], 'example')} of {', '.join(run['data'])}"
        lines.append(("", printable(before, 400)))
    lines += _schema_rows(values["schema"])
    done = f"{plural(values['examples'], 'example')}, {plural(values['passes'], 'pass')}"
    lines.append(("learned", done + (", interrupted" if values["interrupted"] else "")))
    lines += _loss_rows(values)
    if values["verdict"] is not None:
        lines.append(("proof", values["verdict"]))
    lines.append(("weights", values["weights"]))
    lines.append(("intercept", "  ".join(f"{b:.6g}" for b in values["intercept"][:12])))
    return lines + _averaged(values)


def _merged_rows(parts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """A line for each run whose model was put together with others."""
    lines = [("merged", f"from {plural(len(parts), 'model')}")]
    for part in parts[:20]:
        loss = (
            "" if part["progressive_loss"] is None else f", loss {number(part['progressive_loss'])}"
        )
        said = f"{plural(part['examples'], 'example')} of {', '.join(part['data'])}{loss}"
        lines.append(("", printable(said, 400)))
    return lines + ([("", f"and {len(parts) - 20} more")] if len(parts) > 20 else [])


def _about(values: dict[str, Any]) -> list[tuple[str, str]]:
    if "path" not in values:
        return []
    saved = f"saved {values['saved']} by Riata {printable(str(values['version']), 20)}"
    return [
        ("model", printable(values["path"], 400)),
        ("", f"{count(values['bytes'])} bytes, {saved}"),
    ]


def _loss_rows(values: dict[str, Any]) -> list[tuple[str, str]]:
    lines = []
    if values["progressive_loss"] is not None:
        loss = f"{number(values['progressive_loss'])} {values['loss_in_words']}"
        lines.append(("loss", f"{loss}, before learning each example"))
        apart = first_apart(values["progressive_loss"], values["loss_after_first"])
        lines += [("", line) for line in apart]
        if values["constant_loss"] is not None:
            lines.append(("", f"{number(values['constant_loss'])} by always predicting the same"))
    if values["holdout"] is not None:
        lines.append(("holdout", f"{number(values['holdout']['loss'])}, never learned"))
    return lines


def _schema_rows(values: dict[str, Any] | None) -> list[tuple[str, str]]:
    """What the features are made of, a line a role or kind."""
    if values is None:
        return []
    schema = Schema.from_json(values)
    if not schema.named:
        where = "" if schema.base is None else f", counted from {schema.base}"
        return [("features", f"numbered{where}")]
    groups: dict[str, list[str]] = {}
    for column in schema.columns:
        scaled = column.kind == "number" and column.is_changed
        what = "number, scaled by the first rows" if scaled else column.what
        if what == "text" and column.text != TextOptions():
            what = describe(column)
        groups.setdefault(what, []).append(column.name)
    lines = [f"{what}: {_some(names)}" for what, names in groups.items()]
    if schema.crosses:
        lines.append(f"crosses: {_some([':'.join(cross) for cross in schema.crosses])}")
    if schema.open:
        lines.append("whatever else comes, by its name")
    return [("features" if i == 0 else "", printable(line, 400)) for i, line in enumerate(lines)]


def _some(names: list[str]) -> str:
    shown = ", ".join(printable(name, 60) or "''" for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _averaged(values: dict[str, Any]) -> list[tuple[str, str]]:
    """What has the most weight in an average, and what the weights below are."""
    parts = values.get("settings") or values.get("components")
    if not parts:
        return []
    shown = [f"{part['weight']:>6.1%}  {_part(part)}" for part in parts[:3]]
    left = len(parts) - len(shown)
    lines = [("average", shown[0]), *(("", line) for line in shown[1:])]
    if left > 0:
        what = "setting" if "settings" in values else "component"
        lines.append(("", f"and {plural(left, what)} more"))
    if "cost_of_single" in values:
        said = "the weights shown are one linear model for all: "
        lines.append(("single", f"{said}{values['cost_of_single']:+.1%} log loss so far"))
    return lines


def _part(part: dict[str, Any]) -> str:
    if "rule" not in part:
        return f"{part['values']} values, prior variance {part['prior_variance']:g}"
    what = "rate" if part["rule"] == "adagrad" else "prior variance"
    return f"{part['rule']}, {part['values']} values, {what} {part['parameter']:g}"


def _tables(values: dict[str, Any]) -> list[Table]:
    tables: list[Table] = []
    if len(values["groups"]) > 1:
        cells = [[g["group"] or "(no namespace)", count(g["features"]), count(g["weights"]), f"{g['sum']:.4g}"]
                 for g in values["groups"][:15]]  # fmt: skip
        left = len(values["groups"]) - len(cells)
        cells += [[f"and {left} more", "", "", ""]] if left else []
        tables.append((["group", "features", "weights", "sum of |w|"], cells))
    if values["matching"] is not None:
        tables.append(
            (
                [
                    f"{plural(values['matching'], 'feature')} of {count(values['live_features'])} match"
                ],
                [],
            )
        )
    if "for" not in values:
        if values["strongest"]:
            heads = [as_text(label) for label in values["classes"] or [""]]
            tables.append((["feature", *heads], _cells(values["strongest"])))
        return tables
    label = "" if not values["classes"] else f" {as_text(values['classes'][-1])}"
    if _has_scaled(values):
        tables.append(
            (["strongest first: a weight of a scaled column counts times what it is scaled by"], [])
        )
    for side in ("for", "against"):
        if values[side]:
            heads = ["weight", *(["std"] if "std" in values[side][0] else [])]
            name = f"{side}{label}" if label else {"for": "upwards", "against": "downwards"}[side]
            tables.append(([name, *heads], _cells(values[side])))
    return tables


def _has_scaled(values: dict[str, Any]) -> bool:
    """Whether a weight is shown for numbers of another scale than that which it is compared on."""
    columns = (values["schema"] or {}).get("columns", [])
    scaled = {c["name"] for c in columns if c.get("kind") == "number" and "scale" in c}
    return any(entry["feature"] in scaled for entry in [*values["for"], *values["against"]])


def _cells(entries: list[dict[str, Any]]) -> list[list[str]]:
    found = []
    for entry in entries:
        cells = [str(entry["feature"]), *(f"{w:.6g}" for w in entry["weights"])]
        if len(entry["weights"]) == 1 and "std" in entry:
            cells.append(f"{entry['std'][0]:.4g}")
        found.append(cells)
    return found


def _text_table(heads: list[str], cells: list[list[str]]) -> str:
    table = [[printable(heads[0], 80), *(printable(head, 12) for head in heads[1:])]]
    table += [[printable(row[0]), *row[1:]] for row in cells]
    width = max(len(row[0]) for row in table)
    return "\n".join(f"{row[0]:<{width}}" + "".join(f"{c:>13}" for c in row[1:]) for row in table)


def _html_table(table: Table) -> str:
    heads, cells = table
    head = "".join(f"<th>{html_text(h, 80)}</th>" for h in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html_text(c)}</td>" for c in row) + "</tr>" for row in cells
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else printable(str(value), 200)
