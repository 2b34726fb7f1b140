"""The examples that went most wrong: what is said to add up to their scores does."""

from __future__ import annotations

from pathlib import Path

import pytest

import riata
from riata.model_file import load
from riata.report.measure import measure
from riata.sources import open_source

ROWS = "".join(
    f"{1 if k % 3 else -1} |a x{k % 5}:{1 + k % 4} y{k % 7}:0.5 |b z{k % 2}:3\n" for k in range(60)
)


@pytest.mark.parametrize(
    "parameters",
    [
        {"method": "elastic-net", "normalize": "l2"},
        {"method": "elastic-net"},
        {"method": "bayesian"},
        {"method": "auto"},
    ],
    ids=lambda p: ", ".join(map(str, p.values())),
)
def test_terms_of_wrong_examples_add_up(tmp_path: Path, parameters: dict[str, str]) -> None:
    path = tmp_path / "x.vw"
    path.write_text(ROWS)
    classes = {
        "elastic-net": riata.ElasticNetClassifier,
        "bayesian": riata.BayesianClassifier,
        "auto": riata.AutoClassifier,
    }
    estimator = classes[parameters["method"]](
        **{k: v for k, v in parameters.items() if k != "method"}
    )
    estimator.learn(str(path))
    estimator.save(tmp_path / "m.riata")
    model = load(tmp_path / "m.riata")
    found = measure(model, open_source(str(path)), wrong=4)
    assert len(found.wrong) == 4
    for wrong in found.wrong:
        assert [name for name, _, _ in wrong.terms if name.startswith("b^z")]
        total = sum(adds for _, _, adds in wrong.terms)
        assert total == pytest.approx(wrong.scores[0], abs=1e-9)
