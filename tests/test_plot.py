"""Pictures: what is drawn is what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import riata
from riata.errors import DataError
from tests.cli.helpers import riata as command
from tests.cli.helpers import write_problem

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from riata import plot  # noqa: E402


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    write_problem(tmp_path / "x.svm", n=3000)
    command("train", tmp_path / "x.svm", "-o", tmp_path / "m.riata", "-q", "--method", "auto", "--passes", 2,
            "--holdout", 0.1, "--log", tmp_path / "log.jsonl")  # fmt: skip
    return tmp_path / "log.jsonl"


def two_classes(n: int = 2000) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    return X, np.where(X[:, 0] - X[:, 3] + rng.logistic(size=n) > 0, "yes", "no")


def rendered(ax: Any) -> None:
    """It can be drawn, has names on its axes, and its legend lies outside of the data."""
    ax.figure.canvas.draw()
    assert ax.get_xlabel()
    assert ax.get_title(loc="left")
    legend = ax.get_legend()
    if legend is not None:
        assert legend.get_window_extent().x0 >= ax.get_window_extent().x1


def test_loss_and_sparsity_of_a_log(log: Path) -> None:
    moments = riata.report.logs.Log.read(log).moments
    ax = plot.loss(log)
    rendered(ax)
    assert ax.lines[0].get_ydata().tolist() == [m["loss"] for m in moments]
    ax = plot.sparsity(log)
    rendered(ax)
    assert ax.lines[0].get_ydata().tolist() == [m["live_weights"] for m in moments]


def test_loss_of_a_model_is_by_pass(log: Path) -> None:
    ax = plot.loss(log.parent / "m.riata")
    assert len(ax.lines[0].get_xdata()) == 2
    with pytest.raises(TypeError, match="not int"):
        plot.loss(3)


def test_evidence_of_auto(log: Path) -> None:
    ax = plot.evidence(log)
    rendered(ax)
    shares = np.array([line.get_ydata() for line in ax.lines])
    assert np.allclose(shares.sum(axis=0), 1)
    command(
        "train",
        log.parent / "x.svm",
        "-o",
        log.parent / "f.riata",
        "-q",
        "--method",
        "ftrl",
        "--log",
        log,
    )
    with pytest.raises(DataError, match="auto"):
        plot.evidence(log)


def test_path_and_sweep(tmp_path: Path) -> None:
    X, y = two_classes()
    model = riata.SketchClassifier(gamma=[1.0, 10.0, 100.0]).fit(X, y)
    ax = plot.path(model, top=3)
    rendered(ax)
    assert len(ax.get_legend().get_texts()) == 3
    found = riata.sweep(X, {"l1": [1e-4, 1e-2, 0.1]}, y=y)
    found.save(tmp_path / "sweep.json")
    ax = plot.sweep(tmp_path / "sweep.json")
    rendered(ax)
    points = ax.containers[0].lines[0].get_xydata().tolist()
    assert points == [[r["non_zeros"], r["loss"]] for r in found.records]


def test_curves_of_predictions() -> None:
    X, y = two_classes()
    model = riata.BayesianClassifier().fit(X[:1000], y[:1000])
    chances = model.predict_proba(X[1000:])
    ax = plot.roc(y[1000:], chances)
    rendered(ax)
    area = roc_auc_score(y[1000:] == "yes", chances[:, 1])
    assert ax.get_title(loc="left") == f"ROC curve, AUC {area:.4f}"
    x, height = (np.asarray(v) for v in ax.lines[1].get_data())
    assert np.trapezoid(height, x) == pytest.approx(area, abs=2e-3)
    rendered(plot.precision_recall(y[1000:], chances[:, 1]))
    rendered(plot.reliability(y[1000:], chances))
    with pytest.raises(ValueError, match="two classes"):
        plot.roc(np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="one each"):
        plot.roc(np.zeros(3), np.zeros(4))


def test_weights_with_intervals_into_an_axes_of_ones_own() -> None:
    X, y = two_classes()
    _, ax = plt.subplots()
    for model in (riata.BayesianClassifier(), riata.FTRLClassifier()):
        assert plot.weights(model.fit(X, y), ax, top=5) is ax
    rendered(ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()].count("0") == 1
