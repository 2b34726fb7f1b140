"""The sketch from end to end: the training loop, model files, the estimator and the command line."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning

import riata
from riata import model_file
from riata.cli.train import Job
from riata.errors import DataError
from riata.learners import Sketch
from riata.training import train
from tests.cli.helpers import riata as command
from tests.cli.helpers import riata_process
from tests.learners.sketches import codes, dense, solve, words
from tests.problems import block_of, labels_for
from tests.streams import ListSource


@pytest.fixture
def data():
    X, y = words(n=800, d=120)
    X[0, 119] = 0.5
    return X, y


# The training loop


def test_train_makes_the_passes_that_it_takes(data):
    X, y = data
    source = ListSource(block_of(X, y), 128)
    model = train(source, lambda m: Sketch(gamma=1.0, outputs=m))
    alone = solve(X, y, gamma=1.0)
    assert model.record.passes == source.passes == len(alone.history)
    assert model.record.settings.passes == 50
    assert np.array_equal(dense(model.learner, 120), dense(alone, 120))
    assert model.learner.converged


def test_train_keeps_to_the_passes_that_it_is_given(data):
    X, y = data
    model = train(ListSource(block_of(X, y)), Sketch(gamma=1.0, sample=0), passes=3)
    assert model.record.passes == 3
    assert not model.learner.complete


def test_the_holdout_is_scored_with_the_weights_of_its_pass(data):
    X, y = data
    held = ListSource(block_of(X[600:], y[600:]))
    model = train(ListSource(block_of(X[:600], y[:600])), Sketch(gamma=1.0), holdout=held)
    losses = model.learner.losses(model.learner.score(block_of(X[600:])), codes(y[600:]))
    assert model.record.history[-1]["holdout_loss"] == pytest.approx(losses.mean())


def test_a_source_that_can_be_read_once_is_refused_before_learning(data):
    X, y = data
    source = ListSource(block_of(X, y), repeatable=False)
    with pytest.raises(DataError, match="can be read only once"):
        train(source, lambda m: Sketch(gamma=1.0, outputs=m))
    online = train(
        ListSource(block_of(X, y), repeatable=False),
        lambda m: Sketch(algorithm="online", gamma=1.0, outputs=m),
    )
    assert online.record.passes == 1


def test_a_file_that_changes_between_passes_is_an_error(data, tmp_path):
    X, y = data
    path = tmp_path / "train.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)

    def swap(progress):
        if progress.end_of_pass and progress.pass_number == 2:
            dump_svmlight_file(X[:-1], y[:-1], str(path), zero_based=False)

    with pytest.raises(DataError, match="changed between passes|changed while"):
        train(riata.open_source(path), Sketch(gamma=1.0, sample=0), on_progress=swap)


@pytest.mark.parametrize("sample", [0, 2000])
@pytest.mark.parametrize("stop_at", [(1, 300), (2, 0), (3, 799)])
def test_a_run_that_was_stopped_goes_on_with_the_same_bits(data, sample, stop_at, tmp_path):
    from riata.training import partial_model

    X, y = data
    whole = train(ListSource(block_of(X, y)), Sketch(gamma=1.0, sample=sample))
    broken = ListSource(block_of(X, y), fail_at=stop_at, error=DataError("torn"))
    with pytest.raises(DataError, match="torn") as caught:
        train(broken, Sketch(gamma=1.0, sample=sample))
    saved = tmp_path / "model.riata"
    model_file.save(partial_model(caught.value), saved)
    resumed = train(ListSource(block_of(X, y)), None, resume=model_file.load(saved))
    assert np.array_equal(dense(whole.learner, 120), dense(resumed.learner, 120))
    assert whole.learner.history == resumed.learner.history
    assert whole.record == resumed.record


def test_a_saved_model_scores_and_remembers(data, tmp_path):
    X, y = data
    model = train(ListSource(block_of(X, y)), Sketch(gamma=(3.0, 1.0)))
    model_file.save(model, tmp_path / "model.riata")
    loaded = model_file.load(tmp_path / "model.riata").learner
    assert np.array_equal(loaded.score(block_of(X)), model.learner.score(block_of(X)))
    assert loaded.history == model.learner.history
    assert [p.gamma for p in loaded.path[0]] == [3.0, 1.0]
    assert loaded.converged


# The estimator


def test_fit_is_exact_and_says_so(data):
    X, y = data
    model = riata.SketchClassifier(gamma=1.0, tol=1e-9).fit(sparse.csr_matrix(X), y)
    alone = solve(X, y, gamma=1.0, tol=1e-9)
    assert np.array_equal(model.coef_[0], dense(alone, 120))
    assert model.converged_
    assert model.n_iter_ == len(model.history_)
    assert model.classes_.tolist() == [-1.0, 1.0]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.75


def test_a_path_of_the_estimator(data):
    X, y = data
    model = riata.SketchClassifier(gamma="path", path_length=6, path_ratio=0.05).fit(X, y)
    assert len(model.path_) == 6
    supports = [np.count_nonzero(solution.coef) for solution in model.path_]
    assert supports[0] == 0
    assert supports[-1] > supports[1]
    np.testing.assert_array_equal(model.coef_, model.path_[-1].coef)
    listed = riata.SketchClassifier(gamma=[4.0, 2.0]).fit(X, y)
    assert [solution.gamma for solution in listed.path_] == [4.0, 2.0]


def test_many_classes_and_class_weights(data):
    X, _ = data
    y = np.array(["red", "green", "blue"])[labels_for(X, 3).astype(int)]
    model = riata.SketchClassifier(gamma=1.0, class_weight="balanced").fit(X, y)
    assert model.coef_.shape == (3, 120)
    assert model.predict_proba(X).shape == (800, 3)
    assert len(model.path_) == 1
    assert model.path_[0].coef.shape == (3, 120)


def test_partial_fit_is_online_only(data):
    X, y = data
    with pytest.raises(AttributeError, match="partial_fit"):
        riata.SketchClassifier().partial_fit(X, y, classes=[-1, 1])
    model = riata.SketchClassifier(gamma=1.0, algorithm="online")
    for start in range(0, 800, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100], classes=[-1, 1])
    whole = riata.SketchClassifier(gamma=1.0, algorithm="online").fit(X, y)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    assert model.t_ == 800


def test_the_linear_schedule_ends_with_the_rows(data):
    X, y = data
    model = riata.SketchClassifier(gamma=1.0, algorithm="online", gamma_schedule="linear").fit(X, y)
    assert model.model_.learner.horizon == 800


def test_too_few_passes_warn(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="after 2 passes"):
        model = riata.SketchClassifier(gamma=1.0, max_passes=2, sample=0).fit(X, y)
    assert not model.converged_


def test_save_and_load(data, tmp_path):
    X, y = data
    model = riata.SketchClassifier(gamma=2.0, link="probit").fit(X, y)
    model.save(tmp_path / "m.riata")
    loaded = riata.load(tmp_path / "m.riata")
    assert isinstance(loaded, riata.SketchClassifier)
    assert loaded.get_params()["link"] == "probit"
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


# The command line


def test_the_command_line_trains_to_the_same_model(data, tmp_path):
    X, y = data
    path, out = tmp_path / "train.svm", tmp_path / "m.riata"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    command(
        "train", path, "-o", out, "--method", "sketch", "--gamma", "1", "-q", "--penalize-intercept"
    )
    learner = model_file.load(out).learner
    assert learner.converged
    assert learner.penalize_intercept
    alone = solve(X, y, gamma=1.0, penalize_intercept=True)
    np.testing.assert_allclose(dense(learner, 120), dense(alone, 120), atol=1e-6)


def test_standard_input_needs_the_online_algorithm(data, tmp_path):
    X, y = data
    text = io.BytesIO()
    dump_svmlight_file(X, y, text, zero_based=False)
    out = tmp_path / "m.riata"
    words_ = ("train", "-", "-o", out, "--method", "sketch", "--gamma", "1", "-q")
    refused = riata_process(*words_, stdin=text.getvalue(), code=1)
    assert "can be read only once" in refused.err
    assert "--cache" in refused.err
    assert not out.exists()
    riata_process(*words_, "--algorithm", "online", stdin=text.getvalue())
    assert out.exists()
    cache = tmp_path / "stdin.riata-cache"
    riata_process(*words_, "--cache", cache, stdin=text.getvalue())
    assert model_file.load(out).learner.converged
    file = tmp_path / "train.svm.gz"
    file.write_bytes(gzip.compress(text.getvalue()))
    command("train", file, *words_[2:])  # unpacked once, into a temporary file
    assert model_file.load(out).learner.converged
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.riata", cache.name, file.name]


@pytest.mark.parametrize(
    ("method", "parameters", "options", "cache"),
    [
        ("sketch", {}, {}, "auto"),  # as many passes as it takes
        ("sketch", {"max_passes": 1}, {}, None),
        ("sketch", {"algorithm": "online"}, {}, None),
        ("sketch", {}, {"passes": 1}, None),
        ("elastic-net", {}, {}, None),
        ("elastic-net", {}, {"passes": 3}, "auto"),
        ("elastic-net", {}, {"classes": "scan"}, "auto"),
        ("elastic-net", {}, {"class_weight": "balanced"}, "auto"),
    ],
)
def test_data_that_is_read_more_than_once_may_be_cached(method, parameters, options, cache):
    job = Job(["d.gz"], "m", method, parameters, {}, options, cache="auto")
    job.find_cache(None)
    assert job.cache == cache
    told = Job(["d.gz"], "m", method, parameters, {}, options, cache="there")
    told.find_cache(None)
    assert told.cache == "there"


def test_a_resumed_run_may_be_cached(data, tmp_path):
    X, y = data
    model = train(ListSource(block_of(X, y)), Sketch(gamma=1.0), passes=3)
    for passes, cache in ((None, "auto"), (1, None)):
        job = Job(["d"], "m", "elastic-net", {}, {}, {"passes": passes}, "saved", cache="auto")
        job.find_cache(model)
        assert job.cache == cache


# Named features


def test_named_features_from_single_events():
    rng = np.random.default_rng(0)
    model = riata.SketchClassifier(gamma=1.0, algorithm="online")
    for _ in range(300):
        spam = bool(rng.random() < 0.5)
        words_ = ["free" if spam else "lunch", ["monday", "friday"][rng.integers(2)]]
        model.learn_one({"word": words_, "length": float(rng.random())}, "spam" if spam else "ham")
    assert model.predict_one({"word": ["free"]}) == "spam"
    assert model.predict_one({"word": ["lunch"], "never": "seen"}) == "ham"
    assert model.predict_proba_one({"word": "free"})["spam"] > 0.8
    learner = model.model_.learner
    names = learner.names(learner.coef()[0])
    assert {"word=free", "word=lunch"} <= set(names)
    assert "word=monday" not in names
    with pytest.raises(ValueError, match="third class"):
        model.learn_one({"word": "x"}, "other")
    with pytest.raises(AttributeError, match="learn_one"):
        riata.SketchClassifier().learn_one({"word": "x"}, 1)
    with pytest.raises(ValueError, match="algorithm='online'"):
        Sketch().learn_one({"word": "x"}, 1.0)


def test_named_features_are_the_numbered_ones(data, tmp_path):
    """Names in any order of the row: the same model as with numbers."""
    from riata import _core
    from riata.block import Block

    X, y = data
    plain = block_of(X, codes(y))
    names = [f"word{j}".encode() for j in range(120)]
    keys = np.array([_core.key_of_name(name) for name in names])
    order = np.concatenate(
        [np.random.default_rng(i).permutation(np.arange(a, b)) for i, (a, b) in
         enumerate(zip(plain.indptr[:-1], plain.indptr[1:], strict=True))]
    )  # fmt: skip
    indices = plain.indices[order]
    text = [names[j] for j in indices]
    named = Block(
        indptr=plain.indptr,
        indices=keys[indices],
        values=plain.values[order],
        labels=y,
        names=np.frombuffer(b"".join(text), dtype=np.uint8),
        name_offsets=np.concatenate([[0], np.cumsum([len(t) for t in text])]),
    )
    model = train(ListSource(named, 100), Sketch(gamma=1.0, tol=1e-10))
    expected = dense(solve(X, y, gamma=1.0, tol=1e-10), 120)
    live, weights = model.learner.coef()
    ours = dict(zip(model.learner.names(live), weights[:, 0], strict=True))
    assert set(ours) == {f"word{j}" for j in np.flatnonzero(expected)}
    for name, weight in ours.items():
        assert weight == pytest.approx(expected[int(name[4:])], abs=1e-7)
    model_file.save(model, tmp_path / "m.riata")
    loaded = model_file.load(tmp_path / "m.riata").learner
    assert loaded.names(live) == model.learner.names(live)
    assert np.array_equal(loaded.score(named), model.learner.score(named))
