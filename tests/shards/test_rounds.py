"""Training by shards: what is exact is exact, the rest is near."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from riata.errors import ChangedData, DataError, SettingsError
from riata.learners import (
    FTRL,
    AutoRegression,
    Bayesian,
    BayesianRegression,
    ElasticNet,
    InteriorPoint,
    Portfolio,
    Sketch,
    TruncatedGradient,
)
from riata.shards import (
    merge,
    partial,
    plan_for,
    train_shards,
)
from riata.sources import ReadOptions, open_source
from riata.training import evaluate, train
from tests.shards.problems import table, write_svm, write_vw

SCHEDULE = {"learning_rate": "inv_sqrt", "feature_scale": "none"}
MAKERS = {
    "sketch": lambda m: Sketch(outputs=m, gamma=3.0),
    "sketch-paper": lambda m: Sketch(outputs=m, gamma=3.0, sample=0),
    "sketch-sample": lambda m: Sketch(outputs=m, gamma=3.0, sample=900),
    "bayesian": lambda m: Bayesian(outputs=m),
    "auto": lambda m: Portfolio(outputs=m),
    "auto-regression": lambda m: AutoRegression(outputs=m),
    "bayesian-regression": lambda m: BayesianRegression(outputs=m, freedom=4.0),
    "elastic-net": lambda m: ElasticNet(outputs=m, l1=1e-4, **SCHEDULE),
    "sgd": lambda m: ElasticNet(outputs=m, update="sgd", **SCHEDULE),
    "adagrad": lambda m: ElasticNet(outputs=m, learning_rate="adagrad", eta0=0.2),
    "ftrl": lambda m: FTRL(outputs=m, l1=0.1),
    "truncated": lambda m: TruncatedGradient(outputs=m, gravity=1e-4, **SCHEDULE),
    "truncated adagrad": lambda m: TruncatedGradient(outputs=m, gravity=1e-4, period=10),
    "round": lambda m: TruncatedGradient(
        outputs=m, update="round", theta=0.01, period=10, **SCHEDULE
    ),
    "subgradient": lambda m: TruncatedGradient(
        outputs=m, gravity=1e-4, update="subgradient", feature_scale="none"
    ),
}


def bytes_of(model) -> bytes:
    return b"".join(bytes(part) for part in model_file._to_parts(model))


def shuffled(task):
    """The sums of a round made in another order, as workers would."""
    shards = list(task.plan.shards)
    random.Random(1).shuffle(shards)
    made = {shard.number: partial(task, shard) for shard in shards}
    return merge([made[n] for n in sorted(made)])


@pytest.mark.parametrize("format", ["svm", "vw"])
@pytest.mark.parametrize("name", MAKERS)
def test_the_order_of_tasks_changes_no_bit(tmp_path: Path, name: str, format: str) -> None:
    path = (write_svm if format == "svm" else write_vw)(tmp_path / f"x.{format}")
    one, other = (
        train_shards(str(path), MAKERS[name], shards=5, rounds=2, run=run)
        for run in (None, shuffled)
    )
    assert bytes_of(one) == bytes_of(other)


@pytest.mark.parametrize("name", [n for n in MAKERS if n.startswith("sketch")])
@pytest.mark.parametrize("format", ["svm", "vw"])
def test_a_sketch_is_that_of_one_machine(tmp_path: Path, name: str, format: str) -> None:
    path = (write_svm if format == "svm" else write_vw)(tmp_path / f"x.{format}")
    whole = train(open_source(path), MAKERS[name])
    for count in (1, 7):
        model = train_shards(str(path), MAKERS[name], shards=count)
        assert model.learner.converged
        history, theirs = model.learner.history, whole.learner.history
        assert history[-1]["objective"] == pytest.approx(theirs[-1]["objective"], rel=3e-6)
        assert history[-1]["gap"] <= 1e-6 * history[-1]["objective"]
        if count == 1 and format == "svm":
            assert history == theirs
        first, second = model.learner.coef(), whole.learner.coef()
        if format == "svm":
            assert np.array_equal(first[0], second[0])
            assert first[1] == pytest.approx(second[1], abs=1e-3)


@pytest.mark.parametrize("sample", [0, 3000, 2**20])
def test_folds_are_those_of_one_machine(tmp_path: Path, sample: int) -> None:
    """Sums of folds: the same passes, losses and choice, whether the sample holds nothing, some or all examples."""
    path, saved = write_vw(tmp_path / "x.vw", n=1500), tmp_path / "c.riata"
    make = lambda m: Sketch(  # noqa: E731
        outputs=m, gamma="path", path_length=6, folds=3, sample=sample, select="1se"
    )
    one = train(open_source(path), make)
    models = [
        train_shards(str(path), make, shards=5, run=run, checkpoint=saved)
        for run in (None, shuffled)
    ]
    assert bytes_of(models[0]) == bytes_of(models[1]) == saved.read_bytes()
    assert models[0].record.passes == one.record.passes
    curve, theirs = models[0].learner.curve, one.learner.curve
    assert curve.losses == pytest.approx(theirs.losses, rel=1e-7)
    assert curve.at_1se == theirs.at_1se
    assert models[0].learner.coef()[1] == pytest.approx(one.learner.coef()[1], abs=1e-6)

    class Enough(Exception):
        pass

    def stop(model) -> None:
        if model.record.passes == one.record.passes - 1:  # the losses of folds are still to come
            raise Enough

    with pytest.raises(Enough):
        train_shards(str(path), make, shards=5, checkpoint=saved, on_progress=stop)
    resumed = train_shards(str(path), make, shards=5, resume=model_file.load(saved))
    assert bytes_of(resumed) == bytes_of(models[0])


def test_more_classes(tmp_path: Path) -> None:
    path = write_svm(tmp_path / "x.svm", n=900, classes=3)
    for name in ("sketch", "bayesian", "auto", "ftrl", "elastic-net"):
        model = train_shards(str(path), MAKERS[name], shards=3, rounds=3)
        assert model.classes.tolist() == [0, 1, 2]
        one = evaluate(train(open_source(path), MAKERS[name]), open_source(path))
        assert evaluate(model, open_source(path))["accuracy"] > one["accuracy"] - 0.12


@pytest.mark.parametrize(
    "name",
    [
        "elastic-net",
        "sgd",
        "adagrad",
        "ftrl",
        "truncated",
        "truncated adagrad",
        "round",
        "subgradient",
        "bayesian",
    ],
)
def test_one_shard_is_one_machine(tmp_path: Path, name: str) -> None:
    """And a second round goes on as a second pass does, in rates and penalties."""
    path = write_svm(tmp_path / "x.svm")
    whole = train(open_source(path), MAKERS[name])
    model = train_shards(str(path), MAKERS[name], shards=1)
    assert model.learner.coef()[1] == pytest.approx(whole.learner.coef()[1], rel=1e-9)
    assert model.learner.intercept == pytest.approx(whole.learner.intercept, rel=1e-9)
    assert model.record.progressive_loss == pytest.approx(whole.record.progressive_loss)
    if name != "bayesian":  # which would count examples twice in a second pass
        whole = train(open_source(path), MAKERS[name], passes=2)
        model = train_shards(str(path), MAKERS[name], shards=1, rounds=2)
        assert model.learner.coef()[1] == pytest.approx(whole.learner.coef()[1], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", ["bayesian", "auto"])
def test_rounds_come_to_one_machine(tmp_path: Path, name: str) -> None:
    lines = write_vw(tmp_path / "x.vw", n=4000, features=200).read_text().splitlines(keepends=True)
    path = tmp_path / "x.vw"
    path.write_text("".join(lines[:3000]))
    (tmp_path / "t.vw").write_text("".join(lines[3000:]))
    test = open_source(tmp_path / "t.vw")
    one = evaluate(train(open_source(path), MAKERS[name]), test)["log_loss"]
    losses = []
    train_shards(
        str(path), MAKERS[name], shards=8, rounds=3,
        on_progress=lambda m: losses.append(evaluate(m, test)["log_loss"]),
    )  # fmt: skip
    assert losses[2] < losses[0]
    assert losses[2] < 1.03 * one


@pytest.mark.parametrize("name", ["bayesian", "auto"])
def test_more_rounds_do_no_harm(tmp_path: Path, name: str) -> None:
    """Where all rows have the same columns, shards make up for the same error at once: they must not overshoot."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(12, 4)) / 2
    cells = rng.integers(0, 4, (4000, 12))
    odds = weights[np.arange(12), cells].sum(axis=1) - 1
    labels = np.where(rng.random(4000) < 1 / (1 + np.exp(-odds)), 1, -1)
    lines = [
        f"{y} {' '.join(f'{4 * c + int(v) + 1}:1' for c, v in enumerate(row))}\n"
        for y, row in zip(labels, cells, strict=True)
    ]
    path, test = tmp_path / "x.svm", tmp_path / "t.svm"
    path.write_text("".join(lines[:3000]))
    test.write_text("".join(lines[3000:]))
    one = evaluate(train(open_source(path), MAKERS[name]), open_source(test))["log_loss"]
    losses = []
    train_shards(
        str(path), MAKERS[name], shards=16, rounds=6,
        on_progress=lambda m: losses.append(evaluate(m, open_source(test))["log_loss"]),
    )  # fmt: skip
    assert max(losses[1:]) < 1.02 * min(one, losses[0])


def test_bayesian_parts_that_share_no_feature_are_exact(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{k}.svm") for k in (1, 2)]
    for k in (1, 2):
        lines = [f"{i % 2} {k}:{1 + (i + k) % 3}" for i in range(100)]
        (tmp_path / f"{k}.svm").write_text("\n".join(lines) + "\n")
    make = lambda m: Bayesian(prior_variance=1.0, fit_intercept=False, calibrate="off", outputs=m)  # noqa: E731
    whole, model = train(open_source(paths), make), train_shards(paths, make, shards=2)
    for ours, theirs in zip(model.learner.posterior(), whole.learner.posterior(), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-12)


def test_tables_are_read_by_the_schema_of_the_whole(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = table()
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=40)
    options = ReadOptions(label="clicked", categorical=["hour"], scale="auto")
    for suffix in ("csv", "parquet"):
        path = tmp_path / f"x.{suffix}"
        model = train_shards(str(path), MAKERS["sketch"], options=options, shards=4)
        assert model.classes.tolist() == ["no", "yes"]
        whole = train(
            open_source(path, label="clicked", categorical=["hour"], scale="auto"), MAKERS["sketch"]
        )
        assert model.schema == whole.schema
        assert evaluate(model, open_source(path, schema=model.schema))["loss"] == pytest.approx(
            evaluate(whole, open_source(path, schema=whole.schema))["loss"], abs=1e-6
        )


def test_labels_of_one_shard_only(tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_text("0 1:1\n1 2:1\n" * 1500 + "7 3:1\n" * 10)
    with pytest.raises(DataError, match=r"label 7 .*\(shard 4\).*classes=\"scan\""):
        train_shards(str(path), MAKERS["bayesian"], shards=4)
    model = train_shards(str(path), MAKERS["bayesian"], shards=4, classes="scan")
    assert model.classes.tolist() == [0, 1, 7]
    path.write_text("1 1:1\n" * 1500 + "-1 2:1\n" * 1500)
    model = train_shards(str(path), MAKERS["bayesian"], shards=4)
    assert model.classes.tolist() == [-1, 1]
    balanced = train_shards(str(path), MAKERS["ftrl"], shards=4, class_weight="balanced")
    assert balanced.record.settings.class_weight == [(-1, 1.0), (1, 1.0)]


def test_an_empty_shard_adds_nothing(tmp_path: Path) -> None:
    write_svm(tmp_path / "a.svm", n=200)
    (tmp_path / "b.svm").write_text("# nothing here\n" * 400)
    write_svm(tmp_path / "c.svm", n=200, seed=1)
    paths = [str(tmp_path / f"{n}.svm") for n in "abc"]
    for name in ("sketch", "bayesian", "auto", "ftrl", "elastic-net"):
        plan = plan_for(paths, MAKERS[name](1), shard_bytes=4000)
        assert len(plan.shards) > 3
        model = train_shards(plan, MAKERS[name], rounds=2)
        assert model.record.examples % 400 == 0
    with pytest.raises(DataError, match="no examples"):
        train_shards(paths[1:2], MAKERS["ftrl"])


def test_rounds_are_checkpoints(tmp_path: Path) -> None:
    path, saved = write_vw(tmp_path / "x.vw"), tmp_path / "c.riata"
    for name in ("bayesian", "auto", "ftrl", "sketch-paper"):
        whole = train_shards(str(path), MAKERS[name], shards=3, rounds=3)

        class Enough(Exception):
            pass

        def stop(model) -> None:
            if model.record.passes == 2:
                raise Enough

        with pytest.raises(Enough):
            train_shards(
                str(path), MAKERS[name], shards=3, rounds=3, checkpoint=saved, on_progress=stop
            )
        resumed = train_shards(
            str(path), MAKERS[name], shards=3, rounds=3, resume=model_file.load(saved)
        )
        assert bytes_of(resumed) == bytes_of(whole)


def test_other_data_between_rounds(tmp_path: Path) -> None:
    path = write_vw(tmp_path / "x.vw")
    first = train_shards(str(path), MAKERS["bayesian"], shards=3)
    text = path.read_text()
    at = text.index("|f", len(text) // 2) - 3
    path.write_text(text[:at] + text[at:].replace("1 |f", "0 |f", 1).replace("-0", "-1", 1))
    plan = plan_for(str(path), MAKERS["bayesian"](1), count=3, classes=[-1, 1])
    with pytest.raises((ChangedData, DataError)):
        train_shards(plan, MAKERS["bayesian"], rounds=2, resume=first)
    write_vw(path, n=601)
    with pytest.raises(ChangedData, match="not the shards that the run to resume"):
        train_shards(str(path), MAKERS["bayesian"], shards=3, rounds=2, resume=first)


def test_content_is_compared_where_sizes_agree(tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_text("0 1:1\n1 2:1\n" * 300)
    first = train_shards(str(path), MAKERS["bayesian"], shards=3)
    path.write_text("0 1:1\n1 2:1\n" * 299 + "0 1:1\n1 2:3\n")
    with pytest.raises(ChangedData, match=r"shard 3\): changed between rounds"):
        train_shards(str(path), MAKERS["bayesian"], shards=3, rounds=2, resume=first)


def test_what_cannot_be_trained_by_shards(tmp_path: Path) -> None:
    path = str(write_svm(tmp_path / "x.svm"))
    for make, said in (
        (lambda m: InteriorPoint(outputs=m), "method interior cannot be trained by shards"),
        (lambda m: Sketch(outputs=m, algorithm="online"), "algorithm='online'"),
        (lambda m: Bayesian(outputs=m, half_life=100.0), "half_life=100.0"),
        (
            lambda m: Bayesian(outputs=m, covariance="full", prior_variance=1.0, update="joint"),
            "covariance='full'",
        ),
        (lambda m: TruncatedGradient(outputs=m, decay=0.5), "decay=0.5"),
    ):
        with pytest.raises(SettingsError, match=said):
            train_shards(path, make, shards=2)
    with pytest.raises(SettingsError, match="rounds must be at least 1"):
        train_shards(path, MAKERS["ftrl"], shards=2, rounds=0)
    with pytest.raises(SettingsError, match="cache"):
        train_shards(path, MAKERS["ftrl"], options=ReadOptions(cache=True))
