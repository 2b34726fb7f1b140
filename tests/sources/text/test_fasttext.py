"""fastText's lines: a label and a text each."""

from __future__ import annotations

from pathlib import Path

import pytest

from riata import DataError, model_file, open_source
from riata.block import Block, concatenate
from riata.cli import run

LINES = ["__label__spam Free entry\tnow", "__label__ham see __label__ you", "", "__label__spam"]


def write(path: Path, lines: list[str], mark: str = "") -> Path:
    path.write_text(mark + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def names(block: Block, row: int) -> list[str | None]:
    return [block.name_of(k) for k in range(*block.indptr[row : row + 2])]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_rows_of_words(mark: str, tmp_path: Path) -> None:
    source = open_source(write(tmp_path / "x.txt", LINES, mark))
    block = concatenate(list(source))
    assert source.label_names == ["ham", "spam"]
    assert block.labels is not None
    assert block.labels.tolist() == [1, 0, 1]
    assert block.lines is not None
    assert block.lines.tolist() == [1, 2, 4]
    assert names(block, 0) == [
        "text^free",
        "text^entry",
        "text^free entry",
        "text^now",
        "text^entry now",
    ]
    assert "text^label" not in names(block, 0)
    assert names(block, 2) == []


def test_it_is_the_table_that_it_looks_like(tmp_path: Path) -> None:
    rows = [("spam", f"free entry {i}") if i % 2 else ("ham", f"see you {i}") for i in range(40)]
    lines = write(tmp_path / "x.txt", [f"__label__{label} {text}" for label, text in rows])
    table = write(tmp_path / "x.csv", ["label,text", *(",".join(row) for row in rows)])
    one = concatenate(list(open_source(lines)))
    other = concatenate(list(open_source(table, text=["text"])))
    assert one.indices.tobytes() == other.indices.tobytes()
    assert one.values.tobytes() == other.values.tobytes()
    assert one.labels is not None
    assert other.labels is not None
    assert one.labels.tolist() == other.labels.tolist()


SEVERAL = [
    "__label__a x",
    "__label__b  __label__a __label__b y z",
    "",
    "__label__c z",
    "none",
    "__label__b y",
]


def test_a_line_of_several_labels_is_an_example_of_each(tmp_path: Path) -> None:
    lines = write(tmp_path / "x.txt", SEVERAL[:4])
    source = open_source(lines)
    block = concatenate(list(source))
    assert source.label_names == ["a", "b", "c"]
    assert block.labels is not None
    assert block.labels.tolist() == [0, 1, 0, 2]
    assert block.lines is not None
    assert block.lines.tolist() == [1, 2, 2, 4]
    assert names(block, 1) == names(block, 2) == ["text^y", "text^z", "text^y z"]
    to_predict = concatenate(list(open_source(lines, labelled=False)))
    assert to_predict.labels is not None
    assert to_predict.labels.tolist() == [0, 1, 2]


def test_lines_behind_several_labels_have_their_own_number(tmp_path: Path) -> None:
    lines = write(tmp_path / "x.txt", SEVERAL)
    with pytest.raises(DataError, match="x.txt:5:.*the label is missing"):
        list(open_source(lines))
    skipped = open_source(lines, on_error="skip")
    block = concatenate(list(skipped))
    assert block.lines is not None
    assert block.lines.tolist() == [1, 2, 2, 4, 6]
    assert skipped.skipped == 1  # type: ignore[attr-defined]


def test_several_labels_are_those_of_lines_written_once_for_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["__label__a x", "__label__a __label__b y", "__label__b z"] * 20
    each = ["__label__a x", "__label__a y", "__label__b y", "__label__b z"] * 20
    said = []
    for rows in (both, each):
        data, model = write(tmp_path / "x.txt", rows), str(tmp_path / "m")
        assert run(["train", str(data), "-o", model, "-q", "--method", "ftrl"]) == 0
        capsys.readouterr()
        assert run(["evaluate", model, str(data)]) == 0
        assert (
            run(
                ["predict", model, str(write(tmp_path / "y.txt", both[:3])), "--format", "fasttext"]
            )
            == 0
        )
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_labels_are_needed_to_learn(tmp_path: Path) -> None:
    lines = write(tmp_path / "x.txt", ["__label__a x", "just a text"])
    with pytest.raises(DataError, match="x.txt:2:.*the label is missing"):
        list(open_source(lines))
    assert sum(map(len, open_source(lines, labelled=False))) == 2
    with pytest.raises(ValueError, match="label is for columns"):
        open_source(lines, label="a")


def test_train_and_predict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"__label__{'spam free call' if i % 2 else 'ham see you'} {i}" for i in range(60)]
    data, model = write(tmp_path / "x.txt", lines), str(tmp_path / "m")
    assert run(["train", str(data), "-o", model, "-q", "--ngrams", "words:1"]) == 0
    write(tmp_path / "new.txt", ["free call", "__label__ham see you"])
    write(tmp_path / "new.jsonl", ['{"text": "free call"}', '{"text": "see you"}'])
    capsys.readouterr()
    assert run(["predict", model, str(tmp_path / "new.txt"), "--format", "fasttext"]) == 0
    assert capsys.readouterr().out.split() == ["spam", "ham"]
    assert run(["predict", model, str(tmp_path / "new.jsonl")]) == 0
    assert capsys.readouterr().out.split() == ["spam", "ham"]
    assert run(["evaluate", model, str(data)]) == 0


def test_several_labels_from_a_cache_are_those_of_the_text(tmp_path: Path) -> None:
    lines, cache = write(tmp_path / "x.txt", SEVERAL[:4] * 30), tmp_path / "x.riata-cache"
    assert run(["convert", str(lines), str(cache), "-q"]) == 0
    states = []
    for data in (lines, cache):
        model = str(tmp_path / "m")
        assert run(["train", str(data), "-o", model, "-q", "--method", "ftrl"]) == 0
        states.append(model_file.load(model).learner.state())
    assert all(array.tobytes() == states[1][name].tobytes() for name, array in states[0].items())
