"""Interior point: the L1-regularised delta rule of Carbonetto, Schmidt & de Freitas 2008."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.learners.base import Floats, State, check_choice, check_number, offsets_for, option
from riata.learners.bounds import Bounds, bounds_for_json, parse_bounds
from riata.learners.interior_proof import Proof, in_words, prove, warn_if_far
from riata.learners.linear import LOSSES, LossLearner, diverged
from riata.learners.state_check import NAMES, Tensor, check_known, check_state

UPDATES = ("averaged", "paper")
OF_THE_PAPER = ("sigma", "k0", "start", "dual")
"""Parameters that update="averaged" does not have."""
NORMALIZE = ("none", "l1", "l2", "sqrt_nnz")
STATE = {
    "keys": Tensor("int64", ("n",)),
    "rows": Tensor("float64", ("n", "width")),
    "sums": Tensor("float64", ("outputs", 2)),
    "intercept": Tensor("float64", ("outputs",)),
    "seen": Tensor("int64", (2,), least=0),
    "rate_factor": Tensor("float64", (1,)),
    "polished": Tensor("float64", ("features", "outputs"), optional=True),
    "polished_intercept": Tensor("float64", ("outputs",), optional=True),
} | NAMES


@dataclass(frozen=True, kw_only=True)
class InteriorPoint(LossLearner):
    """Minimise the mean loss + l1 * sum abs(w), inside bounds, with steps that never leave them.

    `update="averaged"` minimises, after every example, the sum of the gradients so far as a linear function of the
    weights, with the penalties and a curvature of its own for each feature, inside the bounds, and reads the mean
    of these minima: it converges on any data, in whatever units columns are, and an example costs its non-zeros.
    `certify` says how far the optimum can be.

    `update="paper"` is the paper's: a weight is the difference of two halves that stay above zero; each step
    solves the primal-dual equations of an interior-point method with the gradient of one example and goes at most
    99.5 % of the way to the nearest bound (Fig. 1 with eq. 13 of the paper). The step size and the barrier couple
    all features, so one example costs **the features seen so far**. Features never seen share one state, exactly.

    `bounds` keeps weights inside: `(0, None)` makes all of them non-negative, `{7: (-1, 1), "*": (0, None)}`
    gives feature 7 an interval of its own; for named features a key is a name or a namespace. A feature that
    was never seen predicts with zero.

    With the paper's update, weights come close to zero without reaching it. `prune` drops the smallest when the
    model is read: as many as together carry less than this share of the sum of absolute weights. What `coef`
    leaves out, `score` leaves out.

    >>> import numpy as np
    >>> from riata.block import Block
    >>> row = Block(np.array([0, 1]), np.array([3], dtype=np.int32), np.ones(1, dtype=np.float32),
    ...             labels=np.array([3.0]))
    >>> learner = InteriorPoint(loss="squared", l1=0.5, update="paper", dual=1.0, fit_intercept=False)
    >>> learner.learn(row)          # the score before learning
    array([[0.]])
    >>> keys, weights = learner.coef()
    >>> keys.tolist(), weights.round(4)
    ([3], array([[1.4925]]))
    """

    family: ClassVar[str] = "interior"

    loss: str = option("logistic", "what to minimise", tuple(LOSSES))
    l1: float = option(1e-6, "penalty on the sum of absolute weights: drives weights to zero")
    update: str = option("averaged", "averaged minima, or the steps of the paper", UPDATES)
    eta0: float = option(1.0, "rate of the averaged update")
    sigma: float = option(
        0.5, "how far each step turns back to the middle of the bounds, in (0, 1]"
    )
    k0: float = option(1.0, "step k = 1, 2, ... is at most 1 / (k0 + k) long")
    start: float = option(1.0, "where both halves of each weight begin")
    dual: float = option(0.1, "where the multipliers of the bounds begin")
    bounds: Bounds | None = option(None, "interval of all weights, or of weights by feature")  # noqa: RUF009
    polish: bool = option(
        True,
        "read the optimum that the last pass finds where all examples fit in memory (averaged)",
    )
    prune: float = option(
        0.0, "drop the smallest weights that carry less than this share of the sum"
    )
    dimension: int = option(
        0, "number of features, seen or not; 0: those seen and one for the others"
    )
    fit_intercept: bool = option(True, "learn an intercept, without penalty and bounds")
    normalize: str = option(
        "none", "divide each row by a norm or by the root of its non-zeros", NORMALIZE
    )
    epsilon: float = option(1.0, "where loss huber turns linear")
    quantile: float = option(0.5, "the level of loss quantile")
    outputs: int = option(
        1, "columns of weights: one for two classes or a number, one a class for more"
    )
    _core: _core.Interior = field(init=False, repr=False, compare=False)
    _proofs: list[Proof] = field(init=False, repr=False, compare=False, default_factory=list)
    _kept: dict[int, Floats] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, tuple(LOSSES))
        check_choice("normalize", self.normalize, NORMALIZE)
        check_choice("update", self.update, UPDATES)
        check_number("l1", self.l1, least=0)
        check_number("eta0", self.eta0, above=0)
        check_number("sigma", self.sigma, above=0)
        if self.sigma > 1:
            raise ValueError(f"sigma={self.sigma!r} must be above 0 and at most 1")
        check_number("k0", self.k0, least=0)
        check_number("start", self.start, above=0, below=1e30)
        check_number("dual", self.dual, above=0, below=1e30)
        check_number("prune", self.prune, least=0, below=1)
        check_number("dimension", self.dimension, least=0)
        check_number("epsilon", self.epsilon, above=0)
        check_number("quantile", self.quantile, above=0, below=1)
        check_number("outputs", self.outputs, least=1)
        for name in OF_THE_PAPER if self.update == "averaged" else ("eta0",):
            if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} has no meaning for update={self.update!r}: "
                    f"it is a parameter of update={UPDATES[self.update == 'averaged']!r}"
                )
        everywhere, own, groups = parse_bounds(self.bounds, int(self.dimension))
        object.__setattr__(self, "bounds", bounds_for_json(everywhere, own, groups))
        names = ("l1", "eta0", *OF_THE_PAPER, "epsilon", "quantile")
        numbers = {name: float(getattr(self, name)) for name in names}
        core = _core.Interior(
            loss=self.loss,
            normalize=self.normalize,
            columns=self.outputs,
            fit_intercept=bool(self.fit_intercept),
            dimension=int(self.dimension),
            numbers=numbers | {"averaged": float(self.update == "averaged")},
            bounds=everywhere,
            own_bounds=own,
            group_bounds=groups,
        )
        object.__setattr__(self, "_core", core)

    @property
    def intercept(self) -> Floats:
        return np.array(self._core.read_intercept)

    @property
    def step(self) -> Floats:
        """How long the last step was, for each output."""
        return np.array(self._core.steps)

    def certify(self, blocks: Iterable[Block], polish: bool = False) -> list[Proof]:
        """For every output, how far the optimum can be, by a pass over the examples that were learned. To polish: where
        all of them fit in memory, the optimum is what is read from then on, until another example is learned."""
        t = self.t
        proofs, better = prove(self, blocks, polish and self.polishes)
        with self.lock:
            if better and self.t == t:
                weights = np.stack([o.weights for o in better], axis=1)
                self._core.polish(weights, np.array([o.intercept for o in better]))
                self._kept.clear()
            self._proofs[:] = proofs
        warn_if_far(self, proofs)
        return list(proofs)

    @property
    def polishes(self) -> bool:
        return self.polish and self.update == "averaged"

    @property
    def verdict(self) -> str | None:
        return in_words(self._proofs) if self._proofs else None

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Floats:
        if block.labels is None:
            raise ValueError("a Block without labels cannot be learned")
        if (
            self.dimension
            and block.nnz
            and not block.named
            and int(block.indices.max()) >= self.dimension
        ):
            raise self._too_far(block)
        self._proofs.clear()
        self._kept.clear()
        with self.lock:
            scores, done = self._core.learn(
                block.indptr, block.indices, block.values, block.labels, block.weights, order,
                block.names, block.name_offsets, offsets_for(block, self.outputs),
            )  # fmt: skip
        if done < len(scores):
            more = f" or raise k0 (now {self.k0:g})" if self.update == "paper" else ""
            raise diverged(
                block, order, done,
                "the gradient is not a number or beyond the range of floats; the model is as it was before this "
                f"example. Scale the features (normalize='l2'){more}",
            )  # fmt: skip
        return scores

    def _too_far(self, block: Block) -> DataError:
        k = int(np.argmax(block.indices >= self.dimension))
        row = int(np.searchsorted(block.indptr, k, side="right")) - 1
        return DataError(
            f"{block.where(row)}: feature {int(block.indices[k])} is beyond dimension={self.dimension}; "
            "raise dimension, or leave it out to let the model grow"
        )

    def score(self, block: Block) -> Floats:
        offsets = offsets_for(block, self.outputs)
        if self.prune == 0:
            none = np.zeros(self.outputs)
            return self._core.score(block.indptr, block.indices, block.values, none, offsets)
        with self.lock:  # what is pruned and the weights are to be of one moment
            least = self._least_kept()
            return self._core.score(block.indptr, block.indices, block.values, least, offsets)

    @property
    def takes_more_classes(self) -> bool:
        return self.bounds is None

    def with_outputs(self, outputs: int) -> Self:
        """The same model with more columns. A single column, "is it class 1?", becomes those of classes 0 and 1."""
        if outputs <= max(2, self.outputs):
            raise ValueError(f"{outputs} outputs are not more than there are")
        if self.bounds is not None:
            raise ValueError(
                "a model with bounds cannot take more classes later, because they would not hold for the "
                "opposite of a column: name all classes at the start"
            )
        state = self.state()
        for name in ("polished", "polished_intercept"):  # learning goes on from what was learned
            state.pop(name, None)
        averaged = self.update == "averaged"
        halves = state["rows"].reshape(len(state["rows"]), self.outputs, 5 if averaged else 4)
        sums, intercept = state["sums"], state["intercept"]
        if self.outputs == 1:  # the opposite question: other signs, or the halves change places
            other = halves * [-1, 1, 1, -1, 1] if averaged else halves[:, :, [2, 3, 0, 1]]
            halves = np.concatenate([other, halves], axis=1)
            sums = np.vstack([sums * [-1, 1] if averaged else sums, sums])
            intercept = np.append(-intercept, intercept)
        new = outputs - len(intercept)
        start = [0.0] * 5 if averaged else [self.start, self.dual] * 2
        products = 2 * (len(halves) - 1) * self.start * self.dual
        first = [0.0, 0.0] if averaged else [products, self.start + self.dual]
        added = np.broadcast_to(start, (len(halves), new, len(start)))
        state["rows"] = np.concatenate([halves, added], axis=1).reshape(len(halves), -1)
        state["sums"] = np.vstack([sums, [first] * new])
        state["intercept"] = np.append(intercept, np.zeros(new))
        return self._remade(self.parameters() | {"outputs": outputs}, state)

    def _least_kept(self) -> Floats:
        """The smallest absolute weight that `prune` leaves, for each output; found once for each t."""
        if self.prune == 0:
            return np.zeros(self.outputs)
        if self.t not in self._kept:
            self._kept.clear()
            sizes = np.sort(np.abs(self._core.weights()[1]), axis=0)
            carried = np.cumsum(sizes, axis=0)
            least = np.zeros(self.outputs)
            for c in range(self.outputs):
                if len(sizes):
                    dropped = np.searchsorted(carried[:, c], self.prune * carried[-1, c])
                    least[c] = sizes[dropped, c]
            self._kept[self.t] = least
        return self._kept[self.t]

    def coef(self) -> tuple[NDArray[np.int64], Floats]:
        with self.lock:
            (keys, weights), least = self._core.weights(), self._least_kept()
        weights = np.where(np.abs(weights) >= least, weights, 0.0)
        live = np.flatnonzero(weights.any(axis=1))
        live = live[np.argsort(keys[live])]
        return keys[live], weights[live]

    def n_live(self) -> int:
        return int(np.count_nonzero(self.coef()[1]))

    def names(self, keys: NDArray[np.int64]) -> list[str] | None:
        if not self._core.named:
            return None
        state = self._core.snapshot()
        whole, ends = state["names"].tobytes(), state["name_offsets"].tolist()
        slot = {key: i for i, key in enumerate(state["keys"].tolist())}
        found = (slot[key] for key in keys.tolist())
        return [whole[ends[i] : ends[i + 1]].decode("utf-8", "replace") for i in found]

    def _restore(self, state: State) -> None:
        check_state(state, STATE | {"intercept": Tensor("float64", (self.outputs,))})
        if "names" not in state:
            check_known(state["keys"], int(state["seen"][1]))
        rows = state["rows"]
        if self.update == "averaged":
            rows = self._with_scales(rows)
            numbers = rows.reshape(len(rows), self.outputs, -1)
            if (numbers[:, :, [1, 2, 4]] < 0).any() or (state["sums"][:, 1] < 0).any():
                raise ValueError("tensor 'rows' holds sums of squares or counts below zero")
        self._core.restore(
            state["keys"], rows, state["sums"], state["intercept"], state["seen"],
            float(state["rate_factor"][0]), state.get("names"), state.get("name_offsets"),
        )  # fmt: skip
        if "polished" in state and "polished_intercept" in state:
            self._core.polish(state["polished"], state["polished_intercept"])

    def _with_scales(self, rows: Floats) -> Floats:
        """Linear, squares, squares of the values, mean and count. A model saved when values were not scaled lacks the
        third: it goes on as if they had been about 1."""
        bounded = self.bounds is not None
        width = rows.shape[1]
        if width == 4 * self.outputs and not bounded:
            old = rows.reshape(len(rows), self.outputs, 4)
            rows = np.insert(old, 2, old[:, :, 3], axis=2).reshape(len(rows), -1)
        elif width != (6 if bounded else 5) * self.outputs:
            raise ValueError("tensor 'rows' has another width than such a model")
        numbers = rows.reshape(len(rows), self.outputs, -1).copy()
        numbers[:, :, 2] = np.where(numbers[:, :, 2] == 0, numbers[:, :, 4], numbers[:, :, 2])
        return np.ascontiguousarray(numbers.reshape(rows.shape))
