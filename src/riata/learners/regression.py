"""Bayesian linear regression, alone or as a portfolio: exact marginal updates, and a noise that is learned."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.learners.base import (
    Floats,
    State,
    both_locks,
    check_choice,
    check_number,
    option,
    store_option,
)
from riata.learners.joint import (
    INTERCEPT,
    JOINT_OPTION,
    joint_means,
    joint_tensors,
    restore_joint,
)
from riata.learners.state_check import NAMES, Tensor, check_known, check_state
from riata.learners.stores import StoredLearner

Setting = tuple[bool, float, float]
"""Whether it sees values divided by their root mean square, the prior variance, Student's degrees of freedom or 0."""

INTERCEPT_VARIANCE = 1e10
PRIORS = tuple(0.001 * 8.0**k for k in range(8))
FREEDOM = 4.0
SETTINGS: tuple[Setting, ...] = tuple(
    (scaled, prior, freedom)
    for scaled in (False, True)
    for freedom in (0.0, FREEDOM)
    for prior in PRIORS
)
"""Of `auto`, one weight at a time. Model files know them by their order: it must not change."""
JOINT = tuple(0.001 * 8.0**k for k in (1, 3, 5, 7))
"""Prior variances of those that learn all weights together; they stand behind the others."""


@dataclass(frozen=True, kw_only=True)
class GaussianRegression(StoredLearner):
    """Bayesian regressions side by side; see cpp/riata/portfolio/regression.hpp."""

    fit_intercept: bool = option(True, "learn an intercept")
    store: str = store_option()
    bits: int = option(22, "the hashed store has 2^bits rows")
    outputs: int = option(1, "columns of weights: one for a number")

    _core: _core.Regression = field(init=False, repr=False, compare=False)
    _kept_in: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_store()
        if self.outputs != 1:
            raise ValueError("a regression has one output")
        self._start("dense" if self.store == "auto" else self.store)

    @property
    @abstractmethod
    def settings(self) -> tuple[Setting, ...]:
        """What learns side by side; those that see values as they are first."""

    @property
    def joint_priors(self) -> tuple[float, ...]:
        """Of the four settings that learn all weights together; none by default."""
        return ()

    def _start(self, store: str) -> None:
        core = _core.Regression(
            store=store,
            members=list(self.settings),
            joint=list(self.joint_priors),
            intercept_variance=INTERCEPT_VARIANCE,
            fit_intercept=bool(self.fit_intercept),
            bits=int(self.bits),
        )
        object.__setattr__(self, "_core", core)
        object.__setattr__(self, "_kept_in", store)

    @property
    def task(self) -> str:
        return "regression"

    @property
    def scores_by_name(self) -> bool:
        return False

    def _choose_store(self, block: Block) -> None:
        """A table for names, and for numbers that an array of such rows could not reach."""
        if self.store != "auto" or self._kept_in == "table":
            return
        far = self._is_far(block)
        if self.t == 0 and (far or block.names is not None):
            self._start("table")
        elif far:
            self._move_to_table(self._core.snapshot())

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Floats:
        if block.labels is None:
            raise ValueError("a Block without labels cannot be learned")
        with self.lock:
            self._choose_store(block)
            return self._core.learn(
                block.indptr, block.indices, block.values, block.labels, block.weights, order,
                block.names, block.name_offsets, self._offsets(block),
            )  # fmt: skip

    def score(self, block: Block) -> Floats:
        return self._core.score(block.indptr, block.indices, block.values, self._offsets(block))

    def label_moments(self, block: Block) -> Floats:
        """Mean and variance of the label of each row, (n, 2)."""
        return self._core.moments(block.indptr, block.indices, block.values, self._offsets(block))

    def losses(self, scores: Floats, labels: Floats) -> Floats:
        return _core.row_losses("squared", scores, labels, 0.0)

    def probability(self, scores: Floats) -> None:
        return None

    # What was learned

    @property
    def members(self) -> list[dict[str, Any]]:
        """View of the values, prior, noise, loss, deviation of the noise, and weight of each setting.

        The loss is half the squared residuals, each taken just before its example was learned, added up.
        """
        now = self._core.snapshot(rows=False)
        noise = np.sqrt(now["squares"]).tolist()
        settings = [("bayesian", *setting) for setting in self.settings]
        settings += [("joint", False, prior, 0.0) for prior in self.joint_priors]
        rest = zip(settings, now["losses"].tolist(), noise, now["weights"].tolist(), strict=True)
        return [
            {
                "rule": rule,
                "values": "rms" if scaled else "raw",
                "prior_variance": prior,
                "noise": f"student, {freedom:g}" if freedom else "gaussian",
                "loss": loss,
                "deviation": deviation,
                "weight": weight,
            }
            for (rule, scaled, prior, freedom), loss, deviation, weight in rest
        ]

    def _blended(self, rows: Floats, joint: Floats, weights: Floats, sizes: Floats) -> Floats:
        """The averaged weights for values as they are, of rows of state and the joint settings' means beside them."""
        scaled = np.array([setting[0] for setting in self.settings])
        k = len(scaled)
        means = rows[:, 2 : 2 + k]
        raw = means[:, ~scaled] @ weights[:k][~scaled]
        if self.joint_priors:
            raw = raw + joint @ weights[k:]
        return np.asarray(raw + means[:, scaled] @ weights[:k][scaled] / sizes)

    def coef(self) -> tuple[NDArray[np.int64], Floats]:
        """One linear model for all: their weights, averaged, for values as they are."""
        now = self._core.snapshot()
        rows = now["rows"]
        joint = joint_means(now, now["keys"])
        weights = self._blended(rows, joint, now["weights"], np.sqrt(rows[:, 1] / rows[:, 0]))
        live = weights != 0
        return now["keys"][live], weights[live][:, None]

    @property
    def intercept(self) -> Floats:
        now = self._core.snapshot(rows=False)
        joint = joint_means(now, np.array([INTERCEPT]))
        return self._blended(now["intercept"][None], joint, now["weights"], np.ones(1))

    @property
    def learns_jointly(self) -> bool:
        """Whether there are settings that learn all weights together, which have not ended."""
        return "joint_keys" in self._core.snapshot(rows=False)

    def merge(self, other: GaussianRegression) -> Self:
        """Both together, which learned from two parts of the data: precisions add, less the prior.

        Settings that learn all weights together are then as if one model had seen all rows, where both have the same
        features, or one has never met those of the other.
        """
        from riata.learners.regression_merge import merged

        with both_locks(self, other):
            return self._remade(*merged(self, other))

    # State

    def _restore(self, state: State) -> None:
        k = len(self.settings)
        everyone = k + len(self.joint_priors)
        if len(state.get("weights", ())) == k:  # from before there were joint settings
            state = state | {
                name: np.append(state[name], np.zeros(everyone - k))
                for name in ("weights", "losses", "squares")
                if name in state
            }
        if "sums" in state and state["sums"].shape == (
            4,
        ):  # likewise: as if residuals were Gaussian
            state = state | {"sums": np.append(state["sums"], 3 * state["sums"][3] ** 2)}
        check_state(
            state,
            {
                "keys": Tensor("int64", ("n",), least=0),
                "rows": Tensor("float64", ("n", 2 + 2 * k)),
                "intercept": Tensor("float64", (2 + 2 * k,)),
                "seen": Tensor("int64", (2,), least=0),
                "weights": Tensor("float64", (everyone,), least=0),
                "losses": Tensor("float64", (everyone,)),
                "squares": Tensor("float64", (everyone,), least=0),
                "sums": Tensor("float64", (5,), least=0),
            }
            | joint_tensors(state, 1)
            | NAMES,
        )
        if "names" not in state and self.store != "hashed":
            check_known(state["keys"], int(state["seen"][1]))
        if len(state["rows"]) and not (state["rows"][:, :2] > 0).all():
            raise ValueError("tensor 'rows' has a feature that was never seen")
        if self.store == "auto" and self._is_keyed(state, state["rows"].shape[1]):
            self._start("table")
        self._set_rows(state)
        t, features = (int(n) for n in state["seen"])
        self._core.set_rest(
            state["intercept"], state["weights"], state["losses"], state["squares"], state["sums"],
            t, features,
        )  # fmt: skip
        if self.joint_priors:
            restore_joint(self._core, state)


@dataclass(frozen=True, kw_only=True)
class BayesianRegression(GaussianRegression):
    """Linear regression whose weights have Gaussian beliefs, updated exactly, one weight at a time.

    The variance of the noise is learned, and `prior_variance` is in units of it, so that the unit of the labels does
    not matter. With `freedom` the noise is Student's t of so many degrees: outliers count for little.

    >>> import numpy as np
    >>> from riata.block import Block
    >>> row = Block(np.array([0, 1]), np.array([5], dtype=np.int32), np.ones(1, dtype=np.float32),
    ...             labels=np.array([3.0]))
    >>> learner = BayesianRegression(fit_intercept=False, prior_variance=2.0)
    >>> _ = learner.learn(row)
    >>> learner.coef()[1].tolist()  # 3 * 2 / (1 + 2)
    [[2.0]]
    """

    family: ClassVar[str] = "bayesian-regression"

    prior_variance: float = option(
        1.0, "variance of a weight before its first value, in units of the noise's"
    )
    feature_scale: str = option(
        "rms", "divide values by their feature's running root mean square, or not", ("rms", "none")
    )
    freedom: float = option(
        0.0, "degrees of freedom of Student's t as the noise; 0: it is Gaussian"
    )

    def __post_init__(self) -> None:
        check_number("prior_variance", self.prior_variance, least=1e-20, below=1e20)
        check_number("freedom", self.freedom, least=0, below=1e6)
        object.__setattr__(self, "prior_variance", float(self.prior_variance))
        check_choice("feature_scale", self.feature_scale, ("rms", "none"))
        super().__post_init__()

    @property
    def settings(self) -> tuple[Setting, ...]:
        return ((self.feature_scale == "rms", float(self.prior_variance), float(self.freedom)),)


@dataclass(frozen=True, kw_only=True)
class AutoRegression(GaussianRegression):
    """Regression that needs no tuning: 36 settings learn side by side in one read.

    They are Bayesian regressions with eight priors, with Gaussian noise and with Student's t, on values as they are
    and on values divided by their feature's running root mean square, one weight at a time; and four that learn all
    weights together, while there are few features. Each predicts every label before it is learned, and the prediction
    averages them by their squared residuals.

    >>> import numpy as np
    >>> from riata.block import Block
    >>> row = Block(np.array([0, 1]), np.array([5], dtype=np.int32), np.ones(1, dtype=np.float32),
    ...             labels=np.array([3.0]))
    >>> learner = AutoRegression()
    >>> learner.learn(row).tolist(), learner.score(row).round(6).tolist()
    ([[0.0]], [[3.0]])
    """

    family: ClassVar[str] = "auto-regression"

    fit_joint: bool = option(True, JOINT_OPTION)

    @property
    def settings(self) -> tuple[Setting, ...]:
        return SETTINGS

    @property
    def joint_priors(self) -> tuple[float, ...]:
        return JOINT if self.fit_joint and self.store != "hashed" else ()
