"""What the first-order learners share: losses, learning rates, intercept, row scaling, the compiled model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata._core import Linear as CoreLinear
from riata.block import Block, NameListBlock
from riata.errors import DivergenceError
from riata.learners.base import (
    CompiledLearner,
    Floats,
    State,
    check_choice,
    check_number,
    only_keys,
    option,
    store_option,
)
from riata.learners.classes import in_proportion, of_log_odds
from riata.learners.feature_scale import Scale, ScalesFeatures, scale_option
from riata.learners.state_check import NAMES, SCALE_STATE, Tensor, check_known, check_state
from riata.learners.stores import StoredLearner

_learn_event, _score_event = _core.learn_event, _core.score_event

LOSSES = {
    name: (classification, probabilities, parameter)
    for name, classification, probabilities, parameter in _core.losses()
}
RATES = tuple(_core.schedules())
NORMALIZE = ("none", "l2", "sqrt_nnz")
STATE = {
    "keys": Tensor("int64", ("n",), least=0),
    "rows": Tensor("float64", ("n", "width")),
    "clock": Tensor(
        "float64", ("rule_state",)
    ),  # the name that files have for the state of the rule
    "intercept": Tensor("float64", ("outputs",)),
    "seen": Tensor("int64", (2,), least=0),
    "rate_factor": Tensor("float64", (1,)),
} | NAMES


def diverged(block: Block, order: NDArray[np.int64] | None, done: int, why: str) -> DivergenceError:
    """The error of a Block of which only `done` rows could be learned."""
    return DivergenceError(f"{block.where(done if order is None else int(order[done]))}: {why}")


class LossLearner(CompiledLearner):
    """A learner that minimises one of the losses."""

    loss: str

    @property
    def task(self) -> str:
        return "classification" if LOSSES[self.loss][0] else "regression"

    @property
    def intercept(self) -> Floats:
        return np.array(self._core.intercept)

    def losses(self, scores: Floats, labels: Floats) -> Floats:
        parameter = LOSSES[self.loss][2]
        value = float(getattr(self, parameter)) if parameter else 0.0
        return _core.row_losses(self.loss, scores, labels, value)

    def probability(self, scores: Floats) -> Floats | None:
        if not LOSSES[self.loss][1]:
            return None
        if self.loss == "logistic":
            return of_log_odds(scores)
        each = _core.loss_probability(self.loss, scores.ravel()).reshape(scores.shape)
        return each if scores.shape[1] == 1 else in_proportion(each)  # it may be sure of several


@dataclass(frozen=True, kw_only=True)
class LinearLearner(ScalesFeatures, StoredLearner, LossLearner):
    """One gradient step an example, in time proportional to its non-zeros."""

    updates: ClassVar[tuple[str, ...]]
    _mirrored: ClassVar[tuple[float, ...]] = (-1.0,)
    """What each number of a column's state is multiplied by when the two classes change places."""

    loss: str = option("logistic", "what to minimise", tuple(LOSSES))
    fit_intercept: bool = option(True, "learn an intercept, without penalty")
    normalize: str = option(
        "none", "divide each row by its length or by the root of its non-zeros", NORMALIZE
    )
    feature_scale: str = scale_option()
    clip: tuple[float, float] | None = option(None, "keep predictions inside this interval")
    epsilon: float = option(1.0, "where loss huber turns linear")
    quantile: float = option(0.5, "the level of loss quantile")
    store: str = store_option()
    bits: int = option(22, "the hashed store has 2^bits rows")
    outputs: int = option(
        1, "columns of weights: one for two classes or a number, one a class for more"
    )
    _making: tuple[str, dict[str, float]] = field(init=False, repr=False, compare=False)
    _core: CoreLinear = field(init=False, repr=False, compare=False)
    _kept_in: str = field(init=False, repr=False, compare=False)
    _event_core: CoreLinear | None = field(init=False, repr=False, compare=False)
    """The same once it is known to be in the right store for single events."""

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, tuple(LOSSES))
        check_choice("normalize", self.normalize, NORMALIZE)
        self._check_store()
        self._check_scale()
        check_number("epsilon", self.epsilon, above=0)
        check_number("quantile", self.quantile, above=0, below=1)
        check_number("outputs", self.outputs, least=1)
        numbers = {
            "epsilon": float(self.epsilon),
            "quantile": float(self.quantile),
            "bits": float(self.bits),
            "rms": float(self.feature_scale == "rms"),
        }
        if self.clip is not None:
            low, high = (float(end) for end in self.clip)
            if self.task == "classification" or not low < high:
                raise ValueError(
                    f"clip={self.clip!r} must be (low, high), for a loss of regression"
                )
            numbers |= {"clip_low": low, "clip_high": high}
        update, own = self._rule()
        object.__setattr__(self, "_making", (update, numbers | own))
        self._start("dense" if self.store == "auto" else self.store)

    @property
    def _scale(self) -> Scale | None:
        return self._core if self.feature_scale == "rms" else None

    def _start(self, store: str) -> None:
        """An empty model in this store."""
        update, numbers = self._making
        core = _core.Linear(
            family=self.family,
            update=update,
            store=store,
            loss=self.loss,
            normalize=self.normalize,
            columns=self.outputs,
            fit_intercept=bool(self.fit_intercept),
            numbers=numbers,
        )
        _core.set_hash_key(core, self.hash_key)
        object.__setattr__(self, "_core", core)
        object.__setattr__(self, "_event_core", None)
        object.__setattr__(self, "_kept_in", store)

    def use_hash_key(self, hash_key: bytes | None) -> None:
        super().use_hash_key(hash_key)
        _core.set_hash_key(self._core, hash_key)

    def _choose_store(self, block: Block) -> None:
        """Of its own accord: a table where features have names, whether these are known or not."""
        if self.store != "auto" or self._kept_in == "table":
            return
        if block.named:
            if self.t == 0:
                self._start("table")
        elif only_keys(block.indices):  # the rows before had some with small numbers, or none
            self._move_to_table(self.state())

    @abstractmethod
    def _rule(self) -> tuple[str, dict[str, float]]:
        """Check the family's own parameters: the rule's name and its numbers."""

    @property
    def wants_names(self) -> bool:
        return self.store != "hashed"

    @property
    def scores_by_name(self) -> bool:
        return False

    def learn(
        self,
        block: Block,
        order: NDArray[np.int64] | None = None,
        held: NDArray[np.uint8] | None = None,
    ) -> Floats:
        """`held`: of each row in its turn, whether it is only to be scored."""
        if block.labels is None:
            raise ValueError("a Block without labels cannot be learned")
        name_list = block.name_list if isinstance(block, NameListBlock) else None
        numbers = block.numbers if isinstance(block, NameListBlock) else None
        with self.lock:
            self._choose_store(block)
            scores, done = self._core.learn(
                block.indptr, block.indices, block.values, block.labels, block.weights, order,
                block.names if name_list is None else None,
                block.name_offsets if name_list is None else None,
                name_list, numbers, self._offsets(block), held,
            )  # fmt: skip
        if done < len(scores):
            raise diverged(
                block, order, done,
                f"the scores have left the range of floats; {self._slower()} or scale the features "
                "(normalize='l2')",
            )  # fmt: skip
        return scores

    @abstractmethod
    def _slower(self) -> str:
        """What to do when the weights diverge."""

    def learn_one(
        self, features: Mapping[str, Any], label: float, weight: float = 1.0
    ) -> list[float]:
        core = self._event_core or self._open_to_events()
        scores = _learn_event(core, features, label, weight)
        if scores is None:
            raise DivergenceError(
                f"the scores have left the range of floats; {self._slower()} or scale the features"
            )
        return scores

    def _open_to_events(self) -> CoreLinear:
        with self.lock:
            return self._event_core or self._opened_to_events()

    def _opened_to_events(self) -> CoreLinear:
        if self.t == 0 and self.store == "auto" and not self._core.named:
            self._start("table")
        if self._kept_in == "dense":
            raise ValueError(
                "events have named features, and store='dense' holds numbered ones: use 'table' or 'hashed'"
            )
        if self._kept_in == "table" and self.t > 0 and not self._core.named:
            raise ValueError("events have named features, and this model has learned numbered ones")
        object.__setattr__(self, "_event_core", self._core)
        return self._core

    def score_one(self, features: Mapping[str, Any]) -> list[float]:
        return _score_event(self._event_core or self._open_to_events(), features)

    takes_more_classes = True

    def with_outputs(self, outputs: int) -> Self:
        """The same model with more columns. A single column, "is it class 1?", becomes those of classes 0 and 1."""
        if outputs <= max(2, self.outputs):
            raise ValueError(f"{outputs} outputs are not more than there are")
        state = self.state()
        rows, signs, m = state["rows"], np.array(self._signs()), self.outputs
        own = len(signs) * m
        planes = rows[:, :own].reshape(len(rows), len(signs), m)
        grown = np.zeros((len(rows), len(signs), outputs))
        grown[:, :, : max(2, m)] = (
            np.dstack([planes * signs[:, None], planes]) if m == 1 else planes
        )
        state["rows"] = np.hstack([grown.reshape(len(rows), len(signs) * outputs), rows[:, own:]])
        intercept = (
            np.append(-state["intercept"], state["intercept"]) if m == 1 else state["intercept"]
        )
        state["intercept"] = np.pad(intercept, (0, outputs - len(intercept)))
        state["clock"] = self._widened_rule_state(state["clock"], outputs)
        return self._remade(self.parameters() | {"outputs": outputs}, state)

    def _signs(self) -> tuple[float, ...]:
        return self._mirrored

    def _widened_rule_state(self, rule_state: Floats, outputs: int) -> Floats:
        return rule_state

    def score(self, block: Block) -> Floats:
        offsets = self._offsets(block)
        return self._core.score(block.indptr, block.indices, block.values, offsets)

    def probability_one(self, scores: list[float]) -> list[float] | None:
        if not LOSSES[self.loss][1]:
            return None
        if len(scores) > 1:
            return super().probability_one(scores)
        return [_core.probability(self.loss, score) for score in scores]

    def coef(self) -> tuple[NDArray[np.int64], Floats]:
        return self._on_values(*self._core.coefficients())

    def _restore(self, state: State) -> None:
        scale = {} if self._scale is None else SCALE_STATE
        check_state(state, STATE | scale | {"intercept": Tensor("float64", (self.outputs,))})
        if "names" not in state and self.store != "hashed":
            check_known(state["keys"], int(state["seen"][1]))
        far = "scale_keys" in state and only_keys(state["scale_keys"])
        if self.store == "auto" and (far or self._is_keyed(state)):
            self._start("table")
        self._core.rate_factor = float(state["rate_factor"][0])  # first: it may bring rows current
        self._set_rows(state)
        self._restore_scale(state)
        self._core.rule_state = state["clock"].tolist()
        self._core.intercept = state["intercept"].tolist()
        self._core.t, self._core.features = (int(n) for n in state["seen"])


DEFAULT_RATE = "adagrad"
DEFAULT_STEPS: dict[str, dict[str, Any]] = {
    "adagrad": {"eta0": 0.25, "power_t": 0.5},
    "classification": {"eta0": 0.5, "power_t": 0.5},
    "regression": {"eta0": 0.01, "power_t": 0.25},
}
"""Steps where none are given: of AdaGrad, and of the schedules. With these, gradients of a regression grow with the
error: it starts with small steps."""


@dataclass(frozen=True, kw_only=True)
class GradientLearner(LinearLearner):
    """A first-order learner with learning rates: those of AdaGrad, or a schedule for all features."""

    rates: ClassVar[tuple[str, ...]] = (*RATES, "adagrad", "adagrad_explicit")
    _scheduled: ClassVar[tuple[str, ...]] = ()
    """Updates that need a schedule for all features."""

    update: str
    eta0: float = option(
        None, "the first learning rate", shown="0.25; with a schedule 0.5, of a regression 0.01"
    )
    learning_rate: str = option(
        None,
        "adagrad: each feature has its own rate, eta0 / the root of the sum of its squared gradients, and steps never "
        "lead too far (adagrad_explicit: they may); or how the rate of all falls with the examples seen",
        rates,
        shown=DEFAULT_RATE,
    )
    power_t: float = option(
        None, "the exponent of learning rate invscaling", shown="0.5, of a regression 0.25"
    )

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, tuple(LOSSES))
        if self.learning_rate is None:
            scheduled = self.update in self._scheduled
            chosen = "inv_sqrt" if scheduled else DEFAULT_RATE
            object.__setattr__(self, "learning_rate", chosen)
        steps = DEFAULT_STEPS["adagrad" if self._adaptive else self.task]
        for name, value in steps.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        super().__post_init__()

    @property
    def _adaptive(self) -> bool:
        return self.learning_rate in ("adagrad", "adagrad_explicit")

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], state: State) -> Self:
        adagrad = parameters.get("learning_rate") == "adagrad"
        if adagrad and len(state.get("clock", ())) == 1 + parameters.get("outputs", 1):
            # saved when steps were explicit, and there were no sums of residuals
            parameters = {**parameters, "learning_rate": "adagrad_explicit"}
            state = {**state, "clock": np.pad(state["clock"], (0, len(state["clock"])))}
        return super().from_state(parameters, state)

    def _rule(self) -> tuple[str, dict[str, float]]:
        check_choice("update", self.update, self.updates)
        check_choice("learning_rate", self.learning_rate, self.rates)
        if self._adaptive and self.update in self._scheduled:
            raise ValueError(
                f"learning_rate={self.learning_rate!r} is not for update={self.update!r}: take 'inv_sqrt'"
            )
        check_number("eta0", self.eta0, above=0)
        check_number("power_t", self.power_t, least=0)
        steps = {
            "eta0": float(self.eta0),
            "power_t": float(self.power_t),
            "explicit": float(self.learning_rate == "adagrad_explicit"),
            "schedule": float(0 if self._adaptive else RATES.index(self.learning_rate)),
        }
        name = f"{self.update}-adagrad" if self._adaptive else self.update
        return name, steps | self._numbers()

    @abstractmethod
    def _numbers(self) -> dict[str, float]:
        """Check the penalty's parameters and hand them to the rule."""

    def _signs(self) -> tuple[float, ...]:
        return (-1.0, 1.0) if self._adaptive else super()._signs()

    def _widened_rule_state(self, rule_state: Floats, outputs: int) -> Floats:
        """Of AdaGrad: steps, the roots of the intercepts, and two sums of residuals, which only regressions have."""
        if not self._adaptive:
            return rule_state
        m = self.outputs
        roots = np.tile(rule_state[1 : 1 + m], 2 if m == 1 else 1)
        grown = np.pad(roots, (0, outputs - len(roots)))
        return np.concatenate([rule_state[:1], grown, np.zeros(1 + outputs)])

    def _slower(self) -> str:
        return f"lower eta0 (now {self.eta0:g})"
