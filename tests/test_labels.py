"""Labels are what the user wrote, in every format and on every face."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import riata
from riata import model_file, tensor_file
from riata.errors import SettingsError
from riata.labels import LOOK_AT, Classes, LabelReader, as_text, same_label
from riata.sources import open_source
from riata.training import train
from tests.cli.helpers import riata as command
from tests.frames import write_frame
from tests.labelled import WORDS, bits, make, quietly, table
from tests.streams import problem

# Labels


def test_labels_that_mean_the_same() -> None:
    assert same_label("1", 1.0)
    assert same_label(True, "True")
    assert same_label(False, "false")
    assert not same_label("ham", "Ham")
    assert not same_label("x", 1.0)
    assert [as_text(label) for label in (1.0, 0.5, True, "x")] == ["1", "0.5", "true", "x"]


def test_codes_of_words_and_numbers() -> None:
    reader = LabelReader(Classes(["spam", "ham"]), lambda: ["ham", "eggs", "spam"])
    assert reader.codes(np.array([0.0, 1.0, 2.0, np.nan])).tolist() == [1, -1, 0, -1]
    reader = LabelReader(Classes([3.0, 1.0, 2.0]))
    assert reader.codes(np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [1, 2, 0, -1]
    reader = LabelReader(Classes(["1", "x"]))
    assert reader.codes(np.array([1.0, 2.0])).tolist() == [0, -1]


@pytest.mark.parametrize("wrong", [["a"], ["a", "a"], [1, np.nan], [1, None]])
def test_classes_that_are_none(wrong: Any) -> None:
    with pytest.raises(SettingsError):
        Classes.named(wrong)


# Words across borders


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_words_from_files(tmp_path: Path, suffix: str) -> None:
    frame = table()
    data, path = write_frame(frame, tmp_path / f"d{suffix}"), tmp_path / "m"
    command("train", data, "-o", path, "--label", "y")
    assert model_file.load(path).labels == WORDS
    assert json.loads(command("inspect", path, "--json").out)["classes"] == WORDS
    assert "ham, spam" in command("inspect", path).out
    loaded = riata.load(path)
    assert loaded.classes_.tolist() == WORDS
    assert loaded.predict_one({"a": 1.5}) == "spam"
    assert list(loaded.predict_proba_one({"a": 1.5})) == WORDS
    printed = command("predict", path, data, "--label", "y").out.split()
    assert set(printed) == set(WORDS)
    assert np.mean(np.array(printed) == frame["y"].to_numpy()) > 0.8
    said = command("evaluate", path, data, "--label", "y").out
    assert "spam against ham" in said
    assert "the probability of spam" in said
    result = json.loads(command("evaluate", path, data, "--label", "y", "--json").out)
    accuracy = result["accuracy"]
    assert result["classes"] == WORDS
    assert accuracy == pytest.approx(np.mean(np.array(printed) == frame["y"].to_numpy()))


@pytest.mark.parametrize("trained", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("used", [".csv", ".jsonl", ".parquet"])
def test_words_mean_the_same_in_every_format(tmp_path: Path, trained: str, used: str) -> None:
    frame = table()
    test = table(40, ["spam"], seed=1)  # one word only, which is not the first of the model
    path = tmp_path / "m"
    command("train", write_frame(frame, tmp_path / f"d{trained}"), "-o", path, "--label", "y")
    data = write_frame(test, tmp_path / f"t{used}")
    result = json.loads(command("evaluate", path, data, "--label", "y", "--json").out)
    printed = command("predict", path, data, "--label", "y").out.split()
    assert result["accuracy"] == pytest.approx(np.mean(np.array(printed) == "spam"))


def test_words_and_numbers_do_not_mix(tmp_path: Path) -> None:
    path, other = tmp_path / "m", tmp_path / "t.vw"
    command(
        *("train", write_frame(table(), tmp_path / "d.csv"), "-o", path, "--label", "y"),
        *("--scale", "none"),
    )
    other.write_text("0 | b=red\n1 | b=blue\n")
    said = command("evaluate", path, other, code=1).err
    assert "t.vw:1: label 0 is none of the classes ham, spam" in said
    assert "labels of this data are numbers, the classes words" in said
    # The reverse, and a run that goes on.
    command("train", other, "-o", tmp_path / "n")
    said = command("evaluate", tmp_path / "n", tmp_path / "d.csv", "--label", "y", code=1).err
    assert "is none of the classes 0, 1" in said
    assert "labels of this data are words, the classes numbers" in said
    words = ("-o", tmp_path / "m2", "--initial", path)
    assert "ham, spam" in command("train", other, *words, code=1).err


def test_word_labels_of_python(tmp_path: Path) -> None:
    """fit with words, save, and the command line knows them."""
    block = problem(200)
    labels = np.where(block.labels == 1, "spam", "ham")  # type: ignore[comparison-overlap]
    data = tmp_path / "d.svm"
    rows = [block[i : i + 1] for i in range(200)]
    data.write_text(
        "".join(
            f"{int(r.labels[0])} "  # type: ignore[index]
            + " ".join(f"{i + 1}:{v:.9g}" for i, v in zip(r.indices, r.values, strict=True))
            + "\n"
            for r in rows
        )
    )
    [matrix] = open_source(data)
    import scipy.sparse as sp

    x = sp.csr_matrix((matrix.values, matrix.indices, matrix.indptr))
    model = riata.ElasticNetClassifier(class_weight={"spam": 2.0}).fit(x, labels)
    model.save(tmp_path / "m")
    printed = command("predict", tmp_path / "m", data).out.split()
    assert printed == model.predict(x).tolist()
    assert "ham, spam" in command("inspect", tmp_path / "m").out
    weights = model_file.load(tmp_path / "m").record.settings.class_weight
    assert weights == [("ham", 1.0), ("spam", 2.0)]


def test_classes_and_weights_by_word(tmp_path: Path) -> None:
    data, path = write_frame(table(), tmp_path / "d.csv"), tmp_path / "m"
    words = ("train", data, "-o", path, "--label", "y")
    command(*words, "--classes", "spam, ham", "--class-weight", "spam=3")
    model = model_file.load(path)
    assert model.labels == WORDS
    assert model.record.settings.class_weight == [("spam", 3.0)]
    assert model.record.loss.weight > model.record.examples
    command(*words, "--classes", "scan", "--class-weight", "balanced")
    assert [label for label, _ in model_file.load(path).record.settings.class_weight or ()] == WORDS
    said = command(*words, "--classes", "ham,eggs", code=1).err
    assert "label spam is none of the classes eggs, ham" in said
    said = command(*words, "--class-weight", "eggs=3", code=2).err
    assert "class_weight names eggs, which is none of the classes ham, spam" in said
    assert "ham=1,spam=20" in command(*words, "--class-weight", "spam:3", code=2).err


def test_files_of_before_have_words_in_their_schema(tmp_path: Path) -> None:
    path = tmp_path / "m"
    command("train", write_frame(table(), tmp_path / "d.csv"), "-o", path, "--label", "y")
    model = model_file.load(path)
    model.classes = np.array([0.0, 1.0])
    header, state = model_file._parts_of(model)
    del header["labels"]
    from safetensors.numpy import save

    content = save(state, {"riata": json.dumps(header)})
    place = tensor_file.digest_place(content)
    import hashlib

    digest = hashlib.sha256(content).hexdigest().encode()
    (tmp_path / "old").write_bytes(content[:place] + digest + content[place + 64 :])
    assert model_file.load(tmp_path / "old").labels == WORDS


# Words and bools in sources


def rows_with_late_words(n: int = 4000) -> pd.DataFrame:
    """ham and spam; from row 1500 on `zoo` too, from row 2000 on `apple`, which is before it in the alphabet."""
    frame = table(n)
    words = frame["y"].to_numpy().copy()
    words[1500::7] = "zoo"
    words[2000::11] = 'an "apple"'
    return frame.assign(y=words)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".dicts", ".frame"])
@pytest.mark.parametrize("chunk", [None, 3000])
def test_late_words_are_numbered_as_they_come(
    tmp_path: Path, suffix: str, chunk: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many threads read, and wherever Blocks begin."""
    frame = rows_with_late_words()
    if chunk is not None:
        monkeypatch.setattr("riata.sources.text.text.TextSource._suitable_chunk", lambda _: chunk)
        monkeypatch.setattr("riata.sources.table.pieces._CELLS", 300)
    if suffix == ".dicts":
        source = open_source(frame.to_dict("records"), label="y")
    elif suffix == ".frame":
        source = open_source(frame, label="y")
    elif suffix == ".tsv":
        path = tmp_path / "d.tsv"
        frame.assign(y=frame["y"].str.replace('"', "")).to_csv(path, sep="\t", index=False)
        source = open_source(path, label="y", threads=3)
    else:
        source = open_source(write_frame(frame, tmp_path / f"d{suffix}"), label="y", threads=3)
    names = ["ham", "spam", "zoo", "an apple" if suffix == ".tsv" else 'an "apple"']
    for _ in range(2):
        labels = np.concatenate([block.labels for block in source if block.labels is not None])
        assert source.label_names == names  # type: ignore[attr-defined]
        assert source.schema.label_names == tuple(names)  # type: ignore[attr-defined]
        wanted = frame["y"].map(
            dict(zip(["ham", "spam", "zoo", 'an "apple"'], range(4), strict=True))
        )
        assert labels.tolist() == wanted.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_late_words_join_in_training(tmp_path: Path, suffix: str) -> None:
    data, path = write_frame(rows_with_late_words(), tmp_path / f"d{suffix}"), tmp_path / "m"
    words = ("train", data, "-o", path, "--label", "y", "--ignore", "b", "-q")
    names = ["ham", "spam", "zoo", 'an "apple"']
    with pytest.warns(UserWarning, match="label zoo is new, and joins the classes ham, spam"):
        command(*words)
    assert model_file.load(path).labels == names
    bits_of = bits(model_file.load(path))
    assert set(command("predict", path, data).lines) <= set(names)
    assert json.loads(command("evaluate", path, data, "--json").out)["examples"] == 4000
    # The same bits in every format, with a cache, and in a run that goes on.
    with pytest.warns(UserWarning, match="zoo"):
        command(*words, "--cache", tmp_path / "c")
    assert bits(model_file.load(path)) == bits_of
    with pytest.warns(UserWarning, match="zoo"):
        command(*words, "--cache", tmp_path / "c")  # from the cache now
    assert bits(model_file.load(path)) == bits_of
    command(*words, "--classes", "scan")
    assert model_file.load(path).labels == sorted(names)


def test_late_words_have_the_same_bits_in_every_format(tmp_path: Path) -> None:
    frame = rows_with_late_words()
    models = []
    for suffix in (".csv", ".jsonl", ".parquet"):
        source = open_source(write_frame(frame, tmp_path / f"d{suffix}"), label="y")
        models.append(quietly(source, make))
    models.append(quietly(open_source(frame.to_dict("records"), label="y"), make))
    assert all(bits(model) == bits(models[0]) for model in models)
    assert all(model.labels == models[0].labels for model in models)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_run_with_late_words_is_stopped_and_goes_on(tmp_path: Path, suffix: str) -> None:
    frame = rows_with_late_words()
    data = write_frame(frame, tmp_path / f"d{suffix}")
    words = ("train", data, "-o", tmp_path / "m", "--label", "y", "-q", "--passes", 2)
    with pytest.warns(UserWarning, match="zoo"):
        command(*words)
    whole = model_file.load(tmp_path / "m")
    with pytest.warns(UserWarning, match="zoo"):
        command("train", data, "-o", tmp_path / "half", "--label", "y", "-q", "--passes", 1)
    command(
        "train",
        data,
        "-o",
        tmp_path / "m",
        "--resume",
        tmp_path / "half",
        "--label",
        "y",
        "--passes",
        2,
    )
    assert bits(model_file.load(tmp_path / "m")) == bits(whole)


@pytest.mark.parametrize("trained", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("used", [".csv", ".jsonl", ".parquet"])
def test_bools_mean_the_same_in_every_format(tmp_path: Path, trained: str, used: str) -> None:
    frame = table(labels=[False, True])
    data = tmp_path / f"t{used}"
    path = tmp_path / "m"
    command("train", write_frame(frame, tmp_path / f"d{trained}"), "-o", path, "--label", "y", "-q")
    labels = model_file.load(path).labels
    assert labels == (["False", "True"] if trained == ".csv" else [False, True])
    shown = ["False", "True"] if trained == ".csv" else ["false", "true"]
    write_frame(frame[frame["y"]], data)  # true ones only
    result = json.loads(command("evaluate", path, data, "--json").out)
    printed = command("predict", path, data).lines
    assert set(printed) <= set(shown)
    assert result["accuracy"] == pytest.approx(np.mean([label == shown[1] for label in printed]))


def test_bools_of_frames_and_dicts(tmp_path: Path) -> None:
    frame = table(labels=[False, True])
    for source in (open_source(frame, label="y"), open_source(frame.to_dict("records"), label="y")):
        model = train(source, make)
        assert model.labels == [False, True]
        model_file.save(model, tmp_path / "m")
        loaded = riata.load(tmp_path / "m")
        assert loaded.classes_.tolist() == [False, True]
        assert loaded.predict_one({"a": 1.5, "b": "red"}) is True


def test_unknown_words_do_not_matter_to_predictions(tmp_path: Path) -> None:
    frame = table()
    path = tmp_path / "m"
    command("train", write_frame(frame, tmp_path / "d.csv"), "-o", path, "--label", "y", "-q")
    for suffix in (".csv", ".jsonl", ".parquet"):
        data = write_frame(frame.assign(y="eggs"), tmp_path / f"t{suffix}")
        assert len(command("predict", path, data).lines) == len(frame)
        said = command("evaluate", path, data, code=1).err
        assert "label eggs is none of the classes ham, spam" in said


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_holdout_of_its_own_has_its_own_words(tmp_path: Path, suffix: str) -> None:
    """Its first label is the second of the model, and it may be in another format."""
    data = write_frame(table(), tmp_path / "d.csv")
    test = write_frame(table(30, ["spam"], seed=1), tmp_path / f"t{suffix}")
    path = tmp_path / "m"
    command("train", data, "-o", path, "--label", "y", "-q", "--holdout", test)
    record = model_file.load(path).record
    measured = json.loads(command("evaluate", path, test, "--json").out)
    assert record.holdout is not None
    assert (
        record.holdout["accuracy"] == measured["accuracy"] < 0.5
    )  # rows like ham, and not called so
    other = write_frame(table(30, ["eggs"], seed=1), tmp_path / f"o{suffix}")
    words = ("train", data, "-o", path, "--label", "y", "-q", "--holdout", other)
    assert "label eggs is none of the classes ham, spam" in command(*words, code=1).err


def test_a_single_class(tmp_path: Path) -> None:
    data = write_frame(table(50, ["ham"]), tmp_path / "d.csv")
    said = command("train", data, "-o", tmp_path / "m", "--label", "y", "-q", code=1).err
    assert "all labels are ham: a classification needs at least two classes" in said
    command("train", data, "-o", tmp_path / "m", "--label", "y", "-q", "--classes", "ham,spam")
    assert set(command("predict", tmp_path / "m", data).lines) == {"ham"}


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_words_that_join_are_those_of_rows_that_were_read(form: str, tmp_path: Path) -> None:
    rows: list[tuple[str, float]] = [("ab"[i % 2], i) for i in range(LOOK_AT + 10)]
    rows += [
        ("late", 1),
        ("bad", 1e300),
        ("NA", 2),
        (" ", 2),
        ("later", 3),
        (" late ", 4),
        ("latest", 5),
    ]
    path = tmp_path / f"x.{form}"
    if form == "csv":
        path.write_text("label,n\n" + "".join(f"{label},{n}\n" for label, n in rows))
    else:
        path.write_text("".join(json.dumps({"label": a, "n": b}) + "\n" for a, b in rows))
    source = open_source(path, label="label", on_error="skip", absent=["NA"])
    labels = np.concatenate([block.labels for block in source])
    assert source.label_names == ["a", "b", "late", "later", "latest"]
    assert labels[-4:].tolist() == [2, 3, 2, 4]
    assert source.skipped == 3
