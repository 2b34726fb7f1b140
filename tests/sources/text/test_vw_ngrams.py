"""Vowpal Wabbit text: n-grams of features, namespaces left out, crosses of all with all."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riata
from riata import DataError, _core, open_source
from riata.block import concatenate
from riata.cli import run

LINES = [
    "1 'm1 |h from you:2 |b free entry now free |u u1",
    "-1 2.5 tag|b see:0.5 you |h to:0 me you|b then",
    "1 |u u2 |b:3 one",
    "-1 |h a b c d",
]


def features(lines: list[str], folder: Path, **options: Any) -> list[dict[str, float]]:
    path = folder / "x.vw"
    path.write_text("\n".join(lines) + "\n")
    block = concatenate(list(open_source(path, **options)))
    return [
        {str(block.name_of(k)): float(block.values[k]) for k in range(*block.indptr[i : i + 2])}
        for i in range(len(block))
    ]


def expected_ngrams(line: str, most: int, of: str | None = None) -> dict[str, float]:
    """As Vowpal Wabbit has them: features in a row of a namespace, without zeros, worth 1 each."""
    spaces: dict[str, list[str]] = {}
    for section in line.split("|")[1:]:
        name, *words = section.split(" ")
        kept = [word.split(":")[0] for word in words if word and not word.endswith(":0")]
        spaces.setdefault(name.split(":")[0], []).extend(kept)
    found: dict[str, float] = {}
    for name, words in spaces.items():
        for n in range(2, (most if of in (None, name) else 0) + 1):
            for i in range(len(words) - n + 1):
                gram = f"{name}^" + "^".join(words[i : i + n])
                found[gram] = found.get(gram, 0) + 1
    return found


@pytest.mark.parametrize(
    ("given", "most", "of"), [("2", 2, None), ("3", 3, None), ("b2", 2, "b"), ("h:3", 3, "h")]
)
def test_ngrams_are_those_of_vowpal_wabbit(
    tmp_path: Path, given: str, most: int, of: str | None
) -> None:
    plain = features(LINES, tmp_path)
    found = features(LINES, tmp_path, ngram=[given])
    for line, before, after in zip(LINES, plain, found, strict=True):
        assert after == before | expected_ngrams(line, most, of)
    assert any(after != before for before, after in zip(plain, found, strict=True))
    assert features(LINES, tmp_path, ngram=[given], names=True, threads=2) == found


def test_an_option_for_each_namespace(tmp_path: Path) -> None:
    found = features(LINES[:1], tmp_path, ngram=["2", "b3"])[0]
    assert "h^from^you" in found
    assert "b^free^entry^now" in found
    assert found["b^free"] == 2


def test_crosses_see_ngrams(tmp_path: Path) -> None:
    found = features(LINES[:1], tmp_path, ngram=["b2"], crosses=["b:u"])[0]
    assert found["b^free^entry*u^u1"] == 1


@given(st.text(alphabet="1 |ab:'0.5\t\r\n^e-", max_size=80), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_what_was_there_keeps_its_place(text: str, most: int) -> None:
    raw = (text + "\n").encode()
    made = _core.expand_vw(raw, len(raw), [("b", 3)], most, ["a"])
    assert made.count(b"\n") == raw.count(b"\n")
    for before, after in zip(raw.split(b"\n"), made.split(b"\n"), strict=True):
        start = after[: len(before)]
        assert len(start) == len(before)
        assert all(x == y or y == ord(" ") for x, y in zip(before, start, strict=True))
        again = _core.expand_vw(before, len(before), [], 0, [])
        assert again == before


def test_a_bad_line_is_wrong_where_it_is(tmp_path: Path) -> None:
    bad = [*LINES, "1 |b free entry:x now"]
    for options in ({}, {"ngram": ["3"], "ignore": ["h"]}):
        with pytest.raises(DataError, match=r"x\.vw:5:17: expected a number"):
            features(bad, tmp_path, **options)


def test_namespaces_are_left_out(tmp_path: Path) -> None:
    plain = features(LINES, tmp_path)
    found = features(LINES, tmp_path, ignore=["h", "u"])
    for before, after in zip(plain, found, strict=True):
        assert after == {name: value for name, value in before.items() if name.startswith("b^")}


def test_all_with_all(tmp_path: Path) -> None:
    named = features(LINES, tmp_path, crosses=["b:h", "b:u", "h:u", "b:b", "h:h", "u:u"])
    assert features(LINES, tmp_path, crosses=["::"]) == named
    with_u = features(LINES, tmp_path, crosses=["u:b", "u:h", "u:u"])
    assert features(LINES, tmp_path, crosses=["u:"]) == with_u
    to_u = features(LINES, tmp_path, crosses=["b:u", "h:u", "u:u"])
    assert features(LINES, tmp_path, crosses=[":u"]) == to_u
    kept = features(LINES, tmp_path, crosses=["::"], ignore=["h"])
    assert not any("h^" in name for row in kept for name in row)
    assert any("*" in name for row in kept for name in row)


@pytest.mark.parametrize(
    "options",
    [{"ignore": ["x"]}, {"ngram": ["x2"]}, {"crosses": ["x:b"]}, {"crosses": ["x:"]}],
)
def test_namespaces_that_are_not_there_are_named(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="the namespace 'x', .* there are 'b', 'h', 'u'"):
        features(LINES, tmp_path, **options)


@pytest.mark.parametrize("text", ["1", "b", "b1", "9", "b9", ""])
def test_bad_ngrams(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="--ngram is a number from 2 up to 8"):
        features(LINES, tmp_path, ngram=[text])


def test_the_model_remembers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "x.vw", str(tmp_path / "m.riata")
    path.write_text("\n".join(LINES * 30) + "\n")
    words = ["--ngram", "b2", "--ignore", "h", "--cross", "b:"]
    assert run(["train", str(path), "-o", out, "--method", "ftrl", "--quiet", *words]) == 0
    model = riata.load(out)
    assert "b^free^entry" in model.named_coef_
    assert "b^see*b^you^then" in model.named_coef_
    assert not any(name.startswith("h^") for name in model.named_coef_)
    source = open_source(path, schema=model.model_.schema, labelled=False)
    fresh = open_source(path, ngram=["b2"], ignore=["h"], crosses=["b:"])
    np.testing.assert_array_equal(model.predict_proba(source), model.predict_proba(fresh))
    assert run(["predict", out, str(path)]) == 0
    assert (
        run(["train", str(path), "-o", out, "--resume", out, "--passes", "2", "--quiet", *words])
        == 0
    )
    capsys.readouterr()
    assert run(["predict", out, str(path), "--ngram", "3"]) != 0
    assert "--ngram is other" in capsys.readouterr().err
    (tmp_path / "x.jsonl").write_text(json.dumps({"label": 1, "b": ["free"]}) + "\n")
    assert run(["predict", out, str(tmp_path / "x.jsonl")]) != 0
    assert "give it such text" in capsys.readouterr().err


def test_columns_all_with_all(tmp_path: Path) -> None:
    rows = [
        {"label": i % 2, "a": "xyz"[i % 3], "b": i % 5, "c": "uv"[i % 2 ^ i % 3 // 2]}
        for i in range(60)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
    pairs = [":".join(pair) for pair in combinations("abc", 2)]
    for wild, named in ((["::"], pairs), (["a:"], ["a:b", "a:c"]), ([":::"], ["a:b:c"])):
        first = riata.FTRLClassifier().learn(rows, crosses=named, scale="auto")
        assert any("*" in name for name in first.named_coef_)
        for what in (rows, tmp_path / "x.csv", pd.DataFrame(rows)):
            model = riata.FTRLClassifier().learn(what, label="label", crosses=wild, scale="auto")
            assert model.named_coef_ == first.named_coef_
            np.testing.assert_array_equal(model.predict_proba(rows), first.predict_proba(rows))
            again = open_source(rows, crosses=wild, schema=model.model_.schema)
            np.testing.assert_array_equal(model.predict_proba(again), first.predict_proba(rows))


def test_ngrams_are_for_vowpal_wabbit_text(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("label,a\n1,2\n")
    with pytest.raises(ValueError, match="ngram is of the features of Vowpal Wabbit"):
        open_source(tmp_path / "x.csv", ngram=["2"])
