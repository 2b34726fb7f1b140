"""Where data is cut: every row once, in any process, in whatever format."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from riata.errors import DataError, SettingsError
from riata.learners import ElasticNet
from riata.shards import plan_for, split
from riata.sources import ReadOptions, open_source
from tests.shards.problems import table, write_svm, write_vw

pytest.importorskip("pyarrow")


def rows_of(path: Path, count: int, **options):
    """Labels and values of all shards, one after another."""
    plan = plan_for(str(path), ElasticNet(), ReadOptions(**options), count=count)
    assert len(plan.shards) == count
    return [block for shard in plan.shards for block in plan.read(shard, True)], plan


@pytest.mark.parametrize("count", [1, 2, 5, 16])
@pytest.mark.parametrize("format", ["svm", "vw", "csv", "tsv", "jsonl", "parquet"])
def test_every_row_once(tmp_path: Path, format: str, count: int) -> None:
    path, options = tmp_path / f"x.{format}", {}
    if format == "svm":
        write_svm(path)
    elif format == "vw":
        write_vw(path)
    else:
        frame, options = table(), {"label": "clicked", "categorical": ["hour"], "scale": "standard"}
        if format == "parquet":
            frame.to_parquet(path, row_group_size=30)
        elif format == "jsonl":
            frame.to_json(path, orient="records", lines=True)
        else:
            frame.to_csv(path, index=False, sep="," if format == "csv" else "\t")
    blocks, _ = rows_of(path, count, **options)
    whole = list(open_source(path, **options))
    for name in ("values", "indices"):
        ours, theirs = (np.concatenate([getattr(b, name) for b in bs]) for bs in (blocks, whole))
        assert np.array_equal(ours, theirs)
    assert sum(map(len, blocks)) == sum(map(len, whole)) == 600


def test_newlines_in_quotes_are_no_ends(tmp_path: Path) -> None:
    lines = [f'{i % 2},"a{i}\nb ""{i}"" c\n",{i}' for i in range(200)]
    path = tmp_path / "x.csv"
    path.write_text("label,text,n\n" + "\n".join(lines) + "\n")
    blocks, plan = rows_of(path, 9, categorical=["text"])
    assert sum(map(len, blocks)) == 200
    names = {b.name_of(i) for b in blocks for i in range(b.nnz)}
    assert 'text=a199\nb "199" c\n' in names
    assert all(shard.pieces[0].start is not None for shard in plan.shards)


def test_compressed_text_stays_whole_and_small_files_go_together(tmp_path: Path) -> None:
    for i in range(6):
        write_svm(tmp_path / f"{i}.svm", n=50, seed=i)
    packed = tmp_path / "z.svm.gz"
    packed.write_bytes(gzip.compress(write_svm(tmp_path / "z.svm", n=400).read_bytes()))
    assert len(split(str(packed), shard_bytes=100)) == 1
    size = (tmp_path / "0.svm").stat().st_size
    found = split(str(tmp_path / "?.svm"), shard_bytes=3 * size)
    assert len({p.path for p in found[0].pieces}) >= 2
    assert sum(shard.bytes for shard in found) == sum(
        p.stat().st_size for p in tmp_path.glob("?.svm")
    )
    assert [shard.number for shard in found] == list(range(1, len(found) + 1))
    with pytest.raises(SettingsError, match="can be cut into 1 shards, not 2"):
        split(str(packed), count=2)


def test_what_cannot_be_split(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="standard input cannot be split"):
        split("-")
    with pytest.raises(DataError, match="no file matches"):
        split(str(tmp_path / "*.svm"))
    (tmp_path / "e.svm").write_text("")
    with pytest.raises(DataError, match="no examples in"):
        split(str(tmp_path / "e.svm"))
    with pytest.raises(SettingsError, match="at least 1"):
        split(str(tmp_path / "e.svm"), count=0)


def test_an_error_names_the_part_and_the_line_in_it(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    lines = [f"{i % 2},{i}" for i in range(3000)]
    lines[2500] = "1,oops"
    path.write_text("label,n\n" + "\n".join(lines) + "\n")
    plan = plan_for(str(path), ElasticNet(), count=4)
    found = []
    for shard in plan.shards:
        try:
            list(plan.read(shard, True))
        except DataError as error:
            found.append((shard, str(error)))
    [(shard, message)] = found
    start = shard.pieces[0].start
    before = path.read_bytes()[:start].count(b"\n")
    assert message.startswith(f"{path}[{start}:{shard.pieces[0].stop}]:{2501 - before + 1}:3: ")


def test_a_damaged_row_group_is_named(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "x.parquet"
    table().to_parquet(path, row_group_size=100)
    column = pq.read_metadata(path).row_group(3).column(1)
    whole = bytearray(path.read_bytes())
    at = column.dictionary_page_offset or column.data_page_offset
    whole[at : at + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    plan = plan_for(str(path), ElasticNet(), ReadOptions(label="clicked"), count=6)
    path.write_bytes(whole)
    import os

    os.utime(path, ns=(0, int(plan.shards[3].pieces[0].mark.split()[1])))
    with pytest.raises(DataError, match=r"x\.parquet: row group 3, column 'city'"):
        list(plan.read(plan.shards[3], True))


def test_a_shard_that_changes_is_noticed(tmp_path: Path) -> None:
    path = write_svm(tmp_path / "x.svm")
    plan = plan_for(str(path), ElasticNet(), count=3)
    with path.open("a") as file:
        file.write("1 1:1\n")
    with pytest.raises(DataError, match=r"shard 2.*has changed since"):
        list(plan.watched(plan.shards[1], True))


def test_row_groups_tell_rows_and_the_plan_does_not_depend_on_folders(tmp_path: Path) -> None:
    digests = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "x.parquet"
        table().to_parquet(path, row_group_size=50)
        plan = plan_for(str(path), ElasticNet(), ReadOptions(label="clicked"), count=4)
        assert sum(shard.rows for shard in plan.shards) == 600
        digests.add(plan.digest())
    assert len(digests) == 1
    other = plan_for(
        str(path), ElasticNet(), ReadOptions(label="clicked", ignore=["hour"]), count=4
    )
    assert other.digest() not in digests
