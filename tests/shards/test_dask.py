"""Training on Dask workers, which are processes of their own: the same bits as here, whatever the data comes in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

pytest.importorskip("distributed")

import riata
from riata import model_file
from riata.cli import run
from riata.dask import (
    DaskAutoClassifier,
    DaskAutoRegressor,
    DaskBayesianClassifier,
    DaskBayesianRegressor,
    DaskFTRLRegressor,
    DaskSketchClassifier,
    cluster,
    cluster_of,
    evaluate,
    folding,
    predict,
    train,
)
from riata.dask.cluster import ClusterError, check_workers
from riata.errors import DataError, SettingsError
from riata.learners import Bayesian, ElasticNet, Sketch
from riata.shards import train_shards
from riata.sources import ReadOptions, open_source
from riata.training import evaluate as evaluate_here
from tests.shards.problems import rows, table, write_svm, write_vw


@pytest.fixture(scope="module")
def client():
    with cluster_of("local:2") as client:
        yield client


def bytes_of(model) -> bytes:
    return b"".join(bytes(part) for part in model_file._to_parts(model))


def matrix(n: int = 600):
    """The problem of `rows` as a CSR matrix with labels."""
    found = list(rows(n))
    indptr = np.arange(0, 8 * n + 1, 8)
    indices = np.concatenate([chosen for chosen, _, _ in found])
    values = np.concatenate([values for _, values, _ in found]).astype(np.float32)
    return csr_matrix((values, indices, indptr), shape=(n, 60)), np.array([y for *_, y in found])


@pytest.mark.parametrize("name", ["sketch", "bayesian", "auto", "ftrl", "elastic-net"])
def test_the_same_bits_as_here(client, tmp_path: Path, name: str) -> None:
    from tests.shards.test_rounds import MAKERS

    path = write_vw(tmp_path / "x.vw")
    here = train_shards(str(path), MAKERS[name], shards=7, rounds=2)
    told = []
    there = train(
        client, str(path), MAKERS[name], shards=7, rounds=2, on_progress=told.append, scale="none"
    )
    assert bytes_of(here) == bytes_of(there)
    assert [m.record.passes for m in told][-1] == there.record.passes


@pytest.mark.parametrize("together", [1, 4, 64])
def test_a_tree_of_sums_on_workers(
    client, tmp_path: Path, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many neighbours are added at a time."""
    monkeypatch.setattr(folding, "TOGETHER", together)
    path = write_svm(tmp_path / "x.svm", n=1500)
    make = lambda m: Bayesian(outputs=m)  # noqa: E731
    here = train_shards(str(path), make, shards=70)
    assert bytes_of(here) == bytes_of(train(client, str(path), Bayesian(), shards=70))


def test_learners_estimators_and_functions(client, tmp_path: Path) -> None:
    path = write_svm(tmp_path / "x.svm", n=300, classes=3)
    found = [
        bytes_of(train(client, [str(path)], what, shards=2))
        for what in (
            Sketch(gamma=2.0),
            riata.SketchClassifier(gamma=2.0),
            lambda m: Sketch(gamma=2.0, outputs=m),
        )
    ]
    assert len(set(found)) == 1
    learned = ElasticNet()
    learned.learn(next(iter(open_source(np.eye(2), y=[0, 1]))))
    with pytest.raises(SettingsError, match="has learned already"):
        train(client, str(path), learned)
    with pytest.raises(TypeError, match="a learner or an estimator"):
        train(client, str(path), 7)
    with pytest.raises(TypeError, match="cannot train on int"):
        train(client, 7, Bayesian())


def test_frames_and_files_give_the_same_model(client, tmp_path: Path) -> None:
    dd = pytest.importorskip("dask.dataframe")
    frame = table()
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=100)
    parts = dd.from_pandas(frame, npartitions=6, sort=False)
    model = DaskSketchClassifier(gamma=1.0)
    model.client = client
    model.fit(parts, label="clicked", categorical=["hour"])
    assert model.classes_.tolist() == ["no", "yes"]
    whole = riata.SketchClassifier(gamma=1.0).learn(
        tmp_path / "x.parquet", label="clicked", categorical=["hour"]
    )
    assert model.named_coef_.keys() == whole.named_coef_.keys()
    for name, weight in whole.named_coef_.items():
        assert model.named_coef_[name] == pytest.approx(weight, abs=1e-3)
    assert (model.predict(parts) == whole.predict(frame)).mean() > 0.99
    assert model.score(parts) == pytest.approx(whole.score(frame, frame["clicked"]), abs=0.01)
    found = model.evaluate(str(tmp_path / "x.parquet"))
    there = evaluate_here(
        model.model_, open_source(tmp_path / "x.parquet", schema=model.model_.schema)
    )
    assert found["examples"] == there["examples"]
    assert found["log_loss"] == pytest.approx(there["log_loss"])
    model.save(tmp_path / "m.riata")
    assert run(["evaluate", str(tmp_path / "m.riata"), str(tmp_path / "x.parquet")]) == 0


def test_arrays_of_csr(client) -> None:
    da = pytest.importorskip("dask.array")
    x, y = matrix()
    blocks = da.concatenate(
        [
            da.from_delayed(_delayed(x[i : i + 100]), shape=(100, 60), meta=x[:0])
            for i in range(0, 600, 100)
        ]
    )
    labels = da.from_array(y.astype(float), chunks=100)
    model = DaskBayesianClassifier()
    model.client = client
    model.fit(blocks, labels, rounds=2)
    assert model.score(blocks, labels) > 0.7
    assert predict(client, model, blocks).shape == (600, 1)
    assert np.array_equal(model.predict(blocks), model.predict(x))
    with pytest.raises(DataError, match="cut them alike"):
        model.fit(blocks, da.from_array(y.astype(float), chunks=50))
    with pytest.raises(DataError, match="whole rows|rechunk"):
        model.fit(da.zeros((100, 60), chunks=(50, 30)), labels)
    with pytest.raises(SettingsError, match="repartition"):
        model.fit(blocks, labels, shards=3)


def test_arrays_with_labels_of_words(client) -> None:
    """Whichever of them a block has, and in whatever order."""
    da = pytest.importorskip("dask.array")
    x, y = matrix()
    words = np.array(["no", "yes"])[(y > 0).astype(int)].astype(object)
    words[:150] = np.where(np.arange(150) % 2, "maybe", words[:150])
    blocks = da.from_array(x.toarray(), chunks=(100, -1))
    labels = da.from_array(words, chunks=100)
    model = train(client, blocks, Bayesian(), labels)
    assert model.classes.tolist() == ["maybe", "no", "yes"]
    numbers = np.array([{"maybe": 0, "no": 1, "yes": 2}[word] for word in words])
    same = train(client, blocks, Bayesian(), da.from_array(numbers, chunks=100))
    for name, array in same.learner.state().items():
        assert np.array_equal(array, model.learner.state()[name]), name
    good = evaluate(client, model, blocks, labels)["accuracy"]
    assert good == evaluate(client, same, blocks, da.from_array(numbers, chunks=100))["accuracy"]
    words[3] = None
    with pytest.raises(DataError, match="labels of different kinds, or some that are missing"):
        train(client, blocks, Bayesian(), da.from_array(words, chunks=100))


def _delayed(block):
    from dask import delayed

    return delayed(lambda b: b, pure=True)(block)


def test_an_empty_partition_and_a_label_of_one_partition(client) -> None:
    dd = pytest.importorskip("dask.dataframe")
    frame = table(400)
    frame.loc[:, "clicked"] = np.where(np.arange(400) < 390, frame["clicked"], "maybe")
    parts = dd.concat(
        [
            dd.from_pandas(frame[frame.price < -1], npartitions=1),
            dd.from_pandas(frame, npartitions=4),
        ]
    )
    with pytest.raises(DataError, match="classes"):
        train(client, parts, Bayesian(), label="clicked", classes=["yes", "other"])
    model = train(client, parts, Bayesian(), label="clicked", classes="scan")
    assert model.classes.tolist() == ["maybe", "no", "yes"]


def test_regression(client, tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_text("".join(f"{i % 7 * 0.5} 1:{i % 7} 2:1\n" for i in range(700)))
    for model in (
        DaskFTRLRegressor(alpha=0.5, feature_scale="none"),
        DaskAutoRegressor(),
        DaskBayesianRegressor(),
    ):
        model.client = client
        model.fit(str(path), shards=3, rounds=5)
        assert model.score(str(path)) > 0.8
        assert evaluate(client, model, str(path))["r2"] == pytest.approx(model.score(str(path)))


def test_auto_by_its_defaults(client, tmp_path: Path) -> None:
    path = write_vw(tmp_path / "x.vw", n=900)
    model = DaskAutoClassifier()
    model.client = client
    model.fit([str(path)], shards=4, rounds=2)
    assert model.evaluate(str(path))["accuracy"] > 0.8
    again = riata.load(_saved(model, tmp_path))
    assert np.array_equal(again.predict_proba(str(path)), model.predict_proba(str(path)))


def _saved(model, folder: Path) -> Path:
    model.save(folder / "m.riata")
    return folder / "m.riata"


def test_resume_from_a_checkpoint(client, tmp_path: Path) -> None:
    path, saved = write_vw(tmp_path / "x.vw"), tmp_path / "c.riata"
    whole = train(client, str(path), Bayesian(), shards=3, rounds=3)
    train(client, str(path), Bayesian(), shards=3, rounds=1, checkpoint=saved)
    again = train(client, str(path), Bayesian(), shards=3, rounds=3, resume=model_file.load(saved))
    assert bytes_of(again) == bytes_of(whole)


def test_mistakes_are_said_at_once(client, tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_text("1 1:1\n0 2:1\n" * 100 + "1 oops\n" + "1 1:1\n" * 100)
    with pytest.raises(DataError, match=r"x\.svm.*oops"):
        train(client, str(path), Bayesian(), shards=3)
    with pytest.raises(DataError, match="no such file"):
        train(client, str(tmp_path / "nothing"), Bayesian())
    with pytest.raises(TypeError, match="there is no option 'lable'"):
        train(client, str(path), Bayesian(), lable="y")
    with pytest.raises(DataError, match="y and sample_weight go with Dask arrays"):
        train(client, str(path), Bayesian(), np.ones(3))
    with pytest.raises(SettingsError, match="rounds must be at least 1, not 0"):
        train(client, str(path), Bayesian(), rounds=0)
    with pytest.raises(TypeError, match=r"dask\.distributed\.Client, not NoneType"):
        train(None, str(path), Bayesian())


def test_the_terminal_has_the_mistake_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not what workers would log of the task that met it; a checkpoint that is not this run's stays."""
    path, other = tmp_path / "x.svm", tmp_path / "m.checkpoint"
    path.write_text("1 1:1\n-1 2:1\n" * 2000 + "7 1:1\n")
    words = ["train", str(path), "-o", str(tmp_path / "m"), "--dask", "local:2", "--shards", "2"]
    assert run([*words, "--method", "bayesian"]) == 1
    said = capfd.readouterr()
    assert "label 7 is none of the classes" in said.err
    assert "Traceback" not in said.err + said.out
    other.write_text("of another run")
    words += ["--method", "bayesian", "--classes", "scan", "--no-checkpoint"]
    assert run(words) == 0
    assert other.read_text() == "of another run"


def test_no_workers() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=0, dashboard_address=None, processes=True, host="127.0.0.1"
        ) as empty,
        Client(empty) as client,
        pytest.raises(ClusterError, match="no workers have joined"),
    ):
        check_workers(client, 0.5)


def test_an_adaptive_cluster_that_begins_without_workers(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    path = write_vw(tmp_path / "x.vw", n=1500)
    with (
        LocalCluster(
            n_workers=0, threads_per_worker=1, dashboard_address=None, processes=True,
            host="127.0.0.1",
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        cluster.adapt(minimum=0, maximum=2, interval="200ms", target_duration="100ms")
        model = train(client, str(path), Bayesian(), shards=8, rounds=3)
    assert bytes_of(model) == bytes_of(
        train_shards(str(path), lambda m: Bayesian(outputs=m), shards=8, rounds=3)
    )


def test_workers_with_another_version(client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(riata, "__version__", "9.9")
    with pytest.raises(ClusterError, match=r"here is 9\.9: 2 of 2 workers differ"):
        check_workers(client)


def test_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = write_vw(tmp_path / "x.vw"), tmp_path / "m"
    words = ["train", str(path), "-o", str(model), "--dask", "local:2", "--shards", "4"]
    assert run([*words, "--method", "bayesian", "--rounds", "2"]) == 0
    said = capsys.readouterr()
    assert "round 2" in said.err
    here = train_shards(
        str(path),
        lambda m: Bayesian(outputs=m),
        shards=4,
        rounds=2,
        options=ReadOptions(scale="auto"),
    )
    assert model.read_bytes() == bytes_of(here)
    assert not Path(f"{model}.checkpoint").exists()
    monkeypatch.setattr(cluster, "WAIT", 4.0)
    assert run([*words[:-4], "--dask", "tcp://127.0.0.1:1"]) == 1
    assert "no scheduler answers" in capsys.readouterr().err
