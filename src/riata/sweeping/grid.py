"""Which settings a sweep tries: grids of parameters, of one family or several."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

import numpy as np

from riata.errors import SettingsError
from riata.learners import FAMILIES, Learner

MOST_SETTINGS = 100_000
"""More than that is a slip of the fingers: every one of them has a column of weights."""
DEFAULT_METHOD = "elastic-net"
_NOT_SWEPT = ("outputs", "seed")
_WORDS = {"true": True, "yes": True, "false": False, "no": False}

Grid = Mapping[str, Any] | Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Setting:
    """One family with the parameters that the grid gives it; the others are at their defaults."""

    family: str
    parameters: tuple[tuple[str, Any], ...]

    def make(self, outputs: int, seed: int = 0) -> Learner:
        """Its learner, empty."""
        family = FAMILIES[self.family]
        more: dict[str, Any] = {"seed": seed} if "seed" in _fields(family) else {}
        if "polish" in _fields(family):  # that takes a pass of its own over the data
            more["polish"] = False
        return family(**more | dict(self.parameters), outputs=outputs)

    def text(self, names: Iterable[str] | None = None) -> str:
        """For people: `elastic-net l1=1e-05`; of the parameters those named, or all.

        >>> Setting("ftrl", (("l1", 0.5), ("alpha", 0.1))).text(["l1"])
        'ftrl l1=0.5'
        """
        wanted = None if names is None else set(names)
        shown = [f"{k}={show(v)}" for k, v in self.parameters if wanted is None or k in wanted]
        return " ".join([self.family, *shown])


def show(value: Any) -> str:
    """
    >>> show(1e-5), show(True), show(0.1234567)
    ('1e-05', 'true', '0.123457')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def _fields(family: type[Learner]) -> dict[str, Field[Any]]:
    return {f.name: f for f in fields(family) if f.init}  # type: ignore[arg-type]


def parameters_of(family: str) -> dict[str, Field[Any]]:
    """What can be swept of a family."""
    return {n: f for n, f in _fields(FAMILIES[family]).items() if n not in _NOT_SWEPT}


def methods_of(method: str | Sequence[str]) -> list[str]:
    """The families that are named, in a list or with commas between them."""
    words = method.split(",") if isinstance(method, str) else list(method)
    names = list(dict.fromkeys(word.strip() for word in words if word.strip()))
    if not names:
        raise SettingsError(f"no method is named: choose of {', '.join(FAMILIES)}")
    for name in names:
        if name not in FAMILIES:
            raise SettingsError(f"{name!r} is not one of the methods {', '.join(FAMILIES)}")
        if name == "sketch":
            raise SettingsError(
                "the sketch finds each penalty's solution from the one before, which a sweep of columns cannot: "
                "train with --method sketch --gamma path --folds 10 (SketchClassifierCV)"
            )
    return names


def settings_of(grid: Grid, method: str | Sequence[str] = DEFAULT_METHOD) -> list[Setting]:
    """Every combination of the values, for each family those of its own parameters.

    A list of dicts is one grid after another; a dict's own "method" goes before `method`.

    >>> [s.text() for s in settings_of({"l1": [0.0, 1.0], "alpha": 0.1}, "ftrl")]
    ['ftrl alpha=0.1 l1=0', 'ftrl alpha=0.1 l1=1']
    """
    grids = [grid] if isinstance(grid, Mapping) else list(grid)
    if not grids or not all(isinstance(one, Mapping) for one in grids):
        raise SettingsError(
            'the grid is empty or not one: give a dict of lists, {"l1": [1e-6, 1e-5]}, or a list of such dicts'
        )
    found: dict[str, Setting] = {}
    for one in grids:
        families = methods_of(one.get("method", method))
        values = {name: _values(name, given) for name, given in one.items() if name != "method"}
        _check_known(values, families)
        for family in families:
            for setting in _combinations(family, values):
                found[repr(setting)] = setting
    if not found:
        raise SettingsError("the grid is empty: name at least one parameter and a value for it")
    settings = list(found.values())
    for setting in settings:
        _check(setting)
    return settings


def _values(name: str, given: Any) -> list[Any]:
    """The values of a parameter: one, or a sequence of them."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        return [given]
    values = [v.item() if isinstance(v, np.generic) else v for v in given]
    if not values:
        raise SettingsError(f"the grid of {name} is empty: give at least one value")
    return values


def _check_known(values: Mapping[str, Any], families: Sequence[str]) -> None:
    known = {name: family for family in families for name in parameters_of(family)}
    for name in values:
        if name in known:
            continue
        owners = [f for f in FAMILIES if name in parameters_of(f)]
        if owners:
            raise SettingsError(
                f"{name!r} is a parameter of {', '.join(owners)}, not of {', '.join(families)}"
            )
        near = get_close_matches(name, known, n=1)
        meant = f": did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
        raise SettingsError(f"{', '.join(families)} has no parameter {name!r}{meant}")


def _combinations(family: str, values: Mapping[str, list[Any]]) -> Iterable[Setting]:
    own = parameters_of(family)
    names = [name for name in own if name in values]
    if values and not names:
        raise SettingsError(
            f"the grid names no parameter of {family} and would try its defaults alone: give values of one of its "
            f"parameters as well, or leave {family} out"
        )
    count = math.prod(len(values[name]) for name in names)
    if count > MOST_SETTINGS:
        raise SettingsError(
            f"the grid has {count:,} settings of {family}, and {MOST_SETTINGS:,} are the most: a column of "
            f"weights each does not fit; take fewer values, or sweep one parameter after another"
        )
    converted = [[_typed(family, name, v) for v in values[name]] for name in names]
    for chosen in itertools.product(*converted):
        yield Setting(family, tuple(zip(names, chosen, strict=True)))


def _typed(family: str, name: str, value: Any) -> Any:
    """A value as the parameter has it: command lines have texts, and whole numbers are floats to others."""
    hint = get_type_hints(FAMILIES[family])[name]
    kinds = [t for t in (get_args(hint) or (hint,)) if t is not type(None)]
    if isinstance(value, list):
        return tuple(value)
    if bool in kinds and isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    if int in kinds and float not in kinds and number == int(number):
        return int(number)
    return number if float in kinds or int in kinds else value


def _check(setting: Setting) -> None:
    try:
        setting.make(1)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{setting.text()}: {error}") from error


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """The grid of a command line: NAME=VALUE,VALUE,... or NAME=FROM:TO:COUNT.

    A range is geometric where both ends are above zero, else even.

    >>> parse_grid(["l1=1e-6:1e-4:3", "update=fobos,sgd"])
    {'l1': [1e-06, 1e-05, 0.0001], 'update': ['fobos', 'sgd']}
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, sign, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name or not values.strip():
            raise SettingsError(
                f"--grid {text!r} is not NAME=VALUES, such as l1=1e-7:1e-3:16 or eta0=0.1,0.5,2"
            )
        if name in grid:
            raise SettingsError(f"--grid names {name} twice: put all of its values into one")
        grid[name] = _range(text, values) if ":" in values else values.split(",")
    return grid


def _range(text: str, values: str) -> list[Any]:
    try:
        low, high, count = values.split(":")
        ends, steps = (float(low), float(high)), int(count)
    except ValueError:
        raise SettingsError(
            f"--grid {text!r}: a range is FROM:TO:COUNT, such as 1e-7:1e-3:16"
        ) from None
    if not all(map(math.isfinite, ends)) or not 1 <= steps <= MOST_SETTINGS:
        raise SettingsError(
            f"--grid {text!r}: a range has finite ends and 1 to {MOST_SETTINGS:,} values"
        )
    geometric = min(ends) > 0
    spaced = np.geomspace(*ends, steps) if geometric else np.linspace(*ends, steps)
    return [float(f"{value:.12g}") for value in spaced]
