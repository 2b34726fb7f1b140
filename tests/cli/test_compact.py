"""One small linear model of a model of auto."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import riata as library
from riata.learners import Portfolio
from riata.learners.portfolio_tools import best_single
from riata.sources import open_source
from tests.cli.helpers import riata


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
    learner = library.load(tmp_path / "m").model_.learner
    assert isinstance(learner, Portfolio)
    assert learner.cost_of_collapse <= learner.cost_of_single
    now = learner._snapshot()
    single = best_single(now)
    of_length_one = [m["loss"] for m in learner.members if m["values"].startswith("unit")]
    assert single.loss == min(now["single"][:, 5].sum(), *of_length_one)


@pytest.mark.parametrize("member", ["unit", "unit-rms"])
def test_a_setting_of_rows_of_length_one_is_exact(
    tmp_path: Path, member: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A linear model of scaled rows scores as the setting does."""
    from riata.learners import portfolio_tools

    learner = Portfolio(keep_all=True)
    for block in open_source(mail(tmp_path / "d.vw", 500)):
        learner.learn(block)
    now = learner._snapshot()
    place = [m["values"] for m in learner.members].index(member)
    chosen = portfolio_tools.Single(0.0, place, member)
    monkeypatch.setattr(portfolio_tools, "best_single", lambda now: chosen)
    single = learner.collapse()
    block = next(iter(open_source(tmp_path / "d.vw")))
    wanted = learner._core.member_scores(block.indptr, block.indices, block.values, None)[:, place]
    np.testing.assert_allclose(single.score(block)[:, 0], wanted, rtol=1e-5, atol=1e-5)
    assert len(now["keys"]) >= single.n_live()


def test_what_cannot_be_made_smaller(tmp_path: Path) -> None:
    data = mail(tmp_path / "d.vw", 50)
    riata("train", data, "-o", tmp_path / "m", "-q", "--method", "ftrl")
    assert "auto" in riata("compact", tmp_path / "m", "-o", tmp_path / "s", code=1).err
    riata("train", data, "-o", tmp_path / "m", "-q")
    riata("compact", tmp_path / "m", "-o", tmp_path / "m", code=2)
    riata("compact", tmp_path / "m", "-o", tmp_path / "no" / "s", code=1)
    riata("compact", tmp_path / "m", "-o", tmp_path / "s", "--sparse", 2, code=2)
