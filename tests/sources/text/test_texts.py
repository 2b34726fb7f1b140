"""Texts as files: a folder a class, and lines whose first word is the label."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import riata
from riata import DataError, open_source
from riata.cli import run
from riata.sources.text.folder import labelled_files

ROWS = [
    (
        "spam" if i % 3 == 0 else "ham",
        f"free entry {i} call now, WIN" if i % 3 == 0 else f"see you at {i}, home then",
    )
    for i in range(60)
]


def as_folder(folder: Path, rows: list[tuple[str, str]]) -> Path:
    for i, (label, text) in enumerate(rows):
        (folder / label / "deep").mkdir(parents=True, exist_ok=True)
        path = folder / label / ("deep" if i % 5 == 0 else "") / f"{i:03d}.txt"
        path.write_text(text.replace(", ", ",\n"))
    (folder / ".hidden").write_text("not data")
    return folder


def as_lines(path: Path, rows: list[tuple[str, str]], sign: str = " ") -> Path:
    path.write_text("".join(f"{label}{sign}{text}\n" for label, text in rows))
    return path


def mixed(folder: Path) -> list[tuple[str, str]]:
    """The rows in the order of the files."""
    return [ROWS[int(Path(path).stem)] for _, path in labelled_files(str(folder))]


def test_every_form_of_texts_trains_and_predicts_the_same(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "mail", ROWS)
    rows = mixed(folder)
    assert rows != ROWS
    assert sorted(rows) == sorted(ROWS)
    forms: dict[str, tuple[Any, dict[str, Any]]] = {
        "folder": (folder, {}),
        "first": (as_lines(tmp_path / "a.txt", rows), {"label_first": True}),
        "tab": (as_lines(tmp_path / "b.txt", rows, "\t"), {"label_first": True}),
        "fasttext": (as_lines(tmp_path / "c.txt", [(f"__label__{a}", b) for a, b in rows]), {}),
        "frame": (pd.DataFrame(rows, columns=["label", "text"]), {"label": "label", "text": ["text"]}),
        "dicts": ([{"label": a, "text": b} for a, b in rows], {"text": ["text"]}),
    }  # fmt: skip
    models = {
        name: riata.FTRLClassifier().learn(what, **how) for name, (what, how) in forms.items()
    }
    first = models["dicts"]
    expected = first.predict_proba([{"text": text} for _, text in rows])
    for name, model in models.items():
        assert model.named_coef_ == first.named_coef_, name
        for other, (what, _) in forms.items():
            if other not in ("first", "tab"):
                np.testing.assert_array_equal(model.predict_proba(what), expected, err_msg=other)
            assert model.score(what) == first.score(forms["dicts"][0]), (name, other)
        texts = tmp_path / "texts.txt"
        texts.write_text("".join(f"{text}\n" for _, text in rows))
        np.testing.assert_array_equal(model.predict_proba(texts), expected)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = as_folder(tmp_path / "mail", ROWS)
    rows = mixed(folder)
    lines = as_lines(tmp_path / "mail.txt", rows)
    one, other = str(tmp_path / "1.riata"), str(tmp_path / "2.riata")
    assert run(["train", str(folder), "-o", one, "--quiet", "--passes", "2"]) == 0
    assert run(["train", str(lines), "--label-first", "-o", other, "--quiet", "--passes", "2"]) == 0
    assert riata.load(one).named_coef_ == riata.load(other).named_coef_
    for data in (str(folder), str(folder) + "/", str(lines)):
        assert run(["evaluate", one, data]) == 0
    assert "accuracy" in capsys.readouterr().out
    new = tmp_path / "new"
    new.mkdir()
    (new / "a.txt").write_text("free entry")
    with gzip.open(new / "b.txt.gz", "wb") as file:
        file.write(b"see you at home")
    assert run(["predict", one, str(new)]) == 0
    order = [Path(path).name for _, path in labelled_files(str(new))]
    assert dict(zip(order, capsys.readouterr().out.split(), strict=True)) == {
        "a.txt": "spam",
        "b.txt.gz": "ham",
    }


def test_a_run_over_a_folder_is_resumed_and_cached(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "mail", ROWS)
    whole, part = str(tmp_path / "w.riata"), str(tmp_path / "p.riata")

    def trained(output: str, passes: int, *words: str) -> int:
        named = ["train", str(folder), "-o", output, "--quiet", "--passes", str(passes)]
        return run([*named, *words])

    assert trained(whole, 3) == 0
    assert trained(part, 1, "--cache") == 0
    assert (tmp_path / "mail.riata-cache").exists()
    assert trained(part, 3, "--resume", part, "--cache") == 0
    assert riata.load(part).named_coef_ == riata.load(whole).named_coef_
    (folder / "spam" / "000new.txt").write_text("another one")
    assert trained(part, 4, "--resume", part, "--cache") != 0


def test_what_is_wrong_names_the_file(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "mail", ROWS[:20])
    (folder / "spam" / "bad.txt").write_bytes(b"caf\xe9 free")
    with pytest.raises(DataError, match=r"spam/bad\.txt:\d+: here are bytes that are no UTF-8"):
        list(open_source(folder))
    source = open_source(folder, on_error="skip")
    assert sum(map(len, source)) == 20
    assert source.skipped == 1
    (folder / "loose.txt").write_text("no class")
    (folder / "spam" / "bad.txt").unlink()
    with pytest.raises(DataError, match=r"loose\.txt:1: this file lies in no folder of a class"):
        list(open_source(folder))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "no files"),
        (["a.txt"], "a folder for each class"),
        (["part-0.csv"], "looks like csv: .* name such files"),
        (["x/part-0.parquet"], "looks like parquet"),
    ],
)
def test_other_folders_are_refused(tmp_path: Path, files: list[str], message: str) -> None:
    for file in files:
        (tmp_path / "d" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "d" / file).write_text("1,2\n")
    (tmp_path / "d").mkdir(exist_ok=True)
    with pytest.raises(DataError, match=message):
        open_source(tmp_path / "d")


def test_lines_without_labels_say_what_to_do(tmp_path: Path) -> None:
    path = as_lines(tmp_path / "x.txt", ROWS)
    with pytest.raises(DataError, match="--label-first"):
        list(open_source(path, format="text"))
    with pytest.raises(ValueError, match="label_first is for lines of text"):
        open_source(path, format="csv", label_first=True)
    with pytest.raises(ValueError, match="is for columns; text has none"):
        open_source(path, label_first=True, ignore=["id"])
    model = riata.FTRLClassifier().learn(path, label_first=True)
    with pytest.warns(UserWarning, match="begins with the name of a class"):
        model.predict(path)
    model.predict(open_source(path, label_first=True))


def test_a_line_of_its_label_alone_is_an_empty_text(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("\ufeffspam\n\n  ham see you\nspam free\tentry\n")
    source = open_source(path, label_first=True, ngrams="words:1")
    [block] = source
    assert block.labels is not None
    assert block.labels.tolist() == [1, 0, 1]
    assert [block.name_of(i) for i in range(block.nnz)] == [
        "text^see",
        "text^you",
        "text^free",
        "text^entry",
    ]
    assert json.dumps(source.schema.to_json())  # type: ignore[attr-defined]
