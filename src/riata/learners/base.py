"""What every learner is: frozen parameters, explicit state, learn and score."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from itertools import pairwise
from typing import Any, ClassVar, NoReturn, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from riata.block import Block, event_block
from riata.errors import DataError

Floats = NDArray[np.float64]
State = dict[str, NDArray[Any]]

STORES = ("auto", "dense", "table", "hashed")
TO_SAVE = 1.5
"""Memory that it takes to save a model, as a multiple of its own: 1.24 was measured at most, of most families."""


def option(default: Any, help: str, choices: tuple[str, ...] = (), shown: str = "") -> Any:
    """A parameter of a learner, with what the command line shows for it.

    `shown` says what the default is where it depends on other parameters.
    """
    return field(default=default, metadata={"help": help, "choices": choices, "shown": shown})


def store_option() -> Any:
    """The parameter `store`, which the families that have it share."""
    return option(
        "auto",
        "an array by index (dense), a table of what is alive, or a fixed size (hashed); "
        "auto: dense for numbered features, table for named ones",
        STORES,
    )


class Learner(ABC):
    """A linear model that learns Blocks.

    Subclasses are frozen dataclasses: their fields are the parameters, and what they have learned is in
    `state()`. The labels of a Block are class codes 0, 1, ... for classification, numbers for regression.

    Threads may share a learner: they learn in turns, a Block each, and read, score and save at any time. For
    several calls that belong together, hold `lock`: nobody learns meanwhile.
    """

    family: ClassVar[str]
    outputs: int
    hash_key: ClassVar[bytes | None] = None  # by which names become keys, as `use_hash_key` has it
    lock: ClassVar[Lock]  # of the instance: not a field of the dataclasses
    """Held while a Block is learned."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        learner = super().__new__(cls)
        object.__setattr__(learner, "lock", new_lock(learner, "lock"))
        return learner

    @property
    @abstractmethod
    def task(self) -> str:
        """`"classification"` or `"regression"`."""

    @property
    @abstractmethod
    def t(self) -> int:
        """Examples learned so far."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """One more than the largest feature index seen; of named features, how many have a weight."""

    @property
    def wants_names(self) -> bool:
        """Whether names of features are of use for learning: sources need not make them otherwise."""
        return True

    @property
    def scores_by_name(self) -> bool:
        """Whether names of features are of use for scoring."""
        return True

    @property
    def by_feature(self) -> list[tuple[str, Mapping[Any, Any]]]:
        """Parameters with a value of its own for some features, by name or number."""
        values = self.parameters()
        found = ((name, values.get(name)) for name in ("bounds", "prior_variance"))
        return [(name, value) for name, value in found if isinstance(value, Mapping)]

    def all_names(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """UTF-8 of the names of all features that there is state of, and where they begin and end."""
        state = self.state()
        nothing = np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        return (state["names"], state["name_offsets"]) if "names" in state else nothing

    @abstractmethod
    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Floats:
        """Learn the rows one after another; the score of each just before it was learned, (n, outputs)."""

    @abstractmethod
    def score(self, block: Block) -> Floats:
        """The score of each row, (n, outputs), by the weights as they are now."""

    def learn_one(
        self, features: Mapping[str, Any], label: float, weight: float = 1.0
    ) -> list[float]:
        """Learn one event of named features; its scores just before."""
        event = event_block(features, label, weight, self.hash_key)
        return list(self.learn(event)[0].tolist())

    def score_one(self, features: Mapping[str, Any]) -> list[float]:
        """The scores of one event, by the weights as they are now."""
        return list(self.score(event_block(features, key=self.hash_key))[0].tolist())

    @abstractmethod
    def losses(self, scores: Floats, labels: Floats) -> Floats:
        """The learner's own loss of each row, summed over outputs."""

    @abstractmethod
    def probability(self, scores: Floats) -> Floats | None:
        """The probability of the second of two classes, (n, 1), or of each of several; None where the loss has none."""

    def probability_one(self, scores: list[float]) -> list[float] | None:
        """The same for the scores of one event."""
        probability = self.probability(np.array([scores]))
        return None if probability is None else list(probability[0].tolist())

    @abstractmethod
    def coef(self) -> tuple[NDArray[np.int64], Floats]:
        """Features with a weight other than zero, ascending, and their weights (live, outputs), brought current."""

    @property
    @abstractmethod
    def intercept(self) -> Floats:
        """One number an output."""

    @abstractmethod
    def n_live(self) -> int:
        """How many weights are not zero."""

    def names(self, keys: NDArray[np.int64]) -> list[str] | None:
        """The names of these features; None where features are numbers."""
        return None

    @property
    def takes_more_classes(self) -> bool:
        """Whether `with_outputs` can be asked for."""
        return False

    def with_outputs(self, outputs: int) -> Self:
        """The same model with more columns, for classes that joined later."""
        raise ValueError(
            f"a model of family {self.family!r} cannot take more classes later: name all of them at the start"
        )

    def end_pass(self) -> None:
        """The training loop has come to the end of the data: once a pass."""

    @property
    def planned_passes(self) -> int | None:
        """The most passes it makes, where it counts them itself; None where the caller says how many."""
        return None

    @property
    def verdict(self) -> str | None:
        """How far the optimum can be, in words, where the family knows."""
        return None

    @property
    def complete(self) -> bool:
        """Another pass would change nothing."""
        return False

    def finish(self) -> None:
        """The training loop is done: the last pass has ended."""

    @abstractmethod
    def state(self) -> State:
        """All that was learned, as arrays: `from_state` continues from there with the same bits."""

    @abstractmethod
    def _restore(self, state: State) -> None: ...

    def parameters(self) -> dict[str, Any]:
        """The parameters, as JSON can hold them."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.init}  # type: ignore[arg-type]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], state: State) -> Self:
        """The learner that `parameters()` and `state()` were taken from. A ValueError where they do not fit."""
        from riata.learners.state_check import check_parameters  # training does without

        check_parameters(cls, parameters, state)
        learner = cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in parameters.items()})
        learner._restore(state)
        return learner

    def _remade(self, parameters: Mapping[str, Any], state: State) -> Self:
        """Another learner of this kind, for the same names."""
        learner = self.from_state(parameters, state)
        learner.use_hash_key(self.hash_key)
        return learner

    @property
    def to_save(self) -> float:
        """Memory that it takes to save the model, as a multiple of its own."""
        return TO_SAVE

    def limit_memory(self, most: int) -> None:
        """A hint: so many bytes are there for the model. For families whose memory one example could exhaust."""

    def use_hash_key(self, hash_key: bytes | None) -> None:
        """Hash the names of events by this key, 16 bytes, as the names of what was learned were."""
        if hash_key is not None and len(hash_key) != 16:
            raise ValueError(f"a hash key has 16 bytes, not {len(hash_key)}")
        object.__setattr__(self, "hash_key", hash_key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.parameters(), self.state(), self.hash_key)


class CompiledLearner(Learner):
    """A learner whose state is in a model of the compiled core."""

    _core: Any

    @property
    def t(self) -> int:
        return int(self._core.t)

    @property
    def n_features(self) -> int:
        if not self._core.named:
            return int(self._core.features)
        return self.n_live() if self.outputs == 1 else len(self.coef()[0])

    def n_live(self) -> int:
        return int(self._core.live_weights)

    def names(self, keys: NDArray[np.int64]) -> list[str] | None:
        return decoded(*self._core.names(keys)) if self._core.named else None

    def state(self) -> State:
        with self.lock:
            state: State = self._core.snapshot()
            return state


def _rebuild(cls: Any, parameters: Any, state: State, hash_key: bytes | None = None) -> Learner:
    learner: Learner = cls.from_state(parameters, state)
    learner.use_hash_key(hash_key)
    return learner


ARRAY_LIMIT = 1 << 37
"""No array has so many rows or, where a row is many numbers, so many numbers: an address space has an end."""


def only_keys(indices: NDArray[Any], width: int = 1) -> bool:
    """Whether these features can be kept in a table alone: an array of rows this wide would be too large.

    >>> only_keys(np.array([1 << 60])), only_keys(np.array([1 << 33])), only_keys(np.array([1 << 33]), width=48)
    (True, False, True)
    """
    limit = ARRAY_LIMIT // max(1, width)
    largest = (1 << (8 * indices.itemsize - 1)) - 1
    if len(indices) == 0 or largest < limit:
        return False
    return bool(indices.max() >= limit)


def decoded(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
    """Names that stand one after another.

    >>> decoded(np.frombuffer(b"onetwo", dtype=np.uint8), np.array([0, 3, 6]))
    ['one', 'two']
    """
    whole = text.tobytes()
    return [whole[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets.tolist())]


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")


def check_number(
    name: str,
    value: float,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    infinite: bool = False,
) -> None:
    """Refuse what is not a number in the stated range."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} is not a number") from None
    wrong = (
        math.isnan(number)
        or (math.isinf(number) and not infinite)
        or (above is not None and number <= above)
        or (least is not None and number < least)
        or (below is not None and number >= below)
    )
    if wrong:
        terms = [
            f"above {above:g}" if above is not None else "",
            f"at least {least:g}" if least is not None else "",
            f"below {below:g}" if below is not None else "",
        ]
        wanted = " and ".join(t for t in terms if t) or "a finite number"
        raise ValueError(f"{name}={value!r} must be {wanted}")


def offsets_for(block: Block, outputs: int) -> Floats | None:
    """What is added to the score of each row. With a score for each of several classes nobody can say to which."""
    if block.offsets is not None and outputs > 1:
        row = int(np.argmax(block.offsets != 0))
        raise DataError(
            f"{block.where(row)}: an initial prediction (offset) is added to the one score of a model of two "
            f"classes or of a regression; this model has {outputs} classes, a score for each: leave it out"
        )
    return block.offsets


class Lock(Protocol):
    """As much of `threading.RLock` as is needed here.

    After a fork only the forking thread lives on. A lock that another thread held would never open in the child, and
    what that thread was changing is half changed there: such a lock refuses in the child, with what to do.
    """

    def acquire(self) -> bool: ...
    def release(self) -> None: ...
    def __enter__(self) -> bool: ...
    def __exit__(self, kind: Any, error: Any, trace: Any, /) -> None: ...


class _Refused:
    """In place of a lock that a thread which no longer lives had."""

    def acquire(self) -> NoReturn:
        raise RuntimeError(
            "this process was forked while another thread was learning this model: it is in the middle of a "
            "step here. Fork before learning starts, or load the model from a file in the child"
        )

    __enter__ = __exit__ = acquire


_owners: dict[int, tuple[weakref.ref[object], str]] = {}
"""Learners and others that have a lock, by id, and the name of the attribute."""


def new_lock(owner: object, name: str) -> Lock:
    """A lock for this attribute of its owner. The thread that has it may take it again."""
    place = id(owner)
    _owners[place] = weakref.ref(owner, lambda _: _owners.pop(place, None)), name
    return threading.RLock()


@contextlib.contextmanager
def both_locks(one: Any, other: Any) -> Iterator[None]:
    """The locks of two learners, in the same order whichever of them is named first."""
    first, second = (one, other) if id(one) <= id(other) else (other, one)
    with first.lock, second.lock:
        yield


def _after_fork() -> None:
    for reference, name in list(_owners.values()):
        lock = getattr(owner := reference(), name, None)
        if lock is None or isinstance(lock, _Refused):
            continue
        if lock.acquire(blocking=False):
            lock.release()
        else:
            object.__setattr__(owner, name, _Refused())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
