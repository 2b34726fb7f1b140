"""`auto`: many settings learn side by side, and the prediction averages them by how well each did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.learners import bayesian_calibration as calibration
from riata.learners.base import (
    Floats,
    State,
    both_locks,
    check_choice,
    check_number,
    option,
    store_option,
)
from riata.learners.bayesian_calibration import CalibratedLearner
from riata.learners.classes import MULTI_CLASS, in_proportion, logistic, multi_class_option
from riata.learners.jobs import check_jobs, threads_of
from riata.learners.joint import INTERCEPT, JOINT_OPTION, joint_means, restore_joint
from riata.learners.portfolio_settings import (
    JOINT,
    SEPARATE,
    SETTINGS,
    check_tensors,
    groups_of,
    plan,
    separate,
)
from riata.learners.stores import StoredLearner

if TYPE_CHECKING:
    from riata.learners.elastic_net import ElasticNet

INTERCEPT_VARIANCE = 2 * np.pi


@dataclass(frozen=True, kw_only=True)
class Portfolio(StoredLearner, CalibratedLearner):
    """Classification that needs no tuning: 36 settings learn side by side in one read.

    They are Bayesian models with eight priors and AdaGrad with eight rates and implicit steps, each on values as they
    are (AdaGrad: scaled to rows of length one) and on values divided by their feature's running root mean square; and
    four Bayesian models that learn all weights together, while there are few features.
    Since every example is predicted before it is learned, all have honest losses. By these the log odds of each are
    put right, and the prediction averages them: it loses at most ln(36) + ln(t + 1) in total to the best of them.
    Settings that cannot catch up are dropped on the way. With many classes there are fewer.

    `score` is the log odds of the predicted probability; `coef` is one linear model that stands for all of them.

    >>> import numpy as np
    >>> from riata.block import Block
    >>> row = Block(np.array([0, 1]), np.array([5], dtype=np.int32), np.ones(1, dtype=np.float32),
    ...             labels=np.array([1.0]))
    >>> learner = Portfolio()
    >>> learner.learn(row).round(12).tolist(), bool(learner.score(row) > 0)
    ([[0.0]], True)
    """

    family: ClassVar[str] = "auto"
    _holder: ClassVar[str] = "_held"

    calibrate: str | bool = option(
        "auto", "correct log odds by how they did so far; auto: yes", calibration.CHOICES
    )
    multi_class: str = multi_class_option("multinomial")
    keep_all: bool = option(False, "keep settings that cannot catch up")
    fit_joint: bool = option(True, JOINT_OPTION)
    fit_intercept: bool = option(True, "learn an intercept")
    store: str = store_option()
    bits: int = option(22, "the hashed store has 2^bits rows")
    n_jobs: int = option(
        -1,
        "threads that learn and score, -1: as the processor has cores; the result has the same bits for any number",
    )
    outputs: int = option(
        1, "columns of weights: one for two classes or a number, one a class for more"
    )

    _held: tuple[_core.Portfolio, tuple[int, ...]] = field(init=False, repr=False, compare=False)
    """The core, and the settings that it began with: it knows them by their place here."""
    _kept_in: str = field(init=False, repr=False, compare=False)
    _corrected_loss: float = field(init=False, repr=False, compare=False)
    """Of all predictions so far, calibrated: the sum of their log losses."""

    def __post_init__(self) -> None:
        calibration.wanted(self.calibrate, "auto")
        self._check_store()
        check_number("outputs", self.outputs, least=1)
        check_choice("multi_class", self.multi_class, MULTI_CLASS)
        check_jobs(self.n_jobs)
        self._calibrate_by(calibration.blank(self.outputs), 0)
        object.__setattr__(self, "_corrected_loss", 0.0)
        self._start(plan(self.outputs, self.fit_joint and self.store != "hashed"), named=False)

    def _start(self, settings: tuple[int, ...], named: bool) -> None:
        """An empty model."""
        store = self.store
        if store == "auto":
            store = "table" if named else "dense"
        object.__setattr__(self, "_kept_in", store)
        core = _core.Portfolio(
            store=store,
            members=[SETTINGS[k] for k in settings],
            intercept_variance=INTERCEPT_VARIANCE,
            fit_intercept=bool(self.fit_intercept),
            drop=not self.keep_all,
            correct=self.calibrates,
            outputs=int(self.outputs),
            multinomial=self.multi_class == "multinomial",
            bits=int(self.bits),
            joint=list(JOINT) if settings[-1] >= SEPARATE else [],
            threads=threads_of(self.n_jobs),
        )
        object.__setattr__(self, "_held", (core, settings))

    @property
    def _core(self) -> _core.Portfolio:
        return self._held[0]

    @property
    def calibrates(self) -> bool:
        """Whether predictions are corrected by how they did so far."""
        return calibration.wanted(self.calibrate, "auto")

    # Learner

    def _learn(self, block: Block, labels: Floats, order: NDArray[np.int64] | None) -> Floats:
        return self._core.learn(
            block.indptr, block.indices, block.values, labels, block.weights, order,
            block.names, block.name_offsets, self._offsets(block),
        )  # fmt: skip

    def _note(self, scores: Floats, block: Block, order: NDArray[np.int64] | None) -> None:
        labels, weights = block.labels, block.weights
        assert labels is not None
        if order is not None:
            labels, weights = labels[order], None if weights is None else weights[order]
        losses = super().losses(scores, labels)  # as `single` adds them up
        if weights is not None:
            losses = losses * weights
        # One behind the other, so that the sum does not depend on where Blocks were cut.
        total = np.cumsum(np.concatenate([[self._corrected_loss], losses]))[-1]
        object.__setattr__(self, "_corrected_loss", float(total))

    def _score(self, block: Block) -> Floats:
        return self._core.score(
            block.indptr, block.indices, block.values, block.names, block.name_offsets,
            self._offsets(block),
        )  # fmt: skip

    def losses(self, scores: Floats, labels: Floats) -> Floats:
        """The log loss of each row; without a shared probability that of each class against the rest, added up."""
        if not self.shares:
            return super().losses(scores, labels)
        right = self.probability(scores)[np.arange(len(labels)), labels.astype(np.intp)]
        return np.asarray(-np.log(np.maximum(right, np.finfo(np.float64).tiny)))

    def probability(self, scores: Floats) -> Floats:
        return in_proportion(logistic(scores)) if self.shares else super().probability(scores)

    def _start_keyed(self) -> None:
        self._start(self._held[1], named=True)

    # What was learned

    @property
    def settings(self) -> tuple[int, ...]:
        """The settings that are left, as places in `SETTINGS`."""
        core, settings = self._held
        return tuple(settings[k] for k in core.snapshot(rows=False)["settings"].tolist())

    @property
    def members(self) -> list[dict[str, Any]]:
        """Rule, view of the values, parameter, loss and weight of each setting that is left.

        The loss is the sum of log losses of examples just before they were learned, over all outputs; the weight in
        the average is the mean over the outputs.
        """
        core, settings = self._held
        now = core.snapshot(rows=False)
        found = [SETTINGS[settings[k]] for k in now["settings"].tolist()]
        losses, weights = now["losses"].sum(axis=0).tolist(), now["weights"].mean(axis=0).tolist()
        return [
            {"rule": rule, "values": view, "parameter": parameter, "loss": loss, "weight": weight}
            for (rule, view, parameter), loss, weight in zip(found, losses, weights, strict=True)
        ]

    @property
    def cost_of_single(self) -> float:
        """How much more than the predictions, in parts of their loss, the one linear model of `coef` has lost so far.

        Both predicted each example just before it was learned, calibrated by those before it; 0.02 is two percent more.
        """
        now = self._snapshot(rows=False)
        return self._cost_of(float(now["single"][: self.outputs, 5].sum()))

    def _cost_of(self, loss: float) -> float:
        """How much more that is, in parts, than what the predictions have lost."""
        return loss / self._corrected_loss - 1 if self._corrected_loss > 0 else 0.0

    def _blended(self, now: State, rows: Floats, sizes: Floats) -> Floats:
        """The weights of the one linear model: (n, outputs), of `whole_rows` and the features' root mean squares."""
        settings = tuple(now["settings"].tolist())
        shares = now["weights"] * corrections(now)[0]
        out, at = np.zeros((len(rows), self.outputs)), 2
        for _, view, first, last in groups_of(settings):
            columns = rows[:, at : at + self.outputs * (last - first)]
            at += 2 * self.outputs * (last - first)
            parts = self.comparable(columns.reshape(len(rows), self.outputs, last - first))
            part = np.einsum("nok,ok->no", parts, shares[:, first:last])
            if view.endswith("rms"):
                part /= sizes[:, None]
            out += part * _per_length(view, now["lengths"])
        scales = _core.single_scale(now["single"][: self.outputs])
        return np.asarray(out * [a for a, _ in scales])

    @property
    def shares(self) -> bool:
        """Whether there are classes that share one probability."""
        return self.multi_class == "multinomial" and self.outputs > 1

    def comparable(self, weights: Floats) -> Floats:
        """Weights (n, outputs, settings) of which each setting's outputs add up to zero, if they share a probability.

        It is the same with one number more for all classes: without it, averages of settings mean something.
        """
        return weights - weights.mean(axis=1, keepdims=True) if self.shares else weights

    def coef(self) -> tuple[NDArray[np.int64], Floats]:
        """One linear model for all: the log odds of all settings, averaged with their weights of now.

        The weights are for values as they are: those on scaled values are divided by the root mean square of the
        feature so far, and those on rows of length one by a typical length. `cost_of_single` says what that costs.
        """
        now = self._snapshot()
        rows = whole_rows(now, now["rows"], now["keys"])
        weights = self._blended(now, rows, np.sqrt(rows[:, 1] / rows[:, 0]))
        live = weights.any(axis=1)
        return now["keys"][live], weights[live]

    @property
    def intercept(self) -> Floats:
        now = self._snapshot(rows=False)
        now["lengths"] = np.ones(4)  # the intercept is always 1
        blended = self._blended(now, whole_intercept(now), np.ones(1))[0]
        constants = (now["weights"] * corrections(now)[1]).sum(axis=1)
        scales = _core.single_scale(now["single"][: self.outputs])
        return np.asarray(
            blended + [a * b + c for b, (a, c) in zip(constants, scales, strict=True)]
        )

    # State

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], state: State) -> Self:
        """In files of before there was `multi_class`, each class is against the rest."""
        return super().from_state({"multi_class": "ovr"} | dict(parameters), state)

    def _snapshot(self, rows: bool = True) -> State:
        """All that the core knows at one moment; settings are places in `SETTINGS`."""
        core, settings = self._held
        state: State = core.snapshot(rows=rows)
        state["settings"] = np.array(settings, dtype=np.int64)[state["settings"]]
        state["corrected_loss"] = np.array([self._corrected_loss])
        return state

    def _restore(self, state: State) -> None:
        if "corrections" not in state and "weights" in state:
            raise ValueError(
                "an earlier version made this model of auto, before each setting was corrected by itself, and it lacks "
                "what that takes: train it again, or predict with the earlier version"
            )
        check_tensors(self, state)
        keyed = self._is_keyed(state, state["rows"].shape[1])
        settings = tuple(state["settings"].tolist())
        self._start(settings, keyed)
        if settings[-1] >= SEPARATE:
            restore_joint(self._core, state)
        self._set_rows(state)
        self._core.set_evidence(
            state["weights"], state["losses"], state["recent_losses"], state["claims"],
            state["worth"], state["gaps"], state["totals"], state["corrections"],
        )  # fmt: skip
        t, features = (int(n) for n in state["seen"])
        self._core.set_rest(state["intercept"], state["single"], state["lengths"], t, features)
        object.__setattr__(self, "_corrected_loss", float(state["corrected_loss"][0]))
        self._restore_calibration(state)

    def parameters(self) -> dict[str, Any]:
        calibrate = self.calibrate if self.calibrate == "auto" else self.calibrates
        return super().parameters() | {"calibrate": calibrate}

    # Other models from this one

    takes_more_classes = True

    def with_outputs(self, outputs: int) -> Self:
        """The same model with more columns. A single one, "is it class 1?", becomes those of classes 0 and 1."""
        from riata.learners.portfolio_tools import widened

        if outputs <= max(2, self.outputs):
            raise ValueError(f"{outputs} outputs are not more than there are")
        with self.lock:
            return self._remade(*widened(self, outputs))

    def merge(self, other: Portfolio) -> Self:
        """Both together, which learned from two parts of the data: settings that neither has dropped.

        Precisions of Bayesian settings add, less the prior; weights of AdaGrad are averaged by squared gradients;
        weights of settings in the average multiply. Settings that learn all weights together go on where
        both have the same features, or one has never met those of the other.
        """
        from riata.learners.portfolio_merge import merged

        with both_locks(self, other):
            return self._remade(*merged(self, other))

    def with_classes_in_order(self, order: Sequence[int]) -> Self:
        """The same model where class i is what was class order[i]."""
        from riata.learners.portfolio_classes import in_order

        with self.lock:
            state = in_order(self.state(), self.outputs, order)
            return self._remade(self.parameters(), state)

    @property
    def learns_jointly(self) -> bool:
        """Whether the settings that learn all weights together have not ended."""
        return "joint_keys" in self._core.snapshot(rows=False)

    @property
    def cost_of_collapse(self) -> float:
        """As `cost_of_single`, of the linear model that `collapse` gives: never more."""
        from riata.learners.portfolio_tools import best_single

        return self._cost_of(best_single(self._snapshot(rows=False)).loss)

    def collapse(self, sparse: float = 0.0) -> ElasticNet:
        """One linear model in the place of all, the one that lost least: smaller, readable, `cost_of_collapse` worse.

        It is the model of `coef`, or the average of those settings that see the same of the values, which a linear
        model can see, too: rows of length one (`normalize="l2"`), values divided by their root mean square
        (`feature_scale="rms"`). It is calibrated by the record, and its numbers are rounded to 32 bits. With `sparse`
        the weights go that are not worth this part of the log loss.
        """
        from riata.learners.portfolio_tools import collapsed

        check_number("sparse", sparse, least=0)
        with self.lock:
            single = collapsed(self, sparse)
            single.use_hash_key(self.hash_key)
            return single


def whole_rows(now: State, rows: Floats, keys: NDArray[np.int64]) -> Floats:
    """Rows of state with the weights of joint settings behind all others, as if their rule kept them there."""
    settings = tuple(now["settings"].tolist())
    lanes = [k - SEPARATE for k in settings[len(separate(settings)) :]]
    if not lanes:
        return rows
    means = [joint_means(now, keys, o)[:, lanes] for o in range(len(now["weights"]))]
    return np.hstack([rows, *means, np.zeros((len(rows), len(lanes) * len(means)))])


def whole_intercept(now: State) -> Floats:
    """The same of the intercept, one row."""
    return whole_rows(now, now["intercept"][None], np.array([INTERCEPT]))


def corrections(now: State) -> tuple[Floats, Floats]:
    """What the log odds of each setting are multiplied by, and what is then added: (outputs, settings) each."""
    found = np.array(_core.single_scale(now["corrections"])).reshape(*now["weights"].shape, 2)
    return found[:, :, 0], found[:, :, 1]


def _per_length(view: str, lengths: Floats) -> float:
    """What stands for one over the length of a row: the best factor for all rows in the sense of least squares."""
    if not view.startswith("unit"):
        return 1.0
    total, squares = lengths[2:] if view.endswith("rms") else lengths[:2]
    return float(total / squares) if squares > 0 else 1.0
