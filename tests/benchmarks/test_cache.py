"""The benchmark of the cache: it times what it says, and notices other bits."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import cache


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cache.Case:
    monkeypatch.setattr(cache, "CACHE", tmp_path)
    path = tmp_path / "x.vw"
    path.write_text("".join(f"{1 - 2 * (i % 2)} | w{i % 7} v{i % 3}:2\n" for i in range(500)))
    return cache.Case("x", path, {"l1": 1e-6, "eta0": 0.1}, 10)


@pytest.mark.parametrize("hashed", [False, True])
def test_its_ratios(case: cache.Case, hashed: bool) -> None:
    contest = cache.Contest(case, hashed, memory=True)
    for learning in (False, True):
        contest.turn(learning)
    learned = {kind for kind, learning in contest.taken if learning}
    assert learned == set(cache.KINDS)
    assert {kind for kind, learning in contest.taken if not learning} == learned - {"memory"}
    reading, both, memory = contest.ratios()
    assert reading.least == cache.WANTED
    assert both.least is memory.least is None
    for row, bottom in ((reading, ("cache", False)), (both, ("cache", True)), (memory, ("memory", True))):  # fmt: skip
        top = contest.times("text", bottom[1])
        assert row.value == top.best / contest.times(*bottom).best


def test_other_bits_are_noticed(case: cache.Case) -> None:
    contest = cache.Contest(case, hashed=True, memory=False)
    for learning in (False, True):
        contest.turn(learning)
    contest.losses.add(0.5)
    with pytest.raises(ValueError, match="other bits"):
        list(contest.ratios())
