"""riata sweep"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import click

from riata import model_file
from riata.atomic import check_folder, check_writable
from riata.cli import INTERRUPTED, TERMINATED
from riata.cli.data import (
    data_options,
    open_data,
    read_options,
    refuse_to_replace,
    say_skipped,
    settings_as_usage,
)
from riata.cli.leaderboard import (
    Leaderboard,
    as_json,
    frontier_of,
    leaderboard,
    parameters_text,
    table_of,
)
from riata.cli.options import (
    Command,
    option,
    parse_class_weight,
    parse_classes,
    progress_option,
)
from riata.cli.saving import _size
from riata.cli.text import command_line, count, plural, rows
from riata.cli.train import choose_cache
from riata.record import Model
from riata.sources import ReadOptions, Source
from riata.sweeping import Job, Sweep, parse_grid, partial_sweep
from riata.sweeping.result import SELECT
from riata.training.safeguards import Interrupt, SigtermAsCtrlC

HELP = """Train many settings of DATA in one read, compare them honestly, and save the best.

\b
  riata sweep clicks.svm -o best.riata --grid l1=1e-7:1e-3:16 --grid eta0=0.1,0.5,2
  riata sweep mail.vw -o best.riata --method elastic-net,ftrl --grid l1=0,1e-6,1e-5 --folds 10
  riata sweep visits.csv -o best.riata --grid l1=1e-6:1e-3:8 --folds 10 --group user --select 1se

A grid is NAME=VALUE,VALUE,... or NAME=FROM:TO:COUNT (evenly spaced in the logarithm where both ends are above
zero); names are the parameters that riata train has as options, l1 for --l1; one value sets it for all. Settings
are compared by the loss of examples before they were learned, or with --folds by cross-validation in the same
read. Ctrl-C shows what was found so far and saves the best."""


@click.command("sweep", cls=Command, help=HELP)
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@option("-o", "--output", required=True, metavar="BEST", help="Where to save the best model.")
@option(
    "--grid",
    multiple=True,
    required=True,
    metavar="NAME=VALUES",
    section="Settings",
    help="Values of a parameter: l1=1e-7:1e-3:16, eta0=0.1,0.5,2 or loss=squared. Once for each parameter.",
)
@option(
    "--method",
    default="elastic-net",
    metavar="METHODS",
    section="Settings",
    help="The family of learners, or several with commas between them.  [default: elastic-net]",
)
@option(
    "--folds",
    type=click.IntRange(min=2),
    metavar="K",
    section="Comparing",
    help="Cross-validate in the same read: K more columns a setting, each without one fold.",
)
@option(
    "--group",
    metavar="COLUMN",
    section="Comparing",
    help="Examples with the same value there share a fold; the column itself is not learned.",
)
@option(
    "--select",
    type=click.Choice(SELECT),
    default="min",
    show_default=True,
    section="Comparing",
    help="The least loss, or the sparsest within one standard error of it.",
)
@option(
    "--prune",
    is_flag=True,
    section="Comparing",
    help="Leave settings out once another one beats them, by a test that holds at any time (error 1 %).",
)
@option("--passes", type=click.IntRange(min=1), default=1, metavar="N", section="Training",
        help="Times over the data.  [default: 1]")  # fmt: skip
@option("--shuffle", type=click.IntRange(min=0), default=0, metavar="ROWS", section="Training",
        help="Gather so many rows and learn them in random order.")  # fmt: skip
@option("--seed", type=click.IntRange(min=0), default=0, metavar="N", section="Training",
        help="Decides the order of the shuffle, and the folds.  [default: 0]")  # fmt: skip
@option("--classes", callback=parse_classes, metavar="LIST|scan", section="Training",
        help="The labels, such as -1,1 or ham,spam; scan finds them in a pass of its own.")  # fmt: skip
@option("--class-weight", callback=parse_class_weight, metavar="LIST|balanced", section="Training",
        help="Factors on examples by label, such as ham=1,spam=20.")  # fmt: skip
@option("--max-memory", callback=_size, metavar="SIZE", section="Training",
        help="Refuse or stop before more is in use: 2G, 512M.  [default: 80 % of the machine's]")  # fmt: skip
@data_options
@option("--cache", is_flag=False, flag_value="", metavar="[PATH]", section="Data",
        help="Parse once: keep what was read there, or beside DATA.")  # fmt: skip
@option("--no-cache", is_flag=True, section="Data", help="Parse in every pass.")
@option("--top", type=click.IntRange(min=1), default=5, metavar="N", section="Output",
        help="How many settings to show.  [default: 5]")  # fmt: skip
@option(
    "--results", metavar="FILE", section="Output", help="Save the table of all settings as JSON."
)
@option(
    "--json",
    "json_wanted",
    is_flag=True,
    section="Output",
    help="Print the table of all settings as JSON.",
)
@progress_option("Live leaders, or a line as the examples double.  [default: by terminal]")
@option("--log", metavar="FILE", section="Output", help="Write the progress as JSON lines too.")
@option("-q", "--quiet", is_flag=True, section="Output", help="Print nothing but errors.")
def command(**given: Any) -> int:
    job = _job(given)
    output, quiet = given["output"], given["quiet"]
    for file in (output, given["results"]):
        refuse_to_replace(given["data"], file)
    for file in filter(None, (output, given["results"])):
        check_writable(file)
    if given["log"] is not None:
        check_folder(given["log"])
    reading = read_options(given | {"scale": given["scale"] or "auto"})
    source = _open(given, job, reading)
    kind = (
        "none"
        if quiet or (given["json_wanted"] and given["progress_kind"] == "auto")
        else given["progress_kind"]
    )
    estimate = job.estimate(source, given["max_memory"])
    if kind != "none":
        n = len(job.settings)
        click.echo(f"{plural(n, 'setting')}: {estimate.text}", err=True)
    started = time.perf_counter()
    with SigtermAsCtrlC() as sigterm, leaderboard(job, kind, given["top"], given["log"]) as shown:
        try:
            found = _run(job, source, given, shown)
        except Exception as error:
            _rescue(error, output)
            raise
        _save(found, output, given["results"])
        shown.note({"event": "saved", "model": output, "best": found.best_index_})
    seconds = time.perf_counter() - started
    if given["json_wanted"]:
        click.echo(as_json(found))
    elif not quiet:
        kept = say_skipped(found.model().record.skipped, reading)
        click.echo(report(found, output, given["top"], seconds, kept))
    if found.interrupted:
        click.echo(f"\ninterrupted: the best so far is saved to {output}", err=True)
        return TERMINATED if sigterm.came else INTERRUPTED
    return 0


def _job(given: dict[str, Any]) -> Job:
    with settings_as_usage():
        return Job(
            parse_grid(given["grid"]),
            given["method"],
            folds=given["folds"],
            group=given["group"],
            select=given["select"],
            prune=given["prune"],
            random_state=given["seed"],
        )


def _open(given: dict[str, Any], job: Job, reading: ReadOptions) -> Source:
    cache = choose_cache(given)
    twice = given["passes"] > 1 or given["classes"] == "scan" or given["class_weight"] == "balanced"
    if cache == "auto" and not twice:
        cache = None
    return open_data(given["data"], replace(reading, cache=cache, names=job.wants_names()))


def _run(job: Job, source: Source, given: dict[str, Any], shown: Leaderboard) -> Sweep:
    with settings_as_usage():
        return job.run(
            source,
            on_progress=shown.on_progress,
            max_memory=given["max_memory"],
            passes=given["passes"],
            shuffle=given["shuffle"],
            classes=given["classes"],
            class_weight=given["class_weight"],
        )


def _save(found: Sweep, output: str, results: str | None) -> None:
    with Interrupt():  # one Ctrl-C too many should not cost the model
        if results is not None:
            found.save(results)
        model_file.save(_best(found), output)


def _best(found: Sweep) -> Model:
    return found.model()


def _rescue(error: Exception, output: str) -> None:
    """Save what was learned before an error ended the sweep, beside the output."""
    found = partial_sweep(error)
    if found is None:
        return
    beside = f"{output}.partial"
    with Interrupt():
        try:
            model_file.save(_best(found), beside)
        except OSError as second:
            error.add_note(f"{beside}: {second.strerror or second}")
            return
    error.add_note(
        f"{count(found.examples)} examples were compared before; the best setting until there, "
        f"{parameters_text(found.best_)}, is saved to {beside}"
    )


def report(found: Sweep, output: str, top: int, seconds: float, skipped: str | None) -> str:
    """At the end."""
    how = (
        "before learning each" if found.folds is None else f"in {found.folds}-fold cross-validation"
    )
    if found.folds is None and found.passes > 1:
        how += ", in the first pass"
    n = len(found.records)
    lines = [
        (
            "swept",
            f"{plural(n, 'setting')} in {plural(max(1, found.passes), 'pass')}, {seconds:.1f} s",
        ),
        ("compared", f"by {plural(found.examples, 'example')}, {how}"),
    ]
    if skipped is not None:
        lines.append(("skipped", skipped))
    ended = sum(bool(r["status"]) for r in found.records)
    if ended:
        lines.append(
            ("ended", f"{plural(ended, 'setting')} before the others (pruned or diverged)")
        )
    evaluate = command_line(["riata", "evaluate", output])
    end = rows(
        [("best", parameters_text(found.best_)), ("saved", output), ("next", f"{evaluate} TEST")]
    )
    parts = [rows(lines), table_of(found, top), frontier_of(found), end]
    return "\n\n".join(part for part in parts if part)
