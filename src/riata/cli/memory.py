"""Memory of the process that the command line runs in."""

from __future__ import annotations

import ctypes
import sys

_M_MMAP_THRESHOLD = -3
_LARGE = 1 << 18


def return_large_pieces() -> None:
    """Let the C library give large pieces of memory back to the system as soon as they are free.

    By default glibc stops doing so after the first one, and the arrays that a stream makes and drops,
    a few megabytes at a time in several threads, then leave holes between them: one pass over 250 MB
    of columns peaked at 350 MB, not at 140. What is used again at once, the core keeps itself.
    """
    if sys.platform.startswith("linux"):
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # absent where it is not glibc
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, _LARGE)
