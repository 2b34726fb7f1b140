"""Models put together: estimators and the command line, classes, schemas, counts of texts, records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riata
from riata import AutoClassifier, AutoRegressor, BayesianClassifier, BayesianRegressor
from riata.merging import merge_models
from riata.metrics_running import LabelSums
from riata.sources import open_source
from tests.cli.helpers import riata as command
from tests.cli.helpers import says


def table(n: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for x, place, noise in zip(
        rng.normal(50, 20, n), rng.choice(["north", "south"], n), rng.normal(size=n), strict=True
    ):
        score = (x - 50) / 10 + 2 * (place == "north") - 1 + noise
        label = "yes" if score > 0 else "no"
        rows.append(
            {"age": round(x, 3), "place": str(place), "label": label, "value": round(score, 4)}
        )
    return rows


def write_csv(path: Path, rows: list[dict[str, Any]], without: str = "value") -> Path:
    names = [name for name in rows[0] if name != without]
    lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    rows = table(3000)
    return tuple(  # type: ignore[return-value]
        write_csv(tmp_path / name, rows[part])
        for name, part in (
            ("one.csv", slice(0, 1000)),
            ("two.csv", slice(1000, 2000)),
            ("test.csv", slice(2000, 3000)),
        )
    )


def test_the_command_line_merges_models(tmp_path: Path, files: Any) -> None:
    one, two, test = files
    paths = [tmp_path / f"{name}.riata" for name in ("a", "b", "c")]
    command("train", one, "-o", paths[0], "-q")
    command("train", two, "-o", paths[1], "--read-as", paths[0], "-q")
    said = command("merge", *paths[:2], "-o", paths[2]).out
    assert "2 models of auto" in said
    assert "2,000 examples in all" in said
    shown = command("inspect", paths[2]).out
    assert "from 2 models" in shown
    assert "1,000 examples of" in shown
    assert "one.csv" in shown
    assert "two.csv" in shown
    losses = [json.loads(command("evaluate", p, test, "--json").out)["log_loss"] for p in paths]
    assert losses[2] < max(losses[:2])
    done = command("merge", *paths[:2], "-o", paths[2], "--json").out
    assert json.loads(done)["examples"] == 2000
    command("train", test, "-o", tmp_path / "d.riata", "--initial", paths[2], "-q")
    assert "3,000 examples" in command("inspect", tmp_path / "d.riata").out


def test_the_order_of_files_does_not_matter(tmp_path: Path, files: Any) -> None:
    one, two, test = files
    a, b = (tmp_path / f"{name}.riata" for name in ("a", "b"))
    command("train", one, "-o", a, "-q")
    command("train", two, "-o", b, "--read-as", a, "-q")
    predicted = []
    for order in ((a, b), (b, a)):
        command("merge", *order, "-o", tmp_path / "c.riata", "-q")
        predicted.append(riata.load(tmp_path / "c.riata").predict_proba(str(test)))
    np.testing.assert_allclose(predicted[0], predicted[1], rtol=1e-12)


def test_what_cannot_be_merged_is_said_with_both_names(tmp_path: Path, files: Any) -> None:
    one, two, _ = files
    a, b, c = (tmp_path / f"{name}.riata" for name in ("a", "b", "c"))
    command("train", one, "-o", a, "-q")
    command("train", two, "-o", b, "-q")
    out = ["-o", str(tmp_path / "out.riata")]
    says(["merge", str(a), str(b), *out], 2, f"{a} and {b}", "'age' was number, less", "--read-as")
    command("train", two, "-o", c, "-q", "--method", "elastic-net")
    says(["merge", str(a), str(c), *out], 2, "models of elastic-net cannot be merged", "--initial")
    says(["merge", str(a), *out], 2, f"there is one model, {a}")
    says(["merge", str(a), str(b), "--resume", str(a), *out], 2, "--resume is for parts of shards")
    part = tmp_path / "part"
    svm = tmp_path / "x.svm"
    svm.write_text("1 1:1\n-1 2:1\n" * 20)
    command("train", svm, "--shard", "1/1", "-o", part, "-q", "--method", "bayesian")
    says(["merge", str(a), str(part), *out], 2, f"{a} is a model, and {part} what a shard gave")
    says(["merge", str(a), str(svm), *out], 1, "x.svm: not a model of Riata's")
    says(["train", str(two), *out, "--read-as", str(a), "--initial", str(a)], 2, "leave it out")
    assert not (tmp_path / "out.riata").exists()


def test_words_that_came_in_another_order_are_the_same_classes() -> None:
    rows = [{k: v for k, v in row.items() if k != "value"} for row in table(1200)]
    for row in rows:  # a third class
        row["label"] = "maybe" if 45 < row["age"] < 55 else row["label"]
    by_class = {c: [r for r in rows if r["label"] == c] for c in ("maybe", "no", "yes")}
    half = rows[:600]
    late = by_class["yes"][-1:] * 1001 + rows[600:]  # the first 1,000 rows are of one class
    one = AutoClassifier().learn(open_source(half, scale="none"))
    two = AutoClassifier().learn(open_source(late, scale="none"))
    assert one.classes_.tolist() == ["maybe", "no", "yes"]
    assert two.classes_.tolist() != one.classes_.tolist()
    merged, other = one.merge(two), two.merge(one)
    assert merged.classes_.tolist() == one.classes_.tolist()
    order = [other.classes_.tolist().index(label) for label in merged.classes_.tolist()]
    data = open_source(rows[:50], scale="none")
    np.testing.assert_allclose(
        merged.predict_proba(data), other.predict_proba(data)[:, order], rtol=1e-6, atol=1e-9
    )
    assert merged.model_.record.labels.classes == pytest.approx(
        [
            a + b
            for a, b in zip(
                one.model_.record.labels.classes,
                [
                    two.model_.record.labels.classes[two.classes_.tolist().index(c)]
                    for c in one.classes_.tolist()
                ],
                strict=True,
            )
        ]
    )


def test_counts_of_texts_add() -> None:
    texts = ["free entry", "free lunch", "call me", "free call", "see me", "lunch at one"]
    rows = [{"label": i % 2, "body": text} for i, text in enumerate(texts * 20)]
    options: dict[str, Any] = {"text": ["body"], "ngrams": "words:1", "text_idf": True}
    one, two, whole = (
        AutoClassifier().learn(open_source(part, **options))
        for part in (rows[:50], rows[50:], rows)
    )
    merged = one.merge(two)
    ours, theirs = merged.model_.schema.text_weights, whole.model_.schema.text_weights
    for name, array in theirs.arrays().items():
        np.testing.assert_array_equal(ours.arrays()[name], array, err_msg=name)
    assert one.model_.schema.text_weights.documents == {"body": 50}


@pytest.mark.parametrize(
    "cls", [AutoClassifier, AutoRegressor, BayesianClassifier, BayesianRegressor]
)
def test_estimators_merge_go_on_and_are_saved(cls: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    y = X @ [1, 0, -2, 0.5, 0] + rng.normal(size=1500)
    y = y > 0 if "Classifier" in cls.__name__ else y
    one, two = (
        cls(shuffle=False).fit(X[part], y[part]) for part in (slice(0, 500), slice(500, 1000))
    )
    before = one.predict(X)
    merged = one.merge(two)
    assert merged.t_ == 1000
    assert merged.score(X[1000:], y[1000:]) > 0.98 * min(
        one.score(X[1000:], y[1000:]), two.score(X[1000:], y[1000:])
    )
    np.testing.assert_array_equal(one.predict(X), before)  # its parts are as they were
    merged.save(tmp_path / "m.riata")
    loaded = riata.load(tmp_path / "m.riata")
    np.testing.assert_array_equal(loaded.predict(X), merged.predict(X))
    for model in (merged, loaded):
        model.partial_fit(X[1000:], y[1000:])
    np.testing.assert_array_equal(loaded.predict(X), merged.predict(X))
    assert merged.t_ == 1500
    assert len(merged.model_.record.merged) == 2


def test_three_models_and_merged_ones_name_all_parts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] > 0
    parts = [AutoClassifier().fit(X[i::3], y[i::3]).model_ for i in range(3)]
    merged = merge_models([merge_models(parts[:2]), parts[2]])
    assert [part["examples"] for part in merged.record.merged] == [100, 100, 100]
    assert merged.record.complete
    assert merged.constant_loss is not None


def test_other_classes_and_columns_are_refused() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    one = AutoClassifier().fit(X, np.where(X[:, 0] > 0, "a", "b"))
    two = AutoClassifier().fit(X, np.where(X[:, 0] > 0, "a", "c"))
    with pytest.raises(
        ValueError, match="the first and the second.*different classes: a, b and a, c"
    ):
        one.merge(two)
    rows = [{"label": "ab"[i % 2], "age": i} for i in range(200)]
    with pytest.raises(
        ValueError, match="features of the one are numbered, those of the other named"
    ):
        one.merge(AutoClassifier().learn(rows))
    with pytest.raises(ValueError, match="models of auto and of bayesian cannot be merged"):
        one.merge(BayesianClassifier().fit(X, np.where(X[:, 0] > 0, "a", "b")))


def test_labels_may_come_from_elsewhere() -> None:
    """One model was given features and labels apart, the other a table that has both."""
    rows = [{k: v for k, v in row.items() if k != "value"} for row in table(400)]
    features = [{k: v for k, v in row.items() if k != "label"} for row in rows]
    one = AutoClassifier().fit(features[:200], [row["label"] for row in rows[:200]])
    two = AutoClassifier().learn(rows[200:], label="label", schema=one.model_.schema)
    both = one.merge(two)
    assert both.t_ == 400
    for whole in (both, two.merge(one)):
        np.testing.assert_allclose(
            whole.predict_proba(features), both.predict_proba(features), rtol=1e-9
        )


def test_sums_of_labels_are_those_of_all() -> None:
    from riata.merging import _labels

    rng = np.random.default_rng(0)
    labels, weights = rng.normal(1000, 3, 400), rng.random(400)
    sums = [LabelSums() for _ in range(3)]
    for of, part in zip(sums, (slice(0, 150), slice(150, 400), slice(0, 400)), strict=True):
        of.add(labels[part], weights[part], classes=False)
    merged = _labels(sums[0], sums[1], None)

    def deviation(of: LabelSums) -> float:
        distance, square = of.distance.value, of.square.value
        assert distance is not None
        assert square is not None
        return square - distance**2

    assert deviation(merged) == pytest.approx(deviation(sums[2]))
