"""Offsets, what is added to the score of an example and not learned: every learner against its reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from riata import model_file
from riata.block import concatenate
from riata.errors import DataError
from riata.learners import FTRL, Bayesian, ElasticNet, InteriorPoint, Sketch, TruncatedGradient
from riata.reference import sketch as reference_sketch
from riata.reference.bayesian import joint_step
from riata.sources import open_source
from riata.training import evaluate, train
from tests.learners import dense, sketches, test_bayesian, test_interior
from tests.problems import block_of, dense_rows, labels_for


def offsets_of(n: int, seed: int = 5) -> np.ndarray:
    offsets = np.random.default_rng(seed).normal(size=n) * 2
    offsets[::4] = 0
    return offsets


LINEAR = [
    ElasticNet(l1=0.01, l2=0.02),
    ElasticNet(l1=0.01, update="sgd", normalize="l2", loss="hinge"),
    ElasticNet(l1=0.01, learning_rate="adagrad", loss="squared", clip=(-2.0, 1.5)),
    ElasticNet(store="table", loss="quantile", eta0=0.1),
    ElasticNet(store="hashed", bits=10, loss="huber", eta0=0.1),
    TruncatedGradient(gravity=0.05, period=3, theta=1.0),
    TruncatedGradient(gravity=0.05, update="subgradient"),
    FTRL(l1=0.1, l2=0.3),
    FTRL(l1=0.1, store="table", loss="squared_hinge"),
]


@pytest.mark.parametrize(
    "learner",
    LINEAR,
    ids=lambda x: f"{x.family}-{x.update if hasattr(x, 'update') else ''}-{x.loss}",
)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_linear_models(learner: Any, index: type) -> None:
    X = dense_rows(200, 30)
    weights = np.random.default_rng(2).exponential(size=200)
    y = labels_for(X, 2 if learner.task == "classification" else 0)
    if getattr(learner, "store", "") == "hashed":  # other rows than the reference has
        plain = replace(learner, store="dense")
        block = block_of(X, y, weights, index, offsets_of(200))
        assert np.array_equal(replace(learner).learn(block), plain.learn(block))
        return
    dense.assert_agrees(replace(learner), X, y, weights, index, offsets_of(200))


@pytest.mark.parametrize(
    "update", test_bayesian.UPDATES, ids=lambda u: "-".join(map(str, u.values()))
)
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_bayesian_models(update: dict[str, Any], link: str) -> None:
    X = dense_rows(40 if update["update"] == "vb" else 120, 25)
    learner = Bayesian(prior_variance=0.7, link=link, **update)
    test_bayesian.assert_agrees(learner, X, labels_for(X, 2), offsets=offsets_of(len(X)))


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
def test_bayesian_averages(store: str) -> None:
    X = dense_rows(150, 25)
    learner = Bayesian(
        prior_variance="auto",
        store=store,
        bits=10,
        half_life=60.0,
        share=0.01,
        calibrate=False,
    )
    weights = np.random.default_rng(2).exponential(size=150)
    weights[::7] = 0
    test_bayesian.assert_agrees(learner, X, labels_for(X, 2), weights, offsets=offsets_of(150))


def test_bayesian_uncertainty_moves_and_does_not_grow() -> None:
    X = dense_rows(100, 12)
    learner = Bayesian()
    learner.learn(block_of(X, labels_for(X, 2)))
    mean, std = learner.moments(block_of(X))
    moved, same = learner.moments(block_of(X, offsets=np.full(100, 1.5)))
    np.testing.assert_allclose(moved, mean + 1.5, rtol=1e-12)
    np.testing.assert_allclose(same, std, rtol=1e-12)
    low, high = learner.interval(block_of(X, offsets=np.full(100, 1.5)), 0.9)
    before = learner.interval(block_of(X), 0.9)
    assert (low > before[0]).all()
    assert (high > before[1]).all()


def test_full_covariance() -> None:
    X, offsets = dense_rows(150, 12, density=0.6), offsets_of(150)
    y = labels_for(X, 2)
    learner = Bayesian(update="joint", covariance="full", prior_variance=0.8, fit_intercept=False)
    mean, covariance = np.zeros(12), np.diag(np.full(12, 0.8))
    expected = []
    for x, label, offset in zip(X, 2 * y - 1, offsets, strict=True):
        expected.append((x @ mean + offset) / np.sqrt(1 + np.pi / 8 * x @ covariance @ x))
        mean, covariance = joint_step(mean, covariance, x, label, 1.0, "logit", "taylor", offset)
    scores = learner.learn(block_of(X, y, offsets=offsets))
    np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-9, atol=1e-10)
    after = learner.moments(block_of(X, offsets=offsets))[0][:, 0]
    np.testing.assert_allclose(after, X @ mean + offsets, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_interior_points(loss: str) -> None:
    X = dense_rows(150, 30)
    y = labels_for(X, 2 if loss == "logistic" else 0)
    learner = InteriorPoint(l1=0.01, loss=loss, update="paper", k0=10.0)
    model = test_interior.assert_agrees(learner, X, y, offsets=offsets_of(150))
    scores = learner.score(block_of(X, offsets=offsets_of(150)))[:, 0]
    keep = np.abs(model.w) >= learner._least_kept()[0]
    expected = X @ np.where(keep, model.w, 0) + model.intercept + offsets_of(150)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("algorithm", ["multipass", "reduced"])
def test_sketches_of_passes(link: str, algorithm: str) -> None:
    """They end where the paper's algorithm does with offsets in its margins, and their gap is true."""
    X, y = sketches.gaussian(n=400, link=link)
    offsets = offsets_of(400)
    learner = sketches.solve(
        X,
        y,
        offsets=offsets,
        gamma=4.0,
        link=link,
        algorithm=algorithm,
        tol=1e-10,
        fit_intercept=False,
    )
    expected = reference_sketch.multipass(X, y, 4.0, 30, link, 1e-13, offsets)[-1]
    np.testing.assert_allclose(sketches.dense(learner, X.shape[1]), expected, atol=1e-7)
    least = reference_sketch.objective(X, y, expected, 4.0, link, offsets)
    assert learner.history
    for entry in learner.history:
        assert entry["gap"] >= entry["objective"] - least - 1e-9 * least
    plain = reference_sketch.multipass(X, y, 4.0, 30, link, 1e-13)[-1]
    assert np.abs(plain - expected).max() > 0.01  # the offsets matter


@pytest.mark.parametrize("penalized", [False, True])
def test_the_gap_is_true_with_an_intercept(penalized: bool) -> None:
    X, y = sketches.words(n=600, d=80)
    offsets = offsets_of(600) + 1
    exact = sketches.solve(
        X, y, offsets=offsets, gamma=1.0, tol=1e-12, penalize_intercept=penalized
    )
    history = exact._passes[0].history
    least = history[-1]["objective"] - history[-1]["gap"]
    for entry in history:
        assert entry["gap"] >= entry["objective"] - history[-1]["objective"] - 1e-9 * least
    assert exact.converged


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_a_path_starts_at_the_best_intercept(link: str) -> None:
    """No formula gives it where examples have offsets."""
    X, y = sketches.gaussian(n=300, link=link)
    offsets = 3 * offsets_of(300) + 2
    learner = sketches.solve(
        X,
        y,
        offsets=offsets,
        gamma="path",
        link=link,
        tol=1e-8,
        path_length=5,
        path_ratio=0.1,
        max_passes=300,
    )

    def loss(b: float) -> float:
        return float(-reference_sketch.log_likelihood(link, b + offsets, y).sum())

    best = minimize_scalar(loss, bracket=(-1, 1), tol=1e-12).x
    first = learner._passes[0].path[0]
    assert len(first.keys) == 0
    assert first.intercept == pytest.approx(best, abs=1e-6)
    slope, _ = reference_sketch.derivatives(link, best + offsets, y)
    assert first.gamma == pytest.approx(np.abs(X.T @ slope).max(), rel=1e-6)
    last = learner._passes[0].path[-1]
    alone = sketches.solve(X, y, offsets=offsets, gamma=last.gamma, link=link, tol=1e-8)
    np.testing.assert_allclose(
        sketches.dense(learner, X.shape[1]), sketches.dense(alone, X.shape[1]), atol=1e-3
    )


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_online_sketches(link: str) -> None:
    X, y = sketches.gaussian(n=200, link=link)
    offsets = offsets_of(200)
    learner = Sketch(
        algorithm="online", gamma=2.0, link=link, fit_intercept=False, shooting_tol=1e-11
    )
    scores = learner.learn(block_of(X, sketches.codes(y), offsets=offsets))[:, 0]
    path = reference_sketch.online(X, y, 2.0, link, 1e-11, offsets=offsets)
    before = np.vstack([np.zeros(X.shape[1]), path[:-1]])
    np.testing.assert_allclose(scores, (before * X).sum(axis=1) + offsets, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(sketches.dense(learner, X.shape[1]), path[-1], atol=1e-7)


def test_examples_that_wait_keep_their_offsets() -> None:
    X, y = sketches.gaussian(n=150)
    offsets, labels = offsets_of(150), sketches.codes(y)
    whole = Sketch(algorithm="online", gamma=2.0, block_size=64)
    whole.learn(block_of(X, labels, offsets=offsets))
    begun = Sketch(algorithm="online", gamma=2.0, block_size=64)
    begun.learn(block_of(X[:100], labels[:100], offsets=offsets[:100]))
    again = Sketch.from_state(begun.parameters(), begun.state())
    again.learn(block_of(X[100:], labels[100:], offsets=offsets[100:]))
    for learner in (whole, again):
        learner.end_pass()
    assert np.array_equal(sketches.dense(whole, X.shape[1]), sketches.dense(again, X.shape[1]))


def test_other_offsets_are_other_data() -> None:
    X, y = sketches.gaussian(n=200)
    learner = Sketch(gamma=2.0)
    learner.learn(block_of(X, sketches.codes(y), offsets=offsets_of(200)))
    learner.end_pass()
    learner.learn(block_of(X, sketches.codes(y), offsets=offsets_of(200, seed=6)))
    with pytest.raises(DataError, match="the data changed between passes"):
        learner.end_pass()


ALL = [
    ElasticNet(outputs=3),
    TruncatedGradient(outputs=3),
    FTRL(outputs=3),
    Bayesian(outputs=3),
    InteriorPoint(outputs=3),
    Sketch(outputs=3),
    Sketch(outputs=3, algorithm="online"),
]


@pytest.mark.parametrize("learner", ALL, ids=lambda x: x.family)
def test_several_classes_have_no_score_to_add_to(learner: Any) -> None:
    X = dense_rows(50, 8)
    block = replace(
        block_of(X, labels_for(X, 3), offsets=np.array([0.0] * 20 + [0.5] * 30)),
        path="x.vw",
        lines=np.arange(1, 51),
    )
    for use in (learner.learn, learner.score):
        with pytest.raises(DataError, match=r"x.vw:21: .*3 classes"):
            use(block)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
def test_offsets_that_are_no_numbers_are_refused(bad: float) -> None:
    X = dense_rows(20, 8)
    offsets = np.zeros(20)
    offsets[7] = bad
    block = block_of(X, labels_for(X, 2), offsets=offsets)
    for learner in (ElasticNet(), Bayesian(), InteriorPoint(), Sketch(gamma=1.0)):
        before = learner.t
        with pytest.raises(ValueError, match="offsets must be finite"):
            learner.learn(block)
        with pytest.raises(ValueError, match="differ in length"):
            learner.learn(replace(block, offsets=np.zeros(19)))
        assert learner.t == before


@pytest.mark.parametrize("size", [1e3, -1e3, 3e38, -3e38])
@pytest.mark.parametrize("calibrate", [True, False])
def test_far_offsets_leave_finite_models(size: float, calibrate: bool) -> None:
    X = dense_rows(60, 8)
    offsets = np.zeros(60)
    offsets[::5] = size
    y = labels_for(X, 2)
    for learner in (Bayesian(calibrate=calibrate), ElasticNet(), FTRL()):
        learner.learn(block_of(X, y, offsets=offsets))
        assert np.isfinite(learner.coef()[1]).all()
        assert np.isfinite(learner.score(block_of(X))).all()


def test_blocks_with_and_without() -> None:
    X = dense_rows(30, 5)
    plain, moved = (
        block_of(X, labels_for(X, 2)),
        block_of(X, labels_for(X, 2), offsets=offsets_of(30)),
    )
    assert concatenate([plain, plain]).offsets is None
    both = concatenate([plain, moved, plain])
    assert both.offsets is not None
    assert both.offsets.tolist() == [0.0] * 30 + offsets_of(30).tolist() + [0.0] * 30
    assert both[30:60].offsets.tolist() == offsets_of(30).tolist()  # type: ignore[union-attr]
    assert both.take(np.array([31, 0])).offsets.tolist() == [offsets_of(30)[1], 0.0]  # type: ignore[union-attr]
    assert both.with_labels(None, None).offsets is both.offsets


def as_vw(X: np.ndarray, y: np.ndarray, offsets: np.ndarray) -> str:
    lines = []
    for x, label, offset in zip(X, y, offsets, strict=True):
        head = f"{2 * label - 1:.0f} 1 {float(offset)!r}" if offset else f"{2 * label - 1:.0f}"
        features = " ".join(f"f{i}:{float(x[i])!r}" for i in np.flatnonzero(x))
        lines.append(f"{head} | {features}\n")
    return "".join(lines)


def test_training_from_text_with_all_that_moves_rows(tmp_path: Path) -> None:
    """Shuffled, held out, cached, in small Blocks: offsets stay with their rows."""
    X, offsets = dense_rows(300, 20), np.round(offsets_of(300), 3).astype(float)
    y = labels_for(X, 2)
    path = tmp_path / "x.vw"
    path.write_text(as_vw(X, y, offsets))
    settings: dict[str, Any] = {"passes": 3, "shuffle": 64, "random_state": 3, "holdout": 0.2}
    models = [
        train(
            open_source(path, cache=cache, block_rows=rows),
            lambda m: ElasticNet(outputs=m),
            **settings,
        )
        for cache, rows in ((None, None), (tmp_path / "c.riata-cache", 7), (None, 50))
    ]
    assert len({str(m.record.history) for m in models}) == 1
    for other in models[1:]:
        dense.assert_same_state(models[0].learner, other.learner)
    without = tmp_path / "y.vw"
    without.write_text(as_vw(X, y, np.zeros(300)))
    plain = train(open_source(without), lambda m: ElasticNet(outputs=m), **settings)
    assert plain.record.history != models[0].record.history
    model_file.save(models[0], tmp_path / "m.riata")
    loaded = model_file.load(str(tmp_path / "m.riata"))
    losses = [evaluate(loaded, open_source(p))["loss"] for p in (path, without)]
    assert losses[0] != losses[1]


def test_learns_what_vowpal_wabbit_learns(tmp_path: Path) -> None:
    """Plain stochastic gradient steps of a constant rate, logistic loss; its weights are 32-bit."""
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    X, offsets = dense_rows(200, 15), np.round(offsets_of(200), 3).astype(float)
    y = labels_for(X, 2)
    text = as_vw(X, y, offsets)
    (tmp_path / "x.vw").write_text(text)
    block = concatenate(list(open_source(tmp_path / "x.vw")))
    rival = vowpalwabbit.Workspace(
        quiet=True, noconstant=True, sgd=True, learning_rate=0.1, power_t=0, initial_t=1,
        loss_function="logistic",
    )  # fmt: skip
    learner = ElasticNet(
        update="sgd", l1=0.0, l2=0.0, eta0=0.1, learning_rate="constant", fit_intercept=False,
        feature_scale="none",
    )  # fmt: skip
    labels = (np.asarray(block.labels) > 0).astype(float)
    ours = learner.learn(block.with_labels(labels, None))[:, 0]
    theirs = []
    for line in text.splitlines():
        example = rival.example(line)
        theirs.append(rival.predict(example))
        rival.learn(example)
        rival.finish_example(example)
    rival.finish()
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
