"""How to read: one value, checked where it is made, the same for Python and the command line."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import click
import pytest

import riata
from riata.cli.data import _FLAGS, data_options, read_options, reading_words
from riata.sources import ReadOptions, open_source


def test_unknown_names_are_refused_with_the_name_that_was_meant(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="no option 'lable' to read with; did you mean 'label'?"):
        open_source(str(tmp_path / "x.csv"), lable="y")
    with pytest.raises(TypeError, match="no option 'zzz' to read with; there are format, "):
        open_source(str(tmp_path / "x.csv"), zzz=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"block_rows": 0}, "block_rows must be at least 1, not 0"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"ignore": "id"}, "ignore is a list, such as \\['id'\\], not 'id'"),
        ({"on_error": "warn"}, "on_error is 'raise' or 'skip', not 'warn'"),
        ({"bad_lines": "x"}, "bad_lines keeps what on_error='skip' leaves out"),
        ({"max_bad": float("nan")}, "max_bad is a share below 1 or a number of lines, not nan"),
        ({"missing": "zero"}, "missing is 'drop' or 'feature', not 'zero'"),
        ({"numeric": ["a"], "categorical": ["a"]}, "'a' cannot be both numeric and categorical"),
        ({"label": "a", "weight": "a"}, "'a' cannot be both label and weight"),
        ({"buckets": {"a": 1}}, "'a' needs at least 2 buckets, not 1"),
        ({"crosses": ["a"]}, "a cross joins two or three groups"),
    ],
)
def test_options_that_cannot_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReadOptions(**given)
    with pytest.raises(ValueError, match=message):
        open_source([{"a": 1}], **given)


def test_one_value_or_keywords(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,y,a\n7,1,2\n")
    options = ReadOptions(label="y", ignore=["id"])
    for source in (
        open_source(str(tmp_path / "x.csv"), options=options),
        open_source(str(tmp_path / "x.csv"), label="y", ignore=["id"]),
        open_source(str(tmp_path / "x.csv"), options=replace(options, ignore=()), ignore=("id",)),
    ):
        [block] = source
        assert block.values.tolist() == [2.0]
    with pytest.raises(FrozenInstanceError):
        options.label = "z"  # type: ignore[misc]


def test_the_signature_shows_every_option() -> None:
    shown = inspect.signature(riata.open_source).parameters
    assert [f.name for f in fields(ReadOptions)] == list(shown)[4:]
    assert "given" not in shown


def test_every_option_is_documented() -> None:
    for field in fields(ReadOptions):
        assert field.metadata["help"], field.name


@pytest.mark.parametrize(
    "words",
    [
        ["--format", "csv", "--zero-based", "--label", "y", "--weight", "w", "--offset", "o"],
        ["--ignore", "a,b", "--numeric", "c", "--categorical", "d", "--missing", "feature"],
        ["--absent", "?,NA", "--log1p", "e", "--buckets", "f:3", "--buckets", "g:4"],
        ["--no-header-line", "--delimiter", ";", "--quote", "'", "--cross", "a:b:c"],
        ["--header-line", "--on-error", "skip", "--bad-lines", "x.bad", "--max-bad", "3.0"],
    ],
)
def test_words_of_a_command_line_and_back(words: list[str]) -> None:
    @click.command()
    @data_options
    def command(**given: Any) -> ReadOptions:
        return read_options(given)

    options = command.main([*words, "--threads", "2"], standalone_mode=False)
    assert options.threads == 2
    assert reading_words(options) == words


def test_every_option_for_files_is_a_flag() -> None:
    of_the_program = {"labelled", "names", "block_rows", "schema", "cache", "hash_key", "part"}
    assert set(_FLAGS) == {f.name for f in fields(ReadOptions)} - of_the_program
