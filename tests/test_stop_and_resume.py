"""A run that is stopped, by Ctrl-C or an error, goes on and ends with the bits of one that never stopped."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from riata.errors import DataError, DivergenceError
from riata.learners import FTRL, ElasticNet, Learner, TruncatedGradient
from riata.record import Model, Progress
from riata.training import partial_model, train
from tests.runs import make, same, with_labels
from tests.streams import ListSource, problem


@pytest.fixture(autouse=True)
def ctrl_c_as_usual():
    """Who starts a program in the background may have told it to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


RUNS: list[dict[str, Any]] = [
    {},
    {"shuffle": 30, "random_state": 3},
    {"holdout": 0.25},
    {"shuffle": 30, "holdout": 0.1, "class_weight": {1: 2.0}, "patience": 2},
]


@pytest.mark.parametrize("options", RUNS)
@pytest.mark.parametrize("classes", [2, 3])
def test_stop_and_resume_equals_never_stopping(options: dict[str, Any], classes: int) -> None:
    block = problem(130, classes=classes)
    whole = train(ListSource(block, 16), make, passes=3, **options)
    for fail_pass in range(3):
        for fail_row in range(0, 130, 16):
            if (fail_pass, fail_row) == (0, 0):
                continue
            stopping = ListSource(
                block, 16, fail_at=(fail_pass, fail_row), error=KeyboardInterrupt()
            )
            try:
                stopped = train(stopping, make, passes=3, **options)
            except KeyboardInterrupt:  # before anything was learned: rows still being gathered
                assert (fail_pass, fail_row) < (0, 40)
                continue
            assert stopped.record.interrupted
            again = Model(
                ElasticNet.from_state(stopped.learner.parameters(), stopped.learner.state()),
                stopped.classes,
                type(stopped.record).from_json(stopped.record.to_json()),
            )
            assert same(whole, train(ListSource(block, 23), make, resume=again))


MADE: dict[str, Callable[[int], Learner]] = {
    "ftrl": lambda m: FTRL(outputs=m, l1=0.1),
    "truncated": lambda m: TruncatedGradient(outputs=m, gravity=0.01, period=7, decay=0.7),
    "sgd in a table": lambda m: ElasticNet(outputs=m, update="sgd", store="table", l1=1e-2),
    "hashed": lambda m: ElasticNet(outputs=m, store="hashed", bits=4, l1=1e-2),
}


@pytest.mark.parametrize("name", MADE)
def test_every_family_can_be_stopped(name: str) -> None:
    block = problem(130)
    whole = train(ListSource(block, 16), MADE[name], passes=3, shuffle=20)
    for stop in ((0, 64), (1, 0), (1, 48), (2, 128)):
        stopping = ListSource(block, 16, fail_at=stop, error=KeyboardInterrupt())
        stopped = train(stopping, MADE[name], passes=3, shuffle=20)
        again = type(stopped.learner).from_state(
            stopped.learner.parameters(), stopped.learner.state()
        )
        model = Model(again, stopped.classes, stopped.record)
        assert same(whole, train(ListSource(block), MADE[name], resume=model))


def test_resume_while_the_second_label_is_still_unknown() -> None:
    block = with_labels(problem(8), [1, 1, 1, 1, -1, -1, 1, 1])
    stopping = ListSource(block, 2, fail_at=(0, 2), error=KeyboardInterrupt())
    stopped = train(stopping, make)
    assert stopped.record.classes_open
    assert same(train(ListSource(block, 2), make), train(ListSource(block), make, resume=stopped))


def test_more_passes_later() -> None:
    block = problem()
    two = train(ListSource(block), make, passes=2, shuffle=50)
    four = train(ListSource(block), make, resume=two, passes=4)
    assert same(four, train(ListSource(block), make, passes=4, shuffle=50))
    assert same(four, train(ListSource(block), make, resume=four))  # nothing left to do


def test_resume_refuses_other_data_and_settings() -> None:
    block = problem(100)
    stopping = ListSource(block, 10, fail_at=(0, 80), error=KeyboardInterrupt())
    stopped = train(stopping, make, shuffle=10)
    with pytest.raises(ValueError, match="shuffle=10, not 20"):
        train(ListSource(block), make, shuffle=20, resume=stopped)
    with pytest.raises(DataError, match="not the data"):
        train(ListSource(block[:50]), make, resume=stopped)


def test_ctrl_c_while_learning_waits_for_the_block() -> None:
    block = problem(200)

    def press(progress: Progress) -> None:
        if progress.examples == 64:
            signal.raise_signal(signal.SIGINT)

    stopped = train(ListSource(block, 50), make, passes=2, on_progress=press)
    assert stopped.record.interrupted
    assert stopped.record.examples == stopped.learner.t == 100
    whole = train(ListSource(block), make, passes=2)
    assert same(whole, train(ListSource(block), make, resume=stopped))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_twice_is_no_less_exact() -> None:
    block = problem(200)

    def press(progress: Progress) -> None:
        if progress.examples == 64:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    stopped = train(ListSource(block, 50), make, on_progress=press)
    assert stopped.record.examples == stopped.learner.t == 64
    whole = train(ListSource(block), make)
    assert same(whole, train(ListSource(block), make, resume=stopped))


def test_in_a_thread() -> None:
    models: list[Model] = []
    block = problem(100)
    thread = threading.Thread(target=lambda: models.append(train(ListSource(block), make)))
    thread.start()
    thread.join()
    assert same(models[0], train(ListSource(block), make))


def test_ctrl_c_while_the_input_stalls() -> None:
    block = problem(100)

    class Stalled(ListSource):
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield block[:50]
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            threading.Event().wait(20)
            waited.append("Ctrl-C did not wake the reader")

    waited: list[str] = []
    assert train(Stalled(block), make).record.examples == 50
    assert not waited


def test_ctrl_c_that_also_kills_what_feeds_the_pipe() -> None:
    block = problem(100)

    class Dying(ListSource):
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield block[:50]
            raise DataError("cut short in mid-line")

    def press(progress: Progress) -> None:
        if progress.examples == 50:
            signal.raise_signal(signal.SIGINT)

    stopped = train(Dying(block), make, on_progress=press)
    assert stopped.record.interrupted
    assert stopped.record.examples == 50


def test_an_error_in_the_stream_loses_nothing() -> None:
    block = problem(100)
    source = ListSource(block, 10, fail_at=(1, 40), error=DataError("p.svm:41:3: not a number"))
    with pytest.raises(DataError, match=r"p\.svm:41:3") as caught:
        train(source, make, passes=2)
    model = partial_model(caught.value)
    assert model is not None
    assert model.record.examples == 140
    assert source.closed == 2
    assert same(
        train(ListSource(block), make, passes=2), train(ListSource(block), make, resume=model)
    )


def test_an_error_at_once_has_no_model() -> None:
    source = ListSource(problem(10), fail_at=(0, 0), error=DataError("p.svm:1:1: what?"))
    with pytest.raises(DataError) as caught:
        train(source, make)
    assert partial_model(caught.value) is None


def test_a_diverged_model_is_not_worth_keeping() -> None:
    block = problem(500, classes=0)
    steps = {"learning_rate": "constant", "feature_scale": "none"}
    with pytest.raises(DivergenceError) as caught:
        train(ListSource(block), lambda m: make(m, loss="squared", eta0=1e6, **steps), passes=100)
    assert partial_model(caught.value) is None
