"""Lines that cannot be read: refused, or skipped, counted and kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.bad_lines import BadLineFile, Skipping
from riata.sources.options import ReadOptions
from riata.sources.text.svmlight import SvmlightSource

GOOD = [f"{i % 2} {i + 1}:1 {i + 5}:0.5" for i in range(3000)]


def spoiled(every: int) -> list[str]:
    lines = list(GOOD)
    for i in range(3, len(lines), every):
        lines[i] = ["1 3:x", "word 1:1", "1 5:1 4:1", "", "1 0:1"][i % 5]
    return lines


def is_bad(line: str) -> bool:
    return line != "" and line not in GOOD


@pytest.mark.parametrize("chunk", [300, 1 << 20])
@pytest.mark.parametrize("threads", [1, 3])
def test_skip(tmp_path: Path, chunk: int, threads: int) -> None:
    lines = spoiled(7)
    (tmp_path / "x.svm").write_text("\n".join(lines))
    wanted = [(n, line) for n, line in enumerate(lines, 1) if line in GOOD]
    keep = BadLineFile(tmp_path / "bad")
    source = SvmlightSource(
        [str(tmp_path / "x.svm")],
        ReadOptions(threads=threads),
        _chunk_bytes=chunk,
        skipping=Skipping(0.5, keep),
    )
    for _ in range(2):  # the second pass counts them again and keeps them once
        block = concatenate(list(source))
        assert block.lines is not None
        assert block.lines.tolist() == [n for n, _ in wanted]
        assert source.skipped == sum(map(is_bad, lines))
    (tmp_path / "good.svm").write_text("\n".join(line for _, line in wanted))
    clean = concatenate(list(open_source(tmp_path / "good.svm")))
    np.testing.assert_array_equal(block.indices, clean.indices)
    np.testing.assert_array_equal(block.values, clean.values)
    kept = (tmp_path / "bad").read_text().splitlines()
    assert [entry.split("\t")[1] for entry in kept] == [line for line in lines if is_bad(line)]
    assert kept[0].startswith(f"{tmp_path}/x.svm:11:5: expected a number")


def test_reasons_are_those_of_the_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_text("1 1:1\n1 2:abc 3:1\r\n1 1:1\n")
    with pytest.raises(DataError) as caught:
        list(open_source(path))
    source = open_source(path, on_error="skip", bad_lines=tmp_path / "bad")
    assert sum(map(len, source)) == 2
    assert (tmp_path / "bad").read_text() == f"{caught.value}\t1 2:abc 3:1\n"


def test_nothing_bad_leaves_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "x.svm").write_text("1 1:1\n")
    assert (
        len(list(open_source(tmp_path / "x.svm", on_error="skip", bad_lines=tmp_path / "b"))) == 1
    )
    assert (tmp_path / "b").read_bytes() == b""


def test_several_files_number_their_own_lines(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("1 1:1\nbad\n1 2:1\n")
    source = open_source(
        [tmp_path / "a", tmp_path / "b"], on_error="skip", bad_lines=tmp_path / "bad"
    )
    assert sum(map(len, source)) == 4
    places = [line.partition(": ")[0] for line in (tmp_path / "bad").read_text().splitlines()]
    assert places == [f"{tmp_path}/a:2:1", f"{tmp_path}/b:2:1"]


@pytest.mark.parametrize("chunk", [500, 1 << 20])
def test_a_file_that_is_mostly_bad_stops(tmp_path: Path, chunk: int) -> None:
    lines = GOOD[:1500] + ["bad"] * 5000
    (tmp_path / "x").write_text("\n".join(lines))
    source = SvmlightSource([str(tmp_path / "x")], _chunk_bytes=chunk, skipping=Skipping(0.5))
    taken: list[Block] = []
    with pytest.raises(DataError, match=r"x:3001:1: .*1501 of 3001 lines could not.*50 %"):
        taken.extend(source)
    assert sum(map(len, taken)) == 1500


def test_limit_as_a_number(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1 1:1\nbad\n" * 10)
    assert sum(map(len, open_source(tmp_path / "x", on_error="skip", max_bad=10))) == 10
    with pytest.raises(DataError, match="x:8:1: .*4 of 8 lines .*3 lines allowed"):
        list(open_source(tmp_path / "x", on_error="skip", max_bad=3))


def test_small_files_are_judged_at_their_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("bad\nbad\nbad\n1 1:1\n1 1:1\n")
    with pytest.raises(DataError, match="3 of 5 lines"):
        list(open_source(tmp_path / "x", on_error="skip"))


def test_wrong_options(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1 1:1\n")
    with pytest.raises(ValueError, match="on_error is"):
        open_source(tmp_path / "x", on_error="ignore")
    with pytest.raises(ValueError, match="give both"):
        open_source(tmp_path / "x", bad_lines=tmp_path / "bad")
    with pytest.raises(ValueError, match="max_bad"):
        open_source(tmp_path / "x", on_error="skip", max_bad=-1)
