"""One small linear model of a model of auto."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import riata as library
from riata import _core, model_file
from riata.learners import Portfolio
from riata.learners.portfolio_settings import VIEWS
from riata.learners.portfolio_tools import best_single
from riata.packed_state import pack, unpack
from riata.record import Model, Record, Settings
from riata.sources import open_source
from tests.cli.helpers import riata, says


def mail(path: Path, n: int = 3000, classes: int = 2, seed: int = 0) -> Path:
    """Texts of words, a few of which say which class it is; rows of very different lengths."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        label = int(rng.integers(classes))
        length = int(rng.choice([3, 10, 200]))
        words = [f"w{k}:{1 + k % 4}" for k in set(rng.zipf(1.3, length).clip(1, 3000).tolist())]
        signs = [f"s{label}_{k}:{k}" for k in range(1, 4) if rng.random() < 0.4]
        lines.append(f"{label if classes > 2 else 2 * label - 1} | {' '.join(words + signs)}\n")
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("classes", [2, 3])
def test_a_small_model_predicts_nearly_as_well(tmp_path: Path, classes: int) -> None:
    train = mail(tmp_path / "d.vw", classes=classes)
    test = mail(tmp_path / "t.vw", classes=classes, seed=1)
    riata("train", train, "-o", tmp_path / "m", "-q")
    done = riata("compact", tmp_path / "m", "-o", tmp_path / "s")
    assert "one linear model" in done.out
    assert (tmp_path / "s").stat().st_size < (tmp_path / "m").stat().st_size / 5
    losses = {
        name: json.loads(riata("evaluate", tmp_path / name, test, "--json").out)["log_loss"]
        for name in "ms"
    }
    assert losses["s"] < 1.3 * losses["m"] + 0.02
    all_of_it = riata("compact", tmp_path / "m", "-o", tmp_path / "a", "--sparse", 0)
    assert "are left" in all_of_it.out
    kept = {n: library.load(tmp_path / n).model_.learner.n_live() for n in "sa"}
    assert kept["s"] < kept["a"]
    assert riata("predict", tmp_path / "s", test, "--proba").lines
    assert "s1_" in riata("inspect", tmp_path / "s", "--top", 8).out
    model = library.load(tmp_path / "s")
    said = model.predict_proba_one({"s1_1": 1.0, "s1_2": 2.0, "s1_3": 3.0})
    assert max(said.values()) == max(said[c] for c in said if float(c) == 1)


def test_the_single_model_lost_least(tmp_path: Path) -> None:
    riata("train", mail(tmp_path / "d.vw"), "-o", tmp_path / "m", "-q")
    model = library.load(tmp_path / "m").model_
    learner = model.learner
    assert isinstance(learner, Portfolio)
    assert learner.cost_of_collapse <= learner.cost_of_single
    now = learner._snapshot()
    losses = dict(zip((None, *VIEWS), now["single"][:, 5].tolist(), strict=True))
    left = {None, *(member["values"] for member in learner.members)}
    assert best_single(now).loss == min(losses[view] for view in left)
    # The cost is against what the progressive loss of the record is the mean of.
    assert now["corrected_loss"][0] == pytest.approx(model.record.progressive_loss * learner.t)


@pytest.mark.parametrize("view", ["unit", "unit-rms"])
@pytest.mark.parametrize(("classes", "kind"), [(2, "multinomial"), (3, "ovr"), (3, "multinomial")])
def test_the_average_of_a_view_is_exact(
    tmp_path: Path, view: str, classes: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One linear model of what these settings see scores as their average does, corrected."""
    from riata.learners import portfolio_tools

    outputs = 1 if classes == 2 else classes
    shared = classes == 3 and kind == "multinomial"
    # Corrected log odds do not tell what is linear of them where the others are a part of it.
    learner = Portfolio(
        keep_all=True, outputs=outputs, multi_class=kind, calibrate=False if shared else "auto"
    )
    data = mail(tmp_path / "d.vw", 500, classes=classes)
    for block in open_source(data):
        learner.learn(
            replace(block, labels=(block.labels > 0) * 1.0 if classes == 2 else block.labels)
        )
    now = learner._snapshot()
    chosen = portfolio_tools.Single(0.0, view)
    monkeypatch.setattr(portfolio_tools, "best_single", lambda now: chosen)
    single = learner.collapse()
    block = next(iter(open_source(data)))
    scores = learner._core.member_scores(block.indptr, block.indices, block.values, None)
    scores = scores.reshape(len(block), outputs, -1)
    if shared:  # scores that add up to zero: but for that, they are logarithms of probabilities
        scores = -np.logaddexp(0, -scores)
        scores -= scores.mean(axis=1, keepdims=True)
    own = np.array([member["values"] == view for member in learner.members])
    weights = now["weights"][:, own] / now["weights"][:, own].sum(axis=1, keepdims=True)
    average = np.einsum("nok,ok->no", scores[:, :, own], weights)
    first = (1 + VIEWS.index(view)) * outputs
    scales = np.array(_core.single_scale(now["single"][first : first + outputs]))
    wanted = average * scales[:, 0] + scales[:, 1]
    np.testing.assert_allclose(single.score(block), wanted, rtol=1e-4, atol=1e-4)


def test_what_it_loses_is_what_is_measured(tmp_path: Path) -> None:
    """The cost on data is that of the two models' own losses there, and --single saves what compact makes."""
    data, test = mail(tmp_path / "d.vw"), mail(tmp_path / "t.vw", 1000, seed=2)
    riata("train", data, "-o", tmp_path / "m", "-q")
    done = json.loads(
        riata("compact", tmp_path / "m", "-o", tmp_path / "s", "--data", test, "--json").out
    )
    losses = [
        json.loads(riata("evaluate", tmp_path / name, test, "--json").out)["log_loss"]
        for name in "ms"
    ]
    assert done["loss_on_data"] == pytest.approx(losses)
    said = riata("compact", tmp_path / "m", "-o", tmp_path / "s", "--data", test).out
    assert f"{losses[1] / losses[0] - 1:+.1%} log loss on the data given" in said
    riata("train", data, "-o", tmp_path / "t", "-q", "--sparse")
    assert (tmp_path / "t").stat().st_size < (tmp_path / "m").stat().st_size / 5
    block = next(iter(open_source(test)))
    small, direct = (library.load(tmp_path / name).model_.learner for name in "st")
    assert np.array_equal(small.score(block), direct.score(block))
    riata("train", data, "-o", tmp_path / "u", "-q", "--single")
    kept = {n: library.load(tmp_path / n).model_.learner.n_live() for n in "tu"}
    assert kept["t"] < kept["u"]
    assert (
        "auto"
        in riata("train", data, "-o", tmp_path / "x", "--method", "ftrl", "--single", code=2).err
    )
    assert (
        "compact"
        in riata("train", data, "-o", tmp_path / "x", "--shard", "1/2", "--single", code=2).err
    )


@pytest.mark.parametrize("named", [True, False])
def test_a_small_file_gives_the_same_model(tmp_path: Path, named: bool) -> None:
    data = mail(tmp_path / "d.vw", 500)
    learner = Portfolio()
    for block in open_source(data, names=named):
        learner.learn(replace(block, labels=(block.labels > 0) * 1.0))
    single = learner.collapse(0.005)
    model = Model(single, np.array([-1.0, 1.0]), Record(data=[], settings=Settings()))
    model_file.save(model, tmp_path / "plain")
    model_file.save(model, tmp_path / "small", small=True)
    sizes = [(tmp_path / name).stat().st_size for name in ("plain", "small")]
    assert sizes[1] < sizes[0] / 2
    states = [model_file.load(tmp_path / name).learner.state() for name in ("plain", "small")]
    assert states[0].keys() == states[1].keys()
    for name, tensor in states[0].items():
        assert tensor.dtype == states[1][name].dtype
        np.testing.assert_array_equal(tensor, states[1][name], err_msg=name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"shape": [10**15]}, "cannot have the shape"),
        ({"shape": [3]}, "has not the size"),
        ({"stored": "object"}, "of a kind that there is not"),
    ],
)
def test_packed_tensors_that_lie(change: dict[str, object], said: str) -> None:
    stored, header = pack({"keys": np.arange(1000)}, None, everything=True)
    header["tensors"]["keys"] |= change
    with pytest.raises(ValueError, match=said):
        unpack(stored, header, None)


def test_what_cannot_be_made_smaller(tmp_path: Path) -> None:
    data = mail(tmp_path / "d.vw", 50)
    riata("train", data, "-o", tmp_path / "m", "-q", "--method", "ftrl")
    assert "auto" in riata("compact", tmp_path / "m", "-o", tmp_path / "s", code=1).err
    riata("train", data, "-o", tmp_path / "m", "-q")
    riata("compact", tmp_path / "m", "-o", tmp_path / "m", code=2)
    riata("compact", tmp_path / "m", "-o", tmp_path / "no" / "s", code=1)
    riata("compact", tmp_path / "m", "-o", tmp_path / "s", "--sparse", 2, code=2)


@pytest.mark.parametrize("part", ["nan", "2"])
def test_a_part_of_the_loss_is_a_number(tmp_path: Path, part: str) -> None:
    train, model = mail(tmp_path / "d.vw", 200), tmp_path / "m.riata"
    says(["train", str(train), "-o", str(model), f"--sparse={part}"], 2, "--sparse")
    assert not model.exists()
    riata("train", train, "-o", model, "-q")
    says(
        ["compact", str(model), "-o", str(tmp_path / "s.riata"), f"--sparse={part}"], 2, "--sparse"
    )
    with pytest.raises(ValueError, match="sparse"):
        library.load(model).collapse(sparse=float("nan"))
