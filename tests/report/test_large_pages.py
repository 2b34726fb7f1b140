"""Pages of models with many features: how long they take to open, how large they are, what they leave out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from riata import model_file
from riata.learners import FTRL
from riata.record import Model, Record, Settings
from riata.report import page_of
from riata.schema import Schema
from tests.cli.helpers import riata
from tests.report.browser import opened
from tests.report.pages import report


def large_model(n: int, columns: int = 1) -> Model:
    """A model of n named features, as if it had been learned."""
    rng = np.random.default_rng(0)
    words = ["".join(word) for word in rng.choice(list("etaoinshrdlu"), (2000, 5)).tolist()]
    pairs = rng.choice(len(words) ** 2, n, replace=False).tolist()
    names = [f"text^{words[k // 2000]}{k // 2000} {words[k % 2000]}" for k in pairs]
    learner = FTRL(outputs=columns, store="table", feature_scale="none")
    values = rng.normal(size=n).astype(np.float32)
    from riata._core import keys_of_names
    from riata.block import Block

    text = "".join(names).encode()
    offsets = np.cumsum([0] + [len(name) for name in names]).astype(np.int64)
    raw = np.frombuffer(text, dtype=np.uint8)
    keys = keys_of_names(raw, offsets, None)
    block = Block(np.arange(0, n + 1, 10), keys, values, labels=rng.integers(0, 2, n // 10).astype(float), names=raw,
                  name_offsets=offsets)  # fmt: skip
    learner.learn(block)
    return Model(
        learner, np.array(["ham", "spam"]), Record(["made"], Settings(), schema=Schema(open=True))
    )


def test_a_hundred_thousand_features_open_in_a_second(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_of(large_model(100_000), name="large").html)
    page = browser.new_context().new_page()
    session = page.context.new_cdp_session(page)
    # The time of the page's own thread: other programs on this machine do not count.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached")
    spent = {
        each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]
    }
    assert 0 < spent["TaskDuration"] < 1
    searching = page.evaluate(
        "() => { const t = performance.now(); riata.table.find('etao'); return performance.now() - t; }"
    )
    sorting = page.evaluate(
        "() => { riata.table.find(''); const t = performance.now(); riata.table.sortBy('weight');"
        " return performance.now() - t; }"
    )
    assert searching < 2000
    assert sorting < 2000
    assert page.locator("#features tbody tr").count() < 50
    page.context.close()


def test_a_million_weights_fit_into_ten_megabytes(browser: Any, tmp_path: Path) -> None:
    model = large_model(1_000_000)
    page = page_of(model, name="very large")
    content = page.html.encode()
    assert len(content) < 10_000_000
    assert any("32 bits" in note for note in page.notes)
    path = tmp_path / "page.html"
    path.write_bytes(content)
    shown = opened(browser, path)
    keys, weights = model.learner.coef()
    strongest = int(np.argmax(np.abs(weights[:, 0])))
    [name] = model.learner.names(keys[[strongest]]) or [""]
    found = shown.evaluate(
        "name => riata.model.score(riata.form.reader.read({pairs: [[name, '1']]}))", name
    )
    assert found["bound"] >= 0
    line = json.dumps({name: 1})
    scored = shown.evaluate("line => riata.score(line)", line)
    wanted = float(model.learner.intercept[0] + weights[strongest, 0])
    assert abs(scored["scores"][0] - wanted) <= scored["bound"] + 1e-12
    assert scored["bound"] < 1e-5
    shown.context.close()


def test_what_does_not_fit_is_left_out_with_a_bound(browser: Any, tmp_path: Path) -> None:
    model = large_model(20_000)
    page = page_of(model, name="cut", budget=60_000)
    assert any("features are not in this page" in note for note in page.notes)
    path = tmp_path / "page.html"
    path.write_text(page.html)
    shown = opened(browser, path)
    keys, weights = model.learner.coef()
    names = model.learner.names(keys) or []
    for k in range(0, len(names), 500):
        scored = shown.evaluate("line => riata.score(line)", json.dumps({names[k]: 1.0}))
        wanted = float(model.learner.intercept[0] + weights[k, 0])
        assert abs(scored["scores"][0] - wanted) <= scored["bound"] + 1e-12
    shown.context.close()


def test_mixtures_that_do_not_fit_say_so(mail: Path) -> None:
    riata(
        "train",
        mail / "mail.csv",
        "-o",
        mail / "b.riata",
        "--text",
        "body",
        "-q",
        "--method",
        "bayesian",
    )
    model = model_file.load(mail / "b.riata")
    assert not page_of(model).notes
    page = page_of(model, budget=900)
    assert any("one linear model" in note for note in page.notes)
    assert "one linear model in their place" in page.html


def test_names_without_end_are_left_out(tmp_path: Path) -> None:
    data = tmp_path / "long.jsonl"
    rows = [{"label": k % 2, "x" * 10_000_000: k, "short": 1} for k in range(3)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    riata("train", data, "-o", tmp_path / "m.riata", "-q", "--method", "ftrl")
    path = report(tmp_path, tmp_path / "m.riata")
    assert path.stat().st_size < 200_000
    assert "1 features are not in this page" in path.read_text()
