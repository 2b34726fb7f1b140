"""Ctrl-C that waits for the right moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType


class Interrupt:
    """While this context is open, the first Ctrl-C sets `pressed` and the work goes on to where it
    can stop; inside `may_break` (waiting for input, which may never come), and from the second one
    on, it raises KeyboardInterrupt as usual. Does nothing outside the main thread, or where the
    program has a handler of its own.

    >>> with Interrupt() as interrupt:
    ...     interrupt.pressed
    False
    """

    def __init__(self) -> None:
        self.pressed = False
        self._breakable = False
        self._installed = False

    def __enter__(self) -> Interrupt:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        again, self.pressed = self.pressed, True
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
