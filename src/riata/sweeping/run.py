"""sweep(): many settings in one read of the data."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from riata.errors import DataError, SettingsError
from riata.learners import Learner
from riata.record import Model, Progress
from riata.sources import Source
from riata.sweeping.folds import FoldOf
from riata.sweeping.grid import DEFAULT_METHOD, Grid, Setting, settings_of
from riata.sweeping.learner import Columns
from riata.sweeping.memory import Estimate, estimate
from riata.sweeping.result import SELECT, Sweep, result_of
from riata.training import partial_model, train
from riata.training.safeguards import MemoryLimit

MOST_THREADS = 8


class Job:
    """A sweep that is about to run: its settings and folds are checked, and what it will take is known."""

    def __init__(
        self,
        grid: Grid,
        method: str | Sequence[str] = DEFAULT_METHOD,
        *,
        folds: int | None = None,
        group: Any = None,
        select: str = "min",
        prune: bool = False,
        random_state: int = 0,
        threads: int | None = None,
        given_folds: Any = None,
    ) -> None:
        if select not in SELECT:
            raise SettingsError(f"select is one of {', '.join(SELECT)}, not {select!r}")
        if group is not None and folds is None:
            raise SettingsError("group says which examples share a fold: name the number of folds")
        self.settings: list[Setting] = settings_of(grid, method)
        self.select, self.prune, self.random_state = select, prune, random_state
        self.threads = threads or min(MOST_THREADS, os.cpu_count() or 1)
        self.folds = None
        if folds is not None:
            self.folds = FoldOf(folds, group, random_state=random_state, given=given_folds)
        self.columns: Columns | None = None
        """What is learned, once the first rows have said what the classes are."""

    def make(self, outputs: int) -> Learner:
        self.columns = Columns(
            self.settings,
            outputs,
            folds=self.folds,
            prune=self.prune,
            seed=self.random_state,
            threads=self.threads,
        )
        return self.columns

    def wants_names(self) -> bool:
        """Whether the names of features are of use to any of them."""
        by_column = self.folds is not None and self.folds.by_column
        return by_column or any(setting.make(1).wants_names for setting in self.settings)

    def estimate(self, source: Source, max_memory: int | str | None = None) -> Estimate:
        """What it will take. An error where that is too much."""
        folds = None if self.folds is None else self.folds.folds
        features = getattr(source, "n_columns", None)
        found = estimate(
            self.settings, folds, max_memory=max_memory, features=features, threads=self.threads
        )
        found.check()
        return found

    def run(
        self,
        source: Source,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        max_memory: int | str | None = None,
        **options: Any,
    ) -> Sweep:
        """Train all of them. Ctrl-C gives what was learned so far; so does `partial_sweep(error)` after an error."""
        options = {"random_state": self.random_state} | options
        rows = source.n_rows
        if self.folds is not None and rows is not None and self.folds.folds > rows:
            raise SettingsError(
                f"{self.folds.folds} folds of {rows:,} examples: there must be at least one for each fold"
            )
        limit = MemoryLimit(max_memory)
        watched = _Watched(source, self)
        try:
            trained = train(
                watched, self.make, on_progress=on_progress, max_memory=limit, **options
            )
        except Exception as error:
            learned = partial_model(error)
            if learned is not None and self.columns is not None:
                error._riata_sweep = self._result(learned)  # type: ignore[attr-defined]
            raise
        found = self._result(trained)
        try:
            self._check_folds(source)
        except DataError as error:  # all examples were learned even so
            error._riata_sweep = found  # type: ignore[attr-defined]
            raise
        return found

    def _result(self, trained: Model) -> Sweep:
        assert self.columns is not None
        return result_of(self.columns, trained, self.select)

    def _check_folds(self, source: Source) -> None:
        columns = self.columns
        if columns is None or columns.folds is None:
            return
        columns.folds.check_found(source.name, _columns_of(source))
        empty = np.flatnonzero(columns.judged.weights <= 0)
        if len(empty) and columns.whole is not None:
            raise DataError(
                f"{source.name}: {len(empty)} of {columns.folds.folds} folds have no example "
                f"({columns.judged.examples:,} in all): take fewer folds"
            )


def _columns_of(source: Source) -> list[str]:
    schema = getattr(source, "schema", None)
    return [] if schema is None else [column.name for column in schema.columns]


class _Watched:
    """The source, with a look at the first Blocks: a group column that is not there ends the sweep at once."""

    def __init__(self, source: Source, job: Job) -> None:
        self._source, self._job = source, job

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def __iter__(self) -> Any:
        rows = 0
        for block in self._source:
            yield block
            rows += len(block)
            folds = self._job.folds
            columns = self._job.columns
            if folds is not None and columns is not None and columns.t >= 10_000:
                folds.check_found(self._source.name, _columns_of(self._source))


def partial_sweep(error: BaseException) -> Sweep | None:
    """The result as it was when `error` ended the sweep, or None where nothing was learned."""
    return getattr(error, "_riata_sweep", None)
