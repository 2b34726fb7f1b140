"""Names hashed by a key of one's own: chosen names do not collide, and models take their key along."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata import FTRLClassifier, _core, model_file
from riata import load as riata_load
from riata.errors import SettingsError
from riata.learners import FAMILIES, ElasticNet
from riata.schema import Schema
from riata.sources import ReadOptions, open_source
from riata.training import evaluate, train
from tests.cli.helpers import riata

KEY = "00112233445566778899aabbccddeeff"
OTHER = "f" * 32
CONSTANT = 0xE7037ED1A0B428DB.to_bytes(8, "little")


def vw(rows: int = 600) -> str:
    rng = np.random.default_rng(1)
    lines = []
    for i in range(rows):
        words = " ".join(f"w{j}" for j in rng.choice(80, 6, replace=False))
        lines.append(f"{i % 2 * 2 - 1} |t {words} {'good' if i % 2 else 'a_name_beyond_16_bytes'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "x.vw"
    path.write_text(vw())
    return path


def keys(source: Any) -> list[int]:
    return [int(key) for block in source for key in block.indices]


def test_names_that_were_chosen_to_meet(tmp_path: Path) -> None:
    """Whatever stands before the constant of the hash is forgotten, unless a key says otherwise."""
    path = tmp_path / "x.vw"
    path.write_bytes(b"".join(b"1 | %08d%sand_more\n" % (i, CONSTANT) for i in range(300)))
    assert len(set(keys(open_source(path)))) == 1
    for key in (KEY, "random"):
        assert len(set(keys(open_source(path, hash_key=key)))) == 300


@pytest.mark.parametrize("cache", [None, True])
def test_a_key_changes_keys_and_nothing_else(data: Path, cache: bool | None) -> None:
    plain = open_source(data)
    source: Any = open_source(data, hash_key=KEY, cache=cache, block_rows=100)
    wanted = [
        (n, v) for b in plain for n, v in zip(map(b.name_of, range(b.nnz)), b.values, strict=True)
    ]
    for _ in range(2):
        found = []
        for block in source:
            for k in range(block.nnz):
                name = block.name_of(k)
                found.append((name, block.values[k]))
                offsets = np.array([0, len(name)])
                text = np.frombuffer(name.encode(), np.uint8)
                own = _core.keys_of_names(text, offsets, bytes.fromhex(KEY))
                assert block.indices[k] == own[0] != _core.key_of_name(name.encode())
        assert found == wanted
    assert source.schema.hash_key == KEY


def test_a_cache_is_good_for_one_key(data: Path) -> None:
    cache = data.parent / "x.riata-cache"
    seen = [keys(open_source(data, hash_key=key, cache=cache)) for key in (KEY, OTHER, None)]
    assert seen[2] == keys(open_source(data))
    assert len({tuple(some) for some in seen}) == 3
    keys(open_source(data, hash_key=KEY, cache=cache))
    assert keys(open_source(cache, hash_key=KEY)) == seen[0]  # as a file of its own
    assert keys(open_source(cache, hash_key=OTHER)) == seen[1]
    assert keys(open_source(cache)) == seen[2]


@pytest.mark.parametrize(
    "how",
    [
        [],
        ["--store", "hashed"],
        ["--method", "bayesian"],
        ["--method", "interior"],
        ["--method", "sketch"],
    ],
)
def test_a_model_takes_its_key_along(data: Path, how: list[str]) -> None:
    plain, own = data.parent / "plain", data.parent / "own"
    riata("train", data, "-o", plain, "-q", *how)
    riata("train", data, "-o", own, "-q", "--hash-key", KEY, *how)
    assert model_file.load(own).schema.hash_key == KEY
    scores = [
        np.array(riata("predict", model, data, "--score").out.split(), float)
        for model in (plain, own)
    ]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-6, atol=1e-9)
    losses = [riata("evaluate", model, data, "--json").out for model in (plain, own)]
    assert losses[0][:40] == losses[1][:40]
    learner = model_file.load(own).learner
    event = {"t^w3": 1.0, "t^good": 1.0, "t^a_name_beyond_16_bytes": 2.0}
    wanted = model_file.load(plain).learner.score_one(event)
    assert any(wanted)
    for one in (learner, pickle.loads(pickle.dumps(learner))):
        np.testing.assert_allclose(one.score_one(event), wanted, rtol=1e-6, atol=1e-9)


def test_going_on_with_the_same_key(data: Path) -> None:
    whole, part, more = (data.parent / name for name in ("whole", "part", "more"))
    riata("train", data, "-o", whole, "-q", "--hash-key", KEY, "--passes", 2)
    riata("train", data, "-o", part, "-q", "--hash-key", KEY)
    riata("train", data, "-o", more, "-q", "--resume", part, "--passes", 2)
    assert model_file.load(more).record.hash_key == bytes.fromhex(KEY)
    names = model_file.load(whole).learner.state()
    for name, array in model_file.load(more).learner.state().items():
        np.testing.assert_array_equal(array, names[name])
    done = riata("train", data, "-o", more, "--initial", part, "--hash-key", OTHER, code=2)
    assert "takes the hash key from the model" in done.err


def test_events_of_a_model_with_a_key(data: Path) -> None:
    model = data.parent / "m"
    riata("train", data, "-o", model, "-q", "--hash-key", KEY)
    learner = model_file.load(model).learner
    live = learner.n_features
    learner.learn_one({"t^w3": 1.0, "t^good": 1.0}, 1.0)  # known
    assert learner.n_features == live
    learner.learn_one({"t^new": 1.0}, 0.0)
    assert learner.n_features == live + 1


def test_keys_are_not_mixed(data: Path) -> None:
    own, other, plain = (open_source(data, hash_key=key) for key in (KEY, OTHER, None))
    for first, second in ((own, other), (own, plain), (plain, own)):
        learned = train(first, lambda m: ElasticNet(outputs=m))
        for use in (
            lambda learned=learned, second=second: train(second, learned.learner),
            lambda learned=learned, second=second: train(
                second, learned.learner, resume=learned, passes=2
            ),
            lambda learned=learned, second=second: evaluate(learned, second),
            lambda first=first, second=second: train(
                first, lambda m: ElasticNet(outputs=m), holdout=second
            ),
        ):
            with pytest.raises(SettingsError, match="hashed by another key than the model's"):
                use()
    assert train(own, learned_from(own).learner).record.hash_key == bytes.fromhex(KEY)


def learned_from(source: Any) -> Any:
    return train(source, lambda m: ElasticNet(outputs=m))


@pytest.mark.parametrize("of_two", [True, False])
def test_an_estimator_of_events_with_a_key(data: Path, of_two: bool) -> None:
    usual, keyed = FTRLClassifier(), FTRLClassifier().use_hash_key(KEY)
    for model in (usual, keyed):
        for i in range(60):
            label = f"class {i % 2 if of_two else i % 3}"
            model.learn_one({"word": f"w{i % 7}", "a name of more than 16": i % 2}, label)
    event = {"word": "w3", "a name of more than 16": 1.0}
    path = data.parent / "saved"
    keyed.save(path)
    wanted = usual.predict_proba_one(event)
    for model in (keyed, riata_load(path), pickle.loads(pickle.dumps(keyed))):
        assert model.predict_proba_one(event) == pytest.approx(wanted)
        assert model.model_.record.hash_key == bytes.fromhex(KEY)
        assert model.model_.learner.hash_key == bytes.fromhex(KEY)
    assert set(keyed.named_coef_) == set(usual.named_coef_)
    assert {int(k) for k in keyed.model_.learner.coef()[0]}.isdisjoint(
        int(k) for k in usual.model_.learner.coef()[0]
    )
    with pytest.raises(ValueError, match="comes first"):
        keyed.use_hash_key(OTHER)
    again = FTRLClassifier().use_hash_key(KEY).learn(data)
    assert again.model_.record.hash_key == bytes.fromhex(KEY)


def test_random_keys_differ_and_stay_with_their_options() -> None:
    one, two = ReadOptions(hash_key="random"), ReadOptions(hash_key="random")
    assert one.hash_key != two.hash_key
    assert ReadOptions.of(one, {"threads": 1}).hash_key == one.hash_key
    assert ReadOptions(schema=Schema(hash_key=KEY)).hash_key == KEY
    for schema, key in ((Schema(hash_key=KEY), OTHER), (Schema(), KEY)):
        with pytest.raises(ValueError, match="where the model was trained: leave it out"):
            ReadOptions(schema=schema, hash_key=key)


@pytest.mark.parametrize("bad", ["", "12", "g" * 32, "1" * 31, "0x" + "1" * 30, "11 " * 10 + "11"])
def test_what_is_no_key(bad: str) -> None:
    with pytest.raises(ValueError, match="32 hexadecimal digits, or random"):
        ReadOptions(hash_key=bad)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_key_of_a_model_has_16_bytes(family: str) -> None:
    with pytest.raises(ValueError, match="has 16 bytes, not 5"):
        FAMILIES[family]().use_hash_key(b"short")


def test_numbers_need_no_key(tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_text(f"1 1:1 {2**40}:2\n-1 2:1\n" * 5)
    assert keys(open_source(path, hash_key=KEY)) == keys(open_source(path))
    assert os.fspath(path) == open_source(path, hash_key=KEY).name


def test_keys_of_names_refuses(tmp_path: Path) -> None:
    text = np.frombuffer(b"abc", np.uint8)
    for offsets in ([], [0, 4], [-1, 2], [2, 1]):
        with pytest.raises(ValueError, match="offsets must"):
            _core.keys_of_names(text, np.array(offsets, np.int64), None)
    with pytest.raises(ValueError, match="16 bytes"):
        _core.keys_of_names(text, np.array([0, 3]), b"short")
