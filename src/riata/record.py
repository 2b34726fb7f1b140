"""What a training run hands on: Progress on the way, the Model, the Record of how it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riata.batches import Seen
from riata.errors import SettingsError
from riata.labels import Label, as_python
from riata.metrics_running import LabelSums, Mean, sparsity
from riata.schema import Schema
from riata.show import count, percent, plural

if TYPE_CHECKING:
    from riata.learners import Learner


@dataclass(frozen=True)
class Settings:
    """How the examples are led past the learner. Checked on creation."""

    passes: int = 1
    shuffle: int = 0
    random_state: int = 0
    holdout: float | str = 0.0
    """A fraction of the examples, or the name of a source of its own."""
    patience: int | None = None
    class_weight: list[tuple[Label, float]] | None = None
    """Label and factor, resolved: `"balanced"` is stored as the factors that it came to."""

    def __post_init__(self) -> None:
        if self.passes < 1:
            raise SettingsError(f"passes must be at least 1, not {self.passes}")
        if self.shuffle < 0:
            raise SettingsError(f"shuffle is a number of rows, 0 for none, not {self.shuffle}")
        if self.random_state < 0:
            raise SettingsError(f"random_state must not be negative, not {self.random_state}")
        if isinstance(self.holdout, float) and not 0 <= self.holdout < 1:
            raise SettingsError(
                f"holdout is a fraction, at least 0 and below 1, not {self.holdout}"
            )
        if self.patience is not None and self.patience < 1:
            raise SettingsError(f"patience is a number of passes, at least 1, not {self.patience}")


EVENTS = ["single events"]
"""The data of a model that began with them."""


@dataclass
class Record:
    """How a model was made, as far as it has got. Values that JSON holds, and no clock times:
    the same data and settings give the same record.

    >>> record = Record(data=["train.svm"], settings=Settings(passes=3))
    >>> Record.from_json(record.to_json()) == record
    True
    """

    data: list[str]
    settings: Settings
    examples: int = 0
    """Examples learned, over all passes."""
    passes: int = 0
    """Passes completed."""
    position: int = 0
    """Examples learned in the pass that is not complete."""
    pass_ended: bool = False
    """The learner knows that this pass has ended; the holdout is still to be scored."""
    loss: Mean = field(default_factory=Mean)
    """Progressive: every example was scored before it was learned."""
    log_loss_of: int = 0
    """So many classes `loss` is the log loss of, where one linear model stands for settings that shared their
    probability; 0: it is the loss of the learner."""
    loss_before_pass: Mean = field(default_factory=Mean)
    """What `loss` was when the pass that is not complete began."""
    loss_after_first: Mean = field(default_factory=Mean)
    """Of a regression, `loss` without the first example: before it nothing is known of where labels lie, so that it may
    cost more than all others."""
    labels: LabelSums = field(default_factory=LabelSums)
    """Of all examples learned: what a constant prediction would have lost."""
    history: list[dict[str, Any]] = field(default_factory=list)
    """One entry a completed pass: pass, examples, loss, holdout_loss, live."""
    holdout: dict[str, Any] | None = None
    """What `metrics.Evaluation` said of the held-out examples after the last completed pass."""
    classes_open: bool = False
    """The only label so far was 1: that the other one is 0 is a guess, to be replaced by what comes."""
    classes_fixed: bool = False
    """All classes were known from the start: other labels are an error, and do not join."""
    skipped: int = 0
    """Lines of the data that could not be read and were left out, in the last pass."""
    schema: Schema | None = None
    """What the features are: columns and their kinds, buckets, names of labels. Data that the model is used on
    is read in the same way."""
    seen: Seen = field(default_factory=Seen)
    """Fingerprints of the examples that were read: a run that goes on compares them with what it reads."""
    interrupted: bool = False
    stopped_early: bool = False
    earlier: list[dict[str, Any]] = field(default_factory=list)
    """Summaries of the runs that the learner went through before this one."""
    merged: list[dict[str, Any]] = field(default_factory=list)
    """Summaries of the runs whose models were put together into this one."""
    shards: dict[str, Any] | None = None
    """Where it was trained shard by shard: how many there are, and what tells them from others."""

    @property
    def hash_key(self) -> bytes | None:
        """By which names were hashed, where it was not by the default."""
        return hash_key_of(self)

    @property
    def progressive_loss(self) -> float | None:
        """Mean loss of every example before it was learned, weighted; None before the first one."""
        return self.loss.value

    @property
    def judged_loss(self) -> float | None:
        """The loss to compare with that of a constant prediction."""
        after_first = self.loss_after_first.value
        return self.progressive_loss if after_first is None else after_first

    @property
    def pass_loss(self) -> float | None:
        """Progressive loss of the pass that is not complete."""
        before = self.loss_before_pass
        return Mean(self.loss.total - before.total, self.loss.weight - before.weight).value

    @property
    def data_before(self) -> list[str]:
        """What the learner had learned from when this run began."""
        return [name for run in self.earlier for name in run["data"]]

    @property
    def complete(self) -> bool:
        return self.stopped_early or self.passes >= self.settings.passes

    def account_for(
        self,
        losses: NDArray[np.float64],
        labels: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        *,
        classes: bool,
    ) -> None:
        """Examples were learned; before that, each had this loss."""
        self.loss.add(losses, weights)
        if not classes:
            begin = 1 if self.examples == 0 else 0
            self.loss_after_first.add(losses[begin:], None if weights is None else weights[begin:])
        self.labels.add(labels, weights, classes=classes)
        self.examples += len(losses)

    def with_loss(self, loss: Mean) -> Record:
        """The same of a model that was learned beside this one, with this loss."""
        return replace(
            self,
            loss=replace(loss),
            loss_before_pass=replace(loss),
            loss_after_first=Mean(),
            history=[],
        )

    def to_json(self) -> dict[str, Any]:
        schema = self.schema
        if schema is None and self.data == EVENTS:
            schema = Schema(open=True)
        known = None if schema is None else schema.to_json()
        return asdict(replace(self, schema=None)) | {"schema": known}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Record:
        known = {f.name for f in fields(cls)}
        if "fitted" in values:  # what early versions of 0.1 called the schema
            values = {"schema": values["fitted"]} | values
        values = {k: v for k, v in values.items() if k in known}
        settings = dict(values["settings"])
        if settings.get("class_weight") is not None:
            settings["class_weight"] = [
                (as_python(k), float(v)) for k, v in settings["class_weight"]
            ]
        values["settings"] = Settings(**settings)
        if values.get("schema") is not None:
            values["schema"] = Schema.from_json(values["schema"])
        elif values["data"] == EVENTS:  # of before
            values["schema"] = Schema(open=True, truths=False)
        for name in ("loss", "loss_before_pass", "loss_after_first"):
            values[name] = Mean(**values.get(name, {}))
        if "labels" in values:
            values["labels"] = LabelSums.from_json(values["labels"])
        if "seen" in values:  # models of before 0.1.0 have none
            values["seen"] = Seen(**values["seen"])
        return cls(**values)

    def summary(self) -> dict[str, Any]:
        """What a later run says of this one."""
        return {
            "data": self.data,
            "examples": self.examples,
            "passes": self.passes,
            "progressive_loss": self.progressive_loss,
        }


@dataclass
class Model:
    """A learner, the classes that its codes stand for, and how it came to be."""

    learner: Learner
    classes: NDArray[Any] | None
    """Code i means classes[i]: words, bools or numbers, as the data had them. Those of the first examples are
    ascending, later ones follow as they came. None for a regression."""
    record: Record
    beside: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False, compare=False)
    """What another round over the shards needs besides the learner's state; empty where there were no shards."""

    labels: list[Any] = field(init=False, repr=False, compare=False)
    """The classes as Python has them."""
    codes: dict[Any, float] = field(init=False, repr=False, compare=False)
    """The code of each class."""
    _read_event: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    _read_by: Schema | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.labels = [] if self.classes is None else list(self.classes.tolist())
        self.codes = {label: float(code) for code, label in enumerate(self.labels)}

    @property
    def loss_name(self) -> str:
        """What is minimised; families that have no choice of it have log loss or squares."""
        learner = self.learner
        default = "squared" if self.classes is None else "logistic"
        name: str = getattr(learner, "loss", None) or getattr(learner, "link", None) or default
        return {"logit": "logistic"}.get(name, name)

    @property
    def loss_in_words(self) -> str:
        """The loss that is shown while it learns; of classes each against the rest it is no log loss."""
        outputs = self.learner.outputs
        if getattr(self.learner, "shares", False) or self.record.log_loss_of:
            return f"log loss of {outputs} classes"
        return self.loss_name + (
            f" of {outputs} classes, each against the rest, added up" if outputs > 1 else ""
        )

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_read_event": None, "_read_by": None}

    def event(self, x: Mapping[str, Any]) -> Mapping[str, Any]:
        """The names and values of the features of a dict, read as the rows were that the model learned from."""
        if self._read_by is not self.record.schema:
            from riata.sources.events import event_reader

            self._read_event = event_reader(self.record.schema, for_core=True)
            self._read_by = self.record.schema
        return x if self._read_event is None else self._read_event(x)

    def learn_read(self, x: Mapping[str, Any], code: float, weight: float) -> None:
        """Learn one event that is read by the schema, with the learner's lock held. Its texts count for those
        that come."""
        self.learner.learn_one(self.event(x), code, weight)
        schema = self._read_by
        if self._read_event is not None and schema is not None and schema.text_weights is not None:
            from riata.sources.events import event_row

            schema.text_weights.learn(event_row(x, schema))

    def on_original_scale(
        self, names: Sequence[str], weights: NDArray[np.float64], intercept: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights (features, outputs) and intercepts for numbers as they stand in the data."""
        features = (self.schema or Schema()).features
        scaled = {c.name: c for c in features if c.kind == "number" and c.is_changed}
        places = [i for i, name in enumerate(names) if name in scaled]
        if not places:
            return weights, intercept
        weights = weights.copy()
        weights[places] /= np.array([scaled[names[i]].scale for i in places])[:, None]
        centres = np.array([scaled[names[i]].centre for i in places])
        return weights, intercept - centres @ weights[places]

    def weights_in_words(self, live: int | None = None, live_features: int | None = None) -> str:
        """How many weights are not zero, of how many that could be; counted here unless they are given.

        Of named features only those are known that have a weight.
        """
        learner = self.learner
        outputs, live = learner.outputs, learner.n_live() if live is None else live
        if learner.names(np.empty(0, dtype=np.int64)) is None:
            features = f"{count(learner.n_features)} features"
            total = learner.n_features * outputs
        elif outputs == 1:
            return f"{count(live)} not zero"
        else:
            known = learner.n_features if live_features is None else live_features
            features, total = plural(known, "feature"), known * outputs
        of = features if outputs == 1 else f"{features} x {outputs} classes"
        return f"{count(live)} not zero, of {of} ({percent(sparsity(live, total), 2)} zero)"

    @property
    def constant_loss(self) -> float | None:
        """The loss that always predicting the same would have had on the examples that were learned; None where
        that is not known."""
        labels, record, learner = self.record.labels, self.record, self.learner
        weight = sum(labels.classes) if labels.classes else labels.square.weight
        if weight <= 0 or abs(weight - record.loss.weight) > 1e-9 * weight:
            return None
        if not labels.classes and getattr(learner, "loss", "squared") != "squared":
            return None  # what the sums tell is a bound alone
        if record.log_loss_of:
            shares = np.array([each / weight for each in labels.classes if each > 0])
            return float(-(shares * np.log(shares)).sum())
        return labels.constant_loss(learner.losses, learner.outputs)

    def collapsed(self, sparse: float = 0.0) -> Model:
        """One linear model in the place of all settings of `auto`; the record is that of their predictions."""
        learner: Any = self.learner
        classes = learner.outputs if getattr(learner, "shares", False) else 0
        record = replace(self.record, log_loss_of=classes)
        return Model(learner.collapse(sparse), self.classes, record)

    @property
    def schema(self) -> Schema | None:
        """What the features are; of a model that was saved without a schema what its weights tell."""
        if self.record.schema is not None or self.learner.t == 0:
            return self.record.schema
        if self.learner.names(np.empty(0, dtype=np.int64)) is not None:
            return Schema(open=True)
        return None


@dataclass(frozen=True)
class Progress:
    """Where a run is. `n_live` counts weights when asked: not for every block, please."""

    pass_number: int
    passes: int
    examples: int
    bytes_read: int
    n_bytes: int | None
    loss_total: float
    loss_weight: float
    holdout_loss: float | None
    """After the last completed pass."""
    seconds: float
    """Since this call of `train` started."""
    examples_here: int
    """Learned in this call of `train`: fewer than `examples` after a resume."""
    count_live: Callable[[], int]
    end_of_pass: bool = False
    model: Callable[[], Model] | None = None
    """The model as it is now, its learner being the one that goes on learning."""

    @property
    def loss(self) -> float | None:
        """Progressive loss since the start."""
        return self.loss_total / self.loss_weight if self.loss_weight > 0 else None

    def loss_since(self, earlier: Progress | None) -> float | None:
        """Progressive loss of the examples learned after `earlier`."""
        if earlier is None:
            return self.loss
        weight = self.loss_weight - earlier.loss_weight
        return (self.loss_total - earlier.loss_total) / weight if weight > 0 else None

    @property
    def n_live(self) -> int:
        """Weights that are not zero now."""
        return self.count_live()

    @property
    def examples_per_second(self) -> float:
        return self.examples_here / self.seconds if self.seconds > 0 else 0.0


def hash_key_of(source: Any) -> bytes | None:
    """By which the names of a source's features were hashed, where it was not by the default."""
    schema: Schema | None = getattr(source, "schema", None)
    key = None if schema is None else schema.hash_key
    return None if key is None else bytes.fromhex(key)


def check_hash_key(learner: Learner, source: Any) -> None:
    """The same name must be the same feature to both."""
    key, known = hash_key_of(source), learner.hash_key
    if key == known or (known is None and learner.t == 0):
        return
    theirs, ours = ("the default" if k is None else k.hex() for k in (key, known))
    raise SettingsError(
        f"{source.name}: the names of its features are hashed by another key than the model's ({theirs}, not "
        f"{ours}): open it with the model's, open_source(..., hash_key=...) or schema=model.schema"
    )
