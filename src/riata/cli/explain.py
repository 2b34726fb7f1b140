"""riata explain"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, BinaryIO

import click

from riata.atomic import atomic_write, check_writable
from riata.batches import iterate
from riata.cli.data import data_options, load_model, refuse_to_replace, skipped_lines
from riata.cli.options import Command, option, top_option
from riata.cli.predict import ids_for, open_unlabelled
from riata.errors import DataError, RiataError
from riata.explain import ORIGINS, Explainer, Explanation, explained
from riata.explain.lines import FORMATS, LineWriter
from riata.explain.texts import LONGEST, largest_of, strength
from riata.record import Model
from riata.schema import Schema
from riata.show import printable, signed
from riata.sources import Source
from riata.sources.ids import RowIds
from riata.sources.io.bytes import expand
from riata.sources.recognise import format_of

HELP = """Say what each feature adds to the score that MODEL gives each row of DATA (files, or - for standard
input): with the intercept and the offset it adds up to what riata predict --score prints.

\b
  riata explain spam.riata today.csv --top 5 | less -R
  riata explain spam.riata today.csv -o why.csv --id message
  riata explain clicks.riata today.svm --json | jq .contributions

Of several classes the one that is predicted is explained, or --class. A number of a scaled column counts
from the column's average, or with --from zero from zero, value times weight. Of models that average
(--method auto, bayesian) what is left between the features and the score is a step of its own, and so is
calibration."""


@click.command("explain", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@top_option("Features of a row to show; the others are added up.")
@option(
    "--class", "target", metavar="LABEL", help="The class to explain.  [default: the predicted]"
)
@option(
    "--from",
    "origin",
    type=click.Choice(ORIGINS),
    default="average",
    show_default=True,
    help="What numbers of scaled columns count from.",
)
@option("--id", "id_column", metavar="COLUMN", help="A column of DATA that tells rows apart.")
@option("--json", "as_json", is_flag=True, help="Print a JSON object a row.")
@option("-o", "--output", metavar="FILE", help="Write there, all or nothing: .jsonl or .csv.")
@option(
    "--to",
    type=click.Choice(FORMATS),
    help="The kind of FILE, or of what is printed.  [default: by its name]",
)
@data_options
def command(
    model: str,
    data: tuple[str, ...],
    top: int,
    target: str | None,
    origin: str,
    id_column: str | None,
    as_json: bool,
    output: str | None,
    to: str | None,
    **given: Any,
) -> int:
    refuse_to_replace([model, *data], output)
    kind = _kind(output, to, as_json)
    if output is not None:
        check_writable(output)
    loaded = load_model(model, data)
    source, options = open_unlabelled(loaded, data, given, id_column, names=True)
    ids = ids_for(source, data, options, id_column)
    try:
        explainer = Explainer(loaded, origin)
        if kind is None:
            _print(
                loaded, source, explainer, target, top, ids, _texts(loaded, source, data, options)
            )
        else:
            writer = LineWriter(
                loaded, kind, top=top, target=target, id_name=None if ids is None else ids.name
            )
            if output is None:
                _write(sys.stdout.buffer, source, explainer, writer, ids)
            else:
                with atomic_write(output) as file:
                    _write(file, source, explainer, writer, ids)
    except RiataError:
        raise
    except (
        ValueError
    ) as error:  # a class that there is not, an origin that does not go with the model
        raise DataError(str(error)) from error
    skipped = skipped_lines(source, options)
    if skipped is not None:
        click.echo(f"riata: not explained: {skipped}", err=True)
    return 0


def _kind(output: str | None, to: str | None, as_json: bool) -> str | None:
    """Lines of which kind; None: for people."""
    if as_json and to == "csv":
        raise click.UsageError("--json and --to csv are two things: choose one")
    named = None
    if output is not None:
        named = {"csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl"}.get(
            output.rpartition(".")[2].lower()
        )
    kind = to or ("jsonl" if as_json else named)
    if output is not None and kind is None:
        raise click.UsageError(f"{output}: end its name in .jsonl or .csv, or say --to")
    return kind


def _write(
    file: BinaryIO, source: Source, explainer: Explainer, writer: LineWriter, ids: RowIds | None
) -> None:
    file.write(writer.head())
    with closing(iterate(source)) as blocks:
        for block in blocks:
            called = None if ids is None else ids.of(block)
            file.write(writer.lines(explainer.of(block), called))
    file.flush()


def _texts(model: Model, source: Source, data: Sequence[str], options: Any) -> dict[str, RowIds]:
    """Readers of the columns of texts, where files have them."""
    columns = [c.name for c in (model.schema or Schema()).features if c.kind == "text"]
    if not columns or "-" in data:
        return {}
    paths = expand(list(data))
    format = format_of(paths, options.format)
    if format not in ("csv", "tsv", "jsonl", "parquet", "arrow"):
        return {}
    return {column: RowIds(source, paths, format, column) for column in columns}


def _print(
    model: Model,
    source: Source,
    explainer: Explainer,
    target: Any,
    top: int,
    ids: RowIds | None,
    readers: dict[str, RowIds],
) -> None:
    """For people: coloured on a terminal."""
    show = _Shown()
    row = 0
    with closing(iterate(source)) as blocks:
        for block in blocks:
            part = explainer.of(block)
            called = None if ids is None else ids.of(block)
            columns = {name: reader.of(block) for name, reader in readers.items()}
            texts: list[dict[str, str]] = [
                {name: value[i] for name, value in columns.items() if isinstance(value[i], str)}
                for i in range(len(block))
            ]
            found: Iterator[Explanation] = explained(model, part, target, top, row, texts)
            for i, one in enumerate(found):
                show(one, None if called is None else called[i])
            row += len(block)
            sys.stdout.flush()


class _Shown:
    """Prints explanations, a blank line between them; in colour where a terminal shows it."""

    def __init__(self) -> None:
        from riata.cli.colour import console

        self._console = console()
        self._first = True

    def __call__(self, one: Explanation, called: Any) -> None:
        from rich.text import Text

        out = Text() if self._first else Text("\n")
        self._first = False
        name = "" if called is None else f"{printable(str(called))}  "
        out.append(name + one.headline() + "\n", "bold")
        for column, found in one.pieces().items():
            out.append(f"{printable(column, 30)}: ", "dim")
            largest, left = largest_of(found), LONGEST
            for piece in found:
                how = strength(piece, largest)
                out.append(printable(piece.text, left), _style(how))
                left = max(4, left - len(piece.text))
            out.append("\n")
        for value, std, what in one.rows():
            around = "" if std is None else f" +- {std:<8.4f}"
            out.append(f"{signed(value):>12}", "green" if value > 0 else "red")
            out.append(f"{around}  {what}\n")
        out.append(f"{signed(one.score):>12}", "bold")
        out.append("  = score")
        if one.n_unknown:
            out.append(f"   ({one.n_unknown} without a weight)", "dim")
        self._console.print(out, soft_wrap=True)


def _style(how: float) -> str:
    """Green for the class, red against it; strong words are bold."""
    if abs(how) < 0.05:
        return ""
    colour = "green" if how > 0 else "red"
    return f"bold {colour}" if abs(how) > 0.5 else colour
