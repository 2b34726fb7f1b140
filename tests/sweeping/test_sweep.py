"""A sweep is many trainings at once: the same bits as each alone, and losses that nobody has to take on trust."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import random as random_sparse

import riata
from riata.block import Block
from riata.errors import SettingsError
from riata.learners import FAMILIES
from riata.sources import open_source
from riata.sweeping import Job, Sweep
from riata.sweeping.folds import FoldOf
from riata.training import train
from tests.streams import ListSource, problem
from tests.sweeping.run import sweep_source

SCHEDULE = {"learning_rate": "inv_sqrt", "feature_scale": "none"}
GRIDS: dict[str, tuple[str, dict[str, Any]]] = {
    "elastic net": (
        "elastic-net",
        {"l1": [0.0, 1e-4, 1e-2], "l2": [0.0, 1e-3], "eta0": [0.1, 0.5], **SCHEDULE},
    ),
    "defaults": ("elastic-net", {"l1": [0.0, 1e-3]}),
    "sgd": ("elastic-net", {"update": "sgd", "l1": [0.0, 1e-3], "l2": [1e-3], **SCHEDULE}),
    "schedules": (
        "elastic-net",
        {
            "learning_rate": ["constant", "inv_sqrt", "inv_t", "adagrad"],
            "l1": [0, 1e-3],
            "feature_scale": "none",
        },
    ),
    "hinge": ("elastic-net", {"loss": ["hinge", "squared_hinge"], "l1": [0, 1e-3]}),
    "truncated": (
        "truncated",
        {"gravity": [0.0, 1e-3], "theta": [0.5, 1e9], "period": [1, 7], **SCHEDULE},
    ),
    "ftrl": ("ftrl", {"alpha": [0.05, 0.5], "l1": [0.0, 1.0]}),
    "bayesian": ("bayesian", {"prior_variance": [0.1, 1.0]}),
    "mixed": ("elastic-net,ftrl,truncated", {"l1": [0.0, 1e-3], "gravity": [1e-3], "eta0": [0.2]}),
}


def alone(source: Any, family: str, parameters: dict[str, Any], **options: Any) -> Any:
    return train(source, lambda m: FAMILIES[family](**parameters, outputs=m), **options)


def same_state(one: Any, other: Any) -> None:
    a, b = one.state(), other.state()
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_each_setting_has_the_bits_it_has_alone(name: str, classes: int) -> None:
    method, grid = GRIDS[name]
    block = problem(300, classes=classes)
    found = sweep_source(ListSource(block, 37), grid, method, passes=2, threads=2)
    for i, record in enumerate(found.records):
        single = alone(ListSource(block, 64), record["method"], record["parameters"], passes=2)
        same_state(found.model(i).learner, single.learner)
        assert record["progressive_loss"] == single.record.progressive_loss
        assert record["non_zeros"] == single.learner.n_live()
        np.testing.assert_array_equal(found.model(i).classes, single.classes)


def test_regression_too() -> None:
    block = problem(300, classes=0)
    found = sweep_source(ListSource(block), {"loss": "squared", "l1": [0.0, 1e-2]})
    for i, record in enumerate(found.records):
        single = alone(ListSource(block), "elastic-net", record["parameters"])
        same_state(found.model(i).learner, single.learner)
        assert record["loss"] == pytest.approx(2 * single.record.progressive_loss)
        assert record["r2"] is not None
    assert found.metric == "squared_error"


@pytest.mark.parametrize(
    "name", ["elastic net", "truncated", "ftrl", "bayesian", "schedules", "defaults"]
)
def test_a_folds_columns_are_those_of_a_training_without_it(name: str) -> None:
    """And its predictions of the fold are those at the time when each example comes by."""
    method, grid = GRIDS[name]
    block, folds = problem(240), 4
    job = Job(grid, method, folds=folds)
    found = job.run(ListSource(block, 50))
    assert job.columns is not None
    fold_of, _ = FoldOf(folds).of(block, 0)
    codes = (block.labels > 0).astype(float)  # type: ignore[operator]
    for s, setting in enumerate(job.settings[:4]):
        totals = np.zeros(folds)
        for fold in range(folds):
            learner = setting.make(1)
            for i in range(len(block)):
                row = block[i : i + 1].with_labels(codes[i : i + 1], None)
                if fold_of[i] == fold:
                    p = learner.probability(learner.score(row))
                    totals[fold] -= np.log(p[0, 0] if codes[i] else 1 - p[0, 0])  # type: ignore[index]
                else:
                    learner.learn(row)
            from riata.sweeping.unit_sets import Unit

            unit = Unit(s, fold)
            unit_set = next(
                unit_set for unit_set in job.columns.unit_sets if unit in unit_set.units
            )
            same_state(unit_set.learner(unit), learner)
        assert found.records[s]["loss"] == pytest.approx(totals.sum() / len(block), rel=1e-12)
        whole = alone(ListSource(block), setting.family, dict(setting.parameters))
        same_state(found.model(s).learner, whole.learner)


def test_it_does_not_matter_how_the_stream_is_cut_nor_how_many_threads() -> None:
    block = problem(500)
    grid = {"l1": [0.0, 1e-3, 1e-2], "eta0": [0.1, 0.5]}
    results = [
        sweep_source(ListSource(block, rows), grid, folds=3, threads=threads, passes=2)
        for rows, threads in ((500, 1), (7, 2), (64, 3))
    ]
    for other in results[1:]:
        for i in range(6):
            same_state(results[0].model(i).learner, other.model(i).learner)
            assert results[0].records[i]["loss"] == pytest.approx(
                other.records[i]["loss"], rel=1e-12
            )


def test_shuffled_passes_keep_their_folds() -> None:
    block = problem(400)
    job = Job({"l1": [1e-4]}, folds=4)
    found = job.run(ListSource(block, 33), passes=3, shuffle=120, random_state=5)
    assert found.examples == 400
    single = alone(
        ListSource(block, 64), "elastic-net", {"l1": 1e-4}, passes=3, shuffle=120, random_state=5
    )
    same_state(found.model(0).learner, single.learner)
    assert job.columns is not None
    fold_of, _ = FoldOf(4).of(block, 0)
    counts = np.bincount(fold_of, minlength=4)
    np.testing.assert_array_equal(job.columns.judged.weights, counts)


def test_weights_offsets_and_class_weights() -> None:
    block = problem(300)
    rng = np.random.default_rng(3)
    block = Block(
        block.indptr, block.indices, block.values, labels=block.labels,
        weights=rng.integers(0, 4, 300).astype(float), offsets=rng.normal(size=300),
    )  # fmt: skip
    options: dict[str, Any] = {"class_weight": {-1: 2.0}}
    found = sweep_source(ListSource(block), {"l1": [0.0, 1e-3]}, folds=3, **options)
    for i, record in enumerate(found.records):
        single = alone(ListSource(block), "elastic-net", record["parameters"], **options)
        same_state(found.model(i).learner, single.learner)


def test_standard_errors_and_differences_are_those_of_the_folds() -> None:
    block = problem(600)
    job = Job({"l1": [0.0, 1e-2, 3e-2]}, folds=5)
    found = job.run(ListSource(block))
    assert job.columns is not None
    tally = job.columns.judged
    means = tally.totals / tally.weights
    best = found.ranking[0]
    assert found.records[best]["difference"] == 0
    for s, record in enumerate(found.records):
        share = tally.weights / tally.weights.sum()
        centre = (means[s] * share).sum()
        expected = np.sqrt((share**2 * (means[s] - centre) ** 2).sum() * 5 / 4)
        assert record["se"] == pytest.approx(expected)
        assert record["low"] <= record["difference"] <= record["high"]


def test_the_one_standard_error_rule_takes_the_sparsest_that_is_near() -> None:
    def record(loss: float, se: float, live: int, status: str = "") -> dict[str, Any]:
        return {
            "method": "ftrl",
            "parameters": {},
            "loss": loss,
            "se": se,
            "non_zeros": live,
            "status": status,
        }

    rows = [
        record(0.30, 0.02, 100),
        record(0.31, 0.02, 10),
        record(0.33, 0.02, 1),
        record(0.1, 0, 0, "diverged"),
    ]
    given: dict[str, Any] = {
        "metric": "log_loss",
        "folds": 5,
        "examples": 1,
        "passes": 1,
        "data": [],
    }
    assert Sweep(rows, select="min", **given).best_index_ == 0
    assert Sweep(rows, select="1se", **given).best_index_ == 1


def test_names_words_and_other_formats(tmp_path: Any) -> None:
    lines = [
        f"{'spam' if i % 3 else 'ham'},{'cheap' if i % 3 else 'dear'},{i % 5},u{i % 11}"
        for i in range(330)
    ]
    path = tmp_path / "mail.csv"
    path.write_text("label,price,size,user\n" + "\n".join(lines) + "\n")
    found = riata.sweep(path, {"l1": [1e-6, 1e-3]}, "elastic-net,ftrl", folds=3, group="user")
    model = found.estimator()
    model.save(tmp_path / "best.riata")
    again = riata.load(tmp_path / "best.riata")
    rows = [{"price": "cheap", "size": 2, "user": "u1"}, {"price": "dear", "size": 2, "user": "u2"}]
    assert list(again.predict(rows)) == ["spam", "ham"]  # type: ignore[attr-defined]
    names = {name for name, _ in again.named_coef_.items()}
    assert any(name.startswith("price") for name in names)
    assert not any(name.startswith("user") for name in names)


def test_a_group_shares_its_fold() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 500)
    x = np.column_stack([rng.normal(size=500), groups + 1.0])
    block = next(iter(open_source(x, rng.integers(0, 2, 500).astype(float))))
    for fold_of in (FoldOf(5, groups), FoldOf(5, 1), FoldOf(5, "1")):
        folds, kept = fold_of.of(block, 0)
        for group in range(40):
            assert len(set(folds[groups == group].tolist())) <= 1
        assert len(set(folds.tolist())) == 5
        assert (kept.nnz == block.nnz) == (not fold_of.by_column)


def test_classes_that_come_late_join_all_settings() -> None:
    first, late = problem(1100), problem(400, classes=3, seed=4)
    x = ListSource(first).block
    labels = np.concatenate([x.labels, late.labels + 5])  # type: ignore[operator]
    from riata.block import concatenate

    block = concatenate([x, late]).with_labels(labels, None)
    with pytest.warns(UserWarning, match="is new, and joins"):
        found = sweep_source(
            ListSource(block, 100), {"l1": [0.0, 1e-3]}, "elastic-net,ftrl", folds=3
        )
    with pytest.warns(UserWarning, match="is new, and joins"):
        single = alone(ListSource(block, 100), "elastic-net", found.records[1]["parameters"])
    same_state(found.model(1).learner, single.learner)
    assert len(found.model(1).labels) == 5


def test_matrices_frames_and_labels_of_every_kind() -> None:
    rng = np.random.default_rng(0)
    X = random_sparse(400, 50, 0.2, format="csr", random_state=0, dtype=np.float64)
    score = X @ rng.normal(size=50)
    y = np.where(score > np.median(score), "high", "low")
    found = riata.sweep(X, {"l1": [1e-5, 1e-3]}, y=y, passes=3, folds=3)
    model = found.estimator()
    assert model.score(X, y) > 0.7  # type: ignore[attr-defined]
    assert set(model.classes_) == {"high", "low"}  # type: ignore[attr-defined]
    regression = riata.sweep(X, {"loss": "squared", "eta0": [0.01, 0.1]}, y=score, passes=3)
    assert isinstance(regression.estimator(), riata.ElasticNetRegressor)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["x", "y"], 300)})
    labels = (frame["a"] > 0).map({True: "yes", False: "no"})
    by_frame = riata.sweep(frame, {"l1": [1e-6, 1e-4]}, y=labels)
    assert by_frame.estimator().score(frame, labels) > 0.8  # type: ignore[attr-defined]
    assert list(by_frame.frame["loss"]) == sorted(by_frame.frame["loss"])


def test_results_are_kept_in_a_file(tmp_path: Any) -> None:
    found = sweep_source(ListSource(problem()), {"l1": [0.0, 1e-3]}, "elastic-net,ftrl", folds=3)
    found.save(tmp_path / "r.json")
    again = Sweep.load(tmp_path / "r.json")
    assert again.records == found.records
    assert again.best_ == found.best_
    assert again.ranking == found.ranking
    with pytest.raises(SettingsError, match="came from a file"):
        again.model()
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(riata.ModelError, match="not the result of a sweep"):
        Sweep.load(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('{"format": "riata-sweep", "version": 99}')
    with pytest.raises(riata.ModelError, match="newer Riata"):
        Sweep.load(tmp_path / "x.json")


@pytest.mark.parametrize("feature_scale", ["none", "rms"])
def test_a_setting_that_stands_still_where_others_move_goes_on_by_itself(
    feature_scale: str,
) -> None:
    """Of a squared loss a prediction may be exact: its rows are then not touched, and others' are.

    Others go on from the example at which it left, whose values rows must not have learned yet.
    """
    block = problem(400, classes=0)
    labels = np.where(np.arange(400) % 3 == 0, 0.0, block.labels)  # type: ignore[arg-type]
    block = block.with_labels(labels, None)
    grid = {"loss": "squared", "fit_intercept": False, "l1": [0.0, 50.0, 1e-3]}
    grid |= {"learning_rate": "invscaling", "feature_scale": feature_scale}
    job = Job(grid, folds=3, threads=1)
    found = job.run(ListSource(block, 50), passes=2)
    assert len(found.records) == 3
    for i, record in enumerate(found.records):
        single = alone(ListSource(block), "elastic-net", record["parameters"], passes=2)
        same_state(found.model(i).learner, single.learner)
    assert job.columns is not None
    assert any(getattr(unit_set, "_left", None) for unit_set in job.columns.unit_sets)


def test_what_lies_side_by_side_takes_eight_bytes_a_weight() -> None:
    from riata.sweeping.banks import BankSet
    from riata.sweeping.memory import estimate

    X = random_sparse(3000, 5000, 0.01, format="csr", random_state=0, dtype=np.float64)
    y = np.random.default_rng(0).integers(0, 2, 3000).astype(float)
    grid = {"l1": np.geomspace(1e-9, 1e-7, 64), "learning_rate": "inv_sqrt"}
    job = Job(grid | {"feature_scale": "none"}, threads=1)
    job.run(open_source(X, y))
    assert job.columns is not None
    (unit_set,) = job.columns.unit_sets
    assert isinstance(unit_set, BankSet)
    live = job.columns.live_of(0)
    assert live is not None
    assert live > 4000
    most = (
        8 * 64 * (live + min(live, 3000))
    )  # weights, and the sums of the steps that rows speak of
    assert unit_set._bank.bytes < 2 * most
    said = estimate(job.settings, None)
    assert said.bytes_per_feature == 8 * 64 + 8
    assert estimate(job.settings, 10).bytes_per_feature == 11 * (8 * 64 + 8)


def test_many_steps_forget_the_sums_that_no_row_speaks_of() -> None:
    block = problem(9000, d=12)
    job = Job(
        {
            "l1": [1e-4, 1e-3],
            "learning_rate": ["inv_t", "constant"],
            "l2": [0.5],
            "feature_scale": "none",
        },
        folds=2,
        threads=1,
    )
    found = job.run(ListSource(block, 1000), passes=2)
    for i, record in enumerate(found.records):
        single = alone(ListSource(block), "elastic-net", record["parameters"], passes=2)
        same_state(found.model(i).learner, single.learner)
    assert job.columns is not None
    (unit_set,) = job.columns.unit_sets
    assert unit_set._bank.bytes < 8 * 4 * 3 * 3 * 4096 * 2  # type: ignore[attr-defined]
