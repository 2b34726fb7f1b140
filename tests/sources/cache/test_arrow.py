"""A cache is an Arrow IPC file: others read the same from it, and every bit of it counts."""

from __future__ import annotations

import json
import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata.block import Block, NameListBlock, concatenate
from riata.convert import convert
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.cache import writer as cache_writer
from riata.sources.cache.arrow_file import ALIGN, END, HEAD, Layout, is_cache
from riata.sources.cache.flatbuffer import Scalar, flatbuffer, metadata
from riata.sources.recognise import recognise
from tests.sources.cache.test_file import read, write
from tests.sources.cache.test_source import SVM, VW, assert_same, take

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")


def block_of(rows: list[list[float]], **given: Any) -> Block:
    lengths = [len(row) for row in rows]
    flat = [value for row in rows for value in row]
    return Block(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.arange(len(flat), dtype=given.pop("dtype", np.int32)),
        np.array(flat, np.float32),
        **given,
    )


def with_names(block: Block, names: list[bytes]) -> Block:
    ends = np.cumsum([0, *map(len, names)]).astype(np.int64)
    text = np.frombuffer(b"".join(names), np.uint8)
    indices = block.indices.astype(np.int64)
    return replace(block, indices=indices, names=text, name_offsets=ends)


COLUMNS = {"label": "labels", "weight": "weights", "offset": "offsets", "line": "lines"}


def assert_arrow_agrees(path: Path, blocks: list[Block]) -> None:
    """What pyarrow finds in the file, bit by bit, is in the Blocks, and it finds nothing wrong."""
    with ipc.open_file(path) as file:
        batches = [file.get_batch(i) for i in range(file.num_record_batches)]
        assert len(batches) == len(blocks)
        for batch, block in zip(batches, blocks, strict=True):
            batch.validate(full=True)
            _compare(batch, block)


def _compare(batch: Any, block: Block) -> None:
    assert batch.num_rows == len(block)
    for column, field in COLUMNS.items():
        _compare_column(batch.column(column), getattr(block, field))
    first, last = int(block.indptr[0]), int(block.indptr[-1])
    short = block.indices.dtype == np.int32
    ones = bool((block.values == 1).all())
    lists = {
        "indices": block.indices[first:last] if short else None,
        "keys": None if short else block.indices[first:last],
        "values": None if ones else block.values[first:last],
    }
    for column, wanted in lists.items():
        _compare_list(batch.column(column), wanted, block)
    names = [block.name_of(k) for k in range(first, last)] if block.named else None
    found = [batch.column(column) for column in ("names", "raw_names")]
    assert sum(array.null_count < len(array) for array in found) <= 1
    if names is None:
        assert all(array.null_count == len(array) for array in found)
        return
    whole = next(array for array in found if array.null_count == 0)
    got = whole.flatten().dictionary_decode().to_pylist()
    assert [n if isinstance(n, str) else n.decode("utf-8", "replace") for n in got] == names


def _compare_column(array: Any, wanted: Any) -> None:
    if wanted is None:
        assert array.null_count == len(array)
    else:
        assert array.null_count == 0
        assert array.to_numpy(zero_copy_only=True).tobytes() == wanted.tobytes()


def _compare_list(array: Any, wanted: Any, block: Block) -> None:
    if wanted is None:
        assert array.null_count == len(array)
        return
    assert array.null_count == 0
    assert array.flatten().to_numpy(zero_copy_only=True).tobytes() == wanted.tobytes()
    np.testing.assert_array_equal(array.offsets.to_numpy(), block.indptr - block.indptr[0])


def odd_blocks() -> list[Block]:
    plain = block_of([[1, 1], [], [0.5]])
    return [
        plain,
        block_of([[1, 1, 1]], labels=np.array([2.0])),
        block_of([[3], [2, 1]], weights=np.array([1.0, 0.5]), dtype=np.int64),
        block_of([[], []], offsets=np.array([-1.5, np.nan]), lines=np.array([3, 2**40])),
        block_of([[]] * 700, labels=np.arange(700.0)),
        with_names(plain, [b"a", b"", "é".encode()]),
        with_names(plain, [b"a", b"b", b"c"]),
        with_names(plain, [b"a", b"caf\xe9", b"c"]),
        with_names(plain, [b"d", b"a", b"z"]),
        replace(plain, path="elsewhere"),
        Block(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)),
    ]


def test_others_read_the_same(tmp_path: Path) -> None:
    blocks = odd_blocks()
    path = write(tmp_path / "c", blocks)
    back = read(path)
    assert_arrow_agrees(path, back)
    for i, block in enumerate(back[:5]):
        assert_same(block, blocks[i])
    assert_same(concatenate(back[5:6]), concatenate(blocks[5:7]))
    assert_same(concatenate(back[6:7]), concatenate(blocks[7:9]))
    assert_same(back[7], blocks[9])
    assert_same(back[8], blocks[10])


def test_no_rows_at_all(tmp_path: Path) -> None:
    path = write(tmp_path / "c", [])
    with ipc.open_file(path) as file:
        assert file.num_record_batches == 0
        assert file.read_all().num_rows == 0
    assert read(path) == []


@pytest.mark.parametrize("name", ["x.svm", "x.vw"])
def test_others_read_what_was_text(tmp_path: Path, name: str) -> None:
    text, cache = tmp_path / name, tmp_path / "x.riata-cache"
    text.write_text(SVM if name == "x.svm" else VW)
    convert(open_source(text), cache)
    assert_arrow_agrees(cache, list(open_source(cache)))
    feather = pytest.importorskip("pyarrow.feather")
    assert feather.read_table(cache).num_rows == len(take(open_source(text)))


def test_polars_reads_it(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    blocks = odd_blocks()[:9]
    frame = polars.read_ipc(write(tmp_path / "c", blocks))
    whole = frame["values"].to_list()
    assert whole[:3] == [[1.0, 1.0], [], [0.5]]
    assert whole[3] is None
    assert frame["label"].drop_nulls().to_list() == [2.0, *np.arange(700.0)]
    assert frame["names"].drop_nulls().to_list() == [["a", ""], [], ["é"], ["a", "b"], [], ["c"]]
    assert frame["raw_names"].drop_nulls()[0].to_list() == [b"a", b"caf\xe9"]


def test_a_dictionary_in_several_parts(tmp_path: Path) -> None:
    n = 600_000
    blocks = []
    for start in (0, n, 2 * n):
        keys = np.arange(start, start + n) % 1_500_000
        text = np.frombuffer(np.char.mod(b"%07d", keys).tobytes(), np.uint8)
        block = Block(np.arange(0, n + 1, 100), keys, np.ones(n, np.float32))
        blocks.append(replace(block, names=text, name_offsets=np.arange(n + 1) * 7))
    path = write(tmp_path / "c", blocks)
    back = read(path)
    assert_same(concatenate(back), concatenate(blocks))
    with ipc.open_file(path) as file:
        at = 0
        for i, block in enumerate(back):
            assert isinstance(block, NameListBlock)
            names = file.get_batch(i).column("names").flatten().dictionary_decode()
            wanted = (np.arange(at, at + block.nnz) % 1_500_000).tolist()
            assert list(map(int, names.to_pylist())) == wanted
            at += block.nnz
        assert file.stats.num_dictionary_deltas >= 1


def test_arrays_begin_where_they_should(tmp_path: Path) -> None:
    """At multiples of 64 in the file, one behind another; views of what was read, not copies."""
    path = write(tmp_path / "c", odd_blocks())
    for block in read(path):
        for array in (block.indices, block.labels, getattr(block, "numbers", None)):
            if array is not None and len(array):
                assert array.ctypes.data % 16 == 0
                assert not array.flags.owndata
                assert not array.flags.writeable
    assert len(HEAD) % ALIGN == 0
    layout = Layout(3, 5, ("keys", "label"))
    assert {start % ALIGN for _, start, _ in layout.arrays().values()} == {0}
    assert len(layout.message()) % ALIGN == layout.body % ALIGN == 0


def test_every_single_bit_counts(tmp_path: Path) -> None:
    """Schema, messages, zeros between arrays, footer, end: nothing can change unnoticed."""
    blocks = [block_of([[0.5], [2]], labels=np.array([1.0, 0.0]))]
    blocks.append(with_names(block_of([[1, 1]]), [b"some", b"name"]))
    path = write(tmp_path / "c", blocks)
    good = path.read_bytes()
    random = np.random.default_rng(0)
    for at in range(0, len(good), 3):
        bad = bytearray(good)
        bad[at] ^= 1 << int(random.integers(8))
        path.write_bytes(bad)
        with pytest.raises(DataError, match="make it anew"):
            read(path)
    for size in [*range(0, len(good), 97), len(good) - 1]:
        path.write_bytes(good[:size])
        with pytest.raises(DataError, match="make it anew"):
            read(path)
    path.write_bytes(good + b"\0")
    with pytest.raises(DataError, match="make it anew"):
        read(path)


def test_an_index_that_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a checksum that is right all the same: an error, or the arrays that are there, never a crash."""
    blocks = [block_of([[0.5] * 40, [2]], labels=np.array([1.0, 0.0]))]
    blocks.append(with_names(block_of([[1, 1]]), [b"some", b"name"]))
    path = tmp_path / "c"
    random = np.random.default_rng(0)
    refused, dumps = 0, json.dumps

    def lying(index: dict[str, Any]) -> str:
        index = json.loads(dumps(index))
        which = str(random.choice(["blocks", "glossaries"]))
        entry = index[which][int(random.integers(len(index[which])))]
        at = int(random.integers(len(entry)))
        if isinstance(entry[at], int):
            entry[at] += int(random.choice([-64, -1, 1, 64, 1 << 40, -(1 << 40)]))
        elif at == 6 and which == "blocks":
            entry[at] = str(random.choice(["", "keys", "indices keys", "names", "label values"]))
        return dumps(index)

    monkeypatch.setattr(cache_writer.json, "dumps", lying)
    for _ in range(300):
        write(path, blocks)
        try:
            for block in read(path):
                assert len(block.indices) == len(block.values) == block.nnz
                assert block.named in (True, False)
        except (DataError, ValueError, KeyError, IndexError, TypeError, OverflowError):
            refused += 1
    assert refused > 200


def test_more_entries_than_arrow_can_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_writer, "MOST", 10)
    block = block_of([[1] * 4, [2] * 3, [3] * 3, [4] * 10, [], [5] * 9, [6, 7]])
    back = read(write(tmp_path / "c", [block, block[:1]]))
    assert [b.nnz for b in back] == [10, 10, 9, 6]
    assert_same(concatenate(back), concatenate([block, block[:1]]))
    with pytest.raises(DataError, match="row 0: more than 10 features"):
        write(tmp_path / "d", [block_of([[1] * 11])])


@pytest.mark.parametrize("name", ["x.arrow", "x.feather", "x.ipc", "x", "x.txt"])
def test_a_cache_under_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.vw").write_text(VW)
    plain = take(open_source(tmp_path / "t.vw"))
    to = None if name == "x.arrow" else "cache"
    convert(open_source(tmp_path / "t.vw"), tmp_path / name, to)
    assert_same(take(open_source(tmp_path / name)), plain)


def test_other_arrow_files_stay_what_they_are(tmp_path: Path) -> None:
    """Also those that somebody made from a cache, with whatever that said of itself."""
    cache = write(tmp_path / "c", [block_of([[1], [2]], labels=np.array([1.0, 0.0]))])
    table = ipc.open_file(cache).read_all().select(["label"]).append_column("x", pa.array([1, 2]))
    assert b"riata-cache" in table.schema.metadata
    path = tmp_path / "x.arrow"
    with ipc.new_file(path, table.schema) as out:
        out.write_table(table)
    assert recognise(path.read_bytes()) == "arrow"
    assert not is_cache(path.read_bytes())
    assert take(open_source(path, label="label")).nnz == 2
    (tmp_path / "t.svm").write_text("1 1:1\n")
    with pytest.raises(DataError, match="no cache, and a cache would replace it"):
        open_source(tmp_path / "t.svm", cache=path)


def test_flatbuffers_there_and_back() -> None:
    pairs = [(b"key", b"value"), (b"", b"x" * 99)]
    made = bytes(flatbuffer((Scalar("h", 4), None, [(b"a",)], Scalar("q", -(2**40)), pairs)))
    assert len(made) % 8 == 0
    assert metadata(made, 4) == dict(pairs)
    for slot in (1, 7):
        with pytest.raises(ValueError, match="empty slot|beyond the end"):
            metadata(made, slot)
    random = np.random.default_rng(0)
    for _ in range(3000):  # whatever the bytes: an error or an answer, and soon
        bad = bytearray(made)
        at = int(random.integers(0, len(bad) - 4))
        struct.pack_into("<I", bad, at, int(random.integers(0, 2 ** int(random.integers(1, 32)))))
        with suppress(ValueError):
            metadata(bytes(bad), 4)
    assert END.size == 10
