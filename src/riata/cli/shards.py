"""riata shards"""

from __future__ import annotations

import json
from typing import Any

import click

from riata.cli.data import data_options, read_options, settings_as_usage
from riata.cli.options import Command, option
from riata.cli.text import count, rows, size
from riata.shards.split import SHARD_BYTES, Shard, split
from riata.training.safeguards import parse_size

HELP = """List the shards that DATA is cut into: what `riata train --shard` and `--dask` read at a time.

\b
  riata shards 'clicks/*.parquet'
  riata shards log.csv --shards 64

Shards do not depend on how many workers there are. Small files go together, Parquet is cut between
row groups, text at the ends of lines; compressed text stays whole."""


@click.command("shards", cls=Command, help=HELP)
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@option("--shards", "number", type=click.IntRange(min=1), metavar="N", help="Make so many.")
@option(
    "--size",
    "wanted",
    metavar="SIZE",
    help=f"About so many bytes each, such as 64M.  [default: {SHARD_BYTES >> 20}M]",
)
@option("--json", "as_json", is_flag=True, help="Print one JSON object a shard.")
@data_options
def command(
    data: tuple[str, ...], number: int | None, wanted: str | None, as_json: bool, **given: Any
) -> int:
    if number is not None and wanted is not None:
        raise click.UsageError("--shards says how many, --size how large: choose one")
    with settings_as_usage():
        bytes_ = None if wanted is None else parse_size(wanted, "--size")
        found = split(list(data), read_options(given), count=number, shard_bytes=bytes_)
    if as_json:
        for shard in found:
            click.echo(json.dumps(shard.to_json() | {"bytes": shard.bytes, "rows": shard.rows}))
        return 0
    click.echo(f"{'shard':>6}{'rows':>14}{'bytes':>16}  data")
    for shard in found:
        click.echo(_line(shard))
    total = sum(shard.bytes for shard in found)
    click.echo(rows([("in all", f"{count(len(found))} shards, {size(total)}")]))
    return 0


def _line(shard: Shard) -> str:
    known = "-" if shard.rows is None else count(shard.rows)
    return f"{shard.number:>6}{known:>14}{count(shard.bytes):>16}  {shard.name}"
