"""The page of a paper, from its template: for the scripts in the folders here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def filled(folder: Path, parts: Mapping[str, str]) -> str:
    """results.template.md with its {{NAMES}} replaced."""
    page = (folder / "results.template.md").read_text()
    for name, part in parts.items():
        page = page.replace("{{" + name + "}}", part)
    return page
