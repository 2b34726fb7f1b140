"""Pages in headless Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, or a test that is skipped and says why."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as started:
        try:
            browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"Chromium does not start here: {str(error).splitlines()[0]}")
        try:
            yield browser
        finally:
            browser.close()


def opened(browser: Any, path: Path, **context: Any) -> Any:
    """The page, ready; whatever goes wrong in its scripts, or leaves the page, is an error of the test."""
    page = browser.new_context(**context).new_page()
    wrong: list[str] = []
    page.on(
        "console", lambda message: wrong.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:", "blob:"))
            else wrong.append(request.url)
        ),
    )
    page.wrong = wrong
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate("document.documentElement.dataset.ready") == "yes", wrong
    assert not wrong
    return page


AXE = next(
    (
        path
        for folder in (
            os.environ.get("AXE_CORE", ""),
            "node_modules/axe-core",
            "/usr/lib/node_modules/axe-core",
        )
        if folder and (path := Path(folder) / "axe.min.js").exists()
    ),
    None,
)


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong; the test is skipped where it is not installed."""
    if AXE is None:
        pytest.skip("axe-core is not here: npm install axe-core, or say where with AXE_CORE")
    # As a script that the debugger runs, which the page's own policy does not hold back.
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]
