"""What a sweep will take, said before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from riata.errors import OutOfMemory
from riata.learners import Learner
from riata.learners.linear import LinearLearner
from riata.sweeping.banks import is_adagrad, key_of, panels_of, shares_of
from riata.sweeping.grid import Setting
from riata.tensor_file import MEMORY_SHARE, allowed
from riata.training.safeguards import parse_size

FEWEST_FEATURES = 1000
"""A sweep that has no room for so many features is refused before it starts."""
_BY_FAMILY = {"bayesian": 128.0}
_OTHERS = 512.0
_NUMBER = 8.0
_SUMS = 2
"""Numbers for what is known of the values of a feature."""


@dataclass(frozen=True)
class Estimate:
    """Bytes for every live feature, and how many there can be."""

    columns: int
    bytes_per_feature: float
    limit: int | None
    features: int | None = None
    """How many features there are, where that is known."""
    sums_per_feature: float = 0.0
    """With schedules, bytes more at most: the running sums of the steps that features were last met at."""

    @property
    def room_for(self) -> int | None:
        return None if self.limit is None else int(self.limit / max(self.bytes_per_feature, 1.0))

    @property
    def text(self) -> str:
        """
        >>> Estimate(64, 520.0, 2 << 30).text
        '64 columns of weights, 520 bytes for every live feature: the memory allowed holds 4,129,776 of them'
        """
        plural = "" if self.columns == 1 else "s"
        each = f"{self.bytes_per_feature:,.0f} bytes for every live feature"
        if self.sums_per_feature > 0:
            each += (
                f" and up to {self.sums_per_feature:,.0f} more for what schedules have summed up"
            )
        first = f"{self.columns:,} column{plural} of weights, {each}"
        if self.features is not None:
            return f"{first}: {_size(self.features * self.bytes_per_feature)} if all {self.features:,} are alive"
        room = self.room_for
        return first if room is None else f"{first}: the memory allowed holds {room:,} of them"

    def check(self) -> None:
        """An error with what would help, where it cannot fit."""
        room = self.room_for
        if room is None:
            return
        needed = FEWEST_FEATURES if self.features is None else self.features
        if room >= min(needed, self.features or needed):
            return
        raise OutOfMemory(
            f"{self.text}, and {_size(self.limit or 0)} are allowed: take fewer settings or folds, sweep one "
            f"parameter after another, hash features into fewer rows (--grid store=hashed --grid bits=18), or raise "
            f"--max-memory"
        )


def _size(n_bytes: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"


def _alone(learner: Learner) -> float:
    """Of a setting in a learner of its own."""
    if isinstance(learner, LinearLearner):
        scaled = learner.feature_scale == "rms"
        return _NUMBER * (learner._core.row_width + (_SUMS if scaled else 0))
    return _BY_FAMILY.get(learner.family, _OTHERS) * learner.outputs


def _sums(settings: Sequence[Learner]) -> float:
    """Of settings side by side whose steps follow a schedule: a running sum each, for every step that some feature was
    last met at."""
    first = settings[0]
    assert isinstance(first, LinearLearner)
    return 0.0 if is_adagrad(first) else _NUMBER * len(settings) * first.outputs


def _side_by_side(settings: Sequence[Learner], groups: int, threads: int) -> float:
    """Of settings that share their rows: a weight each, with AdaGrad a sum of squared gradients each, and once in every
    row a mark and what is known of the values."""
    first = settings[0]
    assert isinstance(first, LinearLearner)
    parts = shares_of(len(settings), first.outputs, groups, threads)
    panels = panels_of(first, len(settings), threads // parts)
    if panels == 0:
        return sum(map(_alone, settings))
    columns = len(settings) * first.outputs * (2 if is_adagrad(first) else 1)
    once = 1 + (_SUMS if first.feature_scale == "rms" else 0)
    return _NUMBER * (columns + once * panels)


def estimate(
    settings: Sequence[Setting],
    folds: int | None,
    *,
    max_memory: int | str | None = None,
    features: int | None = None,
    outputs: int = 1,
    threads: int = 1,
) -> Estimate:
    """For so many settings, each once and with folds once more for every fold."""
    groups = 1 if folds is None else folds + 1
    together: dict[Any, list[Learner]] = {}
    each = 0.0
    for learner in (setting.make(outputs) for setting in settings):
        key = key_of(learner)
        if key is None:
            each += _alone(learner)
        else:
            together.setdefault(key, []).append(learner)
    each += sum(_side_by_side(learners, groups, threads) for learners in together.values())
    sums = sum(map(_sums, together.values()))
    most = allowed() if max_memory is None else parse_size(max_memory)
    limit = None if most is None else int(most * (MEMORY_SHARE if max_memory is None else 1.0))
    columns = len(settings) * groups * outputs
    return Estimate(columns, each * groups, limit, features, sums * groups)
