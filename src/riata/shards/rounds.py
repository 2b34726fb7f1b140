"""Rounds over shards: hand out what tasks begin with, take their sums, go on. What runs the tasks is elsewhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from riata import model_file
from riata.errors import ChangedData, DataError, ModelError, SettingsError
from riata.learners import FAMILIES, Learner
from riata.metrics_running import Mean
from riata.record import Model, Record, Settings
from riata.schema import Schema
from riata.shards.kept import KEPT, NAMES, Reading
from riata.shards.methods import Arrays, Method, in_order, method_of
from riata.shards.plan import (
    Plan,
    check_same_content,
    plan_for,
    survey_shard,
)
from riata.shards.split import Shard
from riata.shards.summary import (
    SURVEY,
    Summary,
    check_count,
    check_rounds,
    header_of,
    ordered_parts,
)
from riata.shards.sums import merge, merge_tree
from riata.shards.survey import Survey, Wanted, merged
from riata.sources import ReadOptions
from riata.text_weights import TENSORS, TextWeights

MakeLearner: TypeAlias = Callable[[int], Learner]


@dataclass(frozen=True)
class Task:
    """What all tasks of a round begin with. Values and arrays: it can go anywhere."""

    plan: Plan
    family: str
    parameters: dict[str, Any]
    state: Arrays = field(repr=False)
    round: int
    digest: str
    """Of the plan."""

    @cached_property
    def began(self) -> str:
        """A checksum of what tasks begin with."""
        found = hashlib.sha256()
        for name in sorted(self.state):
            array = self.state[name]
            found.update(f"{name} {array.dtype} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return found.hexdigest()[:32]

    @property
    def header(self) -> dict[str, Any]:
        shown = {k: v for k, v in self.parameters.items() if k != "n_jobs"}
        return header_of(
            self.family, shown, self.digest, len(self.plan.shards), self.round, self.began
        )


def partial(task: Task, shard: Shard, data: Any = None, keep: int = 0) -> Summary:
    """The sums of one shard: a pure function, to be run anywhere, and again where it was lost.

    `data` is what the shard holds, where that is no file. Rows of files are kept in memory for later rounds, as long
    as those of all shards that this process has read take no more than `keep` bytes.
    """
    method = method_of(task.family)
    form = method.form(task.parameters, task.state, task.round)
    watched = task.plan.watched(shard, form.read == NAMES, data)
    reading = Reading(watched, (task.digest, shard), form, keep if data is None else 0)
    state, blocks = method.needed(task.parameters, task.state, reading)
    learner = method.start(task.parameters, state, task.round, len(task.plan.shards))
    schema = task.plan.options.schema
    if schema is not None and schema.hash_key is not None:
        learner.use_hash_key(bytes.fromhex(schema.hash_key))
    loss = Mean()
    for block in blocks:
        scores = method.learn(learner, block)
        assert block.labels is not None
        loss.add(learner.losses(scores, block.labels), block.weights)
    arrays = in_order(method.sums(learner, state, reading.rows))
    header = task.header | {
        "training": task.plan.training(),
        "numbers": [shard.number],
        "fingerprints": {str(shard.number): reading.fingerprint},
        "rows": reading.rows,
        "loss": [loss.total, loss.weight],
    }
    return Summary(header, arrays)


def merge_files(paths: Sequence[str | os.PathLike[str]], resume: Model | None = None) -> Model:
    """The model of all parts of a round, in whatever order they are named; `resume` is what the round began with.

    In memory are the sums, and one part at a time.
    """
    first, ordered = ordered_parts(paths)
    if first["family"] == SURVEY:
        raise SettingsError("these parts are surveys of shards, which have learned nothing")
    course = _course_of(first, resume)
    summary = merge_tree(ordered)
    _take_texts(course, summary.arrays)
    course.take(summary)
    return course.model


def with_texts(summary: Summary, schema: Schema | None) -> Summary:
    """The same with the counts of texts that it was made with. One part of a first round brings them along."""
    if schema is None or schema.text_weights is None:
        return summary
    texts = {f"max.{name}": array for name, array in schema.text_weights.arrays().items()}
    return Summary(summary.header, summary.arrays | texts)


def _take_texts(course: Rounds, arrays: Arrays) -> None:
    """Of parts with counts of texts: the model scores texts by them."""
    schema = course.model.record.schema
    if schema is None or not schema.is_weighed or schema.text_weights is not None:
        return
    texts = {name: arrays[f"max.{name}"] for name in TENSORS if f"max.{name}" in arrays}
    if len(texts) < len(TENSORS):
        raise ModelError("the part of shard 1 lacks the counts of texts: make it again")
    weighed = replace(schema, text_weights=TextWeights.of(schema, texts))
    course.model.record.schema = weighed


def _course_of(head: dict[str, Any], resume: Model | None) -> Rounds:
    """The training that parts with this header belong to."""
    plan, digest = Plan.of_training(head["training"], head["count"]), head["plan"]
    if head["round"] == 1:
        if resume is not None:
            raise SettingsError("these parts are of a first round: leave --resume out")
        family = FAMILIES[head["family"]]

        def make(outputs: int) -> Learner:
            values = {
                k: tuple(v) if isinstance(v, list) else v for k, v in head["parameters"].items()
            }
            return family(**values)

        return Rounds.new(plan, make, 1, digest)
    if resume is None:
        raise SettingsError(
            f"these parts are of round {head['round']}: name the model that it began with (--resume)"
        )
    return Rounds.resumed(plan, resume, head["round"], digest)


class Rounds:
    """A training by shards, between two rounds. All that must outlive a stop is in the model."""

    def __init__(self, plan: Plan, model: Model, rounds: int, digest: str = "") -> None:
        check_rounds(rounds)
        self.plan, self.model = plan, model
        self.method: Method = method_of(model.learner.family)
        self.method.check(model.learner)
        own = model.learner.planned_passes
        self.rounds = rounds if own is None else own
        self._digest = digest or plan.digest()

    @classmethod
    def new(cls, plan: Plan, make: MakeLearner, rounds: int = 1, digest: str = "") -> Rounds:
        """A training that begins."""
        classes = plan.classes
        outputs = 1 if classes is None or len(classes) <= 2 else len(classes)
        learner = make(outputs)
        schema = plan.options.schema
        if schema is not None and schema.hash_key is not None:
            learner.use_hash_key(bytes.fromhex(schema.hash_key))
        weights = None if plan.class_weight is None else list(plan.class_weight)
        settings = Settings(passes=max(1, rounds), class_weight=weights)
        record = Record(data=[plan.name], settings=settings, schema=schema, classes_fixed=True)
        digest = digest or plan.digest()
        record.shards = {"count": len(plan.shards), "plan": digest, "fingerprints": []}
        found = None if classes is None else np.array(classes)
        model = Model(learner, found, record)
        made = cls(plan, model, rounds, digest)
        record.settings = replace(settings, passes=made.rounds)
        return made

    @classmethod
    def resumed(
        cls, plan: Plan, model: Model, rounds: int | None = None, digest: str = ""
    ) -> Rounds:
        """A training that goes on from the model of an earlier round."""
        known = model.record.shards
        if known is None:
            raise SettingsError(
                "this model was not trained by shards, so there is no round to go on with: --initial begins with it"
            )
        digest = digest or plan.digest()
        if known["count"] != len(plan.shards) or known["plan"] != digest:
            raise ChangedData(
                f"{plan.name}: not the shards that the run to resume has learned from "
                f"({known['count']} then, {len(plan.shards)} now, or of other sizes, options or classes): give it the "
                "same data, options and number of shards"
            )
        made = cls(plan, model, rounds or model.record.settings.passes, digest)
        settings = replace(model.record.settings, passes=made.rounds)
        model.record.settings = settings
        return made

    @property
    def round(self) -> int:
        """The round that comes next, from 1."""
        return self.model.record.passes + 1

    @property
    def complete(self) -> bool:
        return self.model.record.passes >= self.rounds or self.method.complete(self.model.learner)

    def task(self) -> Task:
        learner = self.model.learner
        state = self.method.begin(learner, self.model.beside, self.round)
        parameters = learner.parameters()
        return Task(self.plan, learner.family, parameters, state, self.round, self._digest)

    def take(self, summary: Summary, task: Task | None = None) -> None:
        """The sums of all shards: the round has ended."""
        check_count(summary.numbers, summary.header["count"])
        record = self.model.record
        if summary.header["round"] != self.round or summary.header["plan"] != self._digest:
            raise ModelError("these parts are of another round, or of another training")
        if task is not None and summary.header["began"] != task.began:
            raise ModelError("these parts began with another model")
        found = [summary.header["fingerprints"][str(n)] for n in summary.numbers]
        assert record.shards is not None
        if record.shards["fingerprints"]:
            check_same_content(record.shards["fingerprints"], found, self.plan)
        rows = int(summary.header["rows"])
        if rows == 0:
            raise DataError(f"{self.plan.name}: no examples to learn from")
        learner, beside = self.method.finish(self.model.learner, summary.arrays, rows, self.round)
        total, weight = summary.header["loss"]
        self._note(learner, rows, Mean(total, weight), found)
        self.model = Model(learner, self.model.classes, record, beside)
        if self.complete:
            self._end()

    def _note(self, learner: Learner, rows: int, loss: Mean, found: list[str]) -> None:
        record = self.model.record
        assert record.shards is not None
        record.shards = record.shards | {"fingerprints": found}
        record.examples += rows
        record.passes += 1
        record.loss = record.loss.plus(loss)
        record.loss_before_pass = replace(record.loss)
        record.history = [
            *record.history,
            {
                "pass": record.passes,
                "examples": record.examples,
                "loss": loss.value,
                "holdout_loss": None,
                "live": learner.n_live(),
            },
        ]

    def _end(self) -> None:
        self.model.learner.finish()
        self.model.record.stopped_early = self.method.complete(self.model.learner)


def train_shards(
    data: Sequence[str] | str | Plan,
    learner: MakeLearner,
    *,
    rounds: int = 1,
    options: ReadOptions | None = None,
    shards: int | None = None,
    shard_bytes: int | None = None,
    classes: Any = None,
    class_weight: Any = None,
    survey: bool = False,
    on_progress: Callable[[Model], None] | None = None,
    resume: Model | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    run: Callable[[Task], Summary] | None = None,
    keep: int = 0,
) -> Model:
    """Train shard by shard, in this process unless `run` says who else makes the sums of a round.

    `survey` takes scales and buckets of columns from all rows, in a pass before the first round. With `keep`, rows
    stay in memory from round to round, as many as there is room for in so many bytes.

    The result has the same bits on any number of workers. After each round the model is
    saved to `checkpoint`, where one is named, and `on_progress` is called with it.

    >>> import pathlib, tempfile
    >>> from riata.learners import FTRL
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.svm"
    >>> _ = path.write_text("1 1:1 3:1\\n-1 2:1\\n" * 50)
    >>> model = train_shards(str(path), lambda m: FTRL(outputs=m), shards=4, rounds=2)
    >>> model.record.shards["count"], model.record.examples
    (4, 200)
    """
    if isinstance(data, Plan):
        plan = data
    else:
        plan = plan_for(
            data, learner(1), options, count=shards, shard_bytes=shard_bytes,
            classes=classes, class_weight=class_weight, survey=survey, run=survey_here,
        )  # fmt: skip
    course = (
        Rounds.new(plan, learner, rounds)
        if resume is None
        else Rounds.resumed(plan, resume, rounds)
    )
    try:
        return go(course, run or (lambda task: run_here(task, keep)), on_progress, checkpoint)
    finally:
        if keep:
            KEPT.forget()


def go(
    course: Rounds,
    run: Callable[[Task], Summary],
    on_progress: Callable[[Model], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Model:
    """All rounds that are left."""
    while not course.complete:
        task = course.task()
        course.take(run(task), task)
        if checkpoint is not None:
            model_file.save(course.model, checkpoint)
        if on_progress is not None:
            on_progress(course.model)
    return course.model


def run_here(task: Task, keep: int = 0) -> Summary:
    """The sums of a round, one shard after another."""
    return merge(summaries_here(task, keep=keep))


def summaries_here(
    task: Task, shards: Iterable[Shard] | None = None, keep: int = 0
) -> Iterator[Summary]:
    for shard in task.plan.shards if shards is None else shards:
        yield partial(task, shard, keep=keep)


def survey_here(plan: Plan, wanted: Wanted) -> Survey:
    """What all shards tell, one after another."""
    return merged([survey_shard(plan, wanted, shard) for shard in plan.shards])
