from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from riata.cli import clicks
from riata.sources import open_source
from tests.cli.helpers import riata, riata_process


def test_text_is_what_was_drawn(tmp_path: Path) -> None:
    stream = clicks.Clicks(3)
    rows, clicked, _ = stream.draw(500)
    path = tmp_path / "d"
    path.write_bytes(clicks.svmlight(rows, clicked))
    (block,) = open_source(str(path))
    assert np.array_equal(block.indices.reshape(500, clicks.CATEGORIES), rows)
    assert np.all(block.values == 1)
    assert block.labels is not None
    assert np.array_equal(block.labels == 1, clicked)


def test_the_distribution_is_the_papers() -> None:
    stream = clicks.Clicks(0)
    n = 20_000
    rows, clicked, chance = stream.draw(n)
    assert sum(2**j for j in range(1, 23)) == clicks.FEATURES
    for j in (1, 5, 22):
        values = rows[:, j - 1] - clicks.feature(j, 0)
        assert values.min() >= 0
        assert values.max() < 2**j
        zipf = np.arange(1, 2**j + 1) ** -1.75
        expected = n * zipf[:2] / zipf.sum()
        for value in (0, 1):
            assert (values == value).sum() == pytest.approx(expected[value], abs=5 * n**0.5)
    assert stream.weights.std() == pytest.approx(2, rel=0.01)
    scores = stream.weights[rows].sum(axis=1)
    assert chance == pytest.approx(1 / (1 + np.exp(-scores)))
    assert clicked.mean() == pytest.approx(chance.mean(), abs=0.02)
    for index in (0, 1, 2, 5, 6, clicks.FEATURES - 1):
        assert clicks.feature(*clicks.category_and_value(index)) == index


def test_demo_tells_the_story_and_its_commands_work(tmp_path: Path) -> None:
    one = riata_process("demo", "--events", 20_000, cwd=tmp_path)
    for words in ("log loss", "AUC", "the strongest", "36 settings", "category", "clicks"):
        assert words in one.out
    model = (tmp_path / "riata-demo" / "clicks.riata").read_bytes()
    commands = [line.strip()[2:] for line in one.out.splitlines() if line.strip().startswith("$ ")]
    assert len(commands) == 4
    for command in commands[1:3]:
        words = shlex.split(command.partition("|")[0])
        assert words[0] == "riata"
        assert riata_process(*words[1:], cwd=tmp_path).out
    text = one.out.replace("\\\n", "")
    train = next(line for line in text.splitlines() if "$ riata train" in line)
    riata_process(*shlex.split(train)[2:], cwd=tmp_path)
    assert (tmp_path / "riata-demo" / "clicks.riata").read_bytes() == model


def test_demo_is_deterministic(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        riata_process("demo", "--events", 5000, "--output", name, "--seed", seed, cwd=tmp_path)
    one, two, other = ((tmp_path / n / "train.svm").read_bytes() for n in "abc")
    assert one == two != other


def test_demo_needs_a_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    riata("demo", "--output", tmp_path / "file", code=1)
