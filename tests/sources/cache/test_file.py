"""What a cache file holds: every Block to the last bit, names once, and damage is always noticed."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata import _core, model_file
from riata.block import Block, NameListBlock, concatenate
from riata.convert import convert
from riata.errors import DataError
from riata.learners import FTRL, Bayesian, ElasticNet, InteriorPoint, Sketch
from riata.sources import open_source
from riata.sources.cache import writer as cache_writer
from riata.sources.cache.arrow_file import HEAD
from riata.sources.cache.file import CacheReader
from riata.sources.cache.writer import CacheWriter
from riata.training import train
from tests.sources.cache.test_source import VW, assert_same, take

SMALL = "".join(
    f"{i % 2 * 2 - 1} |w word{i % 50} x:{i % 7 + 0.25} c:3 |u user{i}\n" for i in range(300)
)


def write(path: Path, blocks: list[Block]) -> Path:
    with open(path, "wb") as file:
        writer = CacheWriter(file)
        for block in blocks:
            writer.write(block)
        writer.finish({"skipped": 0})
    return path


def read(path: Path) -> list[Block]:
    with open(path, "rb") as file:
        return [block for block, _ in CacheReader(file, str(path)).blocks()]


@pytest.fixture
def named(tmp_path: Path) -> Block:
    path = tmp_path / "x.vw"
    path.write_text(VW)
    return take(open_source(path))


@pytest.mark.parametrize(
    "values",
    [
        [1, 1, 1],
        [0.5, 2, 255],
        [1, 2, 255],
        [1, 2, 256],
        [1, 2, 3, 4, 5, 6, 0.5, 300] * 9,
        [1, 1, 1, 1, 1, 1, 1, 0.1] * 9,
        [-1, 1e-45, 3e38],
        [],
    ],
)
def test_values_in_few_bytes(tmp_path: Path, values: list[float]) -> None:
    n = len(values)
    labels = np.array([-0.0, 1.0]) if n == 3 else np.array([300.0, 0.25])
    block = Block(
        np.array([0, n // 2, n]),
        np.arange(n, dtype=np.int32),
        np.array(values, np.float32),
        labels,
        np.array([1.0, -128.0]),
        lines=np.array([7, 9]),
    )
    (back,) = read(write(tmp_path / "c", [block]))
    assert_same(back, block)
    assert back.labels is not None
    assert back.labels.tobytes() == labels.tobytes()
    assert back.values.tobytes() == block.values.tobytes()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.floats(width=32, allow_nan=False) | st.sampled_from([1.0, 2.0, 200.0]), max_size=40
    ),
    st.lists(st.floats() | st.integers(-200, 200).map(float), min_size=1, max_size=5),
)
def test_any_values(
    tmp_path_factory: pytest.TempPathFactory, values: list[float], labels: list[float]
) -> None:
    ends = np.linspace(0, len(values), len(labels) + 1).astype(np.int64)
    block = Block(
        ends, np.arange(len(values)), np.array(values, np.float32), np.array(labels, np.float64)
    )
    (back,) = read(write(tmp_path_factory.mktemp("any") / "c", [block]))
    assert back.values.tobytes() == block.values.tobytes()
    assert back.labels is not None
    assert block.labels is not None
    assert back.labels.tobytes() == block.labels.tobytes()


def test_each_name_is_there_once(tmp_path: Path, named: Block) -> None:
    path = write(tmp_path / "c", [named])
    (back,) = read(path)
    assert isinstance(back, NameListBlock)
    assert len(back.name_list) == len(np.unique(named.indices))
    assert path.read_bytes().count(b"w^word7") == 1 + 10  # word7, and word70 to word79
    assert_same(back, named)


def test_one_key_with_two_names(tmp_path: Path) -> None:
    """Somebody's own Parquet file may say so."""
    block = Block(
        np.array([0, 2, 4]),
        np.array([5, 6, 5, 6]),
        np.ones(4, np.float32),
        names=np.frombuffer(b"abcb", np.uint8),
        name_offsets=np.arange(5),
    )
    (back,) = read(write(tmp_path / "c", [block]))
    assert_same(back, block)


def test_names_beyond_one_name_list(tmp_path: Path) -> None:
    """A reader should not have to hold all names of a long stream."""
    n = 700_000
    blocks = []
    for start in range(0, 3 * n, n):
        text = np.char.mod(b"%07d", np.arange(start, start + n) % 1_300_000)
        keys = np.arange(start, start + n) % 1_300_000
        names = np.frombuffer(text.tobytes(), np.uint8)
        blocks.append(
            Block(
                np.arange(0, n + 1, 100),
                keys,
                np.ones(n, np.float32),
                names=names,
                name_offsets=np.arange(n + 1) * 7,
            )
        )
    path = write(tmp_path / "c", blocks)
    with open(path, "rb") as file:
        reader = CacheReader(file, "c")
        back = [block for block, _ in reader.blocks()]
    sizes = {id(block.name_list): len(block.name_list) for block in back}  # type: ignore[attr-defined]
    assert sorted(sizes.values()) == [n, 1_300_000]
    assert_same(concatenate(back), concatenate(blocks))


def test_a_block_with_a_name_list_is_a_block(tmp_path: Path, named: Block) -> None:
    (numbered,) = read(write(tmp_path / "c", [named]))
    rows = np.array([3, 1, 8000, 3])
    assert numbered.named
    for there, plain in (
        (numbered[5:17], named[5:17]),
        (numbered[17:5], named[17:5]),
        (numbered.take(rows), named.take(rows)),
        (numbered.take(rows[:0]), named.take(rows[:0])),
        (numbered.with_labels(None, None), named.with_labels(None, None)),
        (concatenate([numbered[:5], numbered[9:]]), concatenate([named[:5], named[9:]])),
    ):
        assert isinstance(there, NameListBlock)
        assert_same(concatenate([there, there]), concatenate([plain, plain]))
        assert [there.name_of(k) for k in range(min(3, there.nnz))] == [
            plain.name_of(k) for k in range(min(3, plain.nnz))
        ]
    for there in (
        pickle.loads(pickle.dumps(numbered)),
        replace(numbered, path=numbered.path),
        concatenate([numbered[:5], named[5:]]),
    ):
        assert type(there) is Block
        assert_same(there, named)
    nameless = replace(numbered, names=None, name_offsets=None)
    assert not nameless.named


@pytest.mark.parametrize("shuffle", [0, 1000])
@pytest.mark.parametrize(
    "make",
    [
        lambda m: ElasticNet(l1=1e-4, eta0=0.1, outputs=m),
        lambda m: ElasticNet(l1=1e-4, eta0=0.1, outputs=m, store="hashed", bits=10),
        lambda m: Bayesian(outputs=m),
        lambda m: Sketch(gamma=1.0),
        lambda m: InteriorPoint(loss="logistic"),
        lambda m: FTRL(outputs=m),
    ],
)
def test_the_same_bits_as_from_text(tmp_path: Path, make: Any, shuffle: int) -> None:
    path = tmp_path / "x.vw"
    path.write_text(SMALL * 5)
    saved = []
    for cache in (None, True, True):  # text; made; found
        model = train(open_source(path, cache=cache), make, passes=3, shuffle=shuffle, holdout=0.1)
        model_file.save(model, tmp_path / "m")
        saved.append((tmp_path / "m").read_bytes())
    assert saved[0] == saved[1] == saved[2]


@pytest.mark.parametrize("suffix", [".vw", ".svm", ".parquet", ".riata-cache"])
def test_converted_as_if_from_text(tmp_path: Path, named: Block, suffix: str) -> None:
    """Whatever a named cache becomes is what its text would have become."""
    text, cache = tmp_path / "x.vw", tmp_path / "x.riata-cache"
    convert(open_source(text), cache)
    files = []
    for name, source in (("a", text), ("b", cache)):
        result = convert(open_source(source, block_rows=1000), tmp_path / f"{name}{suffix}")
        files.append(concatenate(list(open_source(tmp_path / f"{name}{suffix}"))))
        assert result.entries == named.nnz
        if result.names_file is not None:
            files.append(Path(result.names_file).read_bytes())
    half = len(files) // 2
    assert_same(files[0], replace(files[half], path=files[0].path))
    assert files[1:half] == files[half + 1 :]


def test_every_flipped_byte_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each section: head, Blocks, name_list, index, end. With and without checksums, never a crash."""
    monkeypatch.setattr(cache_writer, "ENOUGH", 3000)
    (tmp_path / "x.vw").write_text(SMALL)
    (tmp_path / "x.svm").write_text("".join(f"1 {i + 1}:{i % 9}.5\n" for i in range(200)))
    blocks = [take(open_source(tmp_path / name)) for name in ("x.vw", "x.svm")]
    pieces = [block[i : i + 50] for block in blocks for i in range(0, len(block), 50)]
    path = write(tmp_path / "c", pieces)
    good, wanted = path.read_bytes(), concatenate(read(path)[:-1])
    random = np.random.default_rng(0)
    noticed = 0
    for turn in range(700):
        bad = bytearray(good)
        at = int(random.integers(len(bad)))
        bad[at] ^= 1 << int(random.integers(8))
        if turn % 10 == 0:
            del bad[at:]
        path.write_bytes(bad)
        try:
            back = read(path)
        except DataError as error:
            noticed += "make it anew" in str(error) or "too short" in str(error)
        else:
            assert_same(concatenate(back[:-1]), wanted)  # bytes between arrays mean nothing
        _read_unchecked(path, monkeypatch)
    assert noticed > 450


def _read_unchecked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all checksums were right: learners may say no, and nothing else may happen."""
    with monkeypatch.context() as patch:
        patch.setattr(
            CacheReader,
            "_section",
            lambda self, start, head, body, _: self._read(start, head + body)[head:],
        )
        try:
            for block in read(path):
                assert len(block.indices) == len(block.values)
                ElasticNet(store="table").learn(block)
        except (DataError, ValueError, ArithmeticError):
            pass


def test_what_is_not_inside_is_refused(named: Block) -> None:
    offsets = named.name_offsets
    assert named.names is not None
    assert offsets is not None
    name_numbers = _core.NameNumbers()
    numbers = name_numbers.number(named.indices, named.names, offsets)
    names, ends = name_numbers.arrays()
    name_list = _core.NameList(names, ends)
    text, where = name_list.names(numbers)
    np.testing.assert_array_equal(text, named.names)
    np.testing.assert_array_equal(where, offsets)
    for bad in (numbers + np.uint32(len(name_list)), np.array([2**32 - 1], np.uint32)):
        with pytest.raises(ValueError, match="a number of no feature"):
            name_list.names(bad)
    for shifted in (ends + 1, ends[::-1].copy(), ends[:-1], np.maximum(ends, 1)):
        with pytest.raises(ValueError, match="fit together"):
            _core.NameList(names, shifted)
    for shifted in (offsets + 1, offsets[::-1].copy(), offsets[1:]):
        with pytest.raises(ValueError, match="fit together"):
            _core.NameNumbers().number(named.indices, named.names, shifted)
    rows = np.array([0, 2, 2, 5], np.int32)
    assert _core.rows_of(rows, 5).tolist() == rows.tolist()
    for bad in (rows - 1, rows + 1, rows[::-1].copy(), rows[:0], rows * -1, rows[:-1]):
        with pytest.raises(ValueError, match="fit together"):
            _core.rows_of(bad, 5)


OLD = [
    b"riata-cache-2\n\0\0" + bytes(4000) + b"riata-cache-2\n\0\0",
    HEAD.replace(b"riata-cache\0\1\0\0\0" + b"4", b"riata-cache\0\1\0\0\0" + b"3") + bytes(900),
]


@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("named", [False, True])
def test_a_cache_of_another_version(tmp_path: Path, named: bool, old: bytes) -> None:
    assert not old.startswith(HEAD)
    text = tmp_path / ("x.vw" if named else "x.svm")
    text.write_text(SMALL if named else "1 1:1\n0 2:1\n")
    plain = take(open_source(text))
    source = open_source(text, cache=True)
    take(source)
    cache = Path(f"{text}.riata-cache")
    cache.write_bytes(old)
    with pytest.raises(DataError, match="another version of riata"):
        open_source(cache)
    assert_same(take(open_source(text, cache=True)), plain)
    assert cache.read_bytes().startswith(HEAD)
    assert_same(take(open_source(cache)), plain)
