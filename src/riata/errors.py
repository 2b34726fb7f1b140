"""What can go wrong through no fault of Riata's: every message says what, where, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RiataError(Exception):
    """The base of all errors that a user can act on; the command line prints them without a traceback."""


class DataError(RiataError, ValueError):
    """The input is not what it should be. The message starts with file:line:column where there is one."""


class LostData(DataError):
    """A file was cut short while it was read: some of what was read before this error was not what the
    file had held, and whatever was learned from it is worth nothing."""


class ChangedData(DataError):
    """The examples are not those that were read before, in an earlier pass or by the run to resume: what was
    learned from both is worth nothing."""


class RefusedExample(DataError):
    """An example that cannot be learned. Those before it in its Block were: `scores` are theirs."""

    def __init__(self, message: str, scores: NDArray[np.float64]) -> None:
        super().__init__(message)
        self.scores = scores


class OutOfMemory(RiataError, MemoryError):
    """The program has come to the most memory that it may take."""


class ModelError(RiataError, ValueError):
    """A model file cannot be read: cut short, damaged, foreign, or written by a newer Riata."""


class DivergenceError(RiataError, ArithmeticError):
    """The weights have grown beyond what a float holds: the learning rate is too high for these values."""


class SettingsError(RiataError, ValueError):
    """Settings of a training that make no sense, alone or together."""
