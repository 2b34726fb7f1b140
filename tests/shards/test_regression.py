"""Bayesian regressions by shards: near one machine, whatever the noise, and the same by hand and from checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from riata.cli import run
from riata.learners import AutoRegression, BayesianRegression
from riata.shards import train_shards
from riata.sources import ReadOptions, open_source
from riata.training import evaluate, train
from tests.shards.problems import write_lines
from tests.shards.test_rounds import bytes_of

MAKERS = {
    "auto": lambda m: AutoRegression(outputs=m),
    "bayesian": lambda m: BayesianRegression(outputs=m),
    "student": lambda m: BayesianRegression(outputs=m, freedom=4.0, feature_scale="none"),
    "hashed": lambda m: AutoRegression(outputs=m, store="hashed", bits=12),
}


def write(path: Path, rows: int, seed: int, names: bool = False) -> Path:
    """Labels with a noise that has outliers; a twentieth of the rows are far off."""
    weights = np.random.default_rng(5).normal(size=40)
    rng = np.random.default_rng(seed)

    def line() -> str:
        chosen = np.sort(rng.choice(40, 6, replace=False))
        values = rng.normal(size=6).round(3)
        far = 20 * rng.normal() if seed == 0 and rng.random() < 0.05 else 0.0
        label = 3 + values @ weights[chosen] + rng.normal() + far
        pairs = zip(chosen, values, strict=True)
        cells = " ".join(f"x{j}:{v}" if names else f"{j + 1}:{v}" for j, v in pairs)
        return f"{label:.5f} {'|f ' if names else ''}{cells}"

    return write_lines(path, (line() for _ in range(rows)))


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_rounds_come_to_one_machine(tmp_path: Path, name: str, names: bool) -> None:
    kind = "vw" if names else "svm"
    path, test = (
        write(tmp_path / f"{what}.{kind}", rows, seed, names)
        for what, rows, seed in (("x", 2400, 0), ("t", 800, 1))
    )
    one = train(open_source(path), MAKERS[name])
    best = evaluate(one, open_source(test))
    assert best["r2"] > 0.7
    for shards in (1, 8):
        found: list[float] = []
        model = train_shards(
            str(path), MAKERS[name], shards=shards, rounds=3,
            on_progress=lambda m, to=found: to.append(evaluate(m, open_source(test))["r2"]),
        )  # fmt: skip
        if shards == 1:
            assert found[0] == pytest.approx(best["r2"], abs=1e-3)
        assert found[0] > best["r2"] - 0.03
        assert found[2] > best["r2"] - 0.005
        assert model.record.examples == 3 * 2400
        [here, there] = (
            m.learner.label_moments(next(iter(open_source(test)))) for m in (one, model)
        )
        if not names:  # how far off predictions may be
            assert np.sqrt(there[:, 1]).mean() == pytest.approx(
                np.sqrt(here[:, 1]).mean(), rel=0.15
            )


def test_settings_are_weighted_by_all_shards(tmp_path: Path) -> None:
    path = write(tmp_path / "x.svm", 2000, 0)
    learner = train_shards(str(path), MAKERS["auto"], shards=5).learner
    members = learner.members
    assert sum(m["weight"] for m in members) == pytest.approx(1)
    best = max(members, key=lambda m: m["weight"])
    assert best["noise"].startswith("student")  # outliers count for little
    assert best["prior_variance"] > 0.01


def test_a_resumed_run_and_parts_by_hand_have_the_same_bits(tmp_path: Path) -> None:
    path, saved = write(tmp_path / "x.vw", 900, 0, names=True), tmp_path / "c.riata"
    options = ReadOptions(scale="auto")
    whole = train_shards(str(path), MAKERS["auto"], shards=2, rounds=2, options=options)
    train_shards(str(path), MAKERS["auto"], shards=2, rounds=1, options=options, checkpoint=saved)
    again = train_shards(
        str(path),
        MAKERS["auto"],
        shards=2,
        rounds=2,
        options=options,
        resume=model_file.load(saved),
    )
    assert bytes_of(again) == bytes_of(whole)
    parts = [str(tmp_path / f"part{k}") for k in (1, 2)]
    for k, part in enumerate(parts, 1):
        words = ["train", str(path), "--loss", "squared", "--shard", f"{k}/2", "-o", part]
        assert run(words) == 0
    assert run(["merge", *parts, "-o", str(tmp_path / "m.riata")]) == 0
    first = model_file.load(saved).learner.state()
    for name, array in model_file.load(tmp_path / "m.riata").learner.state().items():
        assert np.array_equal(array, first[name]), name
