"""Pages in a browser: opened, searched, sorted, typed into; and what may be in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata import model_file
from riata.learners import ElasticNet
from riata.metrics import class_probabilities
from riata.record import Model, Record, Settings
from riata.report import page_of
from riata.report.logs import Log
from riata.sources import open_source
from tests.cli.helpers import riata, write_problem
from tests.report.browser import opened, violations
from tests.report.pages import MAIL, report


def test_a_page_is_opened_searched_sorted_and_typed_into(browser: Any, mail: Path) -> None:
    path = report(
        mail, mail / "mail.riata", mail / "log.jsonl", "--data", mail / "mail.csv", "--wrong", 2
    )
    page = opened(browser, path)
    rows = "#features tbody tr"
    total = int(page.inner_text("#found").split()[0].replace(",", ""))
    assert page.locator(rows).count() == min(total, page.evaluate("riata.table.visible()"))

    weights = [abs(float(w)) for w in page.locator(f"{rows} td:nth-child(2)").all_inner_texts()]
    assert weights == sorted(weights, reverse=True)
    page.click("[data-sort=name]")
    names = page.locator(f"{rows} th").all_inner_texts()
    assert names == sorted(names)
    assert page.get_attribute("th:has([data-sort=name])", "aria-sort") == "ascending"

    page.fill("#search", "FREE")
    names = page.locator(f"{rows} th").all_inner_texts()
    assert names
    assert all("free" in name for name in names)
    page.fill("#search", "no such feature")
    assert page.inner_text("#found").startswith("0 of")

    page.fill("#field-2", "Free entry for you")
    page.fill("#field-1", "shop")
    model = model_file.load(mail / "mail.riata")
    typed = {"hour": None, "from": "shop", "body": "Free entry for you"}
    [block] = open_source([typed], schema=model.schema, labelled=False)
    probability = model.learner.probability(model.learner.score(block))
    assert probability is not None
    spam = class_probabilities(probability)[0, 1]
    assert float(page.inner_text("#result [data-class='1']")) == pytest.approx(spam, abs=1e-6)
    assert page.locator("#result mark").count() > 0
    page.fill("#field-0", "noon")
    assert 'column "hour" wants a number' in page.inner_text("#result")
    assert page.locator("#wrong details").count() == 2
    assert not page.wrong
    page.context.close()


def test_the_table_goes_to_its_end_by_keyboard(browser: Any, mail: Path) -> None:
    from playwright.sync_api import expect

    page = opened(
        browser, report(mail, mail / "mail.riata"), viewport={"width": 800, "height": 500}
    )
    page.click("[data-sort=name]")
    page.focus("#features .scroll")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#features tbody tr").first).to_have_attribute("aria-rowindex", "3")
    page.keyboard.press("End")
    last = sorted(page.evaluate("riata.model.names"))[-1]
    expect(page.locator("#features tbody th").last).to_have_text(last)
    page.context.close()


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing(browser: Any, mail: Path, look: str) -> None:
    path = report(
        mail, mail / "mail.riata", mail / "log.jsonl", "--data", mail / "mail.csv", "--wrong", 2
    )
    size = {"width": 390, "height": 844} if look == "phone" else {"width": 1200, "height": 900}
    page = opened(browser, path, viewport=size, color_scheme="dark" if look == "dark" else "light")
    page.fill("#field-2", "Free entry for you, don't call")
    page.click("#wrong summary")
    assert violations(page) == []
    # Nothing sticks out to the side.
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    page.context.close()


def test_print_has_the_weights_and_no_form(browser: Any, mail: Path) -> None:
    page = opened(browser, report(mail, mail / "mail.riata"))
    page.emulate_media(media="print")
    assert not page.is_visible("#form")
    assert page.is_visible("#weights svg")
    page.context.close()


EVIL = [
    "<script>window.evil=1</script>", "</script><img src=x onerror=window.evil=1>", "a\x00\x1b[2Jb",
    "\u202egnp.exe", "'\"&amp;<!--", "]]>", "\u2028", "${window.evil=1}",
]  # fmt: skip


def test_names_are_text_and_never_run(browser: Any, tmp_path: Path) -> None:
    rows = [
        {"label": EVIL[k % 2], EVIL[k % len(EVIL)]: 1, "c": EVIL[(3 * k) % len(EVIL)]}
        for k in range(60)
    ]
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    riata("train", data, "-o", tmp_path / "m.riata", "-q", "--method", "ftrl")
    path = report(tmp_path, tmp_path / "m.riata", "--data", data, "--wrong", 5)
    assert "<script>window.evil" not in path.read_text()
    page = opened(browser, path)
    page.click("form summary")
    for k, name in enumerate(EVIL[:2]):
        page.fill("#line", json.dumps({name: 1, "c": EVIL[k]}))
        assert name in page.inner_text("#result")
    page.fill("#search", "script")
    assert EVIL[0] in page.locator("#features tbody th").all_inner_texts()
    assert page.evaluate("window.evil") is None
    assert not page.wrong
    page.context.close()


def test_only_aggregates_are_in_a_page_unless_examples_are_asked_for(mail: Path) -> None:
    data = mail / "secret.csv"
    data.write_text(MAIL + 'ham,3,mallory,"xyzzy plugh"\n')
    plain = report(mail, mail / "mail.riata", "--data", data).read_text()
    assert "xyzzy" not in plain
    assert "mallory" not in plain
    assert "secret.csv:42" not in plain
    asked = report(mail, mail / "mail.riata", "--data", data, "--wrong", 3).read_text()
    assert "secret.csv:42: label ham" in asked
    assert "xyzzy" not in asked  # features that the model does not know add nothing


def numbered(tmp_path: Path, *options: str) -> Model:
    write_problem(tmp_path / "x.svm", n=300)
    riata("train", tmp_path / "x.svm", "-o", tmp_path / "m.riata", "-q", *options)
    return model_file.load(tmp_path / "m.riata")


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "ftrl", "--feature-scale", "none"),
        ("--method", "auto"),
        ("--method", "bayesian"),
        ("--method", "ftrl", "--feature-scale", "none", "--store", "hashed", "--bits", "8"),
        ("--method", "ftrl", "--feature-scale", "none", "--loss", "squared", "--clip", "-0.2,0.9"),
    ],
    ids=" ".join,
)
def test_numbered_features_are_scored(
    browser: Any, tmp_path: Path, options: tuple[str, ...]
) -> None:
    model = numbered(tmp_path, *options)
    lines = (tmp_path / "x.svm").read_text().splitlines()[:100]
    page = opened(browser, report(tmp_path, tmp_path / "m.riata"))
    found = page.evaluate("lines => lines.map((line) => riata.score(line).scores)", lines)
    scores = np.vstack(
        [model.learner.score(b) for b in open_source(tmp_path / "x.svm", schema=model.schema)]
    )
    assert np.allclose(found, scores[:100], rtol=1e-9, atol=1e-9)
    page.context.close()


METHOD = ("--method", "ftrl", "--feature-scale", "none")


@pytest.mark.parametrize("cross", [(), ("--cross", "a:b")], ids=["plain", "crossed"])
def test_vw_text_is_scored(browser: Any, tmp_path: Path, cross: tuple[str, ...]) -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"{label} |a x{i} :0.25 y:{v:.6g} |b:2.5 z{i % 3} x{i}:1e-3 | w"
        for label, i, v in zip(
            rng.choice([-1, 1], 200), rng.integers(0, 9, 200), rng.normal(size=200), strict=True
        )
    ]
    (tmp_path / "x.vw").write_text("\n".join(lines) + "\n")
    riata("train", tmp_path / "x.vw", "-o", tmp_path / "m.riata", "-q", *METHOD, *cross)
    model = model_file.load(tmp_path / "m.riata")
    page = opened(browser, report(tmp_path, tmp_path / "m.riata"))
    found = page.evaluate("lines => lines.map((line) => riata.score(line).scores)", lines)
    scores = np.vstack(
        [model.learner.score(b) for b in open_source(tmp_path / "x.vw", schema=model.schema)]
    )
    assert np.allclose(found, scores, rtol=1e-9, atol=1e-9)
    page.context.close()


FLOATS = [
    "1.00000005960464477540", "1.0000000596046447753", "1.0000001788139343262", "16777217", "16777217.0000001",
    "-1.00000005960464477540", "7.0064923216240860e-46", "0.1", "3.4028235e38",
]  # fmt: skip


def test_floats_are_rounded_once(browser: Any, mail: Path) -> None:
    texts = FLOATS
    path = mail / "numbers.svm"
    path.write_text("".join(f"{k % 2} 1:{text}\n" for k, text in enumerate(texts)))
    wanted = np.concatenate([block.values for block in open_source(path)])
    riata("train", path, "-o", mail / "n.riata", "-q", "--method", "ftrl")
    page = opened(browser, report(mail, mail / "n.riata"))
    found = [
        page.evaluate("text => riata.score(`1:${text}`).terms[0]?.x ?? 0", text) for text in texts
    ]
    assert found == wanted.astype(np.float64).tolist()
    page.context.close()


def test_logs(mail: Path, tmp_path: Path) -> None:
    log = mail / "log.jsonl"
    html = report(mail, log).read_text()
    assert "Loss while learning" in html
    cut = log.read_bytes()[:-40]
    (mail / "cut.jsonl").write_bytes(cut)
    read = Log.read(mail / "cut.jsonl")
    assert read.broken == 1
    assert read.record is None
    assert "ends before the model was saved" in report(mail, mail / "cut.jsonl").read_text()
    (mail / "empty.jsonl").write_text('{"a": 1}\n')
    assert (
        "no log of riata train"
        in riata("report", mail / "empty.jsonl", "-o", mail / "p.html", code=1).err
    )


def test_mistakes(mail: Path) -> None:
    out = ("-o", mail / "p.html")
    assert (
        "--wrong shows examples of --data"
        in riata("report", mail / "mail.riata", *out, "--wrong", 3, code=2).err
    )
    assert (
        "name one"
        in riata("report", mail / "log.jsonl", *out, "--data", mail / "mail.csv", code=2).err
    )
    two = riata("report", mail / "mail.riata", mail / "mail.riata", *out, code=2)
    assert "several models" in two.err
    data = riata("report", mail / "mail.riata", mail / "mail.csv", *out, code=2)
    assert f"Then --data {mail / 'mail.csv'}" in data.err
    other = mail / "other.csv"
    other.write_text("label,x\n1,2\n")
    assert "body" in riata("report", mail / "mail.riata", *out, "--data", other, code=1).err
    assert riata("report", mail / "mail.csv", *out, code=1).err.count("\n") == 1
    riata("report", mail / "none.riata", *out, code=1)
    assert not (mail / "p.html").exists()


def test_a_secret_key_is_not_in_a_page(mail: Path) -> None:
    key = "0123456789abcdef" * 2
    options = ["--hash-key", key, "--store", "hashed", "--bits", "10"]
    riata(
        "train",
        mail / "mail.csv",
        "-o",
        mail / "k.riata",
        "--text",
        "body",
        "-q",
        "--method",
        "ftrl",
        *options,
    )
    html = report(mail, mail / "k.riata").read_text()
    assert key not in html
    assert "score with riata predict" in html


def test_a_model_that_learned_nothing_and_one_class(browser: Any, tmp_path: Path) -> None:
    model = Model(ElasticNet(), np.array([1.0]), Record(["none"], Settings()))
    path = tmp_path / "page.html"
    path.write_text(page_of(model, name="empty").html)
    page = opened(browser, path)
    assert "0 of 0 features" in page.inner_text("#found")
    page.context.close()


def test_sweeps(mail: Path) -> None:
    riata("sweep", mail / "mail.csv", "-o", mail / "best.riata", "--text", "body", "-q", "--method", "ftrl",
          "--grid", "l1=0,0.1", "--results", mail / "sweep.json")  # fmt: skip
    html = report(mail, mail / "best.riata", mail / "sweep.json").read_text()
    assert "Loss against non-zero weights" in html
    assert html.count("l1=0.1") >= 1
    assert "Settings, the best first" in report(mail, mail / "sweep.json").read_text()
    (mail / "cut.json").write_bytes((mail / "sweep.json").read_bytes()[:-200])
    assert (
        "not the result of a sweep"
        in riata("report", mail / "cut.json", "-o", mail / "p.html", code=1).err
    )


def test_texts_weighed_by_a_secret_key_have_no_form(browser: Any, mail: Path) -> None:
    options = ["--text", "body", "--text-idf", "--hash-key", "00ff" * 8]
    riata("train", mail / "mail.csv", "-o", mail / "idf.riata", "-q", "--method", "ftrl", *options)
    page = opened(browser, report(mail, mail / "idf.riata", "--data", mail / "mail.csv"))
    assert "score with riata predict" in page.inner_text("#try")
    assert page.locator("#features tbody tr").count() > 3
    page.context.close()


@pytest.mark.parametrize("method", ["auto", "bayesian", "elastic-net"])
def test_of_a_model_without_weights(tmp_path: Path, method: str) -> None:
    data, model = tmp_path / "x.csv", tmp_path / "m.riata"
    data.write_text("label,a\n" + "yes,0\nno,0\nyes,0\n" * 20)
    riata("train", data, "-o", model, "--method", method, "--scale", "none", "--quiet")
    riata("report", model, "--data", data, "-o", tmp_path / "p.html")
    assert "intercept" in riata("explain", model, data, "--json").out
