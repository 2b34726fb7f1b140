"""From the arrays of a caller to what learners take: classes to codes, rows to Blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from riata.block import Block
from riata.learners import Learner
from riata.learners.base import Floats
from riata.record import Record
from riata.sources import open_source
from riata.sources.matrix import csr_block


def is_canonical_csr(X: Any) -> bool:
    """CSR that needs no conversion beyond its dtypes: the fast path of single rows."""
    return (
        sp.issparse(X)
        and X.format == "csr"
        and X.dtype.kind == "f"
        and bool(X.has_canonical_format)
    )


def classes_and_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes, ascending, and each label's place among them; a pair of numbers without sorting."""
    if y.dtype.kind in "iuf":
        low, high = y.min(), y.max()
        codes = y == high
        whole = low == int(low) and high == int(high) if np.isfinite(low + high) else False
        if whole and low != high and np.all(codes | (y == low)):
            return np.array([low, high]), codes
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def codes_of(names: NDArray[Any], y: NDArray[Any]) -> Floats:
    """The place of each label among the known classes."""
    if len(names) == 2:
        high = y == names[1]
        known = high | (y == names[0])
        codes: Floats = high.astype(np.float64)
    else:
        order = np.argsort(names, kind="stable")  # classes that joined later are not in order
        places = order[np.minimum(np.searchsorted(names, y, sorter=order), len(names) - 1)]
        known = names[places] == y
        codes = places.astype(np.float64)
    if not known.all():
        unknown = y[np.flatnonzero(~known)[0]]
        raise ValueError(
            f"y has the label {unknown}, which is none of the classes {names.tolist()}"
        )
    return codes


def sample_weights(X: Any, sample_weight: Any) -> Floats | None:
    if sample_weight is None:
        return None
    checked = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    weights: Floats = np.asarray(checked, dtype=np.float64)
    return weights


def blocks_of(X: Any, labels: Floats, weights: Floats | None) -> Iterable[Block]:
    """Rows that have been validated, without the detour through a source where they are sparse: it may be only one."""
    if not is_canonical_csr(X):
        return open_source(X, labels, weights)
    if len(labels) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but y has {len(labels)} labels")
    return (csr_block(X, "X", labels, weights),)


def learn_more(learner: Learner, record: Record, block: Block) -> None:
    assert block.labels is not None
    with learner.lock:  # a save has the record of the weights it has
        weights = None if record.schema is None else record.schema.text_weights
        scores = learner.learn(block if weights is None else weights.learn(block))
        losses, classes = learner.losses(scores, block.labels), learner.task != "regression"
        record.account_for(losses, block.labels, block.weights, classes=classes)
