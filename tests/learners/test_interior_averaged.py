"""The averaged update of the interior-point family: against its reference, the optimum, and what it proves."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import riata
from riata import InteriorPointClassifier, InteriorPointRegressor, SketchClassifier, _core
from riata.learners import InteriorPoint
from riata.reference.interior import AveragedInterior, lower_bound
from tests.cli.helpers import riata as command
from tests.learners.interiors import CLASSIFIES, bounded_or_not, coefficients
from tests.learners.test_sketch_bounds import ends
from tests.problems import block_of, dense_rows, labels_for

BOUNDS = [None, (0, None), (-0.2, 0.1), {"*": (0, None), 3: (0.5, 2), 5: (None, -0.1)}]


@pytest.mark.parametrize("loss", sorted(CLASSIFIES))
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_the_reference(loss, bounds, fit_intercept):
    X = dense_rows(150, 9, seed=2)
    y = labels_for(X, 2 if CLASSIFIES[loss] else 0)
    rng = np.random.default_rng(1)
    weights, offsets = rng.random(150) * 2, rng.normal(size=150)
    learner = InteriorPoint(loss=loss, l1=0.003, bounds=bounds, fit_intercept=fit_intercept)
    low, high = (None, None) if bounds is None else ends(bounds, 9)
    parameter = {"huber": learner.epsilon, "quantile": learner.quantile}.get(loss, 0.0)
    model = AveragedInterior(
        9, loss, parameter, l1=0.003, fit_intercept=fit_intercept, low=low, high=high
    )
    before = learner.learn(block_of(X, y, weights, offsets=offsets))
    signs = 2 * y - 1 if CLASSIFIES[loss] else y
    np.testing.assert_allclose(
        before[:, 0], model.learn(X, signs, weights, offsets), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(coefficients(learner, 9)[:, 0], model.w, rtol=1e-10, atol=1e-12)
    assert learner.intercept[0] == pytest.approx(model.intercept, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("bounds", [None, (0, None), (-0.3, 0.3), {1: (0.2, 3), "*": (None, 0.5)}])
def test_it_comes_to_the_optimum_and_proves_no_more_than_is_true(bounds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6)).astype(np.float32).astype(np.float64)
    y = X @ [2.0, 1.0, 0.0, -1.0, 0.1, 0.0] + rng.logistic(size=1000) > 0
    exact = SketchClassifier(gamma=1.0, bounds=bounds, tol=1e-10).fit(X, y)
    least = exact.history_[-1]["objective"] / 1000
    block = block_of(X, y.astype(float))
    learner = InteriorPoint(l1=0.001, bounds=bounds)
    reached = []
    for _ in range(30):
        learner.learn(block)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            [proof] = learner.certify([block])
        w, b = coefficients(learner, 6)[:, 0], learner.intercept[0]
        margins = (2 * y - 1) * (X @ w + b)
        objective = np.logaddexp(0, -margins).mean() + 0.001 * np.abs(w).sum()
        assert proof.objective == pytest.approx(objective, rel=1e-9)
        assert np.abs(exact.coef_).sum() <= 10 * max(1, np.abs(w).sum())
        assert objective - least <= proof.gap + 1e-12
        assert proof.gap <= 1.2 * (objective - least) + 2e-3 * objective
        reached.append(objective / least - 1)
    assert reached[0] < 0.03
    assert reached[-1] < 2e-4
    low, high = ends(bounds or (None, None), 6)
    assert ((w >= low) & (w <= high)).all()


def bound_of(X, y, sample, weights=None, **settings):
    """The search for a bound where this part of the examples is the sample, and the learner."""
    from riata.learners.interior_bound import Search, Task, examples_of

    learner = InteriorPoint(**settings)
    block = block_of(X, y, weights)
    learner.learn(block)
    keys, w = learner._core.weights()
    sums, gradient, _ = learner._core.judge(
        block.indptr, block.indices, block.values, block.labels, block.weights, None
    )
    [[loss, slope, total]] = sums
    low, high = learner._core.intervals().T
    kinds = (learner.loss, 0.0, learner.l1, learner.fit_intercept)
    at = (w[:, 0], float(learner.intercept[0]), loss / total, gradient[:, 0] / total, slope / total)
    positive = 1.0 if CLASSIFIES[learner.loss] else None
    examples = examples_of(block.take(sample), keys, learner.normalize, positive, total)
    return Search(Task(*kinds, low, high, *at), examples), keys, w[:, 0]


@pytest.mark.parametrize("loss", ["logistic", "squared", "hinge"])
@pytest.mark.parametrize("bounds", [None, (0, None), (-0.2, 0.1)])
@pytest.mark.parametrize("part", [1.0, 0.3])
def test_the_bound_is_that_of_the_reference(loss, bounds, part):
    X = dense_rows(80, 7, seed=3)
    y = labels_for(X, 2 if CLASSIFIES[loss] else 0)
    sample = np.arange(int(part * 80))
    settings = {"loss": loss, "l1": 0.01, "bounds": bounds, "fit_intercept": False}
    search, keys, w = bound_of(X, y, sample, **settings)
    rng = np.random.default_rng(0)
    for _ in range(5):
        v = w + rng.normal(size=len(w)) / 10
        search.best = -np.inf
        search.at(v[search.used], 0.0)
        at = np.tile(w, (80, 1))
        at[sample] = v
        signs = 2 * y - 1 if CLASSIFIES[loss] else y
        reach = 10 * max(1.0, np.abs(w).sum())
        low, high = search.task.low, search.task.high
        told = lower_bound(X[:, keys], signs, at, 0.01, low, high, reach, loss)
        assert search.best == pytest.approx(told, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("loss", sorted(CLASSIFIES))
@pytest.mark.parametrize("normalize", ["none", "l1", "l2", "sqrt_nnz"])
def test_no_weights_are_below_the_bound(loss, normalize):
    """With a third of the examples as the sample, weighted: against many weights within reach."""
    X = dense_rows(120, 6, seed=5)
    y = labels_for(X, 2 if CLASSIFIES[loss] else 0)
    rng = np.random.default_rng(2)
    share = rng.random(120) * 2
    settings = {"loss": loss, "l1": 0.01, "normalize": normalize, "quantile": 0.5, "epsilon": 1.0}
    search, keys, w = bound_of(X, y, np.arange(40), share, **settings)
    search.task.parameter = {"quantile": 0.5, "huber": 1.0}.get(loss, 0.0)
    search.__post_init__()
    search.at(w[search.used], search.task.intercept)
    tangents = search.best
    bound = search.run().bound
    assert bound > tangents
    X = X[:, keys]
    norm = {"none": 1.0, "l1": np.abs(X).sum(1), "l2": np.sqrt((X**2).sum(1)),
            "sqrt_nnz": np.sqrt((X != 0).sum(1))}[normalize]  # fmt: skip
    X = X / np.broadcast_to(np.where(norm == 0, 1, norm), 120)[:, None]
    signs = 2 * y - 1 if CLASSIFIES[loss] else y
    task = search.task
    for _ in range(300):
        u = w + rng.normal(size=len(w)) * rng.choice([0.01, 0.1, 1])
        b = task.intercept + rng.normal() / 10
        losses = _core.loss_value(loss, X @ u + b, signs, task.parameter)
        assert bound <= share @ losses / share.sum() + 0.01 * np.abs(u).sum() + 1e-12


def test_units_do_not_matter():
    """A column in other units has its weight in theirs, and everything else as it was."""
    X = dense_rows(300, 5, seed=1)
    y = labels_for(X, 2)
    units = 2.0 ** np.array([10, -12, 0, 3, -3])
    here, there = InteriorPoint(l1=0.0), InteriorPoint(l1=0.0)
    np.testing.assert_allclose(
        here.learn(block_of(X, y)), there.learn(block_of(X * units, y)), rtol=1e-10
    )
    np.testing.assert_allclose(
        coefficients(here, 5)[:, 0], coefficients(there, 5)[:, 0] * units, rtol=1e-10
    )


def test_models_from_before_values_were_scaled_load_and_predict_as_they_did():
    for bounds in (None, (-1, 1)):
        X = np.sign(dense_rows(100, 5))  # the root mean square of these is 1
        y = labels_for(X, 2)
        new = InteriorPoint(l1=0.001, bounds=bounds)
        new.learn(block_of(X, y))
        state = new.state()
        if bounds is None:
            state["rows"] = np.delete(state["rows"], 2, axis=1)
        else:
            state["rows"][:, 2] = 0
        old = InteriorPoint.from_state(new.parameters(), state)
        np.testing.assert_array_equal(old.score(block_of(X)), new.score(block_of(X)))
        old.learn(block_of(X, y))
        new.learn(block_of(X, y))
        np.testing.assert_array_equal(old.score(block_of(X)), new.score(block_of(X)))
    state["rows"] = state["rows"][:, :3]
    with pytest.raises(ValueError, match="another width"):
        InteriorPoint.from_state(new.parameters(), state)


def test_an_example_costs_its_non_zeros_and_absent_features_go_to_zero():
    learner = InteriorPoint(l1=0.01)
    learner.learn(block_of(np.array([[0.0, 3.0]]), np.array([1.0])))
    assert coefficients(learner, 2)[1, 0] > 0
    learner.learn(block_of(np.tile([[1.0, 0.0]], (500, 1)), np.arange(500) % 2.0))
    assert coefficients(learner, 2)[1, 0] == 0


@bounded_or_not
def test_batches_rows_and_state_have_the_same_bits(bounds, outputs):
    X = dense_rows(120, 8)
    y = labels_for(X, max(2, outputs))
    make = {"l1": 0.002, "bounds": bounds, "outputs": outputs, "prune": 0.01}
    whole, rows = InteriorPoint(**make), InteriorPoint(**make)
    first = whole.learn(block_of(X, y))
    second = []
    for i in range(120):
        second.append(rows.learn(block_of(X[i : i + 1], y[i : i + 1])))
        rows.coef()
        rows = InteriorPoint.from_state(rows.parameters(), rows.state())
    np.testing.assert_array_equal(first, np.concatenate(second))
    np.testing.assert_array_equal(coefficients(whole, 8), coefficients(rows, 8))
    scores = whole.score(block_of(X))
    np.testing.assert_allclose(
        scores, X @ coefficients(whole, 8) + whole.intercept, rtol=1e-12, atol=1e-12
    )


def test_two_classes_become_three():
    X = dense_rows(100, 5)
    y = labels_for(X, 2)
    learner = InteriorPoint(l1=0.001)
    learner.learn(block_of(X, y))
    wider = learner.with_outputs(3)
    asked = learner.score(block_of(X))[:, 0]
    np.testing.assert_array_equal(wider.score(block_of(X)), np.stack([-asked, asked, 0 * asked], 1))


def test_far_from_the_optimum_is_a_warning_and_near_is_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = X @ [2.0, 1.0, 0.0, -1.0] + rng.normal(size=2000) > 0
    with pytest.warns(ConvergenceWarning, match="may be up to .* raise passes.* SketchClassifier"):
        InteriorPointClassifier(bounds=(0, None), l1=1e-3, update="paper").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = InteriorPointClassifier(bounds=(0, None), l1=1e-3).fit(X, y)
    exact = SketchClassifier(gamma=2.0, bounds=(0, None)).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.15)
    assert "the optimum at most" in model.model_.learner.verdict


@pytest.mark.parametrize("bounds", [None, (0, None), {1: (0.2, 3), "*": (None, 0.5)}])
@pytest.mark.parametrize("outputs", [2, 3])
def test_what_fits_in_memory_is_read_at_its_optimum_until_more_is_learned(bounds, outputs):
    """Columns far from zero, in the order of the classes, where the update alone is nowhere near."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)) + np.array([0, 30, 0, 0, 5])
    y = np.argmax(
        rng.normal(size=(600, outputs)) + 2 * X[:, :outputs] - [0, 60, 0][:outputs], axis=1
    )
    order = np.argsort(y, kind="stable")
    X, y = X[order].astype(np.float32), y[order]
    given = {"l1": 1e-3, "bounds": bounds, "shuffle": False, "passes": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = InteriorPointClassifier(**given).fit(X, y)
    exact = SketchClassifier(gamma=0.6, bounds=bounds, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=2e-2)
    ends_of = exact.history_[-1]["objective"] / 600
    proofs = model.model_.learner._proofs
    assert proofs[-1].objective == pytest.approx(ends_of, rel=1e-5)
    assert all(proof.gap <= 1e-5 * proof.objective for proof in proofs)
    learner = model.model_.learner
    again = InteriorPoint.from_state(learner.parameters(), learner.state())
    block = block_of(X, y.astype(float))
    np.testing.assert_array_equal(again.score(block), learner.score(block))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain = InteriorPointClassifier(**given, polish=False).fit(X, y).model_.learner
    assert not np.array_equal(plain.score(block), learner.score(block))
    for other in (again, learner, plain):
        other.learn(block[:50])
    np.testing.assert_array_equal(again.score(block), plain.score(block))
    np.testing.assert_array_equal(learner.score(block), plain.score(block))


def test_a_proof_asked_for_leaves_the_weights_alone():
    X = dense_rows(200, 5)
    y = labels_for(X, 2)
    learner = InteriorPoint(l1=0.001)
    block = block_of(X, y)
    learner.learn(block)
    before = learner.score(block)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        [proof] = learner.certify([block])
        np.testing.assert_array_equal(learner.score(block), before)
        [after] = learner.certify([block], polish=True)
    assert after.objective < proof.objective
    assert after.objective >= proof.objective - proof.gap - 1e-9
    paper = InteriorPoint(l1=0.001, update="paper")
    paper.learn(block)
    before = paper.score(block)
    with pytest.warns(ConvergenceWarning):
        paper.certify([block], polish=True)
    np.testing.assert_array_equal(paper.score(block), before)


def test_a_holdout_is_scored_at_the_weights_that_are_read():
    from riata.sources import open_source
    from riata.training import train

    X = dense_rows(300, 5).astype(np.float32)
    y = labels_for(X, 2)
    model = train(open_source(X, y), lambda m: InteriorPoint(l1=1e-3, outputs=m), holdout=0.3)
    held = np.diff(np.floor(np.arange(301) * 0.3)) > 0
    scores = model.learner.score(block_of(X[held]))[:, 0]
    losses = np.logaddexp(0, -np.where(y[held] == 1, 1, -1) * scores)
    assert model.record.holdout["loss"] == pytest.approx(losses.mean(), rel=1e-6)


def test_regression_inside_bounds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = X @ [2.0, 0.0, -1.0, 0.5] + 0.1 * rng.normal(size=3000) + 3
    model = InteriorPointRegressor(bounds={2: (-0.5, 0.5)}, passes=10).fit(X, y)
    np.testing.assert_allclose(model.coef_, [2.0, 0.0, -0.5, 0.5], atol=0.05)
    assert model.coef_[2] >= -0.5


def test_what_has_no_meaning_is_refused():
    with pytest.raises(ValueError, match="k0=20 has no meaning for update='averaged'.*'paper'"):
        InteriorPoint(k0=20)
    with pytest.raises(ValueError, match="eta0=0.1 has no meaning for update='paper'"):
        InteriorPoint(update="paper", eta0=0.1)
    with pytest.raises(ValueError, match="'other'"):
        InteriorPoint(update="other")
    learner = InteriorPoint()
    learner.learn(block_of(np.eye(2), np.array([0.0, 1.0])))
    with pytest.raises(ValueError, match="has not learned"):
        learner.certify([block_of(np.eye(3), np.array([0.0, 1.0, 1.0]))])


def test_the_command_line_says_how_far_the_optimum_is(tmp_path):
    from sklearn.datasets import dump_svmlight_file

    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    dump_svmlight_file(
        X, X[:, 0] + rng.normal(size=500) > 0, str(tmp_path / "d.svm"), zero_based=False
    )
    data, model = tmp_path / "d.svm", tmp_path / "m.riata"
    words = ["train", data, "-o", model, "--method", "interior", "--l1", "0.01"]
    said = command(*words, "--bounds", "0", "1", "--passes", "5")
    assert "the optimum at most" in said.out + said.err
    assert (riata.load(model).coef_ >= 0).all()
    far = command(*words, "--update", "paper", "--k0", "1000")
    assert "more passes bring it closer" in far.out + far.err
