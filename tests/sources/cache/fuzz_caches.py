"""Damaged caches through the real reader: `python -m tests.sources.cache.fuzz_caches COUNT`.

A second number is the first seed. Small caches with bytes, or what their index says, changed; most are signed again, so
that every checksum is right. Reading may say DataError, and nothing else; what is read can be learned from or is
refused with a clear error. A program of its own: a finding may take the process with it, and then the last line
printed names the seed.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from riata import _core
from riata.convert import convert
from riata.errors import DataError
from riata.learners import FTRL, ElasticNet
from riata.sources import open_source
from riata.sources.cache.arrow_file import END, END_OF_STREAM, FOOTER_PAIRS, HEAD, MAGIC, footer
from riata.sources.cache.flatbuffer import metadata
from riata.sources.cache.writer import CHECKSUM, INDEX, signed
from tests.sources.fuzzing import main

STRANGE: tuple[Any, ...] = (
    0, 1, -1, 7, 64, 2**31 - 1, 2**31, 2**40, 2**62, 2**63, 2**64, -(2**63), 0.5, 1e300, None, True, "", "x",
    "labels weights", [], [0], {}, {"a": 1},
)  # fmt: skip


def seeds(folder: Path) -> dict[str, bytes]:
    """A small cache of each kind, by its name."""
    rng = random.Random(0)
    rows = [
        (rng.choice((-1, 1)), rng.randrange(1, 90), rng.randrange(100, 900), round(rng.random(), 3))
        for _ in range(50)
    ]
    texts = {
        "numbered.svm": [f"{y} {a}:1 {b}:{x}" for y, a, b, x in rows],
        "ones.svm": [f"{y} {a}:1 {b}:1" for y, a, b, _ in rows],
        "wide.svm": [f"{y} {a}:{x} {b + 2**40}:1" for y, a, b, x in rows],
        "named.vw": [f"{y} {abs(x) + 0.5} {x} | u{a} v{b}:{x}" for y, a, b, x in rows],
        "raw.vw": [f"{y} | u{a} \udcff{b}" for y, a, b, _ in rows],
        "columns.csv": ["label,a,x"] + [f"{y},u{a},{x}" for y, a, _, x in rows],
    }
    found = {}
    for name, lines in texts.items():
        path, cache = folder / name, folder / f"{name}.riata-cache"
        path.write_bytes("".join(f"{line}\n" for line in lines).encode(errors="surrogateescape"))
        convert(open_source(str(path)), str(cache), "cache")
        found[name] = cache.read_bytes()
    return found


def parts(content: bytes) -> tuple[bytearray, dict[str, Any]]:
    """What lies before the footer, and the index in it."""
    size, _ = END.unpack(content[-END.size :])
    start = len(content) - END.size - size
    index = json.loads(metadata(content[start : start + size], FOOTER_PAIRS)[INDEX])
    return bytearray(content[: start - len(END_OF_STREAM)]), index


def signed_again(body: bytearray, index: dict[str, Any], checksums: bool) -> bytes:
    """The file, its checksums those of what is in it."""
    places: list[list[tuple[int, ...]]] = [[], []]
    for kind, there in (("glossaries", places[0]), ("blocks", places[1])):
        some = index.get(kind)
        for where in some if isinstance(some, list) else []:
            if not isinstance(where, list) or len(where) < 4:
                continue
            if all(isinstance(n, int) and 0 <= n < 2**31 for n in where[:3]):
                start, head, size = where[:3]
                if checksums:
                    where[3] = _core.checksum(bytes(body[start : start + head + size]))
                there.append((start, head, size))
    pairs = {INDEX: json.dumps(index).encode(), CHECKSUM: bytes(16)}
    end = footer(places[0], places[1], pairs)  # type: ignore[arg-type]
    covered, digits = signed(end)
    end[covered : covered + 16] = digits
    return bytes(body + END_OF_STREAM + end + END.pack(len(end), MAGIC[:6]))


def change_index(index: dict[str, Any], rng: random.Random) -> None:
    """One value somewhere in it."""
    at: Any = index
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(at[key], dict | list) and at[key] and rng.random() < 0.9:
            at = at[key]
            continue
        what = rng.randrange(8)
        if what == 0:
            del at[key]
        elif what <= 3 and isinstance(at[key], int):
            at[key] += rng.choice([-64, -8, -1, 1, 8, 64])
        elif what == 4 and isinstance(at, list):
            at.append(rng.choice(at))
        else:
            at[key] = rng.choice(STRANGE)
        return


def change_bytes(data: bytearray, first: int, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(first, len(data))
        size = rng.choice([1, 1, 4, 8])
        new = rng.choice([b"\xff", b"\x00", b"\x7f", b"\x80", bytes([rng.randrange(256)])])
        data[at : at + size] = (new * size)[: len(data) - at]


def changed(content: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(5)
    if kind == 0:  # as an accident would leave it
        data = bytearray(content)
        change_bytes(data, 0, rng)
        return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data)
    body, index = parts(content)
    if kind in (1, 2):
        change_bytes(body, len(HEAD), rng)
    if kind in (2, 3, 4):
        for _ in range(rng.choice([1, 1, 2])):
            change_index(index, rng)
    return signed_again(body, index, checksums=rng.random() < 0.9)


def use(path: Path) -> None:
    ftrl, dense = FTRL(store="table"), ElasticNet(store="hashed", bits=8)
    for block in open_source(str(path)):
        assert len(block.indptr) == len(block) + 1
        labels = np.zeros(len(block)) if block.labels is None else block.labels > 0
        block = block.with_labels(labels.astype(np.float64), block.weights)
        for learner in (ftrl, dense):
            try:
                learner.learn(block)
                learner.score(block)
            except ValueError as error:
                if "offsets must be finite" in str(error):  # of learning: a file may hold them
                    raise DataError(str(error)) from None
                raise


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(seeds, changed, lambda _: ".riata-cache", use))
