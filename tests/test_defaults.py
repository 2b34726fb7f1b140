"""One set of defaults: a family has the same ones as learner, as estimator and on the command line."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import click
import pytest

import riata
from riata.cli.options import NOT_OPTIONS, flag_name, method_options
from riata.cli.train import command
from riata.estimators import ESTIMATORS
from riata.estimators.base import LinearEstimator
from riata.estimators.regressor import LinearRegressor
from riata.learners import FAMILIES, Learner

REGRESSION_ONLY = {"clip", "epsilon", "quantile"}
OF_TRAINING = {"passes", "shuffle", "random_state", "holdout", "patience", "class_weight", "prior"}


def parameters(learner: type[Learner]) -> set[str]:
    return {f.name for f in fields(learner) if f.init}  # type: ignore[arg-type]


def signature(estimator: type[LinearEstimator]) -> dict[str, Any]:
    return {
        name: p.default
        for name, p in inspect.signature(estimator).parameters.items()
        if name != "self"
    }


def test_all_estimators_are_here() -> None:
    assert {e._learner for e in ESTIMATORS} == set(FAMILIES.values())
    public = {value for name in riata.__all__ if inspect.isclass(value := getattr(riata, name))}
    assert {*ESTIMATORS, riata.SketchClassifierCV} == {
        value for value in public if issubclass(value, LinearEstimator)
    }


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_an_estimator_has_the_parameters_and_defaults_of_its_learner(
    estimator: type[LinearEstimator],
) -> None:
    given = signature(estimator)
    loss = {"loss": given["loss"]} if "loss" in given else {}
    learner = estimator._learner(**loss).parameters()  # with defaults that depend on the loss
    expected = parameters(estimator._learner) - {"outputs"}
    if not issubclass(estimator, LinearRegressor):
        expected -= REGRESSION_ONLY
    if "clip" not in parameters(estimator._learner):
        expected -= {"clip"}
    own = set(given) - OF_TRAINING
    assert own == expected
    unset = {name for name in own if given[name] is None}
    chosen = {f.name for f in fields(estimator._learner) if f.default is None}  # type: ignore[arg-type]
    assert unset <= chosen  # by the learner, as the other parameters want it
    assert {name: given[name] for name in own - unset} == {
        name: learner[name] for name in own - unset
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_the_command_line_has_every_parameter_and_no_default_of_its_own(family: str) -> None:
    options = {p.name: p for p in command.get_params(click.Context(command))}
    for name in parameters(FAMILIES[family]) - set(NOT_OPTIONS):
        assert options[name].default is None, name
        assert flag_name(name) in options[name].opts + options[name].secondary_opts


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared", "quantile"])
@pytest.mark.parametrize("family", ["elastic-net", "truncated"])
def test_steps_are_safe_unless_others_are_chosen(family: str, loss: str) -> None:
    """Rates of AdaGrad on scaled features; with a schedule, the first steps of a regression are small."""
    make: Any = FAMILIES[family]
    learner = make(loss=loss)
    assert (learner.learning_rate, learner.eta0, learner.feature_scale) == ("adagrad", 0.25, "rms")
    assert make(loss=loss, eta0=0.3).eta0 == 0.3
    schedule = make(loss=loss, learning_rate="inv_sqrt")
    assert schedule.eta0 == (0.5 if loss in ("logistic", "hinge") else 0.01)
    assert make(loss=loss, learning_rate="invscaling", eta0=2.0).eta0 == 2.0


def test_the_help_says_the_defaults() -> None:
    shown = {p.name: p.help or "" for p in method_options(tuple(FAMILIES))}
    assert "[default: 0.25; with a schedule 0.5, of a regression 0.01]" in shown["eta0"]
    assert "[default: adagrad]" in shown["learning_rate"]
