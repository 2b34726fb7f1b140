"""Parts put together: in memory and from files, a piece at a time; those that do not belong together are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from riata.errors import ModelError
from riata.shards import MergeError, Rounds, Summary, merge, partial, plan_for, summary
from riata.shards.sums import add_up, merge_tree
from riata.sources import ReadOptions
from tests.shards.problems import table, write_svm, write_vw
from tests.shards.test_rounds import MAKERS


def parts_of(path: Path, name: str, count: int = 4, **how):
    plan = plan_for(str(path), MAKERS[name](1), count=count, **how)
    task = Rounds.new(plan, MAKERS[name]).task()
    return [partial(task, shard) for shard in plan.shards]


def test_a_summary_survives_its_file(tmp_path: Path) -> None:
    path, saved = write_vw(tmp_path / "x.vw"), tmp_path / "part"
    for name in ("sketch", "auto"):
        for part in parts_of(path, name):
            part.save(saved)
            again = Summary.load(saved)
            assert again.header == part.header
            assert again.arrays.keys() == part.arrays.keys()
            for key, array in part.arrays.items():
                assert np.array_equal(again.arrays[key], array)
    content = bytearray(saved.read_bytes())
    content[-1] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ModelError, match="checksum does not match"):
        Summary.load(saved)
    saved.write_bytes(content[:-9])
    with pytest.raises(ModelError, match="cut short"):
        Summary.load(saved)
    assert b"riata" in content
    assert b"pickle" not in content


@pytest.mark.parametrize("name", ["sketch", "auto", "ftrl"])
def test_files_are_merged_in_pieces(tmp_path: Path, name: str, monkeypatch) -> None:
    """With the bits of parts in memory, whether features have names or numbers."""
    for path in (write_vw(tmp_path / "x.vw"), write_svm(tmp_path / "x.svm")):
        parts = parts_of(path, name)
        whole = merge(parts)
        files = [tmp_path / f"part{i}" for i in range(len(parts))]
        for part, file in zip(parts, files, strict=True):
            part.save(file)
        for piece in (1 << 20, 1):  # at least 1,024 features are read at once
            monkeypatch.setattr(summary, "_PIECE", piece)
            found = merge_tree(files)
            assert found.header == whole.header
            assert found.arrays.keys() == whole.arrays.keys()
            for key, array in whole.arrays.items():
                assert found.arrays[key].tobytes() == array.tobytes(), key


def test_files_of_many_features_and_pieces(tmp_path: Path, monkeypatch) -> None:
    """The union of what each of three parts has, with names, against sums in a dict."""
    monkeypatch.setattr(summary, "_PIECE", 1)
    rng = np.random.default_rng(0)
    header = parts_of(write_svm(tmp_path / "x.svm"), "ftrl", 3)[0].header
    wanted: dict[int, np.ndarray] = {}
    files = []
    for number in (1, 2, 3):
        keys = np.unique(rng.integers(0, 30_000, 20_000))
        texts = [b"n" * (int(key) % 7) + str(key).encode() for key in keys]
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
        rows = rng.normal(size=(len(keys), 2))
        for key, row in zip(keys.tolist(), rows, strict=True):
            wanted[key] = wanted[key] + row if key in wanted else row
        own = header | {"numbers": [number], "fingerprints": {str(number): "0"}}
        names = np.frombuffer(b"".join(texts), dtype=np.uint8)
        arrays = {"keys": keys, "rows": rows, "names": names, "name_offsets": offsets}
        files.append(tmp_path / f"part{number}")
        Summary(own, arrays).save(files[-1])
    found = merge_tree(files).arrays
    assert found["keys"].tolist() == sorted(wanted)
    assert np.array_equal(found["rows"], np.array([wanted[key] for key in sorted(wanted)]))
    for k in rng.integers(0, len(wanted), 100):
        name = found["names"][found["name_offsets"][k] : found["name_offsets"][k + 1]].tobytes()
        assert name == b"n" * (int(found["keys"][k]) % 7) + str(found["keys"][k]).encode()
    assert found["name_offsets"][-1] == len(found["names"])
    last = Summary.load(files[2])
    last.arrays["keys"] = last.arrays["keys"][::-1].copy()
    with pytest.raises(MergeError, match="not in their order"):
        merge([Summary.load(files[0]), Summary.load(files[1]), last])


def test_damaged_files_are_not_merged(tmp_path: Path) -> None:
    parts = parts_of(write_vw(tmp_path / "x.vw"), "ftrl")
    files = [tmp_path / f"part{i}" for i in range(len(parts))]
    for part, file in zip(parts, files, strict=True):
        part.save(file)
    content = bytearray(files[2].read_bytes())
    content[-1] ^= 1
    files[2].write_bytes(content)
    with pytest.raises(ModelError, match="part2: damaged: the checksum does not match"):
        merge_tree(files)
    for name, array, said in (
        ("rows", np.full_like(parts[2].arrays["rows"], np.nan), "not finite"),
        ("keys", parts[2].arrays["keys"][:-1], "'rows' does not fit to 'keys'"),
        ("name_offsets", parts[2].arrays["name_offsets"][::-1].copy(), "does not ascend"),
    ):
        Summary(parts[2].header, parts[2].arrays | {name: array}).save(files[2])
        with pytest.raises(ModelError, match=said):
            merge_tree(files)
        with pytest.raises(ModelError, match=said):
            Summary.load(files[2])


def test_parts_that_do_not_belong_together(tmp_path: Path) -> None:
    path = write_svm(tmp_path / "x.svm")
    parts = parts_of(path, "bayesian")
    with pytest.raises(MergeError, match="shard 2 is there twice"):
        merge([*parts, parts[1]])
    for other, said in (
        (parts_of(path, "ftrl"), "different methods"),
        (parts_of(path, "bayesian", 5), "different data, options of reading or schemas"),
        (parts_of(write_svm(tmp_path / "y.svm", n=601), "bayesian"), "different data"),
    ):
        with pytest.raises(MergeError, match=said):
            merge([parts[0], other[1]])
    table().to_csv(tmp_path / "x.csv", index=False)
    of_table = [
        parts_of(tmp_path / "x.csv", "bayesian", options=ReadOptions(label="clicked", **more))
        for more in ({}, {"categorical": ["hour"]})
    ]
    with pytest.raises(MergeError, match="different data, options of reading or schemas"):
        merge([of_table[0][0], of_table[1][1]])
    course = Rounds.new(plan_for(str(path), MAKERS["bayesian"](1), count=4), MAKERS["bayesian"])
    with pytest.raises(MergeError, match="1 of 4 shards are missing: 3; make them with"):
        course.take(merge([parts[0], parts[1], parts[3]]))
    newer = Summary(parts[1].header | {"riata": "9.9"}, parts[1].arrays)
    with pytest.raises(MergeError, match="different versions of Riata"):
        merge([parts[0], newer])
    with pytest.raises(MergeError, match="nothing to merge"):
        merge([])


def test_a_tree_of_fixed_shape(tmp_path: Path) -> None:
    """Adding up neighbours first gives the same bits, as long as the groups are those of the tree."""
    path = write_svm(tmp_path / "x.svm", n=1000)
    parts = parts_of(path, "bayesian", 70)
    whole = merge(parts)
    by_hand = add_up([add_up(parts[:64]), add_up(parts[64:])])
    assert whole.header == by_hand.header
    for name, array in whole.arrays.items():
        assert array.tobytes() == by_hand.arrays[name].tobytes()


PEAK = """
import sys
from riata.shards.sums import merge_tree
def peak():
    return next(int(l.split()[1]) << 10 for l in open("/proc/self/status") if l.startswith("VmHWM"))
before = peak()
merge_tree(sys.argv[1:])
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is asked of /proc")
def test_a_merge_takes_the_memory_of_two_parts(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    header = parts_of(write_svm(tmp_path / "x.svm"), "ftrl", 4)[0].header
    known = np.unique(rng.integers(0, 2**62, 400_000))
    files = []
    for number in range(1, 5):
        keys = known[np.sort(rng.permutation(len(known))[: len(known) * 9 // 10])]
        offsets = np.arange(len(keys) + 1) * 15
        arrays = {
            "keys": keys, "rows": rng.normal(size=(len(keys), 5)), "name_offsets": offsets,
            "names": np.full(offsets[-1], 97, dtype=np.uint8),
        }  # fmt: skip
        own = header | {"numbers": [number], "fingerprints": {str(number): "0"}}
        files.append(tmp_path / f"part{number}")
        Summary(own, arrays).save(files[-1])
    words = [sys.executable, "-c", PEAK, *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 2 * files[0].stat().st_size
