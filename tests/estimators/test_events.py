"""Single events: dicts in, classes and numbers out."""

from __future__ import annotations

import inspect
import itertools
import pickle
from collections.abc import Mapping

import numpy as np
import pytest

import riata
from riata import _core
from riata.estimators import ESTIMATORS
from riata.learners import FTRL, ElasticNet, TruncatedGradient
from riata.learners.base import event_block

ONLINE = [e for e in ESTIMATORS if hasattr(e(), "learn_one")]
CLASSIFIERS = [e for e in ONLINE if hasattr(e, "predict_proba_one")]
REGRESSORS = [e for e in ONLINE if not hasattr(e, "predict_proba_one")]


def names_of(event):
    keys, values, text, offsets = _core.event(event)
    names = [bytes(text[a:b]).decode() for a, b in itertools.pairwise(offsets)]
    assert [_core.key_of_name(n.encode()) for n in names] == keys.tolist()
    return dict(zip(names, values.tolist(), strict=True))


def test_what_an_event_means():
    event = {
        "n": 2,
        "x": 0.5,
        "yes": True,
        "no": False,
        "none": None,
        "zero": 0.0,
        "s": "a b",
        "l": ["p", "q"],
    }
    assert names_of(event) == {"n": 2, "x": 0.5, "yes": 1, "s=a b": 1, "l=p": 1, "l=q": 1}
    assert names_of({"f": np.float32(0.25), "i": np.int64(3), "ü": "é", "t": ("p",)}) == {
        "f": 0.25, "i": 3, "ü=é": 1, "t=p": 1,
    }  # fmt: skip
    assert names_of({}) == {}


def test_repeated_features_add_up():
    assert names_of({"a": ["b", "c", "b"], "a=b": 2.0, "z": 1}) == {"a=b": 4, "a=c": 1, "z": 1}
    many = {"w": [str(i % 700) for i in range(1400)]}
    assert names_of(many) == {f"w={i}": 2 for i in range(700)}


@pytest.mark.parametrize(
    ("event", "error", "message"),
    [
        ({1: 2.0}, TypeError, "name must be a string, not int"),
        ({"a": float("nan")}, ValueError, "feature 'a': the value is NaN"),
        ({"a": -float("inf")}, ValueError, "feature 'a'"),
        ({"a": 1e300}, ValueError, "beyond a 32-bit float"),
        ({"a": [1, 2]}, ValueError, "feature 'a': a list must hold strings"),
        ({"a": {"b": 1}}, ValueError, "must be a number, a string"),
        ({"k" * 1_000_000: 1.0}, ValueError, "longer than 64 KiB"),
        ({"k": "v" * 1_000_000}, ValueError, "longer than 64 KiB"),
        ({"\ud800": 1.0}, ValueError, "lone surrogate"),
    ],
)
def test_bad_events(event, error, message):
    model = riata.ElasticNetClassifier().learn_one({"a": 1.0}, 1)
    before = model.model_.learner.state()
    with pytest.raises(error, match=message):
        model.learn_one(event, 1)
    after = model.model_.learner.state()
    assert all(np.array_equal(before[k], after[k]) for k in before)


@pytest.mark.parametrize("make", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_bad_weights(make, weight):
    model = make().learn_one({"a": 1.0}, 1)
    before = model.model_.learner.state()
    with pytest.raises(ValueError, match="a weight must be a finite number, and not negative"):
        model.learn_one({"a": 1.0}, 1, weight)
    after = model.model_.learner.state()
    assert all(np.array_equal(before[k], after[k]) for k in before)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_labels_that_are_no_class(make):
    model = make().learn_one({"a": 1.0}, "yes")
    for label in (None, float("nan"), np.float64("nan")):
        with pytest.raises(ValueError, match="an event is learned with its label"):
            model.learn_one({"a": 1.0}, label)
    with pytest.raises(TypeError, match="a label is a string, a number or a bool, not list"):
        model.learn_one({"a": 1.0}, ["yes"])
    assert model.classes_.tolist() == ["yes"]


@pytest.mark.parametrize("make", REGRESSORS)
def test_labels_that_are_no_number(make):
    for label in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="a label must be a finite number"):
            make().learn_one({"a": 1.0}, label)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_model_of_names_refuses_a_matrix(make):
    model = make().learn_one({"a": 1.0}, 0).learn_one({"b": 1.0}, 1)
    for use in (model.predict, lambda X: model.partial_fit(X, [0, 1])):
        with pytest.raises(ValueError, match="knows its features by name"):
            use(np.eye(2))


@pytest.mark.parametrize("make", [*CLASSIFIERS, *REGRESSORS])
def test_weights_by_name(make):
    model = make()
    for _ in range(5):
        model.learn_one({"a": "x", "b": 2.0}, 0).learn_one({"a": "y"}, 1)
    weights = model.named_coef_
    assert set(weights) == {"a=x", "a=y", "b"}
    assert weights["a=x"] < 0 < weights["a=y"]
    assert model.get_feature_names_out().tolist() == ["a=x", "a=y", "b"]
    assert model.sparse_coef_.shape == (1, 3)
    assert np.ravel(model.coef_).tolist() == [weights[name] for name in ("a=x", "a=y", "b")]
    assert "named_coef_" in dir(model)
    model.learn_one({"a": "y"}, 1)
    if make in CLASSIFIERS:
        model.learn_one({"a": "z"}, 2)
        assert len(model.named_coef_["a=y"]) == 3


def test_weights_by_name_need_names():
    with pytest.raises(AttributeError, match="sparse_coef_"):
        riata.ElasticNetClassifier().fit(np.eye(2), [0, 1]).named_coef_  # noqa: B018


@pytest.mark.parametrize("make", [e for e in ONLINE if "bits" in inspect.signature(e).parameters])
def test_hashed_names_are_as_many_as_rows(make):
    model = make(store="hashed", bits=10)
    model.learn_one({"a": "x"}, 0).learn_one({"a": "y"}, 1)
    assert model.model_.learner.n_features == 1024


@pytest.mark.parametrize("store", ["auto", "dense", "table"])
def test_a_model_of_numbers_refuses_events(store):
    model = riata.ElasticNetClassifier(store=store).fit(np.eye(3), [0, 1, 0])
    for use in (model.predict_one, lambda x: model.learn_one(x, 1)):
        with pytest.raises(ValueError, match="events have named features"):
            use({"a": 1.0})


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_classifier_in_a_service(make):
    model = make()
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"word": "lunch"}, "ham")
    assert model.predict_one({"word": "lunch"}) == "ham"
    assert model.predict_proba_one({"word": "lunch"}) == {"ham": 1.0}
    for _ in range(30):
        model.learn_one({"word": ["free", "money"], "length": 0.5}, "spam")
        model.learn_one({"word": "lunch", "length": 0.5}, "ham")
    assert model.predict_one({"word": "money"}) == "spam"
    assert model.predict_proba_one({"word": "lunch"})["ham"] > 0.6
    assert model.classes_.tolist() == ["ham", "spam"]


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_third_class_just_joins(make):
    model = make()
    events = [({"w": "a"}, 10), ({"w": "b"}, 20)] * 40
    for x, y in events:
        model.learn_one(x, y)
    score = model.model_.learner.score_one({"w": "b"})[0]
    model.learn_one({"w": "nothing known"}, 30)
    assert model.classes_.tolist() == [10, 20, 30]
    scores = model.model_.learner.score_one({"w": "b"})
    # auto keeps fewer settings where there are more classes, so its average is another one
    assert scores[1] == pytest.approx(score, abs=1.5 if make is riata.AutoClassifier else 0.5)
    for _ in range(40):
        model.learn_one({"w": "c"}, 30)
        for x, y in events[:2]:
            model.learn_one(x, y)
    for word, label in (("a", 10), ("b", 20), ("c", 30)):
        assert model.predict_one({"w": word}) == label
    assert sum(model.predict_proba_one({"w": "a"}).values()) == pytest.approx(1)
    model.learn_one({"w": "d"}, 40)
    assert len(model.classes_) == 4


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_classes_join_before_any_feature(make, tmp_path):
    """A model without a row becomes wider, and goes on from a file."""
    model = make()
    for label in ("a", "b", "c", "d", "a"):
        model.learn_one({}, label)
    model.save(tmp_path / "m.riata")
    again = riata.load(tmp_path / "m.riata")
    assert again.predict_proba_one({}) == model.predict_proba_one({})
    for each in (model, again):
        each.learn_one({"x": 1.0, "y": 2.0}, "c").learn_one({}, "e")
    assert again.predict_proba_one({"x": 1.0}) == model.predict_proba_one({"x": 1.0})
    assert list(model.classes_) == list("abcde")


@pytest.mark.parametrize("learner", [ElasticNet, TruncatedGradient, FTRL])
def test_widening_keeps_the_scores(learner):
    one = learner(store="table")
    for i in range(50):
        one.learn_one({"w": str(i % 7), "x": 0.3}, float(i % 2))
    three = one.with_outputs(3)
    for i in range(9):
        old, new = one.score_one({"w": str(i)})[0], three.score_one({"w": str(i)})
        assert new == pytest.approx([-old, old, 0.0])
    five = three.with_outputs(5)
    assert five.score_one({"w": "1"})[:3] == three.score_one({"w": "1"})
    assert five.names(five.coef()[0]) == three.names(three.coef()[0])
    with pytest.raises(ValueError, match="not more"):
        five.with_outputs(5)


@pytest.mark.parametrize("make", REGRESSORS)
def test_a_regressor_in_a_service(make):
    model = make()
    assert model.predict_one({"a": 1.0}) == 0.0
    for _ in range(400):
        model.learn_one({"size": 1.0, "town": "x"}, 3.0)
    assert model.predict_one({"size": 1.0, "town": "x"}) == pytest.approx(3.0, abs=0.5)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_names_live_as_long_as_the_model(make, tmp_path):
    model = make(**({"store": "table"} if hasattr(make(), "store") else {}))
    for i in range(200):
        model.learn_one({"user": f"u{i % 9}", "hour": i % 24 / 24}, i % 9 < 4)
    model.save(tmp_path / "m.riata")
    for again in (riata.load(tmp_path / "m.riata"), pickle.loads(pickle.dumps(model))):
        learner = again.model_.learner
        keys, _ = learner.coef()
        assert set(learner.names(keys)) <= {f"user=u{i}" for i in range(9)} | {"hour"}
        assert learner.score_one({"user": "u3"}) == model.model_.learner.score_one({"user": "u3"})
        assert again.predict_proba_one({"user": "u3"}) == model.predict_proba_one({"user": "u3"})
        again.learn_one({"user": "u3"}, True)
    assert again.classes_.tolist() == [True, False]


def test_a_name_goes_with_its_weight():
    learner = TruncatedGradient(gravity=0.2, eta0=0.5, learning_rate="constant", store="table")
    learner.learn_one({"once": 1.0}, 1.0)
    assert learner.names(learner.coef()[0]) == ["once"]
    for _ in range(50):
        learner.learn_one({"often": 1.0, "other": "x"}, 1.0)
        learner.learn_one({"often": 1.0, "other": "y"}, 0.0)
    assert "once" not in learner.names(learner.state()["keys"])


def test_events_equal_the_block_they_make():
    events = [({"u": str(i % 5), "x": i / 10}, float(i % 2)) for i in range(40)]
    one, many = ElasticNet(l1=1e-3), ElasticNet(l1=1e-3)
    single = [one.learn_one(x, y)[0] for x, y in events]
    arrays = [_core.event(x) for x, _ in events]
    lengths = np.cumsum([0] + [len(k) for k, *_ in arrays])
    sizes = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(o) for *_, o in arrays]))])
    block = riata.Block(
        indptr=lengths.astype(np.int64),
        indices=np.concatenate([k for k, *_ in arrays]),
        values=np.concatenate([v for _, v, *_ in arrays]),
        labels=np.array([y for _, y in events]),
        names=np.concatenate([n for *_, n, _ in arrays]),
        name_offsets=sizes.astype(np.int64),
    )
    assert many.learn(block)[:, 0].tolist() == single
    assert all(np.array_equal(one.state()[k], many.state()[k]) for k in one.state())


def test_any_mapping_will_do():
    class Lazy(Mapping):
        def __getitem__(self, key):
            return {"a": 1.0}[key]

        def __iter__(self):
            return iter(["a"])

        def __len__(self):
            return 1

    model = riata.FTRLClassifier().learn_one(Lazy(), "x").learn_one(Lazy(), "y")
    assert model.predict_one(Lazy()) in ("x", "y")


def test_numbers_and_names_do_not_mix():
    model = riata.ElasticNetClassifier(store="table").learn_one({"a": 1.0}, 1)
    with pytest.raises(ValueError, match="numbered and named features cannot share a model"):
        model.model_.learner.learn(riata.Block(
            np.array([0, 1]), np.array([3], dtype=np.int64), np.ones(1, dtype=np.float32), labels=np.ones(1),
        ))  # fmt: skip


def test_class_weights_of_events():
    heavy = riata.ElasticNetClassifier(class_weight={"b": 5.0})
    light = riata.ElasticNetClassifier()
    for model in (heavy, light):
        for _ in range(5):
            model.learn_one({"x": 1.0}, "a")
            model.learn_one({"x": 1.0}, "b")
    assert heavy.predict_proba_one({"x": 1.0})["b"] > light.predict_proba_one({"x": 1.0})["b"]
    with pytest.raises(ValueError, match="balanced"):
        riata.ElasticNetClassifier(class_weight="balanced").learn_one({"x": 1.0}, "a")


def items_seen(features: dict) -> list[tuple[str, float]]:
    block = event_block(features)
    return [(block.name_of(k), float(value)) for k, value in enumerate(block.values)]


@pytest.mark.parametrize("n", [0, 1, 5, 6, 60, 300, 70_000])
def test_every_item_of_a_dict_is_seen_once(n):
    features = {f"f{i}": float(i + 1) for i in range(n)}
    assert items_seen(features) == list(features.items())
    for i in range(0, n, 3):  # leaves holes, and fills some
        del features[f"f{i}"]
    assert items_seen(features) == list(features.items())
    features |= {f"f{i}": 0.5 for i in range(0, n, 6)}
    assert items_seen(features) == list(features.items())
    features.pop("f1", None)
    assert items_seen(features.copy()) == list(features.items())


def test_dicts_of_other_kinds():
    class Thing:
        pass

    thing, other = Thing(), Thing()
    thing.a, thing.b, other.b = 1.0, 2.0, 3.0
    for attributes in vars(thing), vars(other):  # they share their keys
        assert type(attributes) is dict
        assert items_seen(attributes) == list(attributes.items())

    class Name(str):
        pass

    assert items_seen({Name("a"): 1.0, "b": 2.0}) == [("a", 1.0), ("b", 2.0)]
    with pytest.raises(TypeError, match="string"):
        event_block({"a": 1.0, 3: 2.0})


TEXTS = [(f"free entry number {i} for you", "spam") for i in range(20)]
TEXTS += [(f"see you at home {i} tonight", "ham") for i in range(20)]


@pytest.mark.parametrize("estimator", [riata.FTRLClassifier, riata.FTRLRegressor])
def test_texts_are_noticed(estimator):
    model = estimator()

    def learn():
        for text, label in TEXTS:
            y = label if estimator is riata.FTRLClassifier else len(label)
            model.learn_one({"body": text, "city": "Rio de Janeiro", "n": 1.0}, y)

    with pytest.warns(UserWarning, match=r"'body' hold texts .*model.use_text\('body'\)") as said:
        learn()
    assert len(said) == 1
    assert said[0].filename == __file__


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("idf", [False, True])
def test_texts_are_taken_apart_as_those_of_tables(idf, tmp_path):
    rows = [{"body": text, "label": label} for text, label in TEXTS]
    tables = riata.FTRLClassifier().learn(rows, label="label", text=["body"], text_idf=idf)
    events = riata.FTRLClassifier().use_text("body", text_idf=idf)
    for text, label in sorted(TEXTS, key=lambda pair: pair[1]):
        events.learn_one({"body": text}, label)
    assert set(events.named_coef_) == set(tables.named_coef_)
    assert events.predict_one({"body": "entry is free"}) == "spam"
    events.save(tmp_path / "m.riata")
    loaded = riata.load(tmp_path / "m.riata")
    asked = {"body": "free at home"}
    expected = events.predict_proba_one(asked)
    assert loaded.predict_proba_one(asked) == expected
    assert events.predict_proba([asked])[0].tolist() == list(expected.values())
    with pytest.raises(ValueError, match="use_text comes first"):
        events.use_text("other")
