"""Whatever a cache holds, signed or not, reading it is a DataError or Blocks that can be learned from."""

from __future__ import annotations

from tests.sources.fuzzing import run


def test_changed_and_signed_again() -> None:
    refused, read = run("tests.sources.cache.fuzz_caches", 900)
    assert refused > 300
    assert read > 50
