"""One adapter a library. An adapter is a module with NAME, version() and CONTENDERS."""

from __future__ import annotations

import importlib
from types import ModuleType

KNOWN = ("riata", "sklearn", "vw", "river", "liblinear", "dense")


def load(name: str) -> ModuleType:
    """The adapter; ImportError where its library is not installed."""
    if name not in KNOWN:
        raise ValueError(f"no adapter called {name!r}: there are {', '.join(KNOWN)}")
    return importlib.import_module(f"benchmarks.libraries.{name}")
