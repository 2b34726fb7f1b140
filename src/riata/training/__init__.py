"""train(): lead the examples of a source past a learner."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from riata.batches import iterate
from riata.errors import SettingsError
from riata.labels import Classes, words_of
from riata.record import Model, Progress, Record, Settings, check_hash_key
from riata.sources.source import unweighed
from riata.training.encoder import Encoder, encode_for
from riata.training.preparation import (
    MakeLearner,
    Preparation,
    check_repeatable,
    record_to_resume,
)
from riata.training.run import Holdout, Run, evaluate_block

if TYPE_CHECKING:
    from riata.block import Block
    from riata.learners import Learner
    from riata.sources import Source
    from riata.training.safeguards import Checkpoint, MemoryLimit

__all__ = ["Model", "Progress", "Record", "Settings", "evaluate", "partial_model", "train"]


def train(
    source: Source,
    learner: Learner | MakeLearner,
    *,
    passes: int | None = None,
    shuffle: int = 0,
    random_state: int = 0,
    holdout: float | Source = 0.0,
    patience: int | None = None,
    classes: Sequence[Any] | NDArray[Any] | Classes | str | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    resume: Model | None = None,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    every: int | str | None = None,
    max_memory: int | str | MemoryLimit | None = None,
) -> Model:
    """Lead the examples of `source` past a learner.

    learner: a learner, or a function that makes one for a number of outputs (1 for a regression or
        two classes, else one a class): the number of classes may be known only from the data.
    passes: times over the data; unless said otherwise 1, or as many as a learner of several passes
        plans to make. More than one needs a repeatable source.
    shuffle: rows that are gathered and then learned in random order; 0 keeps the order of the data.
    random_state: with the number of the pass, decides that order.
    holdout: a fraction of the examples, evenly spread, that are never learned (at most 65,536,
        kept in memory), or a source of its own. Scored after every pass.
    patience: stop when the loss on the holdout (without one: the progressive loss of the pass) was
        not below its best for so many passes.
    classes: the labels of a classification, words, numbers or bools; None takes those of the first
        1000 examples, and a label that comes later joins with its first example, as if it had been
        there before without one; "scan" takes all, from a pass over the data before learning. A list
        is all there are: other labels are an error. (A `riata.labels.Classes` keeps its order.)
    class_weight: factors on the examples' weights, by label, or "balanced" (a pass beforehand).
    on_progress: called after a Block, when the number of examples reaches a power of two, and at
        the end of a pass.
    resume: a model from a run that was stopped: go on with it where it stopped, on the same data
        with the same settings. The result has the same bits as a run that was never stopped.
        `passes` may be raised. The model given is used up. Data other than what it learned from is an
        error (`riata.errors.ChangedData`).
    checkpoint: a file that the model so far is saved to from time to time, and on SIGTERM;
        `resume=model_file.load(checkpoint)` goes on from there. It is left when the run has ended.
    every: how often: a time such as "60s" or "5min", or a number of examples. Unless said, "5min".
    max_memory: bytes, or a size such as "2G": more is an error (`riata.errors.OutOfMemory`). None: no limit.

    Ctrl-C stops after the current Block: the model so far is returned with `record.interrupted`.
    When an error ends the stream, `partial_model(error)` is what was learned before.

    >>> import numpy as np
    >>> from riata.learners import ElasticNet
    >>> from riata.sources import open_source
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]] * 50)
    >>> y = np.array([1.0, -1.0] * 50)
    >>> model = train(open_source(x, y), lambda m: ElasticNet(outputs=m), passes=2)
    >>> model.classes, model.record.examples
    (array([-1.,  1.]), 200)
    >>> bool(model.record.progressive_loss < np.log(2))
    True
    """
    kept = Holdout(holdout)
    before = getattr(source, "text_weights", None)  # of a model that this one begins with
    source = unweighed(source)
    if resume is None:
        settings = Settings(
            passes=1 if passes is None else passes,
            shuffle=shuffle,
            random_state=random_state,
            holdout=kept.setting,
            patience=patience,
        )
        record = Record(data=[source.name], settings=settings)
        encoder = Encoder(classes, class_weight, words_of(source))
    else:
        given = {"shuffle": shuffle, "random_state": random_state, "holdout": kept.setting}
        record = record_to_resume(resume.record, given, passes, patience)
        settings, learner = record.settings, resume.learner
        before = None if record.schema is None else record.schema.text_weights
        if kept.source is None:
            kept = Holdout(settings.holdout)  # type: ignore[arg-type]
        encoder = Encoder(_classes_of(resume), settings.class_weight, words_of(source))
    check_repeatable(source, settings, kept)
    prepared = Preparation(source, record, encoder, learner, plans=passes is None)
    prepared.text_weights = None if before is None else before.copy()
    prepared.scan()
    run = Run(
        source,
        record,
        prepared,
        kept,
        on_progress=on_progress,
        checkpoint=_checkpoint(checkpoint, every),
        memory=_limit(max_memory),
    )
    try:
        return run.go()
    finally:
        del run.batches  # they know each other: the model should not live until the collector comes


def _classes_of(model: Model) -> Classes | None:
    if model.classes is None:
        return None
    record = model.record
    return Classes(model.labels, fixed=record.classes_fixed, open_pair=record.classes_open)


def _checkpoint(
    checkpoint: str | os.PathLike[str] | Checkpoint | None, every: int | str | None
) -> Checkpoint | None:
    if checkpoint is None and every is not None:
        raise SettingsError(
            "every is how often a checkpoint is saved: name its file too (checkpoint)"
        )
    if checkpoint is None:
        return None
    from riata.training.safeguards import Checkpoint  # most runs do without

    return checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint, every)


def _limit(most: int | str | MemoryLimit | None) -> MemoryLimit | None:
    if most is None:
        return None
    from riata.training.safeguards import MemoryLimit  # most runs do without

    return most if isinstance(most, MemoryLimit) else MemoryLimit(most)


def partial_model(error: BaseException) -> Model | None:
    """The model as it was when `error` ended the training, or None where nothing was learned.

    `train(..., resume=partial_model(error))` goes on once the data is mended.
    """
    return getattr(error, "_riata_model", None)


def evaluate(model: Model, blocks: Iterable[Block]) -> dict[str, Any]:
    """Score labelled Blocks, or those of a source, and say how good it is: `metrics.Evaluation.result`."""
    from riata.metrics import Evaluation  # training does without

    encode = encode_for(model, blocks)
    evaluation = Evaluation(model.learner.task, model.learner.outputs)
    if hasattr(blocks, "schema"):  # a source
        check_hash_key(model.learner, blocks)
        from riata.sources.weighed import checked_and_weighed

        blocks = checked_and_weighed(cast("Source", blocks), model.schema)
    with closing(iterate(cast("Source", blocks))) as read:
        for block in read:
            evaluate_block(evaluation, model.learner, encode(block))
    return evaluation.result()
