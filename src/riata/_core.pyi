"""
The compiled core of Riata: kernels behind learners and sources. Not a public interface.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


class Model:
    """
    A model that is learned one example at a time: rows of state by feature.
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
    def row_width(self) -> int: ...

    @property
    def live_weights(self) -> int: ...

    @property
    def bytes(self) -> int: ...

class Interior:
    """The L1-regularised delta rule by interior points, columns wide."""

    def __init__(self, loss: str, normalize: str, columns: int, fit_intercept: bool, dimension: int, numbers: Mapping[str, float], bounds: tuple[float, float] | None, own_bounds: Mapping[int, tuple[float, float]], group_bounds: Mapping[str, tuple[float, float]]) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], keep: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], keep: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def judge(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

    @overload
    def judge(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]:
        """
        Sums at the weights that are read: (loss, slope and weight a column, gradients, features never seen).
        """

    def intervals(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """Where the weights of the features seen may be: low and high."""

    def weights(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]:
        """Features seen, in the order in which they came, and their weights."""

    def polish(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Weights to read, in the order of `weights`, until another example is learned.
        """

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """
        All of the model's state at one moment, by name: keys are the features of all slots, negative ones first for those never seen.
        """

    def restore(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate_factor: float, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

    @property
    def named(self) -> bool: ...

    @property
    def intercept(self) -> list[float]: ...

    @property
    def read_intercept(self) -> list[float]: ...

    @property
    def steps(self) -> list[float]: ...

    @property
    def t(self) -> int: ...

    @property
    def features(self) -> int: ...

PADDING: int = 64

class ParseError:
    """What is wrong with a line of text."""

    def __init__(self, kind: str, column: int, text: bytes) -> None: ...

    @property
    def kind(self) -> str:
        """The key of a message."""

    @property
    def column(self) -> int:
        """From 1."""

    @property
    def text(self) -> bytes:
        """The offending text, shortened."""

    @property
    def detail(self) -> str:
        """What else the message mentions: the name of a column."""

    @property
    def previous(self) -> int:
        """In svmlight: the index before it, as written."""

class ParsedRows:
    """
    The rows of some text up to the first line that cannot be read.

    `indices` are numbers of features from 0, or keys of their names. `lines` are the lines of the rows,
    from 0, and `n_lines` those read without error; `error` is what is wrong with the next one.
    """

    @property
    def labels(self) -> NDArray[numpy.float64]: ...

    @property
    def weights(self) -> NDArray[numpy.float64] | None: ...

    @property
    def offsets(self) -> NDArray[numpy.float64] | None: ...

    @property
    def indptr(self) -> NDArray[numpy.int64]: ...

    @property
    def indices(self) -> NDArray[numpy.int32] | NDArray[numpy.int64]: ...

    @property
    def values(self) -> NDArray[numpy.float32]: ...

    @property
    def names(self) -> NDArray[numpy.uint8] | None: ...

    @property
    def name_offsets(self) -> NDArray[numpy.int64] | None: ...

    @property
    def lines(self) -> NDArray[numpy.int64]: ...

    @property
    def n_lines(self) -> int: ...

    @property
    def error(self) -> ParseError | None: ...

def text_keys(name: str, offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8]) -> NDArray[numpy.int64]:
    """The keys of the features `name=text`."""

def respelled(offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8]) -> NDArray[numpy.uint8] | None:
    """
    The bytes of the texts with True, TRUE, False and FALSE as `true` and `false`; None: there are none.
    """

class ColumnError:
    """What is wrong with a cell of a table."""

    @property
    def kind(self) -> str: ...

    @property
    def row(self) -> int: ...

    @property
    def column(self) -> int:
        """Its number, from 0."""

class TableRows:
    """Rows of a table up to the first that cannot be read: `error` says why."""

    @property
    def indptr(self) -> NDArray[numpy.int64]: ...

    @property
    def keys(self) -> NDArray[numpy.int64]: ...

    @property
    def values(self) -> NDArray[numpy.float32]: ...

    @property
    def names(self) -> NDArray[numpy.uint8] | None: ...

    @property
    def name_offsets(self) -> NDArray[numpy.int64] | None: ...

    @property
    def error(self) -> ColumnError | None: ...

class Columns:
    """Columns of a table, to be read as rows of named features."""

    def __init__(self, n_rows: int) -> None: ...

    @overload
    def number(self, name: str, values: NDArray[numpy.float64], valid: NDArray[numpy.uint8] | None, log1p: bool = False, centre: float = 0.0, scale: float = 1.0) -> None:
        """A column of numbers; those where `valid` is 0, and NaN, are missing."""

    @overload
    def number(self, name: str, values: Decoded, log1p: bool = False, centre: float = 0.0, scale: float = 1.0) -> None: ...

    @overload
    def bucket(self, name: str, values: NDArray[numpy.float64], valid: NDArray[numpy.uint8] | None, edges: Sequence[float], buckets: Sequence[str]) -> None:
        """The same, each number being the feature of the bucket it falls into."""

    @overload
    def bucket(self, name: str, values: Decoded, edges: Sequence[float], buckets: Sequence[str]) -> None: ...

    def text(self, name: str, offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8], valid: NDArray[numpy.uint8] | None, lists: NDArray[numpy.int64] | None) -> None:
        """A column of texts, or of lists of texts."""

    def words(self, name: str, offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8], valid: NDArray[numpy.uint8] | None, spec: tuple[tuple[int, int, int, int], str, bool]) -> None:
        """A column of texts whose n-grams are features."""

    @overload
    def coded(self, name: str, codes: NDArray[numpy.int32], offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8], keys: NDArray[numpy.int64], valid: NDArray[numpy.uint8] | None, lists: NDArray[numpy.int64] | None) -> None:
        """
        A column of codes into a dictionary of texts, or of lists of codes; a negative code is missing.
        """

    @overload
    def coded(self, name: str, values: Decoded) -> None: ...

    def cross(self, crosses: Sequence[Sequence[str]]) -> None:
        """Multiply the features of columns, once all are there."""

    def read(self, first: int, last: int, names: bool, missing: bool) -> TableRows:
        """Rows `first` up to `last`, perhaps from several threads at once."""

class CsvFormat:
    """How to read text in columns."""

    def __init__(self, columns: Sequence[tuple[str, str, str, str, Sequence[float], Sequence[str], float, float, tuple[tuple[int, int, int, int], str, bool]]], label_names: Sequence[str], absent: Sequence[str], delimiter: str, quote: str, labelled: bool, names: bool, crosses: Sequence[Sequence[str]], decimal_comma: bool = False) -> None: ...

    def parse(self, text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int, skip_header: bool) -> ParsedRows:
        """Rows of the first `size` bytes, which are whole records."""

    def parse_arff(self, text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int) -> ParsedRows:
        """The same for the data of an ARFF file."""

class DictFormat:
    """How to read dicts by a schema."""

    def __init__(self, columns: Sequence[tuple[str, str, str, str, Sequence[float], Sequence[str], float, float, tuple[tuple[int, int, int, int], str, bool]]], open: bool, absent: Sequence[str], missing: bool, as_written: bool = False) -> None: ...

    def read(self, features: Mapping[str, object]) -> dict[str, object]:
        """
        The features that a dict means, as names and numbers; a ValueError where it does not fit.
        """

    def event(self, features: Mapping[str, object]) -> Mapping[str, object]:
        """The same, as events of the core take it: not always a dict."""

class ReadEvent:
    """A dict that was read by a schema."""

class JsonFormat:
    """How to read JSON objects, one a line."""

    def __init__(self, columns: Sequence[tuple[str, str, str, str, Sequence[float], Sequence[str], float, float, tuple[tuple[int, int, int, int], str, bool]]], open: bool, label_names: Sequence[str], absent: Sequence[str], missing: bool, labelled: bool, names: bool, crosses: Sequence[Sequence[str]], as_written: bool = False) -> None: ...

    def parse(self, text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int) -> ParsedRows:
        """Rows of the first `size` bytes, which are whole lines."""

def exp(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """The core's own exp, for tests."""

def log(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """The core's own log, for tests."""

def log1p(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """The core's own log(1 + x), for tests."""

def wide_log1p(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """The same in fewer steps, for tests."""

def one_minus_exp_of_minus(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """1 - exp(-x) for x from 0 to 708, for tests."""

def normal_cdf(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """The core's own, for tests."""

def bounded_exp(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """exp(x), and for |x| > 700 the value at 700 or -700, for tests."""

def probit_derivatives(z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
    """
    phi / Phi, minus the second derivative of ln Phi, and ln Phi, for tests.
    """

def standard_normals(seed: int, t: int, count: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """The samples that update='vb' uses for example t."""

RECALIBRATION_WIDTH: int = 9

def recalibrate(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], state: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, keep: float) -> None:
    """
    Correct log odds in place; with labels, each by the examples before it, and learn from them.
    """

def recalibration(state: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> list[tuple[float, float, float]]:
    """
    For every output, what multiplies ln(p) and -ln(1 - p), and what is added.
    """

class Posterior:
    """Rows of a Bayesian model, brought current; columns side by side."""

    @property
    def keys(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
        """Of the features that were learned, ascending."""

    @property
    def means(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def precisions(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def prior_means(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def prior_precisions(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

class Bayesian(Model):
    """Independent Gaussian posteriors over a store, columns wide."""

    def __init__(self, store: str, update: str, link: str, mean: str, variance: str, prior_variances: Sequence[float], views: Sequence[str], prior_mean: float, intercept_variance: float, fit_intercept: bool, half_life: float, share: float, outputs: int, samples: int, seed: int, bits: int, own_priors: bool, ignore_unseen: bool, named_variances: Mapping[str, float]) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, outputs: int, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, outputs: int, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, outputs: int, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, outputs: int, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def moments(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]: ...

    @overload
    def moments(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]: ...

    def posterior(self) -> Posterior:
        """Of the features that were learned."""

    def intercept_posterior(self) -> Posterior: ...

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All of the model's state at one moment, by name."""

    @property
    def log_evidence(self) -> list[float]: ...

    @log_evidence.setter
    def log_evidence(self, arg: Sequence[float], /) -> None: ...

    @property
    def columns(self) -> int: ...

def rows_of(offsets: NDArray[numpy.int32], entries: int) -> NDArray[numpy.int64]:
    """
    The same in 64 bits. ValueError unless they ascend from 0 to `entries`.
    """

def checksum(data: bytes | bytearray | memoryview | NDArray[numpy.uint8]) -> int:
    """A 64-bit checksum."""

class Checksum:
    """The same of bytes that come in pieces."""

    def __init__(self) -> None: ...

    def add(self, data: bytes | bytearray | memoryview | NDArray[numpy.uint8]) -> None: ...

    def end(self) -> int:
        """Once, and then no more."""

class NameNumbers:
    """Features, numbered as they come."""

    def __init__(self, base: int = 0, text: bool = False, hash_key: bytes | None = None) -> None: ...

    def number(self, keys: NDArray[numpy.int64], names: NDArray[numpy.uint8], name_offsets: NDArray[numpy.int64]) -> NDArray[numpy.uint32] | None:
        """From `base` on. None where names must be text, and one is not."""

    def arrays(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]:
        """Names, and where each begins."""

    def __len__(self) -> int: ...

    @property
    def full(self) -> bool:
        """It is time for another one."""

class NameList:
    """Names, by the numbers of features."""

    def __init__(self, names: NDArray[numpy.uint8], name_offsets: NDArray[numpy.int64], base: int = 0) -> None: ...

    def __len__(self) -> int: ...

    def names(self, numbers: NDArray[numpy.uint32]) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]:
        """One behind another, and where each begins."""

class LabelCounts:
    """How class codes follow one another in a stream."""

    def __init__(self) -> None: ...

    def add(self, codes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """The next class codes: 0, 1, 2, ..."""

    @property
    def examples(self) -> int: ...

    @property
    def changes(self) -> int:
        """How many labels are not the one before."""

    @property
    def run(self) -> int:
        """How many examples at the end are of one class."""

    @property
    def last(self) -> int:
        """The class code of the last example."""

    @property
    def length(self) -> int:
        """How many examples are in a piece."""

    @property
    def ended(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
        """How many runs of each class have ended."""

    @property
    def pieces(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C')]:
        """Of each class in each piece of the stream, pieces by rows."""

def losses() -> list[tuple[str, bool, bool, str]]:
    """
    Every loss: its name, whether it classifies, whether it gives probabilities, its parameter's name.
    """

def loss_value(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], parameter: float = 0.0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def loss_slope(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], parameter: float = 0.0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def implicit_slope(loss: str, p: float, y: float, parameter: float, strength: float) -> float:
    """s = slope(p - strength s): the slope after the step that it leads to."""

def row_losses(loss: str, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], parameter: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    The loss of every row, summed over columns; labels as a learner takes them.
    """

def probability(loss: str, p: float) -> float: ...

def loss_probability(loss: str, p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def key_of_name(name: bytes) -> int:
    """The 63-bit key of a feature's name, given in UTF-8."""

def instructions() -> tuple[list[str], str]:
    """
    The instruction sets that the processor has and kernels use, and the one that is used.
    """

def schedules() -> list[str]:
    """Every learning rate schedule, by name."""

class Linear(Model):
    """A linear model: a rule over a store, columns wide."""

    def __init__(self, family: str, update: str, store: str, loss: str, normalize: str, columns: int, fit_intercept: bool, numbers: Mapping[str, float]) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_list: NameList | None = None, name_numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, held: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_list: NameList | None = None, name_numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, held: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    def coefficients(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]:
        """
        Keys of the rows with a non-zero weight, and their weights, brought current.
        """

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All of the model's state at one moment, by name."""

    @property
    def rule_state(self) -> list[float]: ...

    @rule_state.setter
    def rule_state(self, arg: Sequence[float], /) -> None: ...

    @property
    def rate_factor(self) -> float: ...

    @rate_factor.setter
    def rate_factor(self, arg: float, /) -> None: ...

    def prune(self, threshold: float) -> None:
        """Weights up to this size become zero."""

    @overload
    def apply(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
        """The values as they are scored."""

    @overload
    def apply(self, indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]: ...

    def roots(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """The root mean squares of features; 1 of those never seen."""

    def set_sums(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

def log_losses(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """
    The log loss of every score of every setting, (settings, n); labels are 1 or something else.
    """

def tally_log_odds(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, smallest: float, positives: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], negatives: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], calibration: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], correct: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """
    The log losses, no chance counting as less than `smallest`; histograms and counts are added to.
    """

class Bank:
    """Many settings of one rule, learned side by side."""

    def __init__(self, family: str, update: str, loss: str, normalize: str, outputs: int, fit_intercept: bool, settings: Sequence[Mapping[str, float]], groups: int) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], folds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int, str, int]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], folds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], int, str, int]: ...

    def unit(self, setting: int, group: int) -> dict[str, NDArray[Any]]:
        """
        What a linear model of this setting that learned what the group did has as its state.
        """

    def live_weights(self) -> list[int]:
        """How many weights of each unit are not zero, group by group."""

    def keep(self, settings: Sequence[int]) -> None:
        """Leave out all others, for good."""

    def set_rate_factors(self, factors: Sequence[float]) -> None:
        """What the learning rates of each setting are multiplied by from now on."""

    @property
    def bytes(self) -> int: ...

class RunningScale:
    """Values divided by their feature's running root mean square."""

    def __init__(self, store: str, bits: int) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
        """The values of rows in this order, each by what came up to it."""

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]: ...

    def sums(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]:
        """Keys, and how often each was not zero beside the sum of its squares."""

    @property
    def bytes(self) -> int: ...

    @overload
    def apply(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
        """The values as they are scored."""

    @overload
    def apply(self, indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]: ...

    def roots(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """The root mean squares of features; 1 of those never seen."""

    def set_sums(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

def event(features: Mapping[str, object], hash_key: bytes | None = None) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32], NDArray[numpy.uint8], NDArray[numpy.int64]]:
    """The keys, values, names and name offsets of one event."""

def set_hash_key(model: Linear, hash_key: bytes | None) -> None:
    """By which hash events' names get their keys."""

def check_event(label: float, weight: float) -> None:
    """ValueError if one cannot be learned."""

def learn_event(model: Linear, features: Mapping[str, object], label: float, weight: float) -> list[float] | None:
    """
    The scores before learning; None where the model has diverged, and has not learned.
    """

def score_event(model: Linear, features: Mapping[str, object]) -> list[float]: ...

class Places:
    """Where keys stand in a list."""

    def __init__(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def find(self, keys: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    @overload
    def find(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
        """Of each key its place, or -1."""

@overload
def hashed_places(keys: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

@overload
def hashed_places(keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
    """The rows of a hashed store that these features have."""

def strongest_entries(indptr: NDArray[numpy.int64], sizes: NDArray[numpy.float64], most: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Of each row the entries that are largest in absolute value, without zeros: where rows begin, and entries; how many are not zero; sums of all, and of those.
    """

def name_groups(names: NDArray[numpy.uint8], offsets: NDArray[numpy.int64], columns: Sequence[str], most: int) -> tuple[NDArray[numpy.int32], list[bytes]]:
    """
    The namespace or column of each name, as a number, and what these are called; -1: of too many.
    """

def explanation_lines(format: str, fields: list[tuple[bytes, object]], others: list[tuple[bytes, object]], starts: NDArray[numpy.int64], places: NDArray[numpy.int64], indices: NDArray[numpy.int64], base: int, names: NDArray[numpy.uint8] | None, name_offsets: NDArray[numpy.int64] | None, values: NDArray[numpy.float64], weights: NDArray[numpy.float64], contributions: NDArray[numpy.float64], deviations: NDArray[numpy.float64] | None) -> bytes:
    """
    Rows as lines of json, or several lines of csv each: what they have in common, and the entries at `places`.
    """

class Fingerprint:
    """A rolling fingerprint of examples, however they are cut into Blocks."""

    def __init__(self) -> None: ...

    @overload
    def add(self, indptr: NDArray[numpy.int64], indices: NDArray[numpy.int32], values: NDArray[numpy.float32], labels: NDArray[numpy.float64] | None, weights: NDArray[numpy.float64] | None, offsets: NDArray[numpy.float64] | None, start: int, stop: int) -> None: ...

    @overload
    def add(self, indptr: NDArray[numpy.int64], indices: NDArray[numpy.int64], values: NDArray[numpy.float32], labels: NDArray[numpy.float64] | None, weights: NDArray[numpy.float64] | None, offsets: NDArray[numpy.float64] | None, start: int, stop: int) -> None:
        """Rows [start, stop) of a Block."""

    @property
    def rows(self) -> int: ...

    def digest(self) -> int:
        """Of all rows so far; more may follow."""

def keys_of_names(names: NDArray[numpy.uint8], offsets: NDArray[numpy.int64], hash_key: bytes | None = None) -> NDArray[numpy.int64]:
    """The 63-bit keys of names that lie one behind another."""

def read_at(descriptor: int, start: int, size: int) -> NDArray[numpy.uint8]:
    """Bytes of an open file from there on: fewer where the file has no more."""

@overload
def inspect_rows(indptr: NDArray[numpy.int64], indices: NDArray[numpy.int32], values: NDArray[numpy.float32], n_columns: int) -> tuple[str, int, int, bool]: ...

@overload
def inspect_rows(indptr: NDArray[numpy.int64], indices: NDArray[numpy.int64], values: NDArray[numpy.float32], n_columns: int) -> tuple[str, int, int, bool]:
    """
    (error or '', its row, its position, whether rows are ascending without zeros)
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

def link_term(link: str, margin: float, y: float) -> tuple[float, float, float]:
    """Loss, slope and curvature at a margin, for y -1 or +1."""

def link_apply(link: str, margins: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    The loss of each margin for labels y of -1 and +1, or, without them, the probability of +1.
    """

def shoot(h: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], change: float = 1e-06, violation: float = 0.0, sweeps: int = 10000) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], int, bool]:
    """
    Modified Shooting: the minimum of b'Hb/2 - c'b + sum gamma |b|; the sweeps it took; whether it converged.
    """

class SketchSums:
    """The sums of a pass so far."""

    @property
    def scalars(self) -> list[float]: ...

    @property
    def keys(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
        """The features of the gradient, ascending."""

    @property
    def gradients(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """A column for each part of the pass."""

class Sketch:
    """The sums of one pass at a fixed point."""

    def __init__(self, link: str, fit_intercept: bool, full: bool) -> None: ...

    def begin(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: float, curved: bool = True) -> None: ...

    def came_from(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: float) -> None: ...

    def along(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
        """
        Parts of the step that led to the point of the pass, and the loss at each.
        """

    def outside(self, threshold: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]: ...

    def active_gradient(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def solve(self, gamma: float, gamma0: float, change: float, violation: float, sweeps: int, low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], int, bool]: ...

    def merge(self, other: Sketch) -> None: ...

    def curvature(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def set_curvature(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    def sums(self) -> SketchSums: ...

    def set_sums(self, scalars: Sequence[float], keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], features: int) -> None: ...

    @property
    def curved(self) -> bool: ...

    @property
    def keys(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

    @property
    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By slot: the intercept first, where there is one."""

    @property
    def fingerprint(self) -> tuple[int, int, int]: ...

    @fingerprint.setter
    def fingerprint(self, arg: tuple[int, int, int], /) -> None: ...

    @property
    def loss(self) -> float: ...

    @property
    def slope(self) -> float: ...

    @property
    def weight(self) -> float: ...

    @property
    def positive(self) -> float: ...

    @property
    def absolute_slope(self) -> float: ...

    @property
    def dual(self) -> float: ...

    @property
    def largest(self) -> float: ...

    @property
    def features(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @overload
    def accumulate(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, positive: float, threads: int, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]: ...

    @overload
    def accumulate(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, positive: float, threads: int, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
        """
        Adds the examples to the pass; their scores at its point, and their losses, without their weights.
        """

class Scorer:
    """Weights by feature, to score with."""

    def __init__(self) -> None: ...

    def set(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

class FeatureIndex:
    """Named features, numbered as they come."""

    def __init__(self) -> None: ...

    def translate(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    def name(self, arg: int, /) -> bytes: ...

    def arrays(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
        """Keys, names and name offsets, by number."""

    def take(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
        """The same without a copy: nothing is left here."""

    def __len__(self) -> int: ...

def add_rows(into: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
    """Add each row to that of `into` whose number is given."""

class SortedSums:
    """
    Rows of numbers by ascending key, to which those of other lists are added.
    """

    def __init__(self, width: int) -> None: ...

    def rewind(self) -> None:
        """Another list begins."""

    def add(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None:
        """The next rows of a list, with keys above all of it before."""

    def take(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
        """Keys, rows, names and name offsets; nothing is left here."""

    @property
    def width(self) -> int: ...

    def __len__(self) -> int: ...

@overload
def row_hashes(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]: ...

@overload
def row_hashes(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]:
    """
    A hash of each example: of its length, and its first, middle and last feature.
    """

class InMemorySolution:
    """Weights by feature, and what is known of them."""

    @property
    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def intercept(self) -> float: ...

    @property
    def objective(self) -> float: ...

    @property
    def gap(self) -> float:
        """The objective is at most this much above its minimum."""

    @property
    def converged(self) -> bool:
        """The gap is within the tolerance."""

    @property
    def steps(self) -> int: ...

    @property
    def pulls(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """The negative gradient of the losses, by feature."""

class ExampleColumns:
    """Examples in memory, by columns."""

    def __init__(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], features: int) -> None: ...

    def solve(self, link: str, fit_intercept: bool, signs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, gamma: float, gamma0: float, low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, tolerance: float = 1e-06, tau: float = 0.8, capacity: int = 0, start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, intercept: float = 0.0, work: float = 4000000000.0) -> InMemorySolution:
        """
        The minimum of the losses + gamma sum |b| + gamma0 |intercept|, inside the bounds.
        """

class OnlineSketch:
    """A sketch that follows its examples one by one."""

    def __init__(self, link: str, fit_intercept: bool, penalize_intercept: bool, gamma: float, horizon: float, change: float, block_size: int) -> None: ...

    def flush(self) -> None: ...

    def merge(self, other: OnlineSketch) -> None: ...

    @property
    def keys(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

    @property
    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def vectors(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """Weights, theta and the negative gradient of the model, by slot."""

    def triples(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]: ...

    def waiting(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]]: ...

    def set_waiting(self, arg0: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg2: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg3: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    def restore(self, arg0: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg1: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], arg2: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg3: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg4: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg5: int, arg6: int, /) -> None: ...

    @property
    def t(self) -> int: ...

    @property
    def refreshed(self) -> int: ...

    @property
    def features(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def max_bytes(self) -> int:
        """
        The most that pairs of features may take: an example that could need more is refused.
        """

    @max_bytes.setter
    def max_bytes(self, arg: int, /) -> None: ...

    @property
    def refused(self) -> tuple[int, int]:
        """
        The features of the last example that was, and the bytes that it could have needed.
        """

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, positive: float, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, positive: float, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        Learns the examples; the score of each just before. Fewer of them where one was refused.
        """

class Decoded:
    """Rows of a column of a Parquet file."""

    def __len__(self) -> int: ...

    @property
    def respelled(self) -> bool:
        """Whether its texts have true or false among them in another spelling."""

    @property
    def is_text(self) -> bool: ...

    @property
    def shared(self) -> int:
        """
        The same number for all rows whose codes point into the same texts, while they live.
        """

    def arrow(self) -> tuple[NDArray[numpy.generic], NDArray[numpy.uint8] | None, int]:
        """
        The values of the rows, or the codes of texts; bits that say which are there; how many are not.
        """

    def texts(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint8]]:
        """What codes point into: offsets and bytes."""

class ParquetColumn:
    """The bytes of a column of a Parquet file to values."""

    def __init__(self, kind: str, optional: bool, name: str, names: bool, codec: str) -> None:
        """`codec` is '', 'snappy', or any other: the caller unpacks those pages."""

    def begin(self, rows: int) -> None:
        """So many rows are wanted now."""

    def fill(self) -> tuple[bool, int] | None:
        """
        Read rows; None once those wanted are there. (False, n): n more bytes are needed at least.
        (True, n): a page must be unpacked to n bytes.
        """

    def give(self, bytes: NDArray[numpy.uint8]) -> None:
        """The next bytes of the column, where `fill` asked for them."""

    def packed(self) -> NDArray[numpy.uint8]:
        """The page that must be unpacked."""

    def unpacked(self, bytes: NDArray[numpy.uint8]) -> None:
        """The same, unpacked."""

    def take(self) -> Decoded:
        """The rows."""

SINGLE_WIDTH: int = 6

def single_scale(state: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> list[tuple[float, float]]:
    """For every row of it, what multiplies a score, and what is added."""

class Portfolio(Model):
    """Many settings side by side over a store, averaged."""

    def __init__(self, store: str, members: Sequence[tuple[str, str, float]], intercept_variance: float, fit_intercept: bool, drop: bool, correct: bool, outputs: int, multinomial: bool, bits: int, joint: Sequence[float] = [], threads: int = 1) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def member_scores(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def member_scores(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    def snapshot(self, rows: bool = True) -> dict[str, NDArray[Any]]:
        """
        All of the model's state at one moment, by name; `settings` are the numbers of the members left.
        """

    def set_evidence(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], losses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], recent_losses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], claims: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], worth: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gaps: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], corrections: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def set_rest(self, intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], single: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], t: int, features: int) -> None: ...

    def set_joint(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], variances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], seen: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def end_joint(self) -> None: ...

class Regression(Model):
    """Bayesian regressions side by side over a store, averaged."""

    def __init__(self, store: str, members: Sequence[tuple[bool, float, float]], joint: Sequence[float], intercept_variance: float, fit_intercept: bool, bits: int) -> None: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def learn(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, name_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def score(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @overload
    def moments(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """Mean and variance of the label of every row."""

    @overload
    def moments(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    def snapshot(self, rows: bool = True) -> dict[str, NDArray[Any]]:
        """All of the model's state at one moment, by name."""

    def set_rest(self, intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], losses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], t: int, features: int) -> None: ...

    def set_joint(self, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], variances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], seen: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def end_joint(self) -> None: ...

def parse_svmlight(text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int, zero_based: bool, labelled: bool, instructions: str = ...) -> ParsedRows:
    """
    Rows of the first `size` bytes of svmlight text, which are whole lines.

    `instructions` (plain, avx2, avx512) asks for a reader narrower than the processor allows.
    The text is not copied if it ends in a newline and PADDING more bytes follow within the buffer.
    """

def parse_vw(text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int, labelled: bool, names: bool, crosses: Sequence[Sequence[str]]) -> ParsedRows:
    """
    Rows of the first `size` bytes of Vowpal Wabbit text, which are whole lines.
    """

def expand_vw(text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int, ngrams: Sequence[tuple[str, int]], all: int, ignored: Sequence[str]) -> bytes:
    """
    The same lines with n-grams of features written behind them, and without namespaces that are ignored.
    """

def character_ranges() -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """
    What characters are to words: rows of first, last and kind (place in `Kind` of characters.hpp); and how they are folded: rows of first, last, step, and what is added to every step-th of them.
    """

def tokenise(texts: Sequence[str | bytes], spans: tuple[int, int, int, int], weight: str, prefix: str, names: bool) -> ParsedRows:
    """
    Each text as a row of its n-grams; an error has the number of the text in `n_lines` and the first byte that is no UTF-8, from 0, in `column`.
    """

class TextWeights:
    """In how many texts n-grams were, and what they are worth for it."""

    def __init__(self, columns: Sequence[tuple[str, bool, bool, int]], keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int = 4194304) -> None: ...

    def weigh(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], learn: bool) -> None:
        """Multiply the values of rows in place, each by what was before it."""

    def arrays(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint32]]:
        """Keys and counts, in the order of the keys."""

    def documents(self) -> list[int]:
        """How many texts each column had."""

    def clear(self) -> None: ...

    def __len__(self) -> int: ...

def table_rows(columns: list[NDArray[numpy.float64] | tuple[NDArray[numpy.int64], list[str]]], delimiter: str) -> bytes:
    """Columns as lines of text, with numbers as Python has them."""

def write_text(format: str, indptr: NDArray[numpy.int64], indices: NDArray[numpy.int64], values: NDArray[numpy.float32], labels: NDArray[numpy.float64] | None, weights: NDArray[numpy.float64] | None, names: NDArray[numpy.uint8] | None, name_offsets: NDArray[numpy.int64] | None, base: int, offsets: NDArray[numpy.float64] | None) -> tuple[bytes, int]:
    """
    Rows as svmlight or vw text, and how many names had to be written in another way.
    """
