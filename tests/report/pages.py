"""Mail to learn, and pages that the command writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.helpers import riata

MAIL = "label,hour,from,body\n" + "".join(
    f'{label},{hour},{who},"{text}"\n'
    for label, hour, who, text in [
        ("spam", 3, "shop", "Free entry, call now to win"),
        ("ham", 12, "anna", "see you at home for lunch"),
        ("spam", 4, "shop", "win money now, free"),
        ("ham", 18, "bob", "don't call me, I'm at home"),
    ]
    * 10
)


def report(folder: Path, *words: Any) -> Path:
    riata("report", *words, "-o", folder / "page.html")
    return folder / "page.html"
