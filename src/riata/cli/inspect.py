"""riata inspect"""

from __future__ import annotations

import json
from typing import Any

import click
import numpy as np

from riata import model_file
from riata.cli.options import Command, option
from riata.cli.text import number, plural, printable, rows, weights_line
from riata.labels import as_text, in_words
from riata.record import Model
from riata.schema import Schema

HELP = """Show how MODEL was made, how much of it is alive, and its strongest features.

\b
  riata inspect clicks.riata --top 20
  riata inspect clicks.riata --top 0 --json | jq .parameters"""


@click.command("inspect", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many features to show.",
)
@option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(model: str, top: int, as_json: bool) -> int:
    description = describe(model_file.load(model), top)
    click.echo(json.dumps(description) if as_json else report(model, description))
    return 0


def describe(model: Model, top: int) -> dict[str, Any]:
    """All that `inspect` shows, as JSON holds it."""
    learner, record = model.learner, model.record
    classes = None if model.classes is None else model.labels
    return {
        "family": learner.family,
        "task": learner.task,
        "classes": classes,
        "schema": None if model.schema is None else model.schema.to_json(),
        "parameters": learner.parameters(),
        "data": record.data,
        "examples": learner.t,
        "passes": record.passes,
        "progressive_loss": record.progressive_loss,
        "holdout": record.holdout,
        "interrupted": record.interrupted,
        "features": int(learner.n_features),
        "live_weights": learner.n_live(),
        "weights": weights_line(model),
        **strongest(model, top),
    } | _portfolio(learner)


def _portfolio(learner: Any) -> dict[str, Any]:
    """Of `auto`: which settings are left, and what the one linear model costs whose weights are shown."""
    if learner.family != "auto":
        return {}
    members = sorted(learner.members, key=lambda m: -m["weight"])
    return {"settings": members, "cost_of_single": learner.cost_of_single}


def strongest(model: Model, top: int) -> dict[str, Any]:
    """The intercept, and the features whose weight is largest in absolute value in any column, strongest first.

    A numbered feature is shown by its index: as text had it, or counted from 0 where there was none. Weights
    of columns that are scaled are compared as they were learned, and shown for numbers as the data has them.
    """
    learner, schema = model.learner, model.schema or Schema()
    (keys, weights), intercept = learner.coef(), learner.intercept
    size = np.abs(weights).max(axis=1, initial=0.0)
    order = np.lexsort((keys, -size))[:top]
    if any(column.is_changed for column in schema.features):
        names = learner.names(keys)
        if names is not None:
            weights, intercept = model.on_original_scale(names, weights, intercept)
    shown_names = learner.names(keys[order])
    first = schema.base or 0
    shown: list[Any] = (keys[order] + first).tolist() if shown_names is None else shown_names
    found = [
        {"feature": name, "weights": row}
        for name, row in zip(shown, weights[order].tolist(), strict=True)
    ]
    return {"intercept": intercept.tolist(), "strongest": found}


def report(path: str, description: dict[str, Any]) -> str:
    """The description for people."""
    given = {k: v for k, v in description["parameters"].items() if k != "outputs"}
    lines = [
        ("model", path),
        ("method", f"{description['family']}, {description['task']}"),
        ("", ", ".join(f"{k}={_short(v)}" for k, v in given.items())),
        ("data", ", ".join(description["data"])),
        *_schema_rows(description["schema"]),
        (
            "learned",
            f"{plural(description['examples'], 'example')}, {plural(description['passes'], 'pass')}",
        ),
    ]
    if description["classes"] is not None:
        lines.insert(3, ("classes", in_words(description["classes"])))
    if description["progressive_loss"] is not None:
        lines.append(
            ("loss", f"{number(description['progressive_loss'])}, before learning each example")
        )
    if description["holdout"] is not None:
        lines.append(("holdout", f"{number(description['holdout']['loss'])}, never learned"))
    lines.append(("weights", description["weights"]))
    lines.append(("intercept", "  ".join(f"{b:.6g}" for b in description["intercept"])))
    lines += _settings(description)
    text = rows(lines)
    if description["strongest"]:
        text += "\n\n" + _table(description)
    return text


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
        groups.setdefault(what, []).append(column.name)
    lines = [f"{what}: {_some(names)}" for what, names in groups.items()]
    if schema.crosses:
        lines.append(f"crosses: {_some([':'.join(cross) for cross in schema.crosses])}")
    if schema.open:
        lines.append("whatever else comes, by its name")
    return [("features" if i == 0 else "", printable(line)) for i, line in enumerate(lines)]


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _settings(description: dict[str, Any]) -> list[tuple[str, str]]:
    """The settings with the most weight in the average, and what the weights below are."""
    if "settings" not in description:
        return []
    shown = [
        f"{m['weight']:>6.1%}  {m['rule']}, {m['values']} values, "
        f"{'prior variance' if m['rule'] == 'bayesian' else 'rate'} {m['parameter']:g}"
        for m in description["settings"][:3]
    ]
    left = len(description["settings"]) - len(shown)
    lines = [("average", shown[0]), *(("", line) for line in shown[1:])]
    if left > 0:
        lines.append(("", f"and {plural(left, 'setting')} more"))
    cost = description["cost_of_single"]
    said = f"the weights shown are one linear model for all: {cost:+.1%} log loss so far"
    return [*lines, ("single", said)]


def _table(description: dict[str, Any]) -> str:
    classes = description["classes"]
    columns = len(description["strongest"][0]["weights"])
    heads = ["weight"] if columns == 1 else [printable(as_text(c), 12) for c in classes]
    features = [printable(str(entry["feature"])) for entry in description["strongest"]]
    width = max(len("feature"), *(len(f) for f in features))
    lines = [f"{'feature':<{width}}" + "".join(f"{h:>13}" for h in heads)]
    for feature, entry in zip(features, description["strongest"], strict=True):
        lines.append(f"{feature:<{width}}" + "".join(f"{w:>13.6g}" for w in entry["weights"]))
    return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
