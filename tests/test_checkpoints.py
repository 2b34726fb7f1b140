"""Checkpoints of runs, and fingerprints of what they read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata import _core, model_file
from riata.batches import Watch
from riata.block import Block
from riata.errors import ChangedData, DataError, SettingsError
from riata.learners import FAMILIES, ElasticNet, Learner
from riata.record import Model
from riata.training import partial_model, safeguards, train
from riata.training.safeguards import Checkpoint, parse_every
from tests.streams import ListSource, problem


def make(outputs: int) -> Learner:
    return ElasticNet(outputs=outputs, l1=1e-3)


def digest(blocks: list[Block]) -> int:
    fingerprint = _core.Fingerprint()
    for b in blocks:
        fingerprint.add(b.indptr, b.indices, b.values, b.labels, b.weights, b.offsets, 0, len(b))
    return fingerprint.digest()


# Fingerprints


@settings(deadline=None, max_examples=30)
@given(cuts=st.lists(st.integers(0, 300), max_size=8), wide=st.booleans(), weights=st.booleans())
def test_the_fingerprint_does_not_depend_on_how_examples_are_held(
    cuts: list[int], wide: bool, weights: bool
) -> None:
    block = problem(300)
    edges = [0, *sorted(cuts), 300]
    parts = [block[a:b] for a, b in pairwise(edges)]
    for i, part in enumerate(parts):
        if wide and i % 2:
            part = replace(part, indices=part.indices.astype(np.int64))
        if weights and i % 2 == 0:
            part = replace(part, weights=np.ones(len(part)), offsets=np.zeros(len(part)))
        parts[i] = part
    assert digest(parts) == digest([block])


def test_the_fingerprint_sees_every_change() -> None:
    block = problem(300)
    ones = np.ones(300)
    changed = [
        block.with_labels(-block.labels, None),  # type: ignore[operator]
        block.with_labels(block.labels, ones * 2),
        block.with_labels(block.labels, np.where(np.arange(300) == 7, 2.0, 1.0)),
        block.with_labels(block.labels, np.where(np.arange(300) == 8, 2.0, 1.0)),
        replace(block, offsets=np.where(np.arange(300) == 8, 2.0, 0.0)),
        replace(block, indices=block.indices + 1),
        replace(block, indices=block.indices.astype(np.int64) + (1 << 40)),
        replace(block, values=np.nextafter(block.values, np.float32(9))),
        block.take(np.arange(300)[::-1]),
        block[:299],
        block[1:],
        block,
    ]
    moved = block.indptr.copy()
    row = int(np.flatnonzero(np.diff(moved) > 1)[3])
    moved[row + 1] -= 1  # an entry goes to the next row
    changed.append(replace(block, indptr=moved))
    assert len({digest([b]) for b in changed}) == len(changed)


def test_rows_outside_the_arrays_are_refused() -> None:
    block = problem(10)
    for start, stop in ((0, 11), (-1, 5)):
        with pytest.raises(ValueError, match="fit together"):
            _core.Fingerprint().add(
                block.indptr, block.indices, block.values, None, None, None, start, stop
            )
    broken = block.indptr.copy()
    broken[4] = 1 << 50
    with pytest.raises(ValueError, match="fit together"):
        _core.Fingerprint().add(broken, block.indices, block.values, None, None, None, 0, 10)


def test_fingerprints_of_another_kind_are_not_compared() -> None:
    model = train(ListSource(problem(2000), 64), make)
    for seen in (
        replace(model.record.seen, marks=[[1024, "00c0ffee00c0ffee"]]),
        replace(model.record.seen, place=[7, "1:00c0ffee00c0ffee"]),
    ):
        model.record.seen = seen
        with pytest.raises(DataError, match=r"saved by another version of Riata.*--initial"):
            train(ListSource(problem(2000), 64), make, resume=model, passes=2)


def test_marks_do_not_depend_on_the_cut() -> None:
    block = problem(5000, d=5)
    seen = []
    for rows in (1, 7, 1024, 5000):
        watch = Watch("p")
        watch.begin(1)
        for b in ListSource(block, rows):
            watch.see(b)
        watch.end()
        seen.append(watch.seen)
    assert seen[0] == seen[1] == seen[2] == seen[3]
    assert [m[0] for m in seen[0].marks] == [1024, 2048, 4096, 5000]


class Changing(ListSource):
    """Another Block from the second pass on."""

    def __init__(self, block: Block, then: Block) -> None:
        super().__init__(block, 100)
        self.then = then

    def __iter__(self) -> Any:
        if self.passes:
            self.block = self.then
        return super().__iter__()


@pytest.mark.parametrize("options", [{}, {"shuffle": 300}, {"holdout": 0.2}])
def test_data_that_changes_between_passes(options: dict[str, Any]) -> None:
    block = problem(2000)
    labels = np.where(np.arange(2000) == 1500, -block.labels, block.labels)  # type: ignore[operator]
    with pytest.raises(
        ChangedData, match=r"p\.svm: .* examples 1,025 to 2,000 of pass 2"
    ) as caught:
        train(Changing(block, block.with_labels(labels, None)), make, passes=3, **options)
    assert partial_model(caught.value) is None
    more = Changing(block, problem(2300))
    more.then = replace(block, path="q.svm")
    train(more, make, passes=2, **options)  # only the name has changed


def test_data_that_grows_or_shrinks_between_passes() -> None:
    block = problem(2300)
    with pytest.raises(
        DataError, match=r"p\.svm: .* 2,000 examples in pass 1, more in pass 2"
    ) as caught:
        train(Changing(block[:2000], block), make, passes=2)
    grown = partial_model(caught.value)
    assert grown is not None  # nothing of what is new was learned: it goes on with the old data
    assert grown.record.examples == 4000
    again = train(ListSource(block[:2000]), make, resume=grown)
    assert model_bytes(again) == model_bytes(train(ListSource(block[:2000]), make, passes=2))
    with pytest.raises(DataError, match="2,300 examples in pass 1, only 2,000 in pass 2"):
        train(Changing(block, block[:2000]), make, passes=2)


def model_bytes(model: Model) -> bytes:
    return b"".join(bytes(part) for part in model_file._to_parts(model))


# Resuming


@pytest.mark.parametrize("options", [{}, {"shuffle": 60}, {"holdout": 0.2}])
def test_resume_refuses_data_with_other_labels(options: dict[str, Any]) -> None:
    block = problem(400)
    flipped = block.with_labels(-block.labels, None)  # type: ignore[operator]
    stopping = ListSource(block, 50, fail_at=(0, 250), error=KeyboardInterrupt())
    stopped = train(stopping, make, **options)
    with pytest.raises(ChangedData, match=r"run to resume .*here, 2:[0-9a-f]{16} in list of 400"):
        train(ListSource(flipped, 70), make, resume=stopped)


def test_resume_with_more_passes_refuses_other_data_early() -> None:
    block = problem(3000)
    done = train(ListSource(block), make)
    seen: list[int] = []
    flipped = block.with_labels(-block.labels, None)  # type: ignore[operator]
    with pytest.raises(ChangedData, match="examples 1 to 1,024 have"):
        train(
            ListSource(flipped, 64),
            make,
            resume=done,
            passes=2,
            on_progress=lambda p: seen.append(p.examples),
        )
    assert max(seen) < 3000 + 1024


def test_what_was_wrong_may_be_mended() -> None:
    """An error while a Block is learned leaves no fingerprint of that Block."""

    class Picky(ElasticNet):
        def learn(self, block: Block, order: Any = None) -> Any:
            if 5.0 in block.values:
                raise DataError("too large")
            return super().learn(block, order)

    block = problem(3000)
    assert 5.0 not in block.values
    values = block.values.copy()
    values[block.indptr[1500]] = 5.0
    with pytest.raises(DataError, match="too large") as caught:
        train(ListSource(replace(block, values=values), 700), lambda m: Picky(outputs=m))
    stopped = partial_model(caught.value)
    assert stopped is not None
    assert stopped.record.examples == 1400
    again = Model(stopped.learner, stopped.classes, stopped.record)
    model = train(ListSource(block), make, resume=again)
    assert model.record == train(ListSource(block), lambda m: Picky(outputs=m)).record


# Checkpoints


class Killed(BaseException):
    """As SIGKILL: nobody gets to save anything."""


FAMILY_OPTIONS: dict[str, dict[str, Any]] = {
    "sketch": {"gamma": 3.0},
    "interior": {"l1": 1e-3},
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shuffle": 70, "holdout": 0.2, "class_weight": {1: 2.0}},
    ],
)
def test_a_killed_run_goes_on_from_its_checkpoint(
    family: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """With a checkpoint every 60 examples, whose bits are those of a run without."""
    block, path = problem(300), tmp_path / "c"
    passes = None if family == "sketch" else 3
    if family.endswith("regression"):
        options = {name: value for name, value in options.items() if name != "class_weight"}

    def learner(outputs: int) -> Learner:
        known = FAMILY_OPTIONS.get(family, {})
        return FAMILIES[family](outputs=outputs, **known)  # type: ignore[call-arg]

    never_stopped = train(ListSource(block, 64), learner, passes=passes, **options)
    whole = model_bytes(never_stopped)
    for stop in ((0, 128), (0, 290), (1, 64), (2, 200)):
        if stop[0] >= never_stopped.record.passes:
            break
        killed = ListSource(block, 40, fail_at=stop, error=Killed())
        with pytest.raises(Killed):
            train(killed, learner, passes=passes, **options, checkpoint=path, every=60)
        saved = model_file.load(path)
        assert saved.record.interrupted
        assert saved.record.examples % 60 == 0
        again = train(ListSource(block, 33), learner, resume=saved, checkpoint=path, every=60)
        assert model_bytes(again) == whole
        path.unlink()


def test_checkpoints_by_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(safeguards.time, "monotonic", lambda: now)
    saved: list[int] = []
    kept = Checkpoint(
        tmp_path / "c", "60s", wait=90, on_saved=lambda m: saved.append(m.record.examples)
    )

    class Slow(ListSource):
        def __iter__(self) -> Any:
            nonlocal now
            for block in super().__iter__():
                now += 10  # ten seconds a Block of 10 rows
                yield block

    train(Slow(problem(300), 10), make, classes=[-1, 1], checkpoint=kept)
    assert saved == [90, 150, 210, 270]


def test_a_disk_that_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    kept = Checkpoint(folder / "c", 100)

    def come_back(progress: Any) -> None:
        if progress.examples == 256:
            folder.mkdir()

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        train(ListSource(problem(500), 50), make, checkpoint=kept, on_progress=come_back)
    assert kept.saved == 3
    assert [str(w.message).partition(";")[0] for w in said] == [
        f"{folder / 'c'}: no checkpoint could be saved (No such file or directory)",
        f"{folder / 'c'}: the checkpoint could be saved again",
    ]


def test_no_checkpoint_before_resumed_data_is_known_to_be_the_same(tmp_path: Path) -> None:
    block, path = problem(400), tmp_path / "c"
    killed = ListSource(block, 40, fail_at=(0, 390), error=Killed())
    with pytest.raises(Killed):
        train(killed, make, shuffle=200, checkpoint=path, every=150)
    before = path.read_bytes()
    flipped = block.with_labels(-block.labels, None)  # type: ignore[operator]
    with pytest.raises(ChangedData):
        train(ListSource(flipped, 10), make, resume=model_file.load(path), checkpoint=path, every=1)
    assert path.read_bytes() == before


@pytest.mark.parametrize("every", ["0s", "x", "1 week", 0, -5, "5.5"])
def test_every_is_a_time_or_a_number(every: Any) -> None:
    with pytest.raises(SettingsError, match="60s"):
        parse_every(every)
    with pytest.raises(SettingsError, match="name its file"):
        train(ListSource(problem()), make, every="60s")


def test_sigterm_saves_the_checkpoint_of_a_program_and_ends_it(tmp_path: Path) -> None:
    script = f"""
import os, signal
from tests.streams import ListSource, problem
from riata.learners import ElasticNet
from riata.training import train

def stop(progress):
    if progress.examples == 128:
        os.kill(os.getpid(), signal.SIGTERM)

train(ListSource(problem(300), 50), lambda m: ElasticNet(outputs=m, l1=1e-3), on_progress=stop,
      checkpoint={str(tmp_path / "c")!r})
print("still here")
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert done.returncode == -signal.SIGTERM, done.stderr
    assert done.stdout == ""
    saved = model_file.load(tmp_path / "c")
    assert saved.record.examples == 150
    whole = train(ListSource(problem(300)), make)
    assert model_bytes(train(ListSource(problem(300)), make, resume=saved)) == model_bytes(whole)
