"""The loop over passes and Blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from riata.batches import Batch, Batches, Watch, iterate, n_rows, pieces, skip
from riata.block import Block
from riata.errors import ChangedData, DataError, DivergenceError, LostData, RefusedExample
from riata.metrics_running import LabelOrder
from riata.record import Model, Progress, Record, check_hash_key
from riata.sources.source import unweighed
from riata.training.preparation import Preparation
from riata.training.safeguards import Interrupt

if TYPE_CHECKING:
    from riata.learners import Learner
    from riata.metrics import Evaluation
    from riata.sources import Source
    from riata.training.safeguards import Checkpoint, MemoryLimit

Floats: TypeAlias = NDArray[np.float64]

MOST_AT_ONCE = 65_536
"""Examples that are learned before somebody looks at the clock."""


class Run:
    """One call of train(). What must outlive a stop is in the record and the learner alone."""

    def __init__(
        self,
        source: Source,
        record: Record,
        prepared: Preparation,
        holdout: Holdout,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        checkpoint: Checkpoint | None = None,
        memory: MemoryLimit | None = None,
    ) -> None:
        self.source, self.record, self.prepared, self.holdout = source, record, prepared, holdout
        self.on_progress, self.checkpoint, self.memory = on_progress, checkpoint, memory
        self.started = time.perf_counter()
        self.learned_here = 0
        self.t_before = 0 if prepared.learner is None else prepared.learner.t
        self.order: LabelOrder | None = LabelOrder()
        """Of the first pass; None once something was said about it."""
        self.interrupt = Interrupt(sigterm=checkpoint is not None)
        resumed = record.examples > 0
        self.watch = Watch(source.name, record.seen if resumed else None, record.data)
        record.seen = self.watch.seen
        settings = record.settings
        self.batches = Batches(
            source,
            prepared.encode,
            look_ahead=prepared.first_rows,
            shuffle=settings.shuffle,
            random_state=settings.random_state,
            fraction=holdout.fraction,
            watch=self.watch,
        )
        if checkpoint is not None:
            checkpoint.begin(record.examples)

    @property
    def learner(self) -> Learner:
        assert self.prepared.learner is not None
        return self.prepared.learner

    def go(self) -> Model:
        try:
            with self.interrupt:
                model = self._go()
                if self.interrupt.told_to_die and self.checkpoint is not None:
                    self.checkpoint.save(model)
        finally:
            self.interrupt.die_if_told()
        return model

    def _go(self) -> Model:
        try:
            while not self.record.complete:
                self._one_pass()
                self._check_source()
                self._end_pass()
        except KeyboardInterrupt:
            self._check_source()
            if self.record.examples == 0 or not self._in_step():
                raise
            self.record.interrupted = True
        except (DivergenceError, LostData, ChangedData):
            self._check_source()
            raise
        except Exception as error:
            self._check_source()
            self.watch.forget_the_rest()
            if self.record.examples and self._in_step():
                self.record.interrupted = True
                error._riata_model = self.prepared.model()  # type: ignore[attr-defined]
            if self.interrupt.pressed:  # what writes to a pipe dies of the same Ctrl-C, in mid-line
                if self.record.interrupted:
                    return self.prepared.model()
                raise KeyboardInterrupt from error
            raise
        return self.prepared.model()

    def _check_source(self) -> None:
        """LostData where a cache was cut short or changed while it was learned from."""
        check = getattr(self.source, "check", None)
        if check is not None:
            check()

    def _in_step(self) -> bool:
        """Whether the record accounts for all that was learned: not if something broke into a Block."""
        learner = self.prepared.learner
        return learner is not None and learner.t == self.t_before + self.learned_here

    def _one_pass(self) -> None:
        to_skip = self.record.position
        with closing(self.batches.of_pass(self.record.passes)) as batches:
            while True:
                with self.interrupt.may_break():
                    batch = next(batches, None)
                if batch is None:
                    break
                rows = n_rows(batch)
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
        self.watch.end()

    def _learn(self, batch: Batch) -> None:
        if self.on_progress is None and self.checkpoint is None:
            self._learn_piece(batch)
        else:
            for piece in pieces(batch, self._to_learn_at_once):
                self._learn_piece(piece)
                self._tell()
                self._save_if_due()
        self.watch.remember_place()
        if self.memory is not None:
            self.memory.check()

    def _to_learn_at_once(self) -> int:
        examples = self.record.examples
        most = MOST_AT_ONCE
        if self.on_progress is not None:
            most = min(most, (1 << examples.bit_length()) - examples)
        return most if self.checkpoint is None else self.checkpoint.to_go(examples, most)

    def _learn_piece(self, batch: Batch) -> None:
        if self.learned_here == 0:
            self.t_before = self.learner.t
        for part in self.prepared.joining(batch):
            self._learn_rows(part)

    def _learn_rows(self, batch: Batch) -> None:
        if self.memory is not None:
            self.memory.to_save = self.learner.to_save
            if self.memory.for_model is not None:
                self.learner.limit_memory(self.memory.for_model)
        first = self.record.passes == 0
        batch = self.prepared.weigh_to_learn(batch, count=first)
        try:
            scores = self.learner.learn(*batch)
        except RefusedExample as error:
            if first:
                self.prepared.take_back(batch, len(error.scores))
            self._account_for(batch, error.scores)
            raise
        self._account_for(batch, scores)

    def _account_for(self, batch: Batch, scores: Floats) -> None:
        """The first examples of a batch were learned, with these scores."""
        block, order = batch
        labels, weights = cast(Floats, block.labels), block.weights
        if order is not None:
            labels = labels[order]
            weights = None if weights is None else weights[order]
        if len(scores) < len(labels):
            labels = labels[: len(scores)]
            weights = None if weights is None else weights[: len(scores)]
        if self.order is not None and self._order_matters():
            self.order.add(labels)
            self._warn_of_order(self.order.sorted_so_far)
        losses = self.learner.losses(scores, labels)
        record = self.record
        record.account_for(losses, labels, weights, classes=self.learner.task != "regression")
        record.position += len(losses)
        self.learned_here += len(losses)

    def _order_matters(self) -> bool:
        """Whether there are classes, and a learner that does not find the same solution in any order."""
        return self.learner.task != "regression" and (self.learner.planned_passes or 1) == 1

    def _warn_of_order(self, is_odd: bool) -> None:
        if is_odd and self.order is not None:
            from riata.training.label_order import warn_of_order  # most data is in no order

            warn_of_order(self.order, self.prepared.encoder.classes, self.source.name)
            self.order = None

    def _save_if_due(self) -> None:
        checkpoint = self.checkpoint
        # Not before the data is known to be that of the run to resume: this may replace its checkpoint.
        if checkpoint is not None and checkpoint.due(self.record.examples) and self.watch.verified:
            seen = replace(self.watch.seen, place=self.watch.here())
            checkpoint.save(self.prepared.model(interrupted=True, seen=seen))

    def _so_far(self) -> Model:
        return self.prepared.model(interrupted=True)

    def _tell(self, end_of_pass: bool = False) -> None:
        if self.on_progress is None:
            return
        record = self.record
        self.on_progress(
            Progress(
                pass_number=record.passes + (0 if end_of_pass else 1),
                passes=record.settings.passes,
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
                model=self._so_far,
            )
        )

    def _end_pass(self) -> None:
        """Nothing goes to the record before all is known: a stop in here leaves the pass open."""
        record = self.record
        self.prepared.complete()
        if self.order is not None:
            self._warn_of_order(self.order.is_odd)
        self.order = None
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
        live = self.record.history[-1]["live"]
        self.learner.finish()
        polished = self._certify()
        if self.record.holdout is not None and (polished or self.learner.n_live() != live):
            self.record.holdout = self._score_holdout()
        if self.learner.by_feature:
            from riata.training.by_name import warn_of_unseen  # few have such settings

            warn_of_unseen(self.learner, self.source.name)

    def _certify(self) -> bool:
        """For a learner that can prove how far the optimum is, another pass over the same examples. Whether it is there
        now. Not where it has learned other data before, of which nothing would be proved, and which it would forget."""
        certify = getattr(self.learner, "certify", None)
        learned_more = self.learner.t != self.record.examples
        if certify is None or not self.source.repeatable or learned_more:
            return False
        again = Batches(self.source, self.prepared.encode, fraction=self.holdout.fraction)
        with closing(again.of_pass(0)) as batches:
            rows = (block if order is None else block.take(order) for block, order in batches)
            certify(rows, polish=True)
        return bool(getattr(self.learner, "polishes", False))

    def _out_of_patience(self) -> bool:
        losses = [e["holdout_loss" if self.holdout else "loss"] for e in self.record.history]
        patience = self.record.settings.patience
        if patience is None or None in losses:
            return False
        since_best = len(losses) - 1 - losses.index(min(losses))
        return since_best >= patience and not self.record.complete

    def _score_holdout(self) -> dict[str, Any] | None:
        return self.holdout.score(
            self.learner, self.batches.held_out, self.prepared.encode_of, self.prepared.weigh
        )


class Holdout:
    """Examples that are never learned: a fraction of the data, or a source of its own."""

    def __init__(self, holdout: float | Source) -> None:
        if isinstance(holdout, int | float):
            self.fraction, self.source = float(holdout), None
        else:
            self.fraction, self.source = 0.0, unweighed(holdout)

    def __bool__(self) -> bool:
        return self.fraction > 0 or self.source is not None

    @property
    def setting(self) -> float | str:
        """As settings keep it."""
        return self.fraction if self.source is None else self.source.name

    def score(
        self,
        learner: Learner,
        held_out: Iterable[Block],
        encode: Callable[[Source], Callable[[Block], Block]],
        weigh: Callable[[Block], Block] = lambda block: block,
    ) -> dict[str, Any] | None:
        """What `metrics.Evaluation` says of the examples held out; None where there are none.

        `encode` says what becomes of the labels of a source, `weigh` of the values of texts.
        """
        if not self:
            return None
        from riata.metrics import Evaluation  # few runs hold anything out

        evaluation = Evaluation(learner.task, learner.outputs)
        if self.source is not None:
            check_hash_key(learner, self.source)
            prepare = encode(self.source)
            with closing(iterate(self.source)) as blocks:
                for block in blocks:
                    evaluate_block(evaluation, learner, weigh(prepare(block)))
            if evaluation.examples == 0:
                raise DataError(f"{self.source.name}: the holdout has no examples")
        for block in held_out:
            evaluate_block(evaluation, learner, weigh(block))
        return evaluation.result() if evaluation.examples else None


def evaluate_block(evaluation: Evaluation, learner: Learner, block: Block) -> None:
    labels = cast(Floats, block.labels)
    scores = learner.score(block)
    losses = learner.losses(scores, labels)
    evaluation.add(scores, learner.probability(scores), labels, block.weights, losses)
