"""A browser, and mail with a model of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import riata
from tests.report.browser import chromium
from tests.report.pages import MAIL


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    (tmp_path / "mail.csv").write_text(MAIL)
    riata("train", tmp_path / "mail.csv", "-o", tmp_path / "mail.riata", "--text", "body", "-q", "--method", "ftrl",
          "--log", tmp_path / "log.jsonl")  # fmt: skip
    return tmp_path
