"""Random grids, learned side by side: every setting of every fold has the bits that it has alone."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from riata.block import Block
from riata.errors import DataError
from riata.sweeping import Job
from riata.sweeping.banks import BankSet
from riata.sweeping.folds import FoldOf
from riata.sweeping.memory import estimate
from riata.sweeping.unit_sets import Unit
from tests.streams import ListSource, problem
from tests.sweeping.test_sweep import alone, same_state

CASES = 24
INSTRUCTIONS = ("plain", "avx2", "avx512")


def named(block: Block) -> Block:
    """The same features by names whose keys are what their numbers were, spread out."""
    words = [f"feature {i}".encode() for i in block.indices.tolist()]
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    return Block(
        block.indptr, block.indices.astype(np.int64) * 7919 + 5, block.values, labels=block.labels,
        weights=block.weights, offsets=block.offsets,
        names=np.frombuffer(b"".join(words), np.uint8), name_offsets=offsets,
    )  # fmt: skip


def random_rows(rng: np.random.Generator, classes: int) -> Block:
    block = problem(220, d=int(rng.integers(5, 60)), classes=classes, seed=int(rng.integers(1000)))
    scales = (10.0 ** rng.integers(-3, 4, 64)).astype(np.float32)
    values = block.values * scales[block.indices]
    values[rng.random(len(values)) < 0.02] = 0
    rows = Block(
        block.indptr, block.indices, values, labels=block.labels,
        weights=rng.choice([0.0, 0.5, 1.0, 3.0], 220) if rng.random() < 0.5 else None,
        offsets=rng.normal(size=220) if classes != 3 and rng.random() < 0.4 else None,
    )  # fmt: skip
    return named(rows) if rng.random() < 0.4 else rows


def some(rng: np.random.Generator, values: Any) -> list[Any]:
    kept = [value for value in values if rng.random() < 0.7]
    return kept or [values[0]]


def random_grid(rng: np.random.Generator, classes: int) -> tuple[str, dict[str, Any]]:
    grid: dict[str, Any] = {"eta0": some(rng, [0.05, 0.25, 2.0])}
    method = str(rng.choice(["elastic-net", "truncated"]))
    if method == "elastic-net":
        grid |= {"update": str(rng.choice(["fobos", "sgd"]))}
        grid |= {"l1": some(rng, [0.0, 1e-6, 1e-3, 0.05]), "l2": some(rng, [0.0, 1e-6, 0.1])}
    else:
        grid |= {"update": str(rng.choice(["truncate", "round"]))}
        grid |= {"gravity": some(rng, [0.0, 1e-3, 0.1]), "theta": some(rng, [0.05, 1e9])}
        grid |= {"period": some(rng, [1, 5]), "decay": some(rng, [1.0, 0.5])}
    if rng.random() < 0.3:
        grid["feature_scale"] = "none"
    if rng.random() < 0.4:
        grid["normalize"] = str(rng.choice(["l2", "sqrt_nnz"]))
    if rng.random() < 0.2:
        grid["fit_intercept"] = False
    if rng.random() < 0.3:
        grid["learning_rate"] = ["adagrad", "inv_t"]
        if "eta0" in grid and method == "elastic-net":
            grid["l2"] = [l2 for l2 in grid["l2"] if l2 < 0.1] or [0.0]
    if classes == 0:
        grid["loss"] = str(rng.choice(["squared", "huber"]))
    return method, grid


def swept(seed: int) -> tuple[Job, Block, dict[str, Any], int | None]:
    rng = np.random.default_rng(seed)
    classes = int(rng.choice([0, 2, 2, 3]))
    method, grid = random_grid(rng, classes)
    folds = 3 if rng.random() < 0.6 else None
    block = random_rows(rng, classes)
    job = Job(grid, method, folds=folds, threads=int(rng.integers(1, 3)))
    options: dict[str, Any] = {"passes": int(rng.integers(1, 4))}
    job.run(ListSource(block, int(rng.integers(20, 230))), **options)
    return job, block, options, folds


@pytest.mark.parametrize("seed", range(CASES))
def test_random_grids_have_the_bits_of_single_trainings(seed: int) -> None:
    job, block, options, folds = swept(seed)
    assert job.columns is not None
    fold_of = None if folds is None else FoldOf(folds).of(block, 0)[0]
    for s, setting in enumerate(job.settings):
        if not job.columns.alive[s]:
            continue
        single = alone(ListSource(block), setting.family, dict(setting.parameters), **options)
        same_state(job.columns.learner_of(s), single.learner)
        assert job.columns.live_of(s) == single.learner.n_live()
        if fold_of is None:
            continue
        for fold in range(folds or 0):
            rest = block.take(np.flatnonzero(fold_of != fold))
            without = alone(ListSource(rest), setting.family, dict(setting.parameters), **options)
            unit = Unit(s, fold)
            same_state(job.columns._home[unit].learner(unit), without.learner)


def test_the_default_settings_lie_side_by_side() -> None:
    for method, grid in (
        ("elastic-net", {"l1": [0.0, 1e-6, 1e-5, 1e-4]}),
        ("truncated", {"gravity": [0.0, 1e-4, 1e-3, 1e-2]}),
    ):
        job = Job(grid, method, folds=3, threads=1)
        job.run(ListSource(problem(100)))
        assert job.columns is not None
        (unit_set,) = job.columns.unit_sets
        assert isinstance(unit_set, BankSet)
        assert not unit_set._left
    few = Job({"l1": [0.0, 1e-6, 1e-4]}, folds=3, threads=1)  # too few to be worth it
    few.run(ListSource(problem(100)))
    assert few.columns is not None
    assert not any(isinstance(unit_set, BankSet) for unit_set in few.columns.unit_sets)
    assert estimate(few.settings, 3).bytes_per_feature == 4 * 3 * 5 * 8


def test_threads_share_folds_where_settings_fill_what_is_taken_at_once() -> None:
    block = problem(300)
    found = []
    for threads in (1, 2, 3):
        job = Job({"l1": np.geomspace(1e-7, 1e-4, 8)}, folds=4, threads=threads)
        found.append(job.run(ListSource(block, 50)))
        assert job.columns is not None
        sets = job.columns.unit_sets
        assert [len({unit.setting for unit in own.units}) for own in sets] == [8] * threads
        assert sum(len(own.units) for own in sets) == 5 * 8
    first, *others = found
    for other in others:
        assert other.records == first.records
        same_state(other.model(3).learner, first.model(3).learner)


def test_where_a_setting_diverges_does_not_depend_on_threads() -> None:
    settings = [
        {
            "eta0": eta0,
            "l1": l1,
            "learning_rate": "constant",
            "feature_scale": "none",
            "loss": "squared",
        }
        for eta0 in (0.01, 50.0, 1e6)
        for l1 in (0.0, 1e-4)
    ]
    block = problem(400)
    first, *others = (
        Job(settings, folds=5, threads=threads).run(ListSource(block, 50)).records
        for threads in (1, 2, 3)
    )
    assert [bool(record["status"]) for record in first] == [False, False, True, True, True, True]
    for other in others:
        assert [record["status"] for record in other] == [record["status"] for record in first]
        assert [record["loss"] for record in other] == [record["loss"] for record in first]


def digest() -> str:
    import hashlib

    found = hashlib.sha256()
    for seed in range(0, CASES, 2):
        job, _, _, _ = swept(seed)
        assert job.columns is not None
        for unit, unit_set in job.columns._home.items():
            if job.columns.alive[unit.setting]:
                for name, array in sorted(unit_set.learner(unit).state().items()):
                    found.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def test_every_instruction_set_gives_the_same_bits() -> None:
    code = "from tests.sweeping.test_side_by_side import digest; print(digest())"
    found = set()
    for chosen in INSTRUCTIONS:
        environment = os.environ | {"RIATA_INSTRUCTIONS": chosen}
        environment.pop("RIATA_PLAIN", None)
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def test_a_model_of_a_sweep_learns_on_with_the_same_bits() -> None:
    block = named(problem(300))
    first, rest = block[:200], block[200:]
    found = Job({"l1": [1e-6, 1e-3], "eta0": [0.1, 0.5]}, folds=2)
    model = found.run(ListSource(first)).model(2)
    single = alone(ListSource(first), "elastic-net", dict(found.settings[2].parameters))
    assert rest.labels is not None
    rest = rest.with_labels((rest.labels > 0).astype(float), None)
    np.testing.assert_array_equal(model.learner.learn(rest), single.learner.learn(rest))
    same_state(model.learner, single.learner)


def test_what_a_sweep_of_default_settings_takes_is_what_is_said() -> None:
    block = problem(800, d=2500, seed=1)
    grid = {"l1": np.geomspace(1e-7, 1e-5, 32).tolist()}
    job = Job(grid, threads=1)
    job.run(ListSource(block))
    assert job.columns is not None
    (unit_set,) = job.columns.unit_sets
    said = estimate(job.settings, None).bytes_per_feature
    assert said == 32 * 16 + 8 + 16
    features = len(job.columns.learner_of(0).state()["scale_keys"])
    assert features > 1000
    assert unit_set._bank.bytes < 2 * said * features  # type: ignore[attr-defined]
    assert estimate(job.settings, 4).bytes_per_feature == 5 * said
    assert estimate(job.settings, None, threads=2).bytes_per_feature == said + 8 + 16
    hashed = Job(
        {"l1": [0.0, 1e-3], "store": "hashed"}
    ).settings  # each alone, in rows of five numbers
    assert estimate(hashed, None).bytes_per_feature == 2 * 5 * 8


def test_what_schedules_sum_up_is_said_before_a_sweep() -> None:
    grid = {"l1": [1e-7, 1e-6, 1e-5, 1e-4], "learning_rate": "inv_sqrt", "feature_scale": "none"}
    said = estimate(Job(grid).settings, 2)
    assert said.sums_per_feature == 3 * 4 * 8
    assert "and up to 96 more for what schedules have summed up" in said.text
    assert estimate(Job({"l1": [1e-7, 1e-6, 1e-5, 1e-4]}).settings, 2).sums_per_feature == 0


@pytest.mark.parametrize("far", [0, 1 << 40])
def test_features_that_die_leave_their_room_to_others(far: int) -> None:
    """Every example brings two features that no other has, and whose weights soon come to zero."""
    n = 15_000
    own = 10 + 2 * np.arange(n)
    indices = np.stack([np.arange(n) % 10, own, own + 1], axis=1).astype(np.int64)
    block = Block(
        labels=(np.arange(n) % 3 == 0).astype(np.float64),
        indptr=np.arange(0, 3 * n + 1, 3, dtype=np.int64),
        indices=far + indices.ravel(),
        values=np.ones(3 * n, dtype=np.float32),
    )
    grid = {
        "l1": [1e-3, 2e-3, 3e-3, 5e-3, 1e-2],
        "learning_rate": "constant",
        "eta0": [0.1],
        "feature_scale": "none",
    }
    job = Job(grid, threads=1)
    found = job.run(ListSource(block, 1000))
    for i, record in enumerate(found.records):
        single = alone(ListSource(block), "elastic-net", record["parameters"])
        same_state(found.model(i).learner, single.learner)
    assert job.columns is not None
    (unit_set,) = job.columns.unit_sets
    assert unit_set._bank.bytes < 1_400_000  # type: ignore[attr-defined]


def test_offsets_are_not_for_several_classes() -> None:
    block = problem(60, classes=3)
    given = Block(
        block.indptr, block.indices, block.values, labels=block.labels, offsets=np.ones(60)
    )
    with pytest.raises(DataError, match="a score for each: leave it out"):
        Job({"l1": [0.0, 1e-3]}).run(ListSource(given))


def test_pruning_leaves_the_bits_of_the_others() -> None:
    block = problem(6000, d=12, seed=3)
    job = Job({"eta0": [0.05, 0.2, 0.5], "l1": [0.0, 0.3]}, prune=True, folds=2, threads=1)
    found = job.run(ListSource(block, 500))
    assert any(record["status"].startswith("pruned") for record in found.records)
    for i, record in enumerate(found.records):
        if not record["status"]:
            single = alone(ListSource(block), "elastic-net", record["parameters"])
            same_state(found.model(i).learner, single.learner)
