"""What a sweep has found: a record for each setting, which is best, and its model."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import riata
from riata.atomic import atomic_write
from riata.errors import ModelError, SettingsError
from riata.record import Model
from riata.sweeping.grid import Setting
from riata.sweeping.learner import Columns
from riata.sweeping.tally import describe

FORMAT = "riata-sweep"
VERSION = 1
SELECT = ("min", "1se")


class Models:
    """The models of a sweep, each made when it is asked for."""

    def __init__(self, columns: Columns | None = None, trained: Model | None = None) -> None:
        self._columns, self._trained = columns, trained
        self._made: dict[int, Model] = {}
        self._classes: NDArray[Any] | None = None

    def rename(self, classes: NDArray[Any] | None) -> None:
        """What the class codes stand for, where the data had codes only."""
        self._classes = classes

    def __contains__(self, s: int) -> bool:
        return self._columns is not None and bool(self._columns.alive[s])

    def __getitem__(self, s: int) -> Model:
        trained, columns = self._trained, self._columns
        if columns is None or trained is None:
            raise KeyError(s)
        if s not in self._made:
            learner, loss = columns.learner_of(s), columns.losses_of[s]
            record = trained.record.with_loss(loss)
            classes = trained.classes if self._classes is None else self._classes
            self._made[s] = Model(learner, classes, record)
        return self._made[s]


@dataclass
class Sweep:
    """A record for each setting, in the order of the grid; the models of a sweep that was just made.

    Of a record: `method`, `parameters`, `loss` (what settings are compared by, `metric` says what it is), its
    standard error `se`, `difference` to the best with the interval `low` to `high`, `non_zeros`, `progressive_loss`
    (the setting's own, of all passes), `status` ("", or how it ended before the others), and for classes `auc`,
    `accuracy`, `calibration_error`, for numbers `r2`.
    """

    records: list[dict[str, Any]]
    metric: str
    select: str
    folds: int | None
    examples: int
    """Examples that were judged, in one pass."""
    passes: int
    data: list[str]
    interrupted: bool = False
    models: Models = field(default_factory=lambda: Models(), repr=False)

    def __post_init__(self) -> None:
        if self.select not in SELECT:
            raise SettingsError(f"select is one of {', '.join(SELECT)}, not {self.select!r}")

    @property
    def ranking(self) -> list[int]:
        """Settings by their loss, those that ended early behind the others."""
        loss = [_number(r["loss"]) for r in self.records]
        ended = [bool(r["status"]) for r in self.records]
        return sorted(range(len(loss)), key=lambda i: (ended[i], loss[i], i))

    @property
    def best_index_(self) -> int:
        """The setting that `select` says: the least loss, or the sparsest that is not worse than it by more than
        its standard error."""
        first = self.ranking[0]
        if self.select == "min":
            return first
        best = self.records[first]
        bound = _number(best["loss"]) + (best["se"] or 0.0)
        near = [
            i for i, r in enumerate(self.records) if not r["status"] and _number(r["loss"]) <= bound
        ]
        return min(
            near, key=lambda i: (self.records[i]["non_zeros"], _number(self.records[i]["loss"]))
        )

    @property
    def best_(self) -> dict[str, Any]:
        """Its record."""
        return self.records[self.best_index_]

    @property
    def best_params_(self) -> dict[str, Any]:
        """The parameters of the setting that was chosen."""
        return dict(self.best_["parameters"])

    @property
    def frame(self) -> Any:
        """The records as a pandas frame, best first, a column for each parameter."""
        import pandas as pd

        rows = [{"setting": i} | flat(self.records[i]) for i in self.ranking]
        return pd.DataFrame(rows).set_index("setting")

    def model(self, i: int | None = None) -> Model:
        """The model of a setting, which learned all examples; of the best one where none is named."""
        chosen = self.best_index_ if i is None else i
        if not 0 <= chosen < len(self.records):
            raise IndexError(f"there are settings 0 to {len(self.records) - 1}, not {chosen}")
        if chosen not in self.models:
            status = (
                self.records[chosen]["status"] or "it was not kept: this result came from a file"
            )
            raise SettingsError(f"setting {chosen} has no model: {status}")
        return self.models[chosen]

    # As a file

    def to_json(self) -> dict[str, Any]:
        """The records and how they were made, as `save` writes them."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "riata": riata.__version__,
            "metric": self.metric,
            "select": self.select,
            "folds": self.folds,
            "examples": self.examples,
            "passes": self.passes,
            "data": self.data,
            "interrupted": self.interrupted,
            "best": self.best_index_,
            "ranking": self.ranking,
            "settings": self.records,
        }

    def finite(self) -> dict[str, Any]:
        """The same as JSON can have it: what is not a finite number is None."""
        found: dict[str, Any] = _finite(self.to_json())
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """The records, without the models, as JSON."""
        content = json.dumps(self.finite(), indent=1, allow_nan=False)
        with atomic_write(path) as file:
            file.write(content.encode() + b"\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sweep:
        """What `save` wrote. A file that is something else is a ModelError."""
        try:
            values = json.loads(Path(path).read_bytes())
        except ValueError as error:
            raise ModelError(f"{path}: not the result of a sweep: {error}") from None
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise ModelError(f"{path}: not the result of a sweep")
        if not isinstance(values.get("version"), int) or values["version"] > VERSION:
            raise ModelError(
                f"{path}: written by a newer Riata ({str(values.get('riata'))[:40]}): upgrade Riata"
            )
        try:
            return cls(
                records=_checked(values["settings"]),
                **{
                    name: values[name]
                    for name in ("metric", "select", "folds", "examples", "passes", "data")
                },
                interrupted=bool(values["interrupted"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{path}: damaged: {error!r}") from None


def _checked(records: Any) -> list[dict[str, Any]]:
    names = {"method", "parameters", "loss", "status", "non_zeros", "se"}
    if not isinstance(records, list) or not records:
        raise ValueError("no settings")
    if not all(isinstance(r, dict) and names <= r.keys() for r in records):
        raise ValueError("a setting lacks some of its values")
    return records


def _number(value: float | None) -> float:
    return math.inf if value is None or math.isnan(value) else value


def _finite(value: Any) -> Any:
    """As JSON can have it: what is not a finite number is null."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its parameters beside the rest."""
    rest = {k: v for k, v in record.items() if k not in ("method", "parameters")}
    return {"method": record["method"]} | dict(record["parameters"]) | rest


def student_t(degrees: int) -> float:
    """The 97.5 % point of Student's t (Cornish & Fisher's series around the normal one; exact to 1e-3 from 3 on).

    >>> round(student_t(9), 2), round(student_t(1000), 2)
    (2.26, 1.96)
    """
    if degrees < 1:
        return math.nan
    if degrees < 3:
        return (12.706, 4.303)[degrees - 1]
    z, n = 1.959964, float(degrees)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / n**k for k, term in enumerate(terms, 1))


def records_of(columns: Columns) -> list[dict[str, Any]]:
    """What is known of each setting now."""
    tally, settings = columns.judged, columns.settings
    loss = tally.loss
    alive = columns.alive
    best = columns.leader()
    spread, paired = tally.spread(), tally.spread(best)
    reach = student_t(tally.degrees)
    records = []
    for s, setting in enumerate(settings):
        there = bool(alive[s])
        mean = float(loss[s]) if there else columns.loss_then.get(s, math.inf)
        difference = mean - float(loss[best])
        half = float(paired[s]) * reach if there else math.nan
        records.append(
            {
                "method": setting.family,
                "parameters": dict(setting.parameters),
                "loss": mean,
                "se": _known(spread[s]) if there else None,
                "difference": difference,
                "low": _known(difference - half),
                "high": _known(difference + half),
                "non_zeros": columns.live_of(s),
                "progressive_loss": columns.losses_of[s].value,
                "status": columns.ended.get(s, ""),
                **(describe(tally, s) if there else {}),
            }
        )
    return records


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def result_of(columns: Columns, trained: Model, select: str) -> Sweep:
    """The result of a run, and a model for each setting that has come to its end."""
    found = Sweep(
        records=records_of(columns),
        metric=columns.predictor.metric,
        select=select,
        folds=None if columns.folds is None else columns.folds.folds,
        examples=columns.judged.examples,
        passes=trained.record.passes,
        data=list(trained.record.data),
        interrupted=trained.record.interrupted,
    )
    found.models = Models(columns, trained)
    return found


def frontier(records: Sequence[Mapping[str, Any]]) -> list[int]:
    """Settings that no other one beats both in loss and in sparsity, the sparsest first.

    >>> rows = [{"loss": 0.3, "non_zeros": 9, "status": ""}, {"loss": 0.4, "non_zeros": 2, "status": ""},
    ...         {"loss": 0.5, "non_zeros": 5, "status": ""}]
    >>> frontier(rows)
    [1, 0]
    """
    there = [i for i, r in enumerate(records) if not r["status"]]
    ordered = sorted(there, key=lambda i: (records[i]["non_zeros"], _number(records[i]["loss"])))
    found: list[int] = []
    for i in ordered:
        if not found or _number(records[i]["loss"]) < _number(records[found[-1]]["loss"]):
            found.append(i)
    return found


def varied(settings: Sequence[Setting]) -> list[str]:
    """The parameters that differ from setting to setting."""
    values: dict[str, set[str]] = {}
    for setting in settings:
        for name, value in setting.parameters:
            values.setdefault(name, set()).add(repr(value))
    some = [name for name, found in values.items() if len(found) > 1]
    return some or list(values)
