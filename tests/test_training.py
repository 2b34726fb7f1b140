from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata import batches
from riata.block import concatenate
from riata.errors import DataError
from riata.learners import ElasticNet, TruncatedGradient
from riata.record import Progress
from riata.training import evaluate, train
from tests.runs import make, same, with_labels
from tests.streams import ListSource, problem

# What is learned


def test_equals_the_learner_itself() -> None:
    block = problem()
    model = train(ListSource(block, 33), make, passes=2)
    learner = make(1)
    coded = block.with_labels((block.labels > 0).astype(float), None)  # type: ignore[operator]
    first = learner.losses(learner.learn(coded), coded.labels)  # type: ignore[arg-type]
    second = learner.losses(learner.learn(coded), coded.labels)  # type: ignore[arg-type]
    assert {k: v.tobytes() for k, v in learner.state().items()} == {
        k: v.tobytes() for k, v in model.learner.state().items()
    }
    assert model.record.progressive_loss == pytest.approx(np.mean([first, second]), rel=1e-12)
    assert [entry["loss"] for entry in model.record.history] == pytest.approx(
        [first.mean(), second.mean()], rel=1e-12
    )
    assert (model.record.examples, model.record.passes, model.record.position) == (1000, 2, 0)
    assert not model.record.interrupted


def test_a_model_that_nobody_has_is_gone_at_once() -> None:
    gc.collect()
    gc.disable()
    try:
        model = train(ListSource(problem(), 33), make, passes=2)
        learner = weakref.ref(model.learner)
        del model
        assert learner() is None
    finally:
        gc.enable()


@settings(deadline=None, max_examples=25)
@given(
    rows=st.integers(1, 200),
    shuffle=st.sampled_from([0, 1, 7, 100, 1000]),
    holdout=st.sampled_from([0.0, 0.1, 0.37]),
    watched=st.booleans(),
)
def test_where_blocks_begin_and_who_watches_changes_no_bit(
    rows: int, shuffle: int, holdout: float, watched: bool
) -> None:
    block = problem(200)
    options: dict[str, Any] = {"shuffle": shuffle, "holdout": holdout, "passes": 2}
    whole = train(ListSource(block, 200), make, **options)
    seen: list[int] = []
    watch: Callable[[Progress], None] | None = (
        (lambda p: seen.append(p.n_live)) if watched else None
    )
    other = train(ListSource(block, rows), make, **options, on_progress=watch)
    assert same(whole, other)
    assert bool(seen) == watched


def test_shuffle_is_a_permutation_of_every_chunk() -> None:
    block = problem(100)
    tagged = block.with_labels(np.arange(100.0), None)
    orders = []
    for number in (0, 1, 0):
        made = batches.Batches(ListSource(tagged, 13), lambda b: b, shuffle=40, random_state=5)
        labels = [b.labels[o] for b, o in made.of_pass(number)]  # type: ignore[index]
        assert [len(chunk) for chunk in labels] == [40, 40, 20]
        for chunk, start in zip(labels, (0, 40, 80), strict=True):
            assert sorted(chunk) == list(range(start, start + len(chunk)))
        orders.append(np.concatenate(labels).tolist())
    assert orders[0] == orders[2] != orders[1]
    assert orders[0] != sorted(orders[0])


def test_holdout_is_never_learned_and_evenly_spread() -> None:
    block = problem(1000)
    source = ListSource(block.with_labels(np.arange(1000.0), None), 77)
    made = batches.Batches(source, lambda b: b, fraction=0.1)
    learned = np.concatenate(
        [b.labels[o] if o is not None else b.labels for b, o in made.of_pass(0)]  # type: ignore[misc,index]
    )
    held = np.concatenate([b.labels for b in made.held_out])  # type: ignore[misc]
    assert len(held) == 100
    assert set(np.diff(held)) == {10.0}
    assert sorted([*learned, *held]) == list(range(1000))
    for _ in made.of_pass(1):
        pass
    assert sum(map(len, made.held_out)) == 100  # not kept twice


def test_holdout_in_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_HELD_OUT", 20)
    model = train(ListSource(problem(1000)), make, holdout=0.5)
    assert model.record.holdout is not None
    assert (model.record.holdout["examples"], model.record.examples) == (20, 980)


def test_holdout_of_its_own() -> None:
    block, held = problem(), problem(200, seed=0)
    model = train(ListSource(block), make, holdout=ListSource(held), passes=2)
    assert model.record.holdout == evaluate(model, iter(ListSource(held)))
    assert model.record.settings.holdout == "list of 200"
    assert model.record.examples == 1000


def test_early_stop() -> None:
    rng = np.random.default_rng(0)
    block = problem(300)
    noise = block.with_labels(rng.choice([-1.0, 1.0], 300), None)
    model = train(ListSource(noise), lambda m: make(m, l1=0.0), holdout=0.3, passes=50, patience=2)
    losses = [entry["holdout_loss"] for entry in model.record.history]
    assert model.record.stopped_early
    assert len(losses) < 50
    assert losses.index(min(losses)) == len(losses) - 3
    progressive = train(ListSource(noise), make, passes=3, patience=5)
    assert not progressive.record.stopped_early


# Labels


# Labels


@pytest.mark.parametrize(
    ("first", "then", "classes"),
    [
        ([-1, 1], [], [-1, 1]),
        ([0, 1], [], [0, 1]),
        ([0, 0], [1, 0], [0, 1]),
        ([-1, -1], [1, 1], [-1, 1]),
        ([1, 1], [-1, 1], [-1, 1]),
        ([1, 1], [0, 1], [0, 1]),
        ([1, 1], [1, 1], [0, 1]),
        ([1, 2], [2, 2], [1, 2]),
        ([3, 1, 2], [2, 1], [1, 2, 3]),
        ([2, 2], [1, 1], [1, 2]),
        ([1, 1], [2, 1], [1, 2]),
        ([1, -1], [0, 1], [-1, 0, 1]),
    ],
)
def test_classes_from_the_first_rows(first: Any, then: Any, classes: Any) -> None:
    labels = [*first, *then]
    block = with_labels(problem(len(labels)), labels)
    model = train(ListSource(block, len(first)), make)
    assert model.classes is not None
    assert model.classes.tolist() == classes
    assert model.learner.outputs == (1 if len(classes) == 2 else len(classes))


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        ([2, 2, 2, 2], None, r"all labels are 2: .* at least two classes.*--classes"),
        ([1, -1, 1, 2], [-1, 1], r"p\.svm:4: label 2 is none of the classes -1, 1: .*--classes"),
        ([1, 2, 3, 3], [1, 2], r"p\.svm:3: label 3 is none of the classes 1, 2"),
    ],
)
def test_a_label_that_is_no_class(labels: Any, classes: Any, message: str) -> None:
    block = with_labels(problem(len(labels)), labels)
    with pytest.raises(DataError, match=message):
        train(ListSource(block, 2), make, classes=classes)


def test_real_labels_are_pointed_to_regression() -> None:
    with pytest.raises(DataError, match="--loss squared"):
        train(ListSource(with_labels(problem(4), [0.5, 1, 2, 3])), make)


def test_scan_finds_late_classes() -> None:
    block = with_labels(problem(6), [1, 1, 1, 1, 1, 7])
    model = train(ListSource(block, 2), make, classes="scan")
    assert model.classes is not None
    assert model.classes.tolist() == [1, 7]
    with pytest.raises(DataError, match="only once"):
        train(ListSource(block, 2, repeatable=False), make, classes="scan")


def test_no_labels() -> None:
    with pytest.raises(DataError, match=r"p\.svm:1: .*no labels"):
        train(ListSource(replace(problem(5), labels=None)), make)


def test_class_weight_is_a_weight() -> None:
    block = problem(200)
    weights = np.where(block.labels == 1, 3.0, 0.5)  # type: ignore[comparison-overlap]
    by_class = train(ListSource(block), make, class_weight={1: 3.0, -1: 0.5})
    by_row = train(ListSource(replace(block, weights=weights)), make)
    assert {k: v.tobytes() for k, v in by_class.learner.state().items()} == {
        k: v.tobytes() for k, v in by_row.learner.state().items()
    }
    assert by_class.record.loss == by_row.record.loss
    with pytest.raises(ValueError, match="none of the classes"):
        train(ListSource(block), make, class_weight={5: 1.0})


def test_balanced() -> None:
    block = with_labels(problem(100), [1] * 20 + [-1] * 80)
    model = train(ListSource(block), make, class_weight="balanced")
    assert model.record.settings.class_weight == [(-1.0, 0.625), (1.0, 2.5)]
    assert model.record.loss.weight == pytest.approx(100)


def test_regression_takes_any_label() -> None:
    model = train(ListSource(problem(classes=0)), lambda m: make(m, loss="squared", eta0=0.05))
    assert model.classes is None
    assert model.learner.outputs == 1
    with pytest.raises(ValueError, match="regression"):
        train(
            ListSource(problem(classes=0)), lambda m: make(m, loss="squared"), class_weight={1: 2}
        )


# What cannot be done


def test_refusals() -> None:
    block = problem(10)
    with pytest.raises(DataError, match="only once"):
        train(ListSource(block, repeatable=False), make, passes=2)
    with pytest.raises(DataError, match="no examples"):
        train(ListSource(block[:0]), make)
    with pytest.raises(ValueError, match="3 classes need a learner with 3 outputs"):
        train(ListSource(problem(classes=3)), ElasticNet())
    for wrong in ({"passes": 0}, {"shuffle": -1}, {"holdout": 1.0}, {"patience": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            train(ListSource(block), make, **wrong)  # type: ignore[arg-type]


def test_learners_are_told_of_ends() -> None:
    """Rates decay after every pass; rounding comes once, and the holdout is scored after it."""
    block = problem(200)
    model = train(
        ListSource(block),
        lambda m: TruncatedGradient(outputs=m, eta0=0.2, decay=0.5, round_at_end=0.05),
        passes=2,
        holdout=0.2,
    )
    _, weights = model.learner.coef()
    assert len(weights) < model.record.history[-1]["live"]
    assert np.abs(weights).min() > 0.05
    by_hand = TruncatedGradient(eta0=0.2, decay=0.5, round_at_end=0.05)
    kept = batches.Batches(ListSource(block), lambda b: b, fraction=0.2)
    for number in range(2):
        for rows, order in kept.of_pass(number):
            coded = rows.with_labels((rows.labels > 0).astype(float), None)  # type: ignore[operator]
            by_hand.learn(coded, order)
        by_hand.end_pass()
    by_hand.finish()
    assert by_hand.coef()[1].tobytes() == weights.tobytes()
    assert model.record.holdout == evaluate(model, kept.held_out)


# Progress


def test_progress() -> None:
    seen: list[Progress] = []
    block = problem(300)
    model = train(ListSource(block, 100), make, passes=2, holdout=0.1, on_progress=seen.append)
    counts = [p.examples for p in seen]
    assert {2**k for k in range(10)} <= set(counts)
    assert counts == sorted(counts)
    assert [p.pass_number for p in seen if p.end_of_pass] == [1, 2]
    assert seen[-1].loss == model.record.progressive_loss
    assert seen[-1].holdout_loss == model.record.history[-1]["holdout_loss"]
    assert seen[-1].n_live == model.learner.n_live()
    middle = next(p for p in seen if p.examples == 256)
    losses = [p for p in seen if p.examples == 512]
    weight = losses[0].loss_weight - middle.loss_weight
    assert losses[0].loss_since(middle) == pytest.approx(
        (losses[0].loss_total - middle.loss_total) / weight
    )


def test_concatenated_source_order() -> None:
    """Learning two halves in one source equals learning their concatenation."""
    one, two = problem(60, seed=1), problem(60, seed=2)
    whole = concatenate([one, two])
    first = train(ListSource(whole), make)
    second = train(ListSource(two), train(ListSource(one), make).learner, classes=[-1, 1])
    for name, array in first.learner.state().items():
        assert array.tobytes() == second.learner.state()[name].tobytes()
