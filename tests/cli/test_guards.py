"""A model that is worse than none says so, and the help shows what people need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riata import AutoRegressor, model_file
from riata.learners import FAMILIES, FTRL, ElasticNet
from riata.metrics_running import LabelSums
from riata.record import Record
from tests.cli.helpers import riata, write_problem

WORSE = "WORSE THAN ALWAYS PREDICTING THE SAME"


def raw_numbers(path: Path, regression: bool, n: int = 400) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3)) * [1, 300, 2000]
    y = x @ [1, 0.01, 0.001] + rng.normal(size=n)
    labels = y if regression else (y > 0).astype(int)
    rows = (" ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(row)) for row in x)
    path.write_text("".join(f"{t:.6g} {row}\n" for t, row in zip(labels, rows, strict=True)))
    return path


@pytest.mark.parametrize("regression", [False, True])
def test_worse_than_a_constant_is_said(tmp_path: Path, regression: bool) -> None:
    data = raw_numbers(tmp_path / "d.svm", regression)
    words = ["--method", "elastic-net", "--learning-rate", "constant", "--feature-scale", "none"]
    words += ["--loss", "squared", "--eta0", "4e-7"] if regression else ["--eta0", "10"]
    done = riata("train", data, "-o", tmp_path / "m", *words, "--holdout", data)
    assert done.out.count(WORSE) == 2 if not regression else WORSE in done.out
    if not regression:
        assert WORSE in riata("evaluate", tmp_path / "m", data).out
        assert WORSE not in riata("train", data, "-o", tmp_path / "m").out
        assert WORSE not in riata("evaluate", tmp_path / "m", data).out


def test_a_run_that_was_stopped_knows_the_labels(tmp_path: Path) -> None:
    write_problem(tmp_path / "d.svm")
    riata("train", tmp_path / "d.svm", "-o", tmp_path / "m", "-q")
    record = model_file.load(tmp_path / "m").record
    assert sum(record.labels.classes) == 400
    again = ("--resume", tmp_path / "m", "--passes", 2)
    riata("train", tmp_path / "d.svm", "-o", tmp_path / "m", "-q", *again)
    assert sum(model_file.load(tmp_path / "m").record.labels.classes) == 800


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "modified_huber"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_constant_is_the_best_one(loss: str, classes: int) -> None:
    labels = np.array([0, 0, 0, 1, 1, 2] * 5, dtype=float) % classes
    outputs = 1 if classes == 2 else 3
    learner = ElasticNet(loss=loss, outputs=outputs)
    sums = LabelSums()
    for part in np.split(labels, 3):
        sums.add(part, classes=True)
    found = sums.constant_loss(learner.losses, outputs)
    grid = np.linspace(-4, 4, 801)[:, None]
    shares = [(labels == c).mean() for c in ([1] if classes == 2 else [0, 1, 2])]
    one = ElasticNet(loss=loss)
    best = sum(
        (p * one.losses(grid, np.ones(801)) + (1 - p) * one.losses(grid, np.zeros(801))).min()
        for p in shares
    )
    assert found == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
def test_the_constant_of_a_regression(loss: str) -> None:
    labels = np.random.default_rng(0).normal(1e6, 3, 1000)
    learner = FTRL(loss=loss)
    sums = LabelSums()
    for part in np.split(labels, 4):
        sums.add(part, classes=False)
    found = sums.constant_loss(learner.losses, 1)
    mean = float(learner.losses(np.full((1000, 1), labels.mean()), labels).mean())
    assert found is not None
    assert found == pytest.approx(mean) if loss == "squared" else found >= mean


def test_three_kinds_of_help() -> None:
    short = riata("train", "--help").out
    assert "--help-all" in short
    assert "--label" in short
    assert short.count("\n  --") + short.count("\n  -o") + short.count("\n  -q") <= 11
    everything = riata("train", "--help-all").out
    for family in FAMILIES:
        own = riata("train", "--help", family).out
        assert "--method" in own
        assert "  --holdout" not in own
        for line in own.splitlines():
            if line.startswith("  --"):
                assert line.split()[0] in everything
    assert "--gravity" in riata("train", "-h", "truncated").out
    assert "--gravity" not in riata("train", "--help=ftrl").out


def labels_far_from_zero(path: Path, of_features: float, n: int = 1000) -> Path:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 2))
    labels = 3e6 + of_features * (x @ [2.0, -1.0]) + rng.normal(size=n)
    lines = (f"{t:.7f},{a},{b}\n" for t, (a, b) in zip(labels, x.tolist(), strict=True))
    path.write_text("y,a,b\n" + "".join(lines))
    return path


TABLE = ("--label", "y", "--loss", "squared")


@pytest.mark.parametrize("method", ["auto", "bayesian", "elastic-net"])
def test_the_first_label_of_a_regression_does_not_decide(tmp_path: Path, method: str) -> None:
    """What was lost on it is more than all that came after, and says nothing of the model."""
    model = tmp_path / "m.riata"
    data = labels_far_from_zero(tmp_path / "d.csv", of_features=20)
    words = () if method == "auto" else ("--method", method)
    done = riata("train", data, "-o", model, *TABLE, *words).out
    assert WORSE not in done
    assert "without the first example" in done
    assert "without the first example" in riata("inspect", model).out
    record = model_file.load(model).record
    assert record.progressive_loss is not None
    assert record.judged_loss is not None
    assert record.progressive_loss > 1e9 > 300 > record.judged_loss


def test_a_regression_that_learns_nothing_after_the_first_label_is_told(tmp_path: Path) -> None:
    data = labels_far_from_zero(tmp_path / "d.csv", of_features=0)
    words = ("--method", "elastic-net", "--eta0", "30")
    done = riata("train", data, "-o", tmp_path / "m", *TABLE, *words).out
    assert WORSE in done
    assert "Leave out --method" in done


def test_the_first_example_is_the_same_however_the_stream_is_cut(tmp_path: Path) -> None:
    rows = labels_far_from_zero(tmp_path / "d.csv", of_features=5, n=60)
    values = np.loadtxt(rows, delimiter=",", skiprows=1)
    whole, parts = (AutoRegressor(fit_joint=False) for _ in range(2))
    whole.partial_fit(values[:, 1:], values[:, 0])
    for row in values:
        parts.partial_fit(row[None, 1:], row[:1])
    record = whole.model_.record
    assert record.loss_after_first == parts.model_.record.loss_after_first
    assert record.loss_after_first.weight == 59
    again = Record.from_json(record.to_json())
    assert again.judged_loss == record.judged_loss
    old = {k: v for k, v in record.to_json().items() if k != "loss_after_first"}
    assert Record.from_json(old).judged_loss == record.progressive_loss


@pytest.mark.parametrize("words", [(), ("--method", "elastic-net"), ("--loss", "squared")])
def test_labels_that_are_all_the_same_are_said(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "d.svm").write_text("".join(f"1 {1 + n % 7}:1\n" for n in range(200)))
    done = riata("train", tmp_path / "d.svm", "-o", tmp_path / "m", *words).out
    assert "ALL LABELS ARE THE SAME" in done
    assert WORSE not in done


def test_a_loss_on_data_that_was_learned_before_is_called_too_good(tmp_path: Path) -> None:
    for name in ("one.svm", "two.svm"):
        write_problem(tmp_path / name)
    one, first, second = tmp_path / "one.svm", tmp_path / "a.riata", tmp_path / "b.riata"
    assert "too good" not in riata("train", one, "-o", first).out
    again = riata("train", one, "-o", second, "--initial", first).out
    assert f"too good: the model had learned from {one} before" in again
    other = ("train", tmp_path / "two.svm", "-o", second, "--initial", first)
    assert "too good" not in riata(*other).out
