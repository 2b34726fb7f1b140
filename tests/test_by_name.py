"""Bounds and priors for features that there are not: an error where that is known, else said at the end."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import riata
from riata.errors import DataError, SettingsError
from riata.learners import Sketch
from riata.shards import train_shards
from tests.cli.helpers import riata as command

UNSEEN = "was of no use"


def by_name(names: Any) -> Iterator[Any]:
    """Estimators with a setting for each of these names."""
    bounds = dict.fromkeys(names, (0, None))
    yield riata.SketchClassifier(bounds=bounds)
    yield riata.InteriorPointClassifier(bounds=bounds, passes=1)
    yield riata.BayesianClassifier(prior_variance=dict.fromkeys(names, 0.5) | {"*": 1.0})


FAMILIES = range(3)


def make(family: int, *names: Any) -> Any:
    return list(by_name(names))[family]


@pytest.fixture
def frame() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 2)), columns=["price", "length"])
    X["city"] = rng.choice(["Rome", "Oslo"], 100)
    return X, (rng.random(100) > 0.5).astype(int)


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    path = tmp_path / "mail.vw"
    path.write_text("1 |words free entry\n-1 |words see you\n" * 20)
    return path


@pytest.mark.parametrize("family", FAMILIES)
def test_a_name_that_is_no_column_is_refused(family: int, frame: Any) -> None:
    with pytest.raises(SettingsError, match=r"'pirce'.*its columns are .*did you mean 'price'\?"):
        make(family, "pirce").fit(*frame)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_category_that_never_came_is_said(family: int, frame: Any) -> None:
    with pytest.warns(UserWarning, match=f"'city=Roma' {UNSEEN}.*did you mean 'city=Rome'"):
        make(family, "city=Roma").fit(*frame)


@pytest.mark.parametrize("family", FAMILIES[1:])  # a sketch with bounds needs passes
def test_partial_fit_complains_as_fit_does(family: int, frame: Any) -> None:
    X, y = frame
    numbers = X[["price", "length"]]
    with pytest.raises(SettingsError, match=r"'pirce'.*its columns are .*did you mean 'price'\?"):
        make(family, "pirce").partial_fit(X, y, [0, 1])
    with pytest.raises(SettingsError, match="'price': the features of X have numbers, not names"):
        make(family, "price").partial_fit(numbers.to_numpy(), y, [0, 1])
    if family == 1:
        with pytest.raises(SettingsError, match="feature 2: X has 2 features, from 0 to 1"):
            make(family, 2).partial_fit(numbers.to_numpy(), y, [0, 1])
    unseen = f"'city=Roma' {UNSEEN} until now.*did you mean 'city=Rome'"
    with pytest.warns(UserWarning, match=unseen):
        model = make(family, "city=Roma", "price").partial_fit(X, y, [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.partial_fit(X, y)
    model = make(family, "pirce")
    with pytest.raises(SettingsError):
        model.partial_fit(X, y, [0, 1])
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_namespace_that_never_came_is_said(family: int, mail: Path) -> None:
    with pytest.warns(UserWarning, match=rf"mail.vw: .*'wrods' {UNSEEN}.*did you mean 'words'"):
        make(family, "wrods", "words").learn(str(mail))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["words", "words^free"])
def test_nothing_is_said_of_what_came(family: int, name: str, mail: Path) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        make(family, name).learn(str(mail))
    assert not [w for w in said if UNSEEN in str(w.message)]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_beginning_of_a_name_is_another_name(family: int, mail: Path) -> None:
    with pytest.warns(UserWarning, match=f"'words.fre' {UNSEEN}"):
        make(family, "words^fre").learn(str(mail))
    with pytest.warns(UserWarning, match=f"'ords' {UNSEEN}"):
        make(family, "ords").learn(str(mail))


@pytest.mark.parametrize("family", [0, 1])
def test_numbers_beyond_those_of_a_matrix_are_refused(family: int) -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    with pytest.raises(SettingsError, match="feature 7: .* has 4 features, from 0 to 3"):
        make(family, 7).fit(X, y)


def test_names_for_a_matrix_are_refused() -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    for family in FAMILIES:
        with pytest.raises((SettingsError, DataError), match="'price'.*numbers, not names"):
            make(family, "price").fit(X, y)


def test_numbers_that_never_came_are_said(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_text("1 1:1 3:1\n-1 2:1\n" * 20)
    with pytest.warns(UserWarning, match=f"feature 7 {UNSEEN}"):
        riata.SketchClassifier(bounds={7: (0, None)}).learn(str(tmp_path / "d.svm"))


def test_sweeps_say_it_and_shards_refuse_it(mail: Path, frame: Any) -> None:
    with pytest.warns(UserWarning, match=f"'wrods' {UNSEEN}"):
        riata.sweep(str(mail), {"prior_variance": [{"wrods": 1.0}]}, "bayesian")
    with pytest.raises(SettingsError, match="'wrods'.*its columns are"):
        riata.sweep(frame[0], {"prior_variance": [{"wrods": 1.0}]}, "bayesian", y=frame[1])
    with pytest.raises(SettingsError, match="bounds=.*cannot be trained by shards"):
        train_shards(str(mail), lambda m: Sketch(bounds={"words": (0, None)}), shards=2)


def test_on_the_command_line(mail: Path, tmp_path: Path) -> None:
    words = ("train", mail, "-o", tmp_path / "m", "--method", "interior", "--passes", "1")
    with pytest.warns(UserWarning, match=rf"bounds of 'wrods' {UNSEEN}.*did you mean 'words'\?"):
        command(*words, "--bounds", "wrods:0:inf")
    (tmp_path / "t.csv").write_text("label,price\n" + "1,2\n0,1\n" * 20)
    words = ("train", tmp_path / "t.csv", "-o", tmp_path / "m", "--method", "sketch")
    said = command(*words, "--bounds", "pirce:0:inf", code=2).err
    assert "did you mean 'price'?" in said


@pytest.mark.parametrize("make", [riata.SketchClassifier, riata.InteriorPointClassifier])
@pytest.mark.parametrize("bounds", [{"a": (-0.5, 0.5)}, (-0.5, 0.5)])
def test_a_bound_that_is_for_a_deviation_is_said(make: Any, bounds: Any) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(0, 40, 200), "c": rng.choice(["x", "y"], 200)})
    labels = (rows["a"].to_numpy() + rng.normal(0, 40, 200) > 0).astype(int)
    with pytest.warns(UserWarning, match="column 'a' is divided by .*--scale none"):
        make(bounds=bounds).fit(rows, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(bounds=(0, None)).fit(rows, labels)
        make(bounds=bounds).learn(rows.assign(label=labels), label="label", scale="none")
