"""Labels and weights that come beside a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.errors import DataError


def check_labels(y: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Labels as float64, one a row, finite. None stays None.

    >>> check_labels([True, False], 2)
    array([1., 0.])
    """
    if y is None:
        return None
    labels = _column(y, "y", n_rows)
    _refuse_first(labels, ~np.isfinite(labels), "y", "labels must be finite numbers")
    return labels


def check_weights(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Weights as float64, one a row (or one for all), finite and not negative. None stays None."""
    if weights is None:
        return None
    if np.ndim(weights) == 0:
        weights = np.full(n_rows, weights)
    checked = _column(weights, "sample_weight", n_rows)
    _refuse_first(checked, ~np.isfinite(checked), "sample_weight", "weights must be finite")
    _refuse_first(checked, checked < 0, "sample_weight", "weights must not be negative")
    return checked


def _column(values: Any, name: str, n_rows: int) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{name} must have one number a row; its shape is {array.shape}")
    if len(array) != n_rows:
        raise DataError(f"{name} has {len(array)} entries for {n_rows} rows; give one a row")
    if array.dtype.kind not in "biufO":
        raise DataError(f"{name} must be numbers, not {array.dtype}; encode class names first")
    try:
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from None


def _refuse_first(
    values: NDArray[np.float64], bad: NDArray[np.bool_], name: str, rule: str
) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"{name} is {values[row]} at row {row}; {rule}")
