"""What stands before the first example: settings, classes, and with them the learner."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from riata.batches import Batch, cut_batch, iterate, labels_in_order
from riata.block import Block, concatenate
from riata.errors import DataError, SettingsError
from riata.labels import LOOK_AT, in_words, outputs_for, words_of
from riata.record import Model, Record, Settings, check_hash_key, hash_key_of
from riata.training.encoder import Encoder, count_labels, with_labels

if TYPE_CHECKING:
    from riata.learners import Learner
    from riata.schema import Schema
    from riata.sources import Source
    from riata.text_weights import TextWeights
    from riata.training.run import Holdout

MakeLearner: TypeAlias = "Callable[[int], Learner]"
_SAY_JOINED = 3


class Preparation:
    """Labels to class codes, class weights into weights. The first Block decides what was left open."""

    def __init__(
        self,
        source: Source,
        record: Record,
        encoder: Encoder,
        learner: Learner | MakeLearner,
        *,
        plans: bool = False,
    ) -> None:
        self.source, self.record, self.encoder = source, record, encoder
        self.learner: Learner | None = None
        self._make: MakeLearner | None = None
        if callable(learner):
            self._make = learner
        else:
            self.learner = learner
        self._plans = plans
        """Whether a learner that counts its passes itself has its way."""
        self._prepared = False
        self.text_weights: TextWeights | None = None
        """What n-grams are worth by the texts learned so far, where they are weighed by that."""
        self._joined = 0
        """Classes that were not there at the start."""

    def scan(self) -> None:
        """A pass over the labels alone, where classes or weights are to be found in the data."""
        if not self.encoder.wants_scan:
            return
        if not self.source.repeatable:
            raise DataError(
                f"{self.source.name}: to find classes or balance their weights takes a pass before "
                f"learning, but this input can be read only once: save it to a file, or name them"
            )
        with closing(iterate(self.source)) as blocks:
            counts = count_labels(blocks, words_of(self.source))
        if len(counts) < 2:
            raise DataError(f"{self.source.name}: fewer than two classes among the labels")
        self.encoder.scan(counts)

    def encode(self, block: Block) -> Block:
        assert self.learner is not None
        if self.learner.task == "regression":
            return with_labels(block)
        return self.encoder.encode(block)

    def encode_of(self, source: Source) -> Callable[[Block], Block]:
        """What becomes of the labels of another source."""
        assert self.learner is not None
        if self.learner.task == "regression":
            return with_labels
        return self.encoder.encode_other(words_of(source))

    def first_rows(self, blocks: Generator[Block, None, None]) -> Generator[Block, None, None]:
        """The Blocks, once the first rows have decided what was left open, however they are cut up.

        What goes wrong while looking is raised again behind the Blocks before it.
        """
        if self._prepared:
            yield from blocks
            return
        if self.learner is None and self._make is not None:
            self.learner = self._make(1)
        assert self.learner is not None
        known = self.encoder.classes is not None or self.learner.task == "regression"
        wanted = 1 if known else LOOK_AT
        held: list[Block] = []
        fault: BaseException | None = None
        try:
            while sum(map(len, held)) < wanted and (block := next(blocks, None)) is not None:
                held += [block] if len(block) else []
        except GeneratorExit:
            raise
        except BaseException as error:  # also Ctrl-C: what was read before it is learned
            fault = error
        if held:
            self._prepare_for(concatenate(held) if len(held) > 1 else held[0])
            self._plan()
            self._prepared = True
        yield from held
        if fault is not None:
            raise fault
        yield from blocks

    def joining(self, batch: Batch) -> Generator[Batch, None, None]:
        """The batch, cut before each example whose class the learner does not have: it joins in between."""
        learner, classes = self.learner, self.encoder.classes
        if classes is None or learner is None or len(classes) <= max(2, learner.outputs):
            yield batch
            return
        while (codes := labels_in_order(batch)) is not None:
            late = np.flatnonzero(codes >= max(2, self.learner.outputs))  # type: ignore[union-attr]
            if not len(late):
                break
            before, batch = cut_batch(batch, int(late[0]))
            if late[0]:
                yield before
            self._widen(int(codes[late[0]]) + 1, batch)
        yield batch

    def complete(self) -> None:
        """A pass has ended. Classes that were seen only among the examples held out join, too."""
        if self.learner is None or self.learner.task == "regression":
            return
        self.encoder.complete(self.source.name)
        classes = self.encoder.classes
        if classes is not None and len(classes) > max(2, self.learner.outputs):
            self._widen(len(classes))

    def _widen(self, classes: int, batch: Batch | None = None) -> None:
        assert self.learner is not None
        assert self.encoder.classes is not None
        labels = self.encoder.classes.labels
        label, known = in_words(labels[classes - 1 : classes]), in_words(labels[: classes - 1])
        where = self.source.name
        if batch is not None:
            block, order = batch
            where = block.where(0 if order is None else int(order[0]))
        try:
            self.learner = self.learner.with_outputs(outputs_for(classes))
        except ValueError as error:
            raise DataError(
                f"{where}: label {label} is new, after {known}: {error} (--classes LIST, or --classes "
                f"scan to find them in a first pass)"
            ) from None
        self._joined += 1
        if self._joined <= _SAY_JOINED:
            more = "; of others that follow nothing is said" if self._joined == _SAY_JOINED else ""
            warnings.warn(
                f"{where}: label {label} is new, and joins the classes {known}; with --classes scan "
                f'(classes="scan") all are known from the first example on{more}',
                stacklevel=2,
            )

    def model(self, **changes: Any) -> Model:
        """The model as it is now; `changes` are of its record, which is then a copy."""
        assert self.learner is not None
        classes = self.encoder.classes if self.learner.task == "classification" else None
        self.record.classes_open = classes is not None and classes.open_pair
        self.record.classes_fixed = classes is not None and classes.fixed
        self.record.skipped = getattr(self.source, "skipped", 0)
        schema: Schema | None = getattr(self.source, "schema", None)
        if schema is not None and self.text_weights is not None:
            schema = replace(schema, text_weights=self.text_weights)
        self.record.schema = schema
        record = replace(self.record, **changes) if changes else self.record
        most = max(2, self.learner.outputs)  # others were read, and wait to be learned
        return Model(self.learner, None if classes is None else classes.array(most), record)

    def _prepare_for(self, block: Block) -> None:
        self._find_outputs(block)
        assert self.learner is not None
        check_hash_key(self.learner, self.source)
        self.learner.use_hash_key(hash_key_of(self.source))
        schema: Schema | None = getattr(self.source, "schema", None)
        if self.learner.by_feature:
            from riata.training.by_name import check_features  # few have such settings

            most = getattr(self.source, "most_features", None)
            check_features(self.learner, schema, self.source.name, most)
        if schema is not None and getattr(self.learner, "bounds", None) is not None:
            from riata.training.by_name import warn_of_scaled

            warn_of_scaled(self.learner, schema, self.source.name)
        if schema is not None and schema.is_weighed:
            from riata.text_weights import with_weights  # most data has no texts

            check_takes_weighed(self.learner)
            self.text_weights = with_weights(schema, self.text_weights).text_weights
        else:
            self.text_weights = None

    def weigh(self, block: Block) -> Block:
        """Rows to be scored."""
        return block if self.text_weights is None else self.text_weights.weigh(block)

    def weigh_to_learn(self, batch: Batch, count: bool) -> Batch:
        """Rows to be learned; `count`: for the first time, so that each is weighed by those before it."""
        if self.text_weights is None:
            return batch
        block, order = batch
        if order is not None:
            block = block.take(order)
        return (self.text_weights.learn if count else self.text_weights.weigh)(block), None

    def take_back(self, batch: Batch, learned: int) -> None:
        """Only so many of the rows of a batch could be learned."""
        if self.text_weights is not None:
            self.text_weights.take_back(batch[0][learned:])

    def _find_outputs(self, block: Block) -> None:
        assert self.learner is not None
        if self.learner.task == "regression":
            if self.encoder.class_weight is not None:
                raise SettingsError("class_weight goes with classes; this loss is of a regression")
            words = [word for word in words_of(self.source)() or () if isinstance(word, str)]
            if words:
                raise DataError(
                    f"{block.where(0)}: the labels are words, {in_words(words)}, and this loss is of a "
                    f"regression, which predicts numbers: choose another one, such as --loss logistic"
                )
            return
        rows = LOOK_AT if self.learner.takes_more_classes else None
        classes = self.encoder.find_classes(block, rows)
        if self.learner.outputs != classes.outputs and self._make is not None:
            self.learner = self._make(classes.outputs)
        if self.learner.outputs != classes.outputs:
            raise SettingsError(
                f"{len(classes)} classes need a learner with {classes.outputs} outputs; "
                f"this one has {self.learner.outputs}"
            )
        settings = replace(self.record.settings, class_weight=self.encoder.weights_by_label)
        self.record.settings = settings

    def _plan(self) -> None:
        assert self.learner is not None
        planned = self.learner.planned_passes
        if planned is None or not self._plans:
            return
        self.record.settings = replace(self.record.settings, passes=planned)
        check_repeatable(self.source, self.record.settings)


def check_takes_weighed(learner: Learner) -> None:
    """Refuse learners that need the same rows in every pass, to add them up or to prove what they found."""
    if learner.planned_passes is not None or hasattr(learner, "certify"):
        raise SettingsError(
            f"inverse document frequencies grow on the way, and --method {learner.family} needs the same values "
            "in every pass: leave --text-idf (text_idf) out, or choose another method"
        )


def check_repeatable(source: Source, settings: Settings, holdout: Holdout | None = None) -> None:
    """Several passes need input that can be read again."""
    if settings.passes > 1 and not source.repeatable:
        raise DataError(
            f"{source.name}: this input can be read only once, and this takes up to "
            f"{settings.passes} passes: save it to a file, or use --cache FILE"
        )
    kept = None if holdout is None else holdout.source
    if kept is not None and settings.passes > 1 and not kept.repeatable:
        raise DataError(f"{kept.name}: the holdout is read after every pass: use a file")


def record_to_resume(
    old: Record, given: dict[str, Any], passes: int | None, patience: int | None
) -> Record:
    """The record of a run that was stopped, to go on with. `given` settings must be as they were, or left out."""
    settings, defaults = old.settings, Settings()
    for name, value in given.items():
        before = getattr(settings, name)
        if value not in (before, getattr(defaults, name)):
            raise SettingsError(f"the run to resume was started with {name}={before}, not {value}")
    if isinstance(settings.holdout, str) and not isinstance(given["holdout"], str):
        raise SettingsError(f"the run to resume had a holdout of its own: {settings.holdout}")
    settings = replace(
        settings,
        passes=settings.passes if passes is None else passes,
        patience=settings.patience if patience is None else patience,
    )
    stopped = old.stopped_early and patience is None and passes is None
    return replace(old, settings=settings, interrupted=False, stopped_early=stopped)
