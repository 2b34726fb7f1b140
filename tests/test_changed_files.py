"""Files that change while they are learned from, in every format of text."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from riata.errors import DataError
from riata.learners import ElasticNet
from riata.sources import open_source
from riata.training import train

FORMATS = ("svm", "vw", "csv", "jsonl")


def lines(format: str, rows: int, flip: int | None = None, seed: int = 0) -> list[str]:
    """Rows of the same length, one label changed on request."""
    rng = random.Random(seed)
    made = [] if format != "csv" else ["label,a,x"]
    for i in range(rows):
        label, a, x = rng.choice((-1, 1)), rng.randrange(100, 999), rng.randrange(100, 999)
        label = -label if i == flip else label
        made.append(
            {
                "svm": f"{label:+d} {a}:1 1000:0.{x}",
                "vw": f"{label:+d} | u{a} x:0.{x}",
                "csv": f"{label:+d},u{a},0.{x}",
                "jsonl": json.dumps({"label": label, "a": f"u{a}", "x": x / 1000}),
            }[format]
        )
    return made


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("change", ["append", "flip", "replace", "cut"])
def test_a_file_that_changes_between_passes(format: str, change: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.{format}" for name in ("one", "two", "three")]
    for seed, path in enumerate(paths):
        path.write_text("\n".join(lines(format, 900, seed=seed)) + "\n")
    changed = {
        "append": lines(format, 900, seed=1) + lines(format, 50, seed=7)[1:],
        "flip": lines(format, 900, flip=800, seed=1),
        "replace": lines(format, 900, seed=8),
        "cut": lines(format, 850, seed=1),
    }[change]

    def between(progress: Any) -> None:
        if progress.end_of_pass and progress.pass_number == 1:
            paths[1].write_text("\n".join(changed) + "\n")

    source = open_source([str(path) for path in paths])
    with pytest.raises(DataError, match="pass 2|changed|cut short") as caught:
        train(source, lambda m: ElasticNet(outputs=m), passes=3, on_progress=between)
    assert "two." in str(caught.value) or change in ("append", "cut")
