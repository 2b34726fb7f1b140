"""The most memory that a run may take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from riata.errors import OutOfMemory, SettingsError
from riata.learners import ElasticNet
from riata.tensor_file import allowed
from riata.training import partial_model, safeguards, train
from riata.training.safeguards import MemoryLimit, parse_size
from tests.cli.helpers import RIATA, riata
from tests.streams import ListSource, problem

MEMINFO = "MemTotal:       16384 kB\nMemFree: 1 kB\n"


def machine(root: Path, files: dict[str, str]) -> int | None:
    for name, text in ({"proc/meminfo": MEMINFO} | files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return allowed(str(root))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 16 << 20),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "5000000\n"}, 5_000_000),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 16 << 20),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "7000000\n"}, 7_000_000),
        ({"proc/self/cgroup": "0::/../x\n", "sys/fs/cgroup/memory.max": "7000000\n"}, 7_000_000),
        (
            {
                "proc/self/cgroup": "4:cpu,memory:/job\n0::/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "3000000\n",
            },
            3_000_000,
        ),
        ({"proc/self/cgroup": "nonsense"}, 16 << 20),
    ],
)
def test_what_the_machine_allows(files: dict[str, str], expected: int, tmp_path: Path) -> None:
    assert machine(tmp_path, files) == expected


def test_nothing_is_known_where_nothing_is_said(tmp_path: Path) -> None:
    assert allowed(str(tmp_path)) is None


def test_the_default_is_a_share_of_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safeguards, "allowed", lambda: 1000)
    assert MemoryLimit().most == 800
    monkeypatch.setattr(safeguards, "allowed", lambda: None)
    limit = MemoryLimit()
    limit.check()  # no limit is known
    assert limit.most is None


@pytest.mark.parametrize("size", ["", "G", "-1", "1X", 0, -5, float("nan")])
def test_sizes_that_are_none(size: object) -> None:
    with pytest.raises(SettingsError, match="512M or 2G"):
        parse_size(size)  # type: ignore[arg-type]


def test_what_was_learned_before_the_limit_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter([100, 200, 300, 540, 600])
    monkeypatch.setattr(safeguards, "in_use", lambda: next(used))
    block = problem(500)
    with pytest.raises(OutOfMemory, match="540 bytes of memory in use, and up to 660") as caught:
        train(ListSource(block, 100), lambda m: ElasticNet(outputs=m), max_memory=900)
    model = partial_model(caught.value)
    assert model is not None
    assert model.record.examples == 300
    monkeypatch.undo()
    again = train(ListSource(block), lambda m: ElasticNet(outputs=m), resume=model)
    whole = train(ListSource(block), lambda m: ElasticNet(outputs=m))
    assert again.record == whole.record


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory in use is known on Linux")
def test_a_model_that_grows_beyond_the_limit_is_saved(tmp_path: Path) -> None:
    data, output = tmp_path / "d", tmp_path / "m"
    rng = np.random.default_rng(0)
    with open(data, "w") as file:
        for i in range(20_000):
            names = " ".join(f"x{n}" for n in rng.integers(0, 1 << 60, 20))
            file.write(f"{2 * (i % 2) - 1} | {names}\n")
    words = [
        *RIATA,
        "train",
        str(data),
        "-o",
        str(output),
        "--format",
        "vw",
        "--max-memory",
        "100M",
    ]
    done = subprocess.run([*words, "--store", "table"], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "--max-memory" in done.stderr
    assert "would help" in done.stderr
    record = model_file.load(f"{output}.partial").record
    assert 0 < record.examples < 20_000
    assert f"--resume {output}.partial" in done.stderr
    whole = tmp_path / "whole"
    riata("train", data, "-o", output, "--format", "vw", "--resume", f"{output}.partial")
    riata("train", data, "-o", whole, "--format", "vw", "--store", "table")
    assert output.read_bytes() == whole.read_bytes()
