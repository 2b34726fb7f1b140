"""Where `riata train` saves what it has learned: at the end, from time to time, and when something goes wrong."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from riata import model_file
from riata.atomic import check_writable, remove_leftovers, same_file
from riata.cli import text
from riata.cli.data import Number
from riata.cli.options import family_of, option
from riata.errors import ModelError, SettingsError
from riata.record import Model
from riata.training.safeguards import EVERY, Checkpoint, Interrupt, parse_every, parse_size

F = TypeVar("F", bound=Callable[..., Any])


def _every(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return _checked(value, parse_every)


def _size(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return _checked(value, parse_size)


def _checked(value: str | None, parse: Callable[[str], Any]) -> str | None:
    if value is not None:
        try:
            parse(value)
        except SettingsError as error:
            raise click.BadParameter(str(error)) from error
    return value


def _shard_options(command: F) -> F:
    """How to train beyond one machine."""
    for decorate in (
        option(
            "--shards",
            type=click.IntRange(min=1),
            metavar="N",
            section="Many machines",
            help="Cut the data into so many shards, for --dask.  [default: about 64 MB each]",
        ),
        option(
            "--rounds",
            type=click.IntRange(min=1),
            metavar="N",
            section="Many machines",
            help="Times that all shards are learned and merged, with --dask.  [default: 1; of a sketch as many as it "
            "takes]",
        ),
        option(
            "--survey",
            is_flag=True,
            section="Many machines",
            help="Take scales and buckets of columns from all rows, in a pass of its own, with --dask. With --shard: "
            "make this pass over one shard; MODEL is what it tells, for riata merge.",
        ),
        option(
            "--surveyed",
            metavar="FILE",
            section="Many machines",
            help="With --shard: read by what a survey of all shards has found: labels, scales, buckets, texts.",
        ),
        option(
            "--dask",
            metavar="ADDRESS|local:N",
            section="Many machines",
            help="Train on a Dask cluster: its scheduler, such as tcp://host:8786, or N processes here.",
        ),
        option(
            "--shard",
            metavar="K/N",
            section="Many machines",
            help="Train the K-th of N shards alone; MODEL is then a part, for riata merge.",
        ),
    ):
        command = decorate(command)
    return command


def saving_options(command: F) -> F:
    """How to keep what was learned from being lost."""
    for decorate in (
        option(
            "--max-memory",
            callback=_size,
            metavar="SIZE",
            section="Training",
            help="Stop, and save what was learned, before more is in use: 2G, 512M.  "
            "[default: 80 % of what the machine or its control group allows]",
        ),
        option("--no-checkpoint", is_flag=True, section="Going on", help="Save at the end only."),
        option(
            "--every",
            callback=_every,
            metavar="TIME|N",
            section="Going on",
            help="How often to save it: 60s, 5min, 2h, or a number of examples.  [default: 5min]",
        ),
        option(
            "--checkpoint",
            metavar="FILE",
            section="Going on",
            help="Save the model so far there, for --resume after a crash; removed in the end.  "
            "[default: MODEL.checkpoint, in runs of over five minutes]",
        ),
    ):
        command = decorate(command)
    return _single_options(_shard_options(command))


def _single_options(command: F) -> F:
    """What of a model of auto is saved."""
    for decorate in (
        option(
            "--sparse",
            is_flag=False,
            flag_value=0.005,
            type=Number(min=0, max=1),
            metavar="[LOSS]",
            section="Output",
            help="As --single, without weights that are not worth this part of the log loss.  [default: 0.005]",
        ),
        option(
            "--single",
            is_flag=True,
            section="Output",
            help="auto: save one linear model in the place of all settings, as riata compact does.",
        ),
    ):
        command = decorate(command)
    return command


def saving_words(given: Mapping[str, Any], explicit: Collection[str]) -> list[str]:
    """Those words of the command line that say what is kept where and how much memory there is."""
    words: list[str] = []
    for name in (
        "cache",
        "no_cache",
        "checkpoint",
        "every",
        "no_checkpoint",
        "max_memory",
        "log",
        "single",
        "sparse",
    ):
        if name in explicit and given[name] not in (None, False):
            flag = f"--{name.replace('_', '-')}"
            words += (
                [flag] if given[name] is True or given[name] == "" else [flag, str(given[name])]
            )
    return words


def by_shards(given: Mapping[str, Any]) -> bool:
    """Whether a command trains by shards."""
    if given["shard"] is not None or given["dask"] is not None:
        if given["read_as"] is not None:
            raise click.UsageError("--read-as: shards are read alike by one survey (--surveyed)")
        if given["single"] or given["sparse"] is not None:
            raise click.UsageError(
                "--single and --sparse: make one model of the merged one by riata compact"
            )
        return True
    if given["rounds"] is not None or given["shards"] is not None:
        raise click.UsageError("--rounds and --shards are for training by shards: give --dask")
    if given["survey"] or given["surveyed"] is not None:
        raise click.UsageError(
            "--survey and --surveyed are for training by shards: give --shard or --dask"
        )
    return False


def choose_saving(given: dict[str, Any]) -> Saving:
    """What the options come to."""
    checkpoint = given["checkpoint"]
    if given["no_checkpoint"] and (checkpoint or given["every"]):
        raise click.UsageError("--no-checkpoint, or --checkpoint and --every: choose one")
    for other in ("output", "initial"):
        if checkpoint and given[other] and _same(checkpoint, given[other]):
            raise click.UsageError(
                f"{checkpoint}: the checkpoint is removed in the end, and --{other} is the same file: "
                f"name another one"
            )
    saving = Saving(given["output"], checkpoint, given["every"], wanted=not given["no_checkpoint"])
    if given["single"] or given["sparse"] is not None:
        if family_of(given["method"], given.get("loss")) != "auto":
            raise click.UsageError(
                "--single and --sparse are for auto: other methods learn one model"
            )
        saving.sparse = given["sparse"] or 0.0
    saving.resumed = given["resume"] is not None and _same(given["resume"], saving.place)
    return saving


def _same(a: str, b: str) -> bool:
    return os.path.realpath(a) == os.path.realpath(b) or same_file(a, b)


class Saving:
    """The places where a model may go."""

    def __init__(
        self,
        output: str,
        checkpoint: str | None = None,
        every: str | None = None,
        *,
        wanted: bool = True,
    ) -> None:
        """`wanted`: whether there are to be checkpoints beside the output, unless their place is given."""
        self.output, self.every = output, every
        self.chosen = checkpoint is not None or every is not None
        self.place = checkpoint if checkpoint is not None else f"{output}.checkpoint"
        self.wanted = checkpoint is not None or (wanted and _may_have_company(output))
        self.resumed = False
        """Whether the run goes on from that checkpoint."""
        self.sparse: float | None = None
        """Of one linear model that is to be saved in the place of all settings of auto; see `Portfolio.collapse`."""

    def check(self) -> None:
        """Find out now what would fail after hours; remove what killed runs have left."""
        check_writable(self.output)
        if self.chosen and self.wanted:
            check_writable(self.place)
        elif self.wanted:
            remove_leftovers(self.place)

    def checkpoint(self, on_saved: Callable[[Model], None] | None = None) -> Checkpoint | None:
        """For `train`."""
        if not self.wanted:
            return None
        wait = 0.0 if self.chosen else EVERY
        return Checkpoint(self.place, self.every, wait=wait, on_saved=on_saved)

    def earlier(self) -> Model | None:
        """What a run that was killed has left where the checkpoints of this one will go."""
        if self.resumed or not self.wanted or not os.path.exists(self.place):
            return None
        try:
            return model_file.load(self.place)
        except (OSError, ModelError):
            return None

    def save(self, model: Model, command_to_resume: Callable[[str], list[str]]) -> Model:
        """To the output; where that fails, to the next place, and then it is an error that says where.

        What was saved: the model, or the one in the place of all its settings.
        """
        with Interrupt():  # one Ctrl-C too many should not cost the model
            saved = self._single(model)
            try:
                model_file.save(saved, self.output, small=saved is not model)
            except OSError as error:
                self._save_elsewhere(model, error, command_to_resume)
                raise
            return saved

    def _single(self, model: Model) -> Model:
        """A run that was stopped goes on with all settings; models of other methods are single ones."""
        if self.sparse is None or not model.record.complete or model.learner.family != "auto":
            return model
        return model.collapsed(self.sparse)

    def rescue(
        self, model: Model, error: BaseException, command_to_resume: Callable[[str], list[str]]
    ) -> None:
        """Save what was learned before an error ended the training, beside the output."""
        beside = f"{self.output}.partial" if _may_have_company(self.output) else self.place
        with Interrupt():
            try:
                model_file.save(model, beside)
            except OSError as second:
                error.add_note(f"{beside}: {second.strerror or second}")
                self._save_elsewhere(model, error, command_to_resume)
            else:
                error.add_note(text.rescued(model, beside, command_to_resume(beside)))

    def _save_elsewhere(
        self, model: Model, error: BaseException, command_to_resume: Callable[[str], list[str]]
    ) -> None:
        """In the place of the checkpoint, or in the temporary folder; the error tells."""
        import tempfile  # seldom needed

        places = [self.place] if self.wanted else []
        name = f"{Path(self.output).name}.{os.getpid()}.riata"
        places.append(os.path.join(tempfile.gettempdir(), name))
        for place in places:
            try:
                model_file.save(model, place)
            except OSError as second:
                error.add_note(f"{place}: {second.strerror or second}")
                continue
            resume = None if model.record.complete else command_to_resume(place)
            error.add_note(text.saved_elsewhere(model, place, resume))
            return


def _may_have_company(output: str) -> bool:
    """Whether there may be other files beside the output: it is not a device or a pipe."""
    try:
        mode = os.stat(output).st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode)
