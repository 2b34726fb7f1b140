"""Damaged Arrow and Parquet files through the real readers: `python -m tests.sources.table.fuzz_tables COUNT`.

A second number is the first seed. Small files with some bytes changed, cut out or cut off. Reading may say DataError,
and nothing else. A program of its own: a finding may take the process with it, and then the last line printed names
the seed.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from riata.sources import open_source
from tests.sources.fuzzing import main


def table() -> pa.Table:
    rng = np.random.default_rng(0)
    n = 60
    return pa.table(
        {
            "label": rng.integers(0, 2, n),
            "x": rng.normal(size=n),
            "small": pa.array(rng.integers(0, 100, n), pa.int16()),
            "city": pa.array([None if i % 7 == 0 else f"c{i % 5}" for i in range(n)]),
            "kind": pa.array([f"k{i % 3}" for i in range(n)]).dictionary_encode(),
            "words": pa.array([[f"w{i % 4}", "a"][: i % 3] for i in range(n)]),
            "flag": pa.array([i % 2 == 0 for i in range(n)]),
            "nested": pa.array([{"a": i, "b": f"t{i % 2}"} for i in range(n)]),
        }
    )


def seeds(folder: Path) -> dict[str, bytes]:
    """A small file of each kind, by its name."""
    whole = table()
    for codec in ("none", "snappy", "zstd", "gzip"):
        pq.write_table(whole, folder / f"{codec}.parquet", compression=codec, row_group_size=25)
    pq.write_table(whole.drop(["nested"]), folder / "plain.parquet", use_dictionary=False)
    with pa.ipc.new_file(str(folder / "file.arrow"), whole.schema) as writer:
        writer.write_table(whole, 20)
    with pa.ipc.new_stream(str(folder / "stream.arrows"), whole.schema) as stream:
        stream.write_table(whole, 20)
    pyarrow.feather.write_feather(whole, str(folder / "packed.feather"), compression="lz4")
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return {name: content for name, content in found.items() if content}


def changed(content: bytes, rng: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4])):
        # the ends matter most: that is where footers, schemas and lengths are
        edge = min(len(data), 1200)
        at = rng.choice(
            [rng.randrange(len(data)), rng.randrange(edge), len(data) - 1 - rng.randrange(edge)]
        )
        what = rng.randrange(6)
        if what == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[at] = rng.choice([0, 1, 127, 128, 255])
        elif what == 2:
            size = rng.choice([2, 4, 8])
            data[at : at + size] = rng.choice([b"\xff", b"\x00", b"\x7f"]) * size
        elif what == 3:
            del data[at : at + rng.choice([1, 4, 8, 64])]
        elif what == 4:
            data[at:at] = bytes(rng.choice([1, 4, 8]))
        else:
            data[at] = (data[at] + rng.choice([-1, 1])) % 256
        if len(data) < 16:
            break
    return bytes(data)


def use(path: Path) -> None:
    for block in open_source(str(path)):
        assert len(block.indptr) == len(block) + 1


if __name__ == "__main__":
    sys.exit(main(seeds, changed, lambda name: Path(name).suffix, use))
