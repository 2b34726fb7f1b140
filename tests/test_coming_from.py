"""The tables of docs/coming-from/: what they name is there, here and in the libraries that they are about."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import riata
import riata.plot
from riata.cli import COMMANDS
from tests.cli.helpers import riata as riata_command

PAGES = Path(__file__).parents[1] / "docs" / "coming-from"
Row = tuple[list[str], list[str]]
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z0-9_-]*|-[a-zA-Z])(?![\w-])")


def table(page: str) -> list[Row]:
    """Of each row of the page's table what stands as code on the left and on the right."""
    lines = [line for line in (PAGES / page).read_text().splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", line)[1:3] for line in lines[1:]]
    return [(re.findall(r"`([^`]+)`", a), re.findall(r"`([^`]+)`", b)) for a, b in cells]


@cache
def options(command: str) -> set[str]:
    found = importlib.import_module(f"riata.cli.{command}").command
    parameters = found.get_params(click.Context(found))
    return {name for p in parameters for name in (*p.opts, *p.secondary_opts)}


@pytest.mark.parametrize("page", ["vowpal-wabbit.md", "fasttext.md"])
def test_options_of_commands_are_there(page: str) -> None:
    seen = 0
    for _, codes in table(page):
        for code in codes:
            named = re.match(r"riata (\w+)", code)
            command = named[1] if named else "train"
            assert command in COMMANDS
            for flag in FLAG.findall(code):
                assert flag in options(command), f"{page}: riata {command} has no {flag}"
                seen += 1
    assert seen > 3


def fitted() -> list[Any]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    path = riata.SketchClassifierCV(path_length=3, folds=2).fit(X, y)
    events = riata.FTRLClassifier()
    events.learn_one({"a": 1.0}, 1)
    return [path, events, riata.AutoRegressor(), riata.FTRLClassifier().fit(X, y)]


READING = {"label", "text", "offset", "ignore", "weight"}
"""Options of reading that `learn` hands on: tests of sources have them."""


def check_ours(code: str, models: list[Any]) -> None:
    """A name, a parameter with its value, or an expression with calls."""
    given = re.fullmatch(r"(\w+)=(.*)", code)
    if given:
        assert any(given[1] in model.get_params() for model in models), code
        ast.parse(given[2], mode="eval")
        return
    if code.startswith("--"):
        assert code in options("train"), code
        return
    for node in ast.walk(ast.parse(code, mode="eval")):
        if isinstance(node, ast.Call):
            called = resolve(node.func, models)
            known = inspect.signature(called).parameters
            free = any(p.kind == p.VAR_KEYWORD for p in known.values())
            for keyword in node.keywords:
                assert keyword.arg in known or (free and keyword.arg in READING), code
        elif isinstance(node, ast.Attribute):
            resolve(node, models)


def resolve(node: ast.expr, models: list[Any]) -> Any:
    if isinstance(node, ast.Subscript):
        return resolve(node.value, models)[0]
    if isinstance(node, ast.Attribute):
        return getattr(resolve(node.value, models), node.attr)
    assert isinstance(node, ast.Name), ast.dump(node)
    if node.id == "riata":
        return riata
    if hasattr(riata, node.id):
        return getattr(riata, node.id)
    owner = next(model for model in models if hasattr(model, node.id))
    return getattr(owner, node.id)


NOT_NAMES = {"gamma / n", '{"words": [...]}', "riata train"}
"""Code that is no name or call of Python's."""


@pytest.mark.parametrize("page", ["scikit-learn.md", "river.md", "glmnet.md"])
def test_names_and_parameters_are_there(page: str) -> None:
    models = fitted()
    for _, codes in table(page):
        for code in codes:
            if code in NOT_NAMES:
                continue
            check_ours(code, models)
            if re.fullmatch(r"\w+", code):
                known = [riata, *models, *inspect.signature(models[0].fit).parameters]
                known += list(models[0].get_params())
                assert code in known or any(hasattr(k, code) for k in known), f"{page}: {code}"


def test_a_wrong_name_is_noticed() -> None:
    models = fitted()
    for wrong in ("FTRLClassifier(gamma=1)", "riata.swep(1)", "FTRLClassifier().fitt", "lamda=3"):
        with pytest.raises((AssertionError, AttributeError, StopIteration)):
            check_ours(wrong, models)


@pytest.fixture(scope="module")
def flags_of_vw() -> set[str]:
    pytest.importorskip("vowpalwabbit")
    words = [sys.executable, "-m", "vowpalwabbit", "--help"]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    return set(FLAG.findall(said.stdout + said.stderr))


def test_flags_of_vowpal_wabbit_are_there(flags_of_vw: set[str]) -> None:
    for codes, _ in table("vowpal-wabbit.md"):
        for code in codes:
            flags = FLAG.findall(code)
            assert flags or code == "FILE" or not code.startswith("-")
            assert not set(flags) - flags_of_vw, code


def test_flags_of_vowpal_wabbit_are_answered(tmp_path: Path) -> None:
    """Those that `riata train` lacks, with something that stands in the table."""
    (tmp_path / "d.vw").write_text("1 |a b\n-1 |a c\n")
    answers: dict[str, set[str]] = {}
    for codes, ours in table("vowpal-wabbit.md"):
        named = {f for code in ours for f in FLAG.findall(code)}
        named |= {command for code in ours for command in re.findall(r"riata \w+", code)}
        for flag in {flag for code in codes for flag in FLAG.findall(code)} - options("train"):
            answers.setdefault(flag, set()).update(named)
    for flag, named in answers.items():
        said = riata_command("train", tmp_path / "d.vw", "-o", tmp_path / "m", flag, code=2).err
        assert "here it is" in said or "Did you mean" in said, f"{flag}: {said}"
        assert not named or any(name in said for name in named), f"{flag}: {said}"
    assert len(answers) > 20


def rival(module: str, node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute):
        inner = rival(module, node.value)
        if inspect.ismodule(inner) and not hasattr(inner, node.attr):
            return importlib.import_module(f"{inner.__name__}.{node.attr}")
        return getattr(inner, node.attr)
    assert isinstance(node, ast.Name)
    if module == "river":
        return importlib.import_module(f"river.{node.id}")
    from sklearn.utils import all_estimators

    return dict(all_estimators())[node.id]


@pytest.mark.parametrize("page", ["scikit-learn.md", "river.md"])
def test_names_of_the_others_are_there(page: str) -> None:
    module = {"scikit-learn.md": "sklearn", "river.md": "river"}[page]
    pytest.importorskip(module)
    calls = names = 0
    for codes, _ in table(page):
        for code in codes:
            if re.fullmatch(r'[a-z_0-9]+(=".*")?', code):  # a method or parameter by itself
                continue
            for node in ast.walk(ast.parse(code, mode="eval")):
                if isinstance(node, ast.Call):
                    parameters = inspect.signature(rival(module, node.func)).parameters
                    for keyword in node.keywords:
                        assert keyword.arg in parameters, code
                    calls += 1
            top = ast.parse(code, mode="eval").body
            if isinstance(top, ast.Name | ast.Attribute):
                assert rival(module, top) is not None
                names += 1
    assert calls + names > 5
