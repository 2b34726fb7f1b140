"""Bayesian online classification: Gaussian weights, updated in closed form, example by example."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata._core import RunningScale
from riata.block import Block
from riata.learners import bayesian_calibration as calibration
from riata.learners.base import (
    Floats,
    State,
    both_locks,
    check_number,
    offsets_for,
    only_keys,
)
from riata.learners.bayesian_parameters import BayesianParameters, check
from riata.learners.bayesian_parameters import parsed as parsed_prior

if TYPE_CHECKING:
    from riata.learners.bayesian_mixture import Shape
    from riata.learners.bayesian_tools import Sparsified


def _tools() -> Any:
    """What makes models from state: training does without."""
    from riata.learners import bayesian_tools

    return bayesian_tools


@dataclass(frozen=True, kw_only=True)
class Bayesian(BayesianParameters):
    """Keep a Gaussian over every weight, and predict with all of it ("Low complexity approximate Bayesian
    logistic regression for sparse online learning", 2021).

    There is no learning rate. With `prior_variance="auto"` eight models with priors from 0.001 to 16 learn side
    by side, and the prediction averages them by how well each predicted so far.

    `score` is the log odds of the predicted probability; `moments` has the mean and the standard deviation of
    x'w beneath it. One pass is enough: a second one would count every example twice.

    >>> import numpy as np
    >>> from riata.block import Block
    >>> row = Block(np.array([0, 1]), np.array([5], dtype=np.int32), np.ones(1, dtype=np.float32),
    ...             labels=np.array([1.0]))
    >>> learner = Bayesian(prior_variance=1.0, fit_intercept=False)
    >>> learner.learn(row)
    array([[0.]])
    >>> learner.coef()[1].round(4).tolist(), learner.coef_std().round(4).tolist()
    ([[0.4]], [[0.8979]])
    """

    family: ClassVar[str] = "bayesian"

    _core: _core.Bayesian = field(init=False, repr=False, compare=False)
    _kept_in: str = field(init=False, repr=False, compare=False)
    _running: RunningScale | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        self._start_scale()
        self._calibrate_by(calibration.blank(self.outputs), 0)
        self._start(named=False)

    def _start(self, named: bool, own_priors: bool = False) -> None:
        """An empty model."""
        parsed = parsed_prior(self.prior_variance)
        by_name = dict(parsed) if isinstance(parsed, dict) else {}
        by_name.pop("*", None)
        store = "full" if self.covariance == "full" else self.store
        if store == "auto":
            store = "table" if named else "dense"
        object.__setattr__(self, "_kept_in", store)
        core = _core.Bayesian(
            store=store,
            update=self.update,
            link=self.link,
            mean=self.mean,
            variance=self.variance,
            prior_variances=list(self.prior_variances),
            views=list(self.views),
            prior_mean=float(self.prior_mean),
            intercept_variance=float(self.intercept_variance),
            fit_intercept=bool(self.fit_intercept),
            half_life=0.0 if self.half_life is None else float(self.half_life),
            share=float(self.share),
            outputs=int(self.outputs),
            samples=int(self.samples) if self.update == "vb" else 0,
            seed=int(self.seed),
            bits=int(self.bits),
            own_priors=own_priors,
            ignore_unseen=self.unseen == "ignore",
            named_variances=by_name,
        )
        object.__setattr__(self, "_core", core)

    # What the components are

    @property
    def shape(self) -> Shape:
        from riata.learners import bayesian_mixture as mixture

        return mixture.Shape(len(self.views), self.outputs, len(self.prior_variances))

    @property
    def evidence(self) -> Floats:
        """The weight of each component in the average, (outputs, components): rows sum to one."""
        from riata.learners import bayesian_mixture as mixture

        return mixture.shares(np.array(self._core.log_evidence).reshape(self.outputs, -1))

    @property
    def calibrates(self) -> bool:
        """Whether predictions are corrected by how they did so far."""
        return calibration.wanted(self.calibrate, parsed_prior(self.prior_variance))

    # Learner

    @property
    def n_features(self) -> int:
        most = 1 << self.bits
        return (
            min(self._core.features or most, most) if self.store == "hashed" else super().n_features
        )

    def _learn(self, block: Block, labels: Floats, order: NDArray[np.int64] | None) -> Floats:
        values = self._values_to_learn(block, order)
        return self._core.learn(
            block.indptr, block.indices, values, labels, block.weights, order,
            block.names, block.name_offsets, self.outputs, offsets_for(block, self.outputs),
        )  # fmt: skip

    def _score(self, block: Block) -> Floats:
        """The log odds of the predicted probability (eq. 8 or 24), averaged over the components."""
        return self._core.score(
            block.indptr, block.indices, self._values(block), block.names, block.name_offsets, self.outputs,
            offsets_for(block, self.outputs),
        )  # fmt: skip

    @property
    def _calibration_half_life(self) -> float | None:
        return self.half_life

    def _start_keyed(self) -> None:
        self._start(named=True)

    @property
    def _empty(self) -> bool:
        """Nothing was learned, and no prior was taken from another model."""
        return self.t == 0 and len(self._core.rows()[0]) == 0

    @property
    def correction(self) -> Floats:
        """What `calibrate` has come to, (outputs, 3): a, b and c of the log odds a ln(p) - b ln(1 - p) + c."""
        return np.array(_core.recalibration(self._calibration[1]))

    def _moments(self, block: Block) -> tuple[Floats, Floats]:
        """Mean and variance of each row's x'w + offset in each component: (n, outputs, components)."""
        means, variances = self._core.moments(
            block.indptr, block.indices, self._values(block), block.names, block.name_offsets,
            offsets_for(block, self.outputs),
        )  # fmt: skip
        return self.shape.split(means), self.shape.split(variances)

    def moments(self, block: Block) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each row's x'w + offset, (n, outputs) each."""
        from riata.learners import bayesian_mixture as mixture

        with self.lock:
            moments, evidence = self._moments(block), self.evidence
        return mixture.mean_and_std(*moments, evidence)

    def interval(self, block: Block, level: float) -> tuple[Floats, Floats]:
        """Ends of the central interval that holds each row's probability with chance `level`, (n, outputs)."""
        from riata.learners import bayesian_mixture as mixture

        check_number("interval", level, above=0, below=1)
        with self.lock:
            moments, evidence, correction = self._moments(block), self.evidence, self.correction
        low, high = (
            mixture.quantile(0.5 + side * level / 2, *moments, evidence) for side in (-1, 1)
        )
        if self.calibrates:
            return calibration.between(self._link(low), self._link(high), correction)
        return self._link(low), self._link(high)

    def _link(self, z: Floats) -> Floats:
        if self.link == "probit":
            from scipy.special import ndtr  # the command line starts without it

            return np.asarray(ndtr(z))
        return _core.loss_probability("logistic", z.ravel()).reshape(z.shape)

    # What was learned

    def posterior(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Features that were learned, ascending; means and variances of weights for values as they are, (n, outputs,
        components)."""
        now = self._core.posterior()
        keys, means = self._on_values(now.keys, now.means)
        variances = self._on_values(*self._on_values(now.keys, 1 / now.precisions))[1]
        return keys, self.shape.split(means), self.shape.split(variances)

    def intercept_posterior(self) -> tuple[Floats, Floats]:
        """Means and variances of the intercept, (outputs, components)."""
        if not self.fit_intercept:
            empty = np.zeros((self.outputs, self.shape.components))
            return empty, empty
        now = self._core.intercept_posterior()
        return self.shape.split(now.means)[0], self.shape.split(1 / now.precisions)[0]

    def prior_std(self) -> Floats:
        """The standard deviation of a weight never seen, (outputs,), under the average."""
        variances = np.tile(self.prior_variances, len(self.views))
        return np.asarray(np.sqrt((self.evidence * variances).sum(axis=1)))

    def coef(self) -> tuple[NDArray[np.int64], Floats]:
        with self.lock:
            (keys, means, _), evidence = self.posterior(), self.evidence
        average = (evidence * means).sum(axis=-1)
        live = average.any(axis=1)
        return keys[live], average[live]

    def coef_std(self) -> Floats:
        """The standard deviation beside each weight of `coef`."""
        from riata.learners import bayesian_mixture as mixture

        with self.lock:
            (_, means, variances), evidence = self.posterior(), self.evidence
        average, std = mixture.mean_and_std(means, variances, evidence)
        return std[average.any(axis=1)]

    @property
    def intercept(self) -> Floats:
        with self.lock:
            (means, _), evidence = self.intercept_posterior(), self.evidence
        return np.asarray((evidence * means).sum(axis=-1))

    @property
    def intercept_std(self) -> Floats:
        """The standard deviation of each output's intercept."""
        from riata.learners import bayesian_mixture as mixture

        with self.lock:
            moments, evidence = self.intercept_posterior(), self.evidence
        return mixture.mean_and_std(*moments, evidence)[1]

    def _restore(self, state: State) -> None:
        _tools().check_tensors(self, state)
        self._restore_scale(state)
        own = self.covariance != "full" and len(state["intercept"]) != self._core.row_width
        keyed = "names" in state or only_keys(state["keys"], state["rows"].shape[-1])
        if own or keyed:
            self._start(keyed, own)
        names, offsets = state.get("names"), state.get("name_offsets")
        self._core.set_rows(state["keys"], state["rows"], names, offsets)
        self._core.intercept = state["intercept"].tolist()
        self._core.log_evidence = state["log_evidence"].tolist()
        self._core.t, self._core.features = (int(n) for n in state["seen"])
        self._restore_calibration(state)

    def parameters(self) -> dict[str, Any]:
        values = super().parameters()
        parsed = parsed_prior(self.prior_variance)
        calibrate = self.calibrate if self.calibrate == "auto" else self.calibrates
        prior = dict(parsed) if isinstance(parsed, dict) else parsed
        return values | {"prior_variance": prior, "calibrate": calibrate}

    # Other models from this one

    @property
    def takes_more_classes(self) -> bool:
        return self.covariance != "full"

    def with_outputs(self, outputs: int) -> Self:
        """The same model with more columns. A single one, "is it class 1?", becomes those of classes 0 and 1."""
        if outputs <= max(2, self.outputs):
            raise ValueError(f"{outputs} outputs are not more than there are")
        with self.lock:
            return self._remade(*_tools().widened(self, outputs))

    def merge(self, other: Bayesian) -> Self:
        """The posterior of both, which learned from the same prior on two parts of the data.

        Precisions add, less the prior that would count twice; means are averaged by precision. Exact where the
        parts share no feature (and no intercept); elsewhere as good as a Gaussian is for each part.
        """
        with both_locks(self, other):
            return self._remade(self.parameters(), _tools().merged(self, other))

    def as_prior(self) -> Self:
        """A learner that has seen nothing and takes what this one knows for its prior.

        Without `half_life` it goes on as this one would. With it, what is forgotten falls back to this knowledge.
        """
        with self.lock:
            return self._remade(self.parameters(), _tools().as_prior(self))

    def collapse(self) -> Self:
        """The component with the most evidence, alone: a smaller model, for export or serving."""
        with self.lock:
            return self._remade(*_tools().collapsed(self))

    def sparsify(self, z: float, blocks: Iterable[Block] | None = None) -> Sparsified:
        """A model of only the features whose mean is more than `z` standard deviations away from zero.

        It passes over the others (`unseen="ignore"`). With labelled `blocks` (class codes for labels), the
        report has the mean log loss there of this model and of the smaller one.
        """
        check_number("z", z, least=0)
        with self.lock:
            small = self._remade(*_tools().sparse(self, z))
            report: Sparsified = _tools().report(self, small, blocks)
            return report

    def sample(self, n: int, random_state: Any = 0) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Weights drawn from the posterior: features, weights (n, outputs, features), intercepts (n, outputs)."""
        check_number("n", n, least=1)
        with self.lock:
            rng = np.random.default_rng(random_state)
            drawn: tuple[NDArray[np.int64], Floats, Floats] = _tools().sample(self, int(n), rng)
            return drawn
