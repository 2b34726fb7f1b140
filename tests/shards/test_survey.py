"""What a schema learns from all shards: the same as from all rows at once, however they are cut and put together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from riata.cli import run
from riata.errors import SettingsError
from riata.learners import FTRL, Bayesian, Sketch
from riata.shards import plan_for, train_shards
from riata.shards.plan import survey_shard
from riata.shards.rounds import survey_here
from riata.shards.survey import SAMPLE, merged
from riata.sources import ReadOptions, open_source
from riata.text_weights import TextWeights
from riata.training import evaluate
from tests.shards.problems import table

pytest.importorskip("pyarrow")

ROWS = 3000


def written(folder: Path, format: str):
    """Prices that grow from row to row, so that the first rows tell nothing of the others; some are missing or zero."""
    frame = table(ROWS)
    frame["price"] = np.linspace(-5, 100, ROWS).round(3)
    frame.loc[::7, "price"] = np.nan
    frame.loc[3::7, "price"] = 0.0
    frame["age"] = np.arange(ROWS) ** 2 % 97 + np.arange(ROWS) // 10
    frame["note"] = [f"word{i % 50} then word{i % 7} in row{i // 300}" for i in range(ROWS)]
    path = folder / f"x.{format}"
    if format == "parquet":
        frame.to_parquet(path, row_group_size=100)
    elif format == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)
    return path, frame


def options(**more) -> ReadOptions:
    given = {"label": "clicked", "text": ["note"], "scale": "standard", "buckets": {"age": 5}}
    return ReadOptions(**given | more)


@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_scales_and_buckets_are_those_of_all_rows(tmp_path: Path, format: str, count: int) -> None:
    path, frame = written(tmp_path, format)
    for scale in ("standard", "max"):
        plan = plan_for(
            str(path), FTRL(), options(scale=scale), count=count, survey=True, run=survey_here
        )
        price = plan.options.schema.by_name["price"]
        seen = frame["price"].dropna()
        if scale == "max":
            assert (price.centre, price.scale) == (0.0, pytest.approx(seen.abs().max(), rel=1e-6))
            continue
        assert price.centre == pytest.approx(seen.mean(), rel=1e-6)
        assert price.scale == pytest.approx(seen.std(ddof=0), rel=1e-6)
        assert len(frame) < SAMPLE
        wanted = np.quantile(frame["age"], [0.2, 0.4, 0.6, 0.8], method="inverted_cdf")
        assert plan.options.schema.by_name["age"].edges == tuple(wanted)
        first = plan_for(str(path), FTRL(), options(), count=count)
        assert first.options.schema.by_name["price"].scale < 0.7 * price.scale


def test_a_sample_is_bounded_and_the_same_in_any_grouping(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("riata.shards.survey.SAMPLE", 500)
    path, frame = written(tmp_path, "csv")
    seen = []

    def look(plan, wanted):
        parts = [survey_shard(plan, wanted, shard) for shard in plan.shards]
        seen.append((merged(parts), merged([merged(parts[:2]), merged(parts[2:])])))
        return seen[0][0]

    plan_for(str(path), FTRL(), options(), count=5, survey=True, run=look)
    [(one, other)] = seen
    for whole in (one, other):
        assert len(whole.samples["age"][0]) == 500
        assert np.array_equal(whole.samples["age"][1], one.samples["age"][1])
    assert np.median(one.samples["age"][1]) == pytest.approx(frame["age"].median(), rel=0.1)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_texts_are_weighed_by_all_of_them(tmp_path: Path, format: str) -> None:
    path, _ = written(tmp_path, format)
    given = options(text_idf=True)
    whole = open_source(path, options=given)
    weights = None
    for block in whole:
        weights = weights or TextWeights.of(whole.schema)
        weights.learn(block)
    model = train_shards(str(path), lambda m: Sketch(outputs=m, gamma=5.0), options=given, shards=4)
    found = model.record.schema.text_weights
    assert found.documents == weights.documents == {"note": ROWS}
    for name, array in weights.arrays().items():
        assert np.array_equal(found.arrays()[name], array)
    assert model.learner.converged
    model_file.save(model, tmp_path / "m.riata")
    again = model_file.load(tmp_path / "m.riata")
    ours, theirs = (evaluate(m, open_source(path, schema=m.schema)) for m in (model, again))
    assert ours == theirs


def test_one_pass_tells_all(tmp_path: Path) -> None:
    """Labels that one shard alone has, texts and numbers, together."""
    path, frame = written(tmp_path, "csv")
    frame.loc[ROWS - 5 :, "clicked"] = "maybe"
    frame.to_csv(path, index=False)
    passes = []

    def look(plan, wanted):
        passes.append(wanted)
        return survey_here(plan, wanted)

    plan = plan_for(
        str(path), Bayesian(), options(text_idf=True), count=6, survey=True, classes="scan", run=look
    )  # fmt: skip
    assert plan.classes == ("maybe", "no", "yes")
    assert len(passes) == 1
    assert plan.options.schema.text_weights is not None
    other = plan_for(str(path), Bayesian(), options(), count=6, classes="scan", run=look)
    assert plan.digest() != other.digest()


def test_where_nobody_makes_a_pass(tmp_path: Path, capsys) -> None:
    path, _ = written(tmp_path, "csv")
    with pytest.raises(SettingsError, match="takes a pass over all shards"):
        plan_for(str(path), FTRL(), options(text_idf=True), count=2)
    with pytest.raises(SettingsError, match="takes a pass over all shards"):
        plan_for(str(path), FTRL(), options(), count=2, survey=True)
    words = ["train", str(path), "--label", "clicked", "--text", "note", "--text-idf"]
    assert run([*words, "--shard", "1/2", "-o", str(tmp_path / "part")]) == 2
    assert "pass over all shards" in capsys.readouterr().err


def test_on_workers(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    dd = pytest.importorskip("dask.dataframe")
    from riata.dask import cluster_of, train

    path, frame = written(tmp_path, "csv")
    given = options(text_idf=True)
    make = lambda m: FTRL(outputs=m)  # noqa: E731
    here = train_shards(str(path), make, options=given, shards=3, survey=True)
    with cluster_of("local:2") as client:
        there = train(client, str(path), make, options=given, shards=3, survey=True)
        parts = dd.from_pandas(frame, npartitions=3, sort=False)
        held = train(client, parts, make, options=given, survey=True)
    assert there.record.schema.to_json() == here.record.schema.to_json()
    assert np.array_equal(there.learner.state()["rows"], here.learner.state()["rows"])
    price, theirs = (m.record.schema.by_name["price"] for m in (held, here))
    assert price.scale == pytest.approx(theirs.scale, rel=1e-6)
    assert held.record.schema.text_weights.documents == {"note": ROWS}
