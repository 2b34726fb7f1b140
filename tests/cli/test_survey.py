"""riata train --shard --survey, and --surveyed: all shards are read by what all of them tell."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from riata import model_file
from riata.cli import run
from riata.learners import FAMILIES
from riata.shards import train_shards
from riata.sources import ReadOptions
from tests.cli.helpers import says

COLUMNS = ["--label", "y", "--text", "body", "--text-idf", "--buckets", "age:5"]
WORDS = (
    "free", "entry", "win", "cash", "prize", "now", "call", "home", "see", "you", "later", "lunch",
)  # fmt: skip


def write_table(path: Path, n: int = 1800) -> Path:
    """Texts, numbers whose scale changes, a category and a label that the first rows do not have, numbers to cut."""
    rng = random.Random(0)
    lines = ["body,size,country,age,y\n"]
    for i in range(n):
        spam = rng.random() < 0.4
        body = " ".join(rng.choices(WORDS[:7] if spam and rng.random() < 0.8 else WORDS, k=6))
        size = rng.gauss(5 if spam else 2, 1) * (1 if i < n // 2 else 20)
        country = rng.choice(["de", "us", "fr"]) if i < n - 100 else "nz"
        label = "spam" if spam else ("rare" if i > n - 300 and rng.random() < 0.3 else "ham")
        lines.append(f"{body},{size:.3f},{country},{rng.randint(0, 100)},{label}\n")
    path.write_text("".join(lines))
    return path


def parts(path: Path, head: str, *words: str, count: int = 3) -> list[str]:
    made = [str(path.parent / f"{head}{k}") for k in range(1, count + 1)]
    for k, part in enumerate(made, 1):
        assert run(["train", str(path), "--shard", f"{k}/{count}", "-o", part, "-q", *words]) == 0
    return made


@pytest.mark.parametrize("method", ["bayesian", "ftrl", "auto", "sketch"])
def test_the_walk(tmp_path: Path, method: str) -> None:
    """The model of surveyed shards, round by round, is that of one process that surveys and trains them."""
    path = write_table(tmp_path / "x.csv")
    survey, first, second = (str(tmp_path / name) for name in ("survey", "m1", "m2"))
    looks = parts(path, "look", *COLUMNS, "--survey")
    assert run(["merge", looks[2], looks[0], looks[1], "-o", survey, "-q"]) == 0
    made = parts(path, "part", *COLUMNS, "--method", method, "--surveyed", survey)
    assert run(["merge", *reversed(made), "-o", first, "-q"]) == 0
    made = parts(path, "part", "--resume", first)
    assert run(["merge", *made, "-o", second, "--resume", first, "-q"]) == 0
    options = ReadOptions(label="y", text=["body"], text_idf=True, buckets={"age": 5}, scale="auto")
    rounds = []
    whole = train_shards(
        str(path), lambda m: FAMILIES[method](outputs=m), options=options, shards=3, rounds=2,
        survey=True, classes="scan", on_progress=lambda model: rounds.append(model_file._to_parts(model)),
    )  # fmt: skip
    found = model_file.load(second)
    assert set(found.labels) == {"ham", "spam", "rare"}
    assert found.schema == whole.schema
    assert found.schema.text_weights.documents == {"body": 1800}
    assert found.schema.by_name["size"].scale > 10  # among the first rows it is 2
    if method == "sketch":  # which goes on until it is done
        assert found.record.passes == 2
        return
    for name, array in whole.learner.state().items():
        assert found.learner.state()[name].tobytes() == array.tobytes(), name
    assert run(["evaluate", second, str(path)]) == 0


def test_mistakes(tmp_path: Path) -> None:
    path, out = write_table(tmp_path / "x.csv"), str(tmp_path / "out")
    survey = str(tmp_path / "survey")
    looks = parts(path, "look", *COLUMNS, "--survey")
    words = "--label y --text body --method ftrl --classes ham,spam,rare"
    [part] = parts(path, "part", *words.split(), count=1)

    data = ["train", str(path), *COLUMNS, "-o", out]
    says([*data, "--shard", "1/3"], 2, "survey each first", "--survey")
    says(
        ["merge", *looks[:2], "-o", out], 1, "1 of 3 shards are missing: 3", "--shard 3/3 --survey"
    )
    says(["merge", *looks, looks[0], "-o", out], 1, "shard 1 is there twice")
    says(["merge", looks[0], part, "-o", out], 1, "different methods")
    says(["merge", *looks, "--resume", part, "-o", out], 1, "not a model")
    assert run(["merge", *looks, "-o", survey, "-q"]) == 0
    says([*data, "--shard", "1/4", "--surveyed", survey], 2, "another number of shards")
    says([*data, "--shard", "1/3", "--surveyed", looks[0]], 1, "2 of 3 shards are missing")
    says([*data, "--shard", "1/3", "--surveyed", part], 2, "not a survey")
    says([*data, "--shard", "1/3", "--survey", "--surveyed", survey], 2, "choose one")
    says([*data, "--surveyed", survey], 2, "give --shard")
    says([*data, "--dask", "local:2", "--surveyed", survey], 2, "goes with --shard")
    with path.open("a") as file:
        file.write("free lunch,3,de,4,ham\n")
    says([*data, "--shard", "1/3", "--surveyed", survey], 2, "a survey of other data")
    assert not Path(out).exists()
