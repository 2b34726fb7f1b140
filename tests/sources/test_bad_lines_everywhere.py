"""Bad lines of every text format, near and far from each other, however the text is cut: none is lost, none is two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata.block import Block, concatenate
from riata.sources import open_source
from tests.cli.helpers import riata
from tests.sources.named import drain


def _cell(i: int) -> str:
    """Some cells hold newlines and quotes, so a record takes several lines."""
    return f'"a ""{i % 7}""\nand\n{i % 3}"' if i % 5 == 0 else f"w{i % 11}"


GOOD: dict[str, Callable[[int], str]] = {
    "svm": lambda i: f"{i % 2} {i % 9 + 1}:1 {i % 9 + 20}:0.5",
    "vw": lambda i: f"{i % 2} |a w{i % 9} x:{i % 4 + 1}.25 |b c",
    "csv": lambda i: f"{i % 2},{i % 9}.5,{_cell(i)}",
    "tsv": lambda i: f'{i % 2}\t{i % 9}.5\t"w{i % 11}',
    "jsonl": lambda i: f'{{"label": {i % 2}, "a": {i % 9}.5, "b": "w{i % 11}"}}',
    "arff": lambda i: f"{i % 9}.5,'w {i % 11}',{i % 2}",
}
BAD = {
    "svm": ["1 3:x", "word 1:1", "1 5:1 4:1", "1 0:1"],
    "vw": ["1 a b", "x | a", "1 | a:b", "1:2:3 | a", "1 |a:x b", "1 | a:1e39"],
    "csv": [
        "1,2",
        "1,x,w",
        ",1,w",
        "1,1,w,w",
        '1e999,1,"b"',
        "1,1e39,w",
        '1,"1"x,w',
        '1,x,"a\n\nb"',
    ],
    "tsv": ["1\t2", "1\tx\tw", "\t1\tw", "1\t1\tw\tw"],
    "jsonl": ["[1]", '{"label": 1', '{"a": 2}', '{"label": 1, "a": }', "nonsense"],
    "arff": ["1,w", "x,w,1", "1,w,7", "1,w,1,1", "1,'w,1"],
}
HEAD = {
    "csv": "label,a,b\n",
    "tsv": "label\ta\tb\n",
    "arff": "@relation r\n@attribute a real\n@attribute b string\n@attribute label {0,1}\n@data\n",
}
READING: dict[str, Any] = {"csv": {"numeric": ["a"]}, "tsv": {"numeric": ["a"]}}
CUTS = [(None, 1), (None, 3), (1, 1), (300, 2), (9000, 3)]


def make(suffix: str, seed: int, share: float, n: int) -> list[tuple[str, bool]]:
    """Records, and whether they can be read; bad ones come in clusters."""
    rng = np.random.default_rng(seed)
    records = []
    for i in range(n):
        bad = bool(rng.random() < (share if (i // 350) % 2 else share / 200))
        text = BAD[suffix][rng.integers(len(BAD[suffix]))] if bad else GOOD[suffix](i)
        records.append((text, not bad))
    return records


def opened(path: Path, cut: tuple[int | None, int], **options: Any) -> Any:
    options |= READING.get(path.suffix[1:], {})
    source = open_source(path, threads=cut[1], on_error="skip", **options)
    if cut[0] is not None:
        source._chunk_bytes = cut[0]  # type: ignore[attr-defined]
    return source


def assert_same(a: Block, b: Block, lines: list[int]) -> None:
    for field in ("labels", "indptr", "indices", "values"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)
    assert a.lines is not None
    assert a.lines.tolist() == lines


@pytest.mark.parametrize("suffix", GOOD)
@pytest.mark.parametrize("share", [0.02, 0.7])
def test_the_good_are_read_and_the_bad_are_kept(tmp_path: Path, suffix: str, share: float) -> None:
    records = make(suffix, 1, share, 1200)
    head, path, clean = HEAD.get(suffix, ""), tmp_path / f"x.{suffix}", tmp_path / f"y.{suffix}"
    path.write_text(head + "\n".join(text for text, _ in records))
    clean.write_text(head + "\n".join(text for text, good in records if good))
    expected = concatenate(list(open_source(clean)))
    starts = np.cumsum([head.count("\n") + 1] + [1 + text.count("\n") for text, _ in records])
    lines = [int(start) for start, (_, good) in zip(starts, records, strict=False) if good]
    bad = [(int(s), text) for s, (text, good) in zip(starts, records, strict=False) if not good]
    for cut in CUTS:
        source = opened(path, cut, max_bad=0.9, bad_lines=tmp_path / "bad")
        for _ in range(2):
            assert_same(concatenate(list(source)), expected, lines)
            assert source.skipped == len(bad)
        _, *kept = (tmp_path / "bad").read_text().removesuffix("\n").split(f"{path}:")
        places = [int(entry.split(":")[0]) for entry in kept]
        texts = [entry.removesuffix("\n").split("\t", 1)[1] for entry in kept]
        assert list(zip(places, texts, strict=True)) == bad
    words = ["--on-error", "skip", "--max-bad", "0.9"]
    words += ["--numeric", "a"] if suffix in READING else []
    said = riata("train", path, "-o", tmp_path / "m", *words).out
    assert f"skipped   {len(bad)} lines that could not be read" in said
    assert f"learned   {len(lines):,} examples" in said


@pytest.mark.parametrize("suffix", GOOD)
def test_a_file_that_is_mostly_bad_stops_at_the_same_line(tmp_path: Path, suffix: str) -> None:
    records = make(suffix, 2, 0.1, 1200) + make(suffix, 3, 1.0, 1500)
    path = tmp_path / f"x.{suffix}"
    path.write_text(HEAD.get(suffix, "") + "\n".join(text for text, _ in records))
    ends = []
    for cut in CUTS:
        blocks, error = drain(opened(path, cut, max_bad=0.2))
        assert "lines could not be read, more than the 20 % allowed" in str(error)
        ends.append((sum(map(len, blocks)), str(error)))
    assert len(set(ends)) == 1
    assert 1000 < ends[0][0] < sum(good for _, good in records)
