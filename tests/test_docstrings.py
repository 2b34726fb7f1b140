"""Everything that can be imported from riata says what it is for."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import riata
import riata.plot
import riata.report

PUBLIC = {f"riata.{name}": getattr(riata, name) for name in riata.__all__}
PUBLIC |= {
    f"{module.__name__}.{name}": thing
    for module in (riata.plot, riata.report)
    for name, thing in vars(module).items()
    if not name.startswith("_")
    and inspect.isfunction(thing)
    and thing.__module__.startswith("riata.")
}


def own_members(thing: Any) -> list[tuple[str, Any]]:
    """The public methods and properties that Riata itself defines."""
    if not inspect.isclass(thing):
        return []
    found = []
    for name, value in inspect.getmembers(thing):
        code = getattr(value, "fget", value)
        home = str(getattr(code, "__module__", ""))
        if (
            not name.startswith("_")
            and home.startswith("riata")
            and (callable(value) or isinstance(value, property))
        ):
            found.append((name, value))
    return found


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_have_docstrings(name: str) -> None:
    thing = PUBLIC[name]
    if isinstance(thing, str):  # __version__
        return
    assert inspect.getdoc(thing), name
    silent = [member for member, value in own_members(thing) if not inspect.getdoc(value)]
    assert not silent


def test_learn_is_described() -> None:
    assert "label" in (inspect.getdoc(riata.FTRLClassifier.learn) or "")
