"""Ctrl-C and SIGTERM that wait for the right moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


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
