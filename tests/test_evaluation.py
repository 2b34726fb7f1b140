"""Measures against their definitions, and that memory and bits do not depend on how the stream is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support, roc_auc_score

import riata
from riata.explain.measures import Measures, measure
from riata.explain.measures.bootstrap import PoissonBootstrap
from riata.explain.measures.decisions import Confusion, Curve
from riata.metrics import StreamingAUC
from riata.sources import open_source


def problem(classes: int = 2, n: int = 1500, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    z = x @ [1.0, -0.5, 0.3, 0.0] + rng.logistic(size=n)
    if classes == 0:
        return x, z
    return x, np.digitize(z, [0.5] if classes == 2 else [-1.0, 1.0]).astype(float)


def measured(classes: int, measures: Measures | None = None, rows: int | None = None) -> Any:
    x, y = problem(classes)
    face = riata.ElasticNetRegressor if classes == 0 else riata.ElasticNetClassifier
    model = face().fit(x, y)
    source = open_source(x, y, block_rows=rows)
    return model, x, y, measure(model.model_, source, measures)


def test_decisions_of_two_classes() -> None:
    model, x, y, found = measured(2, Measures(threshold=0.7))
    said = model.predict_proba(x)[:, 1] >= 0.7
    precision, recall, f1, _ = precision_recall_fscore_support(y, said, average="binary")
    at = found["threshold"]
    assert at["probability"] == 0.7
    assert (at["precision"], at["recall"], at["f1"]) == pytest.approx((precision, recall, f1))
    assert found["confusion"] == confusion_matrix(y, said).tolist()
    assert found["log_loss"] < found["base_log_loss"]
    assert found["constant_loss"] == pytest.approx(found["base_log_loss"])


def test_classes() -> None:
    model, x, y, found = measured(3)
    said = model.predict(x)
    precision, recall, f1, support = precision_recall_fscore_support(y, said)
    for c, one in enumerate(found["by_class"]):
        assert one["class"] == c
        assert (one["precision"], one["recall"], one["f1"]) == pytest.approx(
            (precision[c], recall[c], f1[c])
        )
        assert one["weight"] == support[c]
    assert found["macro"]["f1"] == pytest.approx(f1.mean())
    assert found["confusion"] == confusion_matrix(y, said).tolist()


def test_regression() -> None:
    model, x, y, found = measured(0)
    error = model.predict(x) - y
    assert found["mse"] == pytest.approx(np.mean(error**2))
    assert found["mae"] == pytest.approx(np.mean(np.abs(error)))
    assert found["r2"] == pytest.approx(1 - np.mean(error**2) / np.var(y))
    assert found["constant_mse"] == pytest.approx(np.var(y))
    assert "confusion" not in found


@pytest.mark.parametrize(("what", "wanted"), [("precision", 0.8), ("recall", 0.9)])
def test_the_threshold_for_what_is_wanted(what: str, wanted: float) -> None:
    model, x, y, found = measured(2, Measures(at=[(what, wanted)]))
    [at] = found["at"]
    assert at["reached"]
    assert at[what] >= wanted
    chances = model.predict_proba(x)[:, 1]
    said = chances >= at["probability"]
    precision, recall, _, _ = precision_recall_fscore_support(y, said, average="binary")
    assert (at["precision"], at["recall"]) == pytest.approx((precision, recall), abs=2e-3)
    # Nothing better is to be had.
    other = "recall" if what == "precision" else "precision"
    best = 0.0
    for threshold in np.unique(chances):
        p, r, _, _ = precision_recall_fscore_support(y, chances >= threshold, average="binary")
        if (p if what == "precision" else r) >= wanted:
            best = max(best, r if what == "precision" else p)
    assert at[other] == pytest.approx(best, abs=3e-3)


def test_a_precision_that_nothing_reaches() -> None:
    histogram = StreamingAUC()
    histogram.add(np.array([2.0, 1.0, 0.0]), np.array([False, True, False]))
    assert Curve.of(histogram).at("precision", 0.9) is None
    assert Curve.of(StreamingAUC()).at("recall", 0.5) is None
    assert Curve.of(StreamingAUC()).lift(0.1) is None


def test_lift() -> None:
    model, x, y, found = measured(2, Measures(lift=[0.1, 1.0]))
    order = np.argsort(-model.decision_function(x))[: len(y) // 10]
    first, all_ = found["lift"]
    assert first["share"] == pytest.approx(y[order].mean(), abs=2e-3)
    assert first["lift"] == pytest.approx(y[order].mean() / y.mean(), abs=5e-3)
    assert first["captured"] == pytest.approx(y[order].sum() / y.sum(), abs=2e-3)
    assert (all_["lift"], all_["captured"]) == pytest.approx((1.0, 1.0))


def test_weights_count() -> None:
    rng = np.random.default_rng(0)
    truth, said = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
    weights = rng.integers(1, 4, 200)
    one, other = Confusion(3), Confusion(3)
    one.add(truth, said, weights.astype(float))
    other.add(np.repeat(truth, weights), np.repeat(said, weights), None)
    assert np.allclose(one.weights, other.weights)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_how_the_stream_is_cut_does_not_matter(classes: int) -> None:
    wanted = Measures(bootstrap=20, at=[("recall", 0.5)] if classes == 2 else ())
    whole = measured(classes, wanted)[-1]
    parts = measured(classes, wanted, rows=77)[-1]
    assert whole.keys() == parts.keys()
    for name, value in whole["intervals"].items():
        assert value == pytest.approx(parts["intervals"][name], rel=1e-9)
    assert whole.get("confusion") == parts.get("confusion")
    assert whole["loss"] == parts["loss"]


def test_intervals_are_as_wide_as_they_should_be() -> None:
    """The spread of the replicates is the standard error, and seeds decide."""
    model, x, y, found = measured(2, Measures(bootstrap=600, level=0.6827))
    right = model.predict(x) == y
    low, high = found["intervals"]["accuracy"]
    assert low < right.mean() < high
    assert (high - low) / 2 == pytest.approx(right.std() / np.sqrt(len(y)), rel=0.15)
    low, high = found["intervals"]["auc"]
    assert low < roc_auc_score(y, model.decision_function(x)) < high
    again = measured(2, Measures(bootstrap=600, level=0.6827))[-1]
    assert again["intervals"] == found["intervals"]
    other = measured(2, Measures(bootstrap=600, level=0.6827, seed=1))[-1]
    assert other["intervals"] != found["intervals"]
    for name in ("precision", "recall", "f1", "log_loss"):
        low, high = found["intervals"][name]
        value = found["log_loss"] if name == "log_loss" else found["threshold"][name]
        assert low < value < high


def test_poisson_draws() -> None:
    boot = PoissonBootstrap(200, seed=3)
    boot.add({"one": np.ones(3000)}, None)
    assert boot.weight.mean() == pytest.approx(3000, rel=0.01)
    assert boot.weight.std() == pytest.approx(np.sqrt(3000), rel=0.2)
    with pytest.raises(ValueError, match="even number"):
        PoissonBootstrap(3, seed=0)


def test_groups() -> None:
    x, y = problem(2)
    model = riata.ElasticNetClassifier().fit(x, y)
    names = np.array(["a", "b", None], dtype=object)[np.arange(len(y)) % 3]
    place = iter([0])
    start = next(place)

    def groups_of(block: Any) -> list[Any]:
        nonlocal start
        found: list[Any] = names[start : start + len(block)].tolist()
        start += len(block)
        return found

    found = measure(model.model_, open_source(x, y, block_rows=100), None, groups_of)["groups"]
    assert {one["group"] for one in found} == {"a", "b", ""}
    for one in found:
        mine = names == (one["group"] or None)
        assert one["examples"] == mine.sum()
        assert one["accuracy"] == pytest.approx(np.mean(model.predict(x[mine]) == y[mine]))
        assert one["auc"] == pytest.approx(
            roc_auc_score(y[mine], model.decision_function(x[mine])), abs=1e-3
        )


def test_a_loss_without_probabilities() -> None:
    x, y = problem(2)
    model = riata.ElasticNetClassifier(loss="hinge").fit(x, y)
    found = measure(model.model_, open_source(x, y), Measures(at=[("recall", 0.9)]))
    assert found["threshold"]["score"] == 0.0
    assert found["at"][0]["probability"] is None
    assert "log_loss" not in found
    share = y.mean()
    assert found["constant_loss"] == pytest.approx(2 * min(share, 1 - share))
