"""
The compiled core of Riata: kernels behind learners and sources. Not a public interface.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def plain_exp(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """The kernels' own exp, for tests."""

def probit_tilt(z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
    """
    phi / Phi, minus the second derivative of ln Phi, and ln Phi, for tests.
    """

def standard_normals(seed: int, t: int, count: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """The samples that update='vb' uses for example t."""

class Bayesian:
    """Independent Gaussian posteriors over a store, columns wide."""

    def __init__(self, store: str, update: str, link: str, mean: str, variance: str, prior_variances: Sequence[float], views: Sequence[str], prior_mean: float, intercept_variance: float, fit_intercept: bool, half_life: float, share: float, outputs: int, samples: int, seed: int, bits: int, own_priors: bool, ignore_unseen: bool, named_variances: Mapping[str, float]) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, outputs: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, outputs: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, outputs: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, outputs: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def moments(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]: ...

    @overload
    def moments(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]: ...

    def posterior(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]:
        """
        Keys of the features learned; their means, precisions, prior means and prior precisions, current.
        """

    def intercept_posterior(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]: ...

    def rows(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]: ...

    def set_rows(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

    @property
    def named(self) -> bool: ...

    def names(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
        """
        The names of these keys, as bytes and offsets; empty where there is none.
        """

    @property
    def intercept(self) -> list[float]: ...

    @intercept.setter
    def intercept(self, arg: Sequence[float], /) -> None: ...

    @property
    def log_evidence(self) -> list[float]: ...

    @log_evidence.setter
    def log_evidence(self, arg: Sequence[float], /) -> None: ...

    @property
    def t(self) -> int: ...

    @t.setter
    def t(self, arg: int, /) -> None: ...

    @property
    def features(self) -> int: ...

    @features.setter
    def features(self, arg: int, /) -> None: ...

    @property
    def columns(self) -> int: ...

    @property
    def row_width(self) -> int: ...

    @property
    def live_weights(self) -> int: ...

    @property
    def bytes(self) -> int: ...

def key_of_name(name: bytes) -> int:
    """The 63-bit key of a feature's name, given in UTF-8."""

def schedules() -> list[str]:
    """Every learning rate schedule, by name."""

def losses() -> list[tuple[str, bool, bool, str]]:
    """
    Every loss: its name, whether it classifies, whether it gives probabilities, its parameter's name.
    """

def loss_value(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], parameter: float = 0.0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def loss_slope(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], parameter: float = 0.0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def row_losses(loss: str, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], parameter: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    The loss of every row, summed over columns; labels as a learner takes them.
    """

def loss_probability(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

class Linear:
    """A linear model: a rule over a store, columns wide."""

    def __init__(self, family: str, update: str, store: str, loss: str, normalize: str, columns: int, fit_intercept: bool, numbers: Mapping[str, float]) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

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

    def set_rows(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

    @property
    def named(self) -> bool: ...

    def names(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
        """
        The names of these keys, as bytes and offsets; empty where there is none.
        """

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

def event(features: dict[str, object]) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32], NDArray[numpy.uint8], NDArray[numpy.int64]]:
    """The keys, values, names and name offsets of one event."""

def learn_event(model: Linear, features: dict[str, object], label: float, weight: float) -> tuple[bool, list[float]]:
    """
    The scores before learning, and whether it was learned: not where the model has diverged.
    """

def score_event(model: Linear, features: dict[str, object]) -> list[float]: ...

@overload
def inspect_rows(indptr: NDArray[numpy.int64], indices: NDArray[numpy.int32], values: NDArray[numpy.float32], n_columns: int) -> tuple[str, int, int, bool]: ...

@overload
def inspect_rows(indptr: NDArray[numpy.int64], indices: NDArray[numpy.int64], values: NDArray[numpy.float32], n_columns: int) -> tuple[str, int, int, bool]:
    """
    (flaw or '', its row, its position, whether rows are ascending without zeros)
    """

@overload
def first_not_finite(dense: NDArray[numpy.float32]) -> int: ...

@overload
def first_not_finite(dense: NDArray[numpy.float64]) -> int:
    """
    Where the first entry is that is not a finite float32, counted row by row.
    """

@overload
def compress_rows(dense: NDArray[numpy.float32]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]: ...

@overload
def compress_rows(dense: NDArray[numpy.float64]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]:
    """The entries that are not zero: indptr, indices, values."""

SVMLIGHT_PADDING: int = 64

def parse_svmlight(text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int, zero_based: bool, labelled: bool) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int32] | NDArray[numpy.int64], NDArray[numpy.float32], NDArray[numpy.int64], int, tuple[str, int, bytes, int] | None]:
    """
    Rows of the first `size` bytes of svmlight text, which are whole lines.

    Returns labels, indptr, indices (from 0), values, the line of each row (from 0), the number of lines read,
    and None or what was wrong with the line after them: (kind, column from 1, excerpt, previous index).
    The text is not copied if it ends in a newline and SVMLIGHT_PADDING more bytes follow within the buffer.
    """
