"""riata diff"""

from __future__ import annotations

import json
from typing import Any

import click

from riata.cli.data import data_options, load_model, open_data, read_options
from riata.cli.options import Command, option, top_option
from riata.errors import DataError, RiataError
from riata.explain.difference import check_same_task, difference
from riata.record import Model
from riata.sources import Source

HELP = """Say what has changed from model A to model B: features gained, lost and moved, parameters, schema.

With DATA (files; labels are not looked at) also where their predictions differ: how many decisions changed,
how they correlate, and the rows with the largest differences.

\b
  riata diff yesterday.riata today.riata
  riata diff yesterday.riata today.riata test.csv --top 20
  riata diff a.riata b.riata --json | jq .counts"""


@click.command("diff", cls=Command, help=HELP)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("data", nargs=-1, metavar="[DATA...]")
@top_option("Features of each kind, and rows, to show.")
@option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@data_options
def command(a: str, b: str, data: tuple[str, ...], top: int, as_json: bool, **given: Any) -> int:
    if "-" in data:
        raise click.UsageError("both models read DATA: standard input can be read only once")
    one, two = load_model(a, data), load_model(b, data)
    try:
        check_same_task(one, two, (a, b))
        sources = (_open(one, data, given), _open(two, data, given)) if data else None
        found = difference(one, two, top, sources)
    except RiataError:
        raise
    except ValueError as error:  # models that cannot be compared
        raise DataError(str(error)) from error
    click.echo(json.dumps(found.to_dict()) if as_json else str(found))
    return 0


def _open(model: Model, data: tuple[str, ...], given: dict[str, Any]) -> Source:
    names = model.learner.scores_by_name
    options = read_options(given, labelled=False, schema=model.schema, names=names)
    return open_data(data, options)
