"""riata merge"""

from __future__ import annotations

import json

import click

from riata import model_file, tensor_file
from riata.atomic import check_writable, same_file
from riata.cli.data import settings_as_usage
from riata.cli.options import Command, option
from riata.cli.text import count, number, plural, rows, weights_line
from riata.merging import merge_models
from riata.record import Model
from riata.shards.rounds import merge_files
from riata.shards.survey_file import is_survey, merge_surveys
from riata.sources.io.bytes import expand

HELP = """Put PARTS together: models that learned different data, or what `riata train --shard` made.

\b
  riata train monday.csv -o monday.riata
  riata train tuesday.csv -o tuesday.riata --read-as monday.riata
  riata merge monday.riata tuesday.riata -o both.riata

Models of auto and bayesian can be merged, if they have the same parameters and classes and read
their data alike: number columns are scaled by the first rows, so that tables need --read-as.

\b
  riata train clicks.svm --shard 1/2 -o part1 --method bayesian
  riata train clicks.svm --shard 2/2 -o part2 --method bayesian
  riata merge part1 part2 -o clicks.riata

Of what `riata train --shard --survey` made it puts together one survey, for --surveyed.

PARTS may come in any order. Of shards, `riata train --shard 1/2 --resume MODEL` is the next round,
whose parts are merged with the same --resume."""


@click.command("merge", cls=Command, help=HELP)
@click.argument("parts", nargs=-1, required=True, metavar="PARTS...")
@option("-o", "--output", required=True, metavar="MODEL", help="Where to save the model.")
@option(
    "--resume", metavar="MODEL", help="The model that the round began with, unless it is the first."
)
@option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@option("--json", "as_json", is_flag=True, help="Print what was done as one JSON object.")
def command(
    parts: tuple[str, ...], output: str, resume: str | None, quiet: bool, as_json: bool
) -> int:
    paths = expand(list(parts))
    if any(same_file(path, output) for path in paths):
        raise click.UsageError(f"{output} is one of the parts, and would be replaced")
    check_writable(output)
    if are_models(paths):
        return _models(paths, output, resume, quiet, as_json)
    before = None if resume is None else model_file.load(resume)
    with settings_as_usage():
        if is_survey(paths[0]):
            return _surveys(paths, output, resume, quiet, as_json)
        model = merge_files(paths, before)
    model_file.save(model, output)
    if as_json:
        last = model.record.history[-1]
        done = {"model": output, "parts": len(paths), "round": last["pass"]}
        click.echo(json.dumps(done | {name: last[name] for name in ("examples", "loss")}))
    elif not quiet:
        click.echo(report(model, output, len(paths)))
    return 0


def are_models(paths: list[str]) -> bool:
    """Whether all are models; an error where some are models and others are parts of shards."""
    models = [path for path in paths if tensor_file.format_of(path) == tensor_file.MODEL]
    parts = [path for path in paths if tensor_file.format_of(path) == tensor_file.SUMMARY]
    if models and parts:
        raise click.UsageError(
            f"{models[0]} is a model, and {parts[0]} what a shard gave: merge models with models, and all parts of one "
            "round with each other"
        )
    return bool(models)


def _models(paths: list[str], output: str, resume: str | None, quiet: bool, as_json: bool) -> int:
    """Models that learned different data, as one."""
    if resume is not None:
        raise click.UsageError(
            "--resume is for parts of shards: these are models, which are merged as they are"
        )
    models = [model_file.load(path) for path in paths]
    with settings_as_usage():
        model = merge_models(models, paths)
    model_file.save(model, output)
    record = model.record
    if as_json:
        done = {"model": output, "models": len(models), "examples": record.examples}
        click.echo(json.dumps(done | {"loss": record.progressive_loss}))
    elif not quiet:
        lines = [
            ("merged", f"{plural(len(models), 'model')} of {model.learner.family}"),
            ("", f"{plural(record.examples, 'example')} in all"),
            (
                "loss",
                f"{number(record.progressive_loss)}, before learning each example, within its model",
            ),
        ]
        if ended_jointly(models, model):
            lines.append(
                ("ended", "settings that learn all weights together: their features differ")
            )
        lines += [("weights", weights_line(model)), ("saved", output)]
        click.echo(rows(lines))
    return 0


def ended_jointly(models: list[Model], merged: Model) -> bool:
    """Whether all models had settings that learn all weights together, and the merged one has not."""
    learners = [getattr(model.learner, "learns_jointly", False) for model in models]
    return all(learners) and not getattr(merged.learner, "learns_jointly", False)


def _surveys(paths: list[str], output: str, resume: str | None, quiet: bool, as_json: bool) -> int:
    """What shards tell of the data, as one."""
    if resume is not None:
        raise click.UsageError("surveys come before the first round: leave --resume out")
    whole = merge_surveys(paths)
    whole.save(output)
    if as_json:
        click.echo(json.dumps({"survey": output, "parts": len(paths)}))
    elif not quiet:
        lines = [
            ("merged", f"surveys of {plural(len(whole.numbers), 'shard')}"),
            ("saved", output),
            (
                "next",
                f"riata train DATA --shard 1/{whole.header['count']} --surveyed {output} -o PART",
            ),
        ]
        click.echo(rows(lines))
    return 0


def report(model: Model, output: str, parts: int) -> str:
    record, learner = model.record, model.learner
    last = record.history[-1]
    lines = [
        (
            "merged",
            f"{plural(parts, 'part')} of round {last['pass']}: {count(last['examples'])} examples in all",
        ),
        ("loss", f"{number(last['loss'])}, before learning each example, within its shard"),
    ]
    if learner.verdict is not None:
        lines.append(("proof", learner.verdict))
    lines += [("weights", weights_line(model)), ("saved", output)]
    if learner.planned_passes is not None and not learner.complete:
        lines.append(
            ("next", f"riata train DATA --shard 1/{parts} --resume {output} -o PART, and so on")
        )
    return rows(lines)
