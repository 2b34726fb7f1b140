"""Workers keep the rows of their shards between rounds: equal bits for any number of them, also when one is killed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from riata.dask import cluster_of, train
from riata.learners import FTRL, Sketch
from riata.shards import train_shards
from riata.shards.kept import KEPT
from riata.sources import ReadOptions
from tests.kill_workers import killable
from tests.shards.problems import table
from tests.shards.test_rounds import bytes_of

OPTIONS = ReadOptions(label="clicked", scale="none")
MAKERS = {
    "sketch": lambda m: Sketch(outputs=m, gamma=1.0, sample=0, tol=1e-9),
    "ftrl": lambda m: FTRL(outputs=m),
}


def kept_here() -> int:
    return KEPT.bytes


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("kept") / "x.parquet"
    table(1600).to_parquet(path, row_group_size=100)
    return str(path)


@pytest.fixture(scope="module")
def wanted(parquet: str) -> dict[str, bytes]:
    return {
        name: bytes_of(train_shards(parquet, make, shards=16, rounds=4, options=OPTIONS))
        for name, make in MAKERS.items()
    }


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_equal_bits_for_any_number_of_workers(
    parquet: str, wanted: dict[str, bytes], workers: int
) -> None:
    held: list[dict[str, int]] = []
    with cluster_of(f"local:{workers}") as client:
        for name, make in MAKERS.items():
            for keep in (None, 0, 30_000):
                held.clear()
                model = train(
                    client, parquet, make, shards=16, rounds=4, options=OPTIONS, keep=keep,
                    on_progress=lambda _: held.append(client.run(kept_here)),
                )  # fmt: skip
                assert bytes_of(model) == wanted[name]
                assert model.record.passes > 2
                kept = sum(held[0].values())
                assert (kept > 0) == (keep != 0)
                if keep:
                    assert max(held[0].values()) <= keep
        for _ in range(100):
            if not any(client.run(kept_here).values()):
                break
            time.sleep(0.05)
        else:
            raise AssertionError("workers keep rows of a training that has ended")


def test_a_worker_is_killed_with_the_rows_it_kept(
    parquet: str, wanted: dict[str, bytes], tmp_path: Path
) -> None:
    with cluster_of("local:2") as client:

        def kill(model: Any) -> None:
            if model.record.passes == 1:
                assert all(client.run(kept_here).values())
                os.kill(killable(client)[0], signal.SIGKILL)

        for name, make in MAKERS.items():
            model = train(
                client, parquet, make, shards=16, rounds=4, options=OPTIONS, on_progress=kill
            )
            assert bytes_of(model) == wanted[name]
            client.wait_for_workers(2, timeout=120)
