"""SMS spam by one command with nothing said but the file, against TfidfVectorizer and LogisticRegression.

Where the data is: the last fifth of the messages, and every fifth message as a fold of its own.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from riata.cli import run
from tests.data import DATA

FILE = DATA / "sms" / "SMSSpamCollection"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="SMS spam is not under $RIATA_DATA")
SPLITS = ["last fifth", *(f"fold {k}" for k in range(5))]


@pytest.fixture(scope="module")
def messages() -> tuple[str, list[str]]:
    with FILE.open(newline="\n") as file:
        header, *lines = file
    return header, lines


def split(lines: list[str], name: str) -> tuple[list[str], list[str]]:
    if name == "last fifth":
        cut = len(lines) * 4 // 5
        return lines[:cut], lines[cut:]
    fold = SPLITS.index(name) - 1
    return [line for i, line in enumerate(lines) if i % 5 != fold], lines[fold::5]


@pytest.mark.parametrize("name", SPLITS)
def test_one_command_is_at_least_as_accurate(
    name: str, messages: tuple[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, lines = messages
    train, test = split(lines, name)
    for file, part in (("train.tsv", train), ("test.tsv", test)):
        (tmp_path / file).write_text(header + "".join(part))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*holds texts")
        assert run(["train", str(tmp_path / "train.tsv"), "-o", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    assert run(["evaluate", str(tmp_path / "m"), str(tmp_path / "test.tsv"), "--json"]) == 0
    ours = json.loads(capsys.readouterr().out)["accuracy"]
    (train_labels, train_texts), (labels, texts) = (
        zip(*(line.rstrip("\n").split("\t", 1) for line in part), strict=True)
        for part in (train, test)
    )
    other = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(train_texts, train_labels)
    theirs = other.score(texts, labels)
    print(f"{name}: {ours:.4f}, scikit-learn {theirs:.4f}")
    assert ours >= theirs
    assert ours >= 0.97
