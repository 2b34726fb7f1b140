"""
The compiled core of Riata: kernels behind learners and sources. Not a public interface.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def schedules() -> list[str]:
    """Every learning rate schedule, by name."""

def losses() -> list[tuple[str, bool, bool, str]]:
    """
    Every loss: its name, whether it classifies, whether it gives probabilities, its parameter's name.
    """

def loss_value(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], parameter: float = 0.0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def loss_slope(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], parameter: float = 0.0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def loss_probability(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

class Linear:
    """A linear model: a rule over a store, columns wide."""

    def __init__(self, family: str, update: str, store: str, loss: str, normalize: str, columns: int, fit_intercept: bool, numbers: Mapping[str, float]) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    def coefficients(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]:
        """
        Keys of the rows with a non-zero weight, and their weights, brought current.
        """

    def rows(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]:
        """Keys of the live rows and their state as it is."""

    def set_rows(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def clock(self) -> list[float]: ...

    @clock.setter
    def clock(self, arg: Sequence[float], /) -> None: ...

    @property
    def intercept(self) -> list[float]: ...

    @intercept.setter
    def intercept(self, arg: Sequence[float], /) -> None: ...

    @property
    def t(self) -> int: ...

    @t.setter
    def t(self, arg: int, /) -> None: ...

    @property
    def features(self) -> int: ...

    @features.setter
    def features(self, arg: int, /) -> None: ...

    @property
    def rate_factor(self) -> float: ...

    @rate_factor.setter
    def rate_factor(self, arg: float, /) -> None: ...

    def prune(self, threshold: float) -> None:
        """Weights up to this size become zero."""

    @property
    def live_weights(self) -> int: ...

    @property
    def bytes(self) -> int: ...
