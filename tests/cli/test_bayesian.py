"""Options of `--method bayesian` on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riata import model_file
from riata.learners import Bayesian
from tests.cli.helpers import riata, write_problem


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_problem(tmp_path / "d.svm", n=60)
    return tmp_path / "d.svm"


def trained(data: Path, *options: object) -> Bayesian:
    path = data.parent / "m"
    path.unlink(missing_ok=True)
    riata("train", data, "--method", "bayesian", "-o", path, *options)
    learner = model_file.load(path).learner
    assert isinstance(learner, Bayesian)
    return learner


def test_seed_draws_the_samples_of_vb(data: Path) -> None:
    vb = ("--update", "vb", "--samples", "5")
    one, same, other = (trained(data, *vb, "--seed", seed).state()["rows"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize(
    ("options", "calibrates"),
    [
        ((), True),
        (("--calibrate", "off"), False),
        (("--prior-variance", "1"), False),
        (("--prior-variance", "1", "--calibrate", "on"), True),
    ],
)
def test_calibrate(data: Path, options: tuple[str, ...], calibrates: bool) -> None:
    learner = trained(data, *options)
    assert learner.calibrates is calibrates
    assert (learner.correction != [1, 1, 0]).any() == calibrates
