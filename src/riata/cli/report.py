"""riata report"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from riata import model_file
from riata.atomic import atomic_write, check_folder
from riata.cli.data import data_options, open_data, read_options, refuse_to_replace
from riata.cli.options import Command, option
from riata.cli.text import size
from riata.errors import DataError
from riata.record import Model
from riata.report import Page, page_of
from riata.report.logs import Log
from riata.report.measure import Measured, measure
from riata.sources.recognise import is_model
from riata.sweeping import Sweep

HELP = """Write one HTML page about a model: how it was made, its weights, and a form that scores.

WHAT is a model, the file that riata train --log wrote, the one that riata sweep wrote, or several
of these. The page needs no network and no server. It holds no examples of the data but those that --wrong asks for.

\b
  riata report spam.riata -o spam.html
  riata report spam.riata train.jsonl --data test.csv --wrong 10 -o spam.html"""


@click.command("report", cls=Command, help=HELP)
@click.argument("what", nargs=-1, required=True, metavar="WHAT...")
@option("-o", "--output", required=True, metavar="PAGE", help="Where to write the page.")
@option(
    "--data",
    "test",
    multiple=True,
    metavar="FILE",
    help="Labelled data to measure the model on; may be given several times.",
)
@option(
    "--wrong",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the N examples of --data that went most wrong: their features go into the page.",
)
@data_options
def command(
    what: tuple[str, ...], output: str, test: tuple[str, ...], wrong: int, **given: Any
) -> int:
    if wrong and not test:
        raise click.UsageError("--wrong shows examples of --data: name that, too")
    refuse_to_replace([*what, *test], output)
    check_folder(output)
    model, log, sweep = open_what(what)
    if test and model is None:
        raise click.UsageError("--data is to measure a model on: name one")
    measured = None
    if model is not None and test:
        measured = measure_on(model, test, given, wrong)
    page = page_of(model, log=log, sweep=sweep, measured=measured, name=Path(what[0]).name)
    with atomic_write(output) as file:
        file.write(page.html.encode())
    say(output, page)
    return 0


def measure_on(model: Model, test: tuple[str, ...], given: dict[str, Any], wrong: int) -> Measured:
    names = bool(wrong) or model.learner.scores_by_name
    source = open_data(test, read_options(given, schema=model.schema, names=names))
    measured = measure(model, source, wrong)
    if measured.result["examples"] == 0:
        raise DataError(f"{source.name}: no examples")
    return measured


def open_what(paths: tuple[str, ...]) -> tuple[Model | None, Log | None, Sweep | None]:
    """Each file is what its first bytes say."""
    found: dict[str, Any] = {}
    for path in paths:
        kind = kind_of(path)
        if kind in found:
            if kind == "model" and not is_model(start_of(path)):
                raise click.UsageError(
                    f"{path} is no model; is it data to measure the model on? Then --data {path}"
                )
            raise click.UsageError(f"several {kind}s: one page is about one of them")
        read = {"log": Log.read, "sweep": Sweep.load, "model": model_file.load}[kind]
        found[kind] = read(path)
    return found.get("model"), found.get("log"), found.get("sweep")


def kind_of(path: str) -> str:
    """What a file is: those of logs and sweeps are JSON, models begin with the length of their header."""
    start = start_of(path).lstrip()
    if not start.startswith(b"{"):
        return "model"
    return "sweep" if b'"riata-sweep"' in start else "log"


def start_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(4096)


def say(output: str, page: Page) -> None:
    click.echo(f"{output}: {size(len(page.html.encode()))}")
    for note in page.notes:
        click.echo(f"riata: note: {note}", err=True)
