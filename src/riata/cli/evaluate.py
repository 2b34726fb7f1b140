"""riata evaluate"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from riata.cli.data import Number, data_options, load_model, open_data, read_options, skipped_lines
from riata.cli.evaluate_text import report
from riata.cli.options import Command, option
from riata.cli.text import printable, same_files
from riata.errors import DataError
from riata.explain.measures import Measures, measure
from riata.record import Model
from riata.sources import ReadOptions, Source
from riata.sources.ids import RowIds
from riata.sources.io.bytes import expand
from riata.sources.recognise import format_of

HELP = """Measure MODEL on labelled DATA: files, or - for standard input.

\b
  riata evaluate clicks.riata test.svm
  riata evaluate spam.riata test.csv --at precision=0.99 --bootstrap 400
  riata evaluate spam.riata test.csv --threshold 0.8 --by country
  riata evaluate clicks.riata test.svm --json

One pass in bounded memory: sums and histograms are kept, not the examples."""


def _at(
    ctx: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> list[tuple[str, float]]:
    found = []
    for value in (part for text in values for part in text.split(",")):
        what, _, number = value.partition("=")
        try:
            wanted = float(number)
        except ValueError:
            wanted = -1.0
        if what.strip() not in ("precision", "recall") or not 0 < wanted <= 1:
            raise click.BadParameter(f"expected precision=0.95 or recall=0.9, not {value!r}")
        found.append((what.strip(), wanted))
    return found


def _lift(ctx: click.Context, parameter: click.Parameter, value: str) -> list[float]:
    try:
        parts = [float(part.strip().removesuffix("%")) / 100 for part in value.split(",")]
    except ValueError:
        parts = [0.0]
    if not all(0 < part <= 1 for part in parts):
        raise click.BadParameter(f"expected percentages such as 1,5,10, not {value!r}")
    return parts


def _replicates(ctx: click.Context, parameter: click.Parameter, value: int) -> int:
    return value + value % 2


@click.command("evaluate", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@option(
    "--threshold",
    type=Number(),
    metavar="NUMBER",
    help="Of two classes: decide for the last one from this probability on (without probabilities: score).  "
    "[default: as predict does, 0.5]",
)
@option(
    "--at",
    multiple=True,
    callback=_at,
    metavar="WHAT=SHARE",
    help="Find the threshold for a precision or recall, such as precision=0.95.",
)
@option(
    "--lift",
    default="1,5,10,20",
    show_default=True,
    callback=_lift,
    metavar="PERCENTS",
    help="How much denser positives are in the top so many percent.",
)
@option("--by", "by", metavar="COLUMN", help="Measure each value of this column of DATA as well.")
@option(
    "--bootstrap",
    type=click.IntRange(min=0, max=100_000),
    default=0,
    callback=_replicates,
    metavar="N",
    help="Intervals by N bootstrap replicates, such as 400.",
)
@option(
    "--level",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The chance of these intervals.",
)
@option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap."
)
@option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@data_options
def command(
    model: str,
    data: tuple[str, ...],
    threshold: float | None,
    at: list[tuple[str, float]],
    lift: list[float],
    by: str | None,
    bootstrap: int,
    level: float,
    seed: int,
    as_json: bool,
    **given: Any,
) -> int:
    loaded = load_model(model, data)
    _check(loaded, threshold, at)
    learner = loaded.learner
    options = read_options(given, schema=loaded.schema, names=learner.scores_by_name)
    source, groups = _open(loaded, data, options, by)
    measures = Measures(threshold, at, lift, bootstrap, level, seed)
    groups_of = None if groups is None else groups.of
    result = measure(loaded, source, measures, groups_of)
    if result["examples"] == 0:
        raise DataError(f"{source.name}: no examples")
    learned = same_files(data, [*loaded.record.data, *loaded.record.data_before])
    if as_json:
        about = {
            "live_weights": learner.n_live(),
            "features": learner.n_features,
            "learned_from": learned,
        }
        click.echo(json.dumps(result | about | {"skipped": getattr(source, "skipped", 0)}))
    else:
        click.echo(report(loaded, result, source.name))
        if learned:
            click.echo(
                f"riata: warning: the model has learned from {printable(', '.join(learned), 400)}: on data that it has "
                "not seen it will be worse. Measure it there, or train with --holdout",
                err=True,
            )
    skipped = skipped_lines(source, options)
    if skipped is not None:
        click.echo(f"riata: not measured: {skipped}", err=True)
    return 0


def _check(model: Model, threshold: float | None, at: Sequence[Any]) -> None:
    """Refuse what has no meaning for the model before reading any data."""
    two = model.classes is not None and model.learner.outputs == 1
    if not two and (threshold is not None or at):
        flag = "--threshold" if threshold is not None else "--at"
        what = "a regression" if model.classes is None else f"{len(model.labels)} classes"
        raise click.UsageError(f"{flag} is for models of two classes; this one has {what}")


def _open(
    model: Model, data: Sequence[str], options: ReadOptions, by: str | None
) -> tuple[Source, RowIds | None]:
    """The data, and what reads the column of groups beside it."""
    if by is None:
        return open_data(data, options), None
    if "-" in data:
        raise click.UsageError(
            "the column of --by is read beside the rows, and standard input can be read only once: name the file"
        )
    paths = expand(list(data))
    format = format_of(paths, options.format)
    if format not in ("csv", "tsv", "jsonl", "parquet", "arrow"):
        raise click.UsageError(
            f"--by names a column of CSV, TSV, JSON lines, Parquet or Arrow files; {format} has none"
        )
    known = [] if model.schema is None else model.schema.names
    if by not in (*options.ignore, *known):
        options = replace(options, ignore=(*options.ignore, by))
    source = open_data(data, options)
    return source, RowIds(source, paths, format, by, "--by")
