"""train, predict and evaluate on a cluster: the same shards, tasks and sums as on one machine."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from riata.block import Block
from riata.dask.cluster import RETRIES, SLOW, WAIT, Cluster, check_workers
from riata.dask.collections import Partitions, is_collection
from riata.dask.folding import folded
from riata.dask.homes import Homes, leave, partial_keeping, wished
from riata.errors import DataError, NoExamples, SettingsError
from riata.estimators.base import LinearEstimator
from riata.learners import Learner
from riata.metrics import Evaluation
from riata.record import Model
from riata.shards.methods import from_json
from riata.shards.plan import (
    Plan,
    first_rows,
    open_held,
    plan_for,
    survey_shard,
    surveyed,
    wants_labels,
    with_classes,
)
from riata.shards.plan import resolved as resolved_options
from riata.shards.rounds import MakeLearner, Rounds, Task, go
from riata.shards.split import Piece, Shard
from riata.shards.summary import Summary, check_rounds
from riata.shards.sums import FAN_IN
from riata.shards.survey import Survey, Wanted, merged
from riata.sources import ReadOptions
from riata.training.encoder import encode_for


def maker(learner: Any) -> MakeLearner:
    """A function that makes the learner for a number of outputs, from an estimator, a learner, or such a function."""
    if isinstance(learner, LinearEstimator):
        return learner._make_learner
    if isinstance(learner, Learner):
        if learner.t:
            raise SettingsError(
                "this learner has learned already: give one that has not, or resume=..."
            )
        family, parameters = type(learner), learner.parameters()
        return lambda outputs: family(**from_json(parameters) | {"outputs": outputs})
    if not callable(learner):
        raise TypeError(f"a learner or an estimator, not {type(learner).__name__}")
    return learner  # type: ignore[no-any-return]


def train(
    client: Any,
    source: Any,
    learner: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    rounds: int | None = None,
    shards: int | None = None,
    shard_bytes: int | None = None,
    classes: Any = None,
    class_weight: Any = None,
    survey: bool = False,
    on_progress: Callable[[Model], None] | None = None,
    resume: Model | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    options: ReadOptions | None = None,
    retries: int = RETRIES,
    slow: float = SLOW,
    wait: float = WAIT,
    keep: int | None = None,
    **reading: Any,
) -> Model:
    """Train on the workers of a Dask client.

    source: paths or patterns (`s3://` too), which every worker reads for itself; a Dask DataFrame with the label among
        its columns; or a Dask array of CSR or dense blocks with labels in `y`.
    learner: an estimator, a learner that has learned nothing, or a function that makes one for a number of outputs.
    rounds: times that all shards are learned and merged; 1 unless said otherwise, of a sketch as many as it takes.
    shards, shard_bytes: how files are cut, as `riata.shards.split` takes them.
    survey: take scales and buckets of columns from all rows, in a pass of its own, and not from the first rows.
    resume: the model of an earlier round, such as `model_file.load(checkpoint)`, to go on from.
    checkpoint: a file that the model is saved to after each round.
    retries: times that a task is tried again after an error that is none of the data's. A worker that dies costs none.
    slow: seconds after which a task is given to a second worker as well, if others took far less.
    wait: seconds to wait for a first worker.
    keep: bytes of decoded rows of files that each worker keeps in memory from round to round; by default a quarter of
        what Dask lets it have, and none where that has no limit. What has no room is read again.
    Other options are about reading, as `riata.open_source` takes them.
    """
    make = maker(learner)
    if rounds is not None:
        check_rounds(rounds)
    cluster = Cluster(client, retries, slow, wait)
    check_workers(client, wait)
    if options is None:
        reading.setdefault("scale", "auto")
    options = ReadOptions.of(options, reading)
    if resume is not None and classes is None and resume.classes is not None:
        classes, class_weight = resume.labels, resume.record.settings.class_weight
    held: Partitions | None = None
    if is_collection(source):
        if shards is not None or shard_bytes is not None:
            raise SettingsError(
                "the shards of a Dask collection are its partitions: repartition it instead"
            )
        held = Partitions(source, y, sample_weight)
        plan = _plan_of(cluster, held, make(1), options, classes, class_weight, survey)
    else:
        if y is not None or sample_weight is not None:
            raise DataError("y and sample_weight go with Dask arrays; files bring their own labels")
        plan = plan_for(
            _paths(source), make(1), options, count=shards, shard_bytes=shard_bytes, classes=classes,
            class_weight=class_weight, survey=survey,
            run=lambda plan, wanted: _surveyed(cluster, plan, wanted, None),
        )  # fmt: skip
    if resume is None:
        course = Rounds.new(plan, make, rounds or 1)
    else:
        course = Rounds.resumed(plan, resume, rounds)
    homes = Homes()

    def run(task: Task) -> Summary:
        return run_on(cluster, task, held, homes, keep if task.round < course.rounds else 0)

    try:
        return go(course, run, on_progress, checkpoint)
    finally:
        if held is None:
            leave(client)


def run_on(
    cluster: Cluster,
    task: Task,
    held: Partitions | None = None,
    homes: Homes | None = None,
    keep: int | None = 0,
) -> Summary:
    """The sums of a round: tasks on workers, and the tree of sums on workers as well."""
    shards = task.plan.shards
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        shared = cluster.submit(_itself, task)
        calls = [(partial_keeping, shared, shard, keep, *_data(held, shard)) for shard in shards]
        how = wished(homes or Homes(), cluster.client, shards)
        return folded(cluster, calls, how)


def _data(held: Partitions | None, shard: Shard) -> tuple[Any, ...]:
    return () if held is None else (held[shard.number - 1],)


def _itself(task: Task) -> Task:
    return task


def _surveyed(cluster: Cluster, plan: Plan, wanted: Wanted, held: Partitions | None) -> Survey:
    """What all shards tell: a pass of its own."""
    calls = [(survey_shard, plan, wanted, shard, *_data(held, shard)) for shard in plan.shards]
    return merged([cluster.result(future) for future in cluster.all_done(calls)])


def _plan_of(
    cluster: Cluster,
    held: Partitions,
    learner: Learner,
    options: ReadOptions,
    classes: Any,
    class_weight: Any,
    survey: bool,
) -> Plan:
    """The partitions of a collection as shards; what they have in common comes from the first that has rows."""
    shards = tuple(
        Shard(i + 1, (Piece(f"{held.name}, partition {i}", 0),)) for i in range(len(held))
    )
    for i in range(len(held)):
        [done] = cluster.all_done([(_first_look, held[i], options)])
        found = cluster.result(done)
        if found is None:
            continue
        rows, resolved, words = found
        plan = Plan(shards, resolved)
        labels = wants_labels(learner, classes, class_weight)
        run = lambda plan, wanted: _surveyed(cluster, plan, wanted, held)  # noqa: E731
        plan, counts = surveyed(plan, options, labels, survey, run)
        return with_classes(plan, rows, _Words(words), learner, classes, class_weight, counts)  # type: ignore[arg-type]
    raise NoExamples(f"no examples in {held.name}")


class _Words:
    """What the labels of a partition stand for."""

    def __init__(self, words: list[Any] | None) -> None:
        self.label_names = words


def _first_look(data: Any, options: ReadOptions) -> tuple[Block, ReadOptions, Any] | None:
    try:
        source = open_held(data, options)
        rows = first_rows(source)
    except NoExamples:
        return None
    resolved = resolved_options(options, source)
    return rows, resolved, getattr(source, "label_names", None)


def _paths(source: Any) -> list[str]:
    if isinstance(source, str | os.PathLike):
        return [os.fspath(source)]
    if isinstance(source, list | tuple) and all(isinstance(p, str | os.PathLike) for p in source):
        return [os.fspath(path) for path in source]
    raise TypeError(
        f"cannot train on {type(source).__name__}: give paths, a Dask DataFrame or a Dask array"
    )


# Predictions


def _scored(model: Model, plan: Plan, shard: Shard, data: Any = None) -> Any:
    """Scores, labels and weights of a shard."""
    scores: list[Any] = []
    labels: list[Any] = []
    weights: list[Any] = []
    for source in plan.sources(shard, model.learner.scores_by_name, data):
        encode = encode_for(model, source) if plan.options.labelled else None
        try:
            for block in source:
                if encode is not None:
                    block = encode(block)
                    labels.append(block.labels)
                    weights.append(np.ones(len(block)) if block.weights is None else block.weights)
                scores.append(model.learner.score(block))
        except NoExamples:
            continue
    if not scores:
        return np.zeros((0, model.learner.outputs)), np.zeros(0), np.zeros(0)
    if not labels:
        return np.concatenate(scores), None, None
    return np.concatenate(scores), np.concatenate(labels), np.concatenate(weights)


def _to_score(
    model: Model, source: Any, y: Any, sample_weight: Any, labelled: bool, given: Mapping[str, Any]
) -> tuple[Plan, Partitions | None]:
    options = ReadOptions(**given, schema=model.schema, labelled=labelled)
    if is_collection(source):
        held = Partitions(source, y, sample_weight)
        shards = [Shard(i + 1, (Piece(held.name, 0),)) for i in range(len(held))]
        return Plan(tuple(shards), options), held
    how = {"count": None, "shard_bytes": None}
    plan = plan_for(_paths(source), _NoClasses(), replace(options), **how)  # type: ignore[arg-type]
    return replace(plan, options=replace(plan.options, labelled=labelled)), None


class _NoClasses:
    """In place of a learner where classes are known."""

    task = "regression"


def evaluate(
    client: Any,
    model: Any,
    source: Any,
    y: Any = None,
    sample_weight: Any = None,
    **reading: Any,
) -> dict[str, Any]:
    """How good a model is on labelled data: what `riata.training.evaluate` says, from the workers' scores."""
    model = model.model_ if isinstance(model, LinearEstimator) else model
    cluster = Cluster(client)
    check_workers(client)
    plan, held = _to_score(model, source, y, sample_weight, True, reading)
    shared = cluster.submit(_itself, model)
    learner = model.learner
    evaluation = Evaluation(learner.task, learner.outputs)
    for start in range(0, len(plan.shards), FAN_IN):
        some = plan.shards[start : start + FAN_IN]
        done = cluster.all_done([(_scored, shared, plan, s, *_data(held, s)) for s in some])
        for future in done:
            scores, labels, weights = cluster.result(future)
            if len(scores):
                losses = learner.losses(scores, labels)
                evaluation.add(scores, learner.probability(scores), labels, weights, losses)
    if evaluation.examples == 0:
        raise DataError(f"{plan.name}: no examples")
    return evaluation.result()


def predict(client: Any, model: Any, source: Any, **reading: Any) -> Any:
    """The scores of rows, as a NumPy array (rows, outputs), made by the workers."""
    model = model.model_ if isinstance(model, LinearEstimator) else model
    cluster = Cluster(client)
    check_workers(client)
    plan, held = _to_score(model, source, None, None, False, reading)
    shared = cluster.submit(_itself, model)
    calls = [(_scored, shared, plan, s, *_data(held, s)) for s in plan.shards]
    return np.concatenate([cluster.result(future)[0] for future in cluster.all_done(calls)])
