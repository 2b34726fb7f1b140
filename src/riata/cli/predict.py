"""riata predict"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any, BinaryIO

import click
import numpy as np
from numpy.typing import NDArray

from riata import model_file
from riata.atomic import atomic_write
from riata.batches import iterate
from riata.cli.data import (
    data_options,
    open_data,
    read_options,
    refuse_to_replace,
    skipped_lines,
)
from riata.cli.options import Command, option
from riata.errors import DataError
from riata.labels import as_text
from riata.metrics import class_probabilities, predicted_codes
from riata.record import Model

HELP = """Predict each row of DATA (files, or - for standard input) with MODEL: one line a row.

The line is the predicted label, or the predicted number of a regression. --proba and --score print
for two classes one number, of the larger label; for more classes one number a class, tab separated,
in ascending order of the labels (--header names them).

\b
  riata predict clicks.riata today.svm --proba | sort -gr | head
  zcat today.svm.gz | riata predict clicks.riata - -o today.txt"""


@click.command("predict", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@option("-o", "--output", metavar="FILE", help="Write there, all or nothing, not to the screen.")
@option("--proba", "what", flag_value="proba", help="Print probabilities.")
@option("--score", "what", flag_value="score", help="Print scores: x'w + intercept + offset.")
@option("--header", "head_line", is_flag=True, help="First a line with the labels of the columns.")
@option("--no-labels", is_flag=True, section="Data", help="The rows of DATA start without a label.")
@data_options
def command(
    model: str,
    data: tuple[str, ...],
    output: str | None,
    what: str | None,
    head_line: bool,
    no_labels: bool,
    **given: Any,
) -> int:
    refuse_to_replace([model, *data], output)
    loaded = model_file.load(model)
    check(loaded, model, what)
    options = read_options(
        given,
        labelled=not no_labels,
        schema=loaded.record.schema,
        names=loaded.learner.scores_by_name,
    )
    source = open_data(data, options)

    def write_to(stream: BinaryIO) -> None:
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


def check(model: Model, path: str, what: str | None) -> None:
    """Refuse what the model cannot give before reading any data."""
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
