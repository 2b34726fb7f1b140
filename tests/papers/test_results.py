"""The page of a paper is what its script makes of what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.mark.parametrize(
    ("folder", "name"), [("langford-2009", "tables"), ("lipton-2015", "report")]
)
def test_results_are_what_was_found(
    paper: Callable[[str, str], ModuleType], folder: str, name: str
) -> None:
    script = paper(folder, name)
    results = json.loads((script.HERE / "results.json").read_text())
    text = script.text(results)
    assert text == (script.HERE / "RESULTS.md").read_text()
    assert "{{" not in text
