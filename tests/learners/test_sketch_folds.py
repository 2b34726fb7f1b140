"""The cross-validated path of a sketch is that of as many exact fits, from shared passes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

import riata
from riata.errors import DataError
from riata.learners import Sketch
from riata.training import train
from tests.cli.helpers import riata as run
from tests.cli.helpers import write_problem
from tests.streams import ListSource, problem

GAMMAS = [40.0, 20.0, 10.0, 5.0, 2.5]


def rows(n: int = 600, d: int = 80) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = random_sparse(n, d, 0.15, format="csr", random_state=0, dtype=np.float64)
    w = np.zeros(d)
    w[:6] = 4 * rng.normal(size=6)
    return X, (X @ w + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sample", [2**20, 0], ids=["in memory", "from passes"])
def test_it_is_liblinears_path_on_the_same_folds(sample: int) -> None:
    X, y = rows()
    cv = StratifiedKFold(4)
    ours = riata.SketchClassifierCV(
        gamma=GAMMAS, cv=cv, penalize_intercept=True, tol=1e-9, sample=sample
    ).fit(X, y)
    theirs = LogisticRegressionCV(
        Cs=[1 / g for g in GAMMAS], penalty="l1", solver="liblinear", cv=cv, scoring="neg_log_loss",
        tol=1e-9, max_iter=2000,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(ours.loss_path_, -theirs.scores_[1], atol=2e-7)
    assert ours.gamma_min_ == pytest.approx(1 / theirs.C_[0])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert (ours.gaps_ <= 1e-9).all()
    assert len(ours.gaps_) == len(GAMMAS)


def test_it_does_not_matter_whether_folds_are_solved_in_memory_or_from_passes() -> None:
    block = problem(400)
    found = []
    for sample in (2**20, 500, 0):
        make = lambda m, sample=sample: Sketch(  # noqa: E731
            gamma="path", path_length=6, path_ratio=0.1, folds=3, sample=sample, tol=1e-8, outputs=m
        )
        model = train(ListSource(block, 64), make)
        curve = model.learner.curve
        assert curve is not None
        found.append(curve)
    for other in found[1:]:
        np.testing.assert_allclose(other.losses, found[0].losses, rtol=1e-5)
        np.testing.assert_array_equal(other.weights, found[0].weights)


def test_a_run_that_was_stopped_goes_on() -> None:
    block = problem(300)

    def make(m: int) -> Sketch:
        return Sketch(gamma=(9.0, 3.0, 1.0), folds=3, sample=0, outputs=m)

    whole = train(ListSource(block, 50), make)
    stops = [(p, 120) for p in range(0, whole.record.passes, 4)]
    for stop in stops:
        source = ListSource(block, 50, fail_at=stop, error=KeyboardInterrupt())
        model = train(source, make)
        again = pickle.loads(pickle.dumps(model))
        done = train(ListSource(block, 50), again.learner, resume=again)
        np.testing.assert_array_equal(done.learner.curve.losses, whole.learner.curve.losses)
        np.testing.assert_array_equal(done.learner.coef()[1], whole.learner.coef()[1])


def test_the_default_path_has_all_its_values() -> None:
    X, y = rows()
    model = riata.SketchClassifier(gamma="path", max_passes=8).fit(X, y)
    assert len(model.path_) == 20
    assert model.converged_


def test_passes_count_for_each_penalty() -> None:
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="after 1 passes"):
        riata.SketchClassifier(gamma=0.01, max_passes=1, sample=0).fit(X, y)
    learner = Sketch(gamma=(3.0, 1.0), max_passes=7)
    assert learner.planned_passes == 14


def test_one_standard_error_is_sparser() -> None:
    X, y = rows(1500)
    least = riata.SketchClassifierCV(folds=5).fit(X, y)
    sparse = riata.SketchClassifierCV(folds=5, select="1se").fit(X, y)
    assert sparse.gamma_ == sparse.gamma_1se_ >= least.gamma_ == least.gamma_min_
    assert np.count_nonzero(sparse.coef_) <= np.count_nonzero(least.coef_)
    at = least.gammas_.tolist().index(least.gamma_)
    np.testing.assert_array_equal(least.coef_, least.path_[at].coef)
    bound = least.mean_loss_.min() + least.se_loss_[at]
    first = np.flatnonzero(sparse.mean_loss_ <= bound)[0]
    assert sparse.gammas_[first] == sparse.gamma_1se_


def test_words_names_and_files(tmp_path: Path) -> None:
    path = tmp_path / "mail.csv"
    rng = np.random.default_rng(0)
    labels = rng.choice(["ham", "spam"], 300)
    words = np.where(labels == "spam", rng.choice(["buy", "hi"], 300, p=[0.8, 0.2]), "hi")
    path.write_text(
        "label,word,n\n"
        + "".join(f"{a},{b},{i % 7}\n" for i, (a, b) in enumerate(zip(labels, words, strict=True)))
    )
    model = riata.SketchClassifierCV(folds=4, path_length=5).fit(path)
    model.save(tmp_path / "m.riata")
    again = riata.load(tmp_path / "m.riata")
    assert list(again.predict([{"word": "buy", "n": 1}])) == ["spam"]  # type: ignore[attr-defined]
    assert again.model_.learner.curve is not None


def test_on_the_command_line(tmp_path: Path) -> None:
    data, out = tmp_path / "a.svm", tmp_path / "m.riata"
    write_problem(data, 300)
    run("train", data, "-o", out, "--method", "sketch", "--gamma", "path", "--folds", 5, "--select", "1se",
        "--path-length", 6, "-q")  # fmt: skip
    model = riata.load(out)
    curve = model.model_.learner.curve  # type: ignore[attr-defined]
    assert curve.losses.shape == (5, 6)
    run("evaluate", out, data)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"folds": 1}, "at least 2"),
        ({"folds": 3, "algorithm": "online"}, "where there are passes"),
        ({"folds": 3, "outputs": 3}, "two classes"),
        ({"select": "best"}, "select='best'"),
    ],
)
def test_what_cannot_be(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Sketch(**parameters)


def test_more_folds_than_examples() -> None:
    X, y = rows(40)
    with pytest.raises(DataError, match="has no examples"):
        riata.SketchClassifierCV(gamma=[5.0], folds=60).fit(X, y)


def test_sketches_with_folds_do_not_add_up() -> None:
    with pytest.raises(ValueError, match="do not add up"):
        Sketch(folds=3).merge(Sketch(folds=3))


@pytest.mark.parametrize(
    ("penalize", "gap", "sample"), [(False, 1000, 2**20), (True, 1000, 2**20), (False, 20_000, 0)]
)
def test_gaps_between_the_numbers_of_features_change_no_bit(
    penalize: bool, gap: int, sample: int
) -> None:
    X, y = rows()
    wide = csr_matrix((X.data, X.indices * gap, X.indptr), shape=(X.shape[0], X.shape[1] * gap))
    narrow, spread = (
        riata.SketchClassifierCV(
            gamma=GAMMAS, cv=4, penalize_intercept=penalize, sample=sample
        ).fit(x, y)
        for x in (X, wide)
    )
    assert narrow.loss_path_.tobytes() == spread.loss_path_.tobytes()
    assert narrow.history_ == spread.history_
    for a, b in zip(narrow.path_, spread.path_, strict=True):
        assert a.coef[0].tobytes() == b.coef[0][::gap].tobytes()
        assert np.count_nonzero(a.coef) == np.count_nonzero(b.coef)
