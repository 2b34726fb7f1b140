"""riata.sweep: many settings from one read, compared, and each a model like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.errors import SettingsError
from riata.estimators.arrays import classes_and_codes, sample_weights
from riata.estimators.base import LinearEstimator
from riata.estimators.tables import (
    TableWithLabels,
    are_dicts,
    is_table,
    open_examples,
    split_options,
)
from riata.sources import Source, open_source
from riata.sweeping import Job, Sweep
from riata.sweeping.grid import DEFAULT_METHOD, Grid


@dataclass
class SweepResult(Sweep):
    """What `riata.sweep` found. Beside `Sweep`'s records, the models as estimators."""

    def estimator(self, i: int | None = None) -> LinearEstimator:
        """The estimator of a setting, fitted with all examples; of the best one where none is named."""
        from riata.estimators import estimator_of

        return estimator_of(self.model(i))


def sweep(
    source: Any,
    grid: Grid,
    method: str | Sequence[str] = DEFAULT_METHOD,
    *,
    y: Any = None,
    sample_weight: Any = None,
    folds: int | None = None,
    group: Any = None,
    passes: int = 1,
    select: str = "min",
    prune: bool = False,
    random_state: int = 0,
    threads: int | None = None,
    max_memory: int | str | None = None,
    **options: Any,
) -> SweepResult:
    """Train every setting of a grid in the same passes over the data, and compare them on it.

    source : anything `open_source` takes: a path, a matrix or frame (with `y`, or a label column), an open source
    grid : a dict of lists, or a list of such dicts: {"l1": [1e-6, 1e-5], "eta0": [0.1, 0.5]}
    method : the family, or several; a parameter goes to those that have it
    folds : cross-validate: a column more for every fold, which predicts the fold's examples and never learns them.
        Without folds settings are compared by the progressive loss of the first pass
    group : a column, or an array, of which equal values share a fold
    select : "min", or "1se": the sparsest setting that is within a standard error of the best
    prune : leave out settings that another one beats by an anytime-valid test
    options : of reading (`label="clicked"`) and of `riata.training.train` (`shuffle`, `classes`, `class_weight`)

    >>> import numpy as np, riata
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 10))
    >>> y = np.where(X[:, 0] - X[:, 3] + rng.logistic(size=2000) > 0, "yes", "no")
    >>> found = riata.sweep(X, {"l1": [1e-5, 1e-2], "eta0": [0.1, 0.5]}, y=y, folds=5)
    >>> len(found.records), found.metric, found.best_params_["l1"]
    (4, 'log_loss', 1e-05)
    >>> found.estimator().predict(X[:2]).tolist() == y[:2].tolist()
    True
    """
    if isinstance(grid, Mapping) and not grid and isinstance(method, str):
        raise SettingsError(
            'the grid is empty: name at least one parameter and values for it, {"l1": [1e-6, 1e-5]}, or several methods'
        )
    job = Job(
        grid, method, folds=folds, group=group, select=select, prune=prune,
        random_state=random_state, threads=threads,
    )  # fmt: skip
    reading, training = split_options(options)
    reading = {"names": job.wants_names(), "scale": "auto"} | reading
    classes = None
    if y is None:
        examples: Source = open_examples(source, **reading)
    else:
        classes, labels = _labels(y, job.settings[0].make(1).task)
        examples = _with_labels(source, labels, y, sample_weights(source, sample_weight), reading)
        if classes is not None:
            training.setdefault("classes", list(range(len(classes))))
    job.estimate(examples, max_memory)
    found = job.run(examples, passes=passes, max_memory=max_memory, **training)
    found.models.rename(classes)
    return SweepResult(**{f.name: getattr(found, f.name) for f in fields(Sweep)})


def _labels(y: Any, task: str) -> tuple[NDArray[Any] | None, NDArray[np.float64]]:
    """The classes, and the labels as codes; of a regression the labels as they are."""
    if task == "regression":
        return None, np.asarray(y, dtype=np.float64)
    classes, codes = classes_and_codes(np.asarray(y))
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}: a classifier needs at least two"
        )
    return classes, codes.astype(np.float64)


def _with_labels(
    source: Any,
    labels: NDArray[np.float64],
    y: Any,
    weights: NDArray[np.float64] | None,
    reading: dict[str, Any],
) -> Source:
    if is_table(source) or are_dicts(source):
        return TableWithLabels(source, y, weights, **reading).with_labels(labels)
    more = {k: v for k, v in reading.items() if k not in ("names", "scale")}
    return open_source(source, labels, weights, **more)
