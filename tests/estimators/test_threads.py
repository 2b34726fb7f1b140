"""The threading contract: read, predict and save while others learn; nothing torn, nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import riata
from tests.estimators import stress

PROGRAM = Path(stress.__file__)


@pytest.mark.parametrize(
    "models", [stress.MODELS, stress.EVENTS, stress.PASSES], ids=["rows", "events", "passes"]
)
def test_every_method_against_every_other(models: dict[str, object]) -> None:
    """One after the other in one program: to start it takes longer than what it does with a model."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "0.4", *models], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.count("\n") == len(models)


def test_a_saved_model_is_of_one_moment(tmp_path: Path) -> None:
    """One feature of value 1 beside the intercept: without penalties both follow the same updates."""
    model = riata.ElasticNetClassifier(l1=0, l2=0, learning_rate="constant", eta0=0.05)
    n = 20_000
    x = sp.csr_matrix(np.ones((n, 1), dtype=np.float32))
    y = np.random.default_rng(0).integers(0, 2, n)
    model.partial_fit(x, y, classes=[0, 1])
    stop = threading.Event()

    def learn() -> None:
        while not stop.is_set():
            model.partial_fit(x, y)

    learner = threading.Thread(target=learn)
    learner.start()
    end = time.monotonic() + 1.5
    saved = set()
    while time.monotonic() < end or len(saved) < 3:
        model.save(tmp_path / "m.riata")
        back = riata.load(tmp_path / "m.riata")
        assert back.coef_[0, 0] == back.intercept_[0]
        assert back.t_ == back.model_.record.examples
        assert back.t_ % n == 0
        saved.add(back.t_)
        if time.monotonic() > end + 20:
            break
    stop.set()
    learner.join()
    assert len(saved) > 1


def test_no_event_is_lost_when_classes_join() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(5):
            model, threads = riata.FTRLClassifier(), 6
            start = threading.Barrier(threads)

            def go(
                t: int, model: riata.FTRLClassifier = model, start: threading.Barrier = start
            ) -> None:
                start.wait()
                for i in range(120):
                    model.learn_one({"w": f"x{(i * 7 + t) % 50}"}, f"c{(i // 20 + t) % 6}")

            all_ = [threading.Thread(target=go, args=(t,)) for t in range(threads)]
            for thread in all_:
                thread.start()
            for thread in all_:
                thread.join()
            assert model.model_.record.examples == model.t_ == threads * 120
            assert sorted(model.classes_) == [f"c{i}" for i in range(6)]
    finally:
        sys.setswitchinterval(interval)


def test_a_first_partial_fit_is_not_lost() -> None:
    x, y = np.eye(4), np.array([0, 1, 0, 1])
    for _ in range(20):
        model = riata.FTRLClassifier()
        start = threading.Barrier(4)

        def go(model: riata.FTRLClassifier = model, start: threading.Barrier = start) -> None:
            start.wait()
            model.partial_fit(x, y, classes=[0, 1])

        threads = [threading.Thread(target=go) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert model.t_ == 16


FORKS = """
import os, sys, threading, numpy as np, scipy.sparse as sp, riata
n = 3000
x = sp.csr_matrix(np.random.default_rng(0).random((n, 30)).astype(np.float32)); y = np.arange(n) % 2
model = riata.FTRLClassifier(store="table").partial_fit(x, y, classes=[0, 1])
stop = threading.Event()
def learn():
    while not stop.is_set():
        model.partial_fit(x, y)
def score():
    while not stop.is_set():
        model.predict(x)
threads = [threading.Thread(target=f) for f in (learn, score)]
[t.start() for t in threads]
outcomes = []
for _ in range(30):
    child = os.fork()
    if child == 0:
        code = 3
        try:
            model.predict(x[:5]); model.partial_fit(x[:5], y[:5]); riata.FTRLClassifier().partial_fit(x, y, [0, 1])
            code = 0
        except RuntimeError as error:
            code = 1 if "forked while another thread was learning" in str(error) else 2
        finally:
            os._exit(code)
    outcomes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set(); [t.join() for t in threads]
model.predict(x)
assert set(outcomes) <= {0, 1}, outcomes
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_works_or_says_why_not() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_predictions_wait_for_a_block_and_not_for_the_learning() -> None:
    """A partial_fit of dense rows learns Block by Block: predictions come in between."""
    model = riata.FTRLClassifier()
    rng = np.random.default_rng(0)
    x = rng.random((60_000, 60))
    y = rng.integers(0, 2, len(x))
    model.partial_fit(x[:10], y[:10], classes=[0, 1])
    learner = threading.Thread(target=lambda: model.partial_fit(x, y))
    learner.start()
    seen = {model.t_}
    while learner.is_alive():
        model.predict(x[:2])
        seen.add(model.t_)
    learner.join()
    assert model.t_ == 60_010
    assert len(seen) > 2
