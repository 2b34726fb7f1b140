"""Logs of clicks in columns, shaped like Criteo's: 13 numbers and 26 categories, generated.

From tab separated text and from Parquet to a model, against Vowpal Wabbit on the same examples in
its own format (the conversion is not counted for it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.paths import CACHE
from benchmarks.ratio import Ratio, Run, ratio

TITLE = "Clicks: tables to model"
ROWS = 1_000_000

SIZES: tuple[int, ...] = (
    1460, 583, 100_000, 20_000, 305, 24, 12_517, 633, 3, 93_145, 5_683, 100_000, 3_194,
    27, 14_992, 100_000, 10, 5_652, 2_173, 4, 100_000, 18, 15, 80_000, 105, 50_000,
)  # fmt: skip
"""Distinct values of the 26 categories: as Criteo's are, the largest cut to 100,000."""
PORTION = 100_000


def portion(rows: int, seed: int) -> pa.Table:
    """Some rows; the label follows from three of the categories."""
    random = np.random.default_rng(seed)
    columns: dict[str, pa.Array] = {}
    score = np.full(rows, -1.5)
    for i in range(13):
        values = np.round(np.log1p(np.floor(np.exp(random.normal(1.5, 1.5, rows)))), 3)
        columns[f"I{i + 1}"] = pa.array(values, mask=random.random(rows) < 0.15)
    for i, size in enumerate(SIZES):
        codes = (size * random.random(rows) ** 3).astype(np.int32)
        if i in (0, 6, 13):
            score += np.sin(codes.astype(float) * 12.9898) * 1.5
        texts = pa.array([f"{(x * 2654435761 + i * 97) & 0xFFFFFFFF:08x}" for x in range(size)])
        coded = pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=random.random(rows) < 0.05), texts
        )
        columns[f"C{i + 1}"] = coded.cast(pa.string())
    label = random.random(rows) < 1 / (1 + np.exp(-score))
    return pa.table({"label": pa.array(label.astype(np.int8)), **columns})


def make(rows: int) -> dict[str, Path]:
    """The files, made once."""
    import pyarrow.csv as csv

    from riata.convert import convert
    from riata.sources import open_source

    CACHE.mkdir(parents=True, exist_ok=True)
    paths = {kind: CACHE / f"clicks-{rows}.{kind}" for kind in ("tsv", "parquet", "vw")}
    if not all(path.exists() for path in paths.values()):
        options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
        with open(paths["tsv"], "wb") as text:
            writer: pq.ParquetWriter | None = None
            for start in range(0, rows, PORTION):
                table = portion(min(PORTION, rows - start), start)
                if writer is None:
                    writer = pq.ParquetWriter(paths["parquet"], table.schema)
                    text.write("\t".join(table.column_names).encode() + b"\n")
                writer.write_table(table)
                csv.write_csv(table, text, options)
            if writer is not None:
                writer.close()
        unsigned, signed = CACHE / "unsigned.vw", CACHE / "signed.vw"
        convert(open_source(paths["tsv"]), unsigned)
        with open(unsigned, "rb") as lines, open(signed, "wb") as out:  # it wants -1, not 0
            out.writelines(b"-1" + line[1:] if line[:1] == b"0" else line for line in lines)
        unsigned.unlink()
        signed.replace(paths["vw"])
    paths["whole"] = CACHE / f"clicks-{rows}-whole.parquet"
    if not paths["whole"].exists():  # one row group, as most people write it
        pq.write_table(pq.read_table(paths["parquet"]), paths["whole"])
    return paths


def riata(path: Path, names: bool) -> Callable[[], float]:
    """With the names of all features in a table, or, as Vowpal Wabbit does it, hashed to 22 bits."""
    from benchmarks.steps import SCHEDULE
    from riata.learners import ElasticNet
    from riata.sources import open_source
    from riata.training import train

    store: dict[str, Any] = {} if names else {"store": "hashed", "bits": 22}

    def run() -> float:
        learner = ElasticNet(l1=1e-6, l2=1e-6, eta0=0.1, **SCHEDULE, **store)
        return train(open_source(path, names=names), learner).record.progressive_loss or 0.0

    return run


def vowpal_wabbit(path: Path) -> Callable[[], float]:
    import vowpalwabbit

    def run() -> float:
        words = f"--data {path} --loss_function logistic --l1 1e-6 --l2 1e-6 -b 22 --sgd -l 0.1"
        space = vowpalwabbit.Workspace(arg_list=[*words.split(), "--power_t", "0.5", "--quiet"])
        loss = space.get_sum_loss() / space.get_weighted_examples()
        space.finish()
        return float(loss)

    return run


def ratios(run: Run) -> Iterator[Ratio]:
    paths = make(ROWS)
    losses: dict[str, float] = {}

    def keep(name: str, work: Callable[[], float]) -> Callable[[], None]:
        return lambda: losses.__setitem__(name, work())

    works = {
        "tsv": riata(paths["tsv"], names=False),
        "parquet": riata(paths["parquet"], names=False),
        "whole": riata(paths["whole"], names=False),
        "named": riata(paths["tsv"], names=True),
        "named parquet": riata(paths["parquet"], names=True),
    }
    try:
        works["vw"] = vowpal_wabbit(paths["vw"])
    except ImportError as error:
        yield Ratio("Vowpal Wabbit", None, why=f"not installed ({error})")
    found = run.turns({name: keep(name, work) for name, work in works.items()}, 2 * run.repeat)
    loss = f"loss {losses['tsv']:.4f}"
    if "vw" in found:
        note = f"loss {losses['vw']:.4f} / {losses['tsv']:.4f}"
        yield ratio("Vowpal Wabbit over TSV", found["vw"], found["tsv"], least=3, note=note)
        yield ratio("Vowpal Wabbit over Parquet", found["vw"], found["parquet"], least=3)
    yield ratio("TSV over Parquet", found["tsv"], found["parquet"], least=1, note=loss)
    yield ratio("TSV over Parquet of one row group", found["tsv"], found["whole"], least=1)
    yield ratio("TSV over Parquet, all names kept", found["named"], found["named parquet"])
