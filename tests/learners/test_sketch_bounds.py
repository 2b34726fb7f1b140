"""Bounds on the weights of a sketch: against L-BFGS-B, the certificate, names, files and the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import dump_svmlight_file

import riata
from riata import SketchClassifier
from riata.learners import Sketch
from riata.learners.sketch_verify import certificates
from riata.reference import sketch as reference
from tests.cli.helpers import riata as command
from tests.learners.sketches import codes, dense, gaussian, solve, words
from tests.problems import block_of, labels_for

BOUNDS = [
    (0, None),
    (None, 0),
    (-0.2, 0.1),
    {"*": (0, None), 3: (0.5, 2), 5: (None, -0.1), 7: (-1, 1)},
    {0: (-0.01, 1e6)},
]


def ends(bounds, d):
    pairs = bounds if isinstance(bounds, dict) else {"*": bounds}
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    for key, (a, b) in sorted(pairs.items(), key=lambda item: item[0] != "*"):
        where = slice(None) if key == "*" else key
        low[where] = -np.inf if a is None else a
        high[where] = np.inf if b is None else b
    return low, high


def exact(X, y, gamma, bounds, link="logit", penalized=False):
    """The least objective inside the bounds, by L-BFGS-B on both halves of the weights."""
    d = X.shape[1]
    low, high = ends(bounds, d)

    def objective(v):
        w, b = v[:d] - v[d : 2 * d], v[-2] - v[-1]
        margins = X @ w + b
        slope, _ = reference.derivatives(link, margins, y)
        g, g0 = -X.T @ slope, -slope.sum()
        pay = gamma * penalized
        value = -reference.log_likelihood(link, margins, y).sum() + gamma * v[: 2 * d].sum()
        ends_ = [[g0 + pay], [-g0 + pay]]
        return value + pay * v[-2:].sum(), np.concatenate([g + gamma, -g + gamma, *ends_])

    halves = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
    halves += [(max(-b, 0), max(-a, 0)) for a, b in zip(low, high, strict=True)]
    limits = [(a, None if np.isinf(b) else b) for a, b in halves] + [(0, None)] * 2
    start = np.array([a for a, _ in limits])
    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=limits, options=options)
    return found.fun


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"algorithm": "multipass"}, {"sample": 0}, {"penalize_intercept": True}],
    ids=str,
)
def test_the_optimum_inside_bounds_is_that_of_lbfgsb(bounds, link, parameters):
    X, y = gaussian(n=400, d=12, seed=3, link=link)
    learner = solve(X, y, gamma=2.0, bounds=bounds, link=link, tol=1e-9, **parameters)
    assert learner.converged
    w, (low, high) = dense(learner, 12), ends(bounds, 12)
    assert ((w >= low) & (w <= high)).all()
    least = exact(X, y, 2.0, bounds, link, "penalize_intercept" in parameters)
    for entry in learner.history:  # the certificate holds after every pass
        assert entry["objective"] - entry["gap"] <= least * (1 + 1e-10)
    assert learner.history[-1]["objective"] == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("sample", [0, 500, 2**20])
def test_words_inside_bounds(sample):
    X, y = words(n=600, d=200)
    learner = solve(X, y, gamma=0.5, bounds=(0, 3), sample=sample)
    assert learner.converged
    assert len(learner._passes[0].history) <= 12
    least = exact(X, y, 0.5, (0, 3))
    assert learner.history[-1]["objective"] == pytest.approx(least, rel=1e-6)
    assert {0.0, 3.0} <= set(dense(learner, 200))  # bounds are reached


def test_a_path_inside_bounds_starts_where_the_first_may_enter():
    X, y = gaussian(n=300, d=8, seed=1)
    learner = solve(X, y, gamma="path", path_length=5, bounds=(0, None), tol=1e-8)
    first, *_, last = learner.path[0]
    assert len(first.keys) == 0
    assert (last.weights > 0).all()
    assert last.objective == pytest.approx(exact(X, y, last.gamma, (0, None)), rel=1e-7)


def test_bounds_by_name_namespace_and_column():
    rng = np.random.default_rng(0)
    events, labels = [], []
    for _ in range(300):
        a, b, c = rng.normal(size=3).astype(np.float32)
        events.append({"price^a": a, "price^b": b, "city": "Rome" if c > 0 else "Oslo", "x": c})
        labels.append(a - b + (c > 0) + 0.5 * rng.normal() > 0)
    from riata.learners.base import event_block

    learner = Sketch(gamma=0.5, bounds={"price": (0, None), "city": (-0.1, 0.1), "price^a": (0, 1)})
    blocks = [event_block(e, float(y)) for e, y in zip(events, labels, strict=True)]
    while not learner.complete:
        for block in blocks:
            learner.learn(block)
        learner.end_pass()
    keys, weights = learner.coef()
    found = dict(zip(learner.names(keys), weights[:, 0], strict=True))
    assert found["price^a"] == 1
    assert "price^b" not in found  # it would like to be below zero
    assert all(abs(w) <= 0.1 for name, w in found.items() if name.startswith("city"))
    assert learner.converged


def test_bounds_that_do_not_fit_the_data_are_an_error():
    from riata.learners.base import event_block

    X, y = gaussian(n=20, d=3)
    with pytest.raises(ValueError, match="'price': the features of this data have numbers"):
        Sketch(bounds={"price": (0, 1)}).learn(block_of(X, codes(y)))
    with pytest.raises(ValueError, match="feature 3: the features of this data have names"):
        Sketch(bounds={3: (0, 1)}).learn(event_block({"a": 1.0}, 1.0))
    with pytest.raises(ValueError, match="online.*takes no bounds"):
        Sketch(algorithm="online", bounds=(0, None))
    with pytest.raises(ValueError, match="contradict each other"):
        Sketch(bounds=(1, 0))


def test_classes_files_and_the_certificate_found_again(tmp_path):
    X, _ = gaussian(n=300, d=9)
    y = labels_for(X, 4)
    X = np.hstack([X, np.zeros((len(X), 12))])
    model = SketchClassifier(gamma=2.0, bounds={"*": (0, None), 20: (0.25, 1)}).fit(X, y)
    assert model.converged_
    assert (model.coef_ >= 0).all()
    assert (model.coef_[:, 20] == 0.25).all()  # never seen: as near to zero as it may be
    model.save(tmp_path / "m.riata")
    again = riata.load(tmp_path / "m.riata")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    for found in certificates(again.model_.learner, [block_of(X, y)]):
        assert found.gap <= 1e-6 * found.objective


def test_a_run_inside_bounds_goes_on_where_it_stopped():
    X, y = words(n=400, d=100)
    block = block_of(X, codes(y))
    make = {"gamma": 0.3, "bounds": {"*": (-1, 2), 4: (0.1, None)}, "sample": 0}
    whole = solve(X, y, **make)
    learner = Sketch(**make)
    while not learner.complete:
        learner.learn(block)
        learner = Sketch.from_state(learner.parameters(), learner.state())
        learner.end_pass()
        learner = Sketch.from_state(learner.parameters(), learner.state())
    np.testing.assert_array_equal(dense(learner, 100), dense(whole, 100))


def test_the_command_line_keeps_bounds_and_proves(tmp_path):
    X, y = words(n=400, d=80)
    dump_svmlight_file(X, y, str(tmp_path / "d.svm"), zero_based=False)
    with (tmp_path / "d.vw").open("w") as out:
        for row, label in zip(X, y, strict=True):
            words_ = " ".join(f"w{j}:{row[j]!r}" for j in np.flatnonzero(row).tolist())
            out.write(f"{label:g} |w {words_}\n".replace("np.float64(", "").replace(")", ""))
    weights = []
    for name in ("d.svm", "d.vw"):
        data, model = tmp_path / name, tmp_path / f"{name}.riata"
        made = command(
            "train",
            data,
            "-o",
            model,
            "--method",
            "sketch",
            "--bounds",
            "0",
            "inf",
            "--tol",
            "1e-9",
        )
        assert "duality gap" in made.out + made.err
        assert "after 2 passes: the optimum" in made.out + made.err
        assert "got no better" not in made.out + made.err
        told = json.loads(command("verify", model, data, "--json").out)
        assert told["good"]
        learner = riata.load(model).model_.learner
        weights.append(np.sort(learner.coef()[1][:, 0]))
        assert (weights[-1] > 0).all()
    np.testing.assert_allclose(*weights, atol=1e-6)
    one = command("predict", tmp_path / "d.vw.riata", tmp_path / "d.vw").out
    assert len(one.splitlines()) >= 400


def test_bounds_by_feature_on_the_command_line(tmp_path):
    data, model = tmp_path / "d.vw", tmp_path / "m.riata"
    data.write_text("1 |a x y:2 |b k\n0 |a y z |b k:3\n1 |a x:2\n0 |a z:2 |b k\n" * 5)
    words_ = ["train", data, "-o", model, "--method", "sketch", "--gamma", "0.1", "--bounds"]
    command(*words_, "a:0:inf,b^k:-0.25:0.5")
    found = riata.load(model).named_coef_
    for name, weight in found.items():
        low, high = (-0.25, 0.5) if name == "b^k" else (0, np.inf)
        assert low <= weight <= high
    assert found["b^k"] == -0.25
    for wrong, says in {
        "a:0": "'a:0' is not FEATURE:LOW:HIGH",
        "a:0:1,a:0:2": "'a' has two intervals",
        "a:1:2": "must contain 0",
        "7:0:1": "have names, not numbers",
    }.items():
        told = command(*words_, wrong, code=1 if wrong == "7:0:1" else 2)
        assert says in " ".join((told.out + told.err).split())
        assert "Traceback" not in told.err
