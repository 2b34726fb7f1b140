"""riata train --shard and --dask: one shard of a round, or all of them on a cluster."""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from riata import model_file
from riata.atomic import check_writable
from riata.cli import text
from riata.cli.data import refuse_to_replace, settings_as_usage
from riata.record import Model
from riata.shards.plan import Plan, plan_for
from riata.shards.rounds import Rounds, partial, with_texts
from riata.shards.survey_file import survey_part, surveyed_by

if TYPE_CHECKING:
    from riata.cli.train import Job

_NOT_HERE = (
    "passes",
    "shuffle",
    "holdout",
    "patience",
    "initial",
    "cache",
    "max_memory",
    "bad_lines",
    "log",
)
"""Options of a training on one machine that shards have no use for."""


def parse_shard(value: str) -> tuple[int, int]:
    """
    >>> parse_shard("3/64")
    (3, 64)
    """
    found = re.fullmatch(r"(\d+)/(\d+)", value)
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count:
        raise click.UsageError(
            f"--shard is a number and how many there are, such as 3/64, not {value!r}"
        )
    return number, count


def run(job: Job, given: dict[str, Any], explicit: set[str]) -> int:
    """What `riata train` does with --shard or --dask; the exit code."""
    for name in _NOT_HERE:
        if name in explicit:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with shards")
    if given["shard"] is not None and given["dask"] is not None:
        raise click.UsageError("--shard trains one shard, --dask all of them: choose one")
    refuse_to_replace(job.data, job.output)
    check_writable(job.output)
    with settings_as_usage():
        if given["shard"] is not None:
            if given["rounds"] is not None or given["shards"] is not None:
                raise click.UsageError("--rounds and --shards go with --dask; --shard says 3/64")
            number, count = parse_shard(given["shard"])
            if given["survey"]:
                return _survey(job, number, count, given)
            return _one(job, number, count, given)
        if given["surveyed"] is not None:
            raise click.UsageError("--surveyed goes with --shard; --dask makes its own (--survey)")
        return _all(job, given)


def _survey(job: Job, number: int, count: int, given: dict[str, Any]) -> int:
    """What one shard tells of the data, before anything is learned."""
    for name in ("resume", "surveyed"):
        if given[name] is not None:
            raise click.UsageError(f"--{name} and --survey: choose one")
    options = replace(job.reading, cache=None)
    part = survey_part(job.data, job.first, options, number, count)
    part.save(job.output)
    if not given["quiet"]:
        lines = [
            ("survey", f"shard {number} of {count}"),
            ("saved", f"{job.output}, {text.size(os.path.getsize(job.output))}"),
            ("next", f"riata merge SURVEYS -o SURVEY, with all {count} of them"),
        ]
        click.echo(text.rows(lines))
    return 0


def _one(job: Job, number: int, count: int, given: dict[str, Any]) -> int:
    """One shard of a round: a part, which `riata merge` puts together with the others."""
    before = None if job.resume is None else model_file.load(job.resume)
    course = _course(job, before, count, given["surveyed"])
    shard = course.plan.shards[number - 1]
    started = time.perf_counter()
    summary = partial(course.task(), shard)
    if number == 1 and course.round == 1:
        summary = with_texts(summary, course.plan.options.schema)
    summary.save(job.output)
    if not given["quiet"]:
        seconds = time.perf_counter() - started
        rows = summary.header["rows"]
        lines = [
            ("shard", f"{number} of {count}, round {course.round}: {shard.name}"),
            ("learned", f"{text.plural(rows, 'example')} in {seconds:.1f} s"),
            ("saved", f"{job.output}, {text.size(os.path.getsize(job.output))}"),
        ]
        resume = "" if job.resume is None else f" --resume {job.resume}"
        lines.append(("next", f"riata merge PARTS -o MODEL{resume}, with all {count} of them"))
        click.echo(text.rows(lines))
    return 0


def _course(job: Job, before: Model | None, count: int, survey: str | None) -> Rounds:
    if before is not None and survey is not None:
        raise click.UsageError("--resume knows what was surveyed: leave --surveyed out")
    how = {} if survey is None else {"survey": True, "run": surveyed_by(survey)}
    plan = plan_of(job, before, count=count, **how)
    if before is None:
        return Rounds.new(plan, job.make, 1)
    course = Rounds.resumed(plan, before, before.record.passes + 1)
    if course.complete:
        raise click.UsageError(f"{job.resume}: nothing to resume: {before.learner.verdict}")
    return course


def plan_of(job: Job, before: Model | None, **how: Any) -> Plan:
    """The shards of the data of a job, with the classes of the model that it goes on from."""
    options, learner = replace(job.reading, cache=None), job.first
    classes, weights = job.options["classes"], job.options["class_weight"]
    if how.get("survey") and classes is None and learner.task != "regression":
        classes = "scan"
    if before is not None:
        learner = before.learner
        classes = None if before.classes is None else before.labels
        weights = before.record.settings.class_weight
        options = replace(options, schema=before.schema)
    return plan_for(job.data, learner, options, classes=classes, class_weight=weights, **how)


def _all(job: Job, given: dict[str, Any]) -> int:
    """All rounds on a cluster."""
    from riata.dask import cluster_of
    from riata.dask import train as train_on
    from riata.dask.cluster import hush

    hush()
    before = None if job.resume is None else model_file.load(job.resume)
    checkpoint = given["checkpoint"] or f"{job.output}.checkpoint"
    started = time.perf_counter()
    quiet = given["quiet"]

    def tell(model: Model) -> None:
        record = model.record
        last = record.history[-1]
        click.echo(
            f"round {last['pass']}: {text.count(last['examples'])} examples learned, loss "
            f"{text.number(last['loss'])}, {text.count(last['live'])} weights",
            err=True,
        )

    with cluster_of(given["dask"]) as client:
        model = train_on(
            client,
            list(job.data),
            job.make,
            options=replace(job.reading, cache=None),
            rounds=given["rounds"],
            shards=given["shards"],
            survey=given["survey"],
            classes=job.options["classes"],
            class_weight=job.options["class_weight"],
            resume=before,
            checkpoint=None if given["no_checkpoint"] else checkpoint,
            on_progress=None if quiet else tell,
        )
    model_file.save(model, job.output)
    if not given["no_checkpoint"] and os.path.exists(checkpoint):
        os.unlink(checkpoint)
    if not quiet:
        seconds = None if job.resume else time.perf_counter() - started
        click.echo(text.trained(model, job.output, seconds))
    return 0
