"""A bounded sample of the examples, kept in memory: where the passes of a sketch start.

Newton's steps from zero take a dozen passes on data that is nearly separable. On a sample they cost no pass over the
data: the passes begin at the sample's own solution, which is off by the error of sampling alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block, concatenate
from riata.learners.base import State
from riata.learners.sketch_memory import MOST_WORK, InMemory
from riata.learners.sketch_points import Certificate, Floats, Settings
from riata.learners.state_check import Tensor, check_state

_WHOLE = 2**64
_MASK = _WHOLE - 1
_LARGEST = 2.0**64 - 2048
SAMPLE, WHOLE = 2**20, 2**24
"""Non-zeros of a sample; and of all examples, where they are no more: 20 bytes each, columns included."""
MOST_TIMES, PASSES_WORTH = 4.0, 8.0
"""How much more work all examples may take than a sample; and a sample of more, in products for each value of all."""
MOST_PASSES = 100
"""Over a sample."""
FAR, FAR_SWEEPS, MOST_SWEEPS = 0.1, 60, 2000
"""How often to sweep over the model, where the gap is beyond this part of the objective and elsewhere."""
MOVING, MOVING_SWEEPS = 0.05, 20
"""Over a sample, where the next pass is cheap: how often while a step changes the objective by this part of it."""
MOST = 0.5
"""Hard examples with less than this part of all losses are no better guide than the quadratic model of all."""


@dataclass
class Sample:
    """Examples whose hash lies below a limit, which halves whenever they have too many non-zeros.

    The hash is of the example alone, so the same examples are kept in whatever order and in however many parts
    they come.
    """

    capacity: int
    """Most non-zeros to keep."""
    whole_capacity: int = 0
    """As long as all examples are there, so many are kept, where this is more."""
    limit: int = _WHOLE
    parts: list[Block] = field(default_factory=list)
    hashes: list[NDArray[np.uint64]] = field(default_factory=list)
    nnz: int = 0
    hard: bool = False
    """The examples with the largest losses are kept, whatever their hash."""
    _last: Block | None = field(default=None, repr=False)
    """The Block that came last; of a large one a few rows stay, which are copied when they are asked for."""
    _rows: NDArray[np.intp] | None = field(default=None, repr=False)
    """Which rows of it stay; None: all."""
    _whole: InMemory | None = field(default=None, repr=False)
    """All of them, once they are asked for."""

    @classmethod
    def of_size(cls, capacity: int | None) -> Sample:
        """As the parameter `sample` says."""
        return cls(SAMPLE, WHOLE) if capacity is None else cls(capacity)

    @property
    def whole(self) -> bool:
        """Nothing was left out."""
        return self.limit == _WHOLE and not self.hard

    def __len__(self) -> int:
        return sum(map(len, self.hashes))

    @property
    def loss(self) -> float:
        """Of the hard examples, as their hashes tell it."""
        hashes = np.concatenate(self.hashes) if self.hashes else np.zeros(0, dtype=np.uint64)
        return float(_losses_of(hashes).sum())

    def add(self, block: Block, losses: Floats | None = None) -> None:
        """Consider the examples; of hard ones their losses are asked for."""
        if self.capacity == 0 or len(block) == 0:
            return
        if self.hard:
            assert losses is not None
            self._keep(block, _by_loss(losses if block.weights is None else losses * block.weights))
        else:
            self._keep(block, _core.row_hashes(block.indptr, block.indices, block.values))

    def restart(self) -> None:
        """What was kept has done its work: from now on, the hard examples of a pass."""
        self.clear()
        self.limit, self.hard = _WHOLE, True

    def merge(self, other: Sample) -> None:
        self._copy()
        other._copy()
        self.limit = min(self.limit, other.limit)
        self._thin()
        for block, hashes in zip(other.parts, other.hashes, strict=True):
            self._keep(block, hashes)

    def block(self) -> Block | None:
        """All examples in their order, or some in the order of their hashes; None where there is none."""
        if len(self) == 0:
            return None
        if not self.whole and not self.parts:  # all are of one Block: they are copied once
            assert self._last is not None
            order = np.argsort(self.hashes[-1], kind="stable")
            return self._last.take(order if self._rows is None else self._rows[order])
        self._copy()
        if self.whole:
            return concatenate(self.parts)
        order = np.argsort(np.concatenate(self.hashes), kind="stable")
        return concatenate(self.parts).take(order)

    def in_memory(self) -> InMemory | None:
        """What `block` is, with what was made of it the last time."""
        if self._whole is None and len(self):
            block = self.block()
            assert block is not None
            self._whole = InMemory(block)
        return self._whole

    def part(self) -> Sample | None:
        """The sample that would have been kept of these examples, were they too many to keep; None where it is all."""
        if not self.whole or self.nnz <= self.capacity:
            return None
        self._copy()
        part = Sample(self.capacity, parts=self.parts, hashes=self.hashes, nnz=self.nnz)
        part._lower()
        part._thin()
        return part

    def state(self) -> State:
        self._copy()
        block = concatenate(self.parts) if self.parts else None
        limit = np.array([self.limit & _MASK, self.hard], dtype=np.uint64)
        if block is None:
            return {"limit": limit}
        arrays = {
            "limit": limit,
            "hashes": np.concatenate(self.hashes),
            "indptr": block.indptr,
            "indices": block.indices,
            "values": block.values,
            "labels": block.labels,
            "weights": block.weights,
            "offsets": block.offsets,
        }
        return {name: array for name, array in arrays.items() if array is not None}

    def restore(self, state: State) -> None:
        _check(state)
        self.limit = int(state["limit"][0]) or _WHOLE
        self.hard = bool(state["limit"][1:].any())
        if "hashes" in state:
            self.clear()
            self.hashes = [state["hashes"]]
            self.parts = [
                Block(
                    state["indptr"], state["indices"], state["values"], state.get("labels"),
                    state.get("weights"), offsets=state.get("offsets"),
                )
            ]  # fmt: skip
            self.nnz = len(state["values"])

    def clear(self) -> None:
        self.parts, self.hashes, self.nnz, self._whole = [], [], 0, None
        self._last = self._rows = None

    def _keep(self, block: Block, hashes: NDArray[np.uint64]) -> None:
        self._copy()
        rows = None if self.limit == _WHOLE else np.flatnonzero(hashes < np.uint64(self.limit))
        if rows is not None:
            hashes = hashes[rows]
        if len(hashes):
            self._whole, self._last, self._rows = None, block, rows
            self.hashes.append(hashes)
            self.nnz += int(self._last_sizes().sum())
        if self.nnz > (max(self.capacity, self.whole_capacity) if self.whole else self.capacity):
            self._lower()
            self._thin()

    def _last_sizes(self) -> NDArray[np.int64]:
        """How many non-zeros each row has that stays of the last Block."""
        assert self._last is not None
        sizes = np.diff(self._last.indptr)
        return sizes if self._rows is None else sizes[self._rows]

    def _copy(self) -> None:
        """The rows that stay of the last Block become one of the parts."""
        if self._last is not None:
            self.parts.append(self._last if self._rows is None else self._last.take(self._rows))
            self._last = self._rows = None

    def _lower(self) -> None:
        """Halve the limit until what lies below it fits."""
        sizes = [np.diff(part.indptr) for part in self.parts]
        if self._last is not None:
            sizes.append(self._last_sizes())
        hashes = np.concatenate(self.hashes)
        below = np.cumsum(np.bincount(_bits(hashes), np.concatenate(sizes), 65))
        self.limit = 1 << max(0, int(np.count_nonzero(below <= self.capacity)) - 1)

    def _thin(self) -> None:
        if self.limit == _WHOLE:
            return
        limit, parts, hashes = np.uint64(self.limit), self.parts, self.hashes
        last, rows, self.nnz = self._last, self._rows, 0
        self.clear()
        for block, own in zip(parts, hashes, strict=False):
            stay = np.flatnonzero(own < limit)
            if len(stay):
                self.parts.append(block.take(stay))
                self.hashes.append(own[stay])
                self.nnz += self.parts[-1].nnz
        if last is not None:
            stay = np.flatnonzero(hashes[-1] < limit)
            if len(stay):
                self._last, self._rows = last, stay if rows is None else rows[stay]
                self.hashes.append(hashes[-1][stay])
                self.nnz += int(self._last_sizes().sum())


def _by_loss(losses: Floats) -> NDArray[np.uint64]:
    """Small where the loss is large: half as small, about, where it is twice as large."""
    share = 1 / (1 + 2.0**20 * losses)
    return (share * _LARGEST).astype(np.uint64)


def _losses_of(hashes: NDArray[np.uint64]) -> Floats:
    """The losses that these hashes were made of."""
    losses: Floats = (_LARGEST / np.maximum(hashes.astype(np.float64), 1.0) - 1) / 2.0**20
    return losses


def _bits(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits each has: it is below 2^k where it has k or fewer.

    >>> _bits(np.array([0, 1, 255, 256, 2**64 - 1], dtype=np.uint64)).tolist()
    [0, 1, 8, 9, 64]
    """
    high, low = hashes >> np.uint64(32), hashes & np.uint64(2**32 - 1)
    bits = np.where(
        high > 0, np.frexp(high.astype(np.float64))[1] + 32, np.frexp(low.astype(np.float64))[1]
    )
    return bits.astype(np.int64)


@dataclass(frozen=True)
class Examples:
    """A sample as one output sees it."""

    sample: Sample
    whole: bool
    """They are all examples that there are."""
    hard: bool
    """They are those with the largest losses in the pass that has just ended, and have most of all losses."""
    positive: float
    """The label of the class that this output asks for."""
    work: float
    """Products that their solution may take."""

    @classmethod
    def of(cls, sample: Sample, positive: float, losses: float) -> Examples | None:
        """What the sample holds, of all `losses`; None where that is nothing."""
        if not len(sample):
            return None
        hard = sample.hard and sample.loss >= MOST * losses
        work = MOST_WORK * min(max(1.0, sample.nnz / SAMPLE), MOST_TIMES)
        return cls(sample, sample.whole, hard, positive, work)

    def part(self) -> Examples | None:
        """The sample of all examples, where they are more than that; its solution may cost as much as some passes."""
        part = self.sample.part() if self.whole else None
        work = PASSES_WORTH * self.sample.nnz
        return None if part is None else Examples(part, False, False, self.positive, work)

    @property
    def memory(self) -> InMemory:
        memory = self.sample.in_memory()
        assert memory is not None
        return memory

    @property
    def block(self) -> Block:
        return self.memory.block

    @property
    def labels(self) -> Floats:
        assert self.block.labels is not None
        return self.block.labels

    @property
    def weight(self) -> float:
        block = self.block
        return float(len(block) if block.weights is None else block.weights.sum())


@dataclass(frozen=True)
class SampleSettings:
    """The settings of a run over a sample: those of the whole run, with limits of its own."""

    algorithm: str
    link: str
    fit_intercept: bool
    penalize_intercept: bool
    capacity: int | None
    tau: float
    tol: float
    max_passes: int = MOST_PASSES

    @classmethod
    def like(cls, whole: Settings, tol: float, max_passes: int = MOST_PASSES) -> SampleSettings:
        names = ("algorithm", "link", "fit_intercept", "penalize_intercept", "capacity", "tau")
        return cls(**{name: getattr(whole, name) for name in names}, tol=tol, max_passes=max_passes)


def most_sweeps(
    settings: Settings, certificate: Certificate, history: list[dict[str, float]]
) -> int:
    """Of Shooting, over the model of a pass: far from the optimum its minimum is far off too, and not worth many."""
    last = [entry["objective"] for entry in history[-2:]]
    if isinstance(settings, SampleSettings) and (
        len(last) < 2 or abs(last[0] - last[1]) > MOVING * last[1]
    ):
        return MOVING_SWEEPS
    return FAR_SWEEPS if certificate.gap > FAR * certificate.objective else MOST_SWEEPS


def _check(state: State) -> None:
    """What a file says is a sample must be well formed rows."""
    if "limit" in state and len(state["limit"]) not in (1, 2):  # the limit; whether by losses
        raise ValueError("tensor 'sample.limit' holds other numbers than a limit")
    if "hashes" not in state:
        check_state(state, {"limit": Tensor("uint64", ("limits",))}, "sample.")
        return
    index = state["indices"].dtype.name if "indices" in state else "int32"
    check_state(
        state,
        {
            "limit": Tensor("uint64", ("limits",)),
            "hashes": Tensor("uint64", ("n",)),
            "indptr": Tensor("int64", ("n+1",), least=0),
            "indices": Tensor("int64" if index == "int64" else "int32", ("nnz",), least=0),
            "values": Tensor("float32", ("nnz",)),
            "labels": Tensor("float64", ("n",)),
            "weights": Tensor("float64", ("n",), optional=True, least=0),
            "offsets": Tensor("float64", ("n",), optional=True),
        },
        "sample.",
    )
    indptr = state["indptr"]
    if indptr[0] != 0 or indptr[-1] != len(state["values"]) or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of the sample do not fit together")
