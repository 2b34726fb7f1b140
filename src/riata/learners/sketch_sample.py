"""A bounded sample of the examples, kept in memory: where the passes of a sketch start.

Newton's steps from zero take a dozen passes on data that is nearly separable. On a sample they cost no pass over the
data: the passes begin at the sample's own solution, which is off by the error of sampling alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from riata.block import Block, concatenate
from riata.learners.base import State
from riata.learners.sketch_memory import InMemory
from riata.learners.sketch_points import Certificate, Floats, Settings
from riata.learners.state_check import Tensor, check_state

_WHOLE = 2**64
_MASK = _WHOLE - 1
MOST_PASSES = 100
"""Over a sample."""
FAR, FAR_SWEEPS, MOST_SWEEPS = 0.1, 60, 2000
"""How often to sweep over the model, where the gap is beyond this part of the objective and elsewhere."""
MOVING, MOVING_SWEEPS = 0.05, 20
"""Over a sample, where the next pass is cheap: how often while a step changes the objective by this part of it."""
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass
class Sample:
    """Examples whose hash lies below a limit, which halves whenever they have too many non-zeros.

    The hash is of the example alone, so the same examples are kept in whatever order and in however many parts
    they come.
    """

    capacity: int
    """Most non-zeros to keep."""
    limit: int = _WHOLE
    parts: list[Block] = field(default_factory=list)
    hashes: list[NDArray[np.uint64]] = field(default_factory=list)
    nnz: int = 0
    hard: bool = False
    """The examples with the largest losses are kept, whatever their hash."""
    _whole: InMemory | None = field(default=None, repr=False)
    """All of them, once they are asked for."""

    @property
    def whole(self) -> bool:
        """Nothing was left out."""
        return self.limit == _WHOLE and not self.hard

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def add(self, block: Block, losses: Floats | None = None) -> None:
        """Consider the examples; of hard ones their losses are asked for."""
        if self.capacity == 0 or len(block) == 0:
            return
        if self.hard:
            assert losses is not None
            self._keep(block, _by_loss(losses if block.weights is None else losses * block.weights))
        else:
            self._keep(block, _row_hashes(block))

    def restart(self) -> None:
        """What was kept has done its work: from now on, the hard examples of a pass."""
        self.clear()
        self.limit, self.hard = _WHOLE, True

    def merge(self, other: Sample) -> None:
        self.limit = min(self.limit, other.limit)
        self._thin()
        for block, hashes in zip(other.parts, other.hashes, strict=True):
            self._keep(block, hashes)

    def block(self) -> Block | None:
        """All examples in their order, or some in the order of their hashes; None where there is none."""
        if len(self) == 0:
            return None
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

    def state(self) -> State:
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

    def _keep(self, block: Block, hashes: NDArray[np.uint64]) -> None:
        if self.limit != _WHOLE:
            rows = np.flatnonzero(hashes < np.uint64(self.limit))
            block, hashes = block.take(rows), hashes[rows]
        if len(block):
            self._whole = None
            self.parts.append(block)
            self.hashes.append(hashes)
            self.nnz += int(block.indptr[-1] - block.indptr[0])
        if self.nnz > self.capacity:
            self._lower()
            self._thin()

    def _lower(self) -> None:
        """Halve the limit until what lies below it fits."""
        sizes = np.concatenate([np.diff(part.indptr) for part in self.parts])
        hashes = np.concatenate(self.hashes)
        while sizes.sum() > self.capacity and self.limit > 1:
            self.limit //= 2
            below = hashes < np.uint64(self.limit)
            sizes, hashes = sizes[below], hashes[below]

    def _thin(self) -> None:
        if self.limit == _WHOLE:
            return
        parts, hashes = self.parts, self.hashes
        self.clear()
        for block, own in zip(parts, hashes, strict=True):
            rows = np.flatnonzero(own < np.uint64(self.limit))
            if len(rows):
                kept = block.take(rows)
                self.parts.append(kept)
                self.hashes.append(own[rows])
                self.nnz += int(kept.indptr[-1] - kept.indptr[0])


def _row_hashes(block: Block) -> NDArray[np.uint64]:
    """A hash of each example: of its length, and its first, middle and last feature."""
    start, stop = block.indptr[:-1], block.indptr[1:]
    size = stop - start
    mixed = size.astype(np.uint64) * _MIX
    filled = size > 0
    for place in (start, (start + stop) // 2, stop - 1):
        at = place[filled]
        word = block.indices[at].astype(np.uint64) << np.uint64(20)
        word ^= (
            np.ascontiguousarray(block.values[at], dtype=np.float32)
            .view(np.uint32)
            .astype(np.uint64)
        )
        mixed[filled] = _mixed(mixed[filled] ^ word)
    return _mixed(mixed)


def _by_loss(losses: Floats) -> NDArray[np.uint64]:
    """Small where the loss is large: half as small, about, where it is twice as large."""
    share = 1 / (1 + 2.0**20 * losses)
    return (share * (2.0**64 - 2048)).astype(np.uint64)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(31))) * _MIX
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> np.uint64(32))


@dataclass(frozen=True)
class Examples:
    """A sample as one output sees it."""

    memory: InMemory
    whole: bool
    """They are all examples that there are."""
    hard: bool
    """They are those with the largest losses in the pass that has just ended."""
    positive: float
    """The label of the class that this output asks for."""

    @classmethod
    def of(cls, sample: Sample, positive: float) -> Examples | None:
        """What the sample holds; None where that is nothing."""
        memory = sample.in_memory()
        return None if memory is None else cls(memory, sample.whole, sample.hard, positive)

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
