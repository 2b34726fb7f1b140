"""What stands before the first example: settings, classes, and with them the learner."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from riata.batches import iterate
from riata.block import Block
from riata.errors import DataError, SettingsError
from riata.labels import Encoder, count_labels
from riata.record import Model, Record, Settings
from riata.training.holdout import Holdout, with_labels

if TYPE_CHECKING:
    from riata.learners import Learner
    from riata.sources import Source

MakeLearner: TypeAlias = "Callable[[int], Learner]"


class Preparation:
    """Labels to class codes, class weights into weights. The first Block settles what was left open."""

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
        self._met = False

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
            counts = count_labels(blocks)
        if len(counts) < 2:
            raise DataError(f"{self.source.name}: fewer than two classes among the labels")
        self.encoder.scan(counts)

    def prepare(self, block: Block) -> Block:
        if not self._met:
            self._meet(block)
            self._plan()
            self._met = True
        return self.encode(block)

    def encode(self, block: Block) -> Block:
        assert self.learner is not None
        if self.learner.task == "regression":
            return with_labels(block)
        return self.encoder.encode(block)

    def model(self, **changes: Any) -> Model:
        """The model as it is now; `changes` are of its record, which is then a copy."""
        assert self.learner is not None
        classes = self.encoder.classes if self.learner.task == "classification" else None
        self.record.classes_open = classes is not None and classes.open_pair
        self.record.skipped = getattr(self.source, "skipped", 0)
        self.record.schema = getattr(self.source, "schema", None)
        record = replace(self.record, **changes) if changes else self.record
        return Model(self.learner, None if classes is None else classes.values, record)

    def _meet(self, block: Block) -> None:
        if self.learner is None:
            assert self._make is not None
            self.learner = self._make(1)
        if self.learner.task == "regression":
            if self.encoder.class_weight is not None:
                raise SettingsError("class_weight goes with classes; this loss is of a regression")
            return
        classes = self.encoder.settle(block)
        if self.learner.outputs != classes.outputs and self._make is not None:
            self.learner = self._make(classes.outputs)
        if self.learner.outputs != classes.outputs:
            raise SettingsError(
                f"{len(classes.values)} classes need a learner with {classes.outputs} outputs; "
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
