"""train(): the only loop over passes and Blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from riata.batches import Batch, Batches, iterate, pieces, skip
from riata.block import Block
from riata.errors import DataError, DivergenceError, LostData, SettingsError
from riata.interrupt import Interrupt
from riata.labels import Encoder, count_labels
from riata.metrics import Evaluation
from riata.record import Model, Progress, Record, Settings

if TYPE_CHECKING:
    from riata.learners import Learner
    from riata.sources import Source

__all__ = ["Model", "Progress", "Record", "Settings", "evaluate", "partial_model", "train"]

Floats: TypeAlias = NDArray[np.float64]
MakeLearner: TypeAlias = "Callable[[int], Learner]"


def train(
    source: Source,
    learner: Learner | MakeLearner,
    *,
    passes: int | None = None,
    shuffle: int = 0,
    random_state: int = 0,
    holdout: float | Source = 0.0,
    patience: int | None = None,
    classes: Sequence[float] | Floats | str | None = None,
    class_weight: Mapping[float, float] | str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    resume: Model | None = None,
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
    classes: the labels of a classification; None takes them from the first Block, "scan" from a
        pass over the data before learning.
    class_weight: factors on the examples' weights, by label, or "balanced" (a pass beforehand).
    on_progress: called after a Block, when the number of examples reaches a power of two, and at
        the end of a pass.
    resume: a model from a run that was stopped: go on with it where it stopped, on the same data
        with the same settings. The result has the same bits as a run that was never stopped.
        `passes` may be raised. The model given is used up.

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
    run = _Run(source, on_progress)
    run.passes_given = passes is not None
    run.hold_out(holdout)
    if resume is None:
        run.settings = Settings(
            passes=1 if passes is None else passes,
            shuffle=shuffle,
            random_state=random_state,
            holdout=holdout if isinstance(holdout, int | float) else holdout.name,
            patience=patience,
        )
        run.start(learner, Encoder(classes, class_weight))
    else:
        given = {"shuffle": shuffle, "random_state": random_state, "holdout": holdout}
        run.go_on(resume, given, passes, patience)
    try:
        return run.go()
    finally:
        del run.batches  # they know each other: the model should not live until the collector comes


def partial_model(error: BaseException) -> Model | None:
    """The model as it was when `error` ended the training, or None where nothing was learned.

    `train(..., resume=partial_model(error))` goes on once the data is mended.
    """
    return getattr(error, "_riata_model", None)


def evaluate(model: Model, blocks: Iterable[Block]) -> dict[str, Any]:
    """Score labelled Blocks with a model and say how good it is: `metrics.Evaluation.result`."""
    encode = _real if model.classes is None else Encoder(model.classes).encode
    evaluation = Evaluation(model.learner.task, model.learner.outputs)
    for block in blocks:
        _evaluate_block(evaluation, model.learner, encode(block))
    return evaluation.result()


def _evaluate_block(evaluation: Evaluation, learner: Learner, block: Block) -> None:
    labels = cast(Floats, block.labels)
    scores = learner.score(block)
    losses = learner.losses(scores, labels)
    evaluation.add(scores, learner.probability(scores), labels, block.weights, losses)


class _Run:
    """One call of train(). What must outlive a stop is in the record and the learner alone."""

    settings: Settings
    record: Record
    passes_given = False
    learner: Learner | None = None
    make: MakeLearner | None = None
    encoder: Encoder

    def __init__(self, source: Source, on_progress: Callable[[Progress], None] | None) -> None:
        self.source, self.on_progress = source, on_progress
        self.started = time.perf_counter()
        self.learned_here = self.t_before = 0
        self.met = False
        self.interrupt = Interrupt()

    # Before the first example

    def hold_out(self, holdout: float | Source) -> None:
        if isinstance(holdout, int | float):
            self.fraction, self.holdout_source = float(holdout), None
        else:
            self.fraction, self.holdout_source = 0.0, holdout

    def start(self, learner: Learner | MakeLearner, encoder: Encoder) -> None:
        self.record = Record(data=[self.source.name], settings=self.settings)
        self._check_repeatable()
        if callable(learner):
            self.make = learner
        else:
            self.learner = learner
        self.encoder = encoder
        if encoder.wants_scan:
            self._scan()

    def _scan(self) -> None:
        """A pass over the labels alone."""
        if not self.source.repeatable:
            raise DataError(
                f"{self.source.name}: to find classes or balance their weights takes a pass before "
                f"learning, but this input can be read only once: save it to a file, or name them"
            )
        with closing(iterate(self.source)) as blocks:
            counts = count_labels(blocks)
        if len(counts) < 2:
            raise DataError(f"{self.source.name}: fewer than two classes among the labels")
        self.encoder.scan(counts)

    def go_on(
        self, model: Model, given: dict[str, Any], passes: int | None, patience: int | None
    ) -> None:
        record, defaults = model.record, Settings()
        settings = record.settings
        for name, value in given.items():
            value = value if isinstance(value, int | float) else value.name
            old = getattr(settings, name)
            if value not in (old, getattr(defaults, name)):
                raise SettingsError(f"the run to resume was started with {name}={old}, not {value}")
        if self.holdout_source is None and isinstance(settings.holdout, str):
            raise SettingsError(f"the run to resume had a holdout of its own: {settings.holdout}")
        if self.holdout_source is None:
            self.fraction = float(settings.holdout)
        self.settings = replace(
            settings,
            passes=settings.passes if passes is None else passes,
            patience=settings.patience if patience is None else patience,
        )
        stopped = record.stopped_early and patience is None and passes is None
        self.record = replace(
            record, settings=self.settings, interrupted=False, stopped_early=stopped
        )
        self._check_repeatable()
        self.learner = model.learner
        self.t_before = self.learner.t
        self.encoder = Encoder(model.classes, settings.class_weight, open_pair=record.classes_open)

    def _check_repeatable(self) -> None:
        if self.settings.passes > 1 and not self.source.repeatable:
            raise DataError(
                f"{self.source.name}: this input can be read only once, and this takes up to "
                f"{self.settings.passes} passes: save it to a file, or use --cache FILE"
            )
        holdout = self.holdout_source
        if holdout is not None and self.settings.passes > 1 and not holdout.repeatable:
            raise DataError(f"{holdout.name}: the holdout is read after every pass: use a file")

    def _meet(self, block: Block) -> None:
        """The first Block decides what was left open: classes, and with them the learner."""
        if self.learner is None:
            assert self.make is not None
            self.learner = self.make(1)
        if self.learner.task == "regression":
            if self.encoder.class_weight is not None:
                raise SettingsError("class_weight goes with classes; this loss is of a regression")
            return
        classes = self.encoder.settle(block)
        if self.learner.outputs != classes.outputs and self.make is not None:
            self.learner = self.make(classes.outputs)
        if self.learner.outputs != classes.outputs:
            raise SettingsError(
                f"{len(classes.values)} classes need a learner with {classes.outputs} outputs; "
                f"this one has {self.learner.outputs}"
            )
        self.settings = replace(self.settings, class_weight=self.encoder.weights_by_label)
        self.record.settings = self.settings

    def _plan(self) -> None:
        """A learner that counts its passes itself has its way, unless the caller said how many."""
        assert self.learner is not None
        planned = self.learner.planned_passes
        if planned is None or self.passes_given:
            return
        self.settings = replace(self.settings, passes=planned)
        self.record.settings = self.settings
        self._check_repeatable()

    # The loop

    def go(self) -> Model:
        self.batches = Batches(
            self.source,
            self._prepare,
            shuffle=self.settings.shuffle,
            random_state=self.settings.random_state,
            fraction=self.fraction,
        )
        try:
            with self.interrupt:
                while not self.record.complete:
                    self._one_pass()
                    self._check_source()
                    self._end_pass()
        except KeyboardInterrupt:
            self._check_source()
            if self.record.examples == 0 or not self._in_step():
                raise
            self.record.interrupted = True
        except (DivergenceError, LostData):
            self._check_source()
            raise
        except Exception as error:
            self._check_source()
            if self.record.examples:
                self.record.interrupted = True
                error._riata_model = self._model()  # type: ignore[attr-defined]
            if self.interrupt.pressed:  # what feeds a pipe dies of the same Ctrl-C, in mid-line
                if self.record.examples:
                    return self._model()
                raise KeyboardInterrupt from error
            raise
        return self._model()

    def _check_source(self) -> None:
        """LostData where a file that is mapped into memory was cut short while it was learned from."""
        check = getattr(self.source, "check", None)
        if check is not None:
            check()

    def _in_step(self) -> bool:
        """Whether the record accounts for all that was learned: not if a second Ctrl-C broke in."""
        return self.learner is not None and self.learner.t == self.t_before + self.learned_here

    def _model(self) -> Model:
        assert self.learner is not None
        classes = self.encoder.classes if self.learner.task == "classification" else None
        self.record.classes_open = classes is not None and classes.open_pair
        self.record.skipped = getattr(self.source, "skipped", 0)
        self.record.schema = getattr(self.source, "schema", None)
        return Model(self.learner, None if classes is None else classes.values, self.record)

    def _one_pass(self) -> None:
        to_skip = self.record.position
        with closing(self.batches.of_pass(self.record.passes)) as batches:
            while True:
                with self.interrupt.may_break():
                    batch = next(batches, None)
                if batch is None:
                    break
                block, order = batch
                rows = len(block) if order is None else len(order)
                if to_skip < rows:
                    self._learn(skip(batch, to_skip))
                to_skip = max(0, to_skip - rows)
        if to_skip:
            raise DataError(
                f"{self.source.name}: ended {to_skip:,} examples before the point where the run to "
                f"resume had stopped: this is not the data it learned from"
            )
        if self.record.position == 0:
            raise DataError(f"{self.source.name}: no examples to learn from")

    def _learn(self, batch: Batch) -> None:
        if self.on_progress is None:
            self._learn_piece(batch)
            return
        for piece in pieces(batch, self._to_power_of_two):
            self._learn_piece(piece)
            self._tell()

    def _to_power_of_two(self) -> int:
        return (1 << self.record.examples.bit_length()) - self.record.examples

    def _learn_piece(self, batch: Batch) -> None:
        assert self.learner is not None
        if self.learned_here == 0:
            self.t_before = self.learner.t
        block, order = batch
        scores = self.learner.learn(block, order)
        labels, weights = cast(Floats, block.labels), block.weights
        if order is not None:
            labels = labels[order]
            weights = None if weights is None else weights[order]
        losses = self.learner.losses(scores, labels)
        record = self.record
        record.loss.add(losses, weights)
        record.examples += len(losses)
        record.position += len(losses)
        self.learned_here += len(losses)

    def _tell(self, end_of_pass: bool = False) -> None:
        if self.on_progress is None:
            return
        assert self.learner is not None
        record = self.record
        self.on_progress(
            Progress(
                pass_number=record.passes + (0 if end_of_pass else 1),
                passes=self.settings.passes,
                examples=record.examples,
                bytes_read=self.source.bytes_read,
                n_bytes=self.source.n_bytes,
                loss_total=record.loss.total,
                loss_weight=record.loss.weight,
                holdout_loss=record.holdout["loss"] if record.holdout else None,
                seconds=time.perf_counter() - self.started,
                examples_here=self.learned_here,
                count_live=self.learner.n_live,
                end_of_pass=end_of_pass,
            )
        )

    def _end_pass(self) -> None:
        """Nothing goes to the record before all is known: a stop in here leaves the pass open."""
        assert self.learner is not None
        record = self.record
        if not record.pass_ended:  # before the holdout is scored: it may move the weights
            self.learner.end_pass()
            record.pass_ended = True
        with self.interrupt.may_break():
            result = self._score_holdout()
        entry = {
            "pass": record.passes + 1,
            "examples": record.examples,
            "loss": record.pass_loss,
            "holdout_loss": None if result is None else result["loss"],
            "live": self.learner.n_live(),
        }
        record.holdout = result
        record.history = [*record.history, entry]
        record.passes += 1
        record.position = 0
        record.loss_before_pass = replace(record.loss)
        record.pass_ended = False
        record.stopped_early = self.learner.complete or self._out_of_patience()
        if record.complete:
            self._finish()
        self._tell(end_of_pass=True)

    def _finish(self) -> None:
        """Some learners round at the very end: the holdout should speak of what they then are."""
        assert self.learner is not None
        live = self.record.history[-1]["live"]
        self.learner.finish()
        if self.record.holdout is not None and self.learner.n_live() != live:
            self.record.holdout = self._score_holdout()

    def _out_of_patience(self) -> bool:
        key = "loss" if self.fraction == 0 and self.holdout_source is None else "holdout_loss"
        losses = [entry[key] for entry in self.record.history]
        if self.settings.patience is None or None in losses:
            return False
        since_best = len(losses) - 1 - losses.index(min(losses))
        return since_best >= self.settings.patience and not self.record.complete

    def _score_holdout(self) -> dict[str, Any] | None:
        assert self.learner is not None
        if self.holdout_source is None and not self.batches.held_out:
            return None
        evaluation = Evaluation(self.learner.task, self.learner.outputs)
        if self.holdout_source is not None:
            with closing(iterate(self.holdout_source)) as blocks:
                for block in blocks:
                    _evaluate_block(evaluation, self.learner, self._encode(block))
            if evaluation.examples == 0:
                raise DataError(f"{self.holdout_source.name}: the holdout has no examples")
        for block in self.batches.held_out:
            _evaluate_block(evaluation, self.learner, block)
        return evaluation.result()

    def _prepare(self, block: Block) -> Block:
        """Class codes for labels, class weights into weights; the first Block settles both."""
        if not self.met:
            self._meet(block)
            self._plan()
            self.met = True
        return self._encode(block)

    def _encode(self, block: Block) -> Block:
        assert self.learner is not None
        return self.encoder.encode(block) if self.learner.task == "classification" else _real(block)


def _real(block: Block) -> Block:
    """A regression's labels stay what they are."""
    if block.labels is None:
        raise DataError(f"{block.where(0)}: the examples have no labels")
    return block
