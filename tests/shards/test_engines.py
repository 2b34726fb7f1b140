"""The functions that docs/scale.md has for Ray and Spark, as they stand there: the same bits as in this process."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from riata import model_file
from riata.learners import Bayesian, Sketch
from riata.shards import train_shards
from tests.shards.problems import write_vw

DOCS = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
MAKERS = {
    "sketch": lambda m: Sketch(outputs=m, gamma=3.0, sample=0),
    "bayesian": lambda m: Bayesian(outputs=m),
}


def function(name: str) -> Any:
    """Of the block of code that defines it."""
    blocks = re.findall(r"```py\n(.*?)```", DOCS.read_text(), re.DOTALL)
    [code] = [block for block in blocks if f"def {name}(" in block]
    assert len(code.splitlines()) <= 22
    found: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, str(DOCS), "exec"), found)
    return found[name]


def bytes_of(model: Any) -> bytes:
    return b"".join(bytes(part) for part in model_file._to_parts(model))


def test_ray(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    path = str(write_vw(tmp_path / "x.vw"))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        for make in MAKERS.values():
            there = function("train_on_ray")(path, make, shards=5, rounds=2)
            assert bytes_of(there) == bytes_of(train_shards(path, make, shards=5, rounds=2))
    finally:
        ray.shutdown()


def test_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = pytest.importorskip("pyspark.sql")
    path = str(write_vw(tmp_path / "x.vw"))
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    try:
        for make in MAKERS.values():
            there = function("train_on_spark")(spark, path, make, shards=5, rounds=2)
            assert bytes_of(there) == bytes_of(train_shards(path, make, shards=5, rounds=2))
    finally:
        spark.stop()
