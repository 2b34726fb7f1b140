"""`python -m papers`: what it says of names, data, results that are there, and places that cannot be written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

papers = pytest.importorskip("papers.__main__")

from papers import data, items  # noqa: E402
from papers import one_page as page  # noqa: E402


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results and the page go elsewhere."""
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    return tmp_path


def found(quick: bool = True) -> dict[str, object]:
    return {"rows": [["a", 1, 1.01, "reproduced"]], "note": "", "picture": None}


def test_an_item_is_made_once_a_commit(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []
    monkeypatch.setattr(papers, "commit", lambda: "abc")
    monkeypatch.setattr(papers, "make", lambda item, quick: made.append(item.key) or found())
    assert papers.main(["lipton-2015/equality", "--quick"]) == 0
    assert papers.main(["lipton-2015/equality", "--quick"]) == 0
    assert "already made from this commit" in capsys.readouterr().out
    assert made == ["lipton-2015/equality"]
    assert papers.main(["lipton-2015/equality", "--quick", "--again"]) == 0
    monkeypatch.setattr(papers, "commit", lambda: "def")
    assert papers.main(["lipton-2015/equality", "--quick"]) == 0
    assert len(made) == 3
    shown = (home / "RESULTS.md").read_text()
    assert "| a | 1 | 1.01 | reproduced |" in shown
    assert "Commit def" in shown
    assert papers.main(["--check"]) == 0
    (home / "RESULTS.md").write_text(shown.replace("1.01", "1.00"))
    assert papers.main(["--check"]) == 1
    assert "is not what papers/results say" in capsys.readouterr().err
    assert papers.main(["--page"]) == 0
    assert (home / "RESULTS.md").read_text() == shown


def test_absent_data_is_a_named_gap_and_other_data_an_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RIATA_DATA", str(home / "data"))
    assert papers.main(["balakrishnan-2008/table-3"]) == 1
    assert "data is not a folder: name the one with the files of" in capsys.readouterr().err
    assert not (home / "RESULTS.md").exists()  # nor are results of before overwritten
    (home / "data").mkdir()
    assert papers.main(["balakrishnan-2008/table-3"]) == 0
    shown = (home / "RESULTS.md").read_text()
    assert f"**Gap**: {items.REUTERS} is not under $RIATA_DATA" in shown
    path = home / "data" / items.REUTERS
    path.parent.mkdir()
    path.write_text("something else")
    assert papers.main(["balakrishnan-2008/table-3"]) == 1
    assert "another file than the items are about" in capsys.readouterr().err


def test_wrong_names_and_places_are_clear(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert papers.main(["nobody-1999"]) == 1
    assert "'nobody-1999' is no paper and no item; there are" in capsys.readouterr().err
    for place in ("lipton-2015", "results"):  # of the paper's pictures, and of the results
        monkeypatch.setattr(page, "FOLDER", home / f"without {place}")
        page.FOLDER.mkdir()
        (page.FOLDER / place).write_text("a file where the folder should be")
        assert papers.main(["lipton-2015"]) == 1
        assert f"{place}/.writable cannot be written" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise there")
def test_ctrl_c_ends_an_item_at_once_and_the_next_run_goes_on(tmp_path: Path) -> None:
    """For real: two items, and the signal while the second is being made."""
    words = [sys.executable, "-m", "papers", "--quick", "--jobs", "1", "--into", str(tmp_path)]
    first, second = "langford-2009/figure-1", "langford-2009/theorems"
    running = subprocess.Popen(
        [*words, first, second], cwd=data.HERE.parent, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert running.stdout is not None
    for line in running.stdout:
        if line.startswith(f"{second} ..."):
            break
    [child] = [p for p in children_of(running.pid) if second in p[1]] or [(0, "")]
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said == "papers: interrupted; the same command goes on at the next item\n"
    assert child[0] not in [p for p, _ in children_of(None)]
    assert (tmp_path / f"results/{first}.json").exists()
    assert not (tmp_path / f"results/{second}.json").exists()
    again = subprocess.run(
        [*words, first], cwd=data.HERE.parent, text=True, capture_output=True, check=True
    )
    assert again.stdout == f"{first}: already made from this commit\n"


def children_of(parent: int | None) -> list[tuple[int, str]]:
    """Process numbers and command lines of a process's children, or of all processes."""
    shown = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    found = [line.split(maxsplit=2) for line in shown.stdout.splitlines()]
    return [(int(pid), " ".join(args)) for pid, ppid, *args in found if parent in (None, int(ppid))]


def test_a_script_that_fails_ends_the_run_and_leaves_what_was_made(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    item = items.Item("lipton-2015", "none", "None", "no_such_module")
    monkeypatch.setattr(papers, "ITEMS", (item,))
    monkeypatch.setattr(page, "ITEMS", (item,))
    assert papers.main([]) == 1
    assert "lipton-2015/none: its script failed" in capsys.readouterr().err
    assert not page.stored(item).exists()


def test_the_page_says_what_is_of_full_runs_and_what_they_took(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(papers, "make", lambda item, quick: found() | {"processor_seconds": 90.0})
    assert papers.main(["lipton-2015/equality"]) == 0
    assert papers.main(["langford-2009/figure-1", "langford-2009/theorems", "--quick"]) == 0
    shown, count = (home / "RESULTS.md").read_text(), len(items.ITEMS)
    assert (
        f"1 of {count} items are of full runs, which took 1.5 minutes of processor time." in shown
    )
    assert (
        f"2 of {count} items are of quick runs, which took 3.0 minutes of processor time: "
        "langford-2009/figure-1, langford-2009/theorems." in shown
    )


def test_an_interrupted_run_goes_on_at_the_next_item(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[str] = []

    def make(item: items.Item, quick: bool) -> dict[str, object]:
        made.append(item.name)
        if made == ["equality", "table-1"]:
            raise KeyboardInterrupt
        return found()

    monkeypatch.setattr(papers, "commit", lambda: "abc")
    monkeypatch.setattr(papers, "make", make)
    monkeypatch.setattr(papers, "missing", lambda names: [])
    assert papers.main(["lipton-2015"]) == 130
    assert "the same command goes on at the next item" in capsys.readouterr().err
    assert papers.main(["lipton-2015"]) == 0
    assert made == ["equality", "table-1", "table-1", "speed-up"]


def test_every_item_has_its_script_and_every_file_its_checksum() -> None:
    for item in items.ITEMS:
        module, _, function = item.script.partition(":")
        text = (data.HERE / item.paper / f"{module}.py").read_text()
        assert f"def {function or 'item'}(quick: bool)" in text
        assert set(item.data) <= set(data.CHECKSUMS)
    readme = (data.HERE / "README.md").read_text()
    for name, checksum in data.CHECKSUMS.items():
        assert name in readme
        assert checksum in readme


def test_the_page_is_what_the_results_say() -> None:
    assert page.page().read_text(encoding="utf-8") == page.text()
    for item in items.ITEMS:
        if (stored := page.stored(item)).exists():
            assert {"commit", "quick", "seconds"} <= set(json.loads(stored.read_text()))


def test_two_items_are_made_at_the_same_time(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=60)

    def make(item: items.Item, quick: bool) -> dict[str, object]:
        both.wait()  # breaks where the other has not begun
        return found() | {"processor_seconds": 90.0}

    monkeypatch.setattr(papers, "commit", lambda: "abc")
    monkeypatch.setattr(papers, "make", make)
    names = ["lipton-2015/equality", "lipton-2015/speed-up"]
    assert papers.main([*names, "--quick"]) == 0
    shown = (home / "RESULTS.md").read_text()
    assert shown.count("(90 s of the processor)") == 2
    assert "which took 3.0 minutes of processor time" in shown
    assert papers.main([*names, "--jobs", "-1"]) == 1


def test_an_item_that_fails_keeps_those_before_it_and_ends_the_run(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []

    def make(item: items.Item, quick: bool) -> dict[str, object]:
        made.append(item.name)
        if item.name == "table-1":
            raise papers.PapersError(f"{item.key}: its script failed, see above")
        return found()

    monkeypatch.setattr(papers, "make", make)
    monkeypatch.setattr(papers, "missing", lambda names: [])  # with data or without
    assert papers.main(["lipton-2015", "--jobs", "1"]) == 1
    assert "its script failed" in capsys.readouterr().err
    assert made == ["equality", "table-1"]
    assert (home / "results/lipton-2015/equality.json").exists()
    assert not (home / "results/lipton-2015/table-1.json").exists()
