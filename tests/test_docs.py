"""The tutorials do what they say: their Python runs, and their commands print what stands there."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import riata
from tests.test_house import CORE_ORDER, ORDER

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = sorted(DOCS.rglob("*.md"))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEMO = "riata demo --events 200000 --progress none"
SPEED = re.compile(r" in [\d.]+ s, [\d,]+ a second")


def blocks(path: Path, language: str) -> list[str]:
    return [body for kind, body in FENCED.findall(path.read_text()) if kind == language]


def transcript(path: Path) -> list[tuple[str, str]]:
    """The commands of a tutorial and what it says they print."""
    text = "".join(blocks(path, "console"))
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def plain_python(path: Path) -> list[str]:
    return [body for body in blocks(path, "python") if ">>>" not in body]


INTERACTIVE = [path for path in TUTORIALS if ">>>" in path.read_text()]
PLAIN = [path for path in TUTORIALS if plain_python(path)]
TYPED = [path for path in TUTORIALS if transcript(path)]


@pytest.mark.parametrize("path", INTERACTIVE, ids=lambda p: p.name)
def test_examples_print_what_they_say(path: Path) -> None:
    failed, tried = doctest.testfile(str(path), module_relative=False, optionflags=FLAGS)
    assert tried
    assert not failed


@pytest.mark.parametrize("path", PLAIN, ids=lambda p: p.name)
def test_plain_examples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "tutorial"}
    for body in plain_python(path):
        exec(compile(body, path.name, "exec"), names)


def run(command: str, folder: Path) -> str:
    """What a command prints; `riata` is the one under test."""
    python = f"{shlex.quote(sys.executable)} -m riata"
    line = re.sub(r"^riata\b", lambda _: python, command)
    done = subprocess.run(
        line, shell=True, cwd=folder, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"}
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    run(DEMO, folder)
    return folder / "riata-demo"


@pytest.mark.parametrize("path", TYPED, ids=lambda p: p.name)
def test_commands_print_what_they_say(path: Path, tmp_path: Path, demo: Path) -> None:
    checker = doctest.OutputChecker()
    (tmp_path / "riata-demo").symlink_to(demo)
    for command, said in transcript(path):
        if command.startswith("riata demo"):
            assert command.startswith(DEMO)
            continue
        found = SPEED.sub("", run(command, tmp_path))
        if not said.strip():
            continue
        assert checker.check_output(SPEED.sub("", said), found, FLAGS), f"$ {command}\n{found}"


def test_the_pages_are_listed() -> None:
    listed = (DOCS / "README.md").read_text()
    for path in TUTORIALS:
        assert path.name == "README.md" or f"({path.relative_to(DOCS).as_posix()})" in listed
    assert INTERACTIVE
    assert PLAIN
    assert TYPED


PAGES = [
    *(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *TUTORIALS,
    *(DOCS.parent / folder / "README.md" for folder in ("examples", "benchmarks")),
]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(DOCS.parent)))
def test_links_lead_somewhere(path: Path) -> None:
    if not path.exists():
        pytest.skip(f"{path.name} is not part of this distribution")
    text = FENCED.sub("", path.read_text())
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert "://" in target or (path.parent / target).exists(), target


def test_the_house_is_described() -> None:
    text = (DOCS / "architecture.md").read_text()
    house, words = text.split("## Glossary")
    named = set(re.findall(r"`([\w/*]+?)/?`", house))
    rooms = set().union(*ORDER) - {"__main__"}
    rooms |= {room.split("/")[0] for room in set().union(*CORE_ORDER)} - {"formats"}
    assert not rooms - named, "docs/architecture.md does not say what lives there"
    glossary = [line for line in words.splitlines() if line.startswith("| ")][1:]
    assert 10 <= len(glossary) <= 20


def test_files_that_are_named_are_there() -> None:
    """In CONTRIBUTING: `cpp/riata/losses/loss.hpp`, or from a room on: `losses/loss.hpp`. Not `<family>.py`."""
    home = DOCS.parent
    if not (home / "CONTRIBUTING.md").exists():
        pytest.skip("CONTRIBUTING.md is not part of this distribution")
    named = re.findall(r"`(\w[\w.-]*/[\w./-]*)`", (home / "CONTRIBUTING.md").read_text())
    roots = [home / root for root in ("", "src/riata", "cpp/riata", "src", "cpp")]
    made = ("build/", "shared/")
    assert len(set(named)) > 30
    for name in named:
        assert name.startswith(made) or any((root / name).exists() for root in roots), name


def test_a_wrong_transcript_is_noticed() -> None:
    checker = doctest.OutputChecker()
    assert checker.check_output("loss 1\n...\n", "loss 1\nmore\n", FLAGS)
    assert not checker.check_output("loss 1\n...\n", "loss 2\nmore\n", FLAGS)


FAMILIES = {
    "auto": "Auto",
    "bayesian": "Bayesian",
    "elastic-net": "ElasticNet",
    "ftrl": "FTRL",
    "truncated": "TruncatedGradient",
    "sketch": "Sketch",
    "interior": "InteriorPoint",
}
"""Pages of families, and how the names of their estimators start."""


@pytest.mark.parametrize("family", FAMILIES)
def test_the_page_of_a_family_has_its_parameters_and_a_picture(family: str) -> None:
    page = (DOCS / f"{family}.md").read_text()
    said = set(re.findall(r"`(\w+)`", page + (DOCS / "parameters.md").read_text()))
    names = [name for name in riata.__all__ if name.startswith(FAMILIES[family])]
    assert len(names) == 2
    for name in names:
        parameters = set(inspect.signature(getattr(riata, name)).parameters) - {"cv"}
        assert not parameters - said, f"docs/{family}.md says nothing of {parameters - said}"
    assert f"(pictures/{family}.svg)" in page
    assert (DOCS / "pictures" / f"{family}.svg").is_file()


def test_pictures_can_be_drawn_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    script = DOCS.parent / "ci" / "pictures"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True)
    drawn = {path.name for path in tmp_path.glob("*.svg")}
    assert drawn == {path.name for path in (DOCS / "pictures").glob("*.svg")}
    assert all("<svg" in (tmp_path / name).read_text() for name in drawn)
