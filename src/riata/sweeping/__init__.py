"""Sweeps: many settings trained in one read of the data, and compared honestly on it."""

from riata.sweeping.grid import Setting, parse_grid, settings_of
from riata.sweeping.result import Sweep
from riata.sweeping.run import Job, partial_sweep

__all__ = [
    "Job",
    "Setting",
    "Sweep",
    "parse_grid",
    "partial_sweep",
    "settings_of",
]
