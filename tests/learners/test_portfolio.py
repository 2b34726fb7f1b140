"""`auto`: the kernels against the reference, what its members promise, and what the average does."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

import riata
from riata import _core, model_file
from riata.block import Block
from riata.errors import ModelError
from riata.learners import Portfolio, portfolio_tools
from riata.learners.portfolio_settings import JOINT, SETTINGS, plan
from riata.record import Model, Record, Settings
from riata.reference import portfolio as reference
from tests.problems import block_of, dense_rows, labels_for

FOUR = [SETTINGS[k] for k in (5, 12, 19, 28)]


def core(settings: Any = SETTINGS, store: str = "dense", **options: Any) -> _core.Portfolio:
    given = {"intercept_variance": 2 * np.pi, "fit_intercept": True, "drop": True, "correct": True}
    given |= {"outputs": 1, "multinomial": False, "bits": 12, "joint": list(JOINT)}
    return _core.Portfolio(store=store, members=list(settings), **(given | options))


def learned(model: _core.Portfolio, block: Block, order: Any = None) -> Any:
    return model.learn(
        block.indptr, block.indices, block.values, block.labels, block.weights, order,
        block.names, block.name_offsets, block.offsets,
    )  # fmt: skip


def by_members(model: _core.Portfolio, block: Block) -> Any:
    return model.member_scores(block.indptr, block.indices, block.values, block.offsets)


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def same_state(a: Any, b: Any) -> None:
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@pytest.mark.parametrize("store", ["dense", "table", "hashed"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_kernels_do_what_the_reference_says(store: str, fit_intercept: bool) -> None:
    rng = np.random.default_rng(3)
    X = dense_rows(150, 40, 0.3) * 10.0 ** rng.integers(-3, 4, 40)
    X = X.astype(np.float32).astype(np.float64)
    y = labels_for(X, 2)
    weights, offsets = rng.random(150) * 3, rng.normal(size=150)
    model = core(store=store, fit_intercept=fit_intercept, bits=16)
    scores = learned(model, block_of(X, y, weights, offsets=offsets))
    expected = reference.Portfolio(list(SETTINGS), 40, fit_intercept=fit_intercept)
    said = [
        expected.learn(x, 2 * label - 1, w, o)
        for x, label, w, o in zip(X, y, weights, offsets, strict=True)
    ]
    close(scores[:, 0], said)
    now = model.snapshot(rows=False)
    close(now["weights"][0], expected.weights)
    close(now["losses"][0], expected.losses)
    close(now["worth"][0], expected.worth)
    close(now["claims"][0], expected.claims)
    close(now["totals"][0], [expected.total, expected.recent_total])


def test_members_are_dropped_where_the_reference_drops_them() -> None:
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 0.0, 1.0], size=(8200, 6))
    y = (X @ [3.0, -2.0, 1.0, 0.0, 0.0, 0.5] + rng.logistic(size=8200) > 0).astype(float)
    settings = [SETTINGS[k] for k in (0, 4, 16, 23, 31)]
    expected = reference.Portfolio(settings, 6, correct=False)  # put right, all of them are good
    said = [expected.learn(x, 2 * label - 1) for x, label in zip(X, y, strict=True)]
    assert 1 <= len(expected.alive) < 5
    for store in ("dense", "table", "hashed"):
        model = core(settings, store, correct=False)
        close(learned(model, block_of(X, y))[:, 0], said)
        assert model.snapshot()["settings"].tolist() == expected.alive
        assert model.row_width == 2 + 2 * len(expected.alive)
    # Rows with names lie in buckets. They become narrower and go on as those of an array do.
    named, dense = core(settings, "table", correct=False), core(settings, correct=False)
    words = [f"word {k}" for k in range(400)]
    offsets = np.cumsum([0, *map(len, words)])
    keys = _core.keys_of_names(np.frombuffer("".join(words).encode(), np.uint8), offsets, None)
    before, after = block_of(X, y), block_of(dense_rows(300, 400, 0.2), y[:300])
    for block in (before, after):
        text = "".join(words[k] for k in block.indices).encode()
        ends = np.cumsum([0, *(len(words[k]) for k in block.indices)])
        in_words = Block(
            block.indptr, keys[block.indices], block.values, block.labels,
            names=np.frombuffer(text, np.uint8), name_offsets=ends,
        )  # fmt: skip
        close(learned(named, in_words), learned(dense, block))
    mine, theirs = named.snapshot(), dense.snapshot()
    place = {int(key): k for k, key in enumerate(keys)}
    order = np.argsort([place[int(key)] for key in mine["keys"]])
    np.testing.assert_array_equal(mine["rows"][order], theirs["rows"])
    spelt = [
        mine["names"].tobytes()[a:b].decode() for a, b in itertools.pairwise(mine["name_offsets"])
    ]
    assert spelt == [words[place[int(key)]] for key in mine["keys"]]


@pytest.mark.parametrize("bits", [None, 4])
def test_every_member_has_the_bits_it_has_alone(bits: int | None) -> None:
    """Also where several features of an example share a row of the hashed store."""
    X = dense_rows(200, 30, 0.4)
    block = block_of(X, labels_for(X, 2), np.random.default_rng(1).random(200) * 2)
    kept: dict[str, Any] = {"store": "dense"} if bits is None else {"store": "hashed", "bits": bits}
    together = core(**kept)
    learned(together, block)
    scores = by_members(together, block)
    for k, setting in enumerate(SETTINGS):
        beside = [SETTINGS[0]] if setting[0] == "joint" else []  # a joint one is never alone
        alone = core([*beside, setting], **kept)
        learned(alone, block)
        np.testing.assert_array_equal(by_members(alone, block)[:, -1], scores[:, k])


def test_classes_are_models_of_their_own() -> None:
    X = dense_rows(120, 20, 0.4)
    y = labels_for(X, 3)
    together = core(FOUR, outputs=3)
    scores = learned(together, block_of(X, y))
    for o in range(3):
        alone = core(FOUR)
        one = learned(alone, block_of(X, (y == o).astype(float)))
        np.testing.assert_array_equal(scores[:, o], one[:, 0])


@pytest.mark.parametrize("factor", [2.0**-7, 1024.0, 0.001, 12345.6])
def test_units_do_not_matter(factor: float) -> None:
    """Of members that see values divided by their root mean square: no prediction changes, not even the first."""
    X = dense_rows(200, 12, 0.5)
    scaled = X.copy()
    scaled[:, ::2] *= factor
    y = labels_for(X, 2)
    settings = [setting for setting in SETTINGS if setting[1].endswith("rms")]
    a, b = (learned(core(settings), block_of(x, y)) for x in (X, scaled))
    if np.log2(factor) % 1 == 0:
        np.testing.assert_array_equal(a, b)
    else:  # values are float32
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_columns_far_from_zero_are_learned(seed: int) -> None:
    """Nearly as well as the same columns around zero, from a few hundred rows."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(600, 5)), 2 * rng.normal(size=5)
    y = (rng.random(600) < 1 / (1 + np.exp(-X @ w))).astype(float)
    lost = []
    for origin in (0, 10):
        model = riata.AutoClassifier(shuffle=False).fit(X[:300] + origin, y[:300])
        lost.append(log_loss(y[300:], model.predict_proba(X[300:] + origin)))
    assert lost[1] < 1.02 * lost[0]


def test_a_block_is_the_loop_of_its_rows_and_resumes() -> None:
    X = dense_rows(2600, 10, 0.5)
    y = labels_for(X, 2)
    block = block_of(X, y)
    whole, loop = Portfolio(), Portfolio()
    scores = whole.learn(block)
    for start in range(0, 2600, 130):
        np.testing.assert_array_equal(
            loop.learn(block, np.arange(start, start + 130)), scores[start : start + 130]
        )
        loop = Portfolio.from_state(loop.parameters(), loop.state())
    same_state(whole.state(), loop.state())


def test_scores_are_those_just_before_learning() -> None:
    X = dense_rows(60, 10, 0.5)
    block = block_of(X, labels_for(X, 2))
    learner = Portfolio()
    for r in range(60):
        row = block_of(X[r : r + 1], block.labels[r : r + 1])  # type: ignore[index]
        np.testing.assert_allclose(learner.score(row), learner.learn(row), rtol=1e-12)


def test_the_average_is_not_far_from_the_best() -> None:
    X = dense_rows(3000, 30, 0.3)
    model = core(drop=False)
    learned(model, block_of(X, labels_for(X, 2)))
    now = model.snapshot(rows=False)
    assert now["totals"][0, 0] <= now["losses"].min() + np.log(32) + np.log(3001)


def test_a_change_is_followed() -> None:
    """One member knows the first half of the stream, another one the second."""
    rng = np.random.default_rng(5)
    n = 4000
    X = np.column_stack([rng.choice([1.0, -1.0], n), rng.choice([1.0, 1000.0], n)])
    y = (rng.random(n) < np.where(X[:, 0] > 0, 0.9, 0.1)).astype(float)
    y[n // 2 :] = 1 - y[n // 2 :]
    model = core(drop=False)
    learned(model, block_of(X[: n // 2], y[: n // 2]))
    before = model.snapshot(rows=False)["weights"][0].copy()
    learned(model, block_of(X[n // 2 :], y[n // 2 :]))
    after = model.snapshot(rows=False)
    assert before.argmax() != after["weights"][0].argmax()
    assert after["totals"][0, 0] < after["losses"].min()


def test_weights_of_zero_teach_nothing() -> None:
    X = dense_rows(50, 10, 0.5)
    y = labels_for(X, 2)
    learner = Portfolio(calibrate=False)
    learner.learn(block_of(X, y, np.zeros(50)))
    assert learner.t == 50
    assert len(learner.state()["keys"]) == 0
    np.testing.assert_array_equal(learner.score(block_of(X)), np.zeros((50, 1)))


@pytest.mark.parametrize("value", [3e38, 1e-45, 1e20])
def test_extreme_values_stay_finite(value: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.choice([0.0, 1.0, value, -value], size=(400, 5))
    y = rng.integers(0, 2, 400).astype(float)
    learner = Portfolio()
    scores = learner.learn(block_of(X, y, rng.choice([1e-300, 1.0, 1e20], 400)))
    assert np.isfinite(scores).all()
    assert all(np.isfinite(a).all() for a in learner.state().values())
    assert np.isfinite(learner.coef()[1]).all()


def test_threads_learn_in_turns() -> None:
    X = dense_rows(400, 20, 0.4)
    y = labels_for(X, 2)
    learner = Portfolio()
    parts = [block_of(X[i::4], y[i::4]) for i in range(4)]
    workers = [threading.Thread(target=learner.learn, args=(part,)) for part in parts]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        assert np.isfinite(learner.score(parts[0])).all()
    assert learner.t == 400


# One linear model


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("store", ["auto", "table", "hashed"])
def test_collapse_may_be_the_linear_model_of_coef(
    classes: int, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers are rounded to 32 bits."""
    X = dense_rows(800, 12, 0.5)
    y = labels_for(X, classes)
    model = riata.AutoClassifier(store=store).fit(X, y)
    assert model.collapse().score(X, y) > 0.9 * model.score(X, y)
    assert -0.5 < model.cost_of_collapse_ <= model.cost_of_single_ < 1
    monkeypatch.setattr(portfolio_tools, "best_single", lambda now: portfolio_tools.Single(0.0))
    single = model.collapse()
    if store != "hashed":  # there, features are places
        linear = X @ model.coef_.T + model.intercept_
        expected = linear[:, 0] if classes == 2 else linear
        np.testing.assert_allclose(single.decision_function(X), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(single.intercept_, model.intercept_)
    assert single.score(X, y) > 0.9 * model.score(X, y)


def test_of_one_bayesian_member_the_linear_model_is_its_mean() -> None:
    """The scale of values does not come into it."""
    X = dense_rows(300, 8, 0.6)
    y = labels_for(X, 2)
    learner = Portfolio()
    learner._start((4,), False)
    learner.learn(block_of(X, y))
    now = learner.state()
    (scale, shift), (a, c) = (
        _core.single_scale(now[name])[0] for name in ("single", "corrections")
    )
    assert a != 1
    np.testing.assert_allclose(learner.coef()[1][:, 0], scale * a * now["rows"][:, 2], rtol=1e-14)
    constant = a * now["intercept"][2] + c
    np.testing.assert_allclose(learner.intercept[0], scale * constant + shift, rtol=1e-12)


def test_a_member_that_is_sure_for_nothing_is_put_right() -> None:
    """The largest rate goes too far each time; what it ranks is right all the same."""
    rng = np.random.default_rng(0)
    X = (rng.random((3000, 40)) < 0.2).astype(np.float64)
    y = (X @ rng.normal(size=40) + rng.logistic(size=3000) > 0).astype(float)
    losses = []
    for correct in (True, False):
        scores = learned(core([SETTINGS[23]], correct=correct), block_of(X, y))[:, 0]
        losses.append(np.logaddexp(0, -(2 * y - 1) * scores)[1000:].mean())
    assert losses[0] < 0.9 * losses[1]


# Other models


def test_classes_may_join_later() -> None:
    X = dense_rows(300, 10, 0.5)
    y = labels_for(X, 2)
    two = Portfolio(multi_class="ovr", calibrate=False)
    two.learn(block_of(X, y))
    four = two.with_outputs(4)
    assert four.settings == plan(4, joint=True)
    scores = four.score(block_of(X))
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1], rtol=1e-9, atol=1e-9)
    kept = [two.settings.index(setting) for setting in plan(4, joint=True)]
    weights = two.state()["weights"][0, kept]
    chances = _core.loss_probability("logistic", by_members(two._core, block_of(X)).ravel())
    chance = chances.reshape(300, -1)[:, kept] @ (weights / weights.sum())
    np.testing.assert_allclose(scores[:, 1], np.log(chance / (1 - chance)), rtol=1e-9, atol=1e-9)
    assert (scores[:, 2:] == 0).all()
    four.learn(block_of(X, np.arange(300) % 4.0))
    with pytest.raises(ValueError, match="not more"):
        four.with_outputs(3)


def test_events_and_words(tmp_path: Path) -> None:
    model = riata.AutoClassifier()
    for i in range(60):
        model.learn_one(
            {"colour": "red" if i % 3 else "blue", "size": i % 7}, "yes" if i % 3 else "no"
        )
    assert model.predict_one({"colour": "red", "size": 2}) == "yes"
    assert model.predict_proba_one({"colour": "blue", "size": 2})["no"] > 0.8
    assert model.named_coef_["colour=red"] > 0 > model.named_coef_["colour=blue"]
    assert model.collapse().predict_one({"colour": "blue", "size": 3}) == "no"
    model.save(tmp_path / "m")
    again = riata.load(tmp_path / "m")
    assert isinstance(again, riata.AutoClassifier)
    assert again.predict_proba_one({"size": 5.0}) == model.predict_proba_one({"size": 5.0})
    assert again.named_coef_ == model.named_coef_


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("settings", lambda a: a[::-1].copy(), "settings"),
        ("settings", lambda a: a + 40, "settings"),
        ("weights", lambda a: a * 0, "weights"),
        ("weights", lambda a: -a, "weights"),
        ("rows", lambda a: a[:, 1:].copy(), "rows"),
        ("rows", lambda a: a * np.nan, "rows"),
        ("gaps", lambda a: a[:, 1:].copy(), "gaps"),
        ("single", lambda a: a[:, 1:].copy(), "single"),
        ("keys", lambda a: a + 1000, "keys"),
    ],
)
def test_a_model_file_that_cannot_be_is_refused(name: str, change: Any, said: str) -> None:
    X = dense_rows(50, 6, 0.5)
    learner = Portfolio()
    learner.learn(block_of(X, labels_for(X, 2)))
    state = learner.state()
    state[name] = change(state[name])
    with pytest.raises(ValueError, match=said):
        Portfolio.from_state(learner.parameters(), state)


def test_a_file_of_other_tensors_is_a_model_error(tmp_path: Path, monkeypatch: Any) -> None:
    X = dense_rows(50, 6, 0.5)
    learner = Portfolio()
    learner.learn(block_of(X, labels_for(X, 2)))
    state = learner.state() | {"weights": np.zeros((1, 32))}
    monkeypatch.setattr(Portfolio, "state", lambda self: state)
    model = Model(learner, np.array([0, 1]), Record(data=["x"], settings=Settings()))
    model_file.save(model, tmp_path / "m")
    monkeypatch.undo()
    with pytest.raises(ModelError, match="weights"):
        model_file.load(tmp_path / "m")


def test_numbers_that_no_array_reaches_go_to_a_table() -> None:
    X = dense_rows(60, 10, 0.5)
    y = labels_for(X, 2)
    learner, table = Portfolio(), Portfolio(store="table")
    far = block_of(X, y, index=np.int64)
    far = Block(far.indptr, far.indices + (far.indices == 9) * (1 << 35), far.values, y)
    for block in (block_of(X, y), far):
        np.testing.assert_array_equal(learner.learn(block), table.learn(block))
    same_state(learner.state(), table.state())
