"""The form of a page gives the numbers of Python, for every family, schema and alphabet."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata import model_file
from riata.block import Block
from riata.explain.contributions import Explainer
from riata.learners.base import decoded
from riata.metrics import class_probabilities
from riata.record import Model
from riata.report import page_of
from riata.sources import open_source
from riata.sources.weighed import checked_and_weighed
from tests.cli.helpers import riata
from tests.report.browser import opened

ODD_WORDS = (
    "don’t DON'T col·lega 3.50 1,000 snake_case ﬁne ǅ ẞ ΣΊΣΥΦΟΣ ς İI ı 漢字かな交じり カタカナ สวัสดี مرحبا שלום नमस्ते "
    "e\u0301 \u00e9 zero\u200bwidth soft\u00adhyphen a\u200db 🙂 \U0001f469\u200d\U0001f467 𝔘𝔫𝔦 𐐀𐐨 ٣٫١٤ "
    "x\u203fy _ __ a_ _b 漢\u0301_a \u0130 \ufb03 \u2160 \u24b6 ª º ² ½ \x00 \x1f \u2028 \ufeff <script> ' '' "
    "a'b'c 1.2.3 1,2,3 a.b a:b Ǆ ᾳ K Å"
)
ODD = ODD_WORDS.split(" ")


def odd_text(rng: random.Random, words: list[str]) -> str:
    """Words, odd ones and random characters of all of Unicode."""

    def one() -> str:
        kind = rng.random()
        if kind < 0.5:
            return rng.choice(words)
        if kind < 0.8:
            return rng.choice(ODD)
        points = [
            rng.choice((rng.randrange(0x250), rng.randrange(0x3000), rng.randrange(0x20000)))
            for _ in range(4)
        ]
        return "".join(chr(p) for p in points if not 0xD800 <= p <= 0xDFFF)

    blank = rng.choice([" ", "  ", "\t", "-", ", ", "", "'", "."])
    return blank.join(one() for _ in range(rng.randrange(0, 25)))


WORDS = (
    "free entry call now home see you at 3 win cup the a of and money lunch later txt stop".split()  # noqa: SIM905
)


def row(rng: random.Random) -> dict[str, Any]:
    """An object of all kinds of columns."""
    made: dict[str, Any] = {
        "price": rng.choice(
            [rng.uniform(-50, 500), rng.randrange(100), 0, 16777217, 1e-30, 3.4e30]
        ),
        "size": rng.choice([rng.uniform(-9, 1e4), 0, -3]),
        "age": rng.choice([rng.uniform(0, 99), 18, 65, 17.999999]),
        "city": rng.choice(["Rome", "Oslo", "New York", "<b>&amp;", "東京", "", " ", "NA"]),
        "hour": rng.choice([rng.randrange(24), "7", "7.0", "x"]),
        "body": odd_text(rng, WORDS),
    }
    for name in list(made):
        if rng.random() < 0.1:
            made[name] = None
        elif rng.random() < 0.1:
            del made[name]
        elif name in ("price", "size", "age") and rng.random() < 0.3:
            made[name] = rng.choice([repr(made[name]), f" {made[name]} ", "NA", "", "?"])
    return made


def label_of(made: dict[str, Any], classes: int, rng: random.Random) -> Any:
    text = str(made.get("body"))
    return f"class {(text.count('free') + text.count('win') + rng.randrange(2)) % classes}"


OPTIONS = [
    "--text", "body", "--log1p", "size", "--categorical", "city,hour",
    "--cross", "city:hour", "--cross", "city:city",
]  # fmt: skip

PLAIN = ("--feature-scale", "none")
"""Scaled values are rounded to 32 bits: scores of a page, which does not round, are then as near as that."""
MODELS: dict[str, list[str]] = {
    "ftrl": ["--method", "ftrl", *PLAIN, "--missing", "feature", "--ngrams", "words:1-2,chars:3-4"],
    "elastic-net-normalized": [
        "--method",
        "elastic-net",
        *PLAIN,
        "--normalize",
        "l2",
        "--text-norm",
        "--text-weight",
        "count",
    ],
    "truncated-sqrt": [
        "--method",
        "truncated",
        *PLAIN,
        "--normalize",
        "sqrt_nnz",
        "--text-weight",
        "presence",
    ],
    "hinge": ["--method", "elastic-net", *PLAIN, "--loss", "hinge", "--scale", "max"],
    "modified-huber": ["--method", "elastic-net", *PLAIN, "--loss", "modified_huber"],
    "elastic-net": ["--method", "elastic-net"],
    "truncated, scaled": ["--method", "truncated", "--normalize", "sqrt_nnz"],
    "ftrl, hashed and scaled": ["--method", "ftrl", "--store", "hashed", "--bits", "14"],
    "bayesian, scaled": ["--method", "bayesian", "--feature-scale", "rms"],
    "bayesian": ["--method", "bayesian"],
    "bayesian-one-prior": [
        "--method",
        "bayesian",
        "--prior-variance",
        "city=0.5,body=0.1,*=2",
        "--unseen",
        "ignore",
    ],
    "bayesian-named-priors": ["--method", "bayesian", "--prior-variance", "city=0.5,body=0.1,*=2"],
    "bayesian-views": ["--method", "bayesian", "--value", "raw,binary,log1p", "--half-life", "500"],
    "bayesian-probit": ["--method", "bayesian", "--link", "probit"],
    "sketch-probit": ["--method", "sketch", "--link", "probit", "--gamma", "0.5"],
    "texts weighed": ["--method", "ftrl", *PLAIN, "--text-idf"],
    "texts weighed, of length one": ["--method", "bayesian", "--text-idf", "--text-norm"],
    "interior": ["--method", "interior"],
    "auto": ["--method", "auto"],
    "hashed": ["--method", "ftrl", *PLAIN, "--store", "hashed", "--bits", "14"],
    "bayesian-hashed": ["--method", "bayesian", "--store", "hashed", "--bits", "10"],
    "keyed": ["--method", "ftrl", *PLAIN, "--hash-key", "00ff" * 8],
}


def trained(folder: Path, options: list[str], classes: int, buckets: bool = True) -> Model:
    rng = random.Random(5)
    data = folder / "train.jsonl"
    with data.open("w") as file:
        for _ in range(400):
            made = row(rng)
            file.write(json.dumps(made | {"label": label_of(made, classes, rng)}) + "\n")
    edges = ["--buckets", "age:4"] if buckets else []
    riata(
        "train",
        data,
        "-o",
        folder / "m.riata",
        "--label",
        "label",
        "-q",
        *OPTIONS,
        *edges,
        *options,
    )
    return model_file.load(folder / "m.riata")


def blocks_of(model: Model, lines: list[str], folder: Path) -> Iterator[Block]:
    data = folder / "test.jsonl"
    data.write_text("".join(line + "\n" for line in lines))
    return checked_and_weighed(open_source(data, schema=model.schema, labelled=False), model.schema)


def python_scores(
    model: Model, lines: list[str], folder: Path
) -> tuple[np.ndarray, np.ndarray | None]:
    scores = np.vstack([model.learner.score(block) for block in blocks_of(model, lines, folder)])
    probability = model.learner.probability(scores)
    return scores, None if probability is None else class_probabilities(probability)


def page_scores(browser: Any, model: Model, lines: list[str], folder: Path) -> list[dict[str, Any]]:
    path = folder / "page.html"
    path.write_text(page_of(model, name="test").html)
    page = opened(browser, path)
    found = page.evaluate(
        "lines => lines.map((line) => { const {terms, ...found} = riata.score(line);"
        " return {...found, sum: found.rest + found.intercept + terms.reduce((s, t) => s + t.adds, 0),"
        " largest: Math.max(1, ...terms.map((t) => Math.abs(t.adds)))}; })",
        lines,
    )
    assert not page.wrong
    page.context.close()
    return list(found)


def check(browser: Any, model: Model, lines: list[str], folder: Path) -> None:
    scores, probabilities = python_scores(model, lines, folder)
    near, apart = (1e-9, 1e-12) if getattr(model.learner, "_scale", None) is None else (1e-6, 1e-6)
    for k, found in enumerate(page_scores(browser, model, lines, folder)):
        assert np.allclose(found["scores"], scores[k], rtol=near, atol=near), lines[k]
        if probabilities is None:
            assert found["probabilities"] is None
        else:
            off = np.abs(np.array(found["probabilities"]) - probabilities[k])
            assert off.max() < near, lines[k]
        # What a score is made of adds up to it.
        assert min(abs(found["sum"] - s) for s in scores[k]) < apart * found["largest"]


def check_parts(browser: Any, model: Model, lines: list[str], folder: Path) -> None:
    """The page leaves as much to the intercept and to averaging as `explain`, and so as much to the features."""
    explainer = Explainer(model)
    parts = [explainer.of(block) for block in blocks_of(model, lines, folder)]
    intercepts = np.vstack([part.intercept for part in parts])
    rests = np.vstack([sum(part.steps.values()) for part in parts])
    for k, found in enumerate(page_scores(browser, model, lines, folder)):
        at = k, found["output"]
        assert found["intercept"] == pytest.approx(intercepts[at], abs=1e-9), lines[k]
        assert found["rest"] == pytest.approx(rests[at], abs=1e-8), lines[k]


def random_lines(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    ascii_too = (rng.random() < 0.5 for _ in range(n))
    return [json.dumps(row(rng), ensure_ascii=escaped) for escaped in ascii_too]


@pytest.mark.parametrize("name", MODELS)
def test_scores_of_random_rows(browser: Any, tmp_path: Path, name: str) -> None:
    model = trained(tmp_path, MODELS[name], classes=2)
    check(browser, model, random_lines(150, seed=7), tmp_path)


@pytest.mark.parametrize("method", ["ftrl", "bayesian", "auto", "sketch"])
def test_scores_of_several_classes(browser: Any, tmp_path: Path, method: str) -> None:
    plain = PLAIN if method == "ftrl" else ()
    model = trained(tmp_path, ["--method", method, *plain], classes=4)
    assert model.learner.outputs == 4
    check(browser, model, random_lines(80, seed=8), tmp_path)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_parts_of_a_score_of_auto(browser: Any, tmp_path: Path, classes: int) -> None:
    model = trained(tmp_path, ["--method", "auto"], classes=classes)
    check_parts(browser, model, random_lines(60, seed=9), tmp_path)


def test_characters_of_all_of_unicode(browser: Any, tmp_path: Path) -> None:
    """Words, folding and n-grams: every feature that either side makes, by name."""
    model = trained(tmp_path, ["--method", "ftrl", "--ngrams", "words:1,chars:2"], classes=2)
    rng = random.Random(3)
    known = [
        p
        for p in range(1, 0x110000)
        if not 0xD800 <= p <= 0xDFFF and unicodedata.category(chr(p)) not in ("Cn", "Co", "Lo")
    ]
    points = (
        known + rng.sample(range(0xA0, 0x3400), 2000) + rng.sample(range(0xE000, 0x110000), 2000)
    )
    rng.shuffle(points)
    between = ("", "", " ", "a", "1", "'", "_", ".")
    texts = [
        "".join(chr(p) + rng.choice(between) for p in points[k : k + 100])
        for k in range(0, len(points), 100)
    ]
    rest = {"price": 1, "size": 2, "age": 30, "city": "Rome", "hour": 7}
    lines = [json.dumps({"body": text} | rest) for text in texts]
    path, data = tmp_path / "page.html", tmp_path / "test.jsonl"
    path.write_text(page_of(model, name="test").html)
    data.write_text("".join(line + "\n" for line in lines))
    page = opened(browser, path)
    found = page.evaluate(
        "lines => lines.map((l) => riata.score(l).terms.map((t) => t.name + ' ' + t.x))", lines
    )
    page.context.close()
    row = 0
    for block in open_source(data, schema=model.schema, labelled=False):
        assert block.names is not None
        assert block.name_offsets is not None
        names = decoded(block.names, block.name_offsets)
        for begin, end in pairwise(block.indptr.tolist()):
            made = [line.rpartition(" ") for line in found[row]]
            assert [name for name, _, _ in made] == names[begin:end]
            assert np.allclose(
                [float(x) for _, _, x in made], block.values[begin:end], rtol=1e-7, atol=0
            )
            row += 1
    assert row == len(lines)
