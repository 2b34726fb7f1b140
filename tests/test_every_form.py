"""One table with every kind of column, in every form: it trains the same bits, and predicts them from all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import riata
from riata.sources import open_source
from tests.sources.every_format import FORMS, Table, make_table

READING: dict[str, Any] = {
    "label": "label",
    "weight": "weight",
    "ignore": ["offset"],
    "numeric": ["number", "two words", "whole"],
    "categorical": ["text", "\u00fcber:a|b", "small"],
    "log1p": ["two words"],
    "buckets": {"whole": 4},
    "missing": "feature",
    "absent": ["none"],
}
WITH: dict[str, dict[str, Any]] = {
    "scaled": {"scale": "standard"},
    "crossed": {"crosses": ["text:whole", "small:number"]},
    "words": {
        "text": ["text"],
        "categorical": ["\u00fcber:a|b", "small"],
        "text_idf": True,
        "text_norm": True,
        "ngrams": "words:1-2,chars:3",
    },
}


def table(seed: int, rows: int) -> Table:
    made = make_table(seed, rows, tame=True)
    for row in made:
        row["small"] = None if row["small"] is None else int(row["small"])
        row["text"] = row["text"] or "none"
        row["label"] = row["label"] % 2
    return made


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Any]]:
    made = {}
    for form, how in FORMS.items():
        folders = [tmp_path_factory.mktemp("form") for _ in range(2)]
        made[form] = tuple(
            lambda how=how, rows=rows, folder=folder: how.put(rows, folder)
            for rows, folder in zip((table(1, 150), table(2, 40)), folders, strict=True)
        )
    return made  # type: ignore[return-value]


@pytest.mark.parametrize("options", WITH)
@pytest.mark.parametrize("form", FORMS)
def test_trains_and_predicts_the_same(forms: dict[str, Any], form: str, options: str) -> None:
    reading = READING | {"scale": "none"} | WITH[options]
    first = riata.FTRLClassifier().learn(forms["csv"][0](), **reading)
    model = riata.FTRLClassifier().learn(open_source(forms[form][0](), **reading))
    assert model.named_coef_ == first.named_coef_
    assert model.intercept_ == first.intercept_
    schema, expected = model.model_.schema, first.predict_proba(forms["csv"][1]())
    assert len({tuple(row) for row in expected.tolist()}) > 20
    for other, (_, make) in forms.items():
        source = open_source(make(), schema=schema, labelled=False)
        np.testing.assert_array_equal(model.predict_proba(source), expected, err_msg=other)
    np.testing.assert_array_equal(model.predict_proba(table(2, 40)), expected)
    single = [list(model.predict_proba_one(row).values()) for row in table(2, 40)]
    np.testing.assert_array_equal(np.array(single), expected)
