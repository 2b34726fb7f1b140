"""riata convert"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import click

from riata.atomic import check_writable
from riata.cli.data import (
    data_options,
    open_data,
    read_options,
    refuse_to_replace,
    skipped_lines,
)
from riata.cli.options import Command, option
from riata.cli.text import count, plural, printable, rows
from riata.convert import FORMATS, Converted, convert, format_for

HELP = """Write the examples of DATA (files, or - for standard input) to OUT in another format.

\b
  riata convert clicks.parquet clicks.vw --label clicked
  riata convert 'logs/*.svm.gz' logs.arrow
  zcat mail.vw.gz | riata convert - mail.svm --format vw

Formats that hold names keep them: vw, parquet and cache (an Arrow file). svmlight has numbers
alone: names are numbered as they appear, and OUT.names lists them."""


@click.command("convert", cls=Command, help=HELP)
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@click.argument("out", metavar="OUT")
@option(
    "--to",
    type=click.Choice(FORMATS),
    help="The format of OUT.  [default: by its name]",
)
@option("--json", "as_json", is_flag=True, help="Print what was done as one JSON object.")
@option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@option("--no-labels", is_flag=True, section="Data", help="The rows of DATA start without a label.")
@data_options
def command(
    data: tuple[str, ...],
    out: str,
    to: str | None,
    as_json: bool,
    quiet: bool,
    no_labels: bool,
    **given: Any,
) -> int:
    if out == "-":
        raise click.UsageError("OUT is a file; to write to a pipe name /dev/stdout")
    format_for(out, to)
    refuse_to_replace(data, out)
    check_writable(out)
    options = read_options(given, labelled=not no_labels)
    source = open_data(data, options)
    result = convert(source, out, to, zero_based=options.zero_based)
    if as_json:
        done = asdict(replace(result, schema=None)) | {"data": source.name, "out": out}
        done.pop("schema")
        click.echo(json.dumps(done))
    elif not quiet:
        click.echo(report(result, out, source.name, skipped_lines(source, options)), err=True)
    return 0


def report(result: Converted, out: str, name: str, skipped: str | None) -> str:
    """What was done, and what did not fit."""
    lines = [
        ("read", f"{plural(result.rows, 'example')} of {name}"),
        ("wrote", f"{out}, {count(result.entries)} features of examples"),
    ]
    if skipped is not None:
        lines.append(("skipped", skipped))
    if result.names_file is not None:
        lines.append(("names", f"{count(result.numbered)}, numbered: see {result.names_file}"))
    if result.escaped:
        lines.append(("changed", f"{plural(result.escaped, 'name')}: blanks, : and | as %20 ..."))
    if result.label_words is not None:
        shown = [f"{i} for {printable(word, 30)}" for i, word in enumerate(result.label_words[:10])]
        more = ", ..." if len(result.label_words) > 10 else ""
        lines.append(("labels", f"{', '.join(shown)}{more}"))
    if result.weights_lost:
        lines.append(("lost", "weights of examples, which this format cannot hold"))
    if result.offsets_lost:
        lines.append(("lost", "initial predictions of examples, which this format cannot hold"))
    return rows(lines)
