"""Buffers of text: who has them, and for how long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riata.sources.io import lines
from riata.sources.io.lines import PADDING, Buffers
from riata.sources.text.vw import VwSource

SIZE = 1 << 18


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_kept", [])


def test_a_pass_takes_the_buffers_of_the_one_before() -> None:
    first = Buffers(SIZE)
    taken = [first.take(0), first.take(0)]
    assert taken[0] is not taken[1]
    for buffer in taken:
        assert len(buffer) == SIZE + PADDING
        first.give_back(buffer)
    other = Buffers(SIZE)
    assert all(other.take(0) is not buffer for buffer in taken)  # the pass goes on
    first.close()
    assert len(Buffers(2 * SIZE).take(0)) == 2 * SIZE + PADDING
    again = [other.take(0), other.take(0)]
    assert {id(buffer) for buffer in again} == {id(buffer) for buffer in taken}
    assert other.take(0) is not Buffers(SIZE).take(0)  # nobody has one twice


def test_what_is_kept_is_bounded_and_worth_it() -> None:
    for size in (100, SIZE, 3 * SIZE, 5 * SIZE, 7 * SIZE):
        buffers = Buffers(size)
        for buffer in [buffers.take(0) for _ in range(20)]:
            buffers.give_back(buffer)
        buffers.close()
        assert sum(map(len, lines._kept)) <= lines._MOST_KEPT
    assert {len(buffer) - PADDING for buffer in lines._kept} == {7 * SIZE}  # the youngest
    assert len(lines._kept) == 4


def test_passes_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    paths = [tmp_path / "a.vw", tmp_path / "b.vw"]
    for path, word in zip(paths, ("left", "down"), strict=True):
        path.write_text("".join(f"{i % 2} |{word} {i}:0.5 w{i % 97}\n" for i in range(60_000)))
    sources = [VwSource([str(path)], _chunk_bytes=SIZE) for path in paths]
    alone = [np.concatenate([block.indices for block in source]) for source in sources]
    assert lines._kept
    for _ in range(2):
        together = list(zip(*sources, strict=True))
        for which in (0, 1):
            keys = np.concatenate([blocks[which].indices for blocks in together])
            np.testing.assert_array_equal(keys, alone[which])
