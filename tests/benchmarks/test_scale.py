"""What docs/scale.md says of costs: the numbers that were measured, and a formula that predicted a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import scale_page

pytest.importorskip("distributed")

from benchmarks.scale_costs import Costs, Work, parts_of, seconds_of, simulated

NUMBERS = json.loads(scale_page.NUMBERS.read_text())
COSTS = Costs(
    learn=1e6, learn_again=5e5, feature=50.0, add=1e8, send=1e8, hand_out=1e7, task=1e-3, finish=1e7,
)  # fmt: skip


def test_the_page_has_the_numbers() -> None:
    page = Path(scale_page.PAGE).read_text()
    assert page == scale_page.written(page, NUMBERS), "run python -m benchmarks.scale_page"


def test_the_run_was_predicted_within_a_fifth() -> None:
    run = NUMBERS["costs"]["run"]
    assert 0.8 < run["predicted"] / run["measured"] < 1.2


def test_the_formula() -> None:
    work = Work(data=64e6, shard=1e6, summary=1e6, model=1e6)
    assert parts_of(work, 64, COSTS) == pytest.approx(
        {"learning": 1.0, "sums": 64 * 0.02, "scheduler": 0.065, "model": 0.11}
    )
    later = parts_of(replace(work, rounds=2), 64, COSTS)
    assert later == pytest.approx(
        {"learning": 3.0, "sums": 128 * 0.02, "scheduler": 0.13, "model": 0.32}
    )
    assert seconds_of(work, 32, COSTS) == pytest.approx(seconds_of(work, 64, COSTS) + 1)
    large = Work(data=1e12, shard=64e6, summary=25e6, model=5e7)
    assert seconds_of(large, 1000, COSTS) < seconds_of(large, 1000, COSTS, tree=False)


def test_a_small_simulation() -> None:
    found = simulated(shards=130, rows=3)
    assert found["equal"]
    assert found["merges"] == 4
    alone, many = found["workers"]["1"], found["workers"]["100"]
    assert many["learning"] < alone["learning"]
    assert many["tree"] < alone["tree"]
