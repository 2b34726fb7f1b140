"""Folders of papers are scripts, not packages: each is on the path for one test, and forgotten after it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

PAPERS = Path(__file__).resolve().parents[2] / "papers"
if not PAPERS.is_dir():  # not a checkout
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def paper() -> Iterator[Callable[[str, str], ModuleType]]:
    """`paper("lipton-2015", "updates")` is that module."""
    path, modules = list(sys.path), set(sys.modules)

    def load(folder: str, name: str) -> ModuleType:
        if str(PAPERS / folder) not in sys.path:
            sys.path.insert(0, str(PAPERS / folder))
        return importlib.import_module(name)

    yield load
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if Path(file).is_relative_to(PAPERS):
            del sys.modules[name]
