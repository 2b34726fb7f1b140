"""A small problem in a file, and models of a table with the tables that they learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.helpers import COLUMNS, riata, write_problem
from tests.explained import frame


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_problem(tmp_path / "d.svm")
    return tmp_path / "d.svm"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of two and of three classes, and of a regression, with their data."""
    place = tmp_path_factory.mktemp("reading")
    for name, classes in (("two", 2), ("three", 3)):
        table = frame(classes)
        table.insert(0, "id", [f"r{i}" for i in range(len(table))])
        table.to_csv(place / f"{name}.csv", index=False)
        words = ["-o", place / f"{name}.riata", *COLUMNS, "--method", "ftrl"]
        riata("train", place / f"{name}.csv", *words)
    table = frame().drop(columns="y")
    table["y"] = table.price * 2
    table.to_csv(place / "number.csv", index=False)
    words = ["--label", "y", "--loss", "squared", "--method", "elastic-net", "--text", "body", "-q"]
    riata("train", place / "number.csv", "-o", place / "number.riata", *words)
    return place
