"""riata predict"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, BinaryIO

import click
import numpy as np
from numpy.typing import NDArray

from riata.atomic import atomic_write, check_writable
from riata.batches import iterate
from riata.cli.data import (
    Number,
    data_options,
    load_model,
    open_data,
    read_options,
    refuse_to_replace,
    skipped_lines,
)
from riata.cli.options import Command, option
from riata.cli.prediction_table import (
    TABLES,
    Wanted,
    columns_of,
    open_table,
    refuse_name,
    table_of_name,
)
from riata.errors import DataError
from riata.labels import as_text
from riata.metrics import class_probabilities, predicted_codes
from riata.record import Model
from riata.sources import ReadOptions, Source
from riata.sources.ids import RowIds, check_ids, first_tag
from riata.sources.io.bytes import expand
from riata.sources.recognise import format_of

HELP = """Predict each row of DATA (files, or - for standard input) with MODEL.

Without options one line a row: the predicted label, or the number of a regression. Into a file that
ends in .csv, .tsv, .jsonl or .parquet, or with --to, --id or --interval, a table: what the row is
called, its class, the probability of each class.

Rows may have labels or not: they are not looked at. --proba and --score print for two classes one
number, of the label that comes last; for more classes one number a class, tab separated (--header
names them).

\b
  riata predict spam.riata today.csv -o today_predicted.csv --id message
  riata predict clicks.riata today.svm --proba | sort -gr | head
  zcat today.svm.gz | riata predict clicks.riata - -o today.txt"""


@click.command("predict", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@option("-o", "--output", metavar="FILE", help="Write there, all or nothing, not to the screen.")
@option(
    "--to",
    type=click.Choice(TABLES),
    help="A table of this kind.  [default: by the name of FILE, else lines of text]",
)
@option("--id", "id_column", metavar="COLUMN", help="A column of DATA that tells rows apart.")
@option(
    "--interval",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="CHANCE",
    help="Between which the probability lies with this chance, such as 0.9 (--method bayesian).",
)
@option("--proba", is_flag=True, help="Print probabilities.")
@option("--score", is_flag=True, help="Print scores: x'w + intercept + offset.")
@option("--json", "as_json", is_flag=True, help="Print a JSON object a row: --to jsonl.")
@option("--header", "head_line", is_flag=True, help="First a line with the labels of the columns.")
@option("--no-labels", is_flag=True, hidden=True)  # was needed once
@data_options
def command(
    model: str,
    data: tuple[str, ...],
    output: str | None,
    to: str | None,
    id_column: str | None,
    interval: float | None,
    proba: bool,
    score: bool,
    as_json: bool,
    head_line: bool,
    no_labels: bool,
    **given: Any,
) -> int:
    refuse_to_replace([model, *data], output)
    if as_json:
        if to not in (None, "jsonl"):
            raise click.UsageError(f"--json and --to {to} are two things: choose one")
        to = "jsonl"
    if proba and score and table_of_name(output) is None and to is None:
        raise click.UsageError(
            "--proba or --score: a line holds one of them; a table has both, such as --score --to csv"
        )
    what = "score" if score else "proba" if proba else None
    if output is not None:
        check_writable(output)
        if to is None:
            refuse_name(output)
    loaded = load_model(model, data)
    check(loaded, model, what, interval)
    source, options = open_unlabelled(loaded, data, given, id_column)
    table = to or table_of_name(output) or ("csv" if id_column or interval else None)
    if table == "parquet" and output is None:
        raise click.UsageError("Parquet goes to a file: name it with -o FILE")

    def write_to(stream: BinaryIO) -> None:
        if table is not None:
            wanted = Wanted(scores=what == "score", interval=interval)
            ids = ids_for(source, data, options, id_column)
            write_table(loaded, source, open_table(stream, table, output or "-"), wanted, ids)
            return
        if head_line:
            stream.write(head(loaded, what))
        with closing(iterate(source)) as blocks:
            for block in blocks:
                scores = loaded.learner.score(block)
                stream.write(lines(loaded, scores, what))
                if output is None:
                    stream.flush()

    if output is None:
        write_to(sys.stdout.buffer)
    else:
        with atomic_write(output) as file:
            write_to(file)
    skipped = skipped_lines(source, options)
    if skipped is not None:
        click.echo(f"riata: no prediction for {skipped}", err=True)
    return 0


def open_unlabelled(
    model: Model,
    data: Sequence[str],
    given: dict[str, Any],
    id_column: str | None,
    names: bool | None = None,
) -> tuple[Source, ReadOptions]:
    """The data; whether rows have labels does not matter. With names of features, if the learner scores by them."""
    schema = model.schema
    names = model.learner.scores_by_name if names is None else names
    options = read_options(given, labelled=False, schema=schema, names=names)
    if id_column is not None:
        check_ids(data, None if "-" in data else format_of(expand(list(data)), options.format))
        features = () if schema is None else [column.name for column in schema.features]
        if id_column not in (*options.ignore, *features):
            options = replace(options, ignore=(*options.ignore, id_column))
    return open_data(data, options), options


def ids_for(
    source: Source, data: Sequence[str], options: ReadOptions, id_column: str | None
) -> RowIds | None:
    """What rows are called: by a column, as the files of a folder, or by their tags, if the first line of Vowpal
    Wabbit text has one."""
    if "-" in data and id_column is None:
        return None
    paths = expand(list(data))
    format = format_of(paths, options.format)
    if id_column is not None:
        return RowIds(source, paths, format, id_column)
    if format == "folder" or (format == "vw" and first_tag(paths)):
        return RowIds(source, paths, format, None)
    return None


def write_table(
    model: Model, source: Source, table: Any, wanted: Wanted, ids: RowIds | None
) -> None:
    with closing(iterate(source)) as blocks:
        for block in blocks:
            table.write(columns_of(model, block, wanted, ids))
    table.close()


def check(model: Model, path: str, what: str | None, interval: float | None) -> None:
    """Refuse what the model cannot give before reading any data."""
    if interval is not None and not hasattr(model.learner, "interval"):
        raise DataError(
            f"{path}: a model of {model.learner.family} does not know how sure it is: leave out --interval, "
            f"or train with --method bayesian"
        )
    if what != "proba":
        return
    if model.classes is None:
        raise DataError(f"{path}: a regression has no probabilities: leave out --proba")
    if model.learner.probability(np.zeros((1, model.learner.outputs))) is None:
        loss = model.learner.parameters().get("loss")
        raise DataError(
            f"{path}: the loss {loss} gives no probabilities: use --score, or train with "
            f"--loss logistic"
        )


def head(model: Model, what: str | None) -> bytes:
    """The names of the columns."""
    if model.classes is None or what is None:
        return b"prediction\n"
    labels = model.labels[1:] if model.learner.outputs == 1 else model.labels
    return ("\t".join(map(as_text, labels)) + "\n").encode()


def lines(model: Model, scores: NDArray[np.float64], what: str | None) -> bytes:
    """A line a row of scores; numbers as short as they can be without losing a bit."""
    if len(scores) == 0:
        return b""
    if what == "score" or model.classes is None:
        return _numbers(scores)
    if what == "proba":
        probabilities = model.learner.probability(scores)
        assert probabilities is not None
        if model.learner.outputs > 1:
            probabilities = class_probabilities(probabilities)
        return _numbers(probabilities)
    names = np.array([as_text(label) for label in model.labels], dtype=object)
    codes = np.minimum(predicted_codes(scores), len(names) - 1)
    return ("\n".join(names[codes]) + "\n").encode()


def _numbers(columns: NDArray[np.float64]) -> bytes:
    if columns.shape[1] == 1:
        texts: Iterator[str] = map(repr, columns[:, 0].tolist())
    else:
        texts = ("\t".join(map(repr, row)) for row in columns.tolist())
    return ("\n".join(texts) + "\n").encode()
