"""What keeps a run from being lost: checkpoints, to go on from after a crash, a limit of memory, and Ctrl-C and SIGTERM
that wait for the right moment."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from riata import model_file
from riata.errors import OutOfMemory, SettingsError
from riata.learners.base import TO_SAVE
from riata.record import Model
from riata.tensor_file import MEMORY_SHARE, allowed, in_use, size_words

EVERY = 300.0
"""Seconds between two checkpoints where nobody said otherwise."""
_TIMES = {"s": 1, "min": 60, "m": 60, "h": 3600}
_PAUSE = 10
"""By time, at least this many times as long as the last one took passes before the next one."""
_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


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
        return float(found[1]) * _TIMES[found[2]], None
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
            self._next_time = now + max(self.seconds or 0.0, _PAUSE * (now - started))
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


def parse_size(size: int | float | str, option: str = "max_memory") -> int:
    """Bytes.

    >>> parse_size("2G"), parse_size("512MB"), parse_size(1e6)
    (2147483648, 536870912, 1000000)
    """
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*([kmgt]?)i?b?", str(size).strip().lower())
    number = float(found[1]) * _SIZES[found[2]] if found is not None else 0.0
    if isinstance(size, int | float):
        number = float(size)
    if not 1 <= number < 1 << 62:
        raise SettingsError(f"{option} is a size such as 512M or 2G, not {size!r}")
    return int(number)


class MemoryLimit:
    """The most memory that a run may take. `check` is called after every Block.

    Room to save the model is kept: `to_save` times what has come since the start.
    """

    def __init__(self, size: int | float | str | None = None) -> None:
        most = allowed()
        self.chosen = size is not None
        self.most = (
            parse_size(size)
            if size is not None
            else None
            if most is None
            else int(MEMORY_SHARE * most)
        )
        self.to_save = TO_SAVE
        self._before = in_use()

    @property
    def for_model(self) -> int | None:
        """Bytes that a model may take, so that there is room to save it. None: unknown."""
        if self.most is None or self._before is None:
            return None
        return max(0, int((self.most - self._before) / (1 + self.to_save)))

    def check(self) -> None:
        now = in_use()
        if self.most is None or now is None or self._before is None:
            return
        to_save = max(0, int(self.to_save * (now - self._before)))
        if now + to_save > self.most:
            raise OutOfMemory(self._message(now, to_save))

    def _message(self, now: int, to_save: int) -> str:
        whose = "--max-memory" if self.chosen else f"{MEMORY_SHARE:.0%} of what this machine allows"
        return (
            f"{size_words(now)} of memory in use, and up to {size_words(to_save)} needed to save the model, are "
            f"more than {size_words(self.most or 0)} ({whose}): fewer features (--store hashed --bits 22, a "
            "higher l1), a smaller --shuffle or --holdout, a machine with more memory, or a higher --max-memory "
            "would help"
        )


class Interrupt:
    """While this context is open, the first Ctrl-C sets `pressed` and the work goes on to where it
    can stop; inside `may_break` (waiting for input, which may never come), and from the second one
    on, it raises KeyboardInterrupt as usual. Does nothing outside the main thread, or where the
    program has a handler of its own.

    SIGTERM is taken the same way inside `SigtermAsCtrlC`, and with `sigterm` also where it would end
    the process at once: see `die_if_told`.

    >>> with Interrupt() as interrupt:
    ...     interrupt.pressed
    False
    """

    def __init__(self, *, sigterm: bool = False) -> None:
        self.pressed = False
        self.signal: int | None = None
        """Which of them it was."""
        self._sigterm = sigterm
        self._breakable = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                deadly = number == signal.SIGTERM and self._sigterm and handler == signal.SIG_DFL
                usual = handler is signal.default_int_handler or isinstance(handler, SigtermAsCtrlC)
                if usual or deadly:
                    signal.signal(number, self._handle)
                    self._before[number] = handler
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        again, self.pressed, self.signal = self.pressed, True, signum
        before = self._before.get(signum)
        if isinstance(before, SigtermAsCtrlC):
            before.came = True
        if self._breakable or again:
            raise KeyboardInterrupt

    @contextmanager
    def may_break(self) -> Iterator[None]:
        """Inside, Ctrl-C raises at once; one that was pressed before raises on entry."""
        self._breakable = True
        try:
            if self.pressed:
                raise KeyboardInterrupt
            yield
        finally:
            self._breakable = False

    @property
    def told_to_die(self) -> bool:
        """SIGTERM came, and would have ended the process at once."""
        deadly = self._before.get(signal.SIGTERM) == signal.SIG_DFL
        return deadly and self.signal == signal.SIGTERM

    def die_if_told(self) -> None:
        """End the process as SIGTERM would have done, now that what was to be saved is."""
        if self.told_to_die:
            signal.raise_signal(signal.SIGTERM)


class SigtermAsCtrlC:
    """While this context is open, SIGTERM does what Ctrl-C does, unless the program has made up its mind otherwise.

    >>> with SigtermAsCtrlC() as sigterm:
    ...     sigterm.came
    False
    """

    def __init__(self) -> None:
        self.came = False
        self._installed = False

    def __enter__(self) -> SigtermAsCtrlC:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self)
            self._installed = True
        return self

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt

    def __exit__(self, *error: object) -> None:
        if self._installed:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._installed = False
