"""Inverse document frequency: learned on the way, frozen in the model, the same from every form."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import riata
from riata import DataError, model_file
from riata.cli import run
from riata.errors import ModelError, SettingsError
from riata.learners import Bayesian, ElasticNet
from riata.reference import words as reference
from riata.sources import open_source
from riata.text_weights import TextWeights
from riata.training import evaluate, train

WORDS = ["free", "entry", "call", "now", "see", "you", "at", "home", "lunch", "prize"]


def make_rows(count: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(count):
        words = rng.choice(WORDS, size=rng.integers(1, 8), p=rng.permutation(np.arange(1, 11)) / 55)
        body = " ".join(words) + (f" n{i}" if i % 3 else "")
        rows.append(
            {"label": "spam" if "free" in words or i % 7 == 0 else "ham",
             "size": float(i % 5), "title": f"{words[0]} {words[-1]}", "body": body}
        )  # fmt: skip
    return rows


ROWS, MORE = make_rows(90, 1), make_rows(40, 2)
READING: dict[str, Any] = {
    "label": "label", "text": ["title", "body"], "text_idf": True, "scale": "none",
}  # fmt: skip


def put(rows: list[dict[str, Any]], folder: Path, form: str) -> Any:
    frame = pd.DataFrame(rows)
    path = folder / f"{len(rows)}.{form}"
    if form == "pandas":
        return frame
    if form == "dicts":
        return rows
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "parquet":
        frame.to_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


FORMS = ["csv", "jsonl", "parquet", "pandas", "dicts"]


def expected_values(rows: list[dict[str, Any]], norm: bool) -> list[float]:
    """By the reference: each text by those before it."""
    documents = {column: reference.Documents() for column in ("title", "body")}
    values: list[float] = []
    for row in rows:
        values += [row["size"]] if row["size"] else []
        for column, seen in documents.items():
            counts = reference.ngrams(row[column])
            values += reference.values(counts, "log", seen, norm).values()
            seen.add(counts)
    return values


@pytest.mark.parametrize("norm", [False, True])
def test_an_example_is_weighed_by_the_texts_before_it(norm: bool) -> None:
    source = open_source(ROWS, **READING, text_norm=norm)
    blocks = list(source)
    weights = TextWeights.of(source.schema)  # type: ignore[attr-defined]
    found = np.concatenate(
        [weights.learn(block[i : i + 1]).values for block in blocks for i in range(len(block))]
    )
    again = TextWeights.of(source.schema)  # type: ignore[attr-defined]
    whole = np.concatenate([again.learn(block).values for block in blocks])
    np.testing.assert_array_equal(found, whole)
    np.testing.assert_allclose(found, expected_values(ROWS, norm), rtol=3e-6)
    assert weights.documents == {"title": 90, "body": 90}


@pytest.mark.parametrize("options", [{}, {"text_norm": True}, {"ngrams": "words:1,chars:3"}])
def test_every_form_trains_and_predicts_the_same_bits(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    first = riata.FTRLClassifier().learn(ROWS, **READING, **options)
    expected = first.predict_proba(MORE)
    plain = riata.FTRLClassifier().learn(ROWS, **READING | {"text_idf": False}, **options)
    assert not np.array_equal(plain.predict_proba(MORE), expected)
    for form in FORMS:
        model = riata.FTRLClassifier().learn(put(ROWS, tmp_path, form), **READING, **options)
        assert model.named_coef_ == first.named_coef_, form
        for other in FORMS:
            data = put(MORE, tmp_path, other)
            np.testing.assert_array_equal(model.predict_proba(data), expected, err_msg=other)
            source = open_source(data, **READING, **options)
            np.testing.assert_array_equal(model.predict_proba(source), expected, err_msg=other)
        single = [list(model.predict_proba_one(row).values()) for row in MORE]
        np.testing.assert_array_equal(np.array(single), expected)


@pytest.mark.parametrize("method", ["elastic-net", "truncated", "ftrl", "bayesian", "auto"])
def test_the_command_line_learns_the_same_and_remembers(tmp_path: Path, method: str) -> None:
    data, more = put(ROWS, tmp_path, "csv"), put(MORE, tmp_path, "jsonl")
    out = str(tmp_path / "m.riata")
    words = ["--text", "title,body", "--text-idf", "--scale", "none", "--quiet"]
    assert run(["train", str(data), "-o", out, "--method", method, *words]) == 0
    loaded = riata.load(out)
    assert loaded.model_.schema.text_weights.documents == {"title": 90, "body": 90}
    learned = type(loaded)(**loaded.get_params()).learn(ROWS, **READING)
    expected = learned.predict_proba(MORE)
    np.testing.assert_array_equal(loaded.predict_proba(MORE), expected)
    assert run(["predict", out, str(more), "-o", str(tmp_path / "p.csv")]) == 0
    table = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_allclose(table["probability_spam"], expected[:, 1], rtol=1e-6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).predict_proba(MORE), expected)
    assert loaded.score(MORE) == evaluate(learned.model_, open_source(MORE, **READING))["accuracy"]


@pytest.mark.parametrize(
    "options", [{}, {"shuffle": 32}, {"passes": 3}, {"holdout": 0.1}, {"block_rows": 7}]
)
def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path: Path, options: dict[str, Any]) -> None:
    reading = READING | {k: v for k, v in options.items() if k == "block_rows"}
    options = {k: v for k, v in options.items() if k != "block_rows"}
    long = make_rows(3000, 3)

    def source(rows: Any) -> Any:
        return open_source(rows, **reading)

    whole = train(source(long), lambda m: ElasticNet(outputs=m), **options)

    class Stopped(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            yield from long[:1700]
            raise KeyboardInterrupt

    part = train(open_source(Stopped(long), **reading), lambda m: ElasticNet(outputs=m), **options)
    assert part.record.interrupted
    model_file.save(part, tmp_path / "part.riata")
    loaded = model_file.load(tmp_path / "part.riata")
    went_on = train(
        open_source(long, schema=loaded.schema), loaded.learner, resume=loaded,
        passes=options.get("passes"),
    )  # fmt: skip
    for model, name in ((whole, "whole"), (went_on, "went on")):
        model_file.save(model, tmp_path / name)
    assert model_file.load(tmp_path / "whole").learner.state()["rows"].tobytes() == (
        went_on.learner.state()["rows"].tobytes()
    )
    left, right = (model.schema.text_weights.arrays() for model in (whole, went_on))  # type: ignore[union-attr]
    for name in left:
        np.testing.assert_array_equal(left[name], right[name])


def test_later_passes_count_no_text_again() -> None:
    models = [
        train(open_source(ROWS, **READING), lambda m: ElasticNet(outputs=m), passes=passes)
        for passes in (1, 3)
    ]
    for model in models:
        assert model.schema is not None
        assert model.schema.text_weights is not None
        assert model.schema.text_weights.documents == {"title": 90, "body": 90}


def test_what_is_held_out_does_not_count() -> None:
    model = train(open_source(ROWS, **READING), lambda m: ElasticNet(outputs=m), holdout=0.1)
    assert model.schema is not None
    assert model.schema.text_weights is not None
    assert model.schema.text_weights.documents["body"] == model.record.examples < 90


def test_a_holdout_of_its_own_is_weighed_by_the_model(tmp_path: Path) -> None:
    held = open_source(MORE, **READING)
    model = train(open_source(ROWS, **READING), lambda m: ElasticNet(outputs=m), holdout=held)
    assert model.record.holdout is not None
    assert model.record.holdout["loss"] == evaluate(model, open_source(MORE, **READING))["loss"]
    data, more = put(ROWS, tmp_path, "csv"), put(MORE, tmp_path, "csv")
    words = [
        "--text",
        "title,body",
        "--text-idf",
        "--scale",
        "none",
        "--quiet",
        "--holdout",
        str(more),
    ]
    out = tmp_path / "m.riata"
    assert run(["train", str(data), "-o", str(out), "--method", "elastic-net", *words]) == 0
    again = model_file.load(out).record.holdout
    assert again is not None
    assert again["loss"] == pytest.approx(model.record.holdout["loss"], rel=1e-12)


def test_other_data_and_single_events_go_on_counting(tmp_path: Path) -> None:
    together = riata.FTRLClassifier().learn(ROWS + MORE, **READING)
    one_by_one = riata.FTRLClassifier().learn(ROWS, **READING)
    for row in MORE:
        one_by_one.learn_one({k: v for k, v in row.items() if k != "label"}, row["label"])
    frames = riata.FTRLClassifier().learn(ROWS, **READING)
    frame = pd.DataFrame(MORE)
    frames.partial_fit(frame.drop(columns="label"), frame["label"])
    for model in (one_by_one, frames):
        assert model.named_coef_ == together.named_coef_
        np.testing.assert_array_equal(model.predict_proba(MORE), together.predict_proba(MORE))
    data, more = put(ROWS, tmp_path, "csv"), put(MORE, tmp_path, "csv")
    first, second = str(tmp_path / "1.riata"), str(tmp_path / "2.riata")
    words = ["--text", "title,body", "--text-idf", "--scale", "none", "--method", "ftrl", "--quiet"]
    assert run(["train", str(data), "-o", first, *words]) == 0
    assert run(["train", str(more), "-o", second, "--initial", first, "--quiet"]) == 0
    assert riata.load(second).named_coef_ == together.named_coef_
    assert riata.load(first).model_.schema.text_weights.documents["body"] == 90


def test_a_source_that_was_opened_otherwise_is_refused() -> None:
    model = riata.FTRLClassifier().learn(ROWS, **READING)
    for options in ({"text_idf": False}, {"ngrams": "words:1"}, {"text": ["title"]}):
        other = READING | {"categorical": ["body"]} | options  # type: ignore[operator]
        if "text" not in options:
            other["categorical"] = []
        with pytest.raises(DataError, match="schema=model"):
            model.predict(open_source(ROWS, **other))
        with pytest.raises(DataError, match="schema=model"):
            evaluate(model.model_, open_source(ROWS, **other))


def test_an_event_that_is_refused_does_not_count() -> None:
    model = riata.FTRLClassifier().learn(ROWS, **READING)
    with pytest.raises(ValueError, match="weight"):
        model.learn_one(MORE[0], "spam", sample_weight=-1.0)
    assert model.model_.schema.text_weights.documents["body"] == 90


def test_names_hashed_by_a_key_and_hashed_stores(tmp_path: Path) -> None:
    plain = riata.FTRLClassifier().learn(ROWS, **READING)
    keyed = riata.FTRLClassifier().learn(ROWS, **READING, hash_key="random")
    hashed = riata.FTRLClassifier(store="hashed").learn(ROWS, **READING)
    for model in (keyed, hashed):
        np.testing.assert_array_equal(model.predict_proba(MORE), plain.predict_proba(MORE))
        model.save(tmp_path / "m.riata")
        loaded = riata.load(tmp_path / "m.riata")
        np.testing.assert_array_equal(loaded.predict_proba(MORE), plain.predict_proba(MORE))
        single = [loaded.predict_proba_one(row)["spam"] for row in MORE]
        np.testing.assert_array_equal(single, plain.predict_proba(MORE)[:, 1])


def test_a_cache_holds_texts_unweighed(tmp_path: Path) -> None:
    data = put(ROWS, tmp_path, "csv")
    plain = riata.FTRLClassifier().learn(data, **READING)
    for _ in range(2):
        model = riata.FTRLClassifier().learn(data, **READING, cache=tmp_path / "c.riata-cache")
        assert model.named_coef_ == plain.named_coef_
    cached = riata.FTRLClassifier().learn(tmp_path / "c.riata-cache")
    assert cached.named_coef_ == plain.named_coef_
    np.testing.assert_array_equal(
        plain.predict_proba(tmp_path / "c.riata-cache"), plain.predict_proba(ROWS)
    )


@pytest.mark.parametrize("method", ["sketch", "interior"])
def test_methods_that_need_the_same_rows_in_every_pass_refuse(
    tmp_path: Path, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = put(ROWS, tmp_path, "csv")
    words = ["--text", "body", "--text-idf", "--method", method, "--quiet"]
    assert run(["train", str(data), "-o", str(tmp_path / "m"), *words]) == 2
    assert "--text-idf" in capsys.readouterr().err


def test_converting_to_text_would_lose_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = put(ROWS, tmp_path, "csv")
    words = ["--text", "body", "--text-idf"]
    assert run(["convert", str(data), str(tmp_path / "x.vw"), *words]) != 0
    assert "text-idf" in capsys.readouterr().err


def test_rows_without_names_cannot_be_weighed() -> None:
    source = open_source(ROWS, **READING)
    [block] = source
    weights = TextWeights.of(source.schema)  # type: ignore[attr-defined]
    with pytest.raises(DataError, match="names=True"):
        weights.weigh(block.with_indices(block.indices))


def test_rows_that_could_not_be_learned_are_taken_back() -> None:
    source = open_source(ROWS, **READING)
    [block] = source
    some, all_ = (TextWeights.of(source.schema) for _ in range(2))  # type: ignore[attr-defined]
    some.learn(block[:50])
    all_.learn(block)
    all_.take_back(block[50:])
    for name, array in some.arrays().items():
        np.testing.assert_array_equal(all_.arrays()[name], array)


def test_damaged_counts_are_refused(tmp_path: Path) -> None:
    model = riata.FTRLClassifier().learn(ROWS, **READING).model_
    weights = model.schema.text_weights  # type: ignore[union-attr]
    assert weights is not None
    good = weights.arrays()
    for name, bad in (
        ("text_keys", good["text_keys"][::-1]),
        ("text_keys", good["text_keys"][1:]),
        ("text_counts", np.zeros_like(good["text_counts"])),
        ("text_documents", np.array([1, 2, 3])),
        ("text_documents", np.array([1, -2])),
    ):
        weights.arrays = lambda name=name, bad=bad: good | {name: bad}  # type: ignore[method-assign]
        model_file.save(model, tmp_path / "bad.riata")
        with pytest.raises(ModelError, match="do not fit"):
            model_file.load(tmp_path / "bad.riata")


def test_full_covariances_and_sketches_in_python_say_so() -> None:
    with pytest.raises(SettingsError, match="text_idf"):
        riata.SketchClassifier().learn(ROWS, **READING)
    assert Bayesian().planned_passes is None
