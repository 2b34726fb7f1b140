"""The parts of papers/bayesian-2021, on small data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType

import pytest

Paper = Callable[[str, str], ModuleType]
FOLDER = "bayesian-2021"


def test_power_a_half_is_riatas_adagrad(paper: Paper) -> None:
    schedules, regret, synthetic = (paper(FOLDER, n) for n in ("schedules", "regret", "synthetic"))
    stream = partial(synthetic.random_features, 0, 2000, 200, 20, 1.0)
    found = regret.past([stream], {"SGD": {"": regret.sgd(0.2)}})["SGD"]["ends"][0]
    ours = schedules.regrets(stream, [(0.5, 0.2, 1e-30), (1.0, 2.0, 3.0)])
    assert ours[0] == pytest.approx(found, rel=1e-9)
    assert ours[1] != pytest.approx(found, rel=1e-3)


def test_the_same_samples_are_worse_than_new_ones(paper: Paper) -> None:
    fixed, synthetic = (paper(FOLDER, n) for n in ("fixed_samples", "synthetic"))
    stream = partial(synthetic.random_features, 0, 4000, 200, 20, 1.0)
    new, same = (fixed.regret(stream, 20, 5, fresh=f) for f in (True, False))
    assert 0 < new < same


def test_figure_6_is_judged_by_its_own_claim(paper: Paper) -> None:
    figures = paper(FOLDER, "figures")

    def ends(sgd: float, joint: float) -> dict[str, float]:
        return {"Algorithm 1": 100.0, "SGD, AdaGrad": sgd, "DimGauss": joint}

    assert figures.dimgauss_breaks(ends(105, 200)) == "reproduced"
    assert figures.dimgauss_breaks(ends(140, 130)).startswith("comparable: SGD 1.40")
    assert figures.dimgauss_breaks(ends(105, 102)).startswith("not")
