"""riata inspect"""

from __future__ import annotations

import csv
import json
import sys
from typing import Any

import click

from riata import model_file
from riata.cli.options import Command, option
from riata.explain.summary import Wanted, summary
from riata.labels import as_text

HELP = """Show how MODEL was made, how much of it is alive, and its strongest features.

\b
  riata inspect clicks.riata --top 20
  riata inspect clicks.riata --namespace words --grep '^words.free'
  riata inspect clicks.riata --csv > weights.csv
  riata inspect clicks.riata --top 0 --json | jq .parameters

Weights are for numbers as they stand in the data, whatever they are scaled by."""


@click.command("inspect", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@option(
    "--top",
    type=click.IntRange(min=0),
    help="How many features to show, for and against.  [default: 10; all with --csv]",
)
@option("--grep", metavar="PATTERN", help="Only features whose name has this regular expression.")
@option("--namespace", metavar="NAME", help="Only features of this namespace or column.")
@option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@option("--csv", "as_csv", is_flag=True, help="Print a line a feature, strongest first.")
def command(
    model: str,
    top: int | None,
    grep: str | None,
    namespace: str | None,
    as_json: bool,
    as_csv: bool,
) -> int:
    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two things: choose one")
    loaded = model_file.load(model)
    shown = (sys.maxsize if as_csv else 10) if top is None else top
    try:
        wanted = Wanted(shown, grep, namespace, sides=not as_csv)
        found = summary(loaded, wanted, model_file.about(model), model_file.names(model))
    except ValueError as error:
        raise click.UsageError(f"{model}: {error}") from error
    if as_csv:
        _write_csv(found)
    else:
        click.echo(json.dumps(found.to_dict()) if as_json else str(found))
    return 0


def _write_csv(found: Any) -> None:
    """A line a feature: its weights, and their standard deviations where there are some."""
    entries, labels = found["strongest"], found["classes"]
    outputs = len(found["intercept"])
    names = [""] if outputs == 1 else [f" {as_text(label)}" for label in labels]
    deviations = bool(entries) and "std" in entries[0]
    heads = ["feature", *(f"weight{name}" for name in names)]
    heads += [f"std{name}" for name in names] if deviations else []
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(heads)
    for entry in entries:
        writer.writerow([entry["feature"], *entry["weights"], *entry.get("std", [])])
