"""riata train"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import click
from click.core import ParameterSource

from riata.atomic import check_folder
from riata.cli import INTERRUPTED, TERMINATED, text
from riata.cli.data import (
    data_options,
    load_before,
    open_data,
    read_as_option,
    read_options,
    reading_words,
    refuse_to_replace,
    say_skipped,
    schema_of,
    settings_as_usage,
)
from riata.cli.options import (
    METHODS,
    MethodCommand,
    count_option,
    family_of,
    option,
    parse_class_weight,
    parse_classes,
    parse_holdout,
    pick_parameters,
    progress_option,
)
from riata.cli.progress import Displays, watch_option
from riata.cli.saving import Saving, by_shards, choose_saving, saving_options, saving_words
from riata.labels import Classes
from riata.learners import FAMILIES, Learner
from riata.record import Model
from riata.sources import ReadOptions, Source
from riata.training import partial_model, train
from riata.training.safeguards import Checkpoint, MemoryLimit, SigtermAsCtrlC

HELP = """Learn a sparse linear model from DATA: one or more files, or - for standard input.

\b
  riata train clicks.svm -o clicks.riata --holdout 0.1
  zcat clicks.svm.gz | riata train - -o clicks.riata
  riata train more.svm -o clicks.riata --initial clicks.riata
  riata train clicks.svm -o sparse.riata --method elastic-net --l1 1e-5

Every example is predicted before it is learned, so the loss that is shown is honest without a
holdout. Ctrl-C and SIGTERM save what was learned and say how to go on."""


@click.command("train", cls=MethodCommand, help=HELP)
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@option("-o", "--output", required=True, metavar="MODEL", help="Where to save the model.")
@option(
    "--method",
    type=click.Choice(METHODS),
    section="Method",
    help="The family of learners.  [default: auto, which needs no tuning, also with --loss squared]",
)
@count_option("--passes", 1, "N", "Times over the data.  [default: 1]")
@count_option(
    "--shuffle",
    0,
    "ROWS",
    "Gather so many rows and learn them in random order; 0 keeps the order of the data.",
    default=0,
)
@count_option(
    "--seed",
    0,
    "N",
    "Decides the order of the shuffle, and the samples of bayesian vb.  [default: 0]",
    default=0,
)
@option(
    "--holdout",
    callback=parse_holdout,
    metavar="FRACTION|FILE",
    default="0",
    section="Training",
    help="Never learn this fraction of the examples (65,536 at most), or take a file of its own; "
    "score it after every pass.",
)
@count_option(
    "--patience",
    1,
    "PASSES",
    "Stop after so many passes without a better loss on the holdout (or progressive one).",
)
@option(
    "--classes",
    callback=parse_classes,
    metavar="LIST|scan",
    section="Training",
    help="The labels, such as -1,1 or ham,spam; scan finds them in a pass of its own.  "
    "[default: those of the first 1000 rows; others join when they come]",
)
@option(
    "--class-weight",
    callback=parse_class_weight,
    metavar="LIST|balanced",
    section="Training",
    help="Factors on examples by label, such as ham=1,spam=20; balanced counts labels in a first pass.",
)
@option(
    "--resume",
    metavar="MODEL",
    section="Going on",
    help="Go on with a run that was stopped, from the same data. The result is the same as if it "
    "had never been stopped.",
)
@option(
    "--initial",
    metavar="MODEL",
    section="Going on",
    help="Start from a model, with its parameters, and learn other data.",
)
@saving_options
@data_options
@read_as_option
@option(
    "--hash-key",
    metavar="random|HEX",
    section="Data",
    help="Hash names by a key of one's own, for names that a stranger may choose: 32 hexadecimal digits, or "
    "random. It is kept in the model, and used where the model is.  [default: a fixed one]",
)
@option(
    "--cache",
    is_flag=False,
    flag_value="",
    metavar="[PATH]",
    section="Data",
    help="Parse once: keep what was read there, or beside DATA, for later passes and runs.  "
    "[default: a temporary file, for compressed data that is read more than once]",
)
@option("--no-cache", is_flag=True, section="Data", help="Parse in every pass.")
@progress_option(
    "A live bar, or a table with a row each time the examples double.  [default: by terminal]"
)
@option("--log", metavar="FILE", section="Output", help="Write the progress as JSON lines too.")
@option(
    "--json", "as_json", is_flag=True, section="Output", help="Print the end as one JSON object."
)
@watch_option
@option("-q", "--quiet", is_flag=True, section="Output", help="Print nothing but errors.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    method = family_of(given["method"], given.get("loss"))
    going_on = given["resume"] is not None or given["initial"] is not None
    parameters = pick_parameters(ctx, method, given, check=not going_on)
    explicit = {k for k in given if ctx.get_parameter_source(k) is ParameterSource.COMMANDLINE}
    job = Job(
        data=given["data"],
        output=given["output"],
        method=method,
        parameters=parameters,
        reading=read_options(
            given | {"scale": given["scale"] or "auto"}, hash_key=given["hash_key"]
        ),
        cache=choose_cache(given),
        resume=given["resume"],
        initial=given["initial"],
        read_as=given["read_as"],
        options={
            "passes": given["passes"],
            "shuffle": given["shuffle"],
            "random_state": given["seed"],
            "holdout": given["holdout"],
            "patience": given["patience"],
            "classes": given["classes"],
            "class_weight": given["class_weight"],
        },
    )
    job.again = reading_words(job.reading, explicit) + saving_words(given, explicit)
    job.check(explicit)
    if by_shards(given):
        from riata.cli.sharded import run as run_shards  # most runs do without

        return run_shards(job, given, explicit)
    saving, memory = choose_saving(given), MemoryLimit(given["max_memory"])
    quiet = "json" if given["as_json"] else given["quiet"]
    kind = "none" if quiet else given["progress_kind"]
    return run(job, saving, memory, kind, given["log"], quiet, given["watch"])


def choose_cache(given: dict[str, Any]) -> str | bool | None:
    """What `open_source` calls cache; without a word about it, what `Job.find_cache` finds best."""
    path = given["cache"]
    if given["no_cache"]:
        if path is not None:
            raise click.UsageError("--cache or --no-cache: choose one")
        return None
    return "auto" if path is None else path or True


@dataclass
class Job:
    """What to train, from what, to where."""

    data: Sequence[str]
    output: str
    method: str
    parameters: dict[str, Any]
    reading: ReadOptions
    options: dict[str, Any]
    resume: str | None = None
    initial: str | None = None
    read_as: str | None = None
    cache: str | bool | None = None
    again: Sequence[str] = ()
    """What was said of reading and saving: words of the command that goes on with the run."""
    _handed_out: bool = field(default=False, init=False, repr=False)

    def check(self, explicit: set[str]) -> None:
        """Find wrong usage before any work is done."""
        if self.resume is not None and self.initial is not None:
            raise click.UsageError("--resume goes on with a run, --initial begins one: choose one")
        saved = "resume" if self.resume is not None else "initial" if self.initial else None
        if saved is not None and (self.parameters or "method" in explicit):
            names = sorted(f"--{name.replace('_', '-')}" for name in self.parameters)
            raise click.UsageError(
                f"--{saved} takes the method and its parameters from the model: leave out "
                f"{', '.join(names or ['--method'])}"
            )
        if (saved or self.read_as) and self.reading.hash_key is not None:
            raise click.UsageError(f"--{saved or 'read-as'} takes the hash key from the model")
        if self.resume is not None:
            for name in sorted(explicit & {"classes", "class_weight"}):
                raise click.UsageError(f"--resume keeps --{name.replace('_', '-')} as it was")
        if saved is None:
            _ = self.first

    def find_cache(self, saved: Model | None) -> None:
        """A cache that nobody asked for is for data that is gone over more than once."""
        if self.cache == "auto" and not self._reads_twice(saved):
            self.cache = None

    def _reads_twice(self, saved: Model | None) -> bool:
        options = self.options
        if options.get("classes") == "scan" or options.get("class_weight") == "balanced":
            return True
        passes = options.get("passes")
        if passes is None and self.resume is not None and saved is not None:
            passes = saved.record.settings.passes
        if passes is None:
            learner = self.first if saved is None else saved.learner
            passes = learner.planned_passes
        return (passes or 1) > 1

    @cached_property
    def first(self) -> Learner:
        """The learner of one output: to ask what it needs, and to learn if one output is enough."""
        return self._new(1)

    def make(self, outputs: int) -> Learner:
        if outputs == 1 and not self._handed_out:
            self._handed_out = True
            return self.first
        return self._new(outputs)

    def _new(self, outputs: int) -> Learner:
        try:
            family = FAMILIES[self.method]
            known = {f.name for f in fields(family)}  # type: ignore[arg-type]
            seed = {"seed": self.options["random_state"]} if "seed" in known else {}
            return family(**self.parameters, **seed, outputs=outputs)
        except ValueError as error:
            raise click.UsageError(str(error)) from error

    def wants_names(self, before: Model | None) -> bool:
        """Whether names of features are of use to the learner, that of the saved model if there is one."""
        return (self.first if before is None else before.learner).wants_names

    def command_to_resume(self, saved_at: str) -> list[str]:
        words = ["riata", "train", *self.data, "-o", self.output, "--resume", saved_at]
        if isinstance(self.options.get("holdout"), str):
            words += ["--holdout", self.options["holdout"]]
        return [*words, *self.again]


def run(
    job: Job,
    saving: Saving,
    memory: MemoryLimit,
    progress_kind: str,
    log: str | None = None,
    quiet: bool | str = False,
    watch: int | None = None,
) -> int:
    """Train, save and report, quietly or at the end in "json"; the exit code."""
    for file in (job.output, saving.place):
        refuse_to_replace(job.data, file)
    saving.check()
    if log is not None:
        check_folder(log)
    started = time.perf_counter()
    before = load_before(job.resume, job.initial)
    if before is not None or job.read_as is not None:
        job.reading = replace(job.reading, schema=schema_of(before, job.read_as))
    job.find_cache(before)
    names = job.wants_names(before)
    source = open_data(job.data, replace(job.reading, cache=job.cache, names=names))
    with (
        SigtermAsCtrlC() as sigterm,
        Displays.of(
            progress_kind, log, watch=None if watch is None else (watch, job.output)
        ) as displays,
    ):
        checkpoint = prepare_checkpoint(job, saving, displays, quiet)
        try:
            model = learn(job, source, displays, before, checkpoint=checkpoint, max_memory=memory)
        except Exception as error:
            learned = partial_model(error)
            if learned is not None:
                saving.rescue(learned, error, job.command_to_resume)
            raise
        model = saving.save(model, job.command_to_resume)
        if checkpoint is not None:
            checkpoint.remove(resumed=saving.resumed)
        seconds = time.perf_counter() - started
        displays.note({"event": "saved", "model": job.output, "record": model.record.to_json()})
    if model.record.interrupted:
        click.echo(text.interrupted(model, job.output, job.command_to_resume(job.output)), err=True)
        return TERMINATED if sigterm.came else INTERRUPTED
    if quiet == "json":
        click.echo(text.trained_json(model, job.output, seconds))
    elif not quiet:
        kept = say_skipped(model.record.skipped, job.reading)
        note = getattr(source, "note", None)
        click.echo(text.trained(model, job.output, None if job.resume else seconds, kept, note))
    return 0


def prepare_checkpoint(
    job: Job, saving: Saving, displays: Displays, quiet: bool | str
) -> Checkpoint | None:
    """Say what will be replaced, and, once there is one, what it is called."""
    earlier = saving.earlier()
    if earlier is not None:
        command = job.command_to_resume(saving.place)
        displays.say(text.checkpoint_found(earlier, saving.place, command))

    def saved(model: Model) -> None:
        if checkpoint is not None and checkpoint.saved == 1 and not quiet:
            displays.say(text.checkpoint_saved(model, saving.place))

    checkpoint = saving.checkpoint(saved)
    return checkpoint


def beside_training(source: Source, path: str, reading: ReadOptions) -> Source:
    """A holdout of its own, read by the schema of the model or, once it is known, of the training data."""
    if reading.schema is not None:
        return open_data([path], reading)
    from riata.sources.alike import ReadAlike  # most runs do without

    return ReadAlike(lambda schema: open_data([path], replace(reading, schema=schema)), source)


def learn(
    job: Job, source: Source, displays: Displays, before: Model | None = None, **limits: Any
) -> Model:
    """The call of train() that a job stands for; `before` is the model that it goes on from."""
    options = job.options | limits
    if isinstance(options.get("holdout"), str):
        beside = job.cache if job.cache in (True, "auto") else None
        reading = replace(job.reading, cache=beside, names=job.wants_names(before))
        options["holdout"] = beside_training(source, options["holdout"], reading)
    with settings_as_usage():
        if before is None:
            return train(source, job.make, **options, on_progress=displays.on_progress)
        if job.resume is not None:
            options.pop("classes", None)
            options.pop("class_weight", None)
            done = before.record.passes
            if before.record.complete and (options["passes"] or 0) <= done:
                raise click.UsageError(
                    f"{job.resume}: nothing to resume: this run came to its end after "
                    f"{text.plural(done, 'pass')}; to make more, give --passes"
                )
            return train(
                source, before.learner, **options, resume=before, on_progress=displays.on_progress
            )
        if before.classes is not None and options.get("classes") is None:
            options["classes"] = Classes(before.labels)  # in their order, and others may join
        model = train(source, before.learner, **options, on_progress=displays.on_progress)
        model.record.earlier = [*before.record.earlier, before.record.summary()]
    return model
