"""Checkpoints: what was learned so far, saved from time to time, to go on from after a crash."""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Callable
from contextlib import suppress

from riata import model_file
from riata.errors import SettingsError
from riata.record import Model

EVERY = 300.0
"""Seconds between two checkpoints where nobody said otherwise."""
_UNITS = {"s": 1, "min": 60, "m": 60, "h": 3600}
_SHARE = 10
"""By time, at least this many times as long as the last one took passes before the next one."""


def parse_every(every: float | int | str | None) -> tuple[float | None, int | None]:
    """Seconds or examples between two checkpoints.

    >>> parse_every("90s"), parse_every("5min"), parse_every("100000"), parse_every(100_000)
    ((90.0, None), (300.0, None), (None, 100000), (None, 100000))
    """
    if every is None:
        return EVERY, None
    text = str(every).replace("_", "").replace(",", "").strip()
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(s|min|m|h)", text)
    if found is not None and float(found[1]) > 0:
        return float(found[1]) * _UNITS[found[2]], None
    if text.isdigit() and int(text) > 0:
        return None, int(text)
    raise SettingsError(
        f"every is a time such as 60s, 5min or 2h, or a number of examples, not {every!r}"
    )


class Checkpoint:
    """A file that holds the model as it was a while ago. Written atomically: at any time it is whole.

    When it cannot be written, a warning says so, training goes on, and the next one tries again.
    `wait` is how many seconds pass before the first one; `on_saved` is called after each.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: float | int | str | None = None,
        *,
        wait: float = 0.0,
        on_saved: Callable[[Model], None] | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.seconds, self.examples = parse_every(every)
        self.saved = 0
        """How often it was saved."""
        self._on_saved = on_saved
        self._failed = False
        self._wait = wait
        self.begin(0)

    def begin(self, examples: int) -> None:
        """A run begins, which has learned so many examples before."""
        self._next_time = time.monotonic() + max(self._wait, self.seconds or 0.0)
        self._next_count = 0
        self._count_on(examples)

    def to_go(self, examples: int, most: int) -> int:
        """How many more examples may be learned before it is to be asked again whether it is due."""
        return most if self.examples is None else min(most, self._next_count - examples)

    def due(self, examples: int) -> bool:
        if self.examples is not None:
            return examples >= self._next_count
        return time.monotonic() >= self._next_time

    def save(self, model: Model) -> bool:
        """Whether it is now on the disk."""
        started = time.monotonic()
        try:
            model_file.save(model, self.path)
        except (OSError, MemoryError) as error:
            self._complain(error)
            return False
        else:
            self.saved += 1
            if self._failed:
                warnings.warn(f"{self.path}: the checkpoint could be saved again", stacklevel=2)
                self._failed = False
            if self._on_saved is not None:
                self._on_saved(model)
            return True
        finally:
            now = time.monotonic()
            self._next_time = now + max(self.seconds or 0.0, _SHARE * (now - started))
            self._count_on(model.record.examples)

    def remove(self, *, resumed: bool = False) -> None:
        """What it holds is saved elsewhere: it would only be in the way. `resumed`: the run has begun with it."""
        if self.saved or resumed:
            with suppress(OSError):
                os.unlink(self.path)

    def _count_on(self, examples: int) -> None:
        if (
            self.examples is not None
        ):  # multiples, so that it does not matter where a run was resumed
            self._next_count = (examples // self.examples + 1) * self.examples

    def _complain(self, error: OSError | MemoryError) -> None:
        if not self._failed:
            warnings.warn(
                f"{self.path}: no checkpoint could be saved ({_reason(error)}); training goes on, "
                f"and the next one tries again",
                stacklevel=3,
            )
        self._failed = True


def _reason(error: OSError | MemoryError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "out of memory"
