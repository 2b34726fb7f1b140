"""Rows that are kept in memory between rounds: the same bits, within a limit, and a changed file is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riata.block import Block
from riata.dask.homes import Homes
from riata.errors import DataError
from riata.learners import FTRL, Sketch
from riata.shards import train_shards
from riata.shards.kept import KEPT, Kept, Rows
from riata.shards.plan import Plan
from riata.shards.split import Piece, Shard
from tests.shards.problems import write_svm, write_vw
from tests.shards.test_rounds import MAKERS, bytes_of


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of each shard that is read from its file, as often as it is."""
    seen: list[int] = []
    before = Plan.read

    def counted(self, shard, names, data=None):
        seen.append(shard.number)
        return before(self, shard, names, data)

    monkeypatch.setattr(Plan, "read", counted)
    return seen


@pytest.mark.parametrize("keep", [1, 40_000, 1 << 30])
@pytest.mark.parametrize(
    "name", ["sketch", "sketch-paper", "sketch-sample", "bayesian", "auto", "ftrl"]
)
@pytest.mark.parametrize("format", ["svm", "vw"])
def test_the_same_bits(tmp_path: Path, name: str, format: str, keep: int, read: list[int]) -> None:
    path = str((write_svm if format == "svm" else write_vw)(tmp_path / f"x.{format}"))
    whole = train_shards(path, MAKERS[name], shards=5, rounds=3)
    rounds = whole.record.passes
    assert sorted(read) == sorted([1, 2, 3, 4, 5] * rounds)
    read.clear()
    kept = train_shards(path, MAKERS[name], shards=5, rounds=3, keep=keep)
    assert bytes_of(kept) == bytes_of(whole)
    assert KEPT.bytes == 0  # at the end there is nothing to keep them for
    if rounds > 1 and keep > 1:
        assert len(read) == 5 if keep == 1 << 30 else 5 < len(read) < 5 * rounds
    else:
        assert len(read) == 5 * rounds


def test_a_hashed_store_and_more_classes(tmp_path: Path, read: list[int]) -> None:
    path = str(write_vw(tmp_path / "x.vw"))
    make = lambda m: FTRL(outputs=m, store="hashed", bits=10)  # noqa: E731
    whole = train_shards(path, make, shards=3, rounds=2)
    read.clear()
    assert bytes_of(train_shards(path, make, shards=3, rounds=2, keep=1 << 20)) == bytes_of(whole)
    assert len(read) == 3
    path = str(write_svm(tmp_path / "x.svm", classes=3))
    make = lambda m: Sketch(outputs=m, gamma=2.0, sample=0)  # noqa: E731
    whole = train_shards(path, make, shards=3, class_weight="balanced")
    kept = train_shards(path, make, shards=3, class_weight="balanced", keep=1 << 20)
    assert bytes_of(kept) == bytes_of(whole)


@pytest.mark.parametrize("change", ["longer", "touched", "gone"])
def test_a_file_that_changes_is_noticed(tmp_path: Path, change: str) -> None:
    path = write_vw(tmp_path / "x.vw")

    def spoil(model) -> None:
        if model.record.passes == 1:
            content = path.read_bytes()
            path.unlink()
            if change != "gone":
                path.write_bytes(content + b"1 |f x1\n" * (change == "longer"))

    with pytest.raises(DataError, match="the file has changed|no such file"):
        train_shards(str(path), MAKERS["ftrl"], shards=3, rounds=3, keep=1 << 30, on_progress=spoil)
    assert KEPT.bytes == 0


def test_a_file_of_a_later_training_is_read_anew(tmp_path: Path) -> None:
    """Even where the rows of the former one are still there: the plan is the same, the file has another time."""
    path = write_vw(tmp_path / "x.vw", seed=1)
    forget, KEPT.forget = KEPT.forget, lambda: None  # type: ignore[method-assign]
    try:
        train_shards(str(path), MAKERS["ftrl"], shards=2, rounds=2, keep=1 << 30)
        assert KEPT.bytes > 0
        path.write_text(path.read_text().replace("1 |f", "-1 |f").replace("--1", "1"))
        kept = train_shards(str(path), MAKERS["ftrl"], shards=2, rounds=2, keep=1 << 30)
        assert bytes_of(kept) == bytes_of(
            train_shards(str(path), MAKERS["ftrl"], shards=2, rounds=2)
        )
    finally:
        KEPT.forget = forget  # type: ignore[method-assign]
        KEPT.forget()


def rows(entries: int) -> Rows:
    block = Block(np.array([0, entries]), np.zeros(entries, np.int32), np.ones(entries, np.float32))
    return Rows("keys", (block,), 1, "")


def test_the_first_stay_and_those_of_others_go() -> None:
    kept = Kept()
    place = lambda plan, k: (plan, Shard(k, (Piece("x", 1),)))  # noqa: E731
    size = rows(100).bytes
    for k in range(5):
        kept.keep(place("one", k), rows(100), 3 * size)
    assert [kept.find(place("one", k)) is not None for k in range(5)] == [True] * 3 + [False] * 2
    kept.keep(place("two", 0), rows(100), 3 * size)
    assert kept.find(place("two", 0)) is not None
    assert kept.bytes == 3 * size
    kept.keep(place("two", 1), rows(1000), 3 * size)  # larger than all the room
    assert kept.find(place("two", 1)) is None
    assert kept.bytes <= 3 * size


def test_homes_are_even_and_stay() -> None:
    homes = Homes()
    first = homes.of(16, {"a": 1, "b": 1})
    assert [first.count(name) for name in "ab"] == [8, 8]
    assert homes.of(16, {"a": 1, "b": 1}) == first
    joined = homes.of(16, {"a": 1, "b": 1, "c": 2})
    assert sorted(joined.count(name) for name in "abc") == [4, 4, 8]
    assert all(new in (old, "c") for old, new in zip(first, joined, strict=True))
    alone = homes.of(16, {"c": 2})
    assert set(alone) == {"c"}
    assert homes.of(16, {"d": 1}) == ["d"] * 16
