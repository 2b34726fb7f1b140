"""The benchmark of instruction sets: every kernel is in it, and all of it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import instructions

CORE = Path(instructions.__file__).parent.parent / "cpp"


def test_every_kernel_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(instructions, "ROWS", 120)
    works = instructions.works(tmp_path)
    kernels = {path.stem.removesuffix("_kernels") for path in CORE.rglob("*_kernels.cpp")}
    assert kernels == set(instructions.KERNELS)
    assert {name for names in instructions.KERNELS.values() for name in names} <= set(works)
    for name, work in works.items():
        result = work()
        assert result is not None, name
        assert len(result), name
