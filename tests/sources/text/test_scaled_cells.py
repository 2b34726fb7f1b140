"""Scaled numbers of CSV: the same bits whichever way a record is read, on every instruction set, and as JSON has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata import open_source
from riata.schema import Column, Schema

COLUMNS = 11
SCHEMA = Schema(
    (
        Column("y", "label"),
        Column("a", kind="number", centre=3.0, scale=2.0),  # many of its values are zero then
        Column("b", kind="number", centre=-0.1, scale=0.3),
        Column("c", kind="number", centre=0.0, scale=7.0),
        Column("city", kind="category"),
        Column("d", kind="number"),
        *(Column(f"a long name of column {k}", kind="number", centre=1e-3 * k, scale=1.7 + k)
          for k in range(COLUMNS)),
    )
)  # fmt: skip


def rows() -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)

    def number() -> Any:
        kind = rng.integers(0, 6)
        if kind == 0:
            return None
        if kind == 1:
            return round(float(rng.normal()), 12)
        return float(rng.integers(0, 6)) if kind < 5 else round(float(rng.normal(scale=99)), 2)

    made = []
    for n in range(400):
        whole = n % 3 == 0  # no cell is missing
        row: dict[str, Any] = {"y": n % 2}
        for column in SCHEMA.columns[1:]:
            value: Any = "Rome" if column.kind == "category" else number()
            row[column.name] = 3 if whole and value is None else value
        made.append(row)
    return made


def csv(quoted: bool) -> str:
    def cell(value: Any) -> str:
        text = "" if value is None else f"{value}"
        return f'"{text}"' if quoted else text

    lines = [",".join(map(cell, row.values())) for row in rows()]
    return ",".join(SCHEMA.names) + "\n" + "\n".join(lines) + "\n"


def read(data: Any, names: bool = True) -> list[dict[Any, bytes]]:
    found = []
    for block in open_source(data, schema=SCHEMA, names=names):
        for i in range(len(block)):
            at = range(int(block.indptr[i]), int(block.indptr[i + 1]))
            kept = {
                (block.name_of(k) if names else int(block.indices[k])): block.values[k].tobytes()
                for k in at
            }
            assert len(kept) == len(at)
            found.append(kept)
    return found


@pytest.mark.parametrize("names", [True, False])
def test_every_way_has_the_same_bits(tmp_path: Path, names: bool) -> None:
    for quoted in (False, True):
        (tmp_path / f"{quoted}.csv").write_text(csv(quoted))
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    expected = read(str(tmp_path / "x.jsonl"), names)
    assert any("a" not in row for row in read(rows()))
    assert read(str(tmp_path / "False.csv"), names) == expected
    assert read(str(tmp_path / "True.csv"), names) == expected


def test_every_instruction_set_has_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(csv(False))
    code = (
        "import sys, hashlib, warnings; from tests.sources.text.test_scaled_cells import read; "
        "print(hashlib.sha256(repr(read(sys.argv[1])).encode()).hexdigest())"
    )
    seen = set()
    for wanted in ("plain", "avx2", "avx512"):
        environment = os.environ | {"RIATA_INSTRUCTIONS": wanted}
        seen.add(
            subprocess.run(
                [sys.executable, "-c", code, str(path)], env=environment, capture_output=True,
                text=True, check=True, cwd=Path(__file__).parents[3],
            ).stdout
        )  # fmt: skip
    assert len(seen) == 1
