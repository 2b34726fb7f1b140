"""The house: each room knows only the rooms before it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import riata

ROOT = Path(riata.__file__).parent
ORDER = [
    {"errors", "_core", "atomic", "words", "show"},
    {"block", "schema", "schema_0_1"},
    {"text_weights"},
    {"sources", "reference"},
    {"learners", "interior"},
    {"metrics", "metrics_regret", "metrics_running", "convert"},
    {"labels", "batches"},
    {"record", "tensor_file", "packed_state"},
    {"tensor_pieces"},
    {"model_file"},
    {"training"},
    {"sweeping"},
    {"explain"},
    {"report"},
    {"plot"},
    {"shards", "merging"},
    {"estimators"},
    {"dask"},
    {"river", "cli"},
    {"__main__"},
]


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """The rooms that a file imports, also inside functions; not those for type checkers only."""
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body.clear()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("riata"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("riata.")}
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    here = room(path)
    if here == "__init__":
        return
    places = {name: i for i, names in enumerate(ORDER) for name in names}
    assert here in places, f"{here} has no place in the house yet"
    for other in imports(path) - {here, "__version__"}:
        assert other in places, f"{path.name} imports {other}, which has no place in the house"
        assert places[other] <= places[here], f"{here} must not know {other}"


CORE = Path(__file__).parent.parent / "cpp" / "riata"
CORE_ORDER = [
    {"base"},
    {"simd"},
    {"text", "losses"},
    {"block", "stores"},
    {"words"},
    {"formats/svmlight", "formats/vw", "formats/csv", "formats/json", "formats/table"},
    {"formats/parquet"},
    {"linear", "sketch"},
    {"bayesian", "interior", "bank"},
    {"portfolio"},
    {"explain"},
]


def core_room(path: str) -> str:
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[0] == "formats" else 1])


@pytest.mark.parametrize(
    "path", sorted(CORE.rglob("*.?pp")), ids=lambda p: str(p.relative_to(CORE))
)
def test_includes_of_the_core_go_one_way(path: Path) -> None:
    places = {name: i for i, names in enumerate(CORE_ORDER) for name in names}
    here = core_room(path.relative_to(CORE).as_posix())
    assert here in places, f"{here} has no place in the house yet"
    text = path.read_text()
    assert "bind/" not in "".join(re.findall(r'#include "(.+)"', text)), (
        "the core knows no bindings"
    )
    for other in map(core_room, re.findall(r'#include "riata/(.+)"', text)):
        assert other == here or places[other] < places[here], f"{here} must not know {other}"


@pytest.mark.parametrize("room", sorted(set().union(*CORE_ORDER)))
def test_every_room_of_the_core_says_what_lives_there(room: str) -> None:
    title, blank, *said = (CORE / room / "README.md").read_text().splitlines()
    assert (title, blank) == (f"# {room}", "")
    assert 1 <= len(said) <= 6


HOME = Path(__file__).parent.parent
LONGEST_FILE = 400
LONGEST_FUNCTION = 80
SOURCES = sorted(
    path for pattern in ("src/riata/**/*.py", "cpp/**/*.?pp") for path in HOME.glob(pattern)
)


def bodies(text: str) -> Iterator[tuple[int, int]]:
    """Of C++: where functions, and what is in braces inside them, begin, and their lines. Tables do not count.

    >>> list(bodies("namespace a {\\nint f(int x) {\\n  return x;\\n}\\nstruct B {\\n};\\n}"))
    [(2, 3)]
    """
    opened: list[tuple[int, bool]] = []
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//.*', "", line)
        for brace in re.findall("[{}]", code):
            if brace == "{":
                scope = re.search(r"\b(?:namespace|class|struct|enum|union|extern)\b|= *\{", code)
                opened.append((number, scope is None))
            else:
                first, counts = opened.pop()
                if counts:
                    yield first, number - first + 1


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(HOME)))
def test_files_and_functions_are_short(path: Path) -> None:
    """Of a function in Python counts what stands behind its docstring."""
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST_FILE, "one subject a file: what can go elsewhere?"
    if path.suffix != ".py":
        for first, lines in bodies(text):
            assert lines <= LONGEST_FUNCTION, f"the function at line {first} has {lines} lines"
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1] if ast.get_docstring(node) and node.body[1:] else node
            lines = (node.end_lineno or 0) - first.lineno + 1
            assert lines <= LONGEST_FUNCTION, f"{node.name} has {lines} lines"


BESIDE = sorted(
    path
    for folder in ("tests", "benchmarks", "papers", "examples")
    for pattern in ("*.py", "*.?pp")
    for path in (HOME / folder).rglob(pattern)
)


def test_what_stands_beside_the_library_has_short_files_too() -> None:
    lines = {str(path.relative_to(HOME)): len(path.read_text().splitlines()) for path in BESIDE}
    long = {path: count for path, count in lines.items() if count > LONGEST_FILE}
    assert not long, "one subject a file: what can go elsewhere?"
    assert len(lines) > 300


PRIVATE_WORDS = re.compile(
    "whom?ever|guests?|spots?|swings?|cradle|bury|buried|tilt|bend|lexicon|complaint|trouble|portions?"
    "|meeting|settles?|settled|fresh|freshly|peek"
)
"""Of an earlier, private vocabulary: the field, or ordinary English, has a better word for each."""
PLAIN = re.compile(
    "RIATA_PLAIN|INSTRUCTIONS=plain|`plain`, which every|[|] plain [|]|slower than `plain`|--progress plain"
)
"""On pages `plain` is the instruction set that every processor of its kind has, and nothing else."""
SAID = sorted(
    path
    for pattern in (
        "src/riata/**/*.py",
        "src/riata/**/*.js",
        "cpp/**/*.?pp",
        "cpp/**/*.md",
        "docs/**/*.md",
        "*.md",
    )
    for path in HOME.glob(pattern)
)


def test_words_are_those_of_the_field() -> None:
    """Also inside names: `kFreshRows` and `is_fresh` have the word `fresh`."""
    found = []
    for path in SAID:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path.relative_to(HOME)}:{number}: {line}"
            words = {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", line)}
            if any(map(PRIVATE_WORDS.fullmatch, words)):
                found.append(where)
            if path.suffix == ".md" and "plain" in words and not PLAIN.search(line):
                found.append(where)
    assert not found, "\n".join(found)
    assert len(SAID) > 400


def test_the_glossary_is_short_and_true() -> None:
    text = (HOME / "docs" / "architecture.md").read_text()
    entries = re.findall(r"^\| ([\w ]+) \| ", text[text.index("## Glossary") :], re.MULTILINE)
    words = [word for word in entries if word != "word"]
    assert 10 <= len(words) <= 20
    sources = "".join(path.read_text() for path in SOURCES).lower()
    for word in words:
        assert word.lower().split()[-1] in sources, f"nobody says {word!r}"


def test_a_command_enters_few_files(tmp_path: Path) -> None:
    """So many files of Riata does somebody open who follows `riata train x.vw -o m --method bayesian`.

    Of packages, those count whose file holds more than a docstring.
    """
    (tmp_path / "x.vw").write_text("1 |a b:2 c\n-1 |a d\n" * 20)
    code = (
        "import sys; from riata.cli import run; "
        "assert run(['train', 'x.vw', '-o', 'm', '--method', 'bayesian']) == 0; "
        "files = {getattr(m, '__file__', None) for n, m in sys.modules.items() if n.split('.')[0] == 'riata'}; "
        "print('\\n'.join(f for f in files if f and f.endswith('.py')), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    paths = [Path(line) for line in done.stderr.splitlines() if line.endswith(".py")]
    entered = [path for path in paths if len(ast.parse(path.read_text()).body) > 1]
    assert len(entered) <= 40, "\n".join(map(str, sorted(entered)))
    assert len(entered) > 20  # the count counts


def test_a_command_builds_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To ask what a learner needs takes no model of its own: that of two classes is used to learn."""
    from riata.cli import run
    from riata.learners import Portfolio

    built = []
    real = Portfolio.__post_init__
    monkeypatch.setattr(
        Portfolio, "__post_init__", lambda self: (built.append(self.outputs), real(self))[1]
    )
    (tmp_path / "x.svm").write_text("1 1:2\n-1 2:3\n" * 20)
    (tmp_path / "three.svm").write_text("1 1:2\n2 2:3\n3 3:1\n" * 20)
    words = ["-o", str(tmp_path / "m"), "-q", "--holdout", str(tmp_path / "x.svm")]
    assert run(["train", str(tmp_path / "x.svm"), *words]) == 0
    assert built == [1]
    built.clear()
    assert run(["train", str(tmp_path / "three.svm"), "-o", str(tmp_path / "n"), "-q"]) == 0
    assert built == [1, 3]


def test_importing_riata_is_cheap() -> None:
    code = (
        "import sys, riata; heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'matplotlib', 'rich'};"
        "sys.exit(bool(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_public_name_is_there() -> None:
    for name in riata.__all__:
        assert getattr(riata, name) is not None
    assert set(riata.__all__) <= set(dir(riata))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        riata.nothing  # noqa: B018
